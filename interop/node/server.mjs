// A server of the TypeScript SDK, for its lines to be recorded: node server.mjs server|sdk, for the second line and the first.

import { z } from 'zod';

const info = { name: 'recorded', version: '1.0.0' };
const options = { instructions: 'Say <&> and \u2028.' };

function withTools(server, send) {
	server.registerTool('echo', { description: 'Says it again.', inputSchema: z.object({ text: z.string() }) },
		async ({ text }) => ({ content: [{ type: 'text', text }] }));
	server.registerTool('fail', {}, async () => { throw new Error('it failed: <&> \u2028'); });
	server.registerTool('weather', { outputSchema: z.object({ temperature: z.number(), conditions: z.string() }) }, async () => {
		const structuredContent = { temperature: 21.5, conditions: '<clear>' };
		return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
	});
	server.registerTool('steps', {}, async context => {
		for (const progress of [1, 2]) await send(context, progress);
		return { content: [] };
	});
	server.registerTool('raw', {}, async () => ({ content: [], structuredContent: { n: 12345678901234567890.5, s: '\u2028\ud800' } }));
	return server;
}

if (process.argv[2] === 'server') {
	const { McpServer } = await import('@modelcontextprotocol/server');
	const { serveStdio } = await import('@modelcontextprotocol/server/stdio');
	serveStdio(() => withTools(new McpServer(info, options), (context, progress) => context.mcpReq.notify({
		method: 'notifications/progress', params: { progressToken: context.mcpReq._meta?.progressToken, progress, total: 2 } })));
} else {
	const { McpServer } = await import('@modelcontextprotocol/sdk/server/mcp.js');
	const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
	await withTools(new McpServer(info, options), (context, progress) => context.sendNotification({
		method: 'notifications/progress', params: { progressToken: context._meta?.progressToken, progress, total: 2 } }))
		.connect(new StdioServerTransport());
}
