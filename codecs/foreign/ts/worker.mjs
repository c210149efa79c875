// The requestState codec of the TypeScript MCP SDK as a sealab worker, protocol 1.
//
// Every answer comes from the SDK's own createRequestStateCodec. Only the clock
// is replaced, because the time is a member of each request. A state is the JSON
// text of the SDK's payload.

import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { createRequestStateCodec } from '@modelcontextprotocol/server';

const PROTOCOL = 1;

// What the format promises, as read from createRequestStateCodec without a bind callback.
const GUARANTEES = {
  'integrity': true,
  'confidentiality': false, // signed, not encrypted
  'canonical': false, // the tag is decoded leniently
  'binds-method': false,
  'binds-target': false,
  'binds-arguments': false,
  'binds-principal': false,
  'binds-audience': false,
  'unambiguous': false,
  'expiry': true,
  'rotation': false, // one key
  'key-separation': false, // the secret is the key
  'key-committing': true,
  'nonce-misuse-resistant': true, // there is no nonce
  'fresh-nonces': false, // there is no nonce
  'sender-authenticated': false, // a symmetric key
  'byte-exact': false, // a payload is parsed and written again
  'single-use': false, // stateless
};

const STAGES = { malformed: 'malformed', mac: 'unauthentic', expired: 'expired', bind: 'misbound' };

// What the bind callback may return; "none" is the SDK's default, no callback.
const BINDS = {
  none: undefined,
  principal: (binding) => binding.principal ?? '',
  method: (binding) => binding.method ?? '',
  target: (binding) => binding.target ?? '',
};

const OPTIONS = [{ name: 'bind', doc: 'what the bind callback returns', values: Object.keys(BINDS) }];

class Unsupported extends Error {}
class Refused extends Error {}

let now = 0; // milliseconds
Date.now = () => now;

const decode = (text) => Buffer.from(text, 'base64url');
const encode = (text) => Buffer.from(text, 'utf8').toString('base64url');

function sdkVersion() {
  const entry = createRequire(import.meta.url).resolve('@modelcontextprotocol/server');
  const root = entry.slice(0, entry.lastIndexOf('/dist/'));
  return JSON.parse(readFileSync(`${root}/package.json`, 'utf8')).version;
}

function stateOf(request) {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(decode(request.state_b64)));
  } catch {
    throw new Unsupported(); // the SDK's state is a JSON value
  }
}

function failure(error) {
  if (error instanceof Unsupported) return { ok: false, unsupported: true };
  if (error instanceof Refused) return { ok: false, refused: error.message };
  if (error.constructor === Error && error.message in STAGES) {
    return { ok: false, rejected: STAGES[error.message], reason: error.message };
  }
  return { ok: false, fault: String(error) };
}

const opened = new Map();

function use(request) {
  const handle = opened.get(request.handle);
  if (!handle) throw new Error(`there is no handle ${request.handle}`);
  return handle;
}

const context = (request) => ({ binding: request.binding ?? {} });

async function verify(codec, token, request) {
  const payload = await codec.verify(token, context(request));
  return { state_b64: encode(JSON.stringify(payload) ?? '') };
}

async function verdict(codec, token, request) {
  try {
    return { ok: true, ...(await verify(codec, token, request)) };
  } catch (error) {
    return failure(error);
  }
}

const OPERATIONS = {
  async hello(request) {
    if (request.protocol !== PROTOCOL) throw new Error(`protocol ${request.protocol}, want ${PROTOCOL}`);
    return {
      protocol: PROTOCOL,
      name: 'mcp-ts-sdk',
      version: sdkVersion(),
      kind: 'scheme',
      abilities: ['clock', 'batch', 'bench'],
      guarantees: GUARANTEES,
      options: OPTIONS,
    };
  },

  async open(request) {
    const { bind: name = 'none', ...unknown } = request.options ?? {};
    const keys = request.keys_b64 ?? [];
    if (!Object.hasOwn(BINDS, name)) throw new Refused(`option bind: there is no ${name}`);
    if (Object.keys(unknown).length > 0) throw new Refused(`there is no option ${Object.keys(unknown)[0]}`);
    if (keys.length !== 1) throw new Refused(`got ${keys.length} keys, want 1: the codec has no ring`);
    const bind = BINDS[name] && ((ctx) => BINDS[name](ctx.binding));
    let codec;
    try {
      codec = createRequestStateCodec({ key: decode(keys[0]), ttlSeconds: request.ttl, bind });
    } catch (error) {
      throw new Refused(error.message);
    }
    const handle = opened.size + 1;
    opened.set(handle, codec);
    return { handle };
  },

  async close(request) {
    use(request);
    opened.set(request.handle, undefined);
    return {};
  },

  async mint(request) {
    return { token: await use(request).mint(stateOf(request), context(request)) };
  },

  async verify(request) {
    const codec = use(request);
    if (request.tokens === undefined) return verify(codec, request.token, request);
    const verdicts = [];
    for (const token of request.tokens) verdicts.push(await verdict(codec, token, request));
    return { verdicts };
  },

  async bench(request) {
    const codec = use(request);
    const ctx = context(request);
    let run;
    if (request.do === 'mint') {
      const state = stateOf(request);
      run = () => codec.mint(state, ctx);
    } else if (request.do === 'verify') {
      run = () => codec.verify(request.token, ctx);
    } else {
      throw new Unsupported();
    }
    const start = process.hrtime.bigint();
    for (let i = 0; i < request.n; i++) await run();
    return { elapsed_ns: Number(process.hrtime.bigint() - start) };
  },
};

async function answer(line) {
  try {
    const request = JSON.parse(line);
    if (!Object.hasOwn(OPERATIONS, request.op)) throw new Unsupported();
    if (request.now !== undefined) now = Math.floor(request.now * 1000);
    return { ok: true, ...(await OPERATIONS[request.op](request)) };
  } catch (error) {
    return failure(error);
  }
}

// Lines are cut by hand: readline also breaks them at U+2028.
const NEWLINE = 0x0a;
let rest = [];
for await (const chunk of process.stdin) {
  let start = 0;
  for (let end; (end = chunk.indexOf(NEWLINE, start)) >= 0; start = end + 1) {
    const line = Buffer.concat([...rest, chunk.subarray(start, end)]).toString('utf8');
    rest = [];
    process.stdout.write(JSON.stringify(await answer(line)) + '\n');
  }
  rest.push(chunk.subarray(start));
}
