// The signed continuation codec of the npm package run as a sealab worker, protocol 1.
//
// Every answer comes from the package's own createSignedContinuationCodec. Only the
// clock is replaced, because the time is a member of each request. Under the option
// payload=text a state is the text in the application's object {"s":text}; under
// payload=json it is the JSON text of s.

import { readFileSync } from 'node:fs';
import { createSignedContinuationCodec } from 'run';
import { Handles, Refused, Rejected, Unsupported, each, serve } from '../ts/protocol.mjs';

// Guarantees of the format, as read from the codec.
const HOLDS = new Set([
  'integrity', 'canonical', 'expiry', 'rotation', 'nonce-misuse-resistant', 'fresh-nonces', 'unlinkable', 'uniform-refusal',
  'steady-timing', 'total', 'byte-exact', 'inert', 'private-keys',
]);
const PROPERTIES = [
  ...HOLDS, 'confidentiality', 'binds-method', 'binds-target', 'binds-arguments', 'binds-principal', 'binds-audience', 'unambiguous',
  'key-separation', 'key-committing', 'sender-authenticated', 'strong-keys', 'single-use',
];

const STAGES = {
  'Continuation token exceeds the 33554432 byte size limit.': 'malformed',
  'Continuation token is malformed.': 'malformed',
  'Continuation payload is malformed.': 'malformed',
  'Continuation signature is invalid.': 'unauthentic',
  'Continuation envelope is invalid.': 'malformed',
  'Continuation contains a non-JSON value.': 'malformed',
  'Continuation payload is not canonically encoded.': 'malformed',
  'Continuation has expired.': 'expired',
  'Continuation was issued in the future.': 'expired',
  'Continuation lifetime is invalid.': 'expired',
};

let now = 0; // milliseconds
Date.now = () => now;

function decoded(bytes) {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Unsupported();
  }
}

// How states and the application's objects correspond.
const PAYLOADS = {
  text: {
    ofState: (bytes) => ({ s: decoded(bytes) }),
    toState(state) {
      const alone = Object.keys(state).length === 1 && typeof state.s === 'string' && state.s.isWellFormed();
      if (Array.isArray(state) || !alone) throw new Unsupported();
      return Buffer.from(state.s);
    },
  },
  json: {
    ofState(bytes) {
      let state;
      try {
        state = JSON.parse(decoded(bytes));
      } catch {
        throw new Unsupported();
      }
      return { s: state };
    },
    toState(state) {
      if (Array.isArray(state) || Object.keys(state).length !== 1 || !Object.hasOwn(state, 's')) throw new Unsupported();
      return Buffer.from(JSON.stringify(state.s));
    },
  },
};

const HANDLES = new Handles((request) => {
  const { payload = 'text', ...unknown } = request.options ?? {};
  if (!Object.hasOwn(PAYLOADS, payload) || Object.keys(unknown).length > 0) throw new Refused('there is no such option, or no such value');
  const [secret, ...verificationSecrets] = (request.keys_b64 ?? []).map((key) => Buffer.from(key, 'base64url'));
  if (!secret) throw new Refused('want at least one key');
  try {
    const codec = createSignedContinuationCodec({ secret, verificationSecrets, maxAgeMs: (request.ttl ?? 600) * 1000 });
    return { codec, payload: PAYLOADS[payload] };
  } catch (error) {
    throw new Refused(error.message);
  }
});

function at(request) {
  if (request.now !== undefined) now = Math.floor(request.now * 1000);
  return HANDLES.of(request);
}

function mint({ codec, payload }, request) {
  const state = payload.ofState(Buffer.from(request.state_b64, 'base64url'));
  try {
    return codec.encode(state);
  } catch {
    throw new Unsupported();
  }
}

function verify({ codec, payload }, token) {
  let state;
  try {
    state = codec.decode(token);
  } catch (error) {
    throw Object.hasOwn(STAGES, error.message) ? new Rejected(STAGES[error.message], error.message) : error;
  }
  return payload.toState(state);
}

function bench(request) {
  const handle = at(request);
  const run = { verify: () => verify(handle, request.token), mint: () => mint(handle, request) }[request.do];
  if (!run) throw new Unsupported();
  const start = process.hrtime.bigint();
  for (let i = 0; i < request.n; i++) run();
  return { elapsed_ns: Number(process.hrtime.bigint() - start) };
}

const version = JSON.parse(readFileSync(new URL('node_modules/run/package.json', import.meta.url), 'utf8')).version;

await serve(
  {
    name: 'run-sdk', version, kind: 'scheme', abilities: ['clock', 'batch', 'bench'],
    guarantees: Object.fromEntries(PROPERTIES.map((p) => [p, HOLDS.has(p)])),
    options: [{ name: 'payload', doc: "whether the state in the application's object is text or JSON", values: Object.keys(PAYLOADS) }],
  },
  {
    open: HANDLES.open,
    close: HANDLES.close,
    mint: (request) => ({ token: mint(at(request), request) }),
    verify(request) {
      const handle = at(request);
      return each((token) => ({ state_b64: verify(handle, token).toString('base64url') }), request);
    },
    bench,
  },
);
