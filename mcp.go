// Package mcp serves tools over the Model Context Protocol, revision 2026-07-28: JSON-RPC 2.0 messages, one a line, on
// stdin and stdout.
//
// A client sends requests, each with an id, and gets one response to each: a result or an error. A notification has no id
// and is never answered. Every request carries in params._meta the protocol version and what the client can do; the server
// remembers nothing from one request to the next. A client asks server/discover what the server is, tools/list what tools it
// has, and tools/call runs one. A tool that fails, or is given arguments that do not fit its schema, answers with an ordinary
// result that says isError, because the model is to read it; an error is for requests that are wrong in themselves.
//
// A whole server:
//
//	package main
//
//	import (
//		"context"
//		"log"
//
//		"example.com/minimcp"
//	)
//
//	var tool = mcp.Tool{Name: "greet", InputSchema: []byte(`{"type":"object","properties":{"name":{"type":"string"}}}`)}
//
//	func greet(ctx context.Context, call *mcp.Call, in struct{ Name string }) (*mcp.Result, error) {
//		return mcp.Text("Hello, " + in.Name + "!"), nil
//	}
//
//	func main() {
//		server := mcp.NewServer(mcp.Implementation{Name: "hello", Version: "1.0.0"}, mcp.Options{})
//		err := server.AddTool(tool, mcp.Typed(greet))
//		if err == nil {
//			err = server.ServeStdio(context.Background())
//		}
//		if err != nil {
//			log.Fatal(err)
//		}
//	}
//
// Each file says what to read next: mcp.go is the first, legacy.go the last.
package mcp

// mcp.go: what a message is, and what becomes of a request: basic/index, heading Messages; basic/versioning. Next is json.go.

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"sync"
	"time"
)

// ProtocolVersion is the revision of the specification that this package implements.
const ProtocolVersion = "2026-07-28"

// The error codes of JSON-RPC 2.0 and of basic/index, heading Error Codes, that this package sends.
const (
	CodeParseError, CodeInvalidRequest, CodeMethodNotFound              = -32700, -32600, -32601
	CodeInvalidParams, CodeInternalError                                = -32602, -32603
	CodeMissingRequiredClientCapability, CodeUnsupportedProtocolVersion = -32021, -32022
)

// An Error is a JSON-RPC error: the request itself is wrong. A handler that returns one answers with it; any other error
// becomes a result that the model reads. Of the reserved codes, -32768 to -32000, a handler may use the constants above.
type Error struct {
	Code    int
	Message string
	Data    json.RawMessage // or nil
}

// Error gives the message and the code.
func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// An Implementation names a server: basic/index, heading _meta. All but its name and version is optional.
type Implementation struct{ Name, Version, Title, Description, WebsiteURL string }

// Options are what a server can be told. The zero value of each is its default.
type Options struct {
	Instructions string        // for the model, on how to use the server
	MaxMessage   int           // the longest message in bytes, at most 1 GiB; default DefaultMaxMessage
	MaxRunning   int           // calls that run at once on one connection, at least 1; default DefaultMaxRunning
	Grace        time.Duration // for calls after the end of input; default DefaultGrace, negative for none
	PageSize     int           // tools on a page of tools/list; default all
	TTL          time.Duration // how long a client may keep a list; default DefaultTTL, negative for not at all
	Private      bool          // the list is not for caches that several users share
	StateKey     []byte        // seals request state, the same in all processes of a server; default random
	StateLife    time.Duration // of sealed state; default DefaultStateLife
	Log          *log.Logger   // for what the client is not told: panics and broken results; default stderr
	Legacy       bool          // also serve clients that open with initialize, of 2024-11-05 to 2025-11-25; tools cannot ask them
}

// The defaults of [Options]; the specification leaves these to the server.
const DefaultMaxRunning, DefaultGrace = 64, 500 * time.Millisecond
const DefaultTTL, DefaultStateLife = 5 * time.Minute, 10 * time.Minute

// A Server has tools and answers requests, on any number of connections. All its methods are safe for concurrent use.
type Server struct {
	options    Options
	serverInfo string        // the member that names the server in the _meta of every result
	discover   []byte        // the result of server/discover, which never changes
	stateKey   func() []byte // of sealed state
	logging    chan struct{} // has one for each entry that is being written to the log

	mu       sync.RWMutex
	tools    map[string]*tool
	names    []string      // of the tools, sorted; nil, like list, where the tools have changed
	list     []byte        // the first page of tools/list
	onChange chan struct{} // closed when the tools change
}

// NewServer returns a server without tools. The options are copied.
func NewServer(info Implementation, options Options) *Server {
	go metaSchema() // the first request needs it, and has it sooner
	options.MaxMessage = min(max(cmp.Or(options.MaxMessage, DefaultMaxMessage), 0), maxMaxMessage)
	options.MaxRunning = max(cmp.Or(options.MaxRunning, DefaultMaxRunning), 1)
	options.PageSize = cmp.Or(max(options.PageSize, 0), math.MaxInt)
	options.Grace = cmp.Or(options.Grace, DefaultGrace)
	options.TTL = max(cmp.Or(options.TTL, DefaultTTL), 0)
	options.StateLife = cmp.Or(options.StateLife, DefaultStateLife)
	options.Log = cmp.Or(options.Log, log.New(os.Stderr, info.Name+": ", log.LstdFlags))
	s, key := &Server{options: options, tools: make(map[string]*tool)}, string(options.StateKey)
	s.stateKey = sync.OnceValue(func() []byte { return []byte(cmp.Or(key, rand.Text())) }) // randomness takes time at the start
	s.onChange, s.logging = make(chan struct{}), make(chan struct{}, maxLogging)
	e := encoder{buf: []byte(`"` + MetaServerInfo + `":{`)}
	e.text("name", info.Name)
	e.text("version", info.Version)
	e.option("title", info.Title)
	e.option("description", info.Description)
	e.option("websiteUrl", info.WebsiteURL)
	s.serverInfo = string(e.buf) + "}"
	e.buf = []byte(`{"resultType":"complete","supportedVersions":["` + ProtocolVersion + `"],` +
		`"capabilities":{"tools":{"listChanged":true}}`)
	e.option("instructions", options.Instructions)
	s.discover = s.endCached(&e)
	return s
}

// endCached ends a result that may be cached: both hints of server/utilities/caching, and who made it.
func (s *Server) endCached(e *encoder) []byte {
	scope := map[bool]string{false: "public", true: "private"}[s.options.Private]
	e.item(fmt.Sprintf(`"ttlMs":%d,"cacheScope":"%s"`, s.options.TTL.Milliseconds(), scope))
	e.meta(s, nil)
	return append(e.buf, '}')
}

// The slots are where the reading of a message notes the values that mean something here: of the message, of params, of _meta.
const slotJSONRPC, slotID, slotMethod, slotParams, slotResult, slotError = 0, 1, 2, 3, 4, 5
const slotMeta, slotName, slotArguments, slotCursor, slotInputResponses, slotRequestState = 6, 7, 8, 9, 10, 11
const slotNotifications, slotRequestID, slotReason = 12, 13, 14
const slotVersion, slotCapabilities, slotProgressToken, slots = 15, 16, 17, 18

// messageFields are the members that go there; all others are ignored, as the schema says.
var messageFields = []field{
	{"jsonrpc", slotJSONRPC, nil}, {"id", slotID, nil}, {"method", slotMethod, nil},
	{"result", slotResult, nil}, {"error", slotError, nil}, {"params", slotParams, []field{
		{"name", slotName, nil}, {"arguments", slotArguments, nil}, {"cursor", slotCursor, nil}, {"reason", slotReason, nil},
		{"inputResponses", slotInputResponses, nil}, {"requestState", slotRequestState, nil},
		{"notifications", slotNotifications, nil}, {"requestId", slotRequestID, nil},
		{"_meta", slotMeta, []field{
			{MetaProtocolVersion, slotVersion, nil}, {MetaClientCapabilities, slotCapabilities, nil},
			{"progressToken", slotProgressToken, nil},
		}},
	}},
}

// A message is a line that has been read, and where in it the values are. It is read into again: reading allocates nothing.
type message struct {
	scanner
	line         []byte
	place        [slots]span
	capabilities Capability // that the client declares in it
	reuse        *task      // of a call that is over, for the next one
}

// at gives the value in a slot, as written; nil where the message has none.
func (m *message) at(slot int) []byte {
	if p := m.place[slot]; p.to > 0 {
		return m.line[p.from:p.to]
	}
	return nil
}

// A kind is what a line turns out to be. What is invalid is answered by an error, a request by a result or an error.
type kind int

const invalid, request, notification, response kind = 0, 1, 2, 3

// read takes a line apart and says what it is; for an invalid one also what is wrong with it. The rules are those of
// JSON-RPC 2.0 as basic/index, heading Messages, narrows them; the first that fits decides.
func (m *message) read(line []byte) (kind, *Error) {
	m.line = line
	if err := m.scan(line, messageFields, m.place[:]); err != nil {
		clear(m.place[:])
		return invalid, &Error{Code: CodeParseError, Message: "Parse error: " + err.Error()}
	}
	m.trim()
	first, method, versioned := line[skipSpace(line, 0)], m.at(slotMethod), textIs(m.at(slotJSONRPC), "2.0")
	result, failure := m.at(slotResult) != nil, m.at(slotError) != nil
	switch {
	case first == '[':
		return m.refuse("a batch; send one message a line")
	case first != '{':
		return m.refuse("not an object")
	case result && failure:
		m.place[slotID] = span{}
		return m.refuse("both result and error")
	case method == nil && (result || failure):
		return response, nil
	case m.at(slotID) == nil && versioned && isText(method):
		return notification, nil
	case m.dup >= 0:
		return m.refuse(fmt.Sprintf("%v, at byte %d", ErrDuplicate, m.dup))
	case !versioned:
		return m.refuse(`jsonrpc must be "2.0"`)
	case !isText(method):
		return m.refuse("method must be a string")
	case !isID(m.at(slotID)):
		return m.refuse("id must be a string or an integer")
	}
	return request, nil
}

func (m *message) refuse(why string) (kind, *Error) {
	return invalid, &Error{Code: CodeInvalidRequest, Message: "Invalid Request: " + why}
}

func tooLong(limit int) *Error {
	return &Error{Code: CodeInvalidRequest, Message: fmt.Sprintf("Invalid Request: longer than %d bytes", limit)}
}

// id is the id that an answer goes to, or nil: there has to be exactly one, and a valid one. Where the request could not
// be identified the answer has no id member, because the schema does not allow null there.
func (m *message) id() []byte {
	if id := m.at(slotID); isID(id) && m.twice&(1<<slotID) == 0 {
		return id
	}
	return nil
}

// isID allows strings and numbers with an integer value, however written: basic/index, heading Requests.
func isID(value []byte) bool { return isText(value) || isInteger(value) }

// An idKey is what all ways to write one id share: 1, 1.0 and 10e-1 are one id, "1" is another.
type idKey string

func keyOf(id []byte) idKey {
	key, _ := appendCanonical(nil, id, 0)
	return idKey(key)
}

// method is the method's name, without its escapes.
func (m *message) method() []byte {
	text := m.at(slotMethod)
	if text = text[1 : len(text)-1]; bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	return appendUnescaped(nil, text)
}

// textIs reports whether value is a JSON string with this text.
func textIs(value []byte, text string) bool {
	return isText(value) && (string(value[1:len(value)-1]) == text || unquote(value) == text)
}

// open decides what becomes of a message that has been read. For a request the order of checks is that of SPEC_NOTES.md: the
// metadata, the method, its params, the tool. It gives the answer, which is a result or an error, or a task that is to be run for
// it; or nothing, where there is none to give.
func (s *Server) open(m *message, kind kind, invalid *Error) (result []byte, t *task, err *Error) {
	if kind != request {
		return nil, nil, invalid
	}
	if err = m.checkMeta(); err != nil {
		return nil, nil, err
	}
	switch string(m.method()) {
	case "server/discover":
		result = s.discover
	case "tools/list":
		result, err = s.listTools(m)
	case "tools/call":
		t, err = s.openCall(m)
	case "subscriptions/listen":
		t, err = openSubscription(m)
	case "initialize":
		err = &Error{Code: CodeMethodNotFound, Message: "Method not found" + noHandshake}
	default:
		err = &Error{Code: CodeMethodNotFound, Message: "Method not found"}
	}
	return result, t, err
}

// A task is a request that takes time: a tools/call, or a subscriptions/listen, which has no tool.
type task struct {
	id               []byte
	call             Call
	toolsListChanged bool                     // a subscription to these notifications
	lock             sync.Locker              // guards what is written for the task
	send             func(next func() []byte) // writes a notification, once there is room; called with the lock held
	over             bool                     // it is answered or cancelled: nothing more is written for it

	// What follows belongs to the connection, see serve.go.
	key  idKey // where it is in the books, else ""
	size int   // of the request in bytes
	lane *lane // where a reader ran it, or nil
	ctx  *callContext
}

// HandleMessage answers one message: the whole protocol but for the connection, to put behind another transport. It returns
// the response, without a newline, or nil for a notification, a response, a blank line. Notifications that belong to the
// request go to notify, if that is not nil: one at a time, none after HandleMessage has returned; notify must not keep the
// bytes, nor report progress itself.
//
// A request runs until its tool returns, whatever ctx says; a tool that heeds its context ends when ctx does, and a
// subscription lasts as long as ctx. Ids in flight and their cancellation are the caller's. Safe for concurrent use.
func (s *Server) HandleMessage(ctx context.Context, line []byte, notify func(message []byte)) []byte {
	if line = bytes.TrimSuffix(line, []byte("\n")); len(trimSpace(line)) == 0 {
		return nil
	}
	if len(line) > s.options.MaxMessage {
		return appendResponse(nil, nil, nil, tooLong(s.options.MaxMessage))
	}
	var m message
	kind, failure := m.read(line)
	result, t, failure := s.open(&m, kind, failure)
	if t == nil {
		return appendResponse(nil, m.id(), result, failure)
	}
	var mu sync.Mutex
	t.lock = &mu
	t.send = func(next func() []byte) {
		if message := next(); notify != nil {
			notify(message)
		}
	}
	answer := make(chan []byte, 1)
	go s.perform(ctx, t, func(t *task, message []byte) { // on a goroutine of its own, which the tool may end
		mu.Lock()
		defer mu.Unlock()
		if last := t.call.progress.take(); last != nil {
			t.send(func() []byte { return last })
		}
		t.over = true
		answer <- bytes.Clone(message)
	})
	return <-answer
}

// appendResult appends the response that carries a result.
func appendResult(dst, id, result []byte) []byte {
	dst = append(append(dst, `{"jsonrpc":"2.0","id":`...), id...)
	return append(append(append(dst, `,"result":`...), result...), '}')
}

// appendResponse appends the response that carries an error, without an id where there is none; or a result; or nothing.
func appendResponse(dst, id, result []byte, e *Error) []byte {
	switch {
	case e == nil && result == nil:
		return dst
	case e == nil:
		return appendResult(dst, id, result)
	}
	dst = append(dst, `{"jsonrpc":"2.0"`...)
	if id != nil {
		dst = append(append(dst, `,"id":`...), id...)
	}
	dst = appendText(fmt.Appendf(dst, `,"error":{"code":%d,"message":`, e.Code), e.Message)
	if len(e.Data) > 0 {
		dst = appendCompact(append(dst, `,"data":`...), mendUTF8(e.Data))
	}
	return append(dst, "}}"...)
}
