"""Reads sealab-vectors/1 and tests hpke-psk and hpke-session with pyhpke.

Both layouts are written down once more here, over an implementation of RFC 9180
that is not the laboratory's. The folder of the files is in VECTORS, by default
../../files.
"""

import json
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from pyhpke import AEADId, CipherSuite, KDFId, KEMId, KEMKeyPair
from pyhpke.exceptions import PyHPKEError

FOLDER = Path(os.environ.get("VECTORS", Path(__file__).parent / "../../files"))
SUITE = CipherSuite.new(KEMId.DHKEM_X25519_HKDF_SHA256, KDFId.HKDF_SHA256, AEADId.AES256_GCM)
ID, ENC, NONCE, TAG = 4, 32, 12, 16
MIN_SECRET = 32
PRIME = 2**255 - 19


class Refusal(Exception):
    """A refusal; its text is the stage."""


def is_strong(secret: bytes) -> bool:
    """A secret of one repeated byte is probably an uninitialized buffer."""
    return len(secret) >= MIN_SECRET and len(set(secret)) > 1


def derive(key: bytes, label: str, size: int = 32) -> bytes:
    return HKDF(algorithm=SHA256(), length=size, salt=None, info=label.encode()).derive(key)


@dataclass
class Key:
    """The keys derived from one secret of a ring."""

    id: bytes
    label: str
    pair: KEMKeyPair
    psk: bytes

    @classmethod
    def of(cls, secret: bytes, label: str) -> "Key":
        key = derive(secret, label + " key")
        pair = SUITE.kem.derive_key_pair(derive(key, label + " kem"))
        return cls(derive(secret, label + " key-id", ID), label, pair, derive(key, label + " psk"))

    def context(self) -> dict[str, bytes]:
        return {"info": self.label.encode(), "psk": self.psk, "psk_id": self.id}


class Psk:
    """hpke-psk: one HPKE message per token."""

    prefix, label, overhead = "sp1.", "sealab/hpke-psk/v1", ID + ENC + TAG

    @staticmethod
    def seal(key: Key, seed: bytes, payload: bytes, data: bytes) -> bytes:
        enc, sender = SUITE.create_sender_context(key.pair.public_key, eks=SUITE.kem.derive_key_pair(seed), **key.context())
        return enc + sender.seal(payload, data)

    @staticmethod
    def open(key: Key, enc: bytes, sealed: bytes, data: bytes) -> bytes:
        return SUITE.create_recipient_context(enc, key.pair.private_key, **key.context()).open(sealed, data)


class Session:
    """hpke-session: AES-256-GCM under a key that a context exports."""

    prefix, label, overhead = "ss1.", "sealab/hpke-session/v1", ID + ENC + NONCE + TAG

    @classmethod
    def seal(cls, key: Key, seed: bytes, payload: bytes, data: bytes) -> bytes:
        pair, nonce = SUITE.kem.derive_key_pair(seed[:ENC]), seed[ENC:]
        enc, sender = SUITE.create_sender_context(key.pair.public_key, eks=pair, **key.context())
        return enc + nonce + cls.cipher(sender).encrypt(nonce, payload, data)

    @classmethod
    def open(cls, key: Key, enc: bytes, sealed: bytes, data: bytes) -> bytes:
        recipient = SUITE.create_recipient_context(enc, key.pair.private_key, **key.context())
        return cls.cipher(recipient).decrypt(sealed[:NONCE], sealed[NONCE:], data)

    @classmethod
    def cipher(cls, context) -> AESGCM:
        return AESGCM(context.export((cls.label + " token").encode(), 32))


class Ring:
    """A ring of keys: the first seals, every one opens."""

    def __init__(self, layout: type, secrets: list[str]) -> None:
        self.layout = layout
        raw = [bytes.fromhex(s) for s in secrets]
        self.keys = {}
        for key in [Key.of(s, layout.label) for s in raw if is_strong(s)]:
            self.keys[key.id] = key
        if not raw or len(self.keys) != len(raw):
            raise ValueError("no key, a weak one, or one twice")

    def data(self, key: Key) -> bytes:
        return self.layout.prefix.encode() + key.id

    def seal(self, seed: bytes, payload: bytes) -> str:
        key = next(iter(self.keys.values()))
        raw = key.id + self.layout.seal(key, seed, payload, self.data(key))
        return self.layout.prefix + urlsafe_b64encode(raw).decode().rstrip("=")

    def open(self, token: str) -> bytes:
        raw = decode(token, self.layout.prefix)
        if len(raw) < self.layout.overhead or int.from_bytes(raw[ID : ID + ENC], "little") >= PRIME:
            raise Refusal("malformed")
        key = self.keys.get(raw[:ID])
        if key is None:
            raise Refusal("unknown-key")
        enc, sealed = raw[ID : ID + ENC], raw[ID + ENC :]
        try:
            return self.layout.open(key, enc, sealed, self.data(key))
        except (PyHPKEError, InvalidTag, ValueError) as wrong:  # ValueError: a point of low order
            raise Refusal("unauthentic") from wrong


def decode(token: str, prefix: str) -> bytes:
    text = token.removeprefix(prefix)
    if text == token:
        raise Refusal("malformed")
    try:
        raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError as wrong:
        raise Refusal("malformed") from wrong
    if urlsafe_b64encode(raw).decode().rstrip("=") != text:
        raise Refusal("malformed")
    return raw


FILES = [(layout, json.loads((FOLDER / f"{name}.json").read_text())) for layout, name in ((Psk, "hpke-psk"), (Session, "hpke-session"))]
RINGS = [(layout, ring) for layout, file in FILES for ring in file["rings"]]
TESTS = [(layout, file, test) for layout, file in FILES for test in file["tests"]]


def name(value: object) -> str:
    return value.get("id", "") if isinstance(value, dict) else ""


def test_format() -> None:
    for _, file in FILES:
        assert file["format"] == "sealab-vectors/1"
        assert file["number_of_tests"] == len(file["tests"]) > 0


@pytest.mark.parametrize(("layout", "ring"), RINGS, ids=name)
def test_ring(layout: type, ring: dict) -> None:
    if ring["expect"] == "accept":
        Ring(layout, ring["secrets"])
        return
    with pytest.raises(ValueError):
        Ring(layout, ring["secrets"])


@pytest.mark.parametrize(("layout", "file", "test"), TESTS, ids=name)
def test_vector(layout: type, file: dict, test: dict) -> None:
    ring = Ring(layout, [file["keys"][key] for key in test["keys"]])
    if test.get("sealed"):
        assert ring.seal(bytes.fromhex(test["seed"]), bytes.fromhex(test["payload"])) == test["token"], test["comment"]
    if test["expect"] == "accept":
        assert ring.open(test["token"]).hex() == test["released"], test["comment"]
        return
    with pytest.raises(Refusal) as refusal:
        ring.open(test["token"])
    assert str(refusal.value) == test["stage"], test["comment"]
