//! Fixture of sealab review on rmcp: lab-rmcp [PORT]; without a port it serves standard input and output.
use axum::Router;
use rmcp::{
    ServerHandler, ServiceExt,
    model::*,
    service::{RequestContext, RoleServer},
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde_json::{Value, json};
use std::time::Duration;

#[derive(Clone)]
struct Lab {
    codec: RequestStateCodec,
    ttl: Option<Duration>,
}

fn object(v: Value) -> JsonObject {
    v.as_object().cloned().unwrap()
}

fn form(message: String, field: &str, schema: Value) -> InputRequest {
    InputRequest::Elicitation(ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: serde_json::from_value(
            json!({"type": "object", "properties": {field: schema}, "required": [field]}),
        )
        .unwrap(),
    }))
}

fn accepted(r: &Option<InputResponses>, key: &str, field: &str) -> Option<Value> {
    let a = serde_json::to_value(r.as_ref()?.get(key)?).ok()?;
    (a["action"] == "accept").then(|| a["content"][field].clone())
}

impl Lab {
    fn ask(&self, key: &str, request: InputRequest, state: Value) -> Result<CallToolResponse, ErrorData> {
        let mut options = SealOptions::new();
        if let Some(ttl) = self.ttl {
            options = options.ttl(ttl);
        }
        let sealed = self
            .codec
            .seal_json_with(&state, &options)
            .map_err(|e| ErrorData::internal_error(e.to_string(), None))?;
        let mut requests = InputRequests::new();
        requests.insert(key.into(), request);
        Ok(InputRequiredResult::new(Some(requests), Some(sealed)).into())
    }
}

impl ServerHandler for Lab {
    fn get_info(&self) -> ServerInfo {
        let mut info = ServerInfo::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("lab-rmcp", "1.0.0");
        info.protocol_version = ProtocolVersion::V_2026_07_28;
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let env = json!({"type": "object", "properties": {"env": {"type": "string"}}, "required": ["env"]});
        Ok(ListToolsResult::with_all_items(vec![
            Tool::new("deploy", "Deploys after a confirmation and a reason", object(env.clone())),
            Tool::new("remove", "Removes after a confirmation", object(env)),
            Tool::new("echo", "Says what it is told", object(json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}))),
            Tool::new("slow", "Sleeps", object(json!({"type": "object", "properties": {"ms": {"type": "integer"}}, "required": ["ms"]}))),
        ]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.clone().unwrap_or_default());
        // say ends a tool: the line on standard error counts it.
        let say = |text: String| {
            eprintln!("ran: {text}");
            Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
        };
        if request.name == "echo" {
            return say(arguments["text"].as_str().unwrap_or("").into());
        }
        if request.name == "slow" {
            let ms = arguments["ms"].as_u64().unwrap_or(0);
            tokio::select! {
                _ = context.ct.cancelled() => { eprintln!("slow: cancelled"); return Ok(CallToolResult::success(vec![ContentBlock::text("cancelled")]).into()) }
                _ = tokio::time::sleep(Duration::from_millis(ms)) => { eprintln!("slow: done"); return say("done".into()) }
            }
        }
        let env = arguments["env"].as_str().ok_or_else(|| ErrorData::invalid_params("env is missing", None))?;
        let state: Value = match request.request_state.as_deref() {
            None => Value::Null,
            Some(sealed) => self
                .codec
                .open_json(sealed)
                .map_err(|e| { eprintln!("refused: {e}"); ErrorData::invalid_params("tampered or unknown request state", None) })?,
        };
        let answers = &request.input_responses;
        let ok = accepted(answers, "confirm", "ok") == Some(json!(true));
        match (request.name.as_ref(), state["step"].as_str()) {
            ("deploy", Some("reason")) => {
                let reason = accepted(answers, "reason", "reason").unwrap_or(Value::Null);
                say(format!("deployed {} because {}", state["env"].as_str().unwrap_or(""), reason))
            }
            ("remove", Some("confirm")) if ok => say(format!("removed {}", state["env"].as_str().unwrap_or(""))),
            ("deploy", Some("confirm")) if ok => self.ask("reason", form("Why?".into(), "reason", json!({"type": "string"})), json!({"step": "reason", "env": state["env"]})),
            ("deploy" | "remove", _) => self.ask("confirm", form(format!("{} {env}?", request.name), "ok", json!({"type": "boolean"})), json!({"step": "confirm", "env": env})),
            _ => Err(ErrorData::invalid_params(format!("Unknown tool: {}", request.name), None)),
        }
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let ttl = std::env::var("TTL").ok().and_then(|s| s.parse().ok()).map(Duration::from_secs);
    let lab = Lab { codec: RequestStateCodec::try_new(vec![107u8; 32])?, ttl };
    let Some(port) = std::env::args().nth(1) else {
        lab.serve(rmcp::transport::stdio()).await?.waiting().await?;
        return Ok(());
    };
    let service = StreamableHttpService::new(
        move || Ok(lab.clone()),
        LocalSessionManager::default().into(),
        StreamableHttpServerConfig::default(),
    );
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    axum::serve(listener, Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}
