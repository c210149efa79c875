"""Workers of the corpus in Python: python3 worker.py NAME. Each class below Signed is a worker, most of them broken in one place."""
import base64, binascii, hashlib, hmac, json, os, random, re, struct, sys, time, unicodedata, urllib.parse, zlib

class Refused(Exception):
    pass

def text(b):
    return base64.urlsafe_b64encode(b).rstrip(b"=").decode()

def raw(s):
    if not re.fullmatch("[A-Za-z0-9_-]*", s) or len(s) % 4 == 1: raise Refused("malformed")
    b = base64.urlsafe_b64decode(s + "=" * (-len(s) % 4))
    if text(b) != s: raise Refused("malformed")
    return b

def sha(b):
    return hashlib.sha256(b).digest()

def utf(s):
    return s.encode("utf-8", "surrogatepass")

def frame(parts):
    return b"".join(b"\0" if p is None else b"\1" + len(p).to_bytes(8, "big") + p for p in parts)

def canon(v):
    """Encode a JSON value, read with literals kept as numbers, without ambiguity."""
    if isinstance(v, Pairs): return b"{" + frame([frame([utf(k), canon(x)]) for k, x in v])
    if isinstance(v, list): return b"[" + frame([canon(x) for x in v])
    if isinstance(v, Number): return b"#" + v.encode()
    return b'"' + utf(v) if isinstance(v, str) else repr(v).encode()

class Pairs(list):
    pass

class Number(str):
    pass

def plain(v):
    """Return what json.loads would have made of a value."""
    if isinstance(v, Pairs): return {k: plain(x) for k, x in v}
    if isinstance(v, list): return [plain(x) for x in v]
    if isinstance(v, Number): return json.loads(v)
    return v

CLAIMS = "integrity canonical binds-method binds-target binds-arguments binds-principal binds-audience unambiguous expiry rotation key-separation strong-keys uniform-refusal total byte-exact inert private-keys"
FIELDS = ("method", "target", "arguments", "principal", "audience")

class Signed:
    """ps1.BODY.TAG: a JSON body and HMAC-SHA256 over the text before it."""
    abilities, claims, prefix, skew = ["clock", "batch"], CLAIMS, "ps1", 60_000_000
    def __init__(self, secrets, ttl):
        self.check(secrets)
        self.keys, self.ttl = [self.derive(s) for s in secrets], ttl
    def check(self, secrets):
        if not secrets or min(map(len, secrets)) < 32 or len(set(secrets)) < len(secrets): raise ValueError("different secrets of 32 bytes")
    def derive(self, secret): return hmac.digest(b"corpus " + self.prefix.encode(), secret, "sha256")
    def field(self, name, v, b): return None if v is None else canon(v) if name == "arguments" else utf(v)
    def bind(self, b): return sha(frame([self.field(n, b.get(n), b) for n in FIELDS]))
    def same(self, c, b): return hmac.compare_digest(c["d"], text(self.bind(b)))
    def times(self, now): return now, now + int(self.ttl * 1e6)
    def valid(self, c, now, b): return now < c["e"] and c["i"] <= now + self.skew
    def claim(self, now, state, b):
        issued, expires = self.times(now)
        return {"d": text(self.bind(b)), "e": expires, "i": issued, "s": text(state)}
    def mint(self, now, state, b): return self.write(self.keys[0], json.dumps(self.claim(now, state, b), separators=(",", ":")).encode())
    def tag(self, key, message): return hmac.digest(key, message, "sha256")
    def equal(self, want, given): return hmac.compare_digest(want, given)
    def write(self, key, body):
        head = f"{self.prefix}.{text(body)}"
        return f"{head}.{text(self.tag(key, head.encode()))}"
    def split(self, token):
        parts = token.split(".")
        if len(parts) != 3 or parts[0] != self.prefix: raise Refused("malformed")
        return parts
    def read(self, token):
        _, body, tag = self.split(token)
        body, tag = raw(body), raw(tag)
        self.authenticate(f"{self.prefix}.{text(body)}".encode(), tag)
        return body
    def authenticate(self, message, tag):
        if not any([self.equal(self.tag(k, message), tag) for k in self.keys]): raise Refused("unauthentic")
    def verify(self, now, token, b):
        c = json.loads(self.read(token))
        if not self.valid(c, now, b): raise Refused("expired")
        if not self.same(c, b): raise Refused("misbound")
        return raw(c["s"])
    def reason(self, why): return "refused"
    def vote(self, verdicts): return verdicts
    def close(self): pass

# Bindings.

class target_by_method(Signed):
    def field(self, n, v, b): return None if n == "target" and b.get("method") == "prompts/get" else super().field(n, v, b)
class arguments_absent_as_empty(Signed):
    def field(self, n, v, b): return super().field(n, Pairs() if n == "arguments" and v is None else v, b)
class arguments_only_objects(Signed):
    def field(self, n, v, b): return b"" if n == "arguments" and v is not None and not isinstance(v, Pairs) else super().field(n, v, b)
class arguments_shallow(Signed):
    def field(self, n, v, b):
        if n != "arguments" or not isinstance(v, Pairs): return super().field(n, v, b)
        return frame([frame([utf(k), type(x).__name__.encode() if isinstance(x, list) else canon(x)]) for k, x in v])
class arguments_as_floats(Signed):
    def field(self, n, v, b):
        if n != "arguments" or v is None: return super().field(n, v, b)
        return json.dumps(json.loads(json.dumps(plain(v)), parse_int=float)).encode()
class arguments_as_sets(Signed):
    def field(self, n, v, b):
        order = lambda x: Pairs((k, order(y)) for k, y in x) if isinstance(x, Pairs) else sorted(map(order, x), key=canon) if isinstance(x, list) else x
        return super().field(n, order(v) if n == "arguments" else v, b)
class arguments_keys_folded(Signed):
    def field(self, n, v, b): return super().field(n, Pairs((k.lower(), x) for k, x in v) if isinstance(v, Pairs) else v, b)
class principal_empty_as_absent(Signed):
    def field(self, n, v, b): return super().field(n, v or None if n == "principal" else v, b)
class principal_compatibility(Signed):
    def field(self, n, v, b): return super().field(n, unicodedata.normalize("NFKC", v) if n == "principal" and v else v, b)
class principal_domain_folded(Signed):
    def field(self, n, v, b):
        if n == "principal" and v and "@" in v: v = v.rsplit("@", 1)[0] + "@" + v.rsplit("@", 1)[1].lower()
        return super().field(n, v, b)
class principal_after_colon(Signed):
    def field(self, n, v, b): return super().field(n, v.rsplit(":", 1)[-1] if n == "principal" and v else v, b)
class principal_cut(Signed):
    def field(self, n, v, b): return super().field(n, v[:64] if n == "principal" and v else v, b)
class audience_prefix(Signed):
    def bind(self, b): return super().bind(b | {"audience": None})
    def claim(self, now, state, b): return super().claim(now, state, b) | {"a": b.get("audience")}
    def same(self, c, b):
        a = b.get("audience")
        return super().same(c, b) and (a is None) == (c["a"] is None) and (a is None or a.startswith(c["a"]))
class audience_if_present(audience_prefix):
    def same(self, c, b): return Signed.same(self, c, b) and b.get("audience") in (None, c["a"])
class target_url_normal(Signed):
    def field(self, n, v, b):
        if n == "target" and v and "://" in v:
            scheme, rest = v.split("://", 1)
            v = scheme + "://" + rest.split("/", 1)[0].lower() + ("/" + rest.split("/", 1)[1] if "/" in rest else "/")
        return super().field(n, v, b)
class target_lossy(Signed):
    def field(self, n, v, b): return v.encode("latin-1", "replace") if n == "target" and v else super().field(n, v, b)
class method_known(Signed):
    known = ("tools/call", "prompts/get", "resources/read")
    def field(self, n, v, b): return super().field(n, v if n != "method" or v in self.known else "other", b)
class target_folded_for_resources(Signed):
    def field(self, n, v, b): return super().field(n, v.lower() if n == "target" and v and b.get("method") == "resources/read" else v, b)
class arguments_as_floats_for_prompts(arguments_as_floats):
    def field(self, n, v, b): return (super() if b.get("method") == "prompts/get" else super(arguments_as_floats, self)).field(n, v, b)
class verdict_without_principal(Signed):
    def verify(self, now, token, b):
        self.seen = getattr(self, "seen", {})
        k = (token, now, self.bind({n: v for n, v in b.items() if n != "principal"}))
        if k not in self.seen: self.seen[k] = super().verify(now, token, b)
        return self.seen[k]
class joined_by_escape(Signed):
    def bind(self, b): return sha(b"|".join((self.field(n, b.get(n), b) or b"\0").replace(b"|", b"\\|") for n in FIELDS))
class joined_by_short_length(Signed):
    def bind(self, b):
        return sha(b"".join(b"\0" if v is None else b"\1" + bytes([len(v) & 255]) + v for v in (self.field(n, b.get(n), b) for n in FIELDS)))
class digest_four_bytes(Signed):
    def bind(self, b): return super().bind(b)[:4]

# Time.

class expiry_inclusive(Signed):
    def times(self, now): return now, now // 1_000_000 * 1_000_000 + int(self.ttl * 1e6)
    def valid(self, c, now, b): return now <= c["e"] and c["i"] <= now + self.skew
class issued_tomorrow(Signed):
    skew = 86_400_000_000
class expiry_wraps(Signed):
    def valid(self, c, now, b): return 0 < (c["e"] // 1_000_000 - now // 1_000_000) % 2**32 < 2**31 and c["i"] <= now + self.skew
class expiry_as_serial_number(Signed):
    def valid(self, c, now, b):
        i, e, n = c["i"] // 1_000_000, c["e"] // 1_000_000, now // 1_000_000
        return (n - i + 60) & 0xffffffff < 1 << 31 and (e - n - 1) & 0xffffffff < 1 << 31
class expiry_in_digits(Signed):
    """EXPIRY.BODY.TAG with the expiry in decimal digits, of which the tag covers the number."""
    def write(self, key, body):
        head = f"{json.loads(body)['e']}.{text(body)}"
        return f"{head}.{text(self.tag(key, head.encode()))}"
    def read(self, token):
        parts = token.split(".")
        if len(parts) != 3 or not re.fullmatch("[0-9]{1,20}", parts[0]): raise Refused("malformed")
        body, tag = raw(parts[1]), raw(parts[2])
        self.authenticate(f"{int(parts[0])}.{text(body)}".encode(), tag)
        return body
class expiry_if_principal(Signed):
    def valid(self, c, now, b): return b.get("principal") is None or super().valid(c, now, b)
class expiry_remembered(Signed):
    seen = frozenset()
    def verify(self, now, token, b):
        c = json.loads(self.read(token))
        if token not in self.seen and not self.valid(c, now, b): raise Refused("expired")
        if not self.same(c, b): raise Refused("misbound")
        self.seen = self.seen | {token}
        return raw(c["s"])

# Spelling.

class text_normalised(Signed):
    def split(self, token): return super().split(unicodedata.normalize("NFKC", token))
class body_reserialised(Signed):
    def read(self, token):
        _, body, tag = self.split(token)
        try: body = json.dumps(json.loads(raw(body)), separators=(",", ":")).encode()
        except ValueError: raise Refused("malformed")
        self.authenticate(f"{self.prefix}.{text(body)}".encode(), raw(tag))
        return body
class tag_discards(Signed):
    def read(self, token):
        _, body, tag = self.split(token)
        try: given = base64.b64decode(utf(tag) + b"==", b"-_")
        except (ValueError, binascii.Error): raise Refused("malformed")
        self.authenticate(f"{self.prefix}.{text(raw(body))}".encode(), given)
        return raw(body)
class segments_beyond_three(Signed):
    def split(self, token): return super().split(".".join(token.split(".")[:3]))

# Tags.

class tag_four_bytes(Signed):
    def tag(self, key, message): return super().tag(key, message)[:4]
class tag_two_bytes(Signed):
    def tag(self, key, message): return super().tag(key, message)[:2]
class tag_crc(Signed):
    def tag(self, key, message): return struct.pack(">I", zlib.crc32(message, zlib.crc32(key)))
class tag_prefix_key(Signed):
    def tag(self, key, message): return sha(key + message)
class tag_without_key(Signed):
    def tag(self, key, message): return hashlib.blake2b(b"ps1-v1:" + message, digest_size=16).digest()
class tag_shortened(Signed):
    def equal(self, want, given): return len(given) >= 2 and want.startswith(given)
class tag_of_first_kilobyte(Signed):
    def tag(self, key, message): return super().tag(key, message[:1024])
class tag_sum_of_blocks(Signed):
    def tag(self, key, message):
        sums = [int.from_bytes(super(tag_sum_of_blocks, self).tag(key, message[i:i + 64]), "big") for i in range(0, len(message), 64)]
        return (sum(sums) % 2**256).to_bytes(32, "big")

# Keys.

class secret_cut(Signed):
    def derive(self, s): return super().derive(s[:32])
class secret_stripped(Signed):
    def derive(self, s): return super().derive(s.rstrip(b"\0\t\n\r "))
class secret_as_mac_key(Signed):
    def derive(self, s): return s
class secret_short_second(Signed):
    def check(self, secrets):
        if not secrets or len(secrets[0]) < 32 or len(set(secrets)) < len(secrets): raise ValueError("different secrets of 32 bytes")
class ring_remembers(Signed):
    known = {}
    def __init__(self, secrets, ttl):
        super().__init__(secrets, ttl)
        self.keys += [k for k in self.known.get(self.keys[0], []) if k not in self.keys]
        for k in self.keys: self.known.setdefault(k, {})[self.keys[0]] = True
class ring_of_two(Signed):
    def derive(self, s): return super().derive(s)
    def authenticate(self, message, tag):
        if not any(self.equal(self.tag(k, message), tag) for k in self.keys[:2]): raise Refused("unauthentic")

# Refusals.

class reason_early(Signed):
    def verify(self, now, token, b):
        try: c = json.loads(raw(self.split(token)[1]))
        except ValueError: c = None
        if isinstance(c, dict) and isinstance(c.get("e"), int) and c["e"] <= now: raise Refused("expired")
        return super().verify(now, token, b)
    def reason(self, why): return "session is over" if why == "expired" else "refused"
class reason_shows_tag(Signed):
    def authenticate(self, message, tag):
        self.wanted = self.tag(self.keys[0], message).hex()[:12]
        super().authenticate(message, tag)
    def reason(self, why): return f"refused ({self.wanted})" if why == "unauthentic" else "refused"
class body_recursive(Signed):
    def read(self, token):
        json.loads(raw(self.split(token)[1]))
        return super().read(token)

# Sound ones in other forms.

class sound_signed(Signed):
    pass
class sound_without_batch(Signed):
    abilities = ["clock"]
class sound_own_clock(Signed):
    abilities = []
class sound_slow(Signed):
    def verify(self, now, token, b):
        time.sleep(0.002)
        return super().verify(now, token, b)
class sound_reasons(Signed):
    claims = CLAIMS.replace("uniform-refusal ", "")
    def reason(self, why): return {"expired": "please start again", "misbound": "made for another request"}.get(why, "not a token of ours")
class sound_numbered_refusals(Signed):
    def reason(self, why): return "refused, request " + os.urandom(8).hex()
class sound_hex(Signed):
    def write(self, key, body): return (body + self.tag(key, body)).hex()
    def read(self, token):
        if not re.fullmatch("[0-9a-f]*", token) or len(token) % 2: raise Refused("malformed")
        both = bytes.fromhex(token)
        self.authenticate(both[:-32], both[-32:])
        return both[:-32]
class sound_json(Signed):
    """base64 with padding, of a JSON object."""
    def form(self, body, tag): return base64.b64encode(json.dumps({"body": body.decode(), "mac": tag.hex()}).encode()).decode()
    def write(self, key, body): return self.form(body, self.tag(key, body))
    def read(self, token):
        try: c = json.loads(base64.b64decode(token, validate=True)); body, tag = c["body"].encode(), bytes.fromhex(c["mac"])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError): raise Refused("malformed")
        if self.form(body, tag) != token: raise Refused("malformed")
        self.authenticate(body, tag)
        return body
class sound_sealed(Signed):
    """base64url of nonce, text under a SHAKE-256 key stream, tag over both."""
    claims = CLAIMS + " confidentiality fresh-nonces unlinkable"
    prefix = ""
    def stream(self, key, nonce, body):
        n = len(body)
        pad = hashlib.shake_256(sha(key + b"stream") + nonce).digest(n)
        return (int.from_bytes(pad, "big") ^ int.from_bytes(body, "big")).to_bytes(n, "big")
    def write(self, key, body):
        nonce = os.urandom(16)
        sealed = nonce + self.stream(key, nonce, body)
        return text(sealed + self.tag(key, sealed))
    def read(self, token):
        sealed = raw(token)
        if len(sealed) < 48: raise Refused("malformed")
        for k in self.keys:
            if self.equal(self.tag(k, sealed[:-32]), sealed[-32:]): return self.stream(k, sealed[:16], sealed[16:-32])
        raise Refused("unauthentic")
class sound_fernet(sound_sealed):
    """The frame of Fernet: version, time, IV, text, tag, base64url with padding."""
    claims = CLAIMS + " confidentiality fresh-nonces unlinkable"
    def write(self, key, body):
        iv = os.urandom(16)
        sealed = b"\x80" + struct.pack(">q", json.loads(body)["i"] // 1_000_000) + iv + self.stream(key, iv, body)
        return base64.urlsafe_b64encode(sealed + self.tag(key, sealed)).decode()
    def read(self, token):
        if len(token) % 4 or not token.isascii(): raise Refused("malformed")
        sealed = raw(token.rstrip("="))
        if base64.urlsafe_b64encode(sealed).decode() != token or len(sealed) < 57 or sealed[0] != 0x80: raise Refused("malformed")
        for k in self.keys:
            if self.equal(self.tag(k, sealed[:-32]), sealed[-32:]): return self.stream(k, sealed[9:25], sealed[25:-32])
        raise Refused("unauthentic")
class sound_timed(Signed):
    """state.seconds.signature, as itsdangerous has it; it binds nothing."""
    claims = "integrity canonical expiry rotation key-separation strong-keys total byte-exact inert private-keys uniform-refusal"
    def mint(self, now, state, b): return self.write(self.keys[0], f"{text(state)}.{text(struct.pack('>q', now))}")
    def write(self, key, head): return f"{head}.{text(self.tag(key, head.encode()))}"
    def verify(self, now, token, b):
        parts = token.split(".")
        if len(parts) != 3: raise Refused("malformed")
        state, at, tag = map(raw, parts)
        self.authenticate(token.rsplit(".", 1)[0].encode(), tag)
        if not 0 <= now - struct.unpack(">q", at)[0] < int(self.ttl * 1e6): raise Refused("expired")
        return state
class sound_stored(Signed):
    """A random name of a state that the server keeps."""
    claims = "integrity canonical binds-method binds-target binds-arguments binds-principal binds-audience unambiguous expiry strong-keys uniform-refusal total byte-exact confidentiality unlinkable inert private-keys"
    def __init__(self, secrets, ttl):
        super().__init__(secrets, ttl)
        self.kept = {}
    def write(self, key, body):
        name = text(os.urandom(24))
        self.kept[name] = body
        return name
    def read(self, token):
        if token not in self.kept: raise Refused("unauthentic")
        return self.kept[token]
class sound_once(Signed):
    """Single use, kept for all handles of the process."""
    used, claims = set(), CLAIMS + " single-use"
    def claim(self, now, state, b): return super().claim(now, state, b) | {"n": text(os.urandom(16))}
    def verify(self, now, token, b):
        state = super().verify(now, token, b)
        if sha(utf(token)) in self.used: raise Refused("expired")
        self.used.add(sha(utf(token)))
        return state
class sound_packed(Signed):
    """base64url of times, digest, state and tag without JSON."""
    def mint(self, now, state, b):
        body = struct.pack(">qq", *self.times(now)) + self.bind(b) + state
        return text(body + self.tag(self.keys[0], body))
    def verify(self, now, token, b):
        body = raw(token)
        if len(body) < 80: raise Refused("malformed")
        self.authenticate(body[:-32], body[-32:])
        issued, expires = struct.unpack(">qq", body[:16])
        if not (now < expires and issued <= now + self.skew): raise Refused("expired")
        if not hmac.compare_digest(body[16:48], self.bind(b)): raise Refused("misbound")
        return body[48:-32]

class sound_whole_seconds(Signed):
    def times(self, now): return now // 1_000_000 * 1_000_000, (now + int(self.ttl * 1e6)) // 1_000_000 * 1_000_000

# Broken ones in the forms of the sound ones above.

class issued_far_ahead(sound_sealed):
    def valid(self, c, now, b): return now < c["e"] and not now + self.skew < c["i"] <= now + 3_600_000_000
class principal_byte_shown(sound_sealed):
    def mint(self, now, state, b):
        self.mark = hmac.digest(self.keys[0], canon(b.get("principal")), "sha256")[:1]
        return super().mint(now, state, b)
    def write(self, key, body):
        nonce = os.urandom(16)
        sealed = self.mark + nonce + self.stream(key, nonce, body)
        return text(sealed + self.tag(key, sealed))
    def read(self, token):
        sealed = raw(token)
        if len(sealed) < 49: raise Refused("malformed")
        for k in self.keys:
            if self.equal(self.tag(k, sealed[:-32]), sealed[-32:]): return self.stream(k, sealed[1:17], sealed[17:-32])
        raise Refused("unauthentic")
class nonce_pool_used_up(sound_sealed):
    def write(self, key, body):
        self.pool = getattr(self, "pool", None) or [os.urandom(16) for _ in range(64)]
        nonce = self.pool.pop() if len(self.pool) > 1 else self.pool[0]
        sealed = nonce + self.stream(key, nonce, body)
        return text(sealed + self.tag(key, sealed))
class stored_under_counts(sound_stored):
    """Names of stored states count in steps of an odd number."""
    count = 0
    def write(self, key, body):
        stored_under_counts.count += 1
        name = text((self.count * 0x9e3779 & 0xffffff).to_bytes(3, "big"))
        self.kept[name] = body
        return name
class stored_compared_loosely(sound_stored):
    """The request is kept and compared with ==, for which 1, 1.0 and True are one value."""
    asked = {}
    def mint(self, now, state, b):
        token = super().mint(now, state, b)
        self.asked[token] = {n: plain(b.get(n)) for n in FIELDS}
        return token
    def verify(self, now, token, b):
        self.want = self.asked.get(token)
        return super().verify(now, token, b)
    def same(self, c, b): return self.want == {n: plain(b.get(n)) for n in FIELDS}
class used_at_one_time(sound_once):
    def verify(self, now, token, b):
        state = Signed.verify(self, now, token, b)
        if (token, now) in self.used: raise Refused("expired")
        self.used.add((token, now))
        return state

# The protocol.

def hello(worker):
    stated = set(worker.claims.split())
    every = set(CLAIMS.split()) | {"confidentiality", "fresh-nonces", "unlinkable", "single-use"}
    return {"protocol": 1, "name": worker.__name__, "version": "1", "kind": "scheme", "abilities": worker.abilities, "guarantees": {p: p in stated for p in sorted(every)}}

def verdict(w, now, token, b):
    try: return {"ok": True, "state_b64": text(w.verify(now, token, b))}
    except Refused as e: return {"ok": False, "rejected": str(e), "reason": w.reason(str(e))}
    except Exception as e: return {"ok": False, "fault": repr(e)[:200]}

def answer(worker, handles, ask):
    op = ask["op"]
    if op == "hello": return hello(worker)
    if op == "open":
        try: handles.append(worker([raw(k) for k in ask["keys_b64"]], float(ask.get("ttl", "600"))))
        except ValueError as e: return {"ok": False, "refused": str(e)}
        return {"handle": len(handles) - 1}
    if op == "close":
        handles[int(ask["handle"])].close()
        return {}
    if op not in ("mint", "verify"): return {"ok": False, "unsupported": True}
    w, b = handles[int(ask["handle"])], dict(ask.get("binding") or ())
    now = int(round(float(ask["now"]) * 1e6)) if "clock" in worker.abilities else int(time.time() * 1e6)
    if op == "mint": return {"token": w.mint(now, raw(ask["state_b64"]), b)}
    w.judged = 0 if "tokens" in ask else None # tokens of the batch so far
    if "tokens" in ask: return {"verdicts": w.vote([verdict(w, now, t, b) for t in ask["tokens"]])}
    return verdict(w, now, ask["token"], b)

def main(workers):
    worker, handles = workers[sys.argv[1]], []
    sys.stdin.reconfigure(encoding="utf-8", errors="surrogatepass")
    for line in sys.stdin:
        ask = dict(json.loads(line, object_pairs_hook=Pairs, parse_int=Number, parse_float=Number))
        print(json.dumps({"ok": True} | answer(worker, handles, ask)), flush=True)

if __name__ == "__main__": main(globals())
