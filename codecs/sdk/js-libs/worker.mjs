// Token libraries in JavaScript as sealab workers, protocol 1.
//
// Usage: worker.mjs ROW [FOLDER]. ROW is a name of rows.mjs. FOLDER holds another
// version of the library, which is loaded instead of the one beside it. Then ROW may
// also be a name of historic.mjs.

import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Handles, Refused, Rejected, Unsupported, each, serve } from '../ts/protocol.mjs';
import { HISTORIC } from './historic.mjs';
import { ROWS } from './rows.mjs';

const [name, folder] = process.argv.slice(2);
const row = folder ? { ...ROWS, ...HISTORIC }[name] : ROWS[name];

const require = createRequire(import.meta.url);

// load returns the library. A folder of npm is the package itself.
async function load() {
  if (folder) return require(resolve(folder));
  const loaded = await import(row.library);
  return loaded.default ?? loaded;
}

function version() {
  const root = row.library.split('/').slice(0, row.library.startsWith('@') ? 2 : 1).join('/');
  const from = folder ? resolve(folder) : join(dirname(fileURLToPath(import.meta.url)), 'node_modules', root);
  return JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')).version;
}

const library = await load();

async function open(request) {
  const keys = (request.keys_b64 ?? []).map((key) => Buffer.from(key, 'base64url'));
  if (Object.keys(request.options ?? {}).length > 0 || keys.length === 0) throw new Refused('want at least one key and no options');
  const ttl = request.ttl ?? 600;
  if (row.clock && ttl <= 0) throw new Refused('want a time to live above 0');
  try {
    const opened = await row.open(library, keys, ttl);
    await opened.seal(Buffer.from('{}')); // some libraries refuse a key at its first use
    return opened;
  } catch (error) {
    throw new Refused(String(error.message ?? error));
  }
}

const HANDLES = new Handles(open);

const member = row.clock ? 'state_b64' : 'payload_b64';

// at returns an open handle. A row with a clock takes the time from the request.
const machine = Date.now;
let now;
if (row.clock) Date.now = () => now ?? machine();
function at(request) {
  if (row.clock) now = Math.floor(request.now * 1000);
  return HANDLES.of(request);
}

async function seal(request) {
  return { token: await at(request).seal(Buffer.from(request[member], 'base64url')) };
}

async function unseal(request) {
  const opened = at(request);
  return each(async (token) => {
    let payload;
    try {
      payload = await opened.unseal(token);
    } catch (error) {
      if (error instanceof Unsupported) throw error;
      throw new Rejected('unauthentic', String(error?.code ?? error?.name ?? error));
    }
    return { [member]: Buffer.from(payload).toString('base64url') };
  }, request);
}

const HELLO = {
  name, version: version(), kind: row.clock ? 'scheme' : 'codec', abilities: row.clock ? ['batch', 'parallel', 'clock'] : ['batch', 'parallel'],
  guarantees: row.guarantees,
};
const operations = row.clock ? { mint: seal, verify: unseal } : { seal, unseal };

await serve(HELLO, { open: HANDLES.open, close: HANDLES.close, ...operations });
