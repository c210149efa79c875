// A server of the TypeScript MCP SDK over standard input and output, whose
// requestState the SDK's codec protects.
//
//   node server.mjs KEY_BASE64
//
// It is called svc and has one tool, greet, which asks for a name and then says it.
import { McpServer, acceptedContent, createRequestStateCodec, inputRequired } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const ASKED = 'asked for a name';

const codec = createRequestStateCodec({ key: Buffer.from(process.argv[2], 'base64') });

serveStdio(() => {
  const server = new McpServer({ name: 'svc', version: '1.0.0' }, { requestState: { verify: codec.verify } });
  server.registerTool('greet', {}, async (ctx) => {
    const answer = acceptedContent(ctx.mcpReq.inputResponses, 'name');
    if (ctx.mcpReq.requestState() === ASKED && answer) {
      return { content: [{ type: 'text', text: `Hello, ${answer.name}` }] };
    }
    return inputRequired({
      inputRequests: {
        name: inputRequired.elicit({
          message: 'Your name?',
          requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
        }),
      },
      requestState: await codec.mint(ASKED, ctx),
    });
  });
  return server;
});
