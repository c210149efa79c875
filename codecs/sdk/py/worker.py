"""The requestState boundary of the Python MCP SDK as a sealab worker, protocol 1.

Every answer comes from the SDK's own RequestStateBoundary, driven as its server
drives it: a request goes in, a handler sees plaintext, a result comes out. Only
the clock is replaced, because the time is a member of each request.
"""

import logging
import types
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from mcp.server import request_state as sdk
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.methods import INPUT_REQUIRED_METHODS

from protocol import Handles, Message, Refused, Rejected, Unsupported, decode, each, encode, serve, timed

# What the format promises, as read from mcp.server.request_state.
GUARANTEES = {
    "integrity": True,
    "confidentiality": True,
    "canonical": True,
    "binds-method": True,
    "binds-target": True,
    "binds-arguments": True,  # of tools/call and prompts/get
    "binds-principal": True,
    "binds-audience": True,
    "unambiguous": False,  # absent and falsy arguments share a digest; resources/read has none
    "expiry": False,  # json.loads takes Infinity, so who holds a key can mint what never expires
    "rotation": True,
    "key-separation": True,
    "key-committing": False,  # AES-GCM
    "nonce-misuse-resistant": False,  # AES-GCM
    "fresh-nonces": True,  # random, 96 bits
    "sender-authenticated": False,  # a symmetric key
    "unlinkable": True,
    "uniform-refusal": True,
    "steady-timing": True,
    "total": True,
    "byte-exact": True,
    "strong-keys": True,
    "single-use": False,  # stateless
    "inert": True,
    "private-keys": False,  # the key ID is derived from the secret
}

STAGES = {
    "non-string requestState": "malformed",
    "malformed": "malformed",
    "unknown key": "unknown-key",
    "seal": "unauthentic",
    "minted in the future": "expired",
    "expired": "expired",
    "request binding": "misbound",
    "audience": "misbound",
    "principal drift": "misbound",
    "principal": "misbound",
}


class Clock:
    """Stands in for the time module inside the SDK's module."""

    now = 0.0

    def time(self) -> float:
        return self.now


class ReasonLog(logging.Handler):
    """Keeps the reason that the SDK logs when it refuses."""

    reason = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.reason = str(record.args[1]) if isinstance(record.args, tuple) and len(record.args) > 1 else ""


CLOCK = Clock()
LOG = ReasonLog()


def call(boundary: sdk.RequestStateBoundary, ctx: ServerRequestContext, handler: Any) -> Any:
    """Runs the boundary, which awaits nothing but the handler, without an event loop."""
    coroutine = boundary(ctx, handler)
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise RuntimeError("the boundary waits for something")


@dataclass
class Request:
    """One request to a server built on the SDK, without its state."""

    method: str
    params: dict[str, Any]
    principal: str | None
    audience: str | None

    @classmethod
    def read(cls, message: Message) -> "Request":
        binding = message.get("binding") or {}
        method = binding.get("method") or ""
        if method not in INPUT_REQUIRED_METHODS:
            raise Unsupported  # the boundary does not act on other methods
        params = {"uri" if method == "resources/read" else "name": binding.get("target") or ""}
        if binding.get("arguments") is not None:
            params["arguments"] = binding["arguments"]
        return cls(method, params, binding.get("principal"), binding.get("audience"))

    def context(self, **state: str) -> ServerRequestContext:
        return ServerRequestContext(
            session=None,  # type: ignore[arg-type]
            lifespan_context={},
            protocol_version="2026-07-28",
            method=self.method,
            params={**self.params, **state},
            request=self,
        )


class Opened:
    """One ring and time to live."""

    def __init__(self, message: Message) -> None:
        if message.get("options"):
            raise Refused("there are no options")
        try:
            self.security = sdk.RequestStateSecurity(
                keys=[decode(k) for k in message.get("keys_b64") or []],
                ttl=message.get("ttl", 600.0),
                bind_principal=lambda ctx: ctx.request.principal,
            )
        except (ValueError, TypeError) as wrong:
            raise Refused(str(wrong)) from wrong

    def boundary(self, request: Request) -> sdk.RequestStateBoundary:
        return sdk.RequestStateBoundary(self.security, default_audience=request.audience)

    def mint(self, request: Request, state: str) -> str:
        async def handler(_: ServerRequestContext) -> dict[str, Any]:
            return {"resultType": "input_required", "requestState": state}

        return call(self.boundary(request), request.context(), handler)["requestState"]

    def verify(self, request: Request, token: str) -> bytes:
        seen = []

        async def handler(ctx: ServerRequestContext) -> dict[str, Any]:
            seen.append(ctx.params["requestState"])
            return {}

        LOG.reason = ""
        try:
            call(self.boundary(request), request.context(requestState=token), handler)
        except MCPError as refusal:
            require_frozen(refusal)
            raise Rejected(STAGES[LOG.reason], LOG.reason) from refusal
        except RecursionError as deep:  # out of json.loads, and not caught by the SDK: its server answers -32603
            raise Rejected("malformed", "malformed") from deep
        return seen[0].encode("utf-8", "surrogatepass")


def require_frozen(refusal: MCPError) -> None:
    """Every refusal has one text on the wire."""
    wire = (refusal.error.code, refusal.error.message, refusal.error.data)
    if wire != (-32602, "Invalid or expired requestState", {"reason": "invalid_request_state"}):
        raise RuntimeError(f"the refusal on the wire is {wire!r}")


def state_of(message: Message) -> str:
    try:
        return decode(message["state_b64"]).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as wrong:
        raise Unsupported from wrong  # the SDK's state is text


HANDLES = Handles(Opened)


def prepare(message: Message) -> tuple[Opened, Request]:
    CLOCK.now = float(message["now"])
    return HANDLES[message], Request.read(message)


def mint(message: Message) -> Message:
    opened, request = prepare(message)
    return {"token": opened.mint(request, state_of(message))}


def verify(message: Message) -> Message:
    opened, request = prepare(message)
    return each(lambda token: {"state_b64": encode(opened.verify(request, token))}, message)


def bench(message: Message) -> Message:
    opened, request = prepare(message)
    match message["do"]:
        case "mint":
            state = state_of(message)
            return timed(lambda: opened.mint(request, state), message["n"])
        case "verify":
            return timed(lambda: opened.verify(request, message["token"]), message["n"])
        case _:
            raise Unsupported


HELLO = {
    "name": "mcp-py-sdk",
    "version": version("mcp"),
    "kind": "scheme",
    "abilities": ["clock", "batch", "bench"],
    "guarantees": GUARANTEES,
}


def main() -> None:
    sdk.time = types.SimpleNamespace(time=CLOCK.time)  # type: ignore[attr-defined]
    sdk.logger.handlers, sdk.logger.propagate = [LOG], False
    serve(HELLO, {"open": HANDLES.open, "close": HANDLES.close, "mint": mint, "verify": verify, "bench": bench})


if __name__ == "__main__":
    main()
