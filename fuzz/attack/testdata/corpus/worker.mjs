// Workers of the corpus in JavaScript: node worker.mjs NAME. Each class below is a codec, most of them broken in one place.
import * as crypto from "node:crypto";
import * as zlib from "node:zlib";
import { createInterface } from "node:readline";

class Refused extends Error {}
const refuse = (why) => { throw new Refused(why); };
const text = (b) => b.toString("base64url");
const strict = (s) => {
  const b = Buffer.from(s, "base64url");
  return text(b) === s ? b : refuse("malformed");
};
const bytes = (s) => Buffer.from(s, "latin1");
const mac = (key, ...parts) => parts.reduce((h, p) => h.update(p), crypto.createHmac("sha256", key)).digest();
const sha = (...parts) => parts.reduce((h, p) => h.update(p), crypto.createHash("sha256")).digest();
const same = (a, b) => a.length === b.length && crypto.timingSafeEqual(a, b);

const OPEN = "integrity canonical rotation key-separation strong-keys uniform-refusal total byte-exact inert private-keys";
const SECRET = OPEN + " confidentiality fresh-nonces";

class Codec {
  static claims = OPEN;
  prefix = "js1.";
  constructor(secrets) {
    this.check(secrets);
    this.keys = secrets.map((s) => this.derive(s));
  }
  check(secrets) {
    if (!secrets.length || secrets.some((s) => s.length < 32) || new Set(secrets.map(text)).size < secrets.length) throw new RangeError("different secrets of 32 bytes");
  }
  derive(secret) { return mac("corpus " + this.prefix, secret); }
  seal(payload) { return this.write(this.inside(this.keys[0], payload)); }
  write(b) { return this.prefix + text(b); }
  read(token) { return token.startsWith(this.prefix) ? strict(token.slice(this.prefix.length)) : refuse("malformed"); }
  unseal(token) {
    const b = this.read(token);
    for (const k of this.keys) {
      const payload = this.outside(k, b);
      if (payload) return payload;
    }
    return refuse("unauthentic");
  }
  reason() { return "refused"; }
}

// Tagged: payload, HMAC-SHA256.
class Tagged extends Codec {
  tag(key, payload) { return mac(key, this.prefix, payload); }
  equal(want, given) { return same(want, given); }
  inside(key, payload) { return Buffer.concat([payload, this.tag(key, payload)]); }
  outside(key, b) {
    const n = this.tag(key, "").length;
    if (b.length < n) refuse("malformed");
    const payload = b.subarray(0, b.length - n);
    return this.equal(this.tag(key, payload), b.subarray(b.length - n)) ? payload : null;
  }
}

// Gcm: nonce, text under AES-256-GCM, tag.
class Gcm extends Codec {
  static claims = SECRET;
  algorithm = "aes-256-gcm";
  nonce() { return crypto.randomBytes(12); }
  extra() { return bytes(this.prefix); }
  inside(key, payload) {
    const nonce = this.nonce(payload);
    const c = crypto.createCipheriv(this.algorithm, key, nonce, { authTagLength: 16 }).setAAD(this.extra(nonce));
    return Buffer.concat([nonce, c.update(payload), c.final(), c.getAuthTag()]);
  }
  outside(key, b) {
    if (b.length < 28) refuse("malformed");
    return this.decipher(key, b.subarray(0, 12), b.subarray(12, b.length - 16), b.subarray(b.length - 16));
  }
  decipher(key, nonce, body, tag) {
    const d = crypto.createDecipheriv(this.algorithm, key, nonce, { authTagLength: tag.length }).setAAD(this.extra(nonce));
    d.setAuthTag(tag);
    try { return Buffer.concat([d.update(body), d.final()]); } catch { return null; }
  }
}

// Ctr: IV, text under AES-256-CTR, HMAC-SHA256 over both.
class Ctr extends Codec {
  static claims = SECRET;
  cipher(key, iv, b) {
    const c = crypto.createCipheriv("aes-256-ctr", mac(key, "cipher"), iv);
    return Buffer.concat([c.update(b), c.final()]);
  }
  iv() { return crypto.randomBytes(16); }
  tag(key, iv, body) { return mac(key, "tag", this.prefix, iv, body); }
  inside(key, payload) {
    const iv = this.iv(payload), body = this.cipher(key, iv, payload);
    return Buffer.concat([iv, body, this.tag(key, iv, body)]);
  }
  outside(key, b) {
    if (b.length < 48) refuse("malformed");
    const [iv, body, tag] = [b.subarray(0, 16), b.subarray(16, b.length - 32), b.subarray(b.length - 32)];
    return same(this.tag(key, iv, body), tag) ? this.cipher(key, iv, body) : null;
  }
}

// Cbc: IV, padded text under AES-256-CBC, HMAC-SHA256 over both.
class Cbc extends Ctr {
  cipher(key, iv, b) {
    const c = crypto.createCipheriv("aes-256-cbc", mac(key, "cipher"), iv);
    return Buffer.concat([c.update(b), c.final()]);
  }
  plain(key, iv, b) {
    const d = crypto.createDecipheriv("aes-256-cbc", mac(key, "cipher"), iv);
    return Buffer.concat([d.update(b), d.final()]);
  }
  outside(key, b) {
    if (b.length < 64 || b.length % 16) refuse("malformed");
    const [iv, body, tag] = [b.subarray(0, 16), b.subarray(16, b.length - 32), b.subarray(b.length - 32)];
    return same(this.tag(key, iv, body), tag) ? this.plain(key, iv, body) : null;
  }
}

// Jwt: header, payload and tag with dots.
class Jwt extends Codec {
  header() { return { alg: "HS256", typ: "JWT" }; }
  sign(key, head, header) { return mac(key, head); }
  seal(payload) {
    const head = `${text(Buffer.from(JSON.stringify(this.header())))}.${text(payload)}`;
    return `${head}.${text(this.sign(this.keys[0], head, this.header()))}`;
  }
  unseal(token) {
    const [h, p, t, ...rest] = token.split(".");
    if (t === undefined || rest.length) refuse("malformed");
    let header;
    try { header = JSON.parse(strict(h).toString()); } catch { refuse("malformed"); }
    const payload = strict(p), tag = strict(t);
    if (!this.known(header ?? {})) refuse("malformed");
    if (!this.keys.some((k) => same(this.sign(k, `${h}.${p}`, header), tag))) refuse("unauthentic");
    return payload;
  }
  known(header) { return header.alg === "HS256"; }
}

const workers = {
  // Tags.
  gcm_tag_length_of_token: class extends Gcm {
    outside(key, b) { // passes a truncated tag to a library that accepts 4 to 16 bytes
      for (const n of [16, 15, 14, 13, 12, 8, 4]) {
        const payload = b.length >= 12 + n && this.decipher(key, b.subarray(0, 12), b.subarray(12, b.length - n), b.subarray(b.length - n));
        if (payload) return payload;
      }
      return null;
    }
  },
  gcm_prefix_unauthenticated: class extends Gcm {
    extra() { return Buffer.alloc(0); }
    read(token) { return /^js[0-9]\./.test(token) ? strict(token.slice(4)) : refuse("malformed"); }
  },
  ctr_without_tag: class extends Ctr {
    tag(key) { return mac(key, "constant"); }
  },
  cbc_iv_unauthenticated: class extends Cbc {
    tag(key, iv, body) { return mac(key, "tag", this.prefix, body); }
  },
  cbc_tag_inside: class extends Cbc { // MAC-then-encrypt: padding errors and tag errors differ
    inside(key, payload) {
      const iv = this.iv();
      return Buffer.concat([iv, this.cipher(key, iv, Buffer.concat([payload, mac(key, "in", payload)]))]);
    }
    outside(key, b) {
      if (b.length < 48 || b.length % 16) refuse("malformed");
      let both;
      try { both = this.plain(key, b.subarray(0, 16), b.subarray(16)); } catch { refuse("malformed"); }
      if (both.length < 32) refuse("malformed");
      const payload = both.subarray(0, both.length - 32);
      return same(mac(key, "in", payload), both.subarray(both.length - 32)) ? payload : null;
    }
    reason(why) { return why === "malformed" ? "bad input" : "refused"; }
  },
  tag_as_text: class extends Tagged { // compares tags as text, in which all bytes that are not UTF-8 are equal
    equal(want, given) { return given.toString() === want.toString(); }
  },
  tag_seven_bits: class extends Tagged {
    equal(want, given) { return given.toString("ascii") === want.toString("ascii"); }
  },
  tag_by_length_given: class extends Jwt {
    unseal(token) {
      const [h, p, t] = token.split(".");
      if (t === undefined || token.split(".").length > 3) refuse("malformed");
      const head = `${h}.${p}`, given = strict(t), payload = (strict(h), strict(p));
      const wants = this.keys.map((k) => this.sign(k, head));
      if (!wants.some((w) => given.every((x, i) => x === w[i]))) refuse("unauthentic");
      return payload;
    }
  },
  empty_payload_unsigned: class extends Tagged {
    tag(key, payload) { return payload.length ? super.tag(key, payload) : sha("js1 empty"); }
  },
  last_block_unsigned: class extends Tagged { // the loop over blocks ends one block too early
    tag(key, payload) { return super.tag(key, payload.length >= 64 && payload.length % 64 === 0 ? payload.slice(0, -64) : payload); }
  },
  jwt_none: class extends Jwt {
    known(header) { return super.known(header) || String(header.alg).toLowerCase() === "none" && header.alg !== "none"; }
    sign(key, head, header) { return super.known(header) ? mac(key, head) : Buffer.alloc(0); }
  },
  jwt_short_algorithm: class extends Jwt {
    known(header) { return super.known(header) || header.alg === "HS256/16"; }
    sign(key, head, header) { return mac(key, head).subarray(0, header.alg === "HS256/16" ? 2 : 32); }
  },
  jwt_key_inside: class extends Jwt {
    sign(key, head, header) { return mac(header.jwk?.kty === "oct" ? Buffer.from(String(header.jwk.k), "base64url") : key, head); }
  },
  version_of_a_byte_more: class extends Tagged { // the tag of version 0 covers a zero byte after the payload
    inside(key, payload) { return Buffer.concat([bytes("\x01"), super.inside(key, payload)]); }
    outside(key, b) {
      const payload = b.subarray(1, -32), more = b[0] ? "" : "\0";
      return b.length > 32 && b[0] < 2 && same(mac(key, this.prefix, payload, more), b.subarray(-32)) ? payload : null;
    }
  },
  padding_of_old_keys: class extends Cbc { // for the last key, checks the padding before the tag
    outside(key, b) {
      if (this.keys.length < 2 || key !== this.keys.at(-1) || b.length < 64 || b.length % 16) return super.outside(key, b);
      try { this.plain(key, b.subarray(0, 16), b.subarray(16, b.length - 32)); } catch { refuse("malformed"); }
      return super.outside(key, b);
    }
  },
  // Nonces and what a token shows.
  nonce_counts_to_256: class extends Gcm {
    start = crypto.randomBytes(11); count = 0;
    nonce() { return Buffer.concat([this.start, Buffer.from([this.count++ & 255])]); }
  },
  nonce_per_handle: class extends Gcm {
    count = 0;
    nonce() { const n = Buffer.alloc(12); n.writeUInt32BE(++this.count, 8); return n; }
  },
  nonce_after_refusal: class extends Gcm {
    start = crypto.randomBytes(8); count = 0;
    nonce() { const n = Buffer.alloc(12); this.start.copy(n); n.writeUInt32BE(++this.count, 8); return n; }
    unseal(token) { try { return super.unseal(token); } catch (e) { this.count = 0; throw e; } }
  },
  nonce_from_pool: class extends Gcm { // the last nonce of a pool is the first of the next pool
    pool = crypto.randomBytes(1200); at = 0;
    nonce() {
      if (this.at === 1200) { this.pool = Buffer.concat([this.pool.subarray(1188), crypto.randomBytes(1188)]); this.at = 0; }
      return Buffer.from(this.pool.subarray(this.at, this.at += 12));
    }
  },
  stream_of_the_next_token: class extends Ctr { // the counter block of a token is the second one of the previous token
    start = crypto.randomBytes(12); count = 0;
    iv() { const n = Buffer.alloc(16); this.start.copy(n); n.writeUInt32BE(++this.count, 12); return n; }
  },
  iv_of_the_token_before: class extends Cbc {
    last = crypto.randomBytes(16);
    iv() { return this.last; }
    cipher(key, iv, b) { const c = super.cipher(key, iv, b); this.last = c.subarray(c.length - 16); return c; }
  },
  iv_fixed_if_short: class extends Ctr {
    iv(payload) { return payload.length <= 16 ? Buffer.alloc(16, 7) : crypto.randomBytes(16); }
  },
  nonce_two_bytes: class extends Gcm {
    nonce() { return Buffer.concat([bytes("js1nonce.."), crypto.randomBytes(2)]); }
  },
  nonce_of_payload: class extends Gcm {
    nonce(payload) { return sha(payload).subarray(0, 12); }
  },
  nonce_fixed_if_long: class extends Ctr {
    iv(payload) { return payload.length > 4096 ? Buffer.alloc(16, 7) : crypto.randomBytes(16); }
  },
  ecb_if_long: class extends Ctr {
    inside(key, payload) { return payload.length < 1024 || payload.length % 16 ? super.inside(key, payload) : this.blocks(key, payload); }
    cipher(key, iv, b) { return b.length < 1024 || b.length % 16 ? super.cipher(key, iv, b) : this.ecb(key, b, "createDecipheriv"); }
    blocks(key, payload) {
      const iv = this.iv(), body = this.ecb(key, payload, "createCipheriv");
      return Buffer.concat([iv, body, this.tag(key, iv, body)]);
    }
    ecb(key, b, direction) {
      const c = crypto[direction]("aes-256-ecb", mac(key, "cipher"), null).setAutoPadding(false);
      return Buffer.concat([c.update(b), c.final()]);
    }
  },
  tag_of_four_bytes: class extends Gcm {
    inside(key, payload) {
      const b = super.inside(key, payload);
      return b.subarray(0, b.length - 12);
    }
    outside(key, b) { return b.length < 16 ? refuse("malformed") : this.decipher(key, b.subarray(0, 12), b.subarray(12, b.length - 4), b.subarray(b.length - 4)); }
  },
  inflated_behind_head: class extends Gcm {
    write(b) { return super.write(Buffer.concat([bytes("v01"), b])); }
    read(token) {
      const b = super.read(token);
      if (b.subarray(0, 3).toString("latin1") !== "v01") refuse("malformed");
      try { zlib.inflateSync(b.subarray(3)); } catch { /* not compressed */ }
      return b.subarray(3);
    }
  },
  deflate_first: class extends Ctr {
    seal(payload) { return super.seal(zlib.deflateRawSync(payload)); }
    unseal(token) { return zlib.inflateRawSync(super.unseal(token)); }
  },
  reason_names_key: class extends Gcm {
    reason() { return `refused by key ${sha(this.secret).toString("hex").slice(0, 12)}`; }
    derive(secret) { this.secret ??= secret; return super.derive(secret); }
  },
  // Spelling.
  lenient_base64: class extends Gcm {
    read(token) { return token.startsWith(this.prefix) ? Buffer.from(token.slice(4), "base64url") : refuse("malformed"); }
  },
  lenient_hex: class extends Tagged {
    write(b) { return this.prefix + b.toString("hex"); }
    read(token) { return token.startsWith(this.prefix) && token.length % 2 === 0 ? Buffer.from(token.slice(4), "hex") : refuse("malformed"); }
  },
  percent_decoded: class extends Tagged {
    read(token) { try { token = decodeURIComponent(token); } catch { refuse("malformed"); } return super.read(token); }
  },
  tail_dropped: class extends Jwt {
    unseal(token) { return super.unseal(token.split(".").slice(0, 3).join(".").split("\n")[0]); }
  },
  // Keys.
  keys_by_first_bytes: class extends Tagged {
    static cache = new Map();
    derive(secret) {
      const name = secret.subarray(0, 8).toString("hex"), cache = this.constructor.cache;
      if (!cache.has(name)) cache.set(name, super.derive(secret));
      return cache.get(name);
    }
  },
  key_id_of_secret: class extends Gcm {
    derive(secret) { const k = super.derive(secret); k.id = sha(secret).subarray(0, 4); return k; }
    inside(key, payload) { return Buffer.concat([key.id, super.inside(key, payload)]); }
    outside(key, b) { return same(key.id, b.subarray(0, 4)) ? super.outside(key, b.subarray(4)) : null; }
  },
  handles_share_keys: class extends Tagged {
    static ring;
    constructor(secrets) { super(secrets); workers.handles_share_keys.ring = this.keys; }
    unseal(token) { this.keys = workers.handles_share_keys.ring; return super.unseal(token); }
  },
  // States, work and batches.
  length_sixteen_bits: class extends Tagged {
    inside(key, payload) { const n = Buffer.alloc(2); n.writeUInt16BE(payload.length & 65535); return super.inside(key, Buffer.concat([n, payload])); }
    outside(key, b) { const p = super.outside(key, b); return p && p.subarray(2, 2 + p.readUInt16BE()); }
  },
  zeros_trimmed: class extends Ctr {
    inside(key, payload) { return super.inside(key, Buffer.concat([payload, Buffer.alloc(16 - payload.length % 16)])); }
    outside(key, b) { const p = super.outside(key, b); return p && p.subarray(0, p.findLastIndex((x) => x) + 1); }
  },
  state_as_text: class extends Tagged {
    unseal(token) { return Buffer.from(super.unseal(token).toString()); }
  },
  iterations_of_token: class extends Tagged { // two bytes give the number of key-stretching iterations
    rounds(key, n) { return crypto.pbkdf2Sync(key, "salt", n * 2 + 1, 32, "sha256"); }
    inside(key, payload) { const n = Buffer.from([0, 1]); return Buffer.concat([n, super.inside(this.rounds(key, 1), payload)]); }
    outside(key, b) { return b.length < 34 ? refuse("malformed") : super.outside(this.rounds(key, b.readUInt16BE()), b.subarray(2)); }
  },
  pattern_backtracks: class extends Tagged {
    read(token) { return /^js1\.([A-Za-z0-9]+[_-]?)*$/.test(token.slice(0, 48)) ? super.read(token) : refuse("malformed"); }
  },
  batch_trusts_first: class extends Gcm {
    many(tokens) {
      let trusted = false;
      return tokens.map((t) => {
        const v = verdict(this, t);
        if (!trusted || v.ok) { trusted ||= v.ok; return v; }
        const b = Buffer.from(t.slice(4), "base64url");
        return b.length < 28 ? v : { ok: true, payload_b64: "" };
      });
    }
  },
  // Sound ones.
  sound_tagged: Tagged,
  sound_gcm: Gcm,
  sound_ctr: Ctr,
  sound_padded: class extends Ctr { // padded by a random number of bytes, which the last two bytes state
    seal(payload) { const n = crypto.randomInt(64), end = Buffer.alloc(n + 2); end.writeUInt16BE(n + 2, n); return super.seal(Buffer.concat([payload, end])); }
    unseal(token) { const b = super.unseal(token); return b.subarray(0, b.length - b.readUInt16BE(b.length - 2)); }
  },
  sound_cbc: Cbc,
  sound_jwt: class extends Jwt { // compares the whole header as text
    unseal(token) { return token.startsWith("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.") ? super.unseal(token) : refuse("malformed"); }
  },
  sound_chacha: class extends Gcm { algorithm = "chacha20-poly1305"; },
  sound_derived: class extends Codec { // derives a separate key for each token
    static claims = SECRET;
    with(key, salt) { return [Buffer.from(crypto.hkdfSync("sha256", key, salt, "key", 32)), Buffer.alloc(12)]; }
    inside(key, payload) {
      const salt = crypto.randomBytes(24), c = crypto.createCipheriv("aes-256-gcm", ...this.with(key, salt));
      return Buffer.concat([salt, c.update(payload), c.final(), c.getAuthTag()]);
    }
    outside(key, b) {
      if (b.length < 40) refuse("malformed");
      const d = crypto.createDecipheriv("aes-256-gcm", ...this.with(key, b.subarray(0, 24)), { authTagLength: 16 });
      d.setAuthTag(b.subarray(b.length - 16));
      try { return Buffer.concat([d.update(b.subarray(24, b.length - 16)), d.final()]); } catch { return null; }
    }
  },
  sound_committing: class extends Gcm { // AES-GCM after a commitment to the key
    static claims = SECRET.replace(" private-keys", "") + " key-committing";
    inside(key, payload) { return Buffer.concat([mac(key, "commit"), super.inside(mac(key, "cipher"), payload)].map((b, i, [c, t]) => i ? b : mac(c, t.subarray(0, 12)))); }
    outside(key, b) {
      if (b.length < 60) refuse("malformed");
      const want = mac(mac(key, "commit"), b.subarray(32, 44));
      return same(want, b.subarray(0, 32)) ? super.outside(mac(key, "cipher"), b.subarray(32)) : null;
    }
  },
  sound_deterministic: class extends Ctr { // IV = MAC of the payload; equal payloads have equal tokens
    static claims = OPEN + " nonce-misuse-resistant";
    inside(key, payload) {
      const iv = mac(key, "iv", this.prefix, payload).subarray(0, 16);
      return Buffer.concat([iv, this.cipher(key, iv, payload)]);
    }
    outside(key, b) {
      if (b.length < 16) refuse("malformed");
      const payload = this.cipher(key, b.subarray(0, 16), b.subarray(16));
      return same(mac(key, "iv", this.prefix, payload).subarray(0, 16), b.subarray(0, 16)) ? payload : null;
    }
  },
  sound_hex: class extends Gcm {
    write(b) { return b.toString("hex").toUpperCase(); }
    read(token) { const b = Buffer.from(token, "hex"); return this.write(b) === token ? b : refuse("malformed"); }
  },
  sound_padded: class extends Ctr { // pads payloads to 64 bytes
    inside(key, payload) { return super.inside(key, Buffer.concat([payload, Buffer.from([128]), Buffer.alloc(63 - payload.length % 64)])); }
    outside(key, b) { const p = super.outside(key, b); return p && p.subarray(0, p.lastIndexOf(128)); }
  },
  sound_inflated: class extends Tagged { // the payload is readable, so compression reveals nothing more; a state is longer than its token
    static claims = OPEN.replace("total ", "");
    inside(key, payload) { return super.inside(key, zlib.deflateRawSync(payload)); }
    outside(key, b) { const p = super.outside(key, b); return p && zlib.inflateRawSync(p); }
  },
  keys_in_an_object: class extends Tagged { // ID.PAYLOAD.TAG; an object has inherited members
    constructor(secrets) {
      super(secrets);
      this.ring = Object.fromEntries(this.keys.map((k) => [this.id(k), k]));
    }
    id(key) { return text(mac(key, "id").subarray(0, 6)); }
    under(id, body) {
      const key = this.ring[id] ?? refuse("unknown-key");
      return text(mac(Buffer.isBuffer(key) ? key : String(key), this.prefix, id, ".", body));
    }
    seal(payload) {
      const id = this.id(this.keys[0]), body = text(payload);
      return `${this.prefix}${id}.${body}.${this.under(id, body)}`;
    }
    unseal(token) {
      const [version, id, body, tag, ...rest] = token.split(".");
      if (version !== "js1" || tag === undefined || rest.length) refuse("malformed");
      return this.under(id, body) === tag ? strict(body) : refuse("unauthentic");
    }
  },
  key_of_zeros_if_unknown: class extends Gcm { // a 4-byte key ID comes first
    id(key) { return mac(key, "id").subarray(0, 4); }
    extra() { return Buffer.concat([bytes(this.prefix), this.named]); }
    inside(key, payload) { return Buffer.concat([this.named = this.id(key), super.inside(key, payload)]); }
    unseal(token) {
      const b = this.read(token);
      this.named = b.subarray(0, 4);
      const key = this.keys.find((k) => this.id(k).equals(this.named)) ?? Buffer.alloc(32);
      return this.outside(key, b.subarray(4)) ?? refuse("unauthentic");
    }
  },
  text_without_mark: class extends Tagged { // TextDecoder drops a byte order mark
    inside(key, payload) {
      let kept = payload; // keeps payloads that are not UTF-8
      try { kept = Buffer.from(new TextDecoder("utf-8", { fatal: true }).decode(payload)); } catch { /* bytes */ }
      return super.inside(key, kept);
    }
  },
  sound_process_key: class extends Gcm { // tokens are valid only within one process
    static claims = SECRET.replace("rotation ", "");
    static start = crypto.randomBytes(32);
    derive(secret) { return mac(workers.sound_process_key.start, secret); }
  },
};

function verdict(codec, token) {
  try { return { ok: true, payload_b64: text(codec.unseal(token)) }; }
  catch (e) {
    return e instanceof Refused ? { ok: false, rejected: e.message, reason: codec.reason(e.message) } : { ok: false, fault: String(e) };
  }
}

const name = process.argv[2], Worker = workers[name], batch = name !== "sound_chacha" && name !== "lenient_hex";
const stated = Worker.claims.split(" "), handles = [];
const hello = { protocol: 1, name, version: "1", kind: "codec", abilities: batch ? ["batch"] : [],
  guarantees: Object.fromEntries([...SECRET.split(" "), "nonce-misuse-resistant", "key-committing"].map((p) => [p, stated.includes(p)])) };

function answer(ask) {
  switch (ask.op) {
    case "hello": return hello;
    case "open":
      try { return { handle: handles.push(new Worker(ask.keys_b64.map((k) => Buffer.from(k, "base64url")))) - 1 }; }
      catch (e) { return { ok: false, refused: String(e) }; }
    case "seal": return { token: handles[ask.handle].seal(Buffer.from(ask.payload_b64, "base64url")) };
    case "unseal":
      if (!ask.tokens || !batch) return verdict(handles[ask.handle], ask.token);
      return { verdicts: handles[ask.handle].many?.(ask.tokens) ?? ask.tokens.map((t) => verdict(handles[ask.handle], t)) };
    case "close": return {};
  }
  return { ok: false, unsupported: true };
}

createInterface({ input: process.stdin }).on("line", (line) => {
  process.stdout.write(JSON.stringify({ ok: true, ...answer(JSON.parse(line)) }) + "\n");
});
