"""Fixture of sealab review on the low-level server of the Python SDK (mcp 2.3.0), which does not seal by itself:
   python low.py PORT [--sealed]"""
import json, sys
import uvicorn
import mcp.types as T
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity

ENV = {"type": "object", "properties": {"env": {"type": "string"}}, "required": ["env"]}
async def list_tools(ctx, params):
    return T.ListToolsResult(tools=[T.Tool(name=n, description=n, input_schema=ENV) for n in ("deploy", "remove")])
def form(message, field, schema):
    return T.ElicitRequest(params=T.ElicitRequestFormParams(message=message,
        requested_schema={"type": "object", "properties": {field: schema}, "required": [field]}))
def ask(key, request, **state):
    return T.InputRequiredResult(input_requests={key: request}, request_state=json.dumps(state))
def say(text):  # the line on standard error counts the tools that ran to their end
    print("ran: " + text, file=sys.stderr, flush=True)
    return T.CallToolResult(content=[T.TextContent(text=text)])
async def call_tool(ctx, p):
    env = (p.arguments or {})["env"]
    state = json.loads(p.request_state) if p.request_state else {}
    answers = {k: a.content for k, a in (p.input_responses or {}).items() if isinstance(a, T.ElicitResult) and a.action == "accept"}
    if p.name == "deploy" and state.get("step") == "reason":
        return say(f"deployed {state['env']} because {answers.get('reason', {}).get('reason')}")
    if state.get("step") != "confirm" or not answers.get("confirm", {}).get("ok"):
        return ask("confirm", form(f"{p.name} {env}?", "ok", {"type": "boolean"}), step="confirm", env=env)
    if p.name == "remove":
        return say(f"removed {state['env']}")
    return ask("reason", form("Why?", "reason", {"type": "string"}), step="reason", env=state["env"])
server = Server("lab-py-low", on_list_tools=list_tools, on_call_tool=call_tool)
if "--sealed" in sys.argv:
    server.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=server.name))
uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
