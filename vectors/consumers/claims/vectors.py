"""Reads sealab-vectors/1 and tests claims, version 2, over hmac-sha256.

The reader is written from the documentation of the two packages, with Python's standard
library alone. The folder of the files is in VECTORS, by default ../../files.
"""

import base64
import hashlib
import hmac
import json
import os
import sys
from decimal import Decimal
from pathlib import Path

FOLDER = Path(os.environ.get("VECTORS", Path(__file__).parent / "../../files"))
FILE = json.loads((FOLDER / "hmac-sha256-claims.json").read_text())
SKEW = 60 * 10**9
sys.setrecursionlimit(50_000)


class Refused(Exception):
    """A refusal, with its stage."""


class Literal(str):
    """A JSON number with its spelling."""


def derive(secret: bytes, label: str, size: int = 32) -> bytes:
    """Returns at most 32 bytes of HKDF-SHA256 without a salt."""
    extracted = hmac.digest(bytes(32), secret, "sha256")
    return hmac.digest(extracted, label.encode() + b"\x01", "sha256")[:size]


def encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def decode(text: str) -> bytes:
    """Decodes base64url and accepts only the canonical spelling."""
    try:
        raw = base64.b64decode(text.encode() + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError:
        raise Refused("malformed") from None
    if encode(raw) != text:
        raise Refused("malformed")
    return raw


class Codec:
    """hmac-sha256 under the ring of secrets that claims derive."""

    def __init__(self, secrets: list[bytes]) -> None:
        self.keys = []
        for secret in (derive(s, "sealab/claims/v2") for s in secrets):
            self.keys.append((derive(secret, "sealab/hmac-sha256/v1 key-id", 4), derive(secret, "sealab/hmac-sha256/v1 key")))

    def seal(self, payload: bytes) -> str:
        name, key = self.keys[0]
        return "sh1." + encode(name + payload + self.tag(name, key, payload))

    def unseal(self, token: str) -> bytes:
        if not token.startswith("sh1."):
            raise Refused("malformed")
        raw = decode(token[4:])
        if len(raw) < 36:
            raise Refused("malformed")
        name, payload, tag = raw[:4], raw[4:-32], raw[-32:]
        key = dict(self.keys).get(name)
        if key is None:
            raise Refused("unknown-key")
        if not hmac.compare_digest(tag, self.tag(name, key, payload)):
            raise Refused("unauthentic")
        return payload

    @staticmethod
    def tag(name: bytes, key: bytes, payload: bytes) -> bytes:
        return hmac.digest(key, b"sh1." + name + payload, "sha256")


def refuse_constant(name: str) -> None:
    raise ValueError(name)


def canonical(text: str) -> str:
    """Returns arguments in the canonical form that is digested."""
    return write(json.loads(text, parse_int=Literal, parse_float=Literal, parse_constant=refuse_constant))


def write(value: object) -> str:
    if isinstance(value, Literal):
        return value
    if isinstance(value, dict):
        return "{" + ",".join(json.dumps(k) + ":" + write(value[k]) for k in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(write, value)) + "]"
    return json.dumps(value)


def text(value: str) -> bytes:
    raw, length = value.encode("utf-8", "surrogatepass"), bytearray()
    n = len(raw)
    while n > 0x7F:
        length.append(n & 0x7F | 0x80)
        n >>= 7
    length.append(n)
    return bytes(length) + raw


def digest(salt: bytes, binding: dict) -> bytes:
    fields = [text(binding.get("method", "")), text(binding.get("target", ""))]
    present = 0
    for bit, name in ((2, "audience"), (4, "principal")):
        if name in binding:
            present |= bit
            fields.append(text(binding[name]))
    if "arguments" in binding:
        present |= 1
        fields.append(canonical(binding["arguments"]).encode())
    return hashlib.sha256(b"sealab/claims/v2" + salt + bytes([present]) + b"".join(fields)).digest()[:16]


def nanoseconds(seconds: str) -> int:
    return int(Decimal(seconds) * 10**9)


def verify(codec: Codec, token: str, now: int, binding: dict) -> bytes:
    payload = codec.unseal(token)
    if len(payload) < 49 or payload[0] != 2:
        raise Refused("malformed")
    issued, expires = (int.from_bytes(payload[i : i + 8], "big", signed=True) for i in (1, 9))
    if issued - now > SKEW or expires <= now:
        raise Refused("expired")
    try:
        want = digest(payload[17:33], binding)
    except ValueError:
        raise Refused("misbound") from None
    if not hmac.compare_digest(want, payload[33:49]):
        raise Refused("misbound")
    return payload[49:]


def mint(codec: Codec, test: dict) -> str:
    issued, salt = nanoseconds(test["now"]), bytes.fromhex(test["seed"])
    times = [issued, issued + nanoseconds(test["ttl"])]
    claims = b"\x02" + b"".join(t.to_bytes(8, "big", signed=True) for t in times) + salt + digest(salt, test["binding"])
    return codec.seal(claims + bytes.fromhex(test["state"]))


def judge(test: dict) -> str:
    """Returns the difference from the expected answer, or an empty string."""
    codec = Codec([bytes.fromhex(FILE["keys"][name]) for name in test["keys"]])
    try:
        state = verify(codec, test["token"], nanoseconds(test["now"]), test["binding"])
    except Refused as refused:
        return "" if test["expect"] == "refuse" and str(refused) == test["stage"] else f"refused as {refused}"
    if test["expect"] != "accept" or state.hex() != test["released"]:
        return f"accepted with the state {state.hex()}"
    return "sealed another token" if test["sealed"] and mint(codec, test) != test["token"] else ""


def complete(tests: list[dict]) -> list[dict]:
    """Copies omitted parts of a test's setting from the test that it is near."""
    known = {}
    for test in tests:
        near = known.get(test.get("near"), {})
        known[test["id"]] = {k: near[k] for k in ("keys", "binding", "now", "ttl") if k in near} | test
    return [test for test in known.values() if test["expect"] != "silent"]


def main() -> int:
    tests = complete(FILE["tests"])
    wrong = [f"{test['id']}: {found}: {test['comment']}" for test in tests if (found := judge(test))]
    if not tests or FILE["number_of_tests"] != len(FILE["tests"]):
        wrong.append("tests are missing")
    print(*wrong, f"hmac-sha256-claims: {len(tests)} tests, {len(wrong)} wrong", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
