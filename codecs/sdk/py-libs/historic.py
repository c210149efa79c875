"""Rows for versions of libraries with known vulnerabilities, loaded from a folder.

A row with a key pair makes the private key of a secret of 32 bytes as the attacks do
(attacks/keypairs.go): the seed of Ed25519, or the scalar of P-256.
"""

import base64
import datetime
import json
from collections.abc import Sequence

from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from rows import SEALED, SIGNED, b64, jwk, one, raw, row, text

Ring = Sequence[bytes]
PAIR = {"sender-authenticated": True, "confidentiality": False}
P256 = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


def ed25519_key(key: bytes) -> ed25519.Ed25519PrivateKey:
    return ed25519.Ed25519PrivateKey.from_private_bytes(key)


def p256_key(key: bytes) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(int.from_bytes(key) % (P256 - 1) + 1, ec.SECP256R1())


def private_pem(key) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def public_ssh(key) -> str:
    return key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


def public_pem(key) -> bytes:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


@row("pyjwt-eddsa", "PyJWT", PAIR)
def pyjwt_eddsa(ring: Ring):
    """The server has the public key as text and lets the token choose the algorithm."""
    import jwt

    key = ed25519_key(one(ring, 32))
    private, public = private_pem(key), public_ssh(key)
    algorithms = list(jwt.algorithms.get_default_algorithms())
    return (
        lambda p: raw(jwt.encode({"state": text(p)}, private, "EdDSA")),
        lambda t: jwt.decode(t, public, algorithms=algorithms)["state"].encode("latin-1"),
    )


@row("pyjwt-jwk", "PyJWT", PAIR)
def pyjwt_jwk(ring: Ring):
    """The server has the public key as a JWK and reads it as the algorithm's key."""
    import jwt

    key = ed25519_key(one(ring, 32))
    x = b64(key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))
    public = json.dumps({"kty": "OKP", "crv": "Ed25519", "x": x}, separators=(",", ":"))

    def unseal(token: str) -> bytes:
        asymmetric = jwt.get_unverified_header(token)["alg"] == "EdDSA"
        verifier = jwt.algorithms.OKPAlgorithm.from_jwk(public) if asymmetric else public
        return jwt.decode(token, verifier, algorithms=["EdDSA", "HS256"])["state"].encode("latin-1")

    return lambda p: raw(jwt.encode({"state": text(p)}, private_pem(key), "EdDSA")), unseal


@row("python-jose-es256", "python-jose", PAIR)
def python_jose_es256(ring: Ring):
    """The server has the public key in PEM and as OpenSSH writes it."""
    from jose import jwt

    key = p256_key(one(ring, 32))
    private, pem, line = private_pem(key).decode(), public_pem(key).decode(), public_ssh(key)

    def unseal(token: str) -> bytes:
        public = pem if jwt.get_unverified_header(token).get("alg") == "ES256" else line
        return jwt.decode(token, public, algorithms=None)["state"].encode("latin-1")

    return lambda p: jwt.encode({"state": text(p)}, private, algorithm="ES256"), unseal


@row("authlib-es256", "Authlib", PAIR)
def authlib_es256(ring: Ring):
    from authlib.jose import JsonWebToken

    key, jwt = p256_key(one(ring, 32)), JsonWebToken(["ES256", "HS256"])
    private, public = private_pem(key), public_pem(key)
    return (
        lambda p: raw(jwt.encode({"alg": "ES256"}, {"state": text(p)}, private)),
        lambda t: jwt.decode(t, public)["state"].encode("latin-1"),
    )


@row("authlib-default", "Authlib", SIGNED)
def authlib_default(ring: Ring):
    """The algorithms that the library takes by default."""
    from authlib.jose import jwt

    key = one(ring)
    return lambda p: raw(jwt.encode({"alg": "HS256"}, {"state": text(p)}, key)), lambda t: jwt.decode(t, key)["state"].encode("latin-1")


@row("authlib-kid", "Authlib", SIGNED)
def authlib_kid(ring: Ring):
    """The server looks the key up by its ID, and has None for an unknown one."""
    from authlib.jose import JsonWebSignature

    keys, jws = {"k1": one(ring)}, JsonWebSignature(["HS256"])

    def unseal(token: str) -> bytes:
        head = token.split(".")[0]
        header = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
        return jws.deserialize_compact(token, keys.get(header.get("kid")))["payload"]

    return lambda p: raw(jws.serialize_compact({"alg": "HS256", "kid": "k1"}, p, keys["k1"])), unseal


@row("authlib-zip", "Authlib", SEALED)
def authlib_zip(ring: Ring):
    from authlib.jose import JsonWebEncryption

    key, jwe = one(ring, 32), JsonWebEncryption()
    header = {"alg": "dir", "enc": "A256GCM", "zip": "DEF"}
    return lambda p: raw(jwe.serialize_compact(header, p, key)), lambda t: jwe.deserialize_compact(t, key)["payload"]


def jwcrypto_row(header: dict[str, object], algorithms: list[str], size: int = 0):
    def new(ring: Ring):
        from jwcrypto import jwe
        from jwcrypto import jwk as keys

        key = keys.JWK(**jwk(one(ring, size)))

        def seal(payload: bytes) -> str:
            token = jwe.JWE(payload, json.dumps(header), algs=algorithms)
            token.add_recipient(key)
            return token.serialize(compact=True)

        def unseal(token: str) -> bytes:
            opened = jwe.JWE(algs=algorithms)
            opened.deserialize(token, key)
            return opened.payload

        return seal, unseal

    return new


row("jwcrypto-zip", "jwcrypto", SEALED)(
    jwcrypto_row({"alg": "dir", "enc": "A256GCM", "zip": "DEF"}, ["dir", "A256GCM"], 32)
)
row("jwcrypto-pbes2", "jwcrypto", SEALED, inert=False)(
    jwcrypto_row({"alg": "PBES2-HS256+A128KW", "enc": "A256GCM", "p2c": 1000}, ["PBES2-HS256+A128KW", "A256GCM"])
)


@row("python-jwt", "python-jwt", SIGNED)
def python_jwt(ring: Ring):
    import python_jwt as library
    from jwcrypto import jwk as keys

    key = keys.JWK(**jwk(one(ring)))
    life = datetime.timedelta(minutes=10)
    return (
        lambda p: library.generate_jwt({"state": text(p)}, key, "HS256", life),
        lambda t: library.verify_jwt(t, key, ["HS256"])[1]["state"].encode("latin-1"),
    )



