// Fixture of sealab review on version 1 of the TypeScript SDK: @modelcontextprotocol/sdk 1.32.2.
// A server of sessions, without requestState: its tools ask by elicitation/create.
//   node server.mjs --http PORT
import { randomUUID } from 'node:crypto';
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import * as z from 'zod/v4';

const i = process.argv.indexOf('--http'), port = i < 0 ? '' : process.argv[i + 1];
// say ends a tool: the line on standard error counts it.
const say = text => { console.error('ran: ' + text); return { content: [{ type: 'text', text }] }; };

function build() {
    const server = new McpServer({ name: 'lab-ts1', version: '1.0.0' });
    const ask = (message, field, schema) => server.server.elicitInput({ message, requestedSchema: { type: 'object', properties: { [field]: schema }, required: [field] } });
    const confirmed = async message => (await ask(message, 'ok', { type: 'boolean' })).content?.ok;
    server.registerTool('deploy', { description: 'Deploys after a confirmation and a reason', inputSchema: { env: z.string() } }, async ({ env }) => {
        if (!await confirmed(`Deploy to ${env}?`)) return { content: [{ type: 'text', text: 'declined' }] };
        const { content } = await ask('Why?', 'reason', { type: 'string' });
        return say(`deployed ${env} because ${content?.reason}`);
    });
    server.registerTool('remove', { description: 'Removes after a confirmation', inputSchema: { env: z.string() }, annotations: { destructiveHint: true } }, async ({ env }) =>
        await confirmed(`Remove ${env}?`) ? say(`removed ${env}`) : { content: [{ type: 'text', text: 'declined' }] });
    server.registerTool('echo', { description: 'Says what it is told', inputSchema: { text: z.string() }, annotations: { readOnlyHint: true } }, async ({ text }) => say(text));
    server.registerTool('slow', { inputSchema: { ms: z.number() } }, async ({ ms }, { signal }) => {
        const start = Date.now();
        while (Date.now() - start < ms) {
            if (signal.aborted) { console.error('slow: cancelled'); throw new Error('cancelled'); }
            await new Promise(r => setTimeout(r, 20));
        }
        console.error('slow: done'); return say('done');
    });
    return server;
}

if (!port) { await build().connect(new StdioServerTransport()); } else {
    const app = createMcpExpressApp(), sessions = new Map();
    const refuse = (res, status, message) => res.status(status).json({ jsonrpc: '2.0', error: { code: -32000, message }, id: null });
    app.all('/mcp', async (req, res) => {
        const id = req.headers['mcp-session-id'];
        if (id && !sessions.has(id)) return refuse(res, 404, 'Session not found');
        let transport = sessions.get(id);
        if (!transport) {
            if (req.method !== 'POST' || !isInitializeRequest(req.body)) return refuse(res, 400, 'Bad Request: No valid session ID provided');
            transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: id => sessions.set(id, transport), onsessionclosed: id => sessions.delete(id) });
            await build().connect(transport);
        }
        await transport.handleRequest(req, res, req.body);
    });
    app.listen(Number(port), '127.0.0.1', () => console.error(`serving http://127.0.0.1:${port}/mcp`));
}
