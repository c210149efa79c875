// The worker protocol, version 1, for workers written in JavaScript.
//
// A worker hands serve() a description of itself and its operations. An operation
// takes the request and returns the members of the answer, or throws.

export const PROTOCOL = 1;

export class Unsupported extends Error {}
export class Refused extends Error {}

export class Rejected extends Error {
  constructor(stage, reason) {
    super(reason);
    this.stage = stage;
  }
}

export function failure(error) {
  if (error instanceof Unsupported) return { ok: false, unsupported: true };
  if (error instanceof Refused) return { ok: false, refused: error.message };
  if (error instanceof Rejected) return { ok: false, rejected: error.stage, reason: error.message };
  return { ok: false, fault: String(error) };
}

async function attempt(operation, ...args) {
  try {
    return { ok: true, ...(await operation(...args)) };
  } catch (error) {
    return failure(error);
  }
}

// each judges the token of a request, or gives a verdict on each of its tokens.
export async function each(judge, request) {
  if (request.tokens === undefined) return judge(request.token);
  const verdicts = [];
  for (const token of request.tokens) verdicts.push(await attempt(judge, token));
  return { verdicts };
}

// Handles are the objects that a client has opened.
export class Handles {
  #opened = new Map();
  #last = 0;

  constructor(make) {
    this.open = async (request) => {
      const opened = await make(request);
      this.#opened.set(++this.#last, opened);
      return { handle: this.#last };
    };
    this.close = async (request) => {
      this.of(request);
      this.#opened.delete(request.handle);
      return {};
    };
  }

  of(request) {
    const handle = this.#opened.get(request.handle);
    if (!handle) throw new Error(`there is no handle ${request.handle}`);
    return handle;
  }
}

// serve answers requests until the input ends. Lines are cut by hand, because readline
// also breaks them at U+2028.
export async function serve(hello, operations) {
  const all = {
    async hello(request) {
      if (request.protocol !== PROTOCOL) throw new Error(`protocol ${request.protocol}, want ${PROTOCOL}`);
      return { protocol: PROTOCOL, ...hello };
    },
    ...operations,
  };
  const answer = (line) => attempt((text) => {
    const request = JSON.parse(text);
    if (!Object.hasOwn(all, request.op)) throw new Unsupported();
    return all[request.op](request);
  }, line);
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
}
