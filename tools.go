// tools.go: what a tool is and says, and the methods tools/list and tools/call.
// Pages: server/tools, server/utilities/pagination. Read after meta.go; next is frame.go.

package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Tool is what tools/list says of a tool: server/tools, heading Tool. What is given as raw JSON comes out of tools/list
// without white space and otherwise as it went in.
type Tool struct {
	Name         string          // 1 to 128 of A-Z a-z 0-9 _ - .
	Title        string          // for people
	Description  string          // for the model
	InputSchema  json.RawMessage // has "type":"object"; default: no arguments
	OutputSchema json.RawMessage // of Result.StructuredContent
	Annotations  json.RawMessage // an object
	Icons        json.RawMessage // an array
	Meta         json.RawMessage // an object
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"

// isName knows the letters of names of tools, and of anchors in schemas: Trim leaves what is anything else.
func isName(name string) bool { return name != "" && strings.Trim(name, letters+"0123456789-.") == "" }

// isToolName makes a rule of what is a SHOULD in server/tools, heading Tool Names.
func isToolName(name string) bool { return isName(name) && len(name) <= 128 }

// A Handler runs a tool. What it returns is the answer: a result; an [*Error], which becomes a JSON-RPC error; an
// [*InputRequired], which asks the client for input; any other error becomes a result with isError and its text, for the model
// to read. It should return soon after ctx ends: the client has cancelled the call or is gone. One that panics, or breaks the
// rules of [Result], answers with an internal error, and the details go to the log. Handlers run side by side.
type Handler func(ctx context.Context, call *Call) (*Result, error)

// A Call is one tools/call, and the handler's until it returns. Its methods are safe for concurrent use. The raw JSON in it may
// go into the handler's result, and is not to be changed.
type Call struct {
	Name         string          // of the tool
	Arguments    json.RawMessage // an object that fits the input schema
	RequestState string          // requestState as the client sent it back, not to be trusted; see OpenState
	Meta         Meta

	server         *Server
	tool           *tool
	inputResponses json.RawMessage // an object, or nil
	progress       *progress       // nil where the client wants none
}

// Argument gives the value of one argument as the client wrote it, or nil where it is left out.
func (c *Call) Argument(name string) json.RawMessage { return memberOf(c.Arguments, name) }

// A Result is what a tool says: server/tools, heading Tool Result. Raw JSON in it has to be JSON, and of its kind. Structured
// content without any other has its JSON added as a text. Bytes that are not UTF-8 leave as U+FFFD.
type Result struct {
	Text              string          // unless empty, a text before the content
	RawText           json.RawMessage // or that text as a JSON string, which may hold what Go's cannot, and leaves as it is
	Content           []Content
	StructuredContent any // for encoding/json, or a json.RawMessage; it fits the output schema; nil is none, a raw null is one
	IsError           bool
	hasText           bool            // there is a text, also where it is empty
	Meta              json.RawMessage // an object, or nil
}

// Text returns a result with one text, which may be empty.
func Text(text string) *Result { return &Result{Text: text, hasText: true} }

// Structured returns a result with v as its structured content.
func Structured(v any) (*Result, error) {
	var e encoder
	e.value(v, anySchema())
	return &Result{StructuredContent: json.RawMessage(e.buf)}, e.err
}

// A Content is one item of a result, by the names of its members: {"type": "image", "data": pixels, "mimeType": "image/png"}.
// It is written by encoding/json, which sends a []byte in base64. (Who embeds resources should serve them too; nothing here does.)
type Content map[string]any

// contentSchema has the five kinds of content: server/tools, heading Tool Result.
var contentSchema = lazySchema(`{"type":"object","required":["type"],"properties":{
	"text":{"type":"string"},"data":{"type":"string"},"mimeType":{"type":"string"},"uri":{"type":"string"},"name":{"type":"string"},
	"title":{"type":"string"},"description":{"type":"string"},"icons":{"type":"array"},"size":{"type":"integer"},
	"annotations":{"type":"object"},"_meta":{"type":"object"},
	"resource":{"type":"object","required":["uri"],"oneOf":[{"required":["text"]},{"required":["blob"]}],
		"properties":{"uri":{"type":"string"},"mimeType":{"type":"string"},"text":{"type":"string"},"blob":{"type":"string"}}}},
	"oneOf":[{"properties":{"type":{"const":"text"}},"required":["text"]},
		{"properties":{"type":{"enum":["image","audio"]}},"required":["data","mimeType"]},
		{"properties":{"type":{"const":"resource_link"}},"required":["uri","name"]},
		{"properties":{"type":{"const":"resource"}},"required":["resource"]}]}`)

// A tool is one that has been registered.
type tool struct {
	name    string
	json    string // its entry in tools/list
	input   *Schema
	output  *Schema // or nil
	handler Handler
	slow    atomic.Bool // its last call took long; see serve.go
}

// noArguments is the schema that server/tools recommends for a tool without parameters.
const noArguments = `{"type":"object","additionalProperties":false}`

// AddTool registers a tool, also while the server is serving; clients that listen for changes are told. The error says
// what is wrong with the tool: its name, that the name is taken, a schema, raw JSON that is not JSON of its kind.
func (s *Server) AddTool(t Tool, handler Handler) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("tool %q: %w", clip(t.Name), err)
		}
	}()
	if len(t.InputSchema) == 0 {
		t.InputSchema = json.RawMessage(noArguments)
	}
	added := &tool{name: t.Name, handler: handler}
	if added.input, err = CompileSchema(t.InputSchema); err != nil {
		return fmt.Errorf("input schema: %w", err)
	}
	if len(t.OutputSchema) > 0 {
		if added.output, err = CompileSchema(t.OutputSchema); err != nil {
			return fmt.Errorf("output schema: %w", err)
		}
	}
	switch {
	case !isToolName(t.Name):
		return errors.New("name: expected 1 to 128 of A-Z a-z 0-9 _ - .")
	case handler == nil:
		return errors.New("there is no handler")
	case !textIs(memberOf(t.InputSchema, "type"), "object"):
		return errors.New(`input schema: expected an object with "type":"object"`)
	}
	e := encoder{buf: []byte("{")}
	e.text("name", t.Name)
	e.option("title", t.Title)
	e.option("description", t.Description)
	e.raw("inputSchema", t.InputSchema, typeObject)
	e.raw("outputSchema", t.OutputSchema, typeObject)
	e.raw("annotations", t.Annotations, typeObject)
	e.raw("icons", t.Icons, typeArray)
	e.raw("_meta", t.Meta, typeObject)
	if e.close('}'); e.err != nil {
		return e.err
	}
	added.json = string(e.buf)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tools[t.Name] != nil {
		return errors.New("the name is taken")
	}
	s.tools[t.Name] = added
	s.changed()
	return nil
}

// RemoveTool takes a tool away and reports whether it was there. Calls of it that run go on.
func (s *Server) RemoveTool(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.tools[name] != nil
	if delete(s.tools, name); found {
		s.changed()
	}
	return found
}

// Typed makes a handler of a function that takes its arguments as a Go value, decoded by encoding/json. That package pays no heed
// to the case of names; a member that only resembles a property of the input schema is left out, also below properties, items,
// additionalProperties and patternProperties, so that {"text":"a","TEXT":"b"} has the text a. An integer may be written 3.0 or
// 3e0. Arguments that In cannot hold are a tool error.
func Typed[In any](f func(ctx context.Context, call *Call, in In) (*Result, error)) Handler {
	return func(ctx context.Context, call *Call) (*Result, error) {
		var in In
		if err := decode(call.Arguments, call.tool.input, &in); err != nil {
			return nil, fmt.Errorf("Invalid arguments:\n%w", err)
		}
		return f(ctx, call, in)
	}
}

// decode stores an object in a Go value: without the members that resemble properties of its schema, and with its integers in
// digits alone.
func decode(object []byte, schema *Schema, to any) error {
	raw, _ := appendExactly(make([]byte, 0, len(object)), object, 0, []*node{schema.root})
	err := json.Unmarshal(raw, to)
	if wrong, ok := err.(*json.UnmarshalTypeError); ok { // its own text may have all of the value, and names what is Go's
		at := int(wrong.Offset) - 1 // the last byte of the value, or the one after that
		pointer := place(cmp.Or(pointerTo(raw, at), pointerTo(raw, at-1)))
		err = fmt.Errorf("%s: %s does not fit into a Go %v", pointer, clip(wrong.Value), wrong.Type)
	} else if err != nil { // of a type that decodes itself: it may have all of the value, too, and there is no place
		err = errors.New(clip(err.Error()))
	}
	return err
}

// appendExactly appends the value that begins at data[i], to which schemas apply, without the members that are none of their
// properties but would be in another case. Each byte is read once, as in canonical.append; end is the position after the value.
func appendExactly(dst, data []byte, i int, schemas []*node) (out []byte, end int) {
	open := data[i]
	if len(schemas) == 0 || open != '{' && open != '[' {
		end = skip(data, i)
		return appendPlainIntegers(dst, data[i:end]), end
	}
	for k := 0; k < len(schemas); k++ { // those that apply with one come along
		for _, s := range schemas[k].inPlace {
			if s != schemas[k].sub[not] && s != schemas[k].sub[ifs] {
				schemas = appendNew(schemas, s)
			}
		}
	}
	dst = append(dst, open)
	count, first, inner := 0, len(dst), make([]*node, 0, 4)
	var room [64]byte
	for i = skipSpace(data, i+1); data[i] != open+2; i, count = nextItem(data, i), count+1 {
		var name []byte
		from, known, resembles := i, open == '[', false
		inner = inner[:0]
		if open == '{' {
			end = skipText(data, i)
			name, i = appendUnescaped(room[:0], data[from+1:end-1]), nextItem(data, end)
		}
		for _, n := range schemas {
			var is, like bool
			inner, is, like = n.below(inner, name, count, open)
			known, resembles = known || is, resembles || like
		}
		if !known && resembles {
			i = skip(data, i)
			continue
		}
		if len(dst) > first {
			dst = append(dst, ',')
		}
		dst, i = appendExactly(append(dst, data[from:i]...), data, i, inner)
	}
	return append(dst, open+2), i + 1
}

// below adds to inner the schemas of n for a member, or for an element by its number. It also says whether the name is a property,
// and whether it would be one in another case.
func (n *node) below(inner []*node, name []byte, count int, open byte) (all []*node, is, like bool) {
	if prefix := n.lists[prefixItems]; open == '[' && count < len(prefix) {
		return appendNew(inner, prefix[count]), false, false
	} else if open == '[' {
		return appendNew(inner, n.sub[items]), false, false
	}
	k, known := n.index[string(name)]
	if is = known && n.known[k].schema != nil; is {
		inner = appendNew(inner, n.known[k].schema)
	}
	like = !is && slices.ContainsFunc(n.known, func(p property) bool {
		return p.schema != nil && strings.EqualFold(p.name, string(name))
	})
	evaluated := is
	for _, p := range n.patterns {
		if p.expression.Match(standIns(name)) {
			inner, evaluated = appendNew(inner, p.schema), true
		}
	}
	if !evaluated { // Core 10.3.2.3
		inner = appendNew(inner, n.sub[additionalProperties])
	}
	return inner, is, like
}

func appendNew(list []*node, s *node) []*node {
	if s == nil || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// listTools answers tools/list: server/tools, heading Listing Tools, and server/utilities/pagination. The first page is made
// once for all who ask. A cursor names the last tool on a page: it needs no memory and also works when that tool is gone.
func (s *Server) listTools(m *message) ([]byte, *Error) {
	cursor := m.at(slotCursor)
	after, ok := "", cursor == nil
	if isText(cursor) {
		after, ok = strings.CutPrefix(unquote(cursor), cursorPrefix)
	}
	if !ok || cursor != nil && !isToolName(after) {
		return nil, &Error{Code: CodeInvalidParams, Message: "Invalid params: cursor is not one that this server gives"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cursor == nil && s.list != nil {
		return s.list, nil
	}
	if s.names == nil {
		s.names = slices.Sorted(maps.Keys(s.tools))
	}
	from, _ := slices.BinarySearch(s.names, after+"\x00") // the least text above it
	names := s.names[from:]
	page := names[:min(len(names), s.options.PageSize)]
	e := encoder{buf: []byte(`{"resultType":"complete","tools":[`)}
	for _, name := range page {
		e.item(s.tools[name].json)
	}
	if e.close(']'); len(page) < len(names) {
		e.text("nextCursor", cursorPrefix+page[len(page)-1])
	}
	list := s.endCached(&e)
	if cursor == nil {
		s.list = list
	}
	return list, nil
}

const cursorPrefix = "after "

var callSchema = lazySchema(`{"required":["name"],"properties":{"name":{"type":"string"},"arguments":{"type":"object"},
	"inputResponses":{"type":"object"},"requestState":{"type":"string"}}}`)

// openCall checks the params of tools/call and finds the tool: server/tools, heading Error Handling, protocol errors.
func (s *Server) openCall(m *message) (*task, *Error) {
	name, arguments, responses, state := m.at(slotName), m.at(slotArguments), m.at(slotInputResponses), m.at(slotRequestState)
	if !isText(name) || arguments != nil && !isObject(arguments) ||
		responses != nil && !isObject(responses) || state != nil && !isText(state) {
		return nil, unfit("Invalid params", "", callSchema().validate(m.at(slotParams)))
	}
	var room [128]byte // a tool's name has no more
	s.mu.RLock()
	tool := s.tools[string(appendUnescaped(room[:0], name[1:len(name)-1]))]
	s.mu.RUnlock()
	if tool == nil {
		return nil, &Error{Code: CodeInvalidParams, Message: "Unknown tool: " + clientText(name)}
	}
	t, tells := m.reuse, m.at(slotProgressToken) != nil
	if m.reuse = nil; t == nil || tells { // what is told too late may not go under another's token
		t = new(task)
	}
	if *t = (task{call: Call{Name: tool.name, server: s, tool: tool}}); tells {
		t.call.progress = &progress{task: t, last: math.Inf(-1)}
	}
	t.fill(m)
	return t, nil
}

// fill gives a task what it takes from its request. It is called again where the request moves.
func (t *task) fill(m *message) {
	c := &t.call
	t.id, c.Meta = m.at(slotID), Meta{m.capabilities, m.at(slotMeta)}
	if c.Arguments, c.inputResponses = m.at(slotArguments), m.at(slotInputResponses); c.Arguments == nil {
		c.Arguments = json.RawMessage("{}")
	}
	if state := m.at(slotRequestState); state != nil {
		c.RequestState = unquote(state)
	}
}

var encoders = sync.Pool{New: func() any { return new(encoder) }}

// perform runs a task and gives its response to finish, which must not keep it; also where the tool panics or ends its
// goroutine, which then ends after finish.
func (s *Server) perform(ctx context.Context, t *task, finish func(t *task, response []byte)) {
	e := encoders.Get().(*encoder)
	e.buf, e.err = e.buf[:0], nil
	failure, returned := errInternal, false // it stands, whatever the text of a panic does
	defer func() {
		if failure != nil {
			e.buf = appendResponse(e.buf[:0], t.id, nil, failure)
		}
		if finish(t, e.buf); cap(e.buf) <= maxOutput {
			encoders.Put(e)
		}
	}()
	defer func() {
		if !returned { // there is nothing to recover where the goroutine ends
			s.internalError(t, fmt.Errorf("did not return: %v\n%s", recover(), debug.Stack()))
		}
	}()
	failure = s.runTask(ctx, t, e)
	returned = true
}

// runTask runs a subscription, or checks the arguments, calls the handler, and writes the response; an error is left to the
// caller to write.
func (s *Server) runTask(ctx context.Context, t *task, e *encoder) (failure *Error) {
	if t.call.tool == nil {
		s.listen(ctx, t, e)
		return nil
	}
	var result *Result
	var err error
	if problems := t.call.tool.input.validate(t.call.Arguments); problems != nil {
		err = fmt.Errorf("Invalid arguments:\n%w", problems) // for the model: server/tools, tool execution errors
	} else {
		result, err = t.call.tool.handler(ctx, &t.call)
	}
	e.buf = append(append(append(e.buf, `{"jsonrpc":"2.0","id":`...), t.id...), `,"result":{`...)
	if err == nil {
		e.result(s, result, t.call.tool.output)
	} else {
		failure = e.failed(s, err, t.call.Meta.Capabilities)
	}
	if e.buf = append(e.buf, "}}"...); e.err != nil {
		return s.internalError(t, fmt.Errorf("broken result: %w", e.err))
	}
	return failure
}

// failed writes the result for a handler's error, or returns it where it is one that the client gets as an error.
func (e *encoder) failed(s *Server, err error, declared Capability) (failure *Error) {
	var question *InputRequired
	switch {
	case errors.As(err, &failure):
		defined := slices.Contains([]int{CodeParseError, CodeInvalidRequest, CodeMethodNotFound, CodeInvalidParams, CodeInternalError,
			CodeMissingRequiredClientCapability, CodeUnsupportedProtocolVersion}, failure.Code) // basic/index, heading Error Codes
		reserved := -32768 <= failure.Code && failure.Code <= -32000 && !defined
		if data := mendUTF8(failure.Data); reserved || data != nil && checkJSON(data) != nil {
			e.fail(fmt.Errorf("an error with a reserved code, or with data that is not JSON: %w", err))
		}
	case errors.As(err, &question):
		failure = e.question(s, question, declared)
	default:
		e.result(s, &Result{Text: err.Error(), hasText: true, IsError: true}, nil)
	}
	return failure
}

// errInternal is all that the client is told of what is wrong in a tool; internalError logs the rest.
var errInternal = &Error{Code: CodeInternalError, Message: "Internal error"}

// A call waits only so long for the log: a client may leave stderr unread (basic/transports/stdio), and a call that waits for
// ever keeps its place. What comes while maxLogging entries wait is lost.
const maxLogWait, maxLogging = 100 * time.Millisecond, 64

func (s *Server) internalError(t *task, err error) *Error {
	text, written := fmt.Sprintf("tool %s: %v", t.call.Name, err), make(chan struct{})
	select {
	case s.logging <- struct{}{}:
		go func() {
			s.options.Log.Print(text)
			<-s.logging
			close(written)
		}()
		select {
		case <-written:
		case <-time.After(maxLogWait):
		}
	default:
	}
	return errInternal
}

// result writes the members of a CallToolResult: server/tools, headings Tool Result and Output Schema.
func (e *encoder) result(s *Server, r *Result, output *Schema) {
	if r == nil {
		e.fail(errors.New("neither a result nor an error"))
		return
	}
	if r.IsError {
		output = nil // a failure need not fit
	}
	var structured encoder
	if raw, isRaw := r.StructuredContent.(json.RawMessage); r.StructuredContent != nil && !(isRaw && raw == nil) {
		structured.value(r.StructuredContent, cmp.Or(output, anySchema()))
	} else if output != nil {
		structured.fail(errors.New("none, though the tool has an output schema"))
	}
	if structured.err != nil {
		e.fail(fmt.Errorf("structured content: %w", structured.err))
	}
	text, hasText := r.Text, r.hasText || r.Text != "" || len(r.RawText) > 0
	if !hasText && len(r.Content) == 0 {
		text = string(structured.buf)
	}
	e.buf = append(e.buf, `"resultType":"complete","content":[`...)
	if hasText || text != "" {
		e.item(`{"type":"text"`)
		raw := scanner{data: r.RawText}
		if len(r.RawText) == 0 {
			e.text("text", text)
		} else if end, _ := raw.text(0); isText(r.RawText) && end == len(r.RawText) {
			e.json("text", escapeSeparators(r.RawText))
		} else {
			e.raw("text", r.RawText, typeString) // says what is wrong with it, or mends it
		}
		e.close('}')
	}
	for _, c := range r.Content {
		e.item("")
		e.value(c, contentSchema())
	}
	if e.close(']'); structured.buf != nil {
		e.json("structuredContent", structured.buf)
	}
	e.buf = strconv.AppendBool(e.member("isError"), r.IsError)
	e.meta(s, r.Meta)
}

var anySchema = lazySchema("true")

// value writes a Go value by way of encoding/json, if it fits a schema.
func (e *encoder) value(v any, schema *Schema) {
	var text bytes.Buffer
	to := json.NewEncoder(&text)
	to.SetEscapeHTML(false)
	err := to.Encode(v)
	data := mendUTF8(text.Bytes())
	if err == nil {
		err = schema.Validate(data)
	}
	if err != nil {
		e.fail(err)
		return
	}
	e.buf = appendCompact(e.buf, data)
}
