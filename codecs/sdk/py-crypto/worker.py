"""The laboratory's own codecs, read from their documentation and written again.

Usage: worker.py DESIGN. The primitives are those of the cryptography package;
XChaCha20 is built on its ChaCha20 as draft-irtf-cfrg-xchacha-03 says. Nothing
here was taken from the Go code.
"""

import hmac
import os
import struct
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

sys.path.insert(0, str(Path(__file__).parent.parent / "py"))

from protocol import Handles, Message, Refused, Rejected, Unsupported, decode, each, encode, serve, timed  # noqa: E402

KEY_ID = 4


def derive(secret: bytes, label: str, size: int) -> bytes:
    return HKDF(SHA256(), size, salt=None, info=label.encode()).derive(secret)


class Key(Protocol):
    """What a design does with the bytes between key-id and the end."""

    overhead: int  # bytes that a token has beside key-id and payload

    def protect(self, payload: bytes, associated: bytes) -> bytes: ...

    def recover(self, body: bytes, associated: bytes) -> bytes: ...


class Signed:
    """payload || HMAC-SHA256(key, associated || payload)"""

    overhead = 32

    def __init__(self, key: bytes) -> None:
        self.key = key

    def tag(self, payload: bytes, associated: bytes) -> bytes:
        return hmac.digest(self.key, associated + payload, "sha256")

    def protect(self, payload: bytes, associated: bytes) -> bytes:
        return payload + self.tag(payload, associated)

    def recover(self, body: bytes, associated: bytes) -> bytes:
        payload, tag = body[: -self.overhead], body[-self.overhead :]
        if not hmac.compare_digest(tag, self.tag(payload, associated)):
            raise Rejected("unauthentic", "tag")
        return payload


class XChaCha20Poly1305:
    """ChaCha20-Poly1305 under the subkey that HChaCha20 makes of half the nonce."""

    def __init__(self, key: bytes) -> None:
        self.key = key

    def inner(self, nonce: bytes) -> tuple[ChaCha20Poly1305, bytes]:
        """HChaCha20 is the ChaCha20 block without its final addition, of which
        it keeps the first and the last four words."""
        block = Cipher(algorithms.ChaCha20(self.key, nonce[:16]), mode=None).encryptor().update(bytes(64))
        initial = b"expand 32-byte k" + self.key + nonce[:16]
        words = [(a - b) % 2**32 for a, b in zip(struct.unpack("<16I", block), struct.unpack("<16I", initial), strict=True)]
        return ChaCha20Poly1305(struct.pack("<8I", *words[:4], *words[12:])), bytes(4) + nonce[16:]

    def encrypt(self, nonce: bytes, payload: bytes, associated: bytes) -> bytes:
        aead, nonce = self.inner(nonce)
        return aead.encrypt(nonce, payload, associated)

    def decrypt(self, nonce: bytes, sealed: bytes, associated: bytes) -> bytes:
        aead, nonce = self.inner(nonce)
        return aead.decrypt(nonce, sealed, associated)


class Sealed:
    """nonce || ciphertext || tag"""

    def __init__(self, aead: AESGCM | XChaCha20Poly1305, nonce: int) -> None:
        self.aead, self.nonce, self.overhead = aead, nonce, nonce + 16

    def protect(self, payload: bytes, associated: bytes) -> bytes:
        nonce = os.urandom(self.nonce)
        return nonce + self.aead.encrypt(nonce, payload, associated)

    def recover(self, body: bytes, associated: bytes) -> bytes:
        try:
            return self.aead.decrypt(body[: self.nonce], body[self.nonce :], associated)
        except InvalidTag as wrong:
            raise Rejected("unauthentic", "seal") from wrong


# Of each design: its prefix, and the key that 32 derived bytes make.
DESIGNS: dict[str, tuple[str, Callable[[bytes], Key]]] = {
    "hmac-sha256": ("sh1.", Signed),
    "aes-256-gcm": ("sa1.", lambda key: Sealed(AESGCM(key), 12)),
    "xchacha20-poly1305": ("sx1.", lambda key: Sealed(XChaCha20Poly1305(key), 24)),
}

NAME = sys.argv[1]
PREFIX, NEW_KEY = DESIGNS[NAME]


class Ring:
    """The keys of one open: the first seals, every one unseals."""

    def __init__(self, message: Message) -> None:
        secrets = [decode(k) for k in message.get("keys_b64") or []]
        if message.get("options") or not secrets:
            raise Refused("want at least one secret and no options")
        if any(len(s) < 32 or len(set(s)) == 1 for s in secrets):
            raise Refused("a secret has fewer than 32 bytes, or is one byte repeated")
        label = f"sealab/{NAME}/v1"
        self.keys = {derive(s, label + " key-id", KEY_ID): NEW_KEY(derive(s, label + " key", 32)) for s in secrets}
        if len(self.keys) < len(secrets):
            raise Refused("two secrets are the same, or have the same fingerprint")
        self.first = next(iter(self.keys))

    def seal(self, payload: bytes) -> str:
        body = self.keys[self.first].protect(payload, PREFIX.encode() + self.first)
        return PREFIX + encode(self.first + body)

    def unseal(self, token: str) -> bytes:
        text = token.removeprefix(PREFIX)
        try:
            raw = decode(text)
        except ValueError:
            raw = b""
        if not token.startswith(PREFIX) or encode(raw) != text or len(raw) < KEY_ID + NEW_KEY(bytes(32)).overhead:
            raise Rejected("malformed", "malformed")
        key = self.keys.get(raw[:KEY_ID])
        if key is None:
            raise Rejected("unknown-key", "unknown key")
        return key.recover(raw[KEY_ID:], PREFIX.encode() + raw[:KEY_ID])


HANDLES = Handles(Ring)


def seal(message: Message) -> Message:
    return {"token": HANDLES[message].seal(decode(message["payload_b64"]))}


def unseal(message: Message) -> Message:
    ring = HANDLES[message]
    return each(lambda token: {"payload_b64": encode(ring.unseal(token))}, message)


def bench(message: Message) -> Message:
    ring = HANDLES[message]
    match message["do"]:
        case "seal":
            payload = decode(message["payload_b64"])
            return timed(lambda: ring.seal(payload), message["n"])
        case "unseal":
            return timed(lambda: ring.unseal(message["token"]), message["n"])
        case _:
            raise Unsupported


HELLO = {
    "name": f"py-{NAME}",
    "version": version("cryptography"),
    "kind": "codec",
    "abilities": ["batch", "bench"],
}

if __name__ == "__main__":
    serve(HELLO, {"open": HANDLES.open, "close": HANDLES.close, "seal": seal, "unseal": unseal, "bench": bench})
