"""The requestState boundary of the Python MCP SDK as a sealab worker, protocol 1.

Every answer comes from the SDK's own RequestStateBoundary, driven as its server
drives it: a request goes in, a handler sees plaintext, a result comes out. Only
the clock is replaced, because the time is a member of each request.
"""

import base64
import json
import logging
import sys
import time
import types
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from mcp.server import request_state as sdk
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.methods import INPUT_REQUIRED_METHODS

PROTOCOL = 1

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


class Unsupported(Exception):
    """What was asked cannot be done at all."""


class Refused(Exception):
    """The configuration is wrong."""


class Rejected(Exception):
    """The token was refused; the argument is the SDK's reason."""


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


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


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
    def read(cls, message: dict[str, Any]) -> "Request":
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

    def __init__(self, message: dict[str, Any]) -> None:
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
            check_frozen(refusal)
            raise Rejected(LOG.reason) from refusal
        return seen[0].encode("utf-8", "surrogatepass")


def check_frozen(refusal: MCPError) -> None:
    """Every refusal has one text on the wire."""
    wire = (refusal.error.code, refusal.error.message, refusal.error.data)
    if wire != (-32602, "Invalid or expired requestState", {"reason": "invalid_request_state"}):
        raise RuntimeError(f"the refusal on the wire is {wire!r}")


def failure(raised: Exception) -> dict[str, Any]:
    """The answer for something that did not come about."""
    match raised:
        case Rejected():
            reason = str(raised)
            return {"ok": False, "rejected": STAGES[reason], "reason": reason}
        case Unsupported():
            return {"ok": False, "unsupported": True}
        case Refused():
            return {"ok": False, "refused": str(raised)}
        case _:
            return {"ok": False, "fault": f"{type(raised).__name__}: {raised}"}


def state_of(message: dict[str, Any]) -> str:
    try:
        return decode(message["state_b64"]).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as wrong:
        raise Unsupported from wrong  # the SDK's state is text


class Worker:
    """What one client has opened."""

    def __init__(self) -> None:
        self.opened: dict[int, Opened] = {}

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        try:
            operation = getattr(self, "op_" + str(message.get("op")), None)
            if operation is None:
                raise Unsupported
            if "now" in message:
                CLOCK.now = float(message["now"])
            return {"ok": True, **operation(message)}
        except Exception as raised:
            return failure(raised)

    def op_hello(self, message: dict[str, Any]) -> dict[str, Any]:
        if message["protocol"] != PROTOCOL:
            raise ValueError(f"protocol {message['protocol']}, want {PROTOCOL}")
        return {
            "protocol": PROTOCOL,
            "name": "mcp-py-sdk",
            "version": version("mcp"),
            "kind": "scheme",
            "abilities": ["clock", "batch", "bench"],
            "guarantees": GUARANTEES,
        }

    def op_open(self, message: dict[str, Any]) -> dict[str, Any]:
        handle = max(self.opened, default=0) + 1
        self.opened[handle] = Opened(message)
        return {"handle": handle}

    def op_close(self, message: dict[str, Any]) -> dict[str, Any]:
        del self.opened[message["handle"]]
        return {}

    def op_mint(self, message: dict[str, Any]) -> dict[str, Any]:
        opened, request = self.opened[message["handle"]], Request.read(message)
        return {"token": opened.mint(request, state_of(message))}

    def op_verify(self, message: dict[str, Any]) -> dict[str, Any]:
        opened, request = self.opened[message["handle"]], Request.read(message)
        if "tokens" not in message:
            return {"state_b64": encode(opened.verify(request, message["token"]))}

        def verdict(token: str) -> dict[str, Any]:
            try:
                return {"ok": True, "state_b64": encode(opened.verify(request, token))}
            except Exception as raised:
                return failure(raised)

        return {"verdicts": [verdict(token) for token in message["tokens"]]}

    def op_bench(self, message: dict[str, Any]) -> dict[str, Any]:
        opened, request = self.opened[message["handle"]], Request.read(message)
        match message["do"]:
            case "mint":
                run, argument = opened.mint, state_of(message)
            case "verify":
                run, argument = opened.verify, message["token"]
            case _:
                raise Unsupported
        start = time.perf_counter_ns()
        for _ in range(message["n"]):
            run(request, argument)
        return {"elapsed_ns": time.perf_counter_ns() - start}


def main() -> None:
    sdk.time = types.SimpleNamespace(time=CLOCK.time)  # type: ignore[attr-defined]
    sdk.logger.handlers, sdk.logger.propagate = [LOG], False
    worker = Worker()
    for line in sys.stdin.buffer:
        try:
            answer = worker.answer(json.loads(line))
        except ValueError as wrong:
            answer = {"ok": False, "fault": f"the request cannot be read: {wrong}"}
        sys.stdout.write(json.dumps(answer, separators=(",", ":")) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
