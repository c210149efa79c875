"""More workers of the corpus in Python: python3 branches.py NAME. Each is broken in one branch, length or call."""
from worker import *

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
class sound_long(Signed):
    """Tokens of 4 KiB and more."""
    def claim(self, now, state, b): return super().claim(now, state, b) | {"p": "." * (4096 - len(state) % 4096)}
class sound_random_reasons(Signed):
    """Texts and numbers of refusals are drawn anew."""
    def reason(self, why): return random.choice(["no", "sorry", "try again"]) + os.urandom(6).hex()

if __name__ == "__main__": main(globals())
