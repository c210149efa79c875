// Token libraries in JavaScript, a row of a few lines each.
//
// A row is a function from the loader of its library and the ring of an open to a
// pair: seal takes a payload and returns a token, unseal takes a token and returns the
// payload or throws.
//
// A library that takes text or JSON gets a payload as the text of the same bytes in
// Latin-1, so that every payload has one and a text in ASCII stays readable.

import { Refused, Unsupported } from '../ts/protocol.mjs';

const COMMON = {
  'integrity': true, 'total': true, 'byte-exact': true, 'inert': true, 'private-keys': true,
  'canonical': false, 'rotation': false, 'key-separation': false, 'key-committing': false,
  'sender-authenticated': false, 'strong-keys': false, 'uniform-refusal': false, 'single-use': false,
};
export const SIGNED = { ...COMMON, 'confidentiality': false, 'nonce-misuse-resistant': true, 'fresh-nonces': false };
export const SEALED = { ...COMMON, 'confidentiality': true, 'nonce-misuse-resistant': false, 'fresh-nonces': true };
// A token is taken until a minute after its expiry.
const UNBOUND = {
  'binds-method': false, 'binds-target': false, 'binds-arguments': false, 'binds-principal': false, 'binds-audience': false,
  'unambiguous': false, 'expiry': false, 'unlinkable': true,
};
export const STRICT = { 'canonical': true };

// one returns the only key of a ring, of the size if one is given.
export function one(ring, size) {
  if (ring.length !== 1) throw new Refused(`got ${ring.length} keys, want 1: the library has no ring`);
  if (size && ring[0].length !== size) throw new Refused(`got a key of ${ring[0].length} bytes, want ${size}`);
  return ring[0];
}

export const text = (payload) => payload.toString('latin1');
export const bytes = (state) => {
  if (typeof state !== 'string') throw new Error('no state');
  return Buffer.from(state, 'latin1');
};

// narrow returns the WTF-8 of a text: lone surrogates have three bytes.
const narrow = (state) => Buffer.concat(state.split(/(\p{Surrogate})/u).map((part, i) => {
  const unit = part.charCodeAt(0);
  return i % 2 ? Buffer.from([0xe0 | unit >> 12, 0x80 | unit >> 6 & 0x3f, 0x80 | unit & 0x3f]) : Buffer.from(part);
}));

// wide returns the text of WTF-8, for a row that a design agrees with.
const wide = (octets) => {
  const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let [out, from] = ['', 0];
  try {
    for (let i = 0; i + 2 < octets.length; i++) {
      if (octets[i] !== 0xed || octets[i + 1] < 0xa0) continue;
      out += strict.decode(octets.subarray(from, i)) + String.fromCharCode(0xd000 | (octets[i + 1] & 0x3f) << 6 | octets[i + 2] & 0x3f);
      from = i + 3;
    }
    out += strict.decode(octets.subarray(from));
  } catch {
    throw new Unsupported();
  }
  if (!narrow(out).equals(octets)) throw new Unsupported();
  return out;
};

// password returns a key as text, for libraries that take passwords.
const password = (key) => {
  if (key.length < 32) throw new Refused(`got a key of ${key.length} bytes, want 32 or more`);
  return key.toString('base64');
};

export const ROWS = {
  'jose-jws': {
    library: 'jose', guarantees: SIGNED,
    open: (jose, keys) => {
      const key = one(keys);
      return {
        seal: (p) => new jose.CompactSign(p).setProtectedHeader({ alg: 'HS256' }).sign(key),
        unseal: async (t) => Buffer.from((await jose.compactVerify(t, key, { algorithms: ['HS256'] })).payload),
      };
    },
  },
  ...Object.fromEntries([['jose-jwe', 'A256GCM'], ['jose-jwe-cbc', 'A128CBC-HS256']].map(([name, enc]) => [name, {
    library: 'jose', guarantees: SEALED,
    open: (jose, keys) => {
      const key = one(keys, 32);
      return {
        seal: (p) => new jose.CompactEncrypt(p).setProtectedHeader({ alg: 'dir', enc }).encrypt(key),
        unseal: async (t) => Buffer.from((await jose.compactDecrypt(t, key)).plaintext),
      };
    },
  }])),
  'jsonwebtoken': {
    library: 'jsonwebtoken', guarantees: { ...SIGNED, ...STRICT },
    open: (jwt, keys) => {
      const key = one(keys);
      return {
        seal: (p) => jwt.sign({ state: text(p) }, key, { algorithm: 'HS256', noTimestamp: true }),
        unseal: (t) => bytes(jwt.verify(t, key, { algorithms: ['HS256'] }).state),
      };
    },
  },
  'hapi-iron': {
    library: '@hapi/iron', guarantees: { ...SEALED, ...STRICT, 'strong-keys': true, 'private-keys': true },
    open: (iron, keys) => {
      const key = password(one(keys));
      return {
        seal: (p) => iron.seal({ state: text(p) }, key, iron.defaults),
        unseal: async (t) => bytes((await iron.unseal(t, key, iron.defaults)).state),
      };
    },
  },
  'iron-webcrypto': {
    library: 'iron-webcrypto', guarantees: { ...SEALED, 'strong-keys': true },
    open: (iron, keys) => {
      const key = password(one(keys));
      return {
        seal: (p) => iron.seal({ state: text(p) }, key, iron.defaults),
        unseal: async (t) => bytes((await iron.unseal(t, key, iron.defaults)).state),
      };
    },
  },
  // The password is the text of the key, the object the text of the state.
  'iron-webcrypto-timed': {
    library: 'iron-webcrypto', clock: true, guarantees: { ...SEALED, ...UNBOUND, 'strong-keys': true },
    open: (iron, keys, ttl) => {
      const key = wide(one(keys));
      const options = { ...iron.defaults, ttl: ttl * 1000 };
      return {
        seal: (p) => iron.seal(wide(p), key, options),
        unseal: async (t) => {
          const state = await iron.unseal(t, key, options);
          if (typeof state !== 'string') throw new Unsupported();
          return narrow(state);
        },
      };
    },
  },
  'iron-session': {
    library: 'iron-session', guarantees: { ...SEALED, 'strong-keys': true },
    open: (session, keys) => {
      const options = { password: password(one(keys)), ttl: 0 };
      return {
        seal: (p) => session.sealData({ state: text(p) }, options),
        unseal: async (t) => bytes((await session.unsealData(t, options)).state),
      };
    },
  },
  'auth-core': {
    library: '@auth/core/jwt', guarantees: { ...SEALED, 'rotation': true, 'private-keys': false },
    open: (auth, keys) => {
      const options = { secret: keys.map((key) => key.toString('base64')), salt: 'authjs.session-token' };
      return {
        seal: (p) => auth.encode({ ...options, token: { state: text(p) } }),
        unseal: async (t) => bytes((await auth.decode({ ...options, token: t }))?.state),
      };
    },
  },
  'cookie-signature': {
    library: 'cookie-signature', guarantees: { ...SIGNED, ...STRICT, 'uniform-refusal': true },
    open: (cookie, keys) => {
      const key = one(keys);
      return {
        seal: (p) => cookie.sign(p.toString('base64url'), key),
        unseal: (t) => {
          const value = cookie.unsign(t, key);
          if (value === false) throw new Error('unsign');
          return Buffer.from(value, 'base64url');
        },
      };
    },
  },
  'tweetnacl': {
    library: 'tweetnacl', guarantees: { ...SEALED, ...STRICT },
    open: (nacl, keys) => {
      const key = one(keys, 32);
      return {
        seal: (p) => {
          const nonce = nacl.randomBytes(24);
          return Buffer.concat([nonce, nacl.secretbox(p, nonce, key)]).toString('base64url');
        },
        unseal: (t) => {
          const raw = Buffer.from(t, 'base64url');
          if (raw.toString('base64url') !== t) throw new Error('encoding');
          const opened = nacl.secretbox.open(raw.subarray(24), raw.subarray(0, 24), key);
          if (!opened) throw new Error('secretbox');
          return Buffer.from(opened);
        },
      };
    },
  },
  'branca': {
    library: 'branca', guarantees: { ...SEALED, ...STRICT, 'total': false }, // its base62 takes quadratic time
    open: (branca, keys) => {
      const codec = branca(one(keys, 32));
      return {
        seal: (p) => {
          if (p.length > 2048) throw new Unsupported(); // seconds for 16 KiB
          return codec.encode(p);
        },
        unseal: (t) => Buffer.from(codec.decode(t)),
      };
    },
  },
  'fernet': {
    library: 'fernet', guarantees: SEALED,
    open: (fernet, keys) => {
      const secret = new fernet.Secret(one(keys, 32).toString('base64url') + '=');
      return {
        seal: (p) => new fernet.Token({ secret }).encode(p.toString('hex')),
        unseal: (t) => Buffer.from(new fernet.Token({ secret, token: t, ttl: 0 }).decode(), 'hex'),
      };
    },
  },
  'node-jose-jws': {
    library: 'node-jose', guarantees: SIGNED,
    open: async (jose, keys) => {
      const key = await jose.JWK.asKey({ kty: 'oct', k: one(keys).toString('base64url') });
      return {
        seal: (p) => jose.JWS.createSign({ format: 'compact', fields: { alg: 'HS256' } }, { key, reference: false }).update(p).final(),
        unseal: async (t) => (await jose.JWS.createVerify(key, { algorithms: ['HS256'] }).verify(t)).payload,
      };
    },
  },
  'node-jose-jwe': {
    library: 'node-jose', guarantees: SEALED,
    open: async (jose, keys) => {
      const key = await jose.JWK.asKey({ kty: 'oct', k: one(keys, 32).toString('base64url') });
      return {
        seal: (p) => jose.JWE.createEncrypt({ format: 'compact', contentAlg: 'A256GCM', fields: { alg: 'dir' } }, { key, reference: false }).update(p).final(),
        unseal: async (t) => (await jose.JWE.createDecrypt(key, { algorithms: ['dir', 'A256GCM'] }).decrypt(t)).plaintext,
      };
    },
  },
};
