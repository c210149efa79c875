"""A codec as a worker: JSON Lines on standard input and output."""
import base64, hmac, json, sys

def text(raw):
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()

def raw(s):
    return base64.urlsafe_b64decode(s + "=" * (-len(s) % 4))

class Refused(Exception):
    pass

class Codec:  # your codec stands here
    def __init__(self, secrets):
        if not secrets or min(map(len, secrets)) < 32 or len(set(secrets)) < len(secrets):
            raise ValueError("one or more different secrets of 32 bytes")
        self.keys = [hmac.digest(b"example key v1", s, "sha256") for s in secrets]

    def tag(self, key, body):
        return text(hmac.digest(key, b"ex1." + body.encode(), "sha256"))

    def seal(self, payload):
        return f"ex1.{text(payload)}.{self.tag(self.keys[0], text(payload))}"

    def unseal(self, token):
        prefix, body, tag = (token.split(".", 3) + ["", ""])[:3]
        if not token.isascii() or token != f"ex1.{body}.{tag}" or prefix != "ex1":
            raise Refused("malformed")
        if not any([hmac.compare_digest(self.tag(k, body), tag) for k in self.keys]):
            raise Refused("unauthentic")
        return raw(body)

codecs = []
HELLO = {"protocol": 1, "name": "example", "version": "1", "kind": "codec", "abilities": [],
         "guarantees": {"integrity": True, "canonical": True, "rotation": True, "strong-keys": True, "confidentiality": False}}

def answer(ask):
    match ask["op"]:
        case "hello": return HELLO
        case "open":
            try: codecs.append(Codec([raw(k) for k in ask["keys_b64"]]))
            except ValueError as e: return {"ok": False, "refused": str(e)}
            return {"handle": len(codecs) - 1}
        case "seal": return {"token": codecs[ask["handle"]].seal(raw(ask["payload_b64"]))}
        case "unseal":
            try: return {"payload_b64": text(codecs[ask["handle"]].unseal(ask["token"]))}
            except Refused as e: return {"ok": False, "rejected": str(e), "reason": str(e)}
        case "close": return {}
    return {"ok": False, "unsupported": True}

for line in sys.stdin:
    print(json.dumps({"ok": True} | answer(json.loads(line))), flush=True)
