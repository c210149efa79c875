// Reads sealab-vectors/1 and tests createRequestStateCodec of the TypeScript MCP
// SDK with it. The answers of the SDK are those of the reading "sdk". The folder
// of the files is in VECTORS, by default ../../files.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createRequestStateCodec } from '@modelcontextprotocol/server';

const folder = process.env.VECTORS ?? new URL('../../files', import.meta.url).pathname;
const file = JSON.parse(readFileSync(`${folder}/mcp-ts.json`, 'utf8'));
assert.equal(file.format, 'sealab-vectors/1');
assert.equal(file.number_of_tests, file.tests.length);

// The stage of each reason that the SDK gives, including unintended exceptions.
const STAGES = {
  'malformed': 'malformed',
  'mac': 'unauthentic',
  'expired': 'expired',
  'bind': 'misbound',
  "Cannot read properties of null (reading 'exp')": 'malformed',
  "Cannot read properties of null (reading 'length')": 'misbound',
  'a.codePointAt is not a function': 'misbound',
};

// Maps the options of the vectors to those of the SDK. The state is the payload's
// text, or its JSON, unless the payload is absent.
const BINDS = { none: undefined, principal: (ctx) => ctx.principal ?? '' };
const PAYLOADS = { text: (payload) => bytes(payload), json: (payload) => Buffer.from(JSON.stringify(payload) ?? '') };

const real = Date.now;
const hex = (text) => Buffer.from(text, 'hex');

// bytes writes lone surrogates in three bytes, as the vectors do.
function bytes(text) {
  return Buffer.concat(Array.from(text, (char) => {
    const unit = char.charCodeAt(0);
    return char.isWellFormed() ? Buffer.from(char) : Buffer.from([0xed, 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)]);
  }));
}

function codec(secrets, ttl, { bind = 'none' } = {}) {
  if (secrets.length !== 1) throw new RangeError('the SDK has no ring');
  return createRequestStateCodec({ key: secrets[0], ttlSeconds: Number(ttl), bind: BINDS[bind] });
}

for (const ring of file.rings) {
  test(ring.id, () => {
    const make = () => codec(ring.secrets.map(hex), ring.ttl);
    if ((ring.readings?.sdk ?? ring.expect) === 'accept') make();
    else assert.throws(make);
  });
}

// A test omits the parts of its setting that equal those of the test that it is near.
const byID = new Map();
for (const written of file.tests) {
  const { keys, options, binding, now, ttl } = byID.get(written.near) ?? {};
  const t = { keys, options, binding, now, ttl, ...written };
  byID.set(t.id, t);
  Object.assign(t, written.readings?.sdk);
  if (t.expect === 'silent') continue;
  const { bind = 'none', payload = 'text' } = t.options ?? {};
  const skip = !(bind in BINDS) || !(payload in PAYLOADS) ? `option bind is ${bind}` : false;
  test(t.id, { skip }, async () => {
    const sdk = codec(t.keys.map((name) => hex(file.keys[name])), t.ttl, t.options);
    Date.now = () => Math.floor(Number(t.now) * 1000);
    let released, reason;
    try {
      released = await sdk.verify(t.token, t.binding);
      if (t.sealed) await sealAgain(sdk, t, payload);
    } catch (error) {
      reason = error.message;
    } finally {
      Date.now = real;
    }
    if (t.expect === 'accept') {
      assert.equal(reason, undefined, `${t.comment}: refused`);
      assert.equal(PAYLOADS[payload](released).toString('hex'), t.released, t.comment);
    } else {
      assert.equal(STAGES[reason], t.stage, `${t.comment}: ${reason ?? 'accepted'}`);
    }
  });
}

async function sealAgain(sdk, t, payload) {
  const state = hex(t.state).toString('utf8');
  const token = await sdk.mint(payload === 'json' ? JSON.parse(state) : state, t.binding);
  if (bytes(state).equals(hex(t.state)) && token !== t.token) throw new Error(`sealed ${token}`);
}
