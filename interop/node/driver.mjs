// A client of the TypeScript SDK that does as it is told: one JSON object a line on stdin, and one for each on stdout.
//
//	node driver.mjs client|sdk    the package: the second line of the SDK, or the first, which knows no revision after 2025-11-25
//
// {"id":1,"op":"connect","command":[...],"mode":"legacy"}   {"id":1,"ok":"2025-11-25"}
// {"id":2,"op":"list"}                                       {"id":2,"ok":[names]}
// {"id":3,"op":"call","tool":"add","args":{...}}             {"id":3,"ok":result}; and before it {"progress":3,"value":1}
// {"op":"abort","call":3}                                    {"id":3,"error":"..."}
// {"id":4,"op":"listen"}                                     {"id":4,"ok":true}; and later {"changed":true}
// {"id":5,"op":"close"}                                      {"id":5,"ok":true}

import { createInterface } from 'node:readline';

const [generation] = process.argv.slice(2);
const say = object => process.stdout.write(JSON.stringify(object) + '\n');
const replies = { name: 'Ada', color: 'blue', ok: true };
const elicit = async request => ({
	action: 'accept',
	content: Object.fromEntries(Object.keys(request.params.requestedSchema.properties).map(name => [name, replies[name]])),
});
const sample = async () => ({ model: 'none', role: 'assistant', content: { type: 'text', text: 'Paris' } });
const roots = async () => ({ roots: [{ uri: 'file:///nowhere', name: 'nowhere' }] });
const info = { name: 'interop', version: '1.0.0' };
const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
const aborts = new Map();
let client;

async function connect({ command, mode }) {
	const params = { command: command[0], args: command.slice(1), stderr: 'inherit' };
	let revision;
	if (generation === 'client') {
		const { Client } = await import('@modelcontextprotocol/client');
		const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
		const versionNegotiation = mode === 'default' ? undefined : { mode: mode === 'pin' ? { pin: '2026-07-28' } : mode };
		client = new Client(info, { capabilities, versionNegotiation });
		client.setRequestHandler('elicitation/create', elicit);
		client.setRequestHandler('sampling/createMessage', sample);
		client.setRequestHandler('roots/list', roots);
		client.setNotificationHandler('notifications/tools/list_changed', () => say({ changed: true }));
		await client.connect(new StdioClientTransport(params));
		revision = client.getNegotiatedProtocolVersion();
	} else {
		const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
		const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
		const types = await import('@modelcontextprotocol/sdk/types.js');
		client = new Client(info, { capabilities });
		client.setRequestHandler(types.ElicitRequestSchema, elicit);
		client.setRequestHandler(types.CreateMessageRequestSchema, sample);
		client.setRequestHandler(types.ListRootsRequestSchema, roots);
		const transport = new StdioClientTransport(params);
		transport.setProtocolVersion = version => (revision = version);
		await client.connect(transport);
	}
	return revision;
}

async function call({ id, tool, args, progress }) {
	const abort = new AbortController();
	aborts.set(id, abort);
	const options = { signal: abort.signal };
	if (progress) options.onprogress = p => say({ progress: id, value: p.progress });
	const params = { name: tool, arguments: args };
	return generation === 'client' ? client.callTool(params, options) : client.callTool(params, undefined, options);
}

const operations = {
	connect,
	call,
	list: async () => (await client.listTools(undefined, { cacheMode: 'refresh' })).tools.map(tool => tool.name),
	listen: async () => Boolean(await client.listen({ toolsListChanged: true })),
	close: async () => (await client.close(), true),
};

for await (const line of createInterface({ input: process.stdin })) {
	const command = JSON.parse(line);
	if (command.op === 'abort') {
		aborts.get(command.call)?.abort(new Error('aborted'));
		continue;
	}
	operations[command.op](command)
		.then(ok => say({ id: command.id, ok }))
		.catch(error => say({ id: command.id, error: `${error.message} (${error.code})` }));
}
process.exit(0);
