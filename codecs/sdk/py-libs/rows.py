"""Token libraries in Python, a row of a few lines each.

A row is a function from the ring of an open to a pair: seal takes a payload and
returns a token, unseal takes a token and returns the payload or raises. Under
ability clock both also take the time and the time to live.

A library that takes text or JSON gets a payload as the text of the same bytes
in Latin-1, so that every payload has one and a text in ASCII stays readable.
"""

import base64
import hashlib
import json
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from protocol import Refused, Unsupported

Ring = Sequence[bytes]


@dataclass
class Row:
    package: str  # distribution on PyPI
    new: Callable[..., tuple[Callable[..., Any], Callable[..., Any]]]
    clock: bool = False
    guarantees: dict[str, bool] = field(default_factory=dict)


ROWS: dict[str, Row] = {}

# Guarantees of every row, unless it says otherwise.
COMMON = {
    "integrity": True, "total": True, "byte-exact": True, "inert": True, "private-keys": True,
    "canonical": False, "rotation": False, "key-separation": False, "key-committing": False,
    "sender-authenticated": False, "strong-keys": False, "uniform-refusal": False, "single-use": False,
}  # fmt: skip
SIGNED = {"confidentiality": False, "nonce-misuse-resistant": True, "fresh-nonces": False}
SEALED = {"confidentiality": True, "nonce-misuse-resistant": False, "fresh-nonces": True}
UNBOUND = {
    f"binds-{name}": False for name in ("method", "target", "arguments", "principal", "audience")
} | {"unambiguous": False, "expiry": True}
STRICT = {"canonical": True}
INCLUSIVE = {"expiry": False}  # a token is taken in the second of its expiry
UNBOUNDED = {"total": False}  # it decompresses without a limit, after authentication


def row(name: str, package: str, *claims: dict[str, bool], clock: bool = False, **more: bool) -> Callable[..., Any]:
    def add(new: Callable[..., Any]) -> Callable[..., Any]:
        guarantees = COMMON | (UNBOUND if clock else {})
        for claim in (*claims, {key.replace("_", "-"): holds for key, holds in more.items()}):
            guarantees |= claim
        ROWS[name] = Row(package, new, clock, guarantees)
        return new

    return add


def one(ring: Ring, size: int = 0) -> bytes:
    """The only key of a ring, of the size if one is given."""
    if len(ring) != 1:
        raise Refused(f"got {len(ring)} keys, want 1: the library has no ring")
    if size and len(ring[0]) != size:
        raise Refused(f"got a key of {len(ring[0])} bytes, want {size}")
    return ring[0]


def b64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def text(payload: bytes) -> str:
    return payload.decode("latin-1")


def wide(payload: bytes) -> str:
    """The text of a payload for a row that a design agrees with."""
    try:
        return payload.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as wrong:
        raise Unsupported from wrong


def narrow(state: Any) -> bytes:
    if not isinstance(state, str):
        raise Unsupported
    return state.encode("utf-8", "surrogatepass")


def octets(token: str) -> bytes:
    """A token as a server gets it, for libraries that take bytes."""
    return token.encode("utf-8", "surrogatepass")


def raw(token: str | bytes) -> str:
    return token.decode() if isinstance(token, bytes) else token


def jwk(key: bytes) -> dict[str, str]:
    return {"kty": "oct", "k": b64(key)}


@row("pyjwt", "PyJWT", SIGNED)
def pyjwt(ring: Ring):
    import jwt

    key = one(ring)
    return (
        lambda p: raw(jwt.encode({"state": text(p)}, key, "HS256")),
        lambda t: jwt.decode(t, key, algorithms=["HS256"])["state"].encode("latin-1"),
    )


@row("authlib-jws", "Authlib", SIGNED)
def authlib_jws(ring: Ring):
    from authlib.jose import JsonWebSignature

    key, jws = one(ring), JsonWebSignature(["HS256"])
    return lambda p: raw(jws.serialize_compact({"alg": "HS256"}, p, key)), lambda t: jws.deserialize_compact(t, key)["payload"]


@row("authlib-jwt", "Authlib", SIGNED)
def authlib_jwt(ring: Ring):
    from authlib.jose import JsonWebToken

    key, jwt = one(ring), JsonWebToken(["HS256"])
    return lambda p: raw(jwt.encode({"alg": "HS256"}, {"state": text(p)}, key)), lambda t: jwt.decode(t, key)["state"].encode("latin-1")


@row("authlib-jwe", "Authlib", SEALED)
def authlib_jwe(ring: Ring):
    from authlib.jose import JsonWebEncryption

    key, jwe = one(ring, 32), JsonWebEncryption()
    header = {"alg": "dir", "enc": "A256GCM"}
    return lambda p: raw(jwe.serialize_compact(header, p, key)), lambda t: jwe.deserialize_compact(t, key)["payload"]


@row("joserfc-jws", "joserfc", SIGNED, STRICT)
def joserfc_jws(ring: Ring):
    from joserfc import jws
    from joserfc.jwk import OctKey

    key = OctKey.import_key(one(ring))
    return (
        lambda p: jws.serialize_compact({"alg": "HS256"}, p, key, algorithms=["HS256"]),
        lambda t: jws.deserialize_compact(t, key, algorithms=["HS256"]).payload,
    )


@row("joserfc-jwe", "joserfc", SEALED, STRICT)
def joserfc_jwe(ring: Ring):
    from joserfc import jwe
    from joserfc.jwk import OctKey

    key, algorithms = OctKey.import_key(one(ring, 32)), ["dir", "A256GCM"]
    return (
        lambda p: jwe.encrypt_compact({"alg": "dir", "enc": "A256GCM"}, p, key, algorithms=algorithms),
        lambda t: jwe.decrypt_compact(t, key, algorithms=algorithms).plaintext,
    )


@row("python-jose-jws", "python-jose", SIGNED)
def python_jose_jws(ring: Ring):
    from jose import jws

    key = b64(one(ring))  # the library takes keys as text
    return (
        lambda p: jws.sign(p, key, algorithm="HS256"),
        lambda t: jws.verify(t, key, algorithms=["HS256"]),
    )


@row("python-jose-jwe", "python-jose", SEALED)
def python_jose_jwe(ring: Ring):
    from jose import jwe

    key = one(ring, 32)
    return lambda p: raw(jwe.encrypt(p, key, encryption="A256GCM", algorithm="dir")), lambda t: jwe.decrypt(t, key)


@row("jwcrypto-jws", "jwcrypto", SIGNED)
def jwcrypto_jws(ring: Ring):
    from jwcrypto import jwk as keys
    from jwcrypto import jws

    key = keys.JWK(**jwk(one(ring)))

    def seal(payload: bytes) -> str:
        token = jws.JWS(payload)
        token.add_signature(key, None, json.dumps({"alg": "HS256"}), None)
        return token.serialize(compact=True)

    def unseal(token: str) -> bytes:
        opened = jws.JWS()
        opened.allowed_algs = ["HS256"]
        opened.deserialize(token, key)
        return opened.payload

    return seal, unseal


@row("jwcrypto-jwe", "jwcrypto", SEALED)
def jwcrypto_jwe(ring: Ring):
    from jwcrypto import jwe
    from jwcrypto import jwk as keys

    key = keys.JWK(**jwk(one(ring, 32)))

    def seal(payload: bytes) -> str:
        token = jwe.JWE(payload, json.dumps({"alg": "dir", "enc": "A256GCM"}))
        token.add_recipient(key)
        return token.serialize(compact=True)

    def unseal(token: str) -> bytes:
        opened = jwe.JWE()
        opened.deserialize(token, key)
        return opened.payload

    return seal, unseal


@row("itsdangerous", "itsdangerous", SIGNED, UNBOUNDED, rotation=True)
def itsdangerous(ring: Ring):
    from itsdangerous import URLSafeSerializer

    signer = URLSafeSerializer(list(reversed(ring)))  # the last key signs
    return lambda p: raw(signer.dumps(text(p))), lambda t: signer.loads(t).encode("latin-1")


@row("itsdangerous-timed", "itsdangerous", SIGNED, UNBOUNDED, INCLUSIVE, clock=True, rotation=True)
def itsdangerous_timed(ring: Ring):
    from itsdangerous import URLSafeTimedSerializer, timed

    signer = URLSafeTimedSerializer(list(reversed(ring)))

    def at(now: float) -> URLSafeTimedSerializer:
        timed.time = types.SimpleNamespace(time=lambda: now)
        return signer

    return (
        lambda p, now, ttl: raw(at(now).dumps(wide(p))),
        lambda t, now, ttl: narrow(at(now).loads(octets(t), max_age=ttl)),
    )


@row("django-signing", "Django", SIGNED, STRICT, rotation=True)
def django_signing(ring: Ring):
    from django.core.signing import Signer

    signer = Signer(key=ring[0], fallback_keys=list(ring[1:]), salt="sealab")
    return lambda p: signer.sign_object(text(p)), lambda t: signer.unsign_object(t).encode("latin-1")


@row("django-timed", "Django", SIGNED, STRICT, INCLUSIVE, clock=True, rotation=True)
def django_timed(ring: Ring):
    from django.core import signing

    signer = signing.TimestampSigner(key=ring[0], fallback_keys=list(ring[1:]), salt="django.core.signing")

    def at(now: float) -> Any:
        signing.time = types.SimpleNamespace(time=lambda: now)
        return signer

    return (
        lambda p, now, ttl: at(now).sign_object(wide(p)),
        lambda t, now, ttl: narrow(at(now).unsign_object(t, max_age=ttl)),
    )


@row("py-fernet", "cryptography", SEALED, INCLUSIVE, clock=True, rotation=True, uniform_refusal=True)
def py_fernet(ring: Ring):
    from cryptography.fernet import Fernet

    if any(len(key) != 32 for key in ring):
        raise Refused("want keys of 32 bytes")
    keys = [Fernet(base64.urlsafe_b64encode(key)) for key in ring]
    return (
        lambda p, now, ttl: keys[0].encrypt_at_time(p, int(now)).decode(),
        lambda t, now, ttl: with_each(keys, octets(t), ttl, now),
    )


def with_each(keys: Sequence[Any], token: bytes, ttl: float, now: float) -> bytes:
    """MultiFernet.decrypt_at_time: the keys in turn."""
    for key in keys[:-1]:
        try:
            return key.decrypt_at_time(token, ttl, int(now))
        except Exception:  # noqa: S112 BLE001 the next key
            continue
    return keys[-1].decrypt_at_time(token, ttl, int(now))


def paseto(version: int):
    def new(ring: Ring):
        import pyseto

        key = pyseto.Key.new(version=version, purpose="local", key=one(ring, 32))
        return lambda p: raw(pyseto.encode(key, p)), lambda t: pyseto.decode(key, t).payload

    return new


row("pyseto-v4", "pyseto", SEALED, key_committing=True)(paseto(4))
row("pyseto-v3", "pyseto", SEALED, key_committing=True)(paseto(3))


@row("pymacaroons", "pymacaroons", SIGNED)
def pymacaroons(ring: Ring):
    from pymacaroons import Macaroon, Verifier

    key = hashlib.sha256(one(ring)).hexdigest()  # the library takes keys as text

    def unseal(token: str) -> bytes:
        macaroon = Macaroon.deserialize(token)
        Verifier().verify(macaroon, key)
        return bytes.fromhex(macaroon.identifier)

    def seal(payload: bytes) -> str:
        if len(payload) > 32_000:  # a packet has at most 65,535 bytes
            raise Unsupported
        # An identifier is text without line breaks: hexadecimal.
        return Macaroon(location="sealab", identifier=payload.hex(), key=key).serialize()

    return seal, unseal
