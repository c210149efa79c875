// Fixture of sealab review on the TypeScript SDK: @modelcontextprotocol/server 2.4.0.
//   node server.mjs [--http PORT] [--mode codec|bind|plain|restart] [--ttl SECONDS]
import { createMcpExpressApp, requireBearerAuth } from '@modelcontextprotocol/express';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { acceptedContent, completable, createMcpHandler, createRequestStateCodec, inputRequired, McpServer, OAuthError, OAuthErrorCode } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import * as z from 'zod/v4';

const arg = (name, fallback) => { const i = process.argv.indexOf('--' + name); return i < 0 ? fallback : process.argv[i + 1]; };
const mode = arg('mode', 'codec'), port = arg('http', ''), ttlSeconds = Number(arg('ttl', '600'));
const key = new Uint8Array(32).fill(107);
const bind = ctx => `${ctx.mcpReq.method}\0${ctx.http?.authInfo?.clientId ?? ''}`;
const codec = createRequestStateCodec({ key, ttlSeconds, ...(mode === 'bind' && { bind }) });
const plain = mode === 'plain';
const mint = (state, ctx) => plain ? JSON.stringify(state) : codec.mint(state, ctx);
// restart: a state that fails is no state, so the user is asked again (as mcp.d does) and no error is answered.
const verify = mode === 'restart' ? (state, ctx) => codec.verify(state, ctx).catch(() => null) : codec.verify;
const stateOf = ctx => { const s = ctx.mcpReq.requestState(); return plain && typeof s === 'string' ? JSON.parse(s) : s; };
const form = (message, field, schema) => inputRequired.elicit({ message, requestedSchema: { type: 'object', properties: { [field]: schema }, required: [field] } });
// say ends a tool: the line on standard error counts it.
const say = text => { console.error('ran: ' + text); return { content: [{ type: 'text', text }] }; };

function build() {
    const server = new McpServer({ name: 'lab-ts', version: '1.0.0' }, plain ? {} : { requestState: { verify } });
    server.registerTool('deploy', { description: 'Deploys after a confirmation and a reason', inputSchema: z.object({ env: z.string() }) }, async ({ env }, ctx) => {
        const state = stateOf(ctx);
        if (state?.step === 'reason') {
            const got = acceptedContent(ctx.mcpReq.inputResponses, 'reason');
            return say(`deployed ${state.env} because ${got?.reason}`);
        }
        const confirmed = acceptedContent(ctx.mcpReq.inputResponses, 'confirm');
        if (state?.step !== 'confirm' || !confirmed?.ok)
            return inputRequired({ inputRequests: { confirm: form(`Deploy to ${env}?`, 'ok', { type: 'boolean' }) }, requestState: await mint({ step: 'confirm', env }, ctx) });
        return inputRequired({ inputRequests: { reason: form('Why?', 'reason', { type: 'string' }) }, requestState: await mint({ step: 'reason', env: state.env }, ctx) });
    });
    server.registerTool('remove', { description: 'Removes after a confirmation', inputSchema: z.object({ env: z.string() }), annotations: { destructiveHint: true } }, async ({ env }, ctx) => {
        const state = stateOf(ctx), confirmed = acceptedContent(ctx.mcpReq.inputResponses, 'confirm');
        if (state?.step === 'confirm' && confirmed?.ok) return say(`removed ${state.env}`);
        return inputRequired({ inputRequests: { confirm: form(`Remove ${env}?`, 'ok', { type: 'boolean' }) }, requestState: await mint({ step: 'confirm', env }, ctx) });
    });
    server.registerTool('echo', { description: 'Says what it is told', inputSchema: z.object({ text: z.string() }), annotations: { readOnlyHint: true } }, async ({ text }) => say(text));
    server.registerTool('whoami', { inputSchema: z.object({}) }, async (_, ctx) => say(ctx.http?.authInfo?.clientId ?? 'anonymous'));
    server.registerTool('slow', { inputSchema: z.object({ ms: z.number() }) }, async ({ ms }, ctx) => {
        const start = Date.now();
        while (Date.now() - start < ms) {
            if (ctx.mcpReq.signal.aborted) { console.error('slow: cancelled'); throw new Error('cancelled'); }
            await new Promise(r => setTimeout(r, 20));
        }
        console.error('slow: done'); return say('done');
    });
    server.registerTool('ask_all', { inputSchema: z.object({}) }, async (_, ctx) => {
        const r = ctx.mcpReq.inputResponses;
        if (r?.who && r?.draft && r?.dirs) return say('got ' + Object.keys(r).join(','));
        return inputRequired({ inputRequests: {
            who: form('Who?', 'name', { type: 'string' }),
            draft: inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 10 }),
            dirs: inputRequired.listRoots() }, requestState: await mint({ step: 'all' }, ctx) });
    });
    server.registerPrompt('report', { argsSchema: z.object({ topic: completable(z.string(), v => ['alpha', 'beta'].filter(x => x.startsWith(v))) }) }, async ({ topic }, ctx) => {
        const got = acceptedContent(ctx.mcpReq.inputResponses, 'tone');
        if (!got) return inputRequired({ inputRequests: { tone: form('Tone?', 'tone', { type: 'string' }) }, requestState: await mint({ step: 'tone', topic }, ctx) });
        return { messages: [{ role: 'user', content: { type: 'text', text: `Report on ${stateOf(ctx)?.topic}, ${got.tone}` } }] };
    });
    server.registerResource('vault', 'test://vault', { mimeType: 'text/plain' }, async (uri, ctx) => {
        const got = acceptedContent(ctx.mcpReq.inputResponses, 'reason');
        if (!got) return inputRequired({ inputRequests: { reason: form('Why?', 'reason', { type: 'string' }) }, requestState: await mint({ step: 'vault' }, ctx) });
        return { contents: [{ uri: uri.href, text: `opened: ${got.reason}` }] };
    });
    return server;
}

if (!port) { void serveStdio(build); } else {
    const handler = createMcpHandler(build);
    const app = createMcpExpressApp();
    const verifier = { async verifyAccessToken(token) {
        if (!['alice', 'bob'].includes(token)) throw new OAuthError(OAuthErrorCode.InvalidToken, 'unknown token');
        return { token, clientId: token, scopes: [], expiresAt: Math.floor(Date.now() / 1000) + 3600 };
    } };
    const auth = requireBearerAuth({ verifier }), node = toNodeHandler(handler);
    app.all('/mcp', (q, s, n) => q.headers.authorization ? auth(q, s, n) : n(), (q, s) => void node(q, s, q.body));
    app.listen(Number(port), '127.0.0.1', () => console.error(`serving http://127.0.0.1:${port}/mcp`));
}
