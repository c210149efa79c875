// Rows for versions of libraries with known vulnerabilities, loaded from a folder.
//
// A row with a key pair makes the private key of a secret of 32 bytes as the attacks do
// (attacks/keypairs.go): the scalar of P-256, or two primes for RSA.

import { createHash, createECDH, createPrivateKey, createPublicKey, checkPrimeSync } from 'node:crypto';
import { SEALED, SIGNED, STRICT, bytes, one, text } from './rows.mjs';

const PAIR = { ...SIGNED, 'sender-authenticated': true };
const P256 = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const number = (raw) => BigInt('0x' + raw.toString('hex'));
const base64url = (n, size) => Buffer.from(n.toString(16).padStart(2 * size, '0'), 'hex').toString('base64url');

function pems(jwk) {
  const key = createPrivateKey({ key: jwk, format: 'jwk' });
  return {
    private: key.export({ type: jwk.kty === 'EC' ? 'sec1' : 'pkcs1', format: 'pem' }),
    public: createPublicKey(key).export({ type: 'spki', format: 'pem' }),
    pkcs1: jwk.kty === 'RSA' ? createPublicKey(key).export({ type: 'pkcs1', format: 'pem' }) : '',
  };
}

function p256(secret) {
  const d = base64url(number(secret) % (P256 - 1n) + 1n, 32);
  const pair = createECDH('prime256v1');
  pair.setPrivateKey(d, 'base64url');
  const point = pair.getPublicKey();
  return pems({ kty: 'EC', crv: 'P-256', d, x: point.subarray(1, 33).toString('base64url'), y: point.subarray(33).toString('base64url') });
}

function prime(secret, name) {
  const sum = createHash('sha512').update(secret).update(name).digest();
  sum[0] |= 0xc0;
  sum[63] |= 1;
  let p = number(sum);
  while (!checkPrimeSync(p)) p += 2n;
  return p;
}

function inverse(a, m) {
  let [r, next, x, y] = [m, a % m, 0n, 1n];
  while (next) [r, next, x, y] = [next, r % next, y, x - (r / next) * y];
  return ((x % m) + m) % m;
}

function rsa(secret) {
  const [p, q, e] = [prime(secret, 'p'), prime(secret, 'q'), 65537n];
  const d = inverse(e, (p - 1n) * (q - 1n));
  return pems({
    kty: 'RSA', e: 'AQAB', n: base64url(p * q, 128), d: base64url(d, 128), p: base64url(p, 64), q: base64url(q, 64),
    dp: base64url(d % (p - 1n), 64), dq: base64url(d % (q - 1n), 64), qi: base64url(inverse(q, p), 64),
  });
}

const state = (claims) => bytes(claims.state);

export const HISTORIC = {
  // The token chooses the algorithm that reads the public key.
  'jsonwebtoken-es256': {
    library: 'jsonwebtoken', guarantees: PAIR,
    open: (jwt, keys) => {
      const pem = p256(one(keys, 32));
      return {
        seal: (p) => jwt.sign({ state: text(p) }, pem.private, { algorithm: 'ES256', noTimestamp: true }),
        unseal: (t) => state(jwt.verify(t, pem.public)),
      };
    },
  },
  // The server looks the key up by its ID and has none for an unknown one.
  'jsonwebtoken-kid': {
    library: 'jsonwebtoken', guarantees: SIGNED,
    open: (jwt, keys) => {
      const known = { k1: one(keys) };
      return {
        seal: (p) => jwt.sign({ state: text(p) }, known.k1, { algorithm: 'HS256', noTimestamp: true, header: { kid: 'k1' } }),
        unseal: (t) => state(jwt.verify(t, known[jwt.decode(t, { complete: true })?.header.kid])),
      };
    },
  },
  'jwt-simple-rs256': {
    library: 'jwt-simple', guarantees: PAIR,
    open: (jwt, keys) => {
      const pem = rsa(one(keys, 32));
      return {
        seal: (p) => jwt.encode({ state: text(p) }, pem.private, 'RS256'),
        unseal: (t) => state(jwt.decode(t, pem.public)),
      };
    },
  },
  // The public key in PKCS #1, and after white space.
  ...Object.fromEntries([['fast-jwt-pkcs1', (pem) => pem.pkcs1], ['fast-jwt-space', (pem) => '\n' + pem.public]].map(([name, form]) => [name, {
    library: 'fast-jwt', guarantees: PAIR,
    open: (jwt, keys) => {
      const pem = rsa(one(keys, 32));
      const sign = jwt.createSigner({ key: pem.private, algorithm: 'RS256', noTimestamp: true });
      const honest = jwt.createVerifier({ key: pem.public });
      return {
        seal: (p) => sign({ state: text(p) }),
        unseal: (t) => {
          try {
            return state(honest(t));
          } catch {
            return state(jwt.createVerifier({ key: form(pem) })(t));
          }
        },
      };
    },
  }])),
  'json-web-token-rs256': {
    library: 'json-web-token', guarantees: PAIR,
    open: (jwt, keys) => {
      const pem = rsa(one(keys, 32));
      const result = (outcome) => {
        if (outcome.error) throw outcome.error;
        return outcome.value;
      };
      return {
        seal: (p) => result(jwt.encode(pem.private, { state: text(p) }, 'RS256')),
        unseal: (t) => state(result(jwt.decode(pem.public, t))),
      };
    },
  },
  'jws-es256': {
    library: 'jws', guarantees: PAIR,
    open: (jws, keys) => {
      const pem = p256(one(keys, 32));
      return {
        seal: (p) => jws.sign({ header: { alg: 'ES256' }, payload: text(p), privateKey: pem.private, encoding: 'latin1' }),
        unseal: (t) => {
          if (!jws.verify(t, ...(jws.ALGORITHMS && jws.verify.length > 2 ? ['ES256'] : []), pem.public)) throw new Error('verify');
          return Buffer.from(t.split('.')[1], 'base64');
        },
      };
    },
  },
  'jsrsasign-hs256': {
    library: 'jsrsasign', guarantees: { ...SIGNED, ...STRICT },
    open: (rs, keys) => {
      const key = { hex: one(keys).toString('hex') };
      return {
        seal: (p) => rs.KJUR.jws.JWS.sign('HS256', { alg: 'HS256' }, JSON.stringify({ state: text(p) }), key),
        unseal: (t) => {
          if (!rs.KJUR.jws.JWS.verify(t, key, ['HS256'])) throw new Error('verify');
          return state(rs.KJUR.jws.JWS.parse(t).payloadObj);
        },
      };
    },
  },
  'jsrsasign-es256': {
    library: 'jsrsasign', guarantees: PAIR,
    open: (rs, keys) => {
      const pem = p256(one(keys, 32));
      const [priv, pub] = [rs.KEYUTIL.getKey(pem.private), rs.KEYUTIL.getKey(pem.public)];
      return {
        seal: (p) => rs.KJUR.jws.JWS.sign('ES256', { alg: 'ES256' }, JSON.stringify({ state: text(p) }), priv),
        unseal: (t) => {
          if (!rs.KJUR.jws.JWS.verify(t, pub, ['ES256'])) throw new Error('verify');
          return state(rs.KJUR.jws.JWS.parse(t).payloadObj);
        },
      };
    },
  },
  'jose-pbes2': {
    library: 'jose', guarantees: { ...SEALED, 'inert': false },
    open: (jose, keys) => {
      const key = one(keys);
      return {
        seal: (p) => new jose.CompactEncrypt(p).setProtectedHeader({ alg: 'PBES2-HS256+A128KW', enc: 'A256GCM' }).setKeyManagementParameters({ p2c: 2048 }).encrypt(key),
        unseal: async (t) => Buffer.from((await jose.compactDecrypt(t, key, { keyManagementAlgorithms: ['PBES2-HS256+A128KW'] })).plaintext),
      };
    },
  },
  'jose-zip': {
    library: 'jose', guarantees: SEALED,
    open: (jose, keys) => {
      const key = one(keys, 32);
      return {
        seal: (p) => new jose.CompactEncrypt(p).setProtectedHeader({ alg: 'dir', enc: 'A256GCM', zip: 'DEF' }).encrypt(key),
        unseal: async (t) => Buffer.from((await jose.compactDecrypt(t, key)).plaintext),
      };
    },
  },
  // The key of the token's own header is taken if the key store has none.
  'node-jose-keystore': {
    library: 'node-jose', guarantees: SIGNED,
    open: async (jose, keys) => {
      const store = jose.JWK.createKeyStore();
      const key = await store.add({ kty: 'oct', kid: 'k1', k: one(keys).toString('base64url') });
      return {
        seal: (p) => jose.JWS.createSign({ format: 'compact', fields: { alg: 'HS256' } }, { key }).update(p).final(),
        unseal: async (t) => (await jose.JWS.createVerify(store).verify(t)).payload,
      };
    },
  },
};
