// The TypeScript client against a server behind the boundary. It takes every
// feature through its rounds and prints, as one JSON object, what it got.
//
//   node client.mjs http URL        revision 2026-07-28; also how altered tokens are refused
//   node client.mjs stdio COMMAND   the client's default, which is revision 2025-11-25
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [mode, server] = process.argv.slice(2);

async function connect(transport, options) {
    const client = new Client({ name: 'ts-client', version: '1.0.0' }, { capabilities: { elicitation: {} }, ...options });
    client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { name: 'Ada' } }));
    await client.connect(transport);
    return client;
}

function connectHTTP(options) {
    const requestInit = { headers: { Authorization: 'Bearer alice' } };
    const versionNegotiation = { mode: { pin: '2026-07-28' } };
    return connect(new StreamableHTTPClientTransport(new URL(server), { requestInit }), { versionNegotiation, ...options });
}

async function rounds(client) {
    return {
        tool: (await client.callTool({ name: 'greet', arguments: {} })).content[0].text,
        prompt: (await client.getPrompt({ name: 'greeting' })).messages[0].content.text,
        resource: (await client.readResource({ uri: 'test://greeting' })).contents[0].text
    };
}

const greet = requestState => ({ method: 'tools/call', params: { name: 'greet', arguments: {}, requestState } });

// refusal is the error of a call with an altered requestState.
async function refusal(client, requestState) {
    try {
        await client.request(greet(requestState), { allowInputRequired: true });
        return null;
    } catch (e) {
        return { code: e.code, message: e.message, data: e.data };
    }
}

async function overHTTP() {
    const auto = await connectHTTP({});
    const manual = await connectHTTP({ inputRequired: { autoFulfill: false } });
    const asked = await manual.request(greet(), { allowInputRequired: true });
    const refused = [];
    for (const altered of [asked.requestState + '-TAMPERED', asked.requestState.slice(0, -1), asked.requestState + '=']) {
        refused.push(await refusal(manual, altered));
    }
    const work = (await auto.callTool({ name: 'work', arguments: {} })).content[0].text;
    const report = { ...(await rounds(auto)), work, resultType: asked.resultType, token: asked.requestState, refused };
    await auto.close();
    await manual.close();
    return report;
}

async function overStdio() {
    const client = await connect(new StdioClientTransport({ command: server, env: process.env }), {});
    const report = { ...(await rounds(client)), version: client.getNegotiatedProtocolVersion() };
    await client.close();
    return report;
}

console.log(JSON.stringify(mode === 'http' ? await overHTTP() : await overStdio()));
