"""More workers of the corpus in Python: python3 branches.py NAME. Each is broken in one branch, length or call."""
from worker import *
import bz2, datetime, gzip, html

class arguments_deep(Signed):
    """Values more than 20 levels deep are not looked at."""
    def field(self, n, v, b): return super().field(n, self.cut(v, 0) if n == "arguments" else v, b)
    def cut(self, v, depth):
        if depth > 20: return "..."
        if isinstance(v, Pairs): return Pairs((k, self.cut(x, depth + 1)) for k, x in v)
        return [self.cut(x, depth + 1) for x in v] if isinstance(v, list) else v
class principal_unescaped(Signed):
    """The name of the user is written between quotes as it is, and read again."""
    def field(self, n, v, b):
        try: return super().field(n, json.loads('{"user":"%s"}' % v, strict=False)["user"] if n == "principal" and v is not None else v, b)
        except ValueError: return super().field(n, v, b)
class principal_administrator(Signed):
    """One name is let in with the tokens of all others."""
    def claim(self, now, state, b): return super().claim(now, state, b) | {"a": text(self.bind(b | {"principal": "admin"}))}
    def same(self, c, b): return super().same(c, b) or b.get("principal") == "admin" and c["a"] == text(self.bind(b))
class first_request_unbound(Signed):
    """The first token of a handle is not compared with its request."""
    warm = False
    def same(self, c, b):
        warm, self.warm = self.warm, True
        return not warm or super().same(c, b)
class later_in_batch_unbound(Signed):
    """Of a batch, the first token alone is compared with the request."""
    def same(self, c, b):
        if self.judged is None: return super().same(c, b)
        self.judged += 1
        return self.judged > 1 or super().same(c, b)
class clock_read_rarely(Signed):
    """The time of a verification counts for the next seven as well."""
    calls = 0
    def verify(self, now, token, b):
        if self.calls % 8 == 0: self.now = now
        self.calls += 1
        return super().verify(self.now, token, b)
class life_of_no_seconds(Signed):
    """A time to live is cut to whole seconds, and 0 is no end."""
    def times(self, now): return now, now + int(self.ttl) * 1_000_000 if self.ttl >= 1 else 1 << 62
class life_of_a_day(Signed):
    """A time to live of a day and more is no end."""
    def times(self, now): return now, now + int(self.ttl * 1e6) if self.ttl < 86400 else 1 << 62
class ring_shared_out(Signed):
    """Each user has a key of the ring to seal with."""
    def mint(self, now, state, b):
        key = self.keys[sum(utf(b.get("principal") or "")) % len(self.keys)]
        return self.write(key, json.dumps(self.claim(now, state, b)).encode())
class tag_any_length_if_long(Signed):
    """Tags of long tokens are compared as far as they go."""
    def authenticate(self, message, tag):
        if len(message) > 1500 and len(tag) >= 4 and any(self.tag(k, message)[:len(tag)] == tag for k in self.keys): return
        super().authenticate(message, tag)
class hyphens_escaped(Signed):
    """Two characters may stand as percent escapes."""
    def split(self, token): return super().split(token.replace("%2D", "-").replace("%5F", "_"))
class reason_names_owner(Signed):
    """A refusal names the user that a token was made for."""
    def claim(self, now, state, b): return super().claim(now, state, b) | {"u": b.get("principal")}
    def same(self, c, b):
        self.owner = c["u"]
        return super().same(c, b)
    def reason(self, why): return f"this belongs to {self.owner}" if why == "misbound" else "refused"
class stored_by_head(Signed):
    """Long states are kept by the server under a hash of their beginning."""
    kept = {}
    def claim(self, now, state, b):
        if len(state) <= 4096: return super().claim(now, state, b)
        name = sha(state[:4096])
        self.kept[name] = state
        return super().claim(now, name, b) | {"k": 1}
    def verify(self, now, token, b):
        state = super().verify(now, token, b)
        return self.kept[state] if "k" in json.loads(self.read(token)) else state
class store_of_one(Signed):
    """The server keeps one state for each request: a second token takes the place of the first."""
    kept = {}
    def mint(self, now, state, b):
        self.kept[self.keys[0], self.bind(b)] = state
        return super().mint(now, b"", b)
    def verify(self, now, token, b):
        super().verify(now, token, b)
        for k in self.keys:
            if (k, self.bind(b)) in self.kept: return self.kept[k, self.bind(b)]
        raise Refused("unauthentic")
class Columns(Signed):
    """ps1.BODY.TAG: times of 8 bytes, the digest of the request, and the state as it is."""
    def mint(self, now, state, b):
        issued, expires = self.times(now)
        return self.write(self.keys[0], issued.to_bytes(8, "big") + expires.to_bytes(8, "big") + self.bind(b) + state)
    def cover(self, body): return body
    def write(self, key, body): return f"{self.prefix}.{text(body)}.{text(self.tag(key, self.cover(body)))}"
    def verify(self, now, token, b):
        _, body, tag = self.split(token)
        body = raw(body)
        if len(body) < 48: raise Refused("malformed")
        self.authenticate(self.cover(body), raw(tag))
        if not self.valid({"i": int.from_bytes(body[:8], "big"), "e": int.from_bytes(body[8:16], "big")}, now, b): raise Refused("expired")
        if not hmac.compare_digest(self.bind(b), body[16:48]): raise Refused("misbound")
        return body[48:]
class tag_of_checksum(Columns):
    """The tag covers the CRC-32 of the columns."""
    def cover(self, body): return zlib.crc32(body).to_bytes(4, "big")
class tag_of_text_alone(Columns):
    """What is not UTF-8 counts as an empty text under the tag."""
    def cover(self, body):
        try: return body.decode().encode()
        except UnicodeDecodeError: return b""
class tag_sum_of_thousands(Columns):
    """Pieces of 1000 bytes have tags, which are added by XOR."""
    def tag(self, key, message):
        tags = [int.from_bytes(super(tag_sum_of_thousands, self).tag(key, message[i:i + 1000]), "big") for i in range(0, len(message), 1000)]
        total = 0
        for t in tags: total ^= t
        return total.to_bytes(32, "big")
class tag_of_short_digest_if_long(Columns):
    """The tag covers two bytes of a digest of long states."""
    def cover(self, body): return body if len(body) <= 5000 else body[:48] + hashlib.md5(body[48:]).digest()[:2]
class tag_short_after_a_thousand(Signed):
    """After a thousand tokens, the first four bytes of a tag count."""
    minted = 0
    def write(self, key, body):
        self.minted += 1
        return super().write(key, body)
    def equal(self, want, given): return super().equal(want, given) or self.minted > 1000 and want[:4] == given[:4]
class caveats_by_anybody(Signed):
    """A chain of named parts, of which the last of a name counts. Each tag is the key of the next part."""
    def chain(self, key, parts):
        for p in parts: key = self.tag(key, p)
        return key
    def mint(self, now, state, b):
        c = self.claim(now, state, b)
        parts = [f"{k}={v}".encode() for k, v in c.items()]
        return ".".join([self.prefix, *map(text, parts), text(self.chain(self.keys[0], parts))])
    def verify(self, now, token, b):
        head, *parts = token.split(".")
        if head != self.prefix or not 5 <= len(parts) <= 9: raise Refused("malformed")
        *parts, tag = map(raw, parts)
        if not any([hmac.compare_digest(self.chain(k, parts), tag) for k in self.keys]): raise Refused("unauthentic")
        c = dict(p.decode("latin-1").partition("=")[::2] for p in parts)
        try: c["i"], c["e"], state = int(c["i"]), int(c["e"]), raw(c["s"])
        except (KeyError, ValueError): raise Refused("malformed")
        if not self.valid(c, now, b): raise Refused("expired")
        if not self.same(c, b): raise Refused("misbound")
        return state
class Digits(Signed):
    """ps1.ISSUED.EXPIRES.BODY.TAG: times in decimal digits."""
    number = r"[1-9][0-9]{0,23}"
    def join(self, parts): return ".".join(parts)
    def mint(self, now, state, b):
        c = self.claim(now, state, b)
        parts = [self.prefix, str(c["i"]), str(c["e"]), text(raw(c["d"]) + state)]
        return ".".join([*parts, text(self.tag(self.keys[0], self.join(parts).encode()))])
    def verify(self, now, token, b):
        *parts, tag = token.split(".")
        if len(parts) != 4 or parts[0] != self.prefix or not all(re.fullmatch(self.number, p, re.A) for p in parts[1:3]): raise Refused("malformed")
        c, body = {"i": int(parts[1]), "e": int(parts[2])}, raw(parts[3])
        self.authenticate(self.join(parts).encode(), raw(tag))
        if not self.valid(c, now, b): raise Refused("expired")
        if not hmac.compare_digest(self.bind(b), body[:32]): raise Refused("misbound")
        return body[32:]
class numbers_glued(Digits):
    """Fields stand under the tag without a border."""
    def join(self, parts): return "".join(parts)
class digits_without_end(Digits):
    """A number of any length is read, which Python refuses by an exception."""
    number = r"[1-9][0-9]*"
class sound_digits(Digits):
    """Times are readable numbers."""
KEYS = {}
class keys_wiped_on_close(Signed):
    """Handles of one ring share their keys, and the first that closes wipes them."""
    def derive(self, secret): return KEYS.setdefault(secret, bytearray(super().derive(secret)))
    def close(self):
        for k in self.keys: k[:] = bytes(len(k))
class request_of_the_call_before(Signed):
    """Behind a text that is no token, the request of the call before counts."""
    before, stale = None, False
    def verify(self, now, token, b):
        use = self.before if self.stale and self.before is not None else b
        self.stale = token.count(".") != 2
        if not self.stale: self.before = b
        return super().verify(now, token, use)
class principal_of_the_call_before(Signed):
    """A request without a principal and an audience has the principal of the call before."""
    before = None
    def bind(self, b):
        if b.get("principal") is None and b.get("audience") is None: return super().bind(b | {"principal": self.before})
        self.before = b.get("principal")
        return super().bind(b)
class arguments_as_moments(Signed):
    """Texts that are times are compared as moments."""
    def moments(self, v):
        if isinstance(v, Pairs): return Pairs((k, self.moments(x)) for k, x in v)
        if isinstance(v, list): return [self.moments(x) for x in v]
        try: return Number(datetime.datetime.fromisoformat(v).timestamp()) if type(v) is str and "T" in v else v
        except ValueError: return v
    def field(self, n, v, b): return super().field(n, self.moments(v) if n == "arguments" else v, b)
class arguments_by_hash(Signed):
    """Whole numbers count by the hash of the language, which is the same of -1 and -2."""
    def hashed(self, v):
        if isinstance(v, Pairs): return Pairs((k, self.hashed(x)) for k, x in v)
        if isinstance(v, list): return [self.hashed(x) for x in v]
        return Number(hash(int(v))) if isinstance(v, Number) and re.fullmatch("-?[0-9]{1,40}", v) else v
    def field(self, n, v, b): return super().field(n, self.hashed(v) if n == "arguments" else v, b)
class expiry_as_text_of_a_date(Signed):
    """Dates are compared as texts, with a fraction if there is one: 00.25Z is before 00Z."""
    def date(self, t): return datetime.datetime.fromtimestamp(t // 10**6, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S") + (f".{t % 10**6:06d}" if t % 10**6 else "") + "Z"
    def valid(self, c, now, b): return c["i"] <= now + self.skew and now < 1 << 57 and self.date(now) < self.date(c["e"])
class life_doubled_for_old_keys(Signed):
    """Tokens of the keys behind the first live twice as long."""
    def authenticate(self, message, tag):
        super().authenticate(message, tag)
        self.old = not self.equal(self.tag(self.keys[0], message), tag)
    def valid(self, c, now, b): return super().valid(c | {"e": c["e"] + (c["e"] - c["i"]) * self.old}, now, b)
class minutes_of_24_bits(Signed):
    """A life is counted in minutes, which begin anew after 2^24."""
    def valid(self, c, now, b): return c["i"] <= now + self.skew and (now - c["i"]) % (60_000_000 << 24) < c["e"] - c["i"]
class state_unpacked_if_gzip(Signed):
    """States that begin as gzip does are unpacked."""
    def verify(self, now, token, b):
        state = super().verify(now, token, b)
        try: return gzip.decompress(state) if state[:3] == b"\x1f\x8b\x08" else state
        except (OSError, EOFError, zlib.error): raise Refused("malformed")
class method_family(Signed):
    """Of a method the part in front of the slash counts."""
    def field(self, n, v, b): return super().field(n, v.split("/")[0] if n == "method" else v, b)
class principal_compatibility_alone(Signed):
    """The name of the user is normalized if the token is for no audience."""
    def field(self, n, v, b): return super().field(n, unicodedata.normalize("NFKC", v) if n == "principal" and v and b.get("audience") is None else v, b)
class arguments_absent_as_list(Signed):
    """No arguments are an empty list."""
    def field(self, n, v, b): return super().field(n, [] if n == "arguments" and v is None else v, b)
class arguments_texts_as_set(Signed):
    """A list of texts alone counts as a set."""
    def sets(self, v):
        if isinstance(v, Pairs): return Pairs((k, self.sets(x)) for k, x in v)
        if not isinstance(v, list): return v
        return sorted(set(v)) if v and all(type(x) is str for x in v) else [self.sets(x) for x in v]
    def field(self, n, v, b): return super().field(n, self.sets(v) if n == "arguments" else v, b)
class audience_one_of_words(Signed):
    """A token for several audiences, as words, is good at each of them."""
    def claim(self, now, state, b): return super().claim(now, state, b) | {"w": [text(self.bind(b | {"audience": w})) for w in (b.get("audience") or "").split(" ") if w]}
    def same(self, c, b): return super().same(c, b) or text(self.bind(b)) in c["w"]
class issued_tomorrow_if_empty(Signed):
    """A token of an empty state may be from the future."""
    def valid(self, c, now, b): return now < c["e"] and (not c["s"] or c["i"] <= now + self.skew)
class verdict_of_batch(Signed):
    """A token that a batch found good is good for every target."""
    def same(self, c, b):
        self.good = getattr(self, "good", set())
        other = sha(frame([utf(c["d"]), canon(b.get("principal"))]))
        if self.judged is None and other in self.good: return True
        if not super().same(c, b): return False
        if self.judged is not None: self.good.add(other)
        return True
class tag_of_text(Signed):
    """The tag is taken over the text of the state, in which bytes that are no text are replaced."""
    def tag(self, key, message):
        try:
            c = json.loads(raw(message.decode().split(".")[-1]))
            c["s"] = raw(c["s"]).decode("utf-8", "replace")
            return super().tag(key, json.dumps(c, sort_keys=True).encode())
        except (ValueError, KeyError, TypeError, AttributeError, Refused): return super().tag(key, message)
class ring_by_head_of_secret(Signed):
    """Keys are found under the first bytes of their secrets."""
    def check(self, secrets):
        super().check(secrets)
        self.heads = {s[:4]: s for s in secrets}
        self.lost = [s for s in secrets if self.heads[s[:4]] != s]
    def authenticate(self, message, tag):
        if any(self.equal(self.tag(self.derive(s), message), tag) for s in self.lost): raise Refused("unauthentic")
        super().authenticate(message, tag)
class used_by_text(sound_once):
    """Used tokens are kept by their text, which may have padding."""
    claims = sound_once.claims.replace("canonical ", "")
    def split(self, token): return super().split(token.rstrip("="))
class version_in_digits(Signed):
    """A version of digits of any script is read as a number."""
    def split(self, token):
        version = token.split(".")[0][2:]
        if version.isdigit() and int(version) != 1: raise Refused("malformed")
        return super().split(token)
class lines_ended_anew(Signed):
    """The line ends of text over 76 bytes are changed."""
    def verify(self, now, token, b):
        state = super().verify(now, token, b)
        return state.replace(b"\r\n", b"\n") if len(state) > 76 and state.isascii() else state
class tag_of_one_length_cut(Columns):
    """The last bytes are not under the tag if the body has a multiple of 256 bytes."""
    def cover(self, body): return body[:-16] if len(body) % 256 == 0 else body
class unbound_if_empty(Signed):
    """A token of an empty state is good for every request."""
    def same(self, c, b): return not c["s"] or super().same(c, b)
class ring_of_one_if_long(Signed):
    """Tokens over 1 KiB are opened by the first key alone."""
    def authenticate(self, message, tag):
        if len(message) > 1024 and not self.equal(self.tag(self.keys[0], message), tag): raise Refused("unauthentic")
        super().authenticate(message, tag)
class used_unless_empty(sound_once):
    """A token of an empty state is not marked as used."""
    def verify(self, now, token, b): return super().verify(now, token, b) or self.used.discard(sha(utf(token))) or b""
class principal_shown_without_audience(sound_sealed):
    """The first bytes of a nonce are a digest of the user if the token is for no audience."""
    def mint(self, now, state, b):
        self.head = hmac.digest(self.keys[0], canon(b.get("principal")), "sha256")[:8] if b.get("audience") is None else os.urandom(8)
        return super().mint(now, state, b)
    def write(self, key, body):
        nonce = self.head + os.urandom(8)
        sealed = nonce + self.stream(key, nonce, body)
        return text(sealed + self.tag(key, sealed))
class issued_in_columns_unread(Columns):
    """The time of issue, in microseconds, is not compared."""
    def valid(self, c, now, b): return now < c["e"]
class audience_in_any_order(Signed):
    """The words of an audience are sorted."""
    def field(self, n, v, b): return super().field(n, " ".join(sorted(v.split(" "))) if n == "audience" and v else v, b)
class key_begins_the_token(Columns):
    """A token begins with the first bytes of the secret."""
    def derive(self, secret):
        self.mark = getattr(self, "mark", secret[:4])
        return super().derive(secret)
    def write(self, key, body): return super().write(key, self.mark + body)
    def cover(self, body): return body
    def verify(self, now, token, b):
        body = raw(self.split(token)[1])
        self.authenticate(body, raw(self.split(token)[2]))
        if not self.valid({"i": int.from_bytes(body[4:12], "big"), "e": int.from_bytes(body[12:20], "big")}, now, b): raise Refused("expired")
        if not hmac.compare_digest(self.bind(b), body[20:52]): raise Refused("misbound")
        return body[52:]
class batch_by_majority(Signed):
    """A batch of which more than half is good is good."""
    def vote(self, verdicts):
        good = [v for v in verdicts if v["ok"]]
        return good[:1] * len(verdicts) if len(good) > len(verdicts) / 2 else verdicts
class principal_trimmed_wide(Signed):
    """Spaces that are not ASCII are trimmed."""
    def field(self, n, v, b): return super().field(n, v.strip("\u00a0\u2003\u3000") if n == "principal" and v else v, b)
class arguments_by_checksum_if_long(Signed):
    """Of long arguments the CRC-32 is bound."""
    def field(self, n, v, b):
        f = super().field(n, v, b)
        return zlib.crc32(f).to_bytes(4, "big") if f and n == "arguments" and len(f) > 256 else f
class tag_as_number(Signed):
    """Tags are compared as numbers."""
    def equal(self, want, given): return int.from_bytes(want, "big") == int.from_bytes(given, "big")
class tag_masked_digest(Columns):
    """The tag is a digest under a mask, which is one for all tokens."""
    def tag(self, key, message): return bytes(x ^ y for x, y in zip(sha(message), key))
class tag_of_halves(Columns):
    """Two tags of 16 bytes: of times and request, and of the state."""
    def tag(self, key, message): return super().tag(key, message[:48])[:16] + super().tag(key, message[48:])[:16]
class Headed(Signed):
    """HEAD.ps1.BODY.TAG"""
    def write(self, key, body): return f"{text(self.head)}.{super().write(key, body)}"
    def split(self, token):
        head, _, rest = token.partition(".")
        self.head = self.known(raw(head))
        return super().split(rest)
class key_id_of_checksum(Headed):
    """The head is the CRC-32 of the secret."""
    def __init__(self, secrets, ttl):
        super().__init__(secrets, ttl)
        self.ids = [zlib.crc32(s).to_bytes(4, "big") for s in secrets]
    head = property(lambda self: self.ids[0], lambda self, given: None)
    def known(self, head):
        if head not in self.ids: raise Refused("unauthentic")
        return head
class key_stretched_by_head(Headed):
    """The key is stretched with the head, once for each."""
    head, stretched = os.urandom(16), {}
    def known(self, head):
        if len(head) != 16: raise Refused("malformed")
        return head
    def tag(self, key, message):
        if (key, self.head) not in self.stretched: self.stretched[key, self.head] = hashlib.pbkdf2_hmac("sha256", key, self.head, 60_000)
        return super().tag(self.stretched[key, self.head], message)
class body_tried_as_bzip2(Signed):
    """A body is unpacked in case it is packed."""
    def split(self, token):
        parts = super().split(token)
        try: bz2.decompress(raw(parts[1]))
        except (OSError, ValueError): pass
        return parts
class used_cleared_on_close(sound_once):
    """The list of used tokens is that of the process, and the first handle that closes clears it."""
    def close(self): self.used.clear()
class nonce_five_bytes(sound_sealed):
    """Of a nonce 5 bytes are random."""
    def write(self, key, body):
        sealed = (nonce := os.urandom(5) + bytes(11)) + self.stream(key, nonce, body)
        return text(sealed + self.tag(key, sealed))
class secret_trimmed_if_text(Signed):
    """White space around a secret is trimmed if it is text."""
    def derive(self, secret):
        try: return super().derive(secret.decode("ascii").strip().encode())
        except UnicodeDecodeError: return super().derive(secret)
class arguments_entities(Signed):
    """Entities of HTML in the texts of arguments are resolved."""
    def plain(self, v):
        if isinstance(v, Pairs): return Pairs((k, self.plain(x)) for k, x in v)
        if isinstance(v, list): return list(map(self.plain, v))
        return html.unescape(v) if type(v) is str else v
    def field(self, n, v, b): return super().field(n, self.plain(v) if n == "arguments" else v, b)
class length_in_hexadecimal(Signed):
    """LENGTH.ps1.BODY.TAG: the text is brought to the length that is stated, of up to 28 bits."""
    def write(self, key, body):
        token = super().write(key, body)
        return f"{len(token):x}.{token}"
    def split(self, token):
        n, _, rest = token.partition(".")
        if not re.fullmatch("[1-9a-f][0-9a-f]{0,6}", n) or rest.ljust(int(n, 16)) != rest or len(rest) != int(n, 16): raise Refused("malformed")
        return super().split(rest)
class ends_of_the_token(Signed):
    """Up to 8 MiB, all ends of a token are kept in a list."""
    def split(self, token):
        ends = [token[i:] for i in range(0, len(token), 1 << 16)] if len(token) < 9 << 20 else []
        return super().split((ends or [token])[0])
class times_of_32_bits(Columns):
    """Times are floating point numbers of 32 bits, a minute coarse."""
    def times(self, now): return tuple(int(struct.unpack("f", struct.pack("f", t / 1e6))[0]) * 1_000_000 for t in (now - 64_000_000, now + self.ttl * 1e6))
class tag_up_to_a_nul(Columns):
    """Tags are compared as texts of C."""
    def equal(self, want, given): return len(given) == 32 and want.split(b"\0")[0] == given.split(b"\0")[0]
class version_without_principal(Signed):
    """Of version 0, which the tag does not cover, the principal is not compared."""
    def claim(self, now, state, b): return super().claim(now, state, b) | {"n": text(self.bind(b | {"principal": None}))}
    def same(self, c, b): return hmac.compare_digest(c["n"], text(self.bind(b | {"principal": None}))) if self.old else super().same(c, b)
    def split(self, token):
        self.old = token.startswith("ps0.")
        return super().split("ps1." + token[4:] if self.old else token)
class arguments_beyond_doubles(Signed):
    """Numbers with an exponent are read as floating point."""
    def plain(self, v):
        if isinstance(v, Pairs): return Pairs((k, self.plain(x)) for k, x in v)
        if isinstance(v, list): return list(map(self.plain, v))
        return Number(repr(float(v))) if isinstance(v, Number) and "e" in v.lower() else v
    def field(self, n, v, b): return super().field(n, self.plain(v) if n == "arguments" else v, b)
class sound_by_pattern(Signed):
    """A token is taken apart by a regular expression that remembers each letter."""
    def split(self, token):
        match = re.fullmatch(r"(ps1)\.((?:([A-Za-z0-9_-]))+)\.((?:([A-Za-z0-9_-]))+)", token)
        if not match: raise Refused("malformed")
        return match[1], match[2], match[4]
class sound_multiples(Columns):
    """Bodies are filled to multiples of 256 bytes, with the length in front."""
    def write(self, key, body): return super().write(key, len(body).to_bytes(4, "big") + body + bytes(-(len(body) + 4) % 256))
    def verify(self, now, token, b):
        body = raw(self.split(token)[1])
        self.authenticate(body, raw(self.split(token)[2]))
        body = body[4:4 + int.from_bytes(body[:4], "big")]
        if not self.valid({"i": int.from_bytes(body[:8], "big"), "e": int.from_bytes(body[8:16], "big")}, now, b): raise Refused("expired")
        if not hmac.compare_digest(self.bind(b), body[16:48]): raise Refused("misbound")
        return body[48:]
class sound_text_within(sound_sealed):
    """base64url of JSON that holds base64 and hexadecimal, compared as a whole."""
    def form(self, sealed, tag): return text(json.dumps({"d": base64.b64encode(sealed).decode(), "t": tag.hex()}).encode())
    def write(self, key, body):
        nonce = os.urandom(16)
        sealed = nonce + self.stream(key, nonce, body)
        return self.form(sealed, self.tag(key, sealed))
    def read(self, token):
        try: sealed, tag = (lambda o: (base64.b64decode(o["d"], validate=True), bytes.fromhex(o["t"])))(json.loads(raw(token)))
        except (ValueError, KeyError, TypeError, RecursionError): raise Refused("malformed")
        if self.form(sealed, tag) != token or len(sealed) < 16: raise Refused("malformed")
        for k in self.keys:
            if self.equal(self.tag(k, sealed), tag): return self.stream(k, sealed[:16], sealed[16:])
        raise Refused("unauthentic")
class sound_once_respelled(sound_once):
    """Single use, by the text without padding; a token may have padding."""
    claims = sound_once.claims.replace("canonical ", "")
    def verify(self, now, token, b): return super().verify(now, token.rstrip("="), b)
class sound_padded_at_random(sound_sealed):
    """Between 0 and 63 random bytes behind the text."""
    def write(self, key, body): return super().write(key, body + b" " * (os.urandom(1)[0] % 64))
class sound_long(Signed):
    """Tokens of 4 KiB and more."""
    def claim(self, now, state, b): return super().claim(now, state, b) | {"p": "." * (4096 - len(state) % 4096)}
class sound_random_reasons(Signed):
    """Texts and numbers of refusals are drawn anew."""
    def reason(self, why): return random.choice(["no", "sorry", "try again"]) + os.urandom(6).hex()

if __name__ == "__main__": main(globals())
