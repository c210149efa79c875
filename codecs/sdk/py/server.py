"""A server of the Python MCP SDK over standard input and output, whose
requestState the SDK protects.

    python server.py KEY_BASE64 ...

It is called svc and has one tool, greet, which asks for a name and then says it.
"""

import base64
import sys

from mcp.server.mcpserver import Context, MCPServer, RequestStateSecurity
from mcp_types import CallToolResult, ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult, TextContent

ASKED = "asked for a name"

keys = [base64.b64decode(key) for key in sys.argv[1:]]
server = MCPServer("svc", request_state_security=RequestStateSecurity(keys=keys))


@server.tool()
async def greet(ctx: Context) -> CallToolResult | InputRequiredResult:
    answer = (ctx.input_responses or {}).get("name")
    if ctx.request_state == ASKED and isinstance(answer, ElicitResult) and answer.content:
        return CallToolResult(content=[TextContent(type="text", text=f"Hello, {answer.content['name']}")])
    form = ElicitRequestFormParams(
        message="Your name?",
        requested_schema={"type": "object", "properties": {"name": {"type": "string"}}},
    )
    return InputRequiredResult(input_requests={"name": ElicitRequest(params=form)}, request_state=ASKED)


server.run("stdio")
