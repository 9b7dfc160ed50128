// patterns.go: what a request can do besides being answered: report progress, ask the client for input, keep state
// between two rounds, and stay open as a subscription. Cancellation, which needs the connection, is in serve.go.
//
// Pages: basic/patterns/progress, basic/patterns/mrtr, client/elicitation, basic/patterns/subscriptions. Read after
// serve.go; next is schema.go.

package mcp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"
)

// progressInterval is the least time between two progress notifications of one call: basic/patterns/progress, heading
// Implementation Notes, asks for a limit.
const progressInterval = 20 * time.Millisecond

// progress is what a call with a progress token has told, and what it has still to tell. The task's lock guards it.
type progress struct {
	task    *task
	last    float64 // the newest value
	sent    time.Time
	waiting []byte // the newest notification, until it is due
	busy    bool   // a notification is being written, or a timer runs that will write the next
	timer   *time.Timer
}

// newProgress returns nil, which costs nothing, where the client sent no token.
func newProgress(t *task) *progress {
	if !t.wantsProgress {
		return nil
	}
	return &progress{task: t, last: math.Inf(-1)}
}

// Progress tells the client how far the call is: basic/patterns/progress. The total is unknown where it is not above
// zero; message may be empty. Nothing is sent where the client did not ask for progress, where the value does not rise
// above the one before, and once the call is over. Notifications go out at most every 20 ms; a newer value replaces one
// that waits.
func (c *Call) Progress(value, total float64, message string) {
	p := c.progress
	if p == nil {
		return
	}
	p.task.lock.Lock()
	defer p.task.lock.Unlock()
	if p.task.over || !(value > p.last) || math.IsInf(value, 1) { // NaN is not above anything
		return
	}
	p.last = value
	p.waiting = p.notification(total, message)
	if !p.busy {
		p.write()
	}
}

// notification is the message with the newest value.
func (p *progress) notification(total float64, message string) []byte {
	e := encoder{buf: []byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{`)}
	e.json("progressToken", p.task.call.Meta.Value("progressToken"))
	e.json("progress", appendNumber(nil, p.last))
	if total > 0 && !math.IsInf(total, 1) {
		e.json("total", appendNumber(nil, total))
	}
	e.option("message", message)
	return append(e.buf, "}}"...)
}

// appendNumber appends a finite number in the shortest form that JSON has for it.
func appendNumber(dst []byte, value float64) []byte {
	format := byte('f')
	if abs := math.Abs(value); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, value, format, -1, 64)
}

// write sends what waits, now or when it is due. It is called with the lock held.
func (p *progress) write() {
	if p.waiting == nil || p.task.over {
		p.busy = false
		return
	}
	p.busy = true
	if wait := progressInterval - time.Since(p.sent); wait > 0 {
		p.timer = time.AfterFunc(wait, func() {
			p.task.lock.Lock()
			defer p.task.lock.Unlock()
			p.write()
		})
		return
	}
	var message []byte
	p.task.send(func() []byte { // once there is room, which may take as long as the client does not read
		message = p.waiting
		p.waiting, p.sent = nil, time.Now()
		return message
	})
	if message == nil { // the connection takes no more
		p.waiting = nil
	}
	p.write()
}

// end stops the progress of a call that is about to be answered, and returns what still waits, or nil.
func (p *progress) end() (last []byte) {
	if p == nil {
		return nil
	}
	if p.timer != nil {
		p.timer.Stop()
	}
	last, p.waiting = p.waiting, nil
	return last
}

// An InputRequest is a question to the client: basic/patterns/mrtr, heading InputRequests.
type InputRequest struct {
	Key    string          // names the question among those of the call
	Method string          // elicitation/create, sampling/createMessage or roots/list
	Params json.RawMessage // an object; or nil, with roots/list
}

// An InputRequired is an error that a handler returns to ask for input before it can answer. It has requests or state or
// both. The client calls the tool anew, with its answers and the state: another call, which knows of the first only what
// came with it. The client has to be able to answer; if it has not declared the capability that a request needs, the
// call is answered by an error that names it.
type InputRequired struct {
	Requests []InputRequest
	State    string          // comes back as Call.RequestState; see Call.SealState
	Meta     json.RawMessage // an object, or nil
}

// Error says that input is required.
func (q *InputRequired) Error() string { return "input required" }

// kinds are the questions that may be asked, in so much of their shape, and of their answers', as the schema demands.
var kinds = map[string]struct{ question, answer func() *Schema }{
	"elicitation/create": {
		lazySchema(`{"type":"object","required":["message"],"properties":{"message":{"type":"string"}},
			"if":{"required":["mode"],"properties":{"mode":{"const":"url"}}},
			"then":{"required":["url"],"properties":{"url":{"type":"string"}}},
			"else":{"required":["requestedSchema"],"properties":{"mode":{"const":"form"},"requestedSchema":{
				"type":"object","required":["type","properties"],
				"properties":{"type":{"const":"object"},"properties":{"type":"object"}}}}}}`),
		lazySchema(`{"type":"object","required":["action"],"properties":{
			"action":{"enum":["accept","decline","cancel"]},"content":{"type":"object"}}}`),
	},
	"sampling/createMessage": {
		lazySchema(`{"type":"object","required":["messages","maxTokens"],"properties":{
			"messages":{"type":"array","items":{"type":"object"}},"maxTokens":{"type":"integer"}}}`),
		lazySchema(`{"type":"object","required":["role","content","model"],"properties":{
			"role":{"enum":["user","assistant"]},"content":{"type":["object","array"]},"model":{"type":"string"}}}`),
	},
	"roots/list": {
		lazySchema(`{"type":"object"}`),
		lazySchema(`{"type":"object","required":["roots"],"properties":{"roots":{"type":"array","items":{
			"type":"object","required":["uri"],"properties":{"uri":{"type":"string"}}}}}}`),
	},
}

// lazySchema compiles a schema of ours when it is first needed.
func lazySchema(text string) func() *Schema {
	return sync.OnceValue(func() *Schema {
		schema, err := CompileSchema([]byte(text))
		if err != nil {
			panic(err) // only a mistake in this file
		}
		return schema
	})
}

// question writes the members of an InputRequiredResult: basic/patterns/mrtr, headings InputRequiredResult and Server
// Requirements.
func (e *encoder) question(q *InputRequired) {
	if len(q.Requests) == 0 && q.State == "" {
		e.fail(errors.New("input required, but neither requests nor state"))
		return
	}
	e.text("resultType", "input_required")
	if len(q.Requests) > 0 {
		e.open("inputRequests", '{')
		for i, r := range q.Requests {
			if !utf8.ValidString(r.Key) || slices.ContainsFunc(q.Requests[:i], func(q InputRequest) bool { return q.Key == r.Key }) {
				e.fail(fmt.Errorf("the key of an input request is not UTF-8, or is another's: %q", r.Key))
			}
			e.inputRequest(r)
		}
		e.close('}')
	}
	e.option("requestState", q.State)
}

func (e *encoder) inputRequest(r InputRequest) {
	kind, known := kinds[r.Method]
	if !known {
		e.fail(fmt.Errorf("input request %q: no such method as %q", r.Key, r.Method))
		return
	}
	key := appendText(nil, r.Key)
	e.open(string(key[1:len(key)-1]), '{')
	params := []byte(cmp.Or(string(trimSpace(r.Params)), "{}")) // some clients fail without
	e.text("method", r.Method)
	e.raw("params", params, isObject)
	e.close('}')
	if e.err != nil {
		return
	}
	if problems := kind.question().validate(params); problems != nil {
		e.fail(fmt.Errorf("input request %q: %w", r.Key, problems))
	} else if form := memberOf(params, "requestedSchema"); form != nil && !textIs(memberOf(params, "mode"), "url") {
		if problems := formSchema().validate(form); problems != nil {
			e.fail(fmt.Errorf("input request %q: requestedSchema is not that of a form: %w", r.Key, problems))
		}
	} else if page := memberOf(params, "url"); page != nil {
		if u, err := url.Parse(unquote(page)); err != nil || !u.IsAbs() {
			e.fail(fmt.Errorf("input request %q: url is not that of a page", r.Key))
		}
	}
}

// refusal holds requests that have been written against what the client can do: basic/patterns/mrtr, server requirement
// 7, and client/elicitation, heading Capabilities, for each mode of its own.
func (q *InputRequired) refusal(declared Capability) *Error {
	var needed Capability
	for _, r := range q.Requests {
		switch r.Method {
		case "elicitation/create":
			if textIs(memberOf(r.Params, "mode"), "url") {
				needed |= ElicitationURL
			} else {
				needed |= ElicitationForm
			}
		case "sampling/createMessage":
			needed |= Sampling
			if memberOf(r.Params, "tools") != nil || memberOf(r.Params, "toolChoice") != nil {
				needed |= SamplingTools
			}
		case "roots/list":
			needed |= Roots
		}
	}
	if lacking := needed &^ declared; lacking != 0 {
		return MissingClientCapability(lacking)
	}
	return nil
}

// MissingClientCapability is the error for a call that needs capabilities that the client has not declared: basic/index,
// heading _meta.
func MissingClientCapability(required Capability) *Error {
	e := encoder{buf: []byte(`{"requiredCapabilities":{`)}
	part := func(name string, c Capability) {
		if required&c != 0 {
			e.json(name, []byte("{}"))
		}
	}
	if required&(ElicitationForm|ElicitationURL) != 0 {
		e.open("elicitation", '{')
		part("form", ElicitationForm)
		part("url", ElicitationURL)
		e.close('}')
	}
	if required&(Sampling|SamplingTools) != 0 {
		e.open("sampling", '{')
		part("tools", SamplingTools)
		e.close('}')
	}
	part("roots", Roots)
	e.buf = append(e.buf, "}}"...)
	return &Error{CodeMissingRequiredClientCapability, "Missing required client capability", e.buf}
}

// Ask gives the client's answers to requests, in their order. Unless all are there, the error is the question, an
// [*InputRequired] that asks them all, because the next call brings only the answers to the last question; the handler
// may add State or requests to it, and returns it. An answer of the wrong kind is an error too, for the handler to
// return. Answers that nobody asks for are ignored.
func (c *Call) Ask(requests ...InputRequest) ([]json.RawMessage, error) {
	answers := make([]json.RawMessage, len(requests))
	missing := false
	for i, r := range requests {
		answers[i] = memberOf(c.inputResponses, r.Key)
		if kind, known := kinds[r.Method]; answers[i] == nil || !known {
			missing = true
		} else if problems := kind.answer().validate(answers[i]); problems != nil {
			p := problems.Problems[0]
			text := fmt.Sprintf("Invalid params: inputResponses %s is no answer to %s: %s %s", clip(r.Key), r.Method, p.Pointer, p.Message)
			return nil, &Error{Code: CodeInvalidParams, Message: text}
		}
	}
	if missing {
		return nil, &InputRequired{Requests: slices.Clone(requests)}
	}
	return answers, nil
}

// A Form asks the user for values: client/elicitation, form mode. It is safe for concurrent use.
type Form struct {
	message string
	raw     json.RawMessage
	schema  *Schema
	names   []string // of its properties
}

// formSchema is the restricted subset of JSON Schema that a form may use: client/elicitation, heading Requested Schema.
var formSchema = lazySchema(`{
	"type":"object","required":["type","properties"],"additionalProperties":false,
	"properties":{
		"$schema":{"type":"string"},
		"type":{"const":"object"},
		"properties":{"type":"object","additionalProperties":{"oneOf":[
			{"$ref":"#/$defs/text"},{"$ref":"#/$defs/number"},{"$ref":"#/$defs/boolean"},{"$ref":"#/$defs/several"}]}},
		"required":{"type":"array","items":{"type":"string"}}},
	"$defs":{
		"text":{"required":["type"],"additionalProperties":false,"properties":{
			"type":{"const":"string"},"title":{"type":"string"},"description":{"type":"string"},
			"minLength":{"type":"integer"},"maxLength":{"type":"integer"},
			"format":{"enum":["email","uri","date","date-time"]},"default":{"type":"string"},
			"enum":{"$ref":"#/$defs/strings"},"oneOf":{"$ref":"#/$defs/titled"}}},
		"number":{"required":["type"],"additionalProperties":false,"properties":{
			"type":{"enum":["number","integer"]},"title":{"type":"string"},"description":{"type":"string"},
			"minimum":{"type":"number"},"maximum":{"type":"number"},"default":{"type":"number"}}},
		"boolean":{"required":["type"],"additionalProperties":false,"properties":{
			"type":{"const":"boolean"},"title":{"type":"string"},"description":{"type":"string"},
			"default":{"type":"boolean"}}},
		"several":{"required":["type","items"],"additionalProperties":false,"properties":{
			"type":{"const":"array"},"title":{"type":"string"},"description":{"type":"string"},
			"minItems":{"type":"integer"},"maxItems":{"type":"integer"},"default":{"$ref":"#/$defs/strings"},
			"items":{"oneOf":[
				{"required":["type","enum"],"additionalProperties":false,"properties":{
					"type":{"const":"string"},"enum":{"$ref":"#/$defs/strings"}}},
				{"required":["anyOf"],"additionalProperties":false,"properties":{"anyOf":{"$ref":"#/$defs/titled"}}}]}}},
		"strings":{"type":"array","items":{"type":"string"}},
		"titled":{"type":"array","items":{"type":"object","required":["const","title"],"additionalProperties":false,
			"properties":{"const":{"type":"string"},"title":{"type":"string"}}}}}}`)

// NewForm makes a form of the text that explains it and of a schema. The schema has to be flat, an object of strings,
// numbers, booleans and choices, because a client has to draw it; the error says where it is not.
func NewForm(message string, schema json.RawMessage) (*Form, error) {
	compiled, err := CompileSchema(schema)
	if err != nil {
		return nil, err
	}
	if err := formSchema().Validate(schema); err != nil {
		return nil, fmt.Errorf("not the schema of a form: %w", err)
	}
	return &Form{message, bytes.Clone(schema), compiled, propertyNames(schema)}, nil
}

// MustForm is NewForm for a form that is written in the program: it panics where NewForm returns an error.
func MustForm(message, schema string) *Form {
	form, err := NewForm(message, json.RawMessage(schema))
	if err != nil {
		panic(err)
	}
	return form
}

// Request is the question that shows the form.
func (f *Form) Request(key string) InputRequest {
	e := encoder{buf: []byte{'{'}}
	e.text("mode", "form")
	e.text("message", f.message)
	e.raw("requestedSchema", f.raw, isObject)
	e.close('}')
	return InputRequest{key, "elicitation/create", e.buf}
}

// The actions of an [ElicitResult]: client/elicitation, heading Response Actions.
const (
	Accept  = "accept"  // the user has filled in the form
	Decline = "decline" // the user has refused
	Cancel  = "cancel"  // the user has made no choice
)

// An ElicitResult is what the user has done with a form.
type ElicitResult struct {
	Action  string          // Accept, Decline or Cancel
	Content json.RawMessage // with Accept, an object that fits the form's schema
	form    *Form
}

// Decode stores the content in a Go value, as [Typed] does it with arguments. It fails where the user has not filled in
// the form.
func (r *ElicitResult) Decode(value any) error {
	if r.Action != Accept || r.form == nil {
		return errors.New("the user has not filled in the form")
	}
	return json.Unmarshal(exactly(r.Content, r.form.names), value)
}

// Elicit gives the user's answer to a form. Where there is none yet, or one that does not fit the form, the error is the
// question, as it is with Ask, and says nothing of why it is asked again. On the wire the answer is in inputResponses, by
// key; minimcp demo shows it.
func (c *Call) Elicit(key string, form *Form) (*ElicitResult, error) {
	request := form.Request(key)
	answers, err := c.Ask(request)
	if err != nil {
		return nil, err
	}
	r := &ElicitResult{unquote(memberOf(answers[0], "action")), memberOf(answers[0], "content"), form}
	if r.Action == Accept && (r.Content == nil || form.schema.validate(r.Content) != nil) {
		return nil, &InputRequired{Requests: []InputRequest{request}}
	}
	return r, nil
}

// WithPrincipal names the user on whose behalf requests under this context are made, as the transport has authenticated
// them. Sealed state opens only for the principal that it was sealed for.
func WithPrincipal(ctx context.Context, principal string) context.Context {
	return context.WithValue(ctx, principalKey{}, principal)
}

type principalKey struct{}

// SealState protects what a handler wants to remember until the client calls again; return it as the State of an
// [InputRequired]. It is signed, not hidden: the client can read it. It is good for this tool, these arguments, this
// principal and a while (see [Options]), any number of times: basic/patterns/mrtr, server requirements 4 and 5. Processes
// that share a StateKey open each other's state.
func (c *Call) SealState(ctx context.Context, payload []byte) string {
	sealed := binary.BigEndian.AppendUint64(nil, uint64(time.Now().Add(c.server.options.StateLife).UnixMilli()))
	sealed = append(sealed, payload...)
	return base64.RawURLEncoding.EncodeToString(append(sealed, c.signature(ctx, sealed)...))
}

// invalidState is the one error for state that does not open, whatever is wrong with it.
func invalidState() error {
	return &Error{Code: CodeInvalidParams, Message: "Invalid requestState: altered, expired, or of another request"}
}

// OpenState gives the payload that came back in RequestState, or nil where the call has none. The error, for state that
// SealState did not make for a call like this one, is for the handler to return.
func (c *Call) OpenState(ctx context.Context) ([]byte, error) {
	if c.RequestState == "" {
		return nil, nil
	}
	sealed, ok := decode64(c.RequestState)
	if !ok || len(sealed) < 8+sha256.Size {
		return nil, invalidState()
	}
	body, signature := sealed[:len(sealed)-sha256.Size], sealed[len(sealed)-sha256.Size:]
	expiry := time.UnixMilli(int64(binary.BigEndian.Uint64(body)))
	if !hmac.Equal(signature, c.signature(ctx, body)) || !time.Now().Before(expiry) {
		return nil, invalidState()
	}
	return body[8:], nil
}

// signature binds a body to the request it belongs to. Each part comes with its length, so that none can pass for two.
func (c *Call) signature(ctx context.Context, body []byte) []byte {
	principal, _ := ctx.Value(principalKey{}).(string)
	arguments, _ := appendCanonical(nil, c.Arguments, 0)
	mac := hmac.New(sha256.New, c.server.options.StateKey)
	for _, part := range [][]byte{[]byte("tools/call"), []byte(c.Name), arguments, []byte(principal), body} {
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		mac.Write(part)
	}
	return mac.Sum(nil)
}

// openSubscription checks the params of subscriptions/listen: basic/patterns/subscriptions, heading Notification Filter.
func openSubscription(m *message) (*task, *Error) {
	filter := m.at(slotNotifications)
	if !isObject(filter) {
		return nil, &Error{Code: CodeInvalidParams, Message: "Invalid params: notifications must be an object"}
	}
	t := new(task)
	t.fill(m)
	for raw, value := range members(filter) {
		switch name := string(appendUnescaped(nil, raw)); name {
		case "toolsListChanged":
			t.toolsListChanged = value[0] == 't'
			fallthrough
		case "promptsListChanged", "resourcesListChanged":
			if value[0] != 't' && value[0] != 'f' {
				return nil, invalidFilter(name, "true or false")
			}
		case "resourceSubscriptions":
			if !isArray(value) {
				return nil, invalidFilter(name, "an array of strings")
			}
			for _, uri := range members(value) {
				if !isText(uri) {
					return nil, invalidFilter(name, "an array of strings")
				}
			}
		}
	}
	return t, nil
}

func invalidFilter(name, want string) *Error {
	return &Error{Code: CodeInvalidParams, Message: fmt.Sprintf("Invalid params: notifications.%s must be %s", name, want)}
}

// listen runs a subscription until ctx ends, and writes the response that closes it: basic/patterns/subscriptions. The
// acknowledgment comes first and names what is honoured, which of the four types is one. Changes of the list that wait
// to be told are told as one.
func (s *Server) listen(ctx context.Context, t *task, e *encoder) {
	meta := fmt.Appendf(nil, `{"%s":%s}`, MetaSubscriptionID, t.id)
	honoured := ""
	var changes chan struct{}
	if t.toolsListChanged {
		honoured = `"toolsListChanged":true`
		changes = s.watch()
		defer s.unwatch(changes)
	}
	t.tell(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":`+
		`{"_meta":%s,"notifications":{%s}}}`, meta, honoured))
	for {
		select {
		case <-changes:
			t.tell(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":%s}}`, meta))
		case <-ctx.Done():
			e.buf = append(append(append(e.buf, `{"jsonrpc":"2.0","id":`...), t.id...), `,"result":{`...)
			e.text("resultType", "complete")
			e.open("_meta", '{')
			e.json(MetaSubscriptionID, t.id)
			e.item(s.serverInfo)
			e.buf = append(e.buf, "}}}"...)
			return
		}
	}
}

// cancelled is the notification that a server ends a subscription with.
func cancelled(id []byte) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"_meta":{"%s":%s}}}`,
		id, MetaSubscriptionID, id)
}

// tell sends a notification.
func (t *task) tell(message []byte) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.send(func() []byte { return message })
}

// watch returns a channel that has something in it once the tools have changed.
func (s *Server) watch() chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	changes := make(chan struct{}, 1)
	s.watchers[changes] = true
	return changes
}

func (s *Server) unwatch(changes chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watchers, changes)
}

// changed forgets the list that was made and tells all who watch. It is called with s.mu held.
func (s *Server) changed() {
	s.list = nil
	for changes := range s.watchers {
		select {
		case changes <- struct{}{}:
		default: // it is told already
		}
	}
}
