// patterns.go: what a request can do besides being answered: report progress, ask the client for input, keep state between
// two rounds, and stay open as a subscription. Cancellation, which needs the connection, is in serve.go. Pages:
// basic/patterns/progress, basic/patterns/mrtr, client/elicitation, basic/patterns/subscriptions. Read after serve.go; next is
// schema.go.

package mcp

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
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
	waiting []byte  // its notification, until it is written
	busy    bool    // one is being written, or was less than progressInterval ago
}

// Progress tells the client how far the call is: basic/patterns/progress. The total is unknown where it is not above zero;
// message may be empty. Nothing is sent where the client did not ask for progress, where the value does not rise above the one
// before, and once the call is over. Notifications go out at most every 20 ms; a newer value replaces one that waits.
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
	e := encoder{buf: []byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{`)}
	e.json("progressToken", c.Meta.Value("progressToken"))
	number, _ := json.Marshal(value)
	e.json("progress", number)
	if total > 0 && !math.IsInf(total, 1) {
		number, _ = json.Marshal(total)
		e.json("total", number)
	}
	e.option("message", message)
	if p.waiting = append(e.buf, "}}"...); !p.busy {
		p.write()
	}
}

// write sends what waits, if something does, and sees to it that it is called again when the next may be sent. It is called with
// the lock held.
func (p *progress) write() {
	if p.busy = p.waiting != nil && !p.task.over; !p.busy {
		return
	}
	p.task.send(p.take) // once there is room, which may take as long as the client does not read
	time.AfterFunc(progressInterval, func() {
		p.task.lock.Lock()
		defer p.task.lock.Unlock()
		p.write()
	})
}

// take gives what waits, for somebody to write it, or nil.
func (p *progress) take() (newest []byte) {
	if p != nil {
		newest, p.waiting = p.waiting, nil
	}
	return newest
}

// An InputRequest is a question to the client: basic/patterns/mrtr, heading InputRequests.
type InputRequest struct {
	Key    string          `json:"-"`      // names the question among those of the call
	Method string          `json:"method"` // elicitation/create, sampling/createMessage or roots/list
	Params json.RawMessage `json:"params"` // an object; or nil, with roots/list
}

// An InputRequired is an error that a handler returns to ask for input before it can answer. It has requests or state or both.
// The client calls the tool anew, with its answers and the state: another call, which knows of the first only what came with
// it. If the client has not declared the capability that a request needs, the call is answered by an error that names it.
type InputRequired struct {
	Requests []InputRequest
	State    string          // comes back as Call.RequestState; see Call.SealState
	Meta     json.RawMessage // an object, or nil
}

// Error says that input is required.
func (q *InputRequired) Error() string { return "input required" }

// formText is the restricted subset of JSON Schema that a form may use: client/elicitation, heading Requested Schema. Its $id
// lets it stand inside another schema.
const formText = `{"$id":"form","type":"object","required":["type","properties"],"additionalProperties":false,"properties":{
	"$schema":{"type":"string"},"type":{"const":"object"},"required":{"$ref":"#/$defs/texts"},
	"properties":{"type":"object","additionalProperties":{"oneOf":[{"$ref":"#/$defs/text"},{"$ref":"#/$defs/number"},
		{"$ref":"#/$defs/boolean"},{"$ref":"#/$defs/several"}]}}},
	"$defs":{
		"about":{"required":["type"],"properties":{"title":{"type":"string"},"description":{"type":"string"}}},
		"text":{"$ref":"#/$defs/about","unevaluatedProperties":false,"properties":{"type":{"const":"string"},
			"minLength":{"type":"integer"},"maxLength":{"type":"integer"},"format":{"enum":["email","uri","date","date-time"]},
			"default":{"type":"string"},"enum":{"$ref":"#/$defs/texts"},"oneOf":{"$ref":"#/$defs/titled"}}},
		"number":{"$ref":"#/$defs/about","unevaluatedProperties":false,"properties":{"type":{"enum":["number","integer"]},
			"minimum":{"type":"number"},"maximum":{"type":"number"},"default":{"type":"number"}}},
		"boolean":{"$ref":"#/$defs/about","unevaluatedProperties":false,"properties":{
			"type":{"const":"boolean"},"default":{"type":"boolean"}}},
		"several":{"$ref":"#/$defs/about","unevaluatedProperties":false,"required":["items"],"properties":{"type":{"const":"array"},
			"minItems":{"type":"integer"},"maxItems":{"type":"integer"},"default":{"$ref":"#/$defs/texts"},"items":{"oneOf":[
				{"required":["type","enum"],"additionalProperties":false,"properties":{
					"type":{"const":"string"},"enum":{"$ref":"#/$defs/texts"}}},
				{"required":["anyOf"],"additionalProperties":false,"properties":{"anyOf":{"$ref":"#/$defs/titled"}}}]}}},
		"texts":{"type":"array","items":{"type":"string"}},
		"titled":{"type":"array","items":{"type":"object","required":["const","title"],"additionalProperties":false,
			"properties":{"const":{"type":"string"},"title":{"type":"string"}}}}}}`

var formSchema = lazySchema(formText)

// inputKinds are the questions that may be asked, in so much of their shape, and of their answers', as the schema demands.
var inputKinds = map[string]struct{ request, response func() *Schema }{
	"elicitation/create": {
		lazySchema(`{"properties":{"params":{"type":"object","required":["message"],"properties":{"message":{"type":"string"}},
			"if":{"required":["mode"],"properties":{"mode":{"const":"url"}}},
			"then":{"required":["url"],"properties":{"url":{
				"type":"string","pattern":"^[A-Za-z][A-Za-z0-9+.-]*:([^%\\s]|%[0-9A-Fa-f]{2})+$"}}},
			"else":{"required":["requestedSchema"],"properties":{"mode":{"const":"form"},"requestedSchema":` + formText + `}}}}}`),
		lazySchema(`{"type":"object","required":["action"],"properties":{
			"action":{"enum":["accept","decline","cancel"]},"content":{"type":"object"}}}`)},
	"sampling/createMessage": {
		lazySchema(`{"properties":{"params":{"type":"object","required":["messages","maxTokens"],"properties":{
			"messages":{"type":"array","items":{"type":"object"}},"maxTokens":{"type":"integer"}}}}}`),
		lazySchema(`{"type":"object","required":["role","content","model"],"properties":{
			"role":{"enum":["user","assistant"]},"content":{"type":["object","array"]},"model":{"type":"string"}}}`)},
	"roots/list": {
		lazySchema(`{"properties":{"params":{"type":"object"}}}`),
		lazySchema(`{"type":"object","required":["roots"],"properties":{"roots":{"type":"array","items":{
			"type":"object","required":["uri"],"properties":{"uri":{"type":"string"}}}}}}`)},
}

// question writes an InputRequiredResult: basic/patterns/mrtr, headings InputRequiredResult and Server Requirements. Where the
// client has not declared what a request needs (requirement 7), it gives the error that says so.
func (e *encoder) question(s *Server, q *InputRequired, declared Capability) *Error {
	if e.text("resultType", "input_required"); len(q.Requests) > 0 {
		e.open("inputRequests", '{')
	} else if q.State == "" {
		e.fail(errors.New("input required, but neither requests nor state"))
	}
	var needed Capability
	for i, r := range q.Requests {
		kind, known := inputKinds[r.Method]
		taken := slices.ContainsFunc(q.Requests[:i], func(q InputRequest) bool { return q.Key == r.Key })
		if !known || taken || !utf8.ValidString(r.Key) {
			e.fail(fmt.Errorf("input request: method %q is none, or key %q not UTF-8 or another's", r.Method, r.Key))
			return nil
		}
		if len(r.Params) == 0 {
			r.Params = json.RawMessage("{}") // some clients fail without
		}
		key := appendText(nil, r.Key)
		e.buf = e.member(string(key[1 : len(key)-1]))
		if e.value(r, kind.request()); e.err != nil {
			return nil
		}
		needed |= r.needs()
	}
	if len(q.Requests) > 0 {
		e.close('}')
	}
	e.option("requestState", q.State)
	if e.meta(s, q.Meta); needed&^declared != 0 {
		return MissingClientCapability(needed &^ declared)
	}
	return nil
}

// needs is the capability that a request takes: client/elicitation, heading Capabilities, for each mode of its own.
func (r InputRequest) needs() Capability {
	has := func(name string) bool { return memberOf(r.Params, name) != nil }
	switch {
	case r.Method == "roots/list":
		return Roots
	case r.Method == "elicitation/create" && textIs(memberOf(r.Params, "mode"), "url"):
		return ElicitationURL
	case r.Method == "elicitation/create":
		return ElicitationForm
	case has("tools") || has("toolChoice"):
		return Sampling | SamplingTools
	}
	return Sampling
}

// MissingClientCapability is the error for a call that needs capabilities that the client has not declared: basic/index,
// heading _meta.
func MissingClientCapability(required Capability) *Error {
	has := func(some Capability, text string) string {
		if required&some == 0 {
			return ""
		}
		return text
	}
	modes, tools := has(ElicitationForm, `,"form":{}`)+has(ElicitationURL, `,"url":{}`), has(SamplingTools, `,"tools":{}`)
	text := has(ElicitationForm|ElicitationURL, `,"elicitation":{`+modes+"}") +
		has(Sampling|SamplingTools, `,"sampling":{`+tools+"}") + has(Roots, `,"roots":{}`)
	data := strings.ReplaceAll(`{"requiredCapabilities":{`+text+"}}", "{,", "{")
	return &Error{CodeMissingRequiredClientCapability, "Missing required client capability", []byte(data)}
}

// Ask gives the client's answers to requests, in their order. Unless all are there, the error is the question, an
// [*InputRequired] that asks them all, because the next call brings only the answers to the last question; the handler may add
// State or requests to it, and returns it. An answer of the wrong kind is an error too, for the handler to return. Answers that
// nobody asks for are ignored.
func (c *Call) Ask(requests ...InputRequest) ([]json.RawMessage, error) {
	answers, missing := make([]json.RawMessage, len(requests)), false
	for i, r := range requests {
		answers[i] = memberOf(c.inputResponses, r.Key)
		if kind, known := inputKinds[r.Method]; answers[i] == nil || !known {
			missing = true
		} else if problems := kind.response().validate(answers[i]); problems != nil {
			return nil, unfit("Invalid params", "/inputResponses/"+clip(r.Key), problems)
		}
	}
	if missing {
		return nil, &InputRequired{Requests: slices.Clone(requests)}
	}
	return answers, nil
}

// A Form asks the user for values: client/elicitation, form mode. It is safe for concurrent use.
type Form struct {
	params json.RawMessage // of the question
	schema *Schema
}

// NewForm makes a form of the text that explains it and of a schema. The schema has to be flat, an object of strings, numbers,
// booleans and choices, because a client has to draw it; the error says where it is not.
func NewForm(message string, schema json.RawMessage) (*Form, error) {
	compiled, err := CompileSchema(schema)
	if err == nil {
		err = formSchema().Validate(schema)
	}
	if err != nil {
		return nil, fmt.Errorf("not the schema of a form: %w", err)
	}
	e := encoder{buf: []byte(`{"mode":"form"`)}
	e.text("message", message)
	e.raw("requestedSchema", schema, typeObject)
	return &Form{append(e.buf, '}'), compiled}, e.err
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
	return InputRequest{key, "elicitation/create", slices.Clone(f.params)}
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

// Decode stores the content in a Go value, as [Typed] does it with arguments. It fails where the user has not filled in the form.
func (r *ElicitResult) Decode(value any) error {
	if r.Action != Accept || r.form == nil {
		return errors.New("the user has not filled in the form")
	}
	return decode(r.Content, r.form.schema, value)
}

// Elicit gives the user's answer to a form. Where there is none yet, or one that does not fit the form, the error is the
// question, as it is with Ask, and says nothing of why it is asked again. On the wire the answer is in inputResponses, by key;
// minimcp demo shows it.
func (c *Call) Elicit(key string, form *Form) (*ElicitResult, error) {
	question := form.Request(key)
	answers, err := c.Ask(question)
	if err != nil {
		return nil, err
	}
	r := &ElicitResult{unquote(memberOf(answers[0], "action")), memberOf(answers[0], "content"), form}
	if r.Action == Accept && (r.Content == nil || form.schema.validate(r.Content) != nil) {
		return nil, &InputRequired{Requests: []InputRequest{question}}
	}
	return r, nil
}

type principalKey struct{}

// WithPrincipal names the user on whose behalf requests under this context are made, as the transport has authenticated them.
// Sealed state opens only for the principal that it was sealed for.
func WithPrincipal(ctx context.Context, principal string) context.Context {
	return context.WithValue(ctx, principalKey{}, principal)
}

// SealState protects what a handler wants to remember until the client calls again; return it as the State of an [InputRequired].
// It is signed, not hidden: the client can read it. It is good for this tool, these arguments, this principal and a while (see
// [Options]), any number of times: basic/patterns/mrtr, server requirements 4 and 5. A client can also leave it out, or bring
// that of another such call; answers are not bound to it. Processes that share a StateKey open each other's state.
func (c *Call) SealState(ctx context.Context, payload []byte) string {
	sealed := binary.BigEndian.AppendUint64(nil, uint64(time.Now().Add(c.server.options.StateLife).UnixMilli()))
	sealed = append(sealed, payload...)
	return base64.RawURLEncoding.EncodeToString(append(sealed, c.signature(ctx, sealed)...))
}

// OpenState gives the payload that came back in RequestState, or nil where the call has none, be it the first. The error, one and
// the same for all state that SealState did not make for a call like this one, is for the handler to return.
func (c *Call) OpenState(ctx context.Context) ([]byte, error) {
	if c.RequestState == "" {
		return nil, nil
	}
	if sealed, ok := decode64(c.RequestState); ok && len(sealed) >= 8+sha256.Size {
		body, signature := sealed[:len(sealed)-sha256.Size], sealed[len(sealed)-sha256.Size:]
		expiry := time.UnixMilli(int64(binary.BigEndian.Uint64(body)))
		if hmac.Equal(signature, c.signature(ctx, body)) && time.Now().Before(expiry) {
			return body[8:], nil
		}
	}
	return nil, &Error{Code: CodeInvalidParams, Message: "Invalid requestState: altered, expired, or of another request"}
}

// signature binds a body to the request it belongs to. Each part comes with its length, so that none can pass for two.
func (c *Call) signature(ctx context.Context, body []byte) []byte {
	principal, _ := ctx.Value(principalKey{}).(string)
	arguments, _ := appendCanonical(nil, c.Arguments, 0)
	mac := hmac.New(sha256.New, c.server.stateKey())
	for _, part := range [][]byte{[]byte("tools/call"), []byte(c.Name), arguments, []byte(principal), body} {
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		mac.Write(part)
	}
	return mac.Sum(nil)
}

var listenSchema = lazySchema(`{"required":["notifications"],"properties":{"notifications":{"type":"object","properties":{
	"resourceSubscriptions":{"type":"array","items":{"type":"string"}},"toolsListChanged":{"type":"boolean"},
	"promptsListChanged":{"type":"boolean"},"resourcesListChanged":{"type":"boolean"}}}}}`)

// openSubscription checks the params of subscriptions/listen: basic/patterns/subscriptions, heading Notification Filter.
func openSubscription(m *message) (*task, *Error) {
	if problems := listenSchema().validate(m.at(slotParams)); problems != nil {
		return nil, unfit("Invalid params", "", problems)
	}
	t := &task{toolsListChanged: string(memberOf(m.at(slotNotifications), "toolsListChanged")) == "true"}
	t.fill(m)
	return t, nil
}

// listen runs a subscription until ctx ends, and writes the response that closes it: basic/patterns/subscriptions. The
// acknowledgment comes first and names what is honoured, which of the four types is one.
func (s *Server) listen(ctx context.Context, t *task, e *encoder) {
	tell := func(method, more string) {
		t.lock.Lock()
		defer t.lock.Unlock()
		t.send(func() []byte {
			return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/%s","params":{"_meta":{"%s":%s}%s}}`,
				method, MetaSubscriptionID, t.id, more)
		})
	}
	changed, honoured := s.changes(), `"toolsListChanged":true`
	if !t.toolsListChanged {
		changed, honoured = nil, ""
	}
	tell("subscriptions/acknowledged", `,"notifications":{`+honoured+`}`)
	for {
		select {
		case <-changed:
			changed = s.changes() // before this is told: what changes until it is written is told as one more
			tell("tools/list_changed", "")
		case <-ctx.Done():
			e.buf = fmt.Appendf(e.buf, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","_meta":{"%s":%[1]s,%[3]s}}}`,
				t.id, MetaSubscriptionID, s.serverInfo)
			return
		}
	}
}

// changes returns a channel that is closed when the tools change.
func (s *Server) changes() chan struct{} {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.onChange
}

// changed forgets the list that was made and tells all who watch. It is called with s.mu held.
func (s *Server) changed() {
	close(s.onChange)
	s.names, s.list, s.onChange = nil, nil, make(chan struct{})
}
