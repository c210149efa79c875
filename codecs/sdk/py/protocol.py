"""The worker protocol, version 1, for workers written in Python.

A worker hands serve() a description of itself and its operations. An operation
takes the request's members and returns those of the answer, or raises.
"""

import base64
import json
import sys
import time
from collections.abc import Callable
from typing import Any

PROTOCOL = 1

Message = dict[str, Any]
Operation = Callable[[Message], Message]


class Unsupported(Exception):
    """What was asked cannot be done at all."""


class Refused(Exception):
    """The configuration is wrong."""


class Rejected(Exception):
    """The token was refused, at a stage and for a reason."""

    def __init__(self, stage: str, reason: str) -> None:
        super().__init__(reason)
        self.answer = {"ok": False, "rejected": stage, "reason": reason}


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def failure(raised: Exception) -> Message:
    """The answer for something that did not come about."""
    match raised:
        case Rejected():
            return raised.answer
        case Unsupported():
            return {"ok": False, "unsupported": True}
        case Refused():
            return {"ok": False, "refused": str(raised)}
        case _:
            return {"ok": False, "fault": f"{type(raised).__name__}: {raised}"}


def attempt(operation: Operation, message: Message) -> Message:
    try:
        return {"ok": True, **operation(message)}
    except Exception as raised:
        return failure(raised)


def each(judge: Callable[[str], Message], message: Message) -> Message:
    """Judges the token of a request, or gives a verdict on each of its tokens."""
    if "tokens" not in message:
        return judge(message["token"])
    return {"verdicts": [attempt(judge, token) for token in message["tokens"]]}


def timed(run: Callable[[], Any], times: int) -> Message:
    start = time.perf_counter_ns()
    for _ in range(times):
        run()
    return {"elapsed_ns": time.perf_counter_ns() - start}


class Handles:
    """What a client has opened."""

    def __init__(self, new: Callable[[Message], Any]) -> None:
        self.new, self.last, self.opened = new, 0, {}

    def open(self, message: Message) -> Message:
        opened = self.new(message)
        self.last += 1
        self.opened[self.last] = opened
        return {"handle": self.last}

    def close(self, message: Message) -> Message:
        del self.opened[message["handle"]]
        return {}

    def __getitem__(self, message: Message) -> Any:
        return self.opened[message["handle"]]


def serve(hello: Message, operations: dict[str, Operation]) -> None:
    """Answers requests until the input ends."""

    def greet(message: Message) -> Message:
        if message["protocol"] != PROTOCOL:
            raise ValueError(f"protocol {message['protocol']}, want {PROTOCOL}")
        return {"protocol": PROTOCOL, **hello}

    def unknown(_: Message) -> Message:
        raise Unsupported

    operations = {"hello": greet, **operations}
    for line in sys.stdin.buffer:
        try:
            message = json.loads(line)
            answer = attempt(operations.get(message.get("op"), unknown), message)
        except (ValueError, AttributeError, TypeError) as wrong:
            answer = {"ok": False, "fault": f"the request cannot be read: {wrong}"}
        sys.stdout.write(json.dumps(answer, separators=(",", ":")) + "\n")
        sys.stdout.flush()
