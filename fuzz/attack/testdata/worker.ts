// A codec as a worker: JSON Lines on standard input and output.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createInterface } from "node:readline";

const text = (raw: Buffer): string => raw.toString("base64url");
const raw = (s: string): Buffer => Buffer.from(s, "base64url");

class Refused extends Error {}

class Codec { // your codec stands here
  keys: Buffer[];
  constructor(secrets: Buffer[]) {
    const different = new Set(secrets.map(text)).size;
    if (different === 0 || different < secrets.length || secrets.some((s) => s.length < 32)) throw new RangeError("one or more different secrets of 32 bytes");
    this.keys = secrets.map((s) => createHmac("sha256", "example key v1").update(s).digest());
  }
  tag(key: Buffer, body: string): string {
    return text(createHmac("sha256", key).update("ex1." + body).digest());
  }
  seal(payload: Buffer): string {
    return `ex1.${text(payload)}.${this.tag(this.keys[0], text(payload))}`;
  }
  unseal(token: string): Buffer {
    const [prefix, body, tag] = token.split(".", 3);
    if (prefix !== "ex1" || token !== `ex1.${body}.${tag}`) throw new Refused("malformed");
    const equal = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);
    if (!this.keys.some((k) => equal(Buffer.from(this.tag(k, body)), Buffer.from(tag)))) throw new Refused("unauthentic");
    return raw(body);
  }
}

const codecs: Codec[] = [];
const hello = { protocol: 1, name: "example-ts", version: "1", kind: "codec", abilities: [],
  guarantees: { integrity: true, canonical: true, rotation: true, "strong-keys": true, confidentiality: false } };

function answer(ask: any): object {
  switch (ask.op) {
    case "hello": return hello;
    case "open":
      try { return { handle: codecs.push(new Codec(ask.keys_b64.map(raw))) - 1 }; }
      catch (e) { return { ok: false, refused: String(e) }; }
    case "seal": return { token: codecs[ask.handle].seal(raw(ask.payload_b64)) };
    case "unseal":
      try { return { payload_b64: text(codecs[ask.handle].unseal(ask.token)) }; }
      catch (e) { if (e instanceof Refused) return { ok: false, rejected: e.message, reason: e.message }; throw e; }
    case "close": return {};
  }
  return { ok: false, unsupported: true };
}

createInterface({ input: process.stdin }).on("line", (line) => {
  process.stdout.write(JSON.stringify({ ok: true, ...answer(JSON.parse(line)) }) + "\n");
});
