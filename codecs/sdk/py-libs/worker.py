"""Token libraries in Python as sealab workers, protocol 1.

Usage: worker.py ROW [FOLDER]. ROW is a name of rows.py. FOLDER holds another
version of the library, which is loaded instead of the one beside it. Then ROW may
also be a name of historic.py.
"""

import sys
import warnings
from importlib.metadata import distributions, version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "py"))
FOLDER = sys.argv[2:3]
sys.path[:0] = FOLDER

from protocol import Handles, Message, Refused, Rejected, Unsupported, decode, each, encode, serve  # noqa: E402
from rows import ROWS  # noqa: E402

if FOLDER:
    import historic  # noqa: E402 F401 adds rows

warnings.simplefilter("ignore")  # of libraries about their next versions
NAME = sys.argv[1]
ROW = ROWS[NAME]


class Opened:
    """One ring and time to live."""

    def __init__(self, message: Message) -> None:
        ring = [decode(k) for k in message.get("keys_b64") or []]
        if message.get("options") or not ring:
            raise Refused("want at least one key and no options")
        self.ttl = message.get("ttl", 600)
        try:
            self.seal, self.unseal = ROW.new(ring)
            # Some libraries refuse a key at its first use.
            self.seal(b"{}", *[0.0, self.ttl] * ROW.clock)
        except Exception as wrong:
            raise Refused(str(wrong)) from wrong


HANDLES = Handles(Opened)


def time_of(message: Message, opened: Opened) -> list[float]:
    return [float(message["now"]), opened.ttl] if ROW.clock else []


def seal(message: Message) -> Message:
    opened = HANDLES[message]
    payload = decode(message["state_b64" if ROW.clock else "payload_b64"])
    try:
        return {"token": opened.seal(payload, *time_of(message, opened))}
    except UnicodeEncodeError as wrong:  # a lone surrogate, which has no UTF-8
        raise Unsupported from wrong


def unseal(message: Message) -> Message:
    opened = HANDLES[message]

    def judge(token: str) -> Message:
        try:
            payload = opened.unseal(token, *time_of(message, opened))
        except Unsupported:
            raise
        except Exception as refusal:
            raise Rejected("unauthentic", type(refusal).__name__) from refusal
        return {"state_b64" if ROW.clock else "payload_b64": encode(payload)}

    return each(judge, message)


def installed_version() -> str:
    for found in distributions(name=ROW.package, path=FOLDER) if FOLDER else ():
        return found.version
    return version(ROW.package)


HELLO = {
    "name": NAME,
    "version": installed_version(),
    "kind": "scheme" if ROW.clock else "codec",
    "abilities": ["batch", "parallel"] + ["clock"] * ROW.clock,
    "guarantees": ROW.guarantees,
}
OPERATIONS = {"mint": seal, "verify": unseal} if ROW.clock else {"seal": seal, "unseal": unseal}

if __name__ == "__main__":
    serve(HELLO, {"open": HANDLES.open, "close": HANDLES.close, **OPERATIONS})
