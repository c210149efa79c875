"""Fixture of sealab review on FastMCP 4.1.0 (PyPI fastmcp, on mcp 2.3.0): python server.py [--http PORT]"""
import json, sys
from fastmcp import FastMCP, Context
import mcp.types as T

mcp = FastMCP("lab-fastmcp", version="1.0.0")

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

@mcp.tool
async def deploy(env: str, ctx: Context) -> str | T.InputRequiredResult:
    """Deploys after a confirmation and a reason"""
    state = json.loads(ctx.request_state) if ctx.request_state else {}
    if state.get("step") == "reason":
        return ran(f"deployed {state['env']} because {(accepted(ctx, 'reason') or {}).get('reason')}")
    if state.get("step") != "confirm" or not (accepted(ctx, "confirm") or {}).get("ok"):
        return ask("confirm", form(f"Deploy to {env}?", "ok", {"type": "boolean"}), step="confirm", env=env)
    return ask("reason", form("Why?", "reason", {"type": "string"}), step="reason", env=state["env"])

@mcp.tool
async def remove(env: str, ctx: Context) -> str | T.InputRequiredResult:
    """Removes after a confirmation"""
    state = json.loads(ctx.request_state) if ctx.request_state else {}
    if state.get("step") == "confirm" and (accepted(ctx, "confirm") or {}).get("ok"):
        return ran(f"removed {state['env']}")
    return ask("confirm", form(f"Remove {env}?", "ok", {"type": "boolean"}), step="confirm", env=env)

@mcp.tool
async def greet(ctx: Context) -> str:
    """Greets by a name that it asks for, in FastMCP's own style"""
    got = await ctx.elicit("Your name?", response_type=str)
    return f"Hello, {getattr(got, 'data', got)}"

@mcp.tool
async def echo(text: str) -> str:
    return ran(text)

if "--http" in sys.argv:
    mcp.run(transport="http", host="127.0.0.1", port=int(sys.argv[sys.argv.index("--http") + 1]), show_banner=False)
else:
    mcp.run(show_banner=False)
