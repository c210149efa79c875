"""Fixture of sealab review on the Python SDK (mcp 2.3.0): python server.py [--http PORT] [--low] [--plain] [--ttl S].

Without --low: MCPServer, whose boundary seals by default. With --low: the low-level Server,
sealed by the same boundary, or with --plain as it comes (no protection)."""
import json, sys, asyncio, logging
import mcp.types as T
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.server.request_state import RequestStateSecurity
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings

def arg(name, fallback=None):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else fallback
port, ttl = arg("--http"), float(arg("--ttl", "600"))

class Verifier:
    async def verify_token(self, token):
        if token in ("alice", "bob"):
            return AccessToken(token=token, client_id="client-1", scopes=[], subject=token)

def form(message, field, schema):
    return T.ElicitRequest(params=T.ElicitRequestFormParams(message=message,
        requested_schema={"type": "object", "properties": {field: schema}, "required": [field]}))

def ask(key, request, **state):
    return T.InputRequiredResult(input_requests={key: request}, request_state=json.dumps(state))

def ran(text):  # the line on standard error counts the tools that ran to their end
    print("ran: " + text, file=sys.stderr, flush=True)
    return text

def accepted(ctx, key):
    a = (ctx.input_responses or {}).get(key)
    return a.content if isinstance(a, T.ElicitResult) and a.action == "accept" else None

kw = {}
if "--auth" in sys.argv:
    kw = dict(token_verifier=Verifier(), auth=AuthSettings(issuer_url="http://127.0.0.1:1/", resource_server_url=f"http://127.0.0.1:{port}/mcp"))
mcp = MCPServer("lab-py", version="1.0.0", request_state_security=RequestStateSecurity(keys=[b"k" * 32], ttl=ttl), **kw)

@mcp.tool()
async def deploy(env: str, ctx: Context) -> str | T.InputRequiredResult:
    """Deploys after a confirmation and a reason"""
    state = json.loads(ctx.request_state) if ctx.request_state else {}
    if state.get("step") == "reason":
        return ran(f"deployed {state['env']} because {(accepted(ctx, 'reason') or {}).get('reason')}")
    if state.get("step") != "confirm" or not (accepted(ctx, "confirm") or {}).get("ok"):
        return ask("confirm", form(f"Deploy to {env}?", "ok", {"type": "boolean"}), step="confirm", env=env)
    return ask("reason", form("Why?", "reason", {"type": "string"}), step="reason", env=state["env"])

@mcp.tool(annotations=T.ToolAnnotations(destructive_hint=True))
async def remove(env: str, ctx: Context) -> str | T.InputRequiredResult:
    """Removes after a confirmation"""
    state = json.loads(ctx.request_state) if ctx.request_state else {}
    if state.get("step") == "confirm" and (accepted(ctx, "confirm") or {}).get("ok"):
        return ran(f"removed {state['env']}")
    return ask("confirm", form(f"Remove {env}?", "ok", {"type": "boolean"}), step="confirm", env=env)

@mcp.tool(annotations=T.ToolAnnotations(read_only_hint=True))
async def echo(text: str) -> str:
    """Says what it is told"""
    return ran(text)

@mcp.tool()
async def slow(ms: int) -> str:
    try:
        await asyncio.sleep(ms / 1000)
    except BaseException:
        print("slow: cancelled", file=sys.stderr, flush=True); raise
    print("slow: done", file=sys.stderr, flush=True)
    return "done"

@mcp.prompt()
async def report(topic: str, ctx: Context) -> list[UserMessage] | T.InputRequiredResult:
    got = accepted(ctx, "tone")
    if got is None:
        return ask("tone", form("Tone?", "tone", {"type": "string"}), step="tone", topic=topic)
    return [UserMessage(f"Report on {json.loads(ctx.request_state)['topic']}, {got['tone']}")]

if port:
    mcp.run("streamable-http", port=int(port))
else:
    mcp.run("stdio")
