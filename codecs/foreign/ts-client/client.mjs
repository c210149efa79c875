// The TypeScript client against a server behind the boundary: it takes every
// feature through its rounds and prints, as one JSON object, what it got and how
// it was refused.
//
//   node client.mjs URL
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [url] = process.argv.slice(2);

async function connect(options) {
    const client = new Client(
        { name: 'ts-client', version: '1.0.0' },
        { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: '2026-07-28' } }, ...options }
    );
    client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { name: 'Ada' } }));
    const requestInit = { headers: { Authorization: 'Bearer alice' } };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
    return client;
}

// refusal is the error of a call with an altered requestState.
async function refusal(client, requestState) {
    try {
        await client.request({ method: 'tools/call', params: { name: 'greet', arguments: {}, requestState } }, { allowInputRequired: true });
        return null;
    } catch (e) {
        return { code: e.code, message: e.message, data: e.data };
    }
}

const auto = await connect({});
const manual = await connect({ inputRequired: { autoFulfill: false } });
const greet = { method: 'tools/call', params: { name: 'greet', arguments: {} } };
const asked = await manual.request(greet, { allowInputRequired: true });
const report = {
    tool: (await auto.callTool({ name: 'greet', arguments: {} })).content[0].text,
    prompt: (await auto.getPrompt({ name: 'greeting' })).messages[0].content.text,
    resource: (await auto.readResource({ uri: 'test://greeting' })).contents[0].text,
    work: (await auto.callTool({ name: 'work', arguments: {} })).content[0].text,
    resultType: asked.resultType,
    token: asked.requestState,
    refused: [
        await refusal(manual, asked.requestState + '-TAMPERED'),
        await refusal(manual, asked.requestState.slice(0, -1)),
        await refusal(manual, asked.requestState + '=')
    ]
};
await auto.close();
await manual.close();
console.log(JSON.stringify(report));
