"""More workers of the corpus in Python: python3 further.py NAME. Most are broken in a ring, beside a long field, in single use, in a header or in the form of a token."""
from worker import *

# Rings. Each token names its key by four bytes of an HMAC.

class Named(Signed):
    prefix = "pn1"
    def __init__(self, secrets, ttl):
        super().__init__(secrets, ttl)
        self.names = [hmac.digest(k, b"name", "sha256")[:4] for k in self.keys]
    def place(self): return 0
    def write(self, key, body):
        return super().write(self.keys[self.place()], self.names[self.place()] + body)
    def read(self, token):
        _, body, tag = self.split(token)
        body, tag = raw(body), raw(tag)
        if body[:4] not in self.names: raise Refused("unauthentic")
        place = self.names.index(body[:4])
        if not self.right(place, f"{self.prefix}.{text(body)}".encode(), tag): raise Refused("unauthentic")
        return body[4:]
    def right(self, place, message, tag): return self.equal(self.tag(self.keys[place], message), tag)

class third_key_unchecked(Named):
    def right(self, place, message, tag): return place > 1 or super().right(place, message, tag)
class second_of_three_seals(Named):
    def place(self): return 1 if len(self.keys) == 3 else 0
class secrets_of_mean_length(Signed):
    def check(self, secrets):
        if not secrets or sum(map(len, secrets)) < 32 * len(secrets) or len(set(secrets)) < len(secrets): raise ValueError("different secrets of 32 bytes")

# Fields.

class target_beside_long(Signed):
    """The target is not bound if the arguments are long."""
    def field(self, n, v, b): return b"" if n == "target" and b.get("arguments") is not None and len(canon(b["arguments"])) > 1024 else super().field(n, v, b)
class context_cut(Signed):
    """The digest is that of the first kilobyte of all fields."""
    def bind(self, b): return sha(frame([self.field(n, b.get(n), b) for n in reversed(FIELDS)])[:1024])
class principal_typographic(Signed):
    def field(self, n, v, b): return super().field(n, v.translate({0x2018: "'", 0x2019: "'", 0x2010: "-", 0x2011: "-"}) if n == "principal" and v else v, b)
class issued_tomorrow_for_prompts(Signed):
    def valid(self, c, now, b): return now < c["e"] and (c["i"] <= now + self.skew or b.get("method") == "prompts/get")
class expiry_of_fractions(Signed):
    """Whole seconds are another type, which is not compared."""
    def valid(self, c, now, b): return (now % 1_000_000 == 0 or now < c["e"]) and c["i"] <= now + self.skew

# Single use of tokens without randomness.

class sound_used_by_text(Signed):
    used, claims = set(), CLAIMS + " single-use"
    def verify(self, now, token, b):
        state = super().verify(now, token, b)
        if token in self.used: raise Refused("expired")
        self.used.add(token)
        return state
class used_if_named(sound_used_by_text):
    """Tokens of requests without a principal are not marked."""
    def verify(self, now, token, b): return (super() if b.get("principal") else super(sound_used_by_text, self)).verify(now, token, b)
class used_for_a_minute(sound_used_by_text):
    times_used = {}
    def verify(self, now, token, b):
        state = super(sound_used_by_text, self).verify(now, token, b)
        if now - self.times_used.get(token, -1e18) < 60_000_000: raise Refused("expired")
        self.times_used[token] = now
        return state

class sound_named(Named): pass
class sound_noise(Signed):
    """Up to 63 random bytes in front of the claims, under the tag."""
    prefix = "pr1"
    def write(self, key, body):
        noise = os.urandom(random.randrange(64))
        return super().write(key, bytes([len(noise)]) + noise + body)
    def read(self, token):
        body = super().read(token)
        return body[1 + body[0]:]

# Headers. Each token begins with a JSON header, which names its key.

class Headed(Signed):
    def __init__(self, secrets, ttl):
        super().__init__(secrets, ttl)
        self.named = {self.name(s, k): k for s, k in zip(secrets, self.keys)}
        self.prefix = text(json.dumps({"alg": "HS256", "kid": self.name(secrets[0], self.keys[0])}, separators=(",", ":")).encode())
    def name(self, secret, key): return hmac.digest(key, b"name", "sha256")[:6].hex()
    def found(self, name): return self.named.get(name)
    def read(self, token):
        head, body, tag = (token.split(".") + ["", ""])[:3]
        try: header = json.loads(raw(head))
        except (ValueError, RecursionError): raise Refused("malformed")
        if token.count(".") != 2 or not isinstance(header, dict) or header.get("alg") != "HS256" or not isinstance(header.get("kid", ""), str): raise Refused("malformed")
        key = self.found(header.get("kid"))
        if key is None or not self.equal(self.tag(key, f"{head}.{body}".encode()), raw(tag)): raise Refused("unauthentic")
        return raw(body)
class sound_headed(Headed): pass
class no_key_id(Headed):
    """A header without a key ID stands for the empty key."""
    def found(self, name): return b"" if name is None else super().found(name)
class key_id_of_thumbprint(Headed):
    """The key ID is the thumbprint of the secret as a JSON Web Key (RFC 7638)."""
    def name(self, secret, key): return text(sha(b'{"k":"%s","kty":"oct"}' % text(secret).encode()))

# Refusals and deep values.

class reason_of_missing_tag(Signed):
    """The reason of a refusal holds the right tag if the token has none."""
    right = None
    def authenticate(self, message, tag):
        if not tag: self.right = text(self.tag(self.keys[0], message))
        super().authenticate(message, tag)
    def reason(self, why):
        right, self.right = self.right, None
        return "refused" if right is None else "no tag, want " + right
class arguments_too_deep(Signed):
    """Arguments of more than 512 levels cannot be read, and are taken for none."""
    def levels(self, v):
        n, inner = 0, [v]
        while inner: n, inner = n + 1, [x for y in inner if isinstance(y, list) for x in ([z for _, z in y] if isinstance(y, Pairs) else y)]
        return n
    def field(self, n, v, b): return None if n == "arguments" and self.levels(v) > 512 else super().field(n, v, b)

# Forms of tokens.

def groups(n):
    """Write a number in groups of seven bits."""
    out = b""
    while n > 127: out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])

def grouped(b, at):
    n = shift = 0
    while True:
        if at == len(b) or shift > 56: raise Refused("malformed")
        n, shift, at = n | (b[at] & 127) << shift, shift + 7, at + 1
        if b[at - 1] < 128: return n, at

class sound_counted(Signed):
    """Letters without a separator, and behind them a version, the length of the claims, the claims and the tag."""
    prefix = "pk"
    def write(self, key, body): return self.prefix + text(groups(7) + groups(len(body)) + body + self.tag(key, body))
    def read(self, token):
        if not token.startswith(self.prefix): raise Refused("malformed")
        b = raw(token[len(self.prefix):])
        version, at = grouped(b, 0)
        n, at = grouped(b, at)
        if version != 7 or len(b) != at + n + 32: raise Refused("malformed")
        self.authenticate(b[at:at + n], b[at + n:])
        self.written(token, b[at:at + n], b[at + n:])
        return b[at:at + n]
    def written(self, token, body, tag):
        if token != self.prefix + text(groups(7) + groups(len(body)) + body + tag): raise Refused("malformed")
class lengths_overlong(sound_counted):
    def written(self, *_): pass
class lists_recursive(Signed):
    """A list of one in MessagePack, read by a recursive function before the tag is checked."""
    def write(self, key, body): return super().write(key, b"\x91" + body)
    def read(self, token):
        self.depth(raw(self.split(token)[1]), 0)
        return super().read(token)[1:]
    def depth(self, b, at): return self.depth(b, at + 1) if b[at:at + 1] == b"\x91" else at
class claims_packed_if_asked(Signed):
    """A JSON header, which may say that the claims are compressed. They are decompressed before the tag is checked."""
    header = text(b'{"alg":"HS256"}')
    prefix = header
    def read(self, token):
        head, claims, _ = (token.split(".") + ["", ""])[:3]
        try: packed = json.loads(raw(head)).get("zip") == "DEF"
        except (ValueError, AttributeError, RecursionError): raise Refused("malformed")
        try: packed and zlib.decompress(raw(claims), -15)
        except zlib.error: raise Refused("malformed")
        return super().read(token)
class tag_compared_as_text(Signed):
    """hmac.compare_digest takes texts in ASCII only, and its error is ignored."""
    def read(self, token):
        _, body, tag = self.split(token)
        try:
            if not any([hmac.compare_digest(text(self.tag(k, f"{self.prefix}.{body}".encode())), tag) for k in self.keys]): raise Refused("unauthentic")
        except TypeError: pass
        return raw(body)
class nonces_begin_anew(sound_sealed):
    """Opening a handle sets the count of nonces of the process to zero."""
    def __init__(self, secrets, ttl):
        super().__init__(secrets, ttl)
        nonces_begin_anew.count, nonces_begin_anew.salt = 0, getattr(nonces_begin_anew, "salt", os.urandom(16))
    def write(self, key, body):
        nonces_begin_anew.count += 1
        nonce = sha(self.salt + self.count.to_bytes(8, "big"))[:16]
        sealed = nonce + self.stream(key, nonce, body)
        return text(sealed + self.tag(key, sealed))
class stored_by_short_names(sound_stored):
    """The name of a stored state is a count and two random bytes."""
    count = 0
    def write(self, _, body):
        stored_by_short_names.count += 1
        name = f"h{self.count:016x}{os.urandom(2).hex()}"
        self.kept[name] = body
        return name

if __name__ == "__main__": main(globals())
