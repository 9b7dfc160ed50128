// Package mcp serves tools over the Model Context Protocol, revision 2026-07-28: JSON-RPC 2.0 messages, one a line, on
// stdin and stdout.
//
// A client sends requests, each with an id, and gets one response to each: a result or an error. A notification has no
// id and is never answered. Every request carries in params._meta the protocol version and what the client can do; the
// server remembers nothing from one request to the next. A client asks server/discover what the server is, tools/list
// what tools it has, and tools/call runs one. A tool that fails, or is given arguments that do not fit its schema,
// answers with an ordinary result that says isError, because the model is to read it; an error is for requests that
// are wrong in themselves.
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
//	func main() {
//		server := mcp.NewServer(mcp.Implementation{Name: "hello", Version: "1.0.0"}, mcp.Options{})
//		err := server.AddTool(mcp.Tool{
//			Name:        "greet",
//			Description: "Greets somebody by name.",
//			InputSchema: []byte(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`),
//		}, mcp.Typed(func(ctx context.Context, call *mcp.Call, in struct{ Name string }) (*mcp.Result, error) {
//			return mcp.Text("Hello, " + in.Name + "!"), nil
//		}))
//		if err != nil {
//			log.Fatal(err)
//		}
//		if err := server.ServeStdio(context.Background()); err != nil {
//			log.Fatal(err)
//		}
//	}
//
// The files, in the order to read them: mcp.go (messages and methods), json.go (strict JSON), meta.go (what each
// request carries), tools.go, frame.go (lines), serve.go (a connection), patterns.go (progress, input, state,
// subscriptions), schema.go (JSON Schema), pattern.go (its regular expressions), number.go (exact decimals), legacy.go
// (older hosts).
package mcp

// mcp.go: what a message is, and what becomes of a request: sections Messages of basic/index and basic/versioning.
// Next is json.go.

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"
	"sync"
	"time"
)

// ProtocolVersion is the revision of the specification that this package implements.
const ProtocolVersion = "2026-07-28"

// The error codes of JSON-RPC 2.0 and of basic/index, heading Error Codes, that this package sends.
const (
	CodeParseError                      = -32700
	CodeInvalidRequest                  = -32600
	CodeMethodNotFound                  = -32601
	CodeInvalidParams                   = -32602
	CodeInternalError                   = -32603
	CodeMissingRequiredClientCapability = -32021
	CodeUnsupportedProtocolVersion      = -32022
)

// An Error is a JSON-RPC error: something is wrong with the request itself. A handler that returns one answers with it;
// any other error becomes a result that the model reads. Codes from -32768 to -32000 are reserved: of these a handler may
// use the constants above.
type Error struct {
	Code    int
	Message string
	Data    json.RawMessage // or nil
}

// Error gives the message and the code.
func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// An Implementation names a server: basic/index, heading _meta, and the schema's Implementation.
type Implementation struct {
	Name        string
	Version     string
	Title       string // for people; optional, as are the rest
	Description string
	WebsiteURL  string
}

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
	Legacy       bool          // also serve clients of older revisions, see legacy.go
}

// The defaults of [Options]; the specification leaves these to the server.
const (
	DefaultMaxRunning = 64
	DefaultGrace      = 500 * time.Millisecond
	DefaultTTL        = 5 * time.Minute
	DefaultStateLife  = 10 * time.Minute
)

// A Server has tools and answers requests. All its methods are safe for concurrent use; one server may serve any number
// of connections.
type Server struct {
	options    Options
	serverInfo string        // the member that names the server in the _meta of every result
	discover   []byte        // the result of server/discover
	logging    chan struct{} // full while the log is written to

	mu       sync.RWMutex
	tools    map[string]*tool
	names    []string // of the tools, sorted
	list     []byte   // the first page of tools/list, or nil where it has to be made anew
	onChange chan struct{}
}

// NewServer returns a server without tools. The options are copied.
func NewServer(info Implementation, options Options) *Server {
	setDefault(&options.MaxMessage, DefaultMaxMessage)
	options.MaxMessage = min(max(options.MaxMessage, 0), maxMaxMessage)
	setDefault(&options.MaxRunning, DefaultMaxRunning)
	options.MaxRunning = max(options.MaxRunning, 1)
	setDefault(&options.Grace, DefaultGrace)
	setDefault(&options.TTL, DefaultTTL)
	setDefault(&options.StateLife, DefaultStateLife)
	if options.Log == nil {
		options.Log = log.New(os.Stderr, info.Name+": ", log.LstdFlags)
	}
	if options.StateKey = bytes.Clone(options.StateKey); len(options.StateKey) == 0 {
		options.StateKey = make([]byte, 32)
		rand.Read(options.StateKey) // never fails
	}
	s := &Server{options: options, logging: make(chan struct{}, 1), tools: make(map[string]*tool), onChange: make(chan struct{})}
	s.serverInfo = serverInfo(info)
	s.discover = s.discovery()
	return s
}

func setDefault[T int | time.Duration](option *T, value T) {
	if *option == 0 {
		*option = value
	}
}

// serverInfo is the member that names the server in the _meta of every result.
func serverInfo(info Implementation) string {
	e := encoder{buf: []byte(`"` + MetaServerInfo + `":{`)}
	e.text("name", info.Name)
	e.text("version", info.Version)
	e.option("title", info.Title)
	e.option("description", info.Description)
	e.option("websiteUrl", info.WebsiteURL)
	e.close('}')
	return string(e.buf)
}

// discovery makes the result of server/discover, which never changes: server/discover, heading Response.
func (s *Server) discovery() []byte {
	e := encoder{buf: []byte(`{"resultType":"complete","supportedVersions":["` + ProtocolVersion + `"],` +
		`"capabilities":{"tools":{"listChanged":true}}`)}
	e.option("instructions", s.options.Instructions)
	return s.endCached(&e)
}

// endCached ends a result that may be cached: both hints of server/utilities/caching, and who made it.
func (s *Server) endCached(e *encoder) []byte {
	scope := "public"
	if s.options.Private {
		scope = "private"
	}
	e.json("ttlMs", strconv.AppendInt(nil, max(0, s.options.TTL.Milliseconds()), 10))
	e.text("cacheScope", scope)
	e.meta(s, nil)
	e.close('}')
	return e.buf
}

// meta writes the _meta of a result: its own members, and who made it (basic/index, per-response protocol fields).
func (e *encoder) meta(s *Server, own []byte) {
	e.open("_meta", '{')
	if len(own) > 0 {
		own = trimSpace(mendUTF8(own))
		if err := checkJSON(own); err != nil || !isObject(own) {
			e.fail(errors.New("_meta must be an object"))
			return
		}
		if memberOf(own, MetaServerInfo) != nil {
			e.fail(errors.New("_meta must not have " + MetaServerInfo))
		}
		own = appendCompact(nil, own)
		e.buf = append(e.buf, own[1:len(own)-1]...)
	}
	e.item(s.serverInfo)
	e.close('}')
}

// A kind is what a line turns out to be.
type kind int

const (
	invalid      kind = iota // answered by an error
	request                  // answered
	notification             // never answered
	response                 // not expected from a client, and passed over
)

// The values that the reading of a message notes, by slot.
const (
	slotJSONRPC = iota
	slotID
	slotMethod
	slotParams
	slotResult
	slotError
	slotMeta
	slotName
	slotArguments
	slotCursor
	slotInputResponses
	slotRequestState
	slotNotifications
	slotRequestID
	slotReason
	slotVersion
	slotClientInfo
	slotClientName
	slotClientVersion
	slotCapabilities
	slotElicitation
	slotForm
	slotURL
	slotSampling
	slotSamplingTools
	slotSamplingContext
	slotRoots
	slotExperimental
	slotExtensions
	slotProgressToken
	slotLogLevel
	slots // how many there are
)

// messageFields are the members of a message that mean something here; all others are ignored, as the schema says.
var messageFields = []field{
	{"jsonrpc", slotJSONRPC, nil},
	{"id", slotID, nil},
	{"method", slotMethod, nil},
	{"params", slotParams, []field{
		{"_meta", slotMeta, metaFields},
		{"name", slotName, nil},
		{"arguments", slotArguments, nil},
		{"cursor", slotCursor, nil},
		{"inputResponses", slotInputResponses, nil},
		{"requestState", slotRequestState, nil},
		{"notifications", slotNotifications, nil},
		{"requestId", slotRequestID, nil},
		{"reason", slotReason, nil},
	}},
	{"result", slotResult, nil},
	{"error", slotError, nil},
}

// A message is a line that has been read: its bytes, and where in them the values are. It is read into again and again,
// so that reading allocates nothing.
type message struct {
	scanner
	line  []byte
	place [slots]span
}

// at gives the value in a slot, as written; nil where the message has none.
func (m *message) at(slot int) []byte {
	p := m.place[slot]
	if p.to == 0 {
		return nil
	}
	return m.line[p.from:p.to]
}

// read takes a line apart and says what it is; for an invalid one also what is wrong with it. The rules are those of
// JSON-RPC 2.0 as basic/index, heading Messages, narrows them; the first that fits decides.
func (m *message) read(line []byte) (kind, *Error) {
	m.line = line
	if err := m.scan(line, messageFields, m.place[:]); err != nil {
		clear(m.place[:])
		return invalid, &Error{Code: CodeParseError, Message: "Parse error: " + err.Error()}
	}
	m.trim()
	named := isText(m.at(slotMethod)) && textIs(m.at(slotJSONRPC), "2.0")
	result, failure := m.at(slotResult) != nil, m.at(slotError) != nil
	switch first := line[m.space(0)]; {
	case first == '[':
		return m.refuse("a batch; send one message a line")
	case first != '{':
		return m.refuse("not an object")
	case result && failure:
		m.place[slotID] = span{}
		return m.refuse("both result and error")
	case m.at(slotMethod) == nil && (result || failure):
		return response, nil
	case m.at(slotID) == nil && named:
		return notification, nil
	case m.dup >= 0:
		return m.refuse(fmt.Sprintf("%v, at byte %d", ErrDuplicate, m.dup))
	case !textIs(m.at(slotJSONRPC), "2.0"):
		return m.refuse(`jsonrpc must be "2.0"`)
	case !isText(m.at(slotMethod)):
		return m.refuse("method must be a string")
	case !isID(m.at(slotID)):
		return m.refuse("id must be a string or an integer")
	}
	return request, nil
}

func (m *message) refuse(why string) (kind, *Error) {
	return invalid, &Error{Code: CodeInvalidRequest, Message: "Invalid Request: " + why}
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
func isID(value []byte) bool {
	return isText(value) || isInteger(value)
}

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

// open decides what becomes of a request, after message.read in the order of checks that SPEC_NOTES.md lays down: the
// metadata, the method, its params, the tool. It gives the result at once, or a task that is to be run.
func (s *Server) open(m *message) (result []byte, t *task, err *Error) {
	if err := m.checkMeta(); err != nil {
		return nil, nil, err
	}
	switch string(m.method()) {
	case "server/discover":
		return s.discover, nil, nil
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
	toolsListChanged bool // a subscription to these notifications
	wantsProgress    bool // the request has a progress token

	lock sync.Locker              // guards what is written for the task
	send func(next func() []byte) // writes a notification, once there is room for it; called with the lock held
	over bool                     // it is answered or cancelled: nothing more is written for it

	// What follows belongs to the connection, see serve.go.
	key  idKey // where it is in the books, else ""
	size int   // of the request in bytes
	lane *lane // where a reader ran it, or nil
	ctx  context.Context
	end  func() // ends ctx, or nil
}

// HandleMessage answers one message: the whole protocol but for the connection, to put behind another transport. It
// returns the response, or nil where there is none to give: for a notification, a response, a blank line. The message
// need not be on one line; the response is, without a newline. Notifications that belong to the request, of progress and
// of a subscription, go to notify, if that is not nil: one at a time, none after HandleMessage has returned; notify must
// not keep the bytes, nor report progress itself.
//
// A request runs until its tool returns, whatever ctx says; a tool that heeds its context ends when ctx does, and a
// subscription lasts as long as ctx. Ids that are in flight and their cancellation are the caller's affair. Safe for
// concurrent use.
func (s *Server) HandleMessage(ctx context.Context, line []byte, notify func(message []byte)) []byte {
	if line = bytes.TrimSuffix(line, []byte("\n")); len(trimSpace(line)) == 0 {
		return nil
	}
	if len(line) > s.options.MaxMessage {
		return appendError(nil, nil, tooLong(s.options.MaxMessage))
	}
	var m message
	kind, err := m.read(line)
	if kind == notification || kind == response {
		return nil
	}
	var result []byte
	var t *task
	if err == nil {
		result, t, err = s.open(&m)
	}
	switch {
	case err != nil:
		return appendError(nil, m.id(), err)
	case t == nil:
		return appendResult(nil, m.id(), result)
	}
	return s.performAlone(ctx, t, notify)
}

// performAlone runs a task that no connection looks after. The task has a goroutine of its own, because its tool may
// end the goroutine that it runs on.
func (s *Server) performAlone(ctx context.Context, t *task, notify func(message []byte)) []byte {
	var mu sync.Mutex
	t.lock = &mu
	t.send = func(next func() []byte) {
		if message := next(); notify != nil {
			notify(message)
		}
	}
	t.call.progress = newProgress(t)
	answer := make(chan []byte, 1)
	go s.perform(ctx, t, func(t *task, message []byte) {
		mu.Lock()
		defer mu.Unlock()
		if last := t.call.progress.end(); last != nil {
			t.send(func() []byte { return last })
		}
		t.over = true
		answer <- bytes.Clone(message)
	})
	return <-answer
}

func tooLong(limit int) *Error {
	return &Error{Code: CodeInvalidRequest, Message: fmt.Sprintf("Invalid Request: longer than %d bytes", limit)}
}

// appendResult appends the response that carries a result.
func appendResult(dst, id, result []byte) []byte {
	dst = append(append(dst, `{"jsonrpc":"2.0","id":`...), id...)
	return append(append(append(dst, `,"result":`...), result...), '}')
}

// appendError appends the response that carries an error, without an id where there is none.
func appendError(dst, id []byte, e *Error) []byte {
	dst = append(dst, `{"jsonrpc":"2.0"`...)
	if id != nil {
		dst = append(append(dst, `,"id":`...), id...)
	}
	dst = fmt.Appendf(dst, `,"error":{"code":%d,"message":`, e.Code)
	dst = appendText(dst, e.Message)
	if len(e.Data) > 0 {
		dst = appendCompact(append(dst, `,"data":`...), e.Data)
	}
	return append(dst, "}}"...)
}
