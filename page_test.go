package mcp

// page_test.go: the examples of the page that this package was asked for with, in its order and to the letter.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

// pageServer has the tools of the page: add, boom, and one that takes the arguments of its last example.
func pageServer(t *testing.T) *Server {
	s := NewServer(Implementation{Name: "test", Version: "1.0.0"}, Options{})
	for _, tool := range []struct {
		tool    Tool
		handler Handler
	}{
		{Tool{Name: "add", Description: "Adds two numbers.", InputSchema: json.RawMessage(addSchema)}, Typed(add)},
		{Tool{Name: "boom", Description: "Always fails.", InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(context.Context, *Call) (*Result, error) { return nil, errors.New("city not found") }},
	} {
		if err := s.AddTool(tool.tool, tool.handler); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// answer is the line that answers a line, over a connection of its own; "" where there is none.
func answer(t *testing.T, s *Server, line string) string {
	t.Helper()
	return strings.Join(talk(t, s, line), "\n")
}

func TestPage(t *testing.T) {
	is := func(t *testing.T, got, want string) {
		t.Helper()
		if want = expand(want); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	const pageTools = `"tools":[{"name":"add","description":"Adds two numbers.","inputSchema":` + addSchema + `},` +
		`{"name":"boom","description":"Always fails.","inputSchema":{"type":"object"}}]`

	t.Run("JSON-RPC 2.0", func(t *testing.T) {
		s := pageServer(t)
		t.Run("a request and its response", func(t *testing.T) {
			is(t, answer(t, s, `{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {META}}`),
				`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete",`+pageTools+`,"ttlMs":300000,"cacheScope":"public",INFO}}`)
		})
		t.Run("a notification: nobody answers it", func(t *testing.T) {
			is(t, answer(t, s, `{"jsonrpc": "2.0", "method": "notifications/progress"}`), "")
		})
		t.Run("an error response", func(t *testing.T) {
			is(t, answer(t, s, `{"jsonrpc": "2.0", "id": 1, "method": "tools/listen", "params": {META}}`),
				`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`)
		})
		t.Run("both a result and an error", func(t *testing.T) {
			is(t, answer(t, s, `{"jsonrpc": "2.0", "id": 1, "result": {}, "error": {"code": -32601, "message": "Method not found"}}`),
				`{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request: both result and error"}}`)
		})
		t.Run("with id true", func(t *testing.T) {
			is(t, answer(t, s, `{"jsonrpc": "2.0", "id": true, "method": "tools/list", "params": {META}}`),
				`{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request: id must be a string or an integer"}}`)
		})
		t.Run("the codes", func(t *testing.T) {
			for code, want := range map[int]int{
				CodeParseError: -32700, CodeInvalidRequest: -32600, CodeMethodNotFound: -32601, CodeInvalidParams: -32602,
				CodeInternalError: -32603, CodeUnsupportedProtocolVersion: -32022,
			} {
				if code != want {
					t.Errorf("%d, want %d", code, want)
				}
			}
		})
		t.Run("batches are gone", func(t *testing.T) {
			is(t, answer(t, s, `[{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {META}}]`),
				`{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request: a batch; send one message a line"}}`)
		})
	})

	t.Run("Transport: stdio", func(t *testing.T) {
		t.Run("a message whose text has a line break is one line", func(t *testing.T) {
			message, err := json.Marshal(map[string]any{"id": 1, "a": "line1\nline2"})
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := NewWriter(&out).WriteFrame(message); err != nil {
				t.Fatal(err)
			}
			is(t, out.String(), `{"a":"line1\nline2","id":1}`+"\n")
		})
		t.Run("half a message waits for its other half", func(t *testing.T) {
			r := NewReader(io.MultiReader(strings.NewReader("{\"id\":1}\n{\"id\""), strings.NewReader(":2}\n{\"id\":3}\n")), DefaultMaxMessage)
			for _, want := range []string{`{"id":1}`, `{"id":2}`, `{"id":3}`} {
				line, err := r.ReadFrame()
				if err != nil {
					t.Fatal(err)
				}
				is(t, string(line), want)
			}
			if _, err := r.ReadFrame(); err != io.EOF {
				t.Errorf("after them: %v", err)
			}
		})
		t.Run("a line that is not JSON is reported, and the reader lives on", func(t *testing.T) {
			compare(t, talk(t, pageServer(t), `{"id":1`, `{"jsonrpc":"2.0","id":2,"method":"server/discover","params":{META}}`), []string{
				`{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error: not JSON, at byte 7: want a comma or the end of the object"}}`,
				discovered("2"),
			})
		})
	})

	t.Run("A stateless protocol", func(t *testing.T) {
		s := pageServer(t)
		const list = `{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {`
		t.Run("version and capabilities: it may proceed", func(t *testing.T) {
			is(t, answer(t, s, list+`"MCP/protocolVersion": "2026-07-28", "MCP/clientCapabilities": {}}}}`),
				`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete",`+pageTools+`,"ttlMs":300000,"cacheScope":"public",INFO}}`)
		})
		t.Run("clientInfo is recommended", func(t *testing.T) {
			is(t, answer(t, s, list+`"MCP/protocolVersion": "2026-07-28", "MCP/clientCapabilities": {}, "MCP/clientInfo": {"name": "host", "version": "1"}}}}`),
				`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete",`+pageTools+`,"ttlMs":300000,"cacheScope":"public",INFO}}`)
		})
		t.Run("no capabilities", func(t *testing.T) {
			is(t, answer(t, s, list+`"MCP/protocolVersion": "2026-07-28"}}}`),
				`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Missing required _meta field: io.modelcontextprotocol/clientCapabilities","data":{"supported":["2026-07-28"]}}}`)
		})
		t.Run("another version", func(t *testing.T) {
			is(t, answer(t, s, list+`"MCP/protocolVersion": "2025-01-01", "MCP/clientCapabilities": {}}}}`),
				`{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"2025-01-01"}}}`)
		})
		t.Run("nothing is remembered from one request to the next", func(t *testing.T) {
			compareSorted(t, talk(t, s,
				`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{META}}`, `{"jsonrpc":"2.0","id":2,"method":"server/discover","params":{}}`),
				expandAll([]string{discovered("1"), `{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Missing required _meta field: MCP/protocolVersion","data":{"supported":["2026-07-28"]}}}`}))
		})
		t.Run("server/discover", func(t *testing.T) {
			is(t, answer(t, s, `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{META}}`),
				`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"ttlMs":300000,"cacheScope":"public",INFO}}`)
		})
	})

	t.Run("Tools", func(t *testing.T) {
		s := pageServer(t)
		t.Run("tools/list", func(t *testing.T) {
			is(t, answer(t, s, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{META}}`),
				`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete",`+pageTools+`,"ttlMs":300000,"cacheScope":"public",INFO}}`)
		})
		t.Run("tools/call add with a=2, b=3", func(t *testing.T) {
			is(t, answer(t, s, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3},META}}`),
				`{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[{"type":"text","text":"5"}],"isError":false,INFO}}`)
		})
		t.Run("tools/call boom", func(t *testing.T) {
			is(t, answer(t, s, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"boom","arguments":{},META}}`),
				`{"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","content":[{"type":"text","text":"city not found"}],"isError":true,INFO}}`)
		})
		t.Run("tools/call nope", func(t *testing.T) {
			is(t, answer(t, s, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"nope","arguments":{},META}}`),
				`{"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"Unknown tool: nope"}}`)
		})
		t.Run("a notification", func(t *testing.T) {
			is(t, answer(t, s, `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"add","arguments":{"a":2,"b":3},META}}`), "")
		})
		t.Run("resources/list", func(t *testing.T) {
			is(t, answer(t, s, `{"jsonrpc":"2.0","id":5,"method":"resources/list","params":{META}}`),
				`{"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"Method not found"}}`)
		})
		t.Run("arguments with four problems", func(t *testing.T) {
			s := testServer(t, Options{})
			is(t, answer(t, s, `{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"get_weather","arguments":{"days": 2.5, "units": "k", "x": 1},META}}`),
				toolError("6", "Invalid arguments:\n"+
					"/location: missing, but required: expected a string\n"+
					"/days: expected an integer, got 2.5\n"+
					"/units: expected \"c\" or \"f\", got \"k\"\n"+
					"/x: not expected; known are location, days, units"))
		})
		t.Run("and without them", func(t *testing.T) {
			s := testServer(t, Options{})
			is(t, answer(t, s, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"get_weather","arguments":{"location": "Oslo", "days": 2, "units": "c"},META}}`),
				textResult("7", "fair"))
		})
	})
}
