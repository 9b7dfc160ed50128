package mcp

// mcp_test.go: first what all tests share: a server to test, a link to it, and the shapes of the messages that it may
// write, which every line that comes through a link is held against. Then the messages: what a line is, and its answer.
//
// Lines are written out as they are on the wire, with these abbreviations: META is the member _meta of a request, INFO
// that of a result, MCP/ the prefix of the keys that the specification reserves. The sign § marks a byte; it is taken out,
// and BYTE in the answer is its offset.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

const (
	standardMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	standardInfo = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1.0.0"}}`
)

var abbreviations = strings.NewReplacer("META", standardMeta, "INFO", standardInfo, "MCP/", "io.modelcontextprotocol/")

func expand(line string) string { return abbreviations.Replace(line) }

func expandAll(lines []string) (all []string) {
	for _, line := range lines {
		all = append(all, expand(line))
	}
	return all
}

// requestOf, toolCall and cancelOf are lines that a client sends; textResult, toolError and failure are answers.
func requestOf(id, method, params string) string {
	if params != "" {
		params += ","
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + params + standardMeta + `}}`
}

func toolCall(id, tool, arguments string) string {
	return requestOf(id, "tools/call", `"name":"`+tool+`","arguments":`+arguments)
}

func cancelOf(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
}

func success(id, result string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`
}

func textResult(id, text string) string { return content(id, text, false) }
func toolError(id, text string) string  { return content(id, text, true) }

func content(id, text string, isError bool) string {
	return success(id, `{"resultType":"complete","content":[{"type":"text","text":`+quote(text)+`}],"isError":`+
		strconv.FormatBool(isError)+`,`+standardInfo+`}`)
}

// failure is an error without an id member where id is empty, and without data where there is none.
func failure(id string, code int, message string, data ...string) string {
	if id != "" {
		id = `,"id":` + id
	}
	if len(data) > 0 {
		data[0] = `,"data":` + data[0]
	}
	return `{"jsonrpc":"2.0"` + id + `,"error":{"code":` + strconv.Itoa(code) + `,"message":` + quote(message) +
		strings.Join(data, "") + `}}`
}

const supportedData = `{"supported":["2026-07-28"]}`

func discovered(id string) string {
	return success(id, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},`+
		`"ttlMs":300000,"cacheScope":"public",`+standardInfo+`}`)
}

// quote writes a JSON string as the server does where there is nothing unusual in it.
func quote(text string) string {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(buf.String(), "\n")
}

// marked takes § out of a line and gives its offset.
func marked(line string) (string, int) {
	at := strings.Index(line, "§")
	return strings.Replace(line, "§", "", 1), at
}

// testServer is a server with the tools that most tests call.
func testServer(t testing.TB, options Options) *Server {
	s := emptyServer(options)
	for _, tool := range []struct {
		tool    Tool
		handler Handler
	}{
		{Tool{Name: "add", Description: "Adds.", InputSchema: json.RawMessage(addSchema)}, Typed(add)},
		{Tool{Name: "boom", InputSchema: json.RawMessage(`{"type":"object"}`)}, boom},
		{Tool{Name: "echo", InputSchema: json.RawMessage(echoSchema)}, echo},
		{Tool{Name: "get_weather", InputSchema: json.RawMessage(weatherSchema)}, weather},
		{Tool{Name: "sleep", InputSchema: json.RawMessage(sleepSchema)}, Typed(sleep)},
	} {
		if err := s.AddTool(tool.tool, tool.handler); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// emptyServer is a server without tools and, unless the options have one, without a log.
func emptyServer(options Options) *Server {
	if options.Log == nil {
		options.Log = log.New(io.Discard, "", 0)
	}
	return NewServer(Implementation{Name: "test", Version: "1.0.0"}, options)
}

// withTool adds a tool that takes any arguments.
func withTool(t testing.TB, s *Server, name string, handler Handler) *Server {
	t.Helper()
	if err := s.AddTool(Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, handler); err != nil {
		t.Fatal(err)
	}
	return s
}

const (
	addSchema     = `{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}`
	echoSchema    = `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`
	weatherSchema = `{"type":"object","properties":{"location":{"type":"string"},"days":{"type":"integer"},` +
		`"units":{"enum":["c","f"]}},"required":["location"],"additionalProperties":false}`
	sleepSchema = `{"type":"object","properties":{"ms":{"type":"integer"},"steps":{"type":"integer"}},"required":["ms"]}`
)

func add(ctx context.Context, call *Call, in struct{ A, B json.Number }) (*Result, error) {
	a, errA := in.A.Float64()
	b, errB := in.B.Float64()
	if err := errors.Join(errA, errB); err != nil {
		return nil, err
	}
	return Text(strconv.FormatFloat(a+b, 'f', -1, 64)), nil
}

func boom(context.Context, *Call) (*Result, error) { return nil, errors.New("city not found") }

func echo(ctx context.Context, call *Call) (*Result, error) {
	return &Result{RawText: call.Argument("text")}, nil
}

func weather(context.Context, *Call) (*Result, error) { return Text("fair"), nil }

// sleep waits ms milliseconds, in steps that it reports.
func sleep(ctx context.Context, call *Call, in struct{ Ms, Steps int }) (*Result, error) {
	steps := max(1, in.Steps)
	for step := range steps {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Duration(in.Ms) * time.Millisecond / time.Duration(steps)):
			call.Progress(float64(step+1), float64(steps), "")
		}
	}
	return Text(fmt.Sprintf("slept %d ms", in.Ms)), nil
}

// hold waits for the end of its context.
func hold(ctx context.Context, call *Call) (*Result, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// shapes are the messages that a server may write, in our own words: the schema's JSONRPCResultResponse,
// JSONRPCErrorResponse, and the notifications and results that a server with tools has a use for. What the schema leaves
// open for later revisions is closed here, since the server is of this one.
const shapes = `{
	"id": {"type": ["string", "integer"]},
	"version": {"const": "2.0"},
	"strings": {"type": "array", "items": {"type": "string"}},
	"implementation": {"type": "object", "additionalProperties": false, "required": ["name", "version"], "properties": {
		"name": {"type": "string"}, "version": {"type": "string"}, "title": {"type": "string"},
		"description": {"type": "string"}, "websiteUrl": {"type": "string"}}},
	"resultMeta": {"type": "object", "required": ["io.modelcontextprotocol/serverInfo"], "properties": {
		"io.modelcontextprotocol/serverInfo": {"$ref": "#/$defs/implementation"}}},

	"answer": {"oneOf": [{"$ref": "#/$defs/success"}, {"$ref": "#/$defs/error"}]},
	"success": {"type": "object", "additionalProperties": false, "required": ["jsonrpc", "id", "result"], "properties": {
		"jsonrpc": {"$ref": "#/$defs/version"}, "id": {"$ref": "#/$defs/id"},
		"result": {"type": "object", "required": ["resultType", "_meta"], "properties": {
			"resultType": {"enum": ["complete", "input_required"]}, "_meta": {"$ref": "#/$defs/resultMeta"}}}}},
	"error": {"type": "object", "additionalProperties": false, "required": ["jsonrpc", "error"], "properties": {
		"jsonrpc": {"$ref": "#/$defs/version"}, "id": {"$ref": "#/$defs/id"},
		"error": {"type": "object", "additionalProperties": false, "required": ["code", "message"], "properties": {
			"code": {"anyOf": [
				{"enum": [-32700, -32600, -32601, -32602, -32603, -32021, -32022]},
				{"type": "integer", "not": {"minimum": -32768, "maximum": -32000}}]},
			"message": {"type": "string", "minLength": 1}, "data": true},
			"allOf": [
				{"if": {"properties": {"code": {"const": -32021}}}, "then": {"required": ["data"], "properties": {"data": {
					"type": "object", "additionalProperties": false, "required": ["requiredCapabilities"],
					"properties": {"requiredCapabilities": {"$ref": "#/$defs/clientCapabilities"}}}}}},
				{"if": {"properties": {"code": {"const": -32022}}}, "then": {"required": ["data"], "properties": {"data": {
					"type": "object", "additionalProperties": false, "required": ["supported", "requested"],
					"properties": {"supported": {"$ref": "#/$defs/strings"}, "requested": {"type": "string"}}}}}}]}}},
	"clientCapabilities": {"type": "object", "additionalProperties": false, "minProperties": 1, "properties": {
		"elicitation": {"type": "object", "additionalProperties": false, "properties": {
			"form": {"type": "object"}, "url": {"type": "object"}}},
		"sampling": {"type": "object", "additionalProperties": false, "properties": {
			"tools": {"type": "object"}, "context": {"type": "object"}}},
		"roots": {"type": "object"}}},

	"cached": {"type": "object", "required": ["ttlMs", "cacheScope"], "properties": {
		"ttlMs": {"type": "integer", "minimum": 0}, "cacheScope": {"enum": ["public", "private"]}}},
	"server/discover": {"$ref": "#/$defs/cached", "additionalProperties": false,
		"required": ["resultType", "supportedVersions", "capabilities"], "properties": {
			"resultType": {"const": "complete"}, "_meta": true, "ttlMs": true, "cacheScope": true,
			"supportedVersions": {"$ref": "#/$defs/strings", "minItems": 1},
			"capabilities": {"type": "object", "additionalProperties": false, "properties": {"tools": {
				"type": "object", "additionalProperties": false, "properties": {"listChanged": {"type": "boolean"}}}}},
			"instructions": {"type": "string"}}},
	"tools/list": {"$ref": "#/$defs/cached", "additionalProperties": false, "required": ["resultType", "tools"], "properties": {
		"resultType": {"const": "complete"}, "_meta": true, "ttlMs": true, "cacheScope": true,
		"nextCursor": {"type": "string"}, "tools": {"type": "array", "items": {"$ref": "#/$defs/tool"}}}},
	"tool": {"type": "object", "additionalProperties": false, "required": ["name", "inputSchema"], "properties": {
		"name": {"type": "string", "pattern": "^[A-Za-z0-9_.-]{1,128}$"},
		"title": {"type": "string"}, "description": {"type": "string"},
		"inputSchema": {"type": "object", "required": ["type"], "properties": {"type": {"const": "object"}}},
		"outputSchema": {"type": "object"},
		"annotations": {"type": "object", "properties": {
			"title": {"type": "string"}, "readOnlyHint": {"type": "boolean"}, "destructiveHint": {"type": "boolean"},
			"idempotentHint": {"type": "boolean"}, "openWorldHint": {"type": "boolean"}}},
		"icons": {"$ref": "#/$defs/icons"}, "_meta": {"type": "object"}}},
	"icons": {"type": "array", "items": {"type": "object", "required": ["src"], "properties": {
		"src": {"type": "string"}, "mimeType": {"type": "string"}, "sizes": {"$ref": "#/$defs/strings"},
		"theme": {"enum": ["dark", "light"]}}}},

	"tools/call": {"if": {"properties": {"resultType": {"const": "input_required"}}},
		"then": {"$ref": "#/$defs/inputRequired"}, "else": {"$ref": "#/$defs/callResult"}},
	"callResult": {"type": "object", "additionalProperties": false, "required": ["content", "isError"], "properties": {
		"resultType": {"const": "complete"}, "_meta": true, "structuredContent": true, "isError": {"type": "boolean"},
		"content": {"type": "array", "items": {"$ref": "#/$defs/content"}}}},
	"content": {"type": "object", "required": ["type"],
		"properties": {"annotations": {"$ref": "#/$defs/annotations"}, "_meta": {"type": "object"}},
		"oneOf": [
			{"additionalProperties": false, "required": ["text"], "properties": {
				"type": {"const": "text"}, "text": {"type": "string"}, "annotations": true, "_meta": true}},
			{"additionalProperties": false, "required": ["data", "mimeType"], "properties": {
				"type": {"enum": ["image", "audio"]}, "data": {"$ref": "#/$defs/base64"}, "mimeType": {"type": "string"},
				"annotations": true, "_meta": true}},
			{"additionalProperties": false, "required": ["uri", "name"], "properties": {
				"type": {"const": "resource_link"}, "uri": {"type": "string"}, "name": {"type": "string"},
				"title": {"type": "string"}, "description": {"type": "string"}, "mimeType": {"type": "string"},
				"size": {"type": "integer"}, "icons": {"$ref": "#/$defs/icons"}, "annotations": true, "_meta": true}},
			{"additionalProperties": false, "required": ["resource"], "properties": {
				"type": {"const": "resource"}, "resource": {"$ref": "#/$defs/resource"}, "annotations": true, "_meta": true}}]},
	"base64": {"type": "string", "pattern": "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"},
	"annotations": {"type": "object", "properties": {
		"audience": {"type": "array", "items": {"enum": ["user", "assistant"]}},
		"priority": {"type": "number", "minimum": 0, "maximum": 1}, "lastModified": {"type": "string"}}},
	"resource": {"type": "object", "required": ["uri"], "additionalProperties": false,
		"oneOf": [{"required": ["text"]}, {"required": ["blob"]}], "properties": {
			"uri": {"type": "string"}, "mimeType": {"type": "string"}, "text": {"type": "string"},
			"blob": {"$ref": "#/$defs/base64"}, "_meta": {"type": "object"}}},

	"inputRequired": {"type": "object", "additionalProperties": false,
		"anyOf": [{"required": ["inputRequests"]}, {"required": ["requestState"]}], "properties": {
			"resultType": true, "_meta": true, "requestState": {"type": "string"},
			"inputRequests": {"type": "object", "additionalProperties": {"oneOf": [
				{"$ref": "#/$defs/elicitForm"}, {"$ref": "#/$defs/elicitURL"}, {"$ref": "#/$defs/createMessage"},
				{"$ref": "#/$defs/listRoots"}]}}}},
	"elicitForm": {"type": "object", "additionalProperties": false, "required": ["method", "params"], "properties": {
		"method": {"const": "elicitation/create"}, "params": {
			"type": "object", "required": ["message", "requestedSchema"], "properties": {
				"mode": {"const": "form"}, "message": {"type": "string"}, "requestedSchema": {
					"type": "object", "required": ["type", "properties"], "additionalProperties": false, "properties": {
						"$schema": {"type": "string"}, "type": {"const": "object"}, "required": {"$ref": "#/$defs/strings"},
						"properties": {"type": "object", "additionalProperties": {"type": "object", "required": ["type"],
							"properties": {"type": {"enum": ["string", "number", "integer", "boolean", "array"]}}}}}}}}}},
	"elicitURL": {"type": "object", "additionalProperties": false, "required": ["method", "params"], "properties": {
		"method": {"const": "elicitation/create"}, "params": {
			"type": "object", "required": ["mode", "message", "url"], "properties": {
				"mode": {"const": "url"}, "message": {"type": "string"}, "url": {"type": "string"}}}}},
	"createMessage": {"type": "object", "additionalProperties": false, "required": ["method", "params"], "properties": {
		"method": {"const": "sampling/createMessage"}, "params": {
			"type": "object", "required": ["messages", "maxTokens"], "properties": {
				"messages": {"type": "array", "items": {"type": "object"}}, "maxTokens": {"type": "integer"}}}}},
	"listRoots": {"type": "object", "additionalProperties": false, "required": ["method"], "properties": {
		"method": {"const": "roots/list"}, "params": {"type": "object"}}},

	"subscriptions/listen": {"type": "object", "additionalProperties": false, "properties": {
		"resultType": {"const": "complete"}, "_meta": {"$ref": "#/$defs/subscription"}}},
	"subscription": {"type": "object", "required": ["io.modelcontextprotocol/subscriptionId"], "properties": {
		"io.modelcontextprotocol/subscriptionId": {"$ref": "#/$defs/id"}}},

	"notification": {"type": "object", "additionalProperties": false, "required": ["jsonrpc", "method", "params"], "properties": {
		"jsonrpc": {"$ref": "#/$defs/version"}, "method": true, "params": {"type": "object"}}},
	"notifications/progress": {"$ref": "#/$defs/notification", "properties": {"params": {
		"required": ["progressToken", "progress"], "additionalProperties": false, "properties": {
			"progressToken": {"$ref": "#/$defs/id"}, "progress": {"type": "number"}, "total": {"type": "number"},
			"message": {"type": "string"}}}}},
	"notifications/subscriptions/acknowledged": {"$ref": "#/$defs/notification", "properties": {"params": {
		"required": ["_meta", "notifications"], "additionalProperties": false, "properties": {
			"_meta": {"$ref": "#/$defs/subscription"}, "notifications": {"type": "object", "additionalProperties": false,
				"properties": {"toolsListChanged": {"const": true}}}}}}},
	"notifications/tools/list_changed": {"$ref": "#/$defs/notification", "properties": {"params": {
		"required": ["_meta"], "additionalProperties": false, "properties": {"_meta": {"$ref": "#/$defs/subscription"}}}}},
	"notifications/cancelled": {"$ref": "#/$defs/notification", "properties": {"params": {
		"required": ["_meta", "requestId"], "additionalProperties": false, "properties": {
			"requestId": {"$ref": "#/$defs/id"}, "_meta": {"$ref": "#/$defs/subscription"}}}}}
}`

// shapeSchemas are the shapes, each compiled, by name.
var shapeSchemas = sync.OnceValue(func() map[string]*Schema {
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(shapes), &all); err != nil {
		panic(err)
	}
	compiled := make(map[string]*Schema)
	for name := range all {
		pointer := strings.ReplaceAll(name, "/", "~1")
		schema, err := CompileSchema([]byte(`{"$ref":"#/$defs/` + pointer + `","$defs":` + shapes + `}`))
		if err != nil {
			panic(name + ": " + err.Error())
		}
		compiled[name] = schema
	}
	return compiled
})

// A conversation holds what the server writes against the shapes, and against what the client has sent before: an id or
// a token comes back byte for byte or not at all, and a result fits the method that it answers.
type conversation struct {
	mu      sync.Mutex
	methods map[string][]string // sent under an id
	tokens  map[string]bool
}

// sent notes a line of the client's, as far as it can be read.
func (c *conversation) sent(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.methods == nil {
		c.methods, c.tokens = make(map[string][]string), make(map[string]bool)
	}
	var message, params, meta map[string]json.RawMessage
	var method string
	json.Unmarshal([]byte(strings.TrimPrefix(line, byteOrderMark)), &message)
	json.Unmarshal(message["method"], &method)
	json.Unmarshal(message["params"], &params)
	json.Unmarshal(params["_meta"], &meta)
	if id := string(message["id"]); !slices.Contains(c.methods[id], method) {
		c.methods[id] = append(c.methods[id], method)
	}
	c.tokens[string(meta["progressToken"])] = true
}

// problem says what is wrong with a line of the server's, if anything is.
func (c *conversation) problem(line string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !utf8.ValidString(line) || !json.Valid([]byte(line)) || strings.ContainsAny(line, "\n\r") {
		return errors.New("not JSON on one line")
	}
	var message, params, meta map[string]json.RawMessage
	var method string
	json.Unmarshal([]byte(line), &message)
	json.Unmarshal(message["method"], &method)
	json.Unmarshal(message["params"], &params)
	json.Unmarshal(params["_meta"], &meta)
	id, hasID := message["id"]
	methods, known := c.methods[string(id)]
	schemas := shapeSchemas()
	switch {
	case message["method"] != nil && schemas[method] == nil:
		return fmt.Errorf("no notification of a server's: %s", method)
	case message["method"] != nil:
		subscription, token := meta[MetaSubscriptionID], params["progressToken"]
		if subscription != nil && !slices.Contains(c.methods[string(subscription)], "subscriptions/listen") {
			return fmt.Errorf("nobody subscribed as %s", subscription)
		}
		if token != nil && !c.tokens[string(token)] {
			return fmt.Errorf("nobody asked for progress as %s", token)
		}
		return schemas[method].Validate([]byte(line))
	case hasID && !known:
		return fmt.Errorf("nobody asked as %s", id)
	case message["result"] == nil:
		return schemas["error"].Validate([]byte(line))
	}
	err := schemas["answer"].Validate([]byte(line))
	for _, method := range methods {
		if schema := schemas[method]; err == nil && schema != nil && schema.Validate(message["result"]) == nil {
			return nil
		}
	}
	return fmt.Errorf("not the result of any of %q (%v)", methods, err)
}

// A link is a connection to a server that Serve serves. The lines of the server come in at any time, and are kept with
// their times until a test takes them.
type link struct {
	t      testing.TB
	talk   conversation
	in     io.WriteCloser // to the server
	out    io.ReadCloser  // from the server
	stop   context.CancelFunc
	served chan error
	over   chan struct{} // closed when all has been read; nil where nobody reads

	mu    sync.Mutex
	lines []received
	more  chan struct{}
}

type received struct {
	line string
	at   time.Time
}

// patience is how long a test waits for what has to come.
const patience = 30 * time.Second

// dial starts a server on two pipes of the operating system.
func dial(t testing.TB, s *Server) *link {
	t.Helper()
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { inR.Close() })
	l := connect(t, s, context.Background(), inR, inW, outR, outW)
	l.read()
	return l
}

// dialInside starts a server on two pipes without a buffer, for use inside a bubble of synctest.
func dialInside(t testing.TB, s *Server, ctx context.Context) *link {
	t.Helper()
	l := dialSilent(t, s, ctx)
	l.read()
	return l
}

// dialSilent is dialInside, but the client does not read until the test calls read.
func dialSilent(t testing.TB, s *Server, ctx context.Context) *link {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	return connect(t, s, ctx, inR, inW, outR, outW)
}

func connect(t testing.TB, s *Server, ctx context.Context, r io.ReadCloser, in io.WriteCloser, out io.ReadCloser, w io.WriteCloser) *link {
	ctx, stop := context.WithCancel(ctx)
	l := &link{
		t: t, in: in, out: out, stop: stop,
		served: make(chan error, 1), more: make(chan struct{}, 1),
	}
	go func() {
		err := s.Serve(ctx, r, w)
		w.Close()
		l.served <- err
	}()
	t.Cleanup(func() { // a test that has failed leaves nothing behind
		stop()
		in.Close()
		out.Close()
		if l.over != nil {
			<-l.over
		}
	})
	return l
}

// read starts to read what the server writes.
func (l *link) read() {
	l.over = make(chan struct{})
	go l.listen()
}

func (l *link) listen() {
	defer close(l.over)
	lines := bufio.NewReaderSize(l.out, 1<<16)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			if line != "" && err == io.EOF { // else the test has closed the pipe, maybe within a line
				l.t.Errorf("the last line has no newline: %.200q", line)
			}
			return
		}
		line = strings.TrimSuffix(line, "\n")
		if problem := l.talk.problem(line); problem != nil {
			l.t.Errorf("a message of no shape: %v\n%.1000s", problem, line)
		}
		l.mu.Lock()
		l.lines = append(l.lines, received{line, time.Now()})
		l.mu.Unlock()
		select {
		case l.more <- struct{}{}:
		default:
		}
	}
}

// send writes lines in one piece, each with its newline.
func (l *link) send(lines ...string) {
	l.t.Helper()
	lines = expandAll(lines)
	for _, line := range lines {
		l.talk.sent(line)
	}
	if _, err := io.WriteString(l.in, strings.Join(lines, "\n")+"\n"); err != nil {
		l.t.Errorf("the server does not read: %v", err)
	}
}

// take gives the lines that have come since it was asked last.
func (l *link) take() (lines []string) {
	for _, r := range l.takeTimed() {
		lines = append(lines, r.line)
	}
	return lines
}

func (l *link) takeTimed() []received {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

// next waits for the next line; it is empty where there will be none.
func (l *link) next() string {
	l.t.Helper()
	timeout := time.After(patience)
	for {
		l.mu.Lock()
		if len(l.lines) > 0 {
			line := l.lines[0].line
			l.lines = l.lines[1:]
			l.mu.Unlock()
			return line
		}
		l.mu.Unlock()
		select {
		case <-l.more:
		case <-timeout:
			l.t.Fatal("no line came")
		case <-l.over:
			select {
			case <-l.more: // the last ones
			default:
				return ""
			}
		}
	}
}

// want says that these lines come next.
func (l *link) want(lines ...string) {
	l.t.Helper()
	for _, want := range expandAll(lines) {
		if got := l.next(); got != want {
			l.t.Errorf("got  %.2000s\nwant %.2000s", got, want)
		}
	}
}

// settle lets the time of a bubble pass, until nobody has anything to do, or longer, and says that these lines have come
// by then and no others.
func (l *link) settle(wait time.Duration, lines ...string) {
	l.t.Helper()
	compare(l.t, l.takeAfter(wait), expandAll(lines))
}

// settleSorted is settle for lines of which the order is left open.
func (l *link) settleSorted(wait time.Duration, lines ...string) {
	l.t.Helper()
	compareSorted(l.t, l.takeAfter(wait), expandAll(lines))
}

func (l *link) takeAfter(wait time.Duration) []string {
	time.Sleep(max(wait, 2*handOver)) // so that a call that blocks has handed over the reading
	synctest.Wait()
	return l.take()
}

// end ends the input, waits for Serve, which has to return without an error, and gives the lines that were left.
func (l *link) end() []string {
	l.t.Helper()
	l.in.Close()
	if err := l.wait(); err != nil {
		l.t.Errorf("Serve returned %v", err)
	}
	return l.take()
}

// wait waits for Serve and for the last line.
func (l *link) wait() error {
	l.t.Helper()
	timeout := time.After(patience)
	var err error
	select {
	case err = <-l.served:
	case <-timeout:
		l.t.Fatal("Serve does not return")
	}
	select {
	case <-l.over:
	case <-timeout:
		l.t.Fatal("the output does not end")
	}
	return err
}

func compare(t testing.TB, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) { // the diff is of one text, which is shown line by line
		t.Errorf("wrong lines (- missing, + unexpected):\n%.4000s", cmp.Diff(strings.Join(want, "\n"), strings.Join(got, "\n")))
	}
}

// compareSorted compares lines that may come in any order.
func compareSorted(t testing.TB, got, want []string) {
	t.Helper()
	compare(t, slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want)))
}

// talk sends lines over a connection of their own, ends the input, and gives the lines of the server.
func talk(t testing.TB, s *Server, lines ...string) []string {
	t.Helper()
	var all strings.Builder
	for _, line := range expandAll(lines) {
		all.WriteString(line + "\n")
	}
	return talkRaw(t, s, all.String())
}

// talkRaw is talk with bytes as they are.
func talkRaw(t testing.TB, s *Server, input string) []string {
	t.Helper()
	l := dial(t, s)
	for line := range strings.Lines(input) {
		l.talk.sent(line)
	}
	go func() {
		io.WriteString(l.in, input)
		l.in.Close()
	}()
	if err := l.wait(); err != nil {
		t.Errorf("Serve returned %v", err)
	}
	return l.take()
}

// ask has one message answered by HandleMessage.
func ask(t testing.TB, s *Server, line string) string {
	t.Helper()
	return askWith(t, context.Background(), s, line, nil)
}

func askWith(t testing.TB, ctx context.Context, s *Server, line string, notify func(string)) string {
	t.Helper()
	var c conversation
	line = expand(line)
	c.sent(line)
	check := func(message []byte) {
		if problem := c.problem(string(message)); problem != nil {
			t.Errorf("a message of no shape: %v\n%.1000s", problem, message)
		}
	}
	answer := s.HandleMessage(ctx, []byte(line), func(message []byte) {
		check(message)
		if notify != nil {
			notify(string(message))
		}
	})
	if answer == nil {
		return ""
	}
	check(answer)
	return string(answer)
}

// TestShapes: the shapes tell a good message from a bad one; a check that lets everything pass would show nothing.
func TestShapes(t *testing.T) {
	var c conversation
	for _, line := range []string{
		requestOf("1", "server/discover", ""), toolCall("2", "x", "{}"), requestOf("3", "tools/list", ""),
		requestOf("4", "subscriptions/listen", `"notifications":{}`), requestOf(`"5"`, "tools/call", `"_meta":{"progressToken":7}`),
		`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"_meta":{"progressToken":7}}}`,
	} {
		c.sent(line)
	}
	for _, row := range []struct {
		rule, line string
		good       bool
	}{
		{"discovery", discovered("1"), true},
		{"a text", textResult("2", "a"), true},
		{"an error without id", failure("", -32700, "x"), true},
		{"an error of a request", failure("2", -32602, "x"), true},
		{"an error of a tool's own", failure("2", 7, "x"), true},
		{"progress", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}`, true},
		{"the word on a subscription", `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"MCP/subscriptionId":4}}}`, true},
		{"a request for input", success("2", `{"resultType":"input_required","requestState":"s",INFO}`), true},
		{"no JSON", `{`, false},
		{"a null id", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`, false},
		{"an id that nobody sent", discovered("9"), false},
		{"the id in another form", discovered("1.0"), false},
		{"neither result nor error", `{"jsonrpc":"2.0","id":1}`, false},
		{"both", `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}`, false},
		{"another version", strings.Replace(discovered("1"), `"2.0"`, `"1.0"`, 1), false},
		{"the result of another method", discovered("2"), false},
		{"no resultType", `{"jsonrpc":"2.0","id":2,"result":{"content":[],"isError":false,INFO}}`, false},
		{"no serverInfo", `{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[],"isError":false,"_meta":{}}}`, false},
		{"content of no kind", success("2", `{"resultType":"complete","content":[{"type":"film"}],"isError":false,INFO}`), false},
		{"an image without data", success("2", `{"resultType":"complete","content":[{"type":"image","mimeType":"a/b"}],"isError":false,INFO}`), false},
		{"neither question nor state", success("2", `{"resultType":"input_required",INFO}`), false},
		{"no cache hints", success("3", `{"resultType":"complete","tools":[],INFO}`), false},
		{"the end of a subscription without its id", success("4", `{"resultType":"complete",INFO}`), false},
		{"a reserved code", failure("2", -32001, "x"), false},
		{"an unsupported version without data", failure("2", -32022, "x"), false},
		{"a request", `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`, false},
		{"a notification of no server's", `{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}`, false},
		{"progress for a token that nobody sent", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"7","progress":1}}`, false},
		{"a change for one who did not subscribe", `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"MCP/subscriptionId":1}}}`, false},
	} {
		t.Run(row.rule, func(t *testing.T) {
			if err := c.problem(expand(row.line)); (err == nil) != row.good {
				t.Errorf("good is %v, but: %v", row.good, err)
			}
		})
	}
}

// An exchange is a line and the line that answers it, or "".
type exchangeRow struct{ rule, in, out string }

// messageRows: what a line can be. The first rule that fits decides.
var messageRows = []exchangeRow{
	{"a word", `hello`, failure("", -32700, "Parse error: not JSON, at byte 0: want a value")},
	{"half a message", `{"jsonrpc":"2.0","id":1,`, failure("", -32700, "Parse error: not JSON, at byte 24: want a member name in quotes")},
	{"a comma too many", `{"jsonrpc":"2.0","id":1,§}`, failure("", -32700, "Parse error: not JSON, at byte BYTE: want a member name in quotes")},
	{"a name without quotes", `{§jsonrpc:"2.0"}`, failure("", -32700, "Parse error: not JSON, at byte BYTE: want a member name in quotes")},
	{"single quotes", `{§'jsonrpc':'2.0'}`, failure("", -32700, "Parse error: not JSON, at byte BYTE: want a member name in quotes")},
	{"no colon", `{"id"§ 1}`, failure("", -32700, "Parse error: not JSON, at byte 6: want a colon after the member name")},
	{"a leading zero", `{"id":0§1}`, failure("", -32700, "Parse error: not JSON, at byte BYTE: want a comma or the end of the object")},
	{"a bare decimal point", `{"id":1.§}`, failure("", -32700, "Parse error: not JSON, at byte BYTE: want a digit")},
	{"NaN", `{"id":§NaN}`, failure("", -32700, "Parse error: not JSON, at byte BYTE: want a value")},
	{"a control character in a string", "{\"id\":\"a§\tb\"}", failure("", -32700, "Parse error: not JSON, at byte BYTE: want an escape, not a control character")},
	{"no such escape", `{"id":"\§x"}`, failure("", -32700, `Parse error: not JSON, at byte BYTE: want one of " \ / b f n r t u after a backslash`)},
	{"an escape cut short", `{"id":"\u12§"}`, failure("", -32700, `Parse error: not JSON, at byte BYTE: want four hexadecimal digits after \u`)},
	{"a string without an end", `{"id":"a§`, failure("", -32700, "Parse error: not JSON, at byte BYTE: want the closing quote of a string")},
	{"two JSON texts", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{META}} §{}`, failure("", -32700, "Parse error: not JSON, at byte BYTE: want nothing after the first value")},
	{"two notifications on a line", `{"jsonrpc":"2.0","method":"a"}§{"jsonrpc":"2.0","method":"a"}`, failure("", -32700, "Parse error: not JSON, at byte BYTE: want nothing after the first value")},
	{"a NUL byte", "{\"id\":1§\x00}", failure("", -32700, "Parse error: not JSON, at byte BYTE: want a comma or the end of the object")},
	{"a byte that is not UTF-8", "{\"id\":\"a§\xffb\"}", failure("", -32700, "Parse error: not UTF-8, at byte BYTE")},
	{"a surrogate in UTF-8", "{\"id\":\"§\xed\xa0\x80\"}", failure("", -32700, "Parse error: not UTF-8, at byte BYTE")},
	{"a slash in two bytes", "{\"id\":\"§\xc0\xaf\"}", failure("", -32700, "Parse error: not UTF-8, at byte BYTE")},
	{"a character cut off", "{\"id\":\"§\xe2\x82\"}", failure("", -32700, "Parse error: not UTF-8, at byte BYTE")},
	{"a name that is not UTF-8", "{\"§\xff\":1}", failure("", -32700, "Parse error: not UTF-8, at byte BYTE")},
	{"a byte order mark later on", "\uFEFF{}", failure("", -32700, "Parse error: not JSON, at byte 0: want a value")},
	{"a notification that is not JSON", `{"jsonrpc":"2.0","method":"a"`, failure("", -32700, "Parse error: not JSON, at byte 29: want a comma or the end of the object")},

	{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{META}}]`, failure("", -32600, "Invalid Request: a batch; send one message a line")},
	{"an empty batch", `[]`, failure("", -32600, "Invalid Request: a batch; send one message a line")},
	{"a batch of notifications", `[{"jsonrpc":"2.0","method":"a"}]`, failure("", -32600, "Invalid Request: a batch; send one message a line")},
	{"a batch with a duplicate inside", `[{"id":1,"id":1}]`, failure("", -32600, "Invalid Request: a batch; send one message a line")},
	{"a number", `1`, failure("", -32600, "Invalid Request: not an object")},
	{"a string", ` "server/discover"`, failure("", -32600, "Invalid Request: not an object")},
	{"true", `true`, failure("", -32600, "Invalid Request: not an object")},
	{"null", `null`, failure("", -32600, "Invalid Request: not an object")},

	{"both result and error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, failure("", -32600, "Invalid Request: both result and error")},
	{"both, in a request", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{META},"result":{},"error":{}}`, failure("", -32600, "Invalid Request: both result and error")},
	{"both, in a notification", `{"jsonrpc":"2.0","method":"a","result":1,"error":null}`, failure("", -32600, "Invalid Request: both result and error")},

	{"a response", `{"jsonrpc":"2.0","id":1,"result":{}}`, ``},
	{"an error response", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`, ``},
	{"an error response without id", `{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}`, ``},
	{"a response of any kind", `{"result":null}`, ``},
	{"a response with a duplicate", `{"jsonrpc":"2.0","id":1,"id":1,"result":{}}`, ``},
	{"a response under an id that is none", `{"jsonrpc":"2.0","id":null,"result":{}}`, ``},

	{"a notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, ``},
	{"a notification with params", `{"jsonrpc":"2.0","method":"notifications/x","params":[1]}`, ``},
	{"a notification named like a request", `{"jsonrpc":"2.0","method":"server/discover","params":{META}}`, ``},
	{"a notification with no name", `{"jsonrpc":"2.0","method":""}`, ``},
	{"a notification with a duplicate", `{"jsonrpc":"2.0","method":"a","method":"b"}`, ``},
	{"a notification with a result", `{"jsonrpc":"2.0","method":"a","result":{}}`, ``},
	{"a notification written with escapes", `{"\u006asonrpc":"2\u002e0","\u006dethod":"a"}`, ``},

	{"an empty object", `{}`, failure("", -32600, `Invalid Request: jsonrpc must be "2.0"`)},
	{"no jsonrpc", `{"id":1,"method":"server/discover","params":{META}}`, failure("1", -32600, `Invalid Request: jsonrpc must be "2.0"`)},
	{"no jsonrpc and no id", `{"method":"server/discover"}`, failure("", -32600, `Invalid Request: jsonrpc must be "2.0"`)},
	{"jsonrpc 1.0", `{"jsonrpc":"1.0","id":"a","method":"server/discover","params":{META}}`, failure(`"a"`, -32600, `Invalid Request: jsonrpc must be "2.0"`)},
	{"jsonrpc a number", `{"jsonrpc":2.0,"id":1,"method":"server/discover","params":{META}}`, failure("1", -32600, `Invalid Request: jsonrpc must be "2.0"`)},
	{"jsonrpc an array with the number", `{"jsonrpc":[2.0],"id":1,"method":"server/discover","params":{META}}`, failure("1", -32600, `Invalid Request: jsonrpc must be "2.0"`)},
	{"jsonrpc a number with the digits inside", `{"jsonrpc":12.01,"id":1,"method":"server/discover","params":{META}}`, failure("1", -32600, `Invalid Request: jsonrpc must be "2.0"`)},
	{"jsonrpc null", `{"jsonrpc":null,"id":1,"method":"server/discover","params":{META}}`, failure("1", -32600, `Invalid Request: jsonrpc must be "2.0"`)},
	{"no method", `{"jsonrpc":"2.0","id":1}`, failure("1", -32600, "Invalid Request: method must be a string")},
	{"method a number", `{"jsonrpc":"2.0","id":1,"method":1}`, failure("1", -32600, "Invalid Request: method must be a string")},
	{"method null", `{"jsonrpc":"2.0","id":1,"method":null}`, failure("1", -32600, "Invalid Request: method must be a string")},
	{"method an object", `{"jsonrpc":"2.0","id":1,"method":{"method":"a"}}`, failure("1", -32600, "Invalid Request: method must be a string")},
	{"method not a string and a result", `{"jsonrpc":"2.0","id":1,"method":1,"result":{}}`, failure("1", -32600, "Invalid Request: method must be a string")},
	{"neither method nor id", `{"jsonrpc":"2.0"}`, failure("", -32600, "Invalid Request: method must be a string")},
	{"method a number and no id", `{"jsonrpc":"2.0","method":1}`, failure("", -32600, "Invalid Request: method must be a string")},
	{"id null", `{"jsonrpc":"2.0","id":null,"method":"server/discover","params":{META}}`, failure("", -32600, "Invalid Request: id must be a string or an integer")},
	{"id true", `{"jsonrpc":"2.0","id":true,"method":"server/discover","params":{META}}`, failure("", -32600, "Invalid Request: id must be a string or an integer")},
	{"id false", `{"jsonrpc":"2.0","id":false,"method":"server/discover","params":{META}}`, failure("", -32600, "Invalid Request: id must be a string or an integer")},
	{"id a fraction", `{"jsonrpc":"2.0","id":1.5,"method":"server/discover","params":{META}}`, failure("", -32600, "Invalid Request: id must be a string or an integer")},
	{"id a fraction by its exponent", `{"jsonrpc":"2.0","id":1e-1,"method":"server/discover","params":{META}}`, failure("", -32600, "Invalid Request: id must be a string or an integer")},
	{"id a fraction of a size beyond all", `{"jsonrpc":"2.0","id":1e-99999999999999999999,"method":"server/discover","params":{META}}`, failure("", -32600, "Invalid Request: id must be a string or an integer")},
	{"id an object", `{"jsonrpc":"2.0","id":{},"method":"server/discover","params":{META}}`, failure("", -32600, "Invalid Request: id must be a string or an integer")},
	{"id an array", `{"jsonrpc":"2.0","id":[1],"method":"server/discover","params":{META}}`, failure("", -32600, "Invalid Request: id must be a string or an integer")},
	{"id not valid and jsonrpc wrong", `{"jsonrpc":"3.0","id":null,"method":"server/discover"}`, failure("", -32600, `Invalid Request: jsonrpc must be "2.0"`)},
	{"id null in what would be a notification", `{"jsonrpc":"2.0","id":null,"method":"notifications/cancelled","params":{"requestId":1}}`, failure("", -32600, "Invalid Request: id must be a string or an integer")},

	{"a duplicate", `{"jsonrpc":"2.0","id":1,"method":"server/discover","x":1,"§x":1,"params":{META}}`, failure("1", -32600, "Invalid Request: a member name twice in one object, at byte BYTE")},
	{"two ids", `{"jsonrpc":"2.0","id":1,"§id":1,"method":"server/discover","params":{META}}`, failure("", -32600, "Invalid Request: a member name twice in one object, at byte BYTE")},
	{"two ids, one with escapes", `{"jsonrpc":"2.0","id":1,"§\u0069d":2,"method":"server/discover","params":{META}}`, failure("", -32600, "Invalid Request: a member name twice in one object, at byte BYTE")},
	{"two methods", `{"jsonrpc":"2.0","id":1,"method":"server/discover","§method":"tools/list","params":{META}}`, failure("1", -32600, "Invalid Request: a member name twice in one object, at byte BYTE")},
	{"a duplicate in params", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"a","§cursor":"a",META}}`, failure("1", -32600, "Invalid Request: a member name twice in one object, at byte BYTE")},
	{"a duplicate in _meta", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"MCP/protocolVersion":"1","§MCP/protocolVersion":"2026-07-28","MCP/clientCapabilities":{}}}}`, failure("1", -32600, "Invalid Request: a member name twice in one object, at byte BYTE")},
	{"a duplicate in the arguments", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a","§text":"b"},META}}`, failure("1", -32600, "Invalid Request: a member name twice in one object, at byte BYTE")},
	{"a duplicate in an unknown member", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{META},"x":[0,{"a":[{"b":1,"§b":2}]}]}`, failure("1", -32600, "Invalid Request: a member name twice in one object, at byte BYTE")},
	{"a duplicate among many", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{META},"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"§c":1,"l":1}`, failure("1", -32600, "Invalid Request: a member name twice in one object, at byte BYTE")},
	{"a duplicate by an escape", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{META},"x":{"é":1,"§\u00e9":1}}`, failure("1", -32600, "Invalid Request: a member name twice in one object, at byte BYTE")},
	{"a duplicate by a pair of escapes", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{META},"x":{"\ud83d\ude00":1,"§😀":1}}`, failure("1", -32600, "Invalid Request: a member name twice in one object, at byte BYTE")},
	{"a lone surrogate equals itself", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{META},"x":{"\ud800":1,"§\uD800":1}}`, failure("1", -32600, "Invalid Request: a member name twice in one object, at byte BYTE")},
	{"and no other surrogate", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{META},"x":{"\ud800":1,"\ud801":1,"\udc00":1,"\ufffd":1,"\udc00\ud800":1,"\ud800\udc00":1}}`, discovered("1")},
	{"the same name in two objects", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{META},"x":{"id":1,"x":[{"id":1},{"id":1}]}}`, discovered("1")},
	{"the same name in another case", `{"jsonrpc":"2.0","ID":2,"id":1,"Method":"x","method":"server/discover","params":{META},"Params":1}`, discovered("1")},
	{"a duplicate before jsonrpc that is wrong", `{"jsonrpc":"1.0","id":1,"x":1,"§x":1}`, failure("1", -32600, "Invalid Request: a member name twice in one object, at byte BYTE")},

	{"a request", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{META}}`, discovered("1")},
	{"a request with white space", " \t{ \"jsonrpc\" : \"2.0\" ,\"id\"\t:1, \"method\":\"server/discover\" ,\"params\":{ META } } \r", discovered("1")},
	{"a request in another order", `{"params":{META},"method":"server/discover","id":1,"jsonrpc":"2.0"}`, discovered("1")},
	{"a method that begins with an escape", `{"jsonrpc":"2.0","id":1,"method":"\u0073erver/discover","params":{META}}`, discovered("1")},
	{"a request written with escapes", `{"\u006asonrpc":"\u0032.0","\u0069d":1,"\u006dethod":"server\/d\u0069scover","p\u0061rams":{"_m\u0065ta":{"MCP/protocol\u0056ersion":"2026\u002d07-28","io.modelcontextprotocol\u002fclientCapabilities":{}}}}`, discovered("1")},
	{"a request with a result, which means nothing there", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{META},"result":{}}`, discovered("1")},
	{"unknown members of the message", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{META},"x":null,"":[{}],"sessionId":"a"}`, discovered("1")},
	{"unknown members of params", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"x":1,"cursor":7,"name":{},META}}`, discovered("1")},
	{"unknown members of _meta", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"MCP/protocolVersion":"2026-07-28","MCP/clientCapabilities":{"x":1},"MCP/x":1,"traceparent":"00-0","com.example/x":[1]}}}`, discovered("1")},
	{"_meta has a case", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{META,"_Meta":{},"_mETA":1}}`, discovered("1")},
	{"method names have a case", `{"jsonrpc":"2.0","id":1,"method":"Server/Discover","params":{META}}`, failure("1", -32601, "Method not found")},
	{"a method with no name", `{"jsonrpc":"2.0","id":1,"method":"","params":{META}}`, failure("1", -32601, "Method not found")},
	{"a cancellation as a request", `{"jsonrpc":"2.0","id":1,"method":"notifications/cancelled","params":{"requestId":1,META}}`, failure("1", -32601, "Method not found")},
}

// rows gives the lines of a row, with the abbreviations and the mark resolved.
func (r exchangeRow) lines() (in, out string) {
	in, at := marked(expand(r.in))
	return in, strings.ReplaceAll(expand(r.out), "BYTE", strconv.Itoa(at))
}

func TestMessages(t *testing.T) {
	s := testServer(t, Options{})
	var in, out []string
	for _, row := range messageRows {
		line, answer := row.lines()
		t.Run(row.rule, func(t *testing.T) {
			var want []string
			if answer != "" {
				want = []string{answer}
				out = append(out, answer)
			}
			compare(t, talk(t, s, "", line), want) // the blank line, so that no byte order mark is at the start
		})
		in = append(in, line)
	}
	t.Run("the server goes on after each", func(t *testing.T) {
		compareSorted(t, talk(t, s, append([]string{""}, in...)...), out)
	})
}

// TestHandleMessageAnswers: what Serve answers, HandleMessage answers.
func TestHandleMessageAnswers(t *testing.T) {
	s := testServer(t, Options{})
	for _, row := range slices.Concat(messageRows, orderRows) {
		t.Run(row.rule, func(t *testing.T) {
			line, want := row.lines()
			if got := ask(t, s, line); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
	t.Run("a blank line", func(t *testing.T) {
		if got := ask(t, s, " \t\r\n"); got != "" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("a message on several lines", func(t *testing.T) {
		if got := ask(t, s, "{\n\"jsonrpc\":\"2.0\",\n\"id\":1,\n\"method\":\"server/discover\",\"params\":{META}}\n"); got != discovered("1") {
			t.Errorf("got %s", got)
		}
	})
	t.Run("a message over the limit", func(t *testing.T) {
		short := testServer(t, Options{MaxMessage: 200})
		line := expand(requestOf("1", "server/discover", ""))
		line += strings.Repeat(" ", 200-len(line))
		if got := ask(t, short, line); got != discovered("1") {
			t.Errorf("at the limit: %s", got)
		}
		if got, want := ask(t, short, line+" "), failure("", -32600, "Invalid Request: longer than 200 bytes"); got != want {
			t.Errorf("one past it: %s", got)
		}
	})
}

// TestIDs: an id is a string or a number with an integer value, and comes back byte for byte.
func TestIDs(t *testing.T) {
	s := testServer(t, Options{})
	for _, id := range []string{
		`0`, `-0`, `1`, `-1`, `1.0`, `1e2`, `1E+2`, `10e-1`, `-0.0`, `0e-5`, `120.00e-1`, `9007199254740993`,
		`1234567890123456789012345678901234567890`, `1e400`, `1e99999999999999999999`, `0e-99999999999999999999`,
		`""`, `"1"`, `" "`, `"a\u0062"`, `"\/"`, `"/"`, `"\"\\\n"`, `"é"`, `"\u00e9"`, `"\ud800"`, `"\udc00\ud800"`, `"\ud83d\ude00"`,
		`"\u2028"`, "\"\u2028\u2029\"", `"<>&"`, "\"\u007f\"", `"` + strings.Repeat("x", 10_000) + `"`, "1" + strings.Repeat("0", 10_000),
	} {
		t.Run(fmt.Sprintf("%.40s", id), func(t *testing.T) {
			compare(t, talk(t, s, requestOf(id, "server/discover", "")), []string{discovered(id)})
			compare(t, talk(t, s, toolCall(id, "boom", "{}")), []string{toolError(id, "city not found")})
			compare(t, talk(t, s, requestOf(id, "x", "")), []string{failure(id, -32601, "Method not found")})
		})
	}
}

// TestIDsInFlight: an id is taken from its request until its answer, whatever it is spelt like. The first request goes on.
func TestIDsInFlight(t *testing.T) {
	const taken = "Invalid Request: the id is in flight already"
	for _, row := range []struct {
		first  string
		same   []string
		others []string
	}{
		{`1`, []string{`1`, `1.0`, `10e-1`, `0.1e1`, `1E0`}, []string{`"1"`, `-1`, `10`, `1e1`}},
		{`1e2`, []string{`100`, `100.0`}, []string{`"1e2"`, `12`}},
		{`0`, []string{`-0`, `0.0`, `0e9`}, []string{`"0"`, `""`}},
		{`12345678901234567890123456789`, []string{`12345678901234567890123456789.0`}, []string{`12345678901234567890123456788`}},
		{`"a"`, []string{`"a"`, `"\u0061"`}, []string{`"A"`, `"a "`}},
		{`"\ud800"`, []string{`"\uD800"`}, []string{`"\ufffd"`, `"\ud801"`, `"\\ud800"`}},
		{`"é"`, []string{`"\u00e9"`}, []string{`"e"`}},
	} {
		t.Run(row.first, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := testServer(t, Options{})
				l := dialInside(t, s, t.Context())
				l.send(toolCall(row.first, "sleep", `{"ms":100}`))
				l.settle(time.Millisecond)
				for _, id := range row.same {
					l.send(toolCall(id, "echo", `{"text":"a"}`))
					l.settle(time.Millisecond, failure(id, -32600, taken))
					l.send(requestOf(id, "server/discover", ""))
					l.settle(time.Millisecond, failure(id, -32600, taken))
				}
				for _, id := range row.others {
					l.send(toolCall(id, "echo", `{"text":"a"}`))
					l.settle(time.Millisecond, textResult(id, "a"))
				}
				l.settle(time.Second, textResult(row.first, "slept 100 ms"))
				for _, id := range row.same {
					l.send(toolCall(id, "echo", `{"text":"free again"}`))
					l.settle(time.Millisecond, textResult(id, "free again"))
				}
				compare(t, l.end(), nil)
			})
		})
	}
	t.Run("what comes first goes first: metadata and method of a second request are not looked at", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := dialInside(t, testServer(t, Options{}), t.Context())
			l.send(toolCall("1", "sleep", `{"ms":100}`))
			l.send(`{"jsonrpc":"2.0","id":1,"method":"x"}`)
			l.settle(time.Millisecond, failure("1", -32600, taken))
			l.settle(time.Second, textResult("1", "slept 100 ms"))
		})
	})
	t.Run("a subscription holds its id", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := dialInside(t, testServer(t, Options{}), t.Context())
			l.send(requestOf("1", "subscriptions/listen", `"notifications":{}`))
			l.settle(time.Millisecond, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"MCP/subscriptionId":1},"notifications":{}}}`)
			l.send(toolCall("1.0", "echo", `{"text":"a"}`))
			l.settle(time.Millisecond, failure("1.0", -32600, taken))
		})
	})
	t.Run("a call that waits for its turn holds its id", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := dialInside(t, testServer(t, Options{MaxRunning: 1}), t.Context())
			l.send(toolCall("1", "sleep", `{"ms":100}`), toolCall("2", "echo", `{"text":"a"}`), toolCall("2", "echo", `{"text":"b"}`))
			l.settle(time.Millisecond, failure("2", -32600, taken))
			l.settle(time.Second, textResult("1", "slept 100 ms"), textResult("2", "a"))
		})
	})
}

// TestDepth: brackets nest 512 deep, the message's own included.
func TestDepth(t *testing.T) {
	s := testServer(t, Options{})
	times := strings.Repeat
	const head, tail = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{META,"x":`, `}}`
	for _, row := range []exchangeRow{
		{"arrays, at the limit", head + times("[", 510) + times("]", 510) + tail, discovered("1")},
		{"arrays, one past it", head + times("[", 510) + "§[" + times("]", 511) + tail, failure("", -32700, "Parse error: nested more than 512 deep, at byte BYTE")},
		{"objects, at the limit", head + times(`{"x":`, 510) + "0" + times("}", 510) + tail, discovered("1")},
		{"objects, one past it", head + times(`{"x":`, 510) + "§{}" + times("}", 510) + tail, failure("", -32700, "Parse error: nested more than 512 deep, at byte BYTE")},
		{"a batch, at the limit", times("[", 512) + times("]", 512), failure("", -32600, "Invalid Request: a batch; send one message a line")},
		{"a batch, one past it", times("[", 512) + "§[" + times("]", 513), failure("", -32700, "Parse error: nested more than 512 deep, at byte BYTE")},
		{"many more", times("[", 512) + "§" + times("[", 100_000), failure("", -32700, "Parse error: nested more than 512 deep, at byte BYTE")},
		{"brackets in a string are no brackets", head + `"` + times("[{", 1000) + `"` + tail, discovered("1")},
		{"beside each other they do not nest", head + "[" + times("[],{},", 1000) + "0]" + tail, discovered("1")},
	} {
		t.Run(row.rule, func(t *testing.T) {
			line, want := row.lines()
			compare(t, talk(t, s, line), []string{want})
		})
	}
}

// TestManyMembers: finding duplicates costs linear time, whatever the names are.
func TestManyMembers(t *testing.T) {
	s := testServer(t, Options{})
	var names strings.Builder
	for i := range 150_000 {
		fmt.Fprintf(&names, `"k%d":0,`, i)
	}
	head := `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{META},"x":{` + names.String()
	compare(t, talk(t, s, head+`"k":0}}`), []string{discovered("1")})
	line, at := marked(expand(head + `"§k149999":0}}`))
	compare(t, talk(t, s, line), []string{failure("1", -32600, "Invalid Request: a member name twice in one object, at byte "+strconv.Itoa(at))})
}

// wrongMeta is the message for a member of _meta that is not what it has to be.
func wrongMeta(member, want string) string {
	return failure("1", -32602, "Invalid _meta field: "+member+": "+want, supportedData)
}

func missingMeta(key string) string {
	return failure("1", -32602, "Missing required _meta field: io.modelcontextprotocol/"+key, supportedData)
}

const (
	noSuchVersion = `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"2025-01-01"}}}`
	handshake     = " (this server speaks MCP 2026-07-28, which has no initialize handshake)"
)

// orderRows: two things are wrong at once, or one; the first of the checks that fails answers.
var orderRows = []exchangeRow{
	{"params not an object comes before the version", `{"jsonrpc":"2.0","id":1,"method":"x","params":[]}`, failure("1", -32602, "Invalid params: params and its _meta must be objects", supportedData)},
	{"params null", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":null}`, failure("1", -32602, "Invalid params: params and its _meta must be objects", supportedData)},
	{"params a string", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":"_meta"}`, failure("1", -32602, "Invalid params: params and its _meta must be objects", supportedData)},
	{"no params", `{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, missingMeta("protocolVersion")},
	{"no _meta", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}`, missingMeta("protocolVersion")},
	{"_meta null", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":null}}`, failure("1", -32602, "Invalid params: params and its _meta must be objects", supportedData)},
	{"_meta an array", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":[{}]}}`, failure("1", -32602, "Invalid params: params and its _meta must be objects", supportedData)},
	{"_meta empty: the version first", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{}}}`, missingMeta("protocolVersion")},
	{"no version, though capabilities are wrong", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"MCP/clientCapabilities":1}}}`, missingMeta("protocolVersion")},
	{"a version without its prefix is none", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"protocolVersion":"2026-07-28"}}}`, missingMeta("protocolVersion")},
	{"version not a string, and no capabilities", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"MCP/protocolVersion":20260728}}}`, wrongMeta("io.modelcontextprotocol/protocolVersion", "expected a string")},
	{"version null", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"MCP/protocolVersion":null}}}`, wrongMeta("io.modelcontextprotocol/protocolVersion", "expected a string")},
	{"another version comes before the capabilities that are missing", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"MCP/protocolVersion":"2025-01-01"}}}`, noSuchVersion},
	{"another version comes before the rest of _meta", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"MCP/protocolVersion":"2025-01-01","MCP/clientCapabilities":7,"MCP/clientInfo":null,"progressToken":[],"MCP/logLevel":1}}}`, noSuchVersion},
	{"another version comes before the method", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"MCP/protocolVersion":"2025-01-01","MCP/clientCapabilities":{}}}}`, noSuchVersion},
	{"another version comes before params", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":1,"_meta":{"MCP/protocolVersion":"2025-01-01","MCP/clientCapabilities":{}}}}`, noSuchVersion},
	{"no capabilities", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"MCP/protocolVersion":"2026-07-28"}}}`, missingMeta("clientCapabilities")},
	{"no capabilities, and clientInfo wrong", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"MCP/protocolVersion":"2026-07-28","MCP/clientInfo":1}}}`, missingMeta("clientCapabilities")},
	{"capabilities null", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"MCP/protocolVersion":"2026-07-28","MCP/clientCapabilities":null}}}`, wrongMeta("io.modelcontextprotocol/clientCapabilities", "expected an object, got null")},
	{"capabilities come before clientInfo", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"MCP/clientInfo":1,"MCP/protocolVersion":"2026-07-28","MCP/clientCapabilities":[]}}}`, wrongMeta("io.modelcontextprotocol/clientCapabilities", "expected an object, got an array")},
	{"a member of capabilities comes before clientInfo", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"MCP/clientInfo":1,"MCP/protocolVersion":"2026-07-28","MCP/clientCapabilities":{"roots":true}}}}`, wrongMeta("io.modelcontextprotocol/clientCapabilities/roots", "expected an object, got true")},
	{"clientInfo comes before progressToken", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"progressToken":null,"MCP/clientInfo":{"name":"x"},"MCP/protocolVersion":"2026-07-28","MCP/clientCapabilities":{}}}}`, wrongMeta("io.modelcontextprotocol/clientInfo/version", "missing, but required: expected a string")},
	{"progressToken comes before logLevel", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"MCP/logLevel":1,"progressToken":null,"MCP/protocolVersion":"2026-07-28","MCP/clientCapabilities":{}}}}`, wrongMeta("progressToken", "expected a string or an integer, got null; leave it out")},
	{"logLevel comes before the method", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"MCP/logLevel":1,"MCP/protocolVersion":"2026-07-28","MCP/clientCapabilities":{}}}}`, wrongMeta("io.modelcontextprotocol/logLevel", `expected "debug" or "info" or "notice" or "warning" or "error" or "critical" or "alert" or "emergency", got 1; send it in quotes`)},
	{"the method comes before its params", `{"jsonrpc":"2.0","id":1,"method":"tools/Call","params":{"name":1,META}}`, failure("1", -32601, "Method not found")},
	{"a method of the specification that is not offered", `{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{META}}`, failure("1", -32601, "Method not found")},
	{"no name", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{META}}`, failure("1", -32602, "Invalid params: name: missing, but required: expected a string")},
	{"name not a string, and arguments null", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7,"arguments":null,META}}`, failure("1", -32602, "Invalid params: name: expected a string, got 7; send it in quotes")},
	{"arguments null, for no such tool", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nope","arguments":null,META}}`, failure("1", -32602, "Invalid params: arguments: expected an object, got null; leave it out")},
	{"arguments an array", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":["a"],META}}`, failure("1", -32602, "Invalid params: arguments: expected an object, got an array")},
	{"arguments a string", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":"{}",META}}`, failure("1", -32602, "Invalid params: arguments: expected an object, got \"{}\"; send it as JSON, not in a string")},
	{"arguments a number", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":0,META}}`, failure("1", -32602, "Invalid params: arguments: expected an object, got 0")},
	{"arguments false", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":false,META}}`, failure("1", -32602, "Invalid params: arguments: expected an object, got false")},
	{"inputResponses not an object, for no such tool", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nope","inputResponses":[],META}}`, failure("1", -32602, "Invalid params: inputResponses: expected an object, got an array")},
	{"requestState not a string, for no such tool", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nope","requestState":{},META}}`, failure("1", -32602, "Invalid params: requestState: expected a string, got an object")},
	{"requestState null", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","requestState":null,META}}`, failure("1", -32602, "Invalid params: requestState: expected a string, got null; leave it out")},
	{"no such tool, whatever its arguments", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nope","arguments":{"text":1},META}}`, failure("1", -32602, "Unknown tool: nope")},
	{"tool names have a case", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Echo","arguments":{"text":"a"},META}}`, failure("1", -32602, "Unknown tool: Echo")},
	{"no tool has no name", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"",META}}`, failure("1", -32602, "Unknown tool: ")},
	{"a tool's name may be written with escapes", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\u0065cho","arguments":{"t\u0065xt":"a"},META}}`, textResult("1", "a")},
	{"arguments that do not fit are the tool's answer", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{},META}}`, toolError("1", "Invalid arguments:\n/text: missing, but required: expected a string")},
	{"no arguments are empty arguments", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"boom",META}}`, toolError("1", "city not found")},
	{"cursor not a string", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":null,META}}`, failure("1", -32602, "Invalid params: cursor is not one that this server gives")},
	{"no filter", `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{META}}`, failure("1", -32602, "Invalid params: notifications: missing, but required: expected an object")},

	{"initialize in the older form", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, failure("1", -32602, "Missing required _meta field: io.modelcontextprotocol/protocolVersion"+handshake, supportedData)},
	{"initialize without params", `{"jsonrpc":"2.0","id":1,"method":"initialize"}`, failure("1", -32602, "Missing required _meta field: io.modelcontextprotocol/protocolVersion"+handshake, supportedData)},
	{"initialize with other _meta", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"_meta":{"progressToken":1}}}`, failure("1", -32602, "Missing required _meta field: io.modelcontextprotocol/protocolVersion"+handshake, supportedData)},
	{"initialize with a whole _meta", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{META}}`, failure("1", -32601, "Method not found"+handshake)},
	{"initialize with a version and no capabilities", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"_meta":{"MCP/protocolVersion":"2026-07-28"}}}`, missingMeta("clientCapabilities")},
	{"initialize with another version", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"_meta":{"MCP/protocolVersion":"2025-01-01"}}}`, noSuchVersion},
	{"the word after initialize", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, ""},
}

func TestOrderOfChecks(t *testing.T) {
	s := testServer(t, Options{})
	for _, row := range orderRows {
		t.Run(row.rule, func(t *testing.T) {
			var want []string
			in, out := row.lines()
			if out != "" {
				want = []string{out}
			}
			compare(t, talk(t, s, in), want)
		})
	}
	t.Run("no request changes how another is treated", func(t *testing.T) {
		// Each row between two others that go well.
		for _, row := range orderRows {
			in, out := row.lines()
			want := []string{discovered("0"), discovered("2")}
			if out != "" {
				want = append(want, out)
			}
			compareSorted(t, talk(t, s, requestOf("0", "server/discover", ""), in, requestOf("2", "server/discover", "")), want)
		}
	})
}

// TestMetaMembers: every wrong type of every member that the specification knows is -32602 and names the member.
func TestMetaMembers(t *testing.T) {
	s := testServer(t, Options{})
	values := map[string]string{
		"null": "null", "a boolean": "true", "an integer": "7", "a fraction": "1.5", "a string": `"x"`, "an empty string": `""`,
		"an array": "[]", "an object": "{}", "a log level": `"warning"`, "a log level in capitals": `"WARNING"`,
		"an implementation": `{"name":"x","version":"1","title":7}`, "an implementation with escapes": `{"n\u0061me":"","version":"1"}`,
		"a name alone": `{"name":"x"}`, "a version alone": `{"version":"1"}`,
		"a name that is a number": `{"name":1,"version":"1"}`, "a version that is null": `{"name":"x","version":null}`,
	}
	objects := []string{"an object", "an implementation", "an implementation with escapes", "a name alone", "a version alone",
		"a name that is a number", "a version that is null"}
	texts := []string{"a string", "an empty string", "a log level", "a log level in capitals"}
	const meta = `"MCP/protocolVersion":"2026-07-28","MCP/clientCapabilities":{`
	for _, member := range []struct {
		name, before, after string
		right               []string
	}{
		{"MCP/clientCapabilities/elicitation", meta + `"elicitation":`, `}`, objects},
		{"MCP/clientCapabilities/elicitation/form", meta + `"elicitation":{"form":`, `}}`, objects},
		{"MCP/clientCapabilities/elicitation/url", meta + `"elicitation":{"url":`, `}}`, objects},
		{"MCP/clientCapabilities/sampling", meta + `"sampling":`, `}`, objects},
		{"MCP/clientCapabilities/sampling/tools", meta + `"sampling":{"tools":`, `}}`, objects},
		{"MCP/clientCapabilities/sampling/context", meta + `"sampling":{"context":`, `}}`, objects},
		{"MCP/clientCapabilities/roots", meta + `"roots":`, `}`, objects},
		{"MCP/clientCapabilities/experimental", meta + `"experimental":`, `}`, objects},
		{"MCP/clientCapabilities/extensions", meta + `"extensions":`, `}`, objects},
		{"progressToken", meta + `},"progressToken":`, ``, append(texts, "an integer")},
		{"MCP/logLevel", meta + `},"MCP/logLevel":`, ``, []string{"a log level"}},
		{"MCP/clientInfo", meta + `},"MCP/clientInfo":`, ``, objects},
	} {
		for kind, value := range values {
			t.Run(member.name+" "+kind, func(t *testing.T) {
				right := slices.Contains(member.right, kind)
				if member.name == "MCP/clientInfo" && right {
					right = kind == "an implementation" || kind == "an implementation with escapes"
				}
				line := `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{` + member.before + value + member.after + `}}}`
				got := ask(t, s, line)
				if right && got != discovered("1") || !right && !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid _meta field: `+expand(member.name)) {
					t.Error(got)
				}
			})
		}
	}
	for _, level := range []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency", `w\u0061rning`} {
		t.Run("log level "+level, func(t *testing.T) {
			line := `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{` + meta + `},"MCP/logLevel":"` + level + `"}}}`
			if got := ask(t, s, line); got != discovered("1") {
				t.Error(got)
			}
		})
	}
}

// TestClientText: what a client wrote comes back in an error cut to 64 bytes, at the start of a character.
func TestClientText(t *testing.T) {
	s := testServer(t, Options{})
	x := strings.Repeat
	unknown := func(text string) string { return failure("1", -32602, "Unknown tool: "+text) }
	version := func(text string) string {
		return failure("1", -32022, "Unsupported protocol version", `{"supported":["2026-07-28"],"requested":`+text+`}`)
	}
	for _, row := range []struct{ rule, name, inMessage, inData string }{
		{"short", `"a"`, unknown("a"), version(`"a"`)},
		{"64 bytes", `"` + x("x", 64) + `"`, unknown(x("x", 64)), version(`"` + x("x", 64) + `"`)},
		{"65 bytes", `"` + x("x", 65) + `"`, unknown(x("x", 61) + "…"), version(`"` + x("x", 61) + `…"`)},
		{"a megabyte", `"` + x("x", 1<<20) + `"`, unknown(x("x", 61) + "…"), version(`"` + x("x", 61) + `…"`)},
		{"at the start of a character", `"` + x("x", 60) + `éxxx"`, unknown(x("x", 60) + "…"), version(`"` + x("x", 60) + `…"`)},
		{"escapes come back as escapes where they are short", `"\u0061\/"`, unknown("a/"), version(`"\u0061\/"`)},
		{"and undone where they are long", `"` + x(`\u0061`, 64) + `"`, unknown(x("a", 64)), version(`"` + x("a", 64) + `"`)},
		{"control characters", `"\u0000\n\u001f"`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool: \u0000\n\u001f"}}`, version(`"\u0000\n\u001f"`)},
		{"line separators leave as escapes", "\"\u2028\u2029\"", `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool: \u2028\u2029"}}`, version(`"\u2028\u2029"`)},
		{"a lone surrogate is shown by its escape", `"a\uD800b"`, unknown(`a\ud800b`), version(`"a\uD800b"`)},
		{"many of them, too", `"` + x(`\udfff`, 64) + `"`, unknown(x(`\udfff`, 10) + `\…`), ""},
		{"<>& leave as they are", `"<a>&"`, unknown("<a>&"), version(`"<a>&"`)},
	} {
		t.Run(row.rule, func(t *testing.T) {
			if got := ask(t, s, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":`+row.name+`,META}}`); row.rule != "many of them, too" && got != row.inMessage {
				t.Errorf("got  %.300s\nwant %.300s", got, row.inMessage)
			}
			got := ask(t, s, `{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"MCP/protocolVersion":`+row.name+`}}}`)
			if row.inData != "" && got != row.inData {
				t.Errorf("got  %.300s\nwant %.300s", got, row.inData)
			}
		})
	}
	t.Run("wherever it is written", func(t *testing.T) {
		long := x("<", 5000)
		escaped := func(name string) (text string) {
			for _, c := range name {
				text += fmt.Sprintf(`\u%04x`, c)
			}
			return text
		}
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"` + long + `","params":{META}}`,
			`{"jsonrpc":"` + long + `","id":1,"method":"x","params":{META}}`,
			`{"jsonrpc":"2.0","id":1,"method":"x","` + long + `":1,"` + long + `":1}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"` + long + `",META}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + long + `",META}}`,
			`{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"MCP/protocolVersion":"2026-07-28","MCP/clientCapabilities":{},"MCP/logLevel":"` + long + `"}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"` + escaped("resourceSubscriptions") + `":"` + long + `"},META}}`,
			`{"jsonrpc":"2.0","id":1,"method":"x"} ` + long,
		} {
			if got := ask(t, s, line); len(got) > 512 || strings.Count(got, "<") > 64 || strings.Count(got, `\u`) > 10 {
				t.Errorf("%d bytes: %.300s", len(got), got)
			}
		}
	})
}

func TestDiscover(t *testing.T) {
	const line = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{META}}`
	for _, row := range []struct {
		rule    string
		info    Implementation
		options Options
		result  string
	}{
		{"the defaults", Implementation{Name: "n", Version: "v"}, Options{},
			`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"ttlMs":300000,"cacheScope":"public","_meta":{"MCP/serverInfo":{"name":"n","version":"v"}}}`},
		{"everything",
			Implementation{Name: "n", Version: "v", Title: "t", Description: "a \"d\"", WebsiteURL: "https://example.com/?a&b"},
			Options{Instructions: "Use <add>\u2028.", TTL: 1500 * time.Millisecond, Private: true},
			`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"instructions":"Use <add>\u2028.","ttlMs":1500,"cacheScope":"private","_meta":{"MCP/serverInfo":{"name":"n","version":"v","title":"t","description":"a \"d\"","websiteUrl":"https://example.com/?a&b"}}}`},
		{"no time to live", Implementation{}, Options{TTL: -1},
			`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"ttlMs":0,"cacheScope":"public","_meta":{"MCP/serverInfo":{"name":"","version":""}}}`},
		{"bytes that are not UTF-8", Implementation{Name: "a\xffb"}, Options{Instructions: "\xc3"},
			`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"instructions":"` + "\uFFFD" + `","ttlMs":300000,"cacheScope":"public","_meta":{"MCP/serverInfo":{"name":"a` + "\uFFFD" + `b","version":""}}}`},
	} {
		t.Run(row.rule, func(t *testing.T) {
			compare(t, talk(t, NewServer(row.info, row.options), line), []string{expand(success("1", row.result))})
		})
	}
}

// TestHandleMessageNotify: notifications go to notify while HandleMessage runs, one at a time, and none afterwards.
func TestHandleMessageNotify(t *testing.T) {
	const withToken = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","_meta":{"MCP/protocolVersion":"2026-07-28","MCP/clientCapabilities":{},"progressToken":"t"}}}`
	progressOf := func(value int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":%d}}`, value)
	}
	t.Run("progress comes before the answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := withTool(t, emptyServer(Options{}), "work", func(ctx context.Context, call *Call) (*Result, error) {
				for i := range 3 {
					call.Progress(float64(i), 0, "")
					time.Sleep(progressInterval + 1)
				}
				call.Progress(3, 0, "")
				call.Progress(4, 0, "") // waits for its time, which does not come
				return Text("done"), nil
			})
			var got []string
			answer := askWith(t, t.Context(), s, withToken, func(message string) { got = append(got, message) })
			compare(t, append(got, answer), []string{progressOf(0), progressOf(1), progressOf(2), progressOf(3), progressOf(4), textResult("1", "done")})
		})
	})
	t.Run("never afterwards", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var late *Call
			s := withTool(t, emptyServer(Options{}), "work", func(ctx context.Context, call *Call) (*Result, error) {
				late = call
				call.Progress(1, 0, "")
				return Text("done"), nil
			})
			returned := false
			askWith(t, t.Context(), s, withToken, func(message string) {
				if returned {
					t.Error("notified after the answer:", message)
				}
			})
			returned = true
			late.Progress(2, 0, "")
			time.Sleep(time.Minute)
		})
	})
	t.Run("never concurrently", func(t *testing.T) {
		s := withTool(t, emptyServer(Options{}), "work", func(ctx context.Context, call *Call) (*Result, error) {
			var wg sync.WaitGroup
			var value atomic.Int64
			for range 8 {
				wg.Go(func() {
					for range 50 {
						time.Sleep(time.Millisecond)
						call.Progress(float64(value.Add(1)), 0, "")
					}
				})
			}
			wg.Wait()
			return Text("done"), nil
		})
		inside, count := 0, 0 // unguarded: the race detector would see two at once
		askWith(t, t.Context(), s, withToken, func(message string) {
			if inside++; inside != 1 {
				t.Error("notify is called while it runs")
			}
			for range 100 {
				runtime.Gosched()
			}
			inside--
			count++
		})
		if count < 3 {
			t.Errorf("%d notifications", count)
		}
	})
	t.Run("without notify", func(t *testing.T) {
		s := withTool(t, emptyServer(Options{}), "work", func(ctx context.Context, call *Call) (*Result, error) {
			call.Progress(1, 0, "")
			return Text("done"), nil
		})
		if got := s.HandleMessage(t.Context(), []byte(expand(withToken)), nil); string(got) != textResult("1", "done") {
			t.Errorf("got %s", got)
		}
	})
	t.Run("a subscription lasts as long as its context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := emptyServer(Options{})
			ctx, cancel := context.WithCancel(t.Context())
			var got []string
			go func() {
				time.Sleep(time.Hour)
				withTool(t, s, "new", boom)
				time.Sleep(time.Hour)
				cancel()
			}()
			start := time.Now()
			answer := askWith(t, ctx, s, `{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},META}}`,
				func(message string) { got = append(got, message) })
			if lasted := time.Since(start); lasted != 2*time.Hour {
				t.Errorf("it lasted %v", lasted)
			}
			compare(t, append(got, answer), expandAll([]string{
				`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"MCP/subscriptionId":"s"},"notifications":{"toolsListChanged":true}}}`,
				`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"MCP/subscriptionId":"s"}}}`,
				`{"jsonrpc":"2.0","id":"s","result":{"resultType":"complete","_meta":{"MCP/subscriptionId":"s","MCP/serverInfo":{"name":"test","version":"1.0.0"}}}}`,
			}))
		})
	})
	t.Run("the context reaches the tool", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := withTool(t, emptyServer(Options{}), "hold", hold)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if got := askWith(t, ctx, s, toolCall("1", "hold", "{}"), nil); got != toolError("1", "context deadline exceeded") {
				t.Error(got)
			}
		})
	})
	t.Run("ids in flight are the caller's affair", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := testServer(t, Options{})
			var wg sync.WaitGroup
			for range 10 {
				wg.Go(func() {
					if got := ask(t, s, toolCall("1", "sleep", `{"ms":5}`)); got != textResult("1", "slept 5 ms") {
						t.Error(got)
					}
				})
			}
			wg.Wait()
		})
	})
}

// repeatedly is input that has a line many times.
type repeatedly struct {
	line []byte
	n    int
	rest []byte
}

func (r *repeatedly) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(r.rest) == 0 {
			if r.n == 0 {
				break
			}
			r.rest = r.line
			r.n--
		}
		copied := copy(p[n:], r.rest)
		n, r.rest = n+copied, r.rest[copied:]
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// TestRequestAllocations counts what a request costs from the line in to the answer out of Serve, spread over many.
func TestRequestAllocations(t *testing.T) {
	skipUnderRace(t)
	const n = 20_000
	for _, row := range []struct {
		rule string
		line string
		most float64
	}{
		{"a call", toolCall("7", "add", `{"a":2,"b":3}`), 12},
		{"a discovery", requestOf("7", "server/discover", ""), 2},
		{"a list", requestOf("7", "tools/list", ""), 2},
		{"a notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 0},
	} {
		t.Run(row.rule, func(t *testing.T) {
			s := testServer(t, Options{})
			got := testing.AllocsPerRun(1, func() {
				if err := s.Serve(t.Context(), &repeatedly{line: []byte(row.line + "\n"), n: n}, io.Discard); err != nil {
					t.Error(err)
				}
			})
			if got /= n; got > row.most+0.05 {
				t.Errorf("%.2f allocations, want at most %v", got, row.most)
			}
		})
	}
}

// TestLimits: the numbers of the limits, which the other tests only name.
func TestLimits(t *testing.T) {
	for _, limit := range []struct {
		name      string
		got, want any
	}{
		{"one message", DefaultMaxMessage, 4 << 20},
		{"nesting of a message", MaxDepth, 512},
		{"calls that run at once", DefaultMaxRunning, 64},
		{"requests that wait", maxWaiting, 1024},
		{"bytes of requests that wait", maxWaitingBytes, 16 << 20},
		{"the wait for a place", maxPatience, 100 * time.Millisecond},
		{"output that waits", maxOutput, 1 << 20},
		{"grace after the end of input", DefaultGrace, 500 * time.Millisecond},
		{"time to live of a list", DefaultTTL, 300_000 * time.Millisecond},
		{"life of sealed state", DefaultStateLife, 10 * time.Minute},
		{"time between two notifications of progress", progressInterval, 20 * time.Millisecond},
		{"client text in an error", maxClientText, 64},
	} {
		if limit.got != limit.want {
			t.Errorf("%s: %v, want %v", limit.name, limit.got, limit.want)
		}
	}
}

// skipUnderRace skips a test that counts allocations, of which the race detector makes its own.
func skipUnderRace(t *testing.T) {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "-race" && setting.Value == "true" {
				t.Skip("the race detector allocates")
			}
		}
	}
}

// allocated gives the bytes that a function allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestGoodMetaIsKeptWhileItIsSmall: what is remembered of a client between its requests is what need not be read again, no more.
func TestGoodMetaIsKeptWhileItIsSmall(t *testing.T) {
	const rest = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	var m message
	for _, size := range []int{maxKept, maxKept + 1, maxKept} {
		meta := `{"a":"` + strings.Repeat("a", size-len(`{"a":"",`+rest)) + `",` + rest
		if kind, err := m.read([]byte(`{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":` + meta + `}}`)); kind != request || len(meta) != size {
			t.Fatal(err, len(meta))
		}
		if err := m.checkMeta(); err != nil || (len(m.good) == size) != (size <= maxKept) || size > maxKept && len(m.good) > 0 {
			t.Errorf("of %d bytes %d are kept: %v", size, len(m.good), err)
		}
	}
}

// TestMetaAgain: a _meta that was good once is passed over, and what stands beside it is read as ever.
func TestMetaAgain(t *testing.T) {
	s := withTool(t, testServer(t, Options{}), "work", func(ctx context.Context, call *Call) (*Result, error) {
		call.Progress(1, 0, "")
		return Text(string(call.Meta.Value("n"))), nil
	})
	again := func(id, before, after string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"server/discover","params":{` + before + `META` + after + `}}`
	}
	for _, row := range []struct {
		rule, line, want string
	}{
		{"it alone", again("2", "", ""), discovered("2")},
		{"after white space and between others", again("2", "\"a\":{},\t", " ,\"b\":[]"), discovered("2")},
		{"twice", again("2", "", ",META"), failure("2", -32600, "Invalid Request: a member name twice in one object, at byte 175")},
		{"with a letter after it", again("2", "", "x"), failure("", -32700, "Parse error: not JSON, at byte 173: want a comma or the end of the object")},
		{"with one more bracket", again("2", "", "}}"), failure("", -32700, "Parse error: not JSON, at byte 175: want nothing after the first value")},
		{"cut short", strings.TrimSuffix(again("2", "", ""), "}}"), failure("", -32700, "Parse error: not JSON, at byte 173: want a comma or the end of the object")},
		{"of another name", strings.Replace(again("2", "", ""), `META`, expand(`"_meta":{"MCP/protocolVersion":"2026-07-27","MCP/clientCapabilities":{}}`), 1),
			failure("2", -32022, "Unsupported protocol version", `{"supported":["2026-07-28"],"requested":"2026-07-27"}`)},
		{"with a member more", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"work","_meta":{"MCP/protocolVersion":"2026-07-28","MCP/clientCapabilities":{},"n":7}}}`, textResult("2", "7")},
	} {
		t.Run(row.rule, func(t *testing.T) {
			compareSorted(t, talk(t, s, again("1", "", ""), row.line, again("3", "", "")), []string{discovered("1"), row.want, discovered("3")})
		})
	}
	t.Run("with a progress token", func(t *testing.T) {
		var in, out []string
		for _, id := range []string{"1", "2", "3"} {
			in = append(in, `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"work","_meta":{"MCP/protocolVersion":"2026-07-28","MCP/clientCapabilities":{},"progressToken":"t"}}}`)
			out = append(out, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}`, textResult(id, ""))
		}
		compareSorted(t, talk(t, s, in...), out)
	})
}
