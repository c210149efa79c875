// The requestState codec of the TypeScript MCP SDK as a sealab worker, protocol 1.
//
// Every answer comes from the SDK's own createRequestStateCodec. Only the clock
// is replaced, because the time is a member of each request. Under the option
// payload=text a state is a string and the SDK's payload; under payload=json it
// is the JSON text of the payload.

import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { createRequestStateCodec } from '@modelcontextprotocol/server';
import { Handles, Refused, Rejected, Unsupported, each, serve } from './protocol.mjs';

// What the format promises, as read from createRequestStateCodec without a bind callback.
const GUARANTEES = {
  'integrity': true,
  'confidentiality': false, // signed, not encrypted
  'canonical': false, // the mac's segment is decoded leniently
  'binds-method': false,
  'binds-target': false,
  'binds-arguments': false,
  'binds-principal': false,
  'binds-audience': false,
  'unambiguous': false,
  'expiry': false, // nothing says when a token was issued; exp itself is not too late
  'rotation': false, // one key
  'key-separation': false, // the secret is the HMAC key
  'key-committing': false, // HMAC pads keys with zeros and hashes long ones
  'nonce-misuse-resistant': true, // there is no nonce
  'fresh-nonces': false, // there is no nonce
  'sender-authenticated': false, // a symmetric key
  'unlinkable': true,
  'uniform-refusal': true,
  'steady-timing': true,
  'total': true,
  'byte-exact': true, // under payload=text
  'strong-keys': true,
  'single-use': false, // stateless
  'inert': true,
  'private-keys': true, // without a bind callback
};

// The SDK's reasons, and after them the exceptions that it does not mean to throw.
const STAGES = {
  'malformed': 'malformed',
  'mac': 'unauthentic',
  'expired': 'expired',
  'bind': 'misbound',
  "Cannot read properties of null (reading 'exp')": 'malformed',
  "Cannot read properties of null (reading 'length')": 'misbound',
  'a.codePointAt is not a function': 'misbound',
};

// What the bind callback may return; "none" is the SDK's default, no callback.
const BINDS = {
  none: undefined,
  principal: (ctx) => ctx.binding.principal ?? '',
};

// How states and payloads correspond.
const PAYLOADS = {
  text: {
    ofState: fromWTF8,
    toState(payload) {
      if (typeof payload !== 'string') throw new Unsupported();
      return toWTF8(payload);
    },
  },
  json: {
    ofState(bytes) {
      try {
        return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
      } catch {
        throw new Unsupported();
      }
    },
    toState: (payload) => Buffer.from(JSON.stringify(payload) ?? ''),
  },
};

const OPTIONS = [
  { name: 'bind', doc: 'what the bind callback returns', values: Object.keys(BINDS) },
  { name: 'payload', doc: "whether the state is the payload's text or its JSON", values: Object.keys(PAYLOADS) },
];

let now = 0; // milliseconds
Date.now = () => now;

// The laboratory writes a lone surrogate as the three bytes that UTF-8 would use.
function toWTF8(text) {
  if (text.isWellFormed()) return Buffer.from(text);
  return Buffer.concat(Array.from(text, (char) => {
    const unit = char.charCodeAt(0);
    return char.isWellFormed() ? Buffer.from(char) : Buffer.from([0xed, 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)]);
  }));
}

function fromWTF8(bytes) {
  const pieces = bytes.toString('latin1').split(/(\xed[\xa0-\xbf][\x80-\xbf])/);
  try {
    return pieces.map((piece, i) => {
      const raw = Buffer.from(piece, 'latin1');
      if (i % 2 === 1) return String.fromCharCode(0xd000 | ((raw[1] & 0x3f) << 6) | (raw[2] & 0x3f));
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw);
    }).join('');
  } catch {
    throw new Unsupported(); // the SDK's state is text
  }
}

function sdkVersion() {
  const entry = createRequire(import.meta.url).resolve('@modelcontextprotocol/server');
  const root = entry.slice(0, entry.lastIndexOf('/dist/'));
  return JSON.parse(readFileSync(`${root}/package.json`, 'utf8')).version;
}

// What one open has set up.
class Handle {
  constructor(request) {
    const { bind = 'none', payload = 'text', ...unknown } = request.options ?? {};
    const keys = request.keys_b64 ?? [];
    if (!Object.hasOwn(BINDS, bind) || !Object.hasOwn(PAYLOADS, payload) || Object.keys(unknown).length > 0) {
      throw new Refused('there is no such option, or no such value');
    }
    if (keys.length !== 1) throw new Refused(`got ${keys.length} keys, want 1: the codec has no ring`);
    this.payload = PAYLOADS[payload];
    try {
      this.codec = createRequestStateCodec({ key: Buffer.from(keys[0], 'base64url'), ttlSeconds: request.ttl, bind: BINDS[bind] });
    } catch (error) {
      throw new Refused(error.message);
    }
  }

  state(request) {
    return this.payload.ofState(Buffer.from(request.state_b64, 'base64url'));
  }

  async verify(token, request) {
    let payload;
    try {
      payload = await this.codec.verify(token, context(request));
    } catch (error) {
      throw Object.hasOwn(STAGES, error.message) ? new Rejected(STAGES[error.message], error.message) : error;
    }
    return { state_b64: this.payload.toState(payload).toString('base64url') };
  }
}

const context = (request) => ({ binding: request.binding ?? {} });

const HANDLES = new Handles((request) => new Handle(request));

function use(request) {
  now = Math.floor(request.now * 1000);
  return HANDLES.of(request);
}

const HELLO = {
  name: 'mcp-ts-sdk',
  version: sdkVersion(),
  kind: 'scheme',
  abilities: ['clock', 'batch', 'bench'],
  guarantees: GUARANTEES,
  options: OPTIONS,
};

const OPERATIONS = {
  open: HANDLES.open,
  close: HANDLES.close,

  async mint(request) {
    const handle = use(request);
    return { token: await handle.codec.mint(handle.state(request), context(request)) };
  },

  async verify(request) {
    const handle = use(request);
    return each((token) => handle.verify(token, request), request);
  },

  async bench(request) {
    const run = benchmark(use(request), request);
    const start = process.hrtime.bigint();
    for (let i = 0; i < request.n; i++) await run();
    return { elapsed_ns: Number(process.hrtime.bigint() - start) };
  },
};

function benchmark(handle, request) {
  const ctx = context(request);
  if (request.do === 'verify') return () => handle.codec.verify(request.token, ctx);
  if (request.do !== 'mint') throw new Unsupported();
  const state = handle.state(request);
  return () => handle.codec.mint(state, ctx);
}

await serve(HELLO, OPERATIONS);
