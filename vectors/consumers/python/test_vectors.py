"""Reads sealab-vectors/1 and tests the request state boundary of the Python MCP SDK.

The answers of the SDK are those of the reading "sdk". The folder of the files is in
VECTORS, by default ../../files.
"""

import json
import logging
import os
import types
from pathlib import Path

import pytest
from mcp.server import request_state as sdk
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.methods import INPUT_REQUIRED_METHODS

FOLDER = Path(os.environ.get("VECTORS", Path(__file__).parent / "../../files"))
FILE = json.loads((FOLDER / "mcp-py.json").read_text())


def complete(tests: list[dict]) -> list[dict]:
    """Copies omitted parts of a test's setting from the test that it is near, and sets the SDK's answers."""
    known = {}
    for test in tests:
        near = known.get(test.get("near"), {})
        known[test["id"]] = {k: near[k] for k in ("keys", "options", "binding", "now", "ttl") if k in near} | test
    all_tests = [test | test.get("readings", {}).get("sdk", {}) for test in known.values()]
    return [test for test in all_tests if test["expect"] != "silent"]


TESTS = complete(FILE["tests"])

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


class ReasonLog(logging.Handler):
    """Keeps the reason that the SDK logs when it refuses."""

    reason = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.reason = str(record.args[1])


def security(secrets: list[str], ttl: str, principal: str | None = None) -> sdk.RequestStateSecurity:
    return sdk.RequestStateSecurity(
        keys=[bytes.fromhex(s) for s in secrets], ttl=float(ttl), bind_principal=lambda _: principal
    )


def verify(test: dict) -> bytes:
    """Sends a request with the test's token through the boundary to a handler."""
    binding = test["binding"]
    params = {"uri" if binding["method"] == "resources/read" else "name": binding["target"], "requestState": test["token"]}
    if "arguments" in binding:
        params["arguments"] = json.loads(binding["arguments"])
    context = ServerRequestContext(
        session=None, lifespan_context={}, protocol_version="2026-07-28", method=binding["method"], params=params, request=None
    )
    seen = []

    async def handler(ctx: ServerRequestContext) -> dict:
        seen.append(ctx.params["requestState"])
        return {}

    ring = security([FILE["keys"][name] for name in test["keys"]], test["ttl"], binding.get("principal"))
    boundary = sdk.RequestStateBoundary(ring, default_audience=binding.get("audience"))
    coroutine = boundary(context, handler)
    with pytest.raises(StopIteration):
        coroutine.send(None)  # nothing waits, so no event loop is needed
    return seen[0].encode("utf-8", "surrogatepass")


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def test_format() -> None:
    assert FILE["format"] == "sealab-vectors/1"
    assert FILE["number_of_tests"] == len(FILE["tests"]) > 0


@pytest.mark.parametrize("ring", FILE["rings"], ids=lambda r: r["id"])
def test_ring(ring: dict) -> None:
    if ring.get("readings", {}).get("sdk", ring["expect"]) == "accept":
        security(ring["secrets"], ring["ttl"])
        return
    with pytest.raises((ValueError, TypeError)):
        security(ring["secrets"], ring["ttl"])


@pytest.mark.parametrize("test", TESTS, ids=lambda t: t["id"])
def test_vector(test: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    binding = test["binding"]
    if binding["method"] not in INPUT_REQUIRED_METHODS:
        pytest.skip("the boundary does not act on this method")
    if not is_json(binding.get("arguments", "{}")):
        pytest.skip("such arguments never reach the boundary")
    log = ReasonLog()
    monkeypatch.setattr(sdk, "time", types.SimpleNamespace(time=lambda: float(test["now"])))
    monkeypatch.setattr(sdk.logger, "handlers", [log])
    monkeypatch.setattr(sdk.logger, "propagate", False)
    if test["expect"] == "accept":
        assert verify(test).hex() == test["released"], test["comment"]
        return
    with pytest.raises((MCPError, RecursionError)) as refusal:
        verify(test)
    if refusal.type is RecursionError:  # from json.loads: the SDK does not catch it, and its server answers -32603
        assert test["stage"] == "malformed", test["comment"]
        return
    assert refusal.value.error.code == -32602
    assert STAGES[log.reason] == test["stage"], test["comment"]
