// tools.go: what a tool is and says, and the methods tools/list and tools/call.
//
// Pages: server/tools, server/utilities/pagination. Read after meta.go; next is frame.go.

package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Tool is what tools/list says of a tool: server/tools, heading Tool. What is given as raw JSON comes out of tools/list
// without white space and otherwise as it went in.
type Tool struct {
	Name         string          // 1 to 128 of A-Z a-z 0-9 _ - .
	Title        string          // for people; optional
	Description  string          // for the model
	InputSchema  json.RawMessage // has "type":"object"; default: no arguments
	OutputSchema json.RawMessage // of Result.StructuredContent; or nil
	Annotations  json.RawMessage // an object, or nil
	Icons        json.RawMessage // an array, or nil
	Meta         json.RawMessage // an object, or nil
}

// A Handler runs a tool. What it returns is the answer: a result; an [*Error], which becomes a JSON-RPC error; an
// [*InputRequired], which asks the client for input; any other error becomes a result with isError and the error's text,
// for the model to read. A handler should return soon after ctx ends, which is when the client has cancelled the call or
// is gone. A handler that panics, or breaks the rules of [Result], answers with an internal error, and the details go to
// the log. Handlers run side by side, also with themselves.
type Handler func(ctx context.Context, call *Call) (*Result, error)

// A Call is one tools/call. Its methods are safe for concurrent use. The raw JSON in it may go into the handler's result,
// is not valid after that, and not to be changed.
type Call struct {
	Name         string          // of the tool
	Arguments    json.RawMessage // an object that fits the input schema
	RequestState string          // as the client sent it back, not to be trusted; see OpenState
	Meta         Meta

	server         *Server
	tool           *tool
	inputResponses json.RawMessage // an object, or nil
	progress       *progress       // nil where the client wants none
}

// Argument gives the value of one argument as the client wrote it, or nil where it is left out.
func (c *Call) Argument(name string) json.RawMessage { return memberOf(c.Arguments, name) }

// A Result is what a tool says: server/tools, heading Tool Result. Raw JSON in it has to be JSON, and of its kind.
type Result struct {
	Content           []Content
	StructuredContent json.RawMessage // fits the output schema; null is a value, nil is none; alone, a text is added to it
	IsError           bool
	Meta              json.RawMessage // an object, or nil
}

// Text returns a result with one text.
func Text(text string) *Result {
	r := new(struct { // in one piece: it is made for almost every call
		Result
		content [1]Content
		text    TextContent
	})
	r.text.Text = text
	r.content[0] = &r.text
	r.Content = r.content[:]
	return &r.Result
}

// Structured returns a result with v as its structured content.
func Structured(v any) (*Result, error) {
	raw, err := json.Marshal(v)
	return &Result{StructuredContent: raw}, err
}

// Content is one item of a result: a [TextContent], [ImageContent], [AudioContent], [ResourceLink] or [EmbeddedResource].
type Content interface{ encode(e *encoder) }

// A TextContent is text. Bytes that are not UTF-8 leave as U+FFFD.
type TextContent struct {
	Text        string
	Raw         json.RawMessage // a JSON string that leaves as it is, instead of Text; it may hold what Go strings do not
	Annotations json.RawMessage // an object, or nil, as in the types below
	Meta        json.RawMessage // an object, or nil, as in the types below
}

// An ImageContent is an image. Its data is sent in base64.
type ImageContent struct {
	Data        []byte
	MIMEType    string
	Annotations json.RawMessage
	Meta        json.RawMessage
}

// An AudioContent is sound. Its data is sent in base64.
type AudioContent struct {
	Data        []byte
	MIMEType    string
	Annotations json.RawMessage
	Meta        json.RawMessage
}

// A ResourceLink points to a resource, which need not be one that the server lists.
type ResourceLink struct {
	URI         string
	Name        string
	Title       string // optional, as is the rest
	Description string
	MIMEType    string
	Size        json.RawMessage // in bytes; an integer, or nil
	Icons       json.RawMessage // an array, or nil
	Annotations json.RawMessage
	Meta        json.RawMessage
}

// An EmbeddedResource is a resource itself: its text or, where Blob is not nil, its bytes, which are sent in base64. (The
// page would have a server that embeds resources serve them too, which servers of this package do not.)
type EmbeddedResource struct {
	URI          string
	MIMEType     string // optional
	Text         string
	Blob         []byte
	ResourceMeta json.RawMessage // of the resource, as Meta is of the item
	Annotations  json.RawMessage
	Meta         json.RawMessage
}

func (c TextContent) encode(e *encoder) {
	e.text("type", "text")
	if c.Raw != nil {
		e.raw("text", c.Raw, isText)
	} else {
		e.text("text", c.Text)
	}
	e.common(c.Annotations, c.Meta)
}

func (c ImageContent) encode(e *encoder) {
	e.text("type", "image")
	e.data("data", c.Data)
	e.text("mimeType", c.MIMEType)
	e.common(c.Annotations, c.Meta)
}

func (c AudioContent) encode(e *encoder) {
	e.text("type", "audio")
	e.data("data", c.Data)
	e.text("mimeType", c.MIMEType)
	e.common(c.Annotations, c.Meta)
}

func (c ResourceLink) encode(e *encoder) {
	e.text("type", "resource_link")
	e.text("uri", c.URI)
	e.text("name", c.Name)
	e.option("title", c.Title)
	e.option("description", c.Description)
	e.option("mimeType", c.MIMEType)
	e.raw("size", c.Size, isInteger)
	e.raw("icons", c.Icons, isArray)
	e.common(c.Annotations, c.Meta)
}

func (c EmbeddedResource) encode(e *encoder) {
	e.text("type", "resource")
	e.open("resource", '{')
	e.text("uri", c.URI)
	e.option("mimeType", c.MIMEType)
	if c.Blob != nil {
		e.data("blob", c.Blob)
	} else {
		e.text("text", c.Text)
	}
	e.raw("_meta", c.ResourceMeta, isObject)
	e.close('}')
	e.common(c.Annotations, c.Meta)
}

// common writes the members that all contents may have.
func (e *encoder) common(annotations, meta json.RawMessage) {
	e.raw("annotations", annotations, isObject)
	e.raw("_meta", meta, isObject)
}

// A tool is one that has been registered.
type tool struct {
	name       string
	json       string // its entry in tools/list
	input      *Schema
	properties []string // named at the root of the input schema
	output     *Schema  // or nil
	handler    Handler
	slow       atomic.Bool // its last call took long; see serve.go
}

// noArguments is the schema that server/tools recommends for a tool without parameters.
const noArguments = `{"type":"object","additionalProperties":false}`

// AddTool registers a tool, also while the server is serving; clients that listen for changes are told. The error says
// what is wrong with the tool: its name, that the name is taken, a schema, raw JSON that is not JSON of its kind.
func (s *Server) AddTool(tool Tool, handler Handler) error {
	t, err := register(tool, handler)
	if err != nil {
		return fmt.Errorf("tool %q: %w", clip(tool.Name), err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tools[t.name] != nil {
		return fmt.Errorf("tool %q: the name is taken", t.name)
	}
	s.tools[t.name] = t
	at, _ := slices.BinarySearch(s.names, t.name)
	s.names = slices.Insert(s.names, at, t.name)
	s.changed()
	return nil
}

// RemoveTool takes a tool away and reports whether it was there. Calls of it that run go on.
func (s *Server) RemoveTool(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, found := slices.BinarySearch(s.names, name)
	if found {
		delete(s.tools, name)
		s.names = slices.Delete(s.names, at, at+1)
		s.changed()
	}
	return found
}

// register checks a tool and writes its entry in tools/list.
func register(t Tool, handler Handler) (*tool, error) {
	if !isToolName(t.Name) {
		return nil, errors.New("a name is 1 to 128 of A-Z a-z 0-9 _ - .")
	}
	if handler == nil {
		return nil, errors.New("there is no handler")
	}
	if len(t.InputSchema) == 0 {
		t.InputSchema = json.RawMessage(noArguments)
	}
	input, err := CompileSchema(t.InputSchema)
	if err == nil && !input.objectRoot() {
		err = errors.New(`"type":"object" is missing at the root`)
	}
	if err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	var output *Schema
	if len(t.OutputSchema) > 0 {
		if output, err = CompileSchema(t.OutputSchema); err != nil {
			return nil, fmt.Errorf("output schema: %w", err)
		}
	}
	e := encoder{buf: []byte{'{'}}
	e.text("name", t.Name)
	e.option("title", t.Title)
	e.option("description", t.Description)
	e.raw("inputSchema", t.InputSchema, isObject)
	e.raw("outputSchema", t.OutputSchema, isObject)
	e.raw("annotations", t.Annotations, isObject)
	e.raw("icons", t.Icons, isArray)
	e.raw("_meta", t.Meta, isObject)
	e.close('}')
	return &tool{
		name: t.Name, json: string(e.buf), input: input, properties: propertyNames(t.InputSchema), output: output, handler: handler,
	}, e.err
}

// propertyNames are the names in the properties of a schema's root.
func propertyNames(schema []byte) (names []string) {
	for keyword, properties := range members(trimSpace(schema)) {
		if string(keyword) == "properties" {
			for name := range members(properties) {
				names = append(names, string(appendUnescaped(nil, name)))
			}
		}
	}
	return names
}

// isToolName knows the names of server/tools, heading Tool Names; what is a SHOULD there is the rule here.
func isToolName(name string) bool {
	for _, c := range []byte(name) {
		if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'z') && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return 1 <= len(name) && len(name) <= 128
}

// Typed makes a handler of a function that takes its arguments as a Go value, decoded by encoding/json. That package
// pays no heed to the case of names; a member that only resembles one of the input schema's properties is left out, so
// that {"text":"a","TEXT":"b"} has the text a. An integer may be written 3.0 or 3e0. Arguments that In cannot hold are a
// tool error.
func Typed[In any](f func(ctx context.Context, call *Call, in In) (*Result, error)) Handler {
	return func(ctx context.Context, call *Call) (*Result, error) {
		var in In
		arguments := exactly(call.Arguments, call.tool.properties)
		err := json.Unmarshal(arguments, &in)
		if err != nil { // maybe for an integer that is written 3.0
			in = *new(In)
			err = json.Unmarshal(appendPlainIntegers(nil, arguments), &in)
		}
		if err != nil {
			return nil, call.tool.unfit(err)
		}
		return f(ctx, call, in)
	}
}

// unfit is the error for arguments that a Go value cannot hold. The text of encoding/json's would have all of the value.
func (t *tool) unfit(err error) error {
	if wrong := new(json.UnmarshalTypeError); errors.As(err, &wrong) {
		err = fmt.Errorf("/%s: %s does not fit into a Go %v", t.pointer(wrong.Field), clip(wrong.Value), wrong.Type)
	}
	return fmt.Errorf("Invalid arguments:\n%w", err)
}

// pointer makes a JSON Pointer, but for its first slash, of a path of fields, the first under the name of its property.
func (t *tool) pointer(path string) string {
	first, rest, more := strings.Cut(path, ".")
	for _, property := range t.properties {
		if strings.EqualFold(property, first) {
			first = property
		}
	}
	if more {
		first += "/" + strings.ReplaceAll(rest, ".", "/")
	}
	return first
}

// exactly leaves out the members of an object that are not among these names, but would be in another case.
func exactly(object []byte, names []string) []byte {
	resembles := func(name []byte) bool {
		text := string(appendUnescaped(nil, name))
		same := func(n string) bool { return strings.EqualFold(n, text) }
		return !slices.Contains(names, text) && slices.ContainsFunc(names, same)
	}
	e := encoder{buf: []byte{'{'}}
	all := true
	for name := range members(object) {
		all = all && !resembles(name)
	}
	if all {
		return object
	}
	for name, value := range members(object) {
		if !resembles(name) {
			e.json(string(name), value)
		}
	}
	e.close('}')
	return e.buf
}

// listTools answers tools/list: server/tools, heading Listing Tools, and server/utilities/pagination. The first page is
// made once for all who ask, until the tools change.
func (s *Server) listTools(m *message) ([]byte, *Error) {
	s.mu.RLock()
	list := s.list
	s.mu.RUnlock()
	cursor := m.at(slotCursor)
	if cursor == nil && list != nil {
		return list, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cursor == nil {
		s.list = s.page(0)
		return s.list, nil
	}
	after, ok := parseCursor(cursor)
	if !ok {
		return nil, &Error{Code: CodeInvalidParams, Message: "Invalid params: cursor is not one that this server gave"}
	}
	at, found := slices.BinarySearch(s.names, after)
	if found {
		at++
	}
	return s.page(at), nil
}

// page writes the page of tools/list that begins with the given tool. It is called with s.mu held.
func (s *Server) page(from int) []byte {
	to := len(s.names)
	if s.options.PageSize > 0 {
		to = min(to, from+s.options.PageSize)
	}
	e := encoder{buf: []byte{'{'}}
	e.text("resultType", "complete")
	e.open("tools", '[')
	for _, name := range s.names[from:to] {
		e.item(s.tools[name].json)
	}
	e.close(']')
	if to < len(s.names) {
		e.text("nextCursor", cursorAfter(s.names[to-1]))
	}
	return s.endCached(&e)
}

// A cursor is the name of the last tool on a page, so that it needs no memory and also works when that tool is gone.
const cursorPrefix = "after "

func cursorAfter(name string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(cursorPrefix + name))
}

func parseCursor(cursor []byte) (after string, ok bool) {
	if !isText(cursor) {
		return "", false
	}
	text, good := decode64(unquote(cursor))
	after, ok = strings.CutPrefix(string(text), cursorPrefix)
	return after, good && ok && isToolName(after)
}

// openCall checks the params of tools/call and finds the tool: server/tools, heading Error Handling, protocol errors.
func (s *Server) openCall(m *message) (*task, *Error) {
	name, arguments := m.at(slotName), m.at(slotArguments)
	responses, state := m.at(slotInputResponses), m.at(slotRequestState)
	switch {
	case !isText(name):
		return nil, &Error{Code: CodeInvalidParams, Message: "Invalid params: name must be a string"}
	case arguments != nil && !isObject(arguments):
		return nil, &Error{Code: CodeInvalidParams, Message: "Invalid params: arguments must be an object"}
	case responses != nil && !isObject(responses):
		return nil, &Error{Code: CodeInvalidParams, Message: "Invalid params: inputResponses must be an object"}
	case state != nil && !isText(state):
		return nil, &Error{Code: CodeInvalidParams, Message: "Invalid params: requestState must be a string"}
	}
	s.mu.RLock()
	tool := s.tools[string(name[1:len(name)-1])]
	if tool == nil {
		tool = s.tools[unquote(name)]
	}
	s.mu.RUnlock()
	if tool == nil {
		return nil, &Error{Code: CodeInvalidParams, Message: "Unknown tool: " + clientText(name)}
	}
	t := &task{call: Call{server: s, tool: tool}}
	t.fill(m)
	return t, nil
}

// fill gives a task what it takes from its request. It is called again where the request moves.
func (t *task) fill(m *message) {
	t.id = m.at(slotID)
	if t.call.tool == nil {
		return
	}
	t.call.Name = t.call.tool.name
	t.call.Arguments = m.at(slotArguments)
	if t.call.Arguments == nil {
		t.call.Arguments = json.RawMessage("{}")
	}
	t.call.Meta = Meta{m.declared(), m.at(slotMeta)}
	t.wantsProgress = m.at(slotProgressToken) != nil
	t.call.inputResponses = m.at(slotInputResponses)
	if state := m.at(slotRequestState); state != nil {
		t.call.RequestState = unquote(state)
	}
}

var encoders = sync.Pool{New: func() any { return new(encoder) }}

// perform runs a task and gives its response to finish, which must not keep it; also where the tool panics or ends its
// goroutine, which then ends after finish.
func (s *Server) perform(ctx context.Context, t *task, finish func(t *task, response []byte)) {
	e := encoders.Get().(*encoder)
	e.buf, e.err = e.buf[:0], nil
	var failure *Error
	returned := false
	defer func() {
		if failure != nil {
			e.buf = appendError(e.buf[:0], t.id, failure)
		}
		finish(t, e.buf)
		if cap(e.buf) <= maxOutput {
			encoders.Put(e)
		}
	}()
	defer func() {
		if !returned {
			p := recover()        // nil where the goroutine ends
			failure = errInternal // stands, whatever the text of p does
			s.logError(t, fmt.Errorf("did not return: %v\n%s", p, debug.Stack()))
		}
	}()
	if t.call.tool == nil {
		s.listen(ctx, t, e)
	} else {
		failure = s.runTool(ctx, t, e)
	}
	returned = true
}

// errInternal is all that the client is told of what is wrong in a tool.
var errInternal = &Error{Code: CodeInternalError, Message: "Internal error"}

// internalError logs the rest.
func (s *Server) internalError(t *task, err error) *Error {
	s.logError(t, err)
	return errInternal
}

// maxLogWait is how long a call waits for the log.
const maxLogWait = 100 * time.Millisecond

// logError writes to the log, but waits for it only so long: a client may leave stderr unread (basic/transports/stdio), and
// a call that waits for ever keeps its place. What the log has no room for is lost.
func (s *Server) logError(t *task, err error) {
	text := fmt.Sprintf("tool %s: %v", t.call.Name, err)
	timeout := time.After(maxLogWait)
	select {
	case s.logging <- struct{}{}:
	case <-timeout:
		return
	}
	written := make(chan struct{})
	go func() {
		s.options.Log.Print(text)
		<-s.logging
		close(written)
	}()
	select {
	case <-written:
	case <-timeout:
	}
}

// runTool checks the arguments, calls the handler, and writes the response; an error is left to the caller to write.
func (s *Server) runTool(ctx context.Context, t *task, e *encoder) *Error {
	tool := t.call.tool
	var result *Result
	var err error
	if problems := tool.input.validate(t.call.Arguments); problems != nil {
		err = fmt.Errorf("Invalid arguments:\n%w", problems) // for the model: server/tools, tool execution errors
	} else {
		result, err = tool.handler(ctx, &t.call)
	}
	e.buf = append(append(append(e.buf, `{"jsonrpc":"2.0","id":`...), t.id...), `,"result":{`...)
	if err != nil {
		if failure := s.failed(t, e, err); failure != nil {
			return failure
		}
	} else if e.result(result, tool.output); e.err == nil {
		e.meta(s, result.Meta)
	}
	if e.err != nil {
		return s.internalError(t, fmt.Errorf("broken result: %w", e.err))
	}
	e.buf = append(e.buf, "}}"...)
	return nil
}

// codes are those of the reserved range that have a meaning here: basic/index, heading Error Codes.
var codes = []int{CodeParseError, CodeInvalidRequest, CodeMethodNotFound, CodeInvalidParams, CodeInternalError,
	CodeMissingRequiredClientCapability, CodeUnsupportedProtocolVersion}

// failed writes the result for a handler's error, unless that is one that the client gets as an error.
func (s *Server) failed(t *task, e *encoder, err error) *Error {
	var failure *Error
	var question *InputRequired
	switch {
	case errors.As(err, &failure):
		if reserved := -32768 <= failure.Code && failure.Code <= -32000; reserved && !slices.Contains(codes, failure.Code) {
			return s.internalError(t, fmt.Errorf("an error with a reserved code: %w", err))
		}
		data := mendUTF8(failure.Data)
		if data != nil && checkJSON(data) != nil {
			return s.internalError(t, fmt.Errorf("error data that is not JSON: %w", err))
		}
		return &Error{failure.Code, failure.Message, data}
	case errors.As(err, &question):
		if e.question(question); e.err == nil {
			failure = question.refusal(t.call.Meta.Capabilities)
		}
		e.meta(s, question.Meta)
	default:
		e.result(&Result{Content: Text(err.Error()).Content, IsError: true}, nil)
		e.meta(s, nil)
	}
	return failure
}

// result writes the members of a CallToolResult: server/tools, headings Tool Result and Output Schema.
func (e *encoder) result(r *Result, output *Schema) {
	if r == nil {
		e.fail(errors.New("neither a result nor an error"))
		return
	}
	structured := mendUTF8(r.StructuredContent)
	e.text("resultType", "complete")
	e.open("content", '[')
	for _, c := range r.Content {
		if c == nil {
			e.fail(errors.New("content of no kind"))
			return
		}
		e.item("{")
		c.encode(e)
		e.close('}')
	}
	if len(r.Content) == 0 && len(structured) > 0 {
		e.item("{")
		TextContent{Text: string(appendCompact(nil, structured))}.encode(e)
		e.close('}')
	}
	e.close(']')
	e.raw("structuredContent", structured, nil)
	e.boolean("isError", r.IsError)
	if output == nil || r.IsError || e.err != nil {
		return
	}
	if len(structured) == 0 {
		e.fail(errors.New("no structured content, though the tool has an output schema"))
	} else if problems := output.validate(trimSpace(structured)); problems != nil {
		e.fail(fmt.Errorf("structured content that does not fit the output schema:\n%w", problems))
	}
}
