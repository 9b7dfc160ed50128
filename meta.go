// meta.go: the metadata that every request carries, because the server remembers nothing of the client.
// Page: basic/index, heading _meta. Read after json.go; next is tools.go.

package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// The keys of _meta that the specification reserves and this package uses.
const (
	MetaProtocolVersion    = "io.modelcontextprotocol/protocolVersion"
	MetaClientInfo         = "io.modelcontextprotocol/clientInfo"
	MetaClientCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaLogLevel           = "io.modelcontextprotocol/logLevel"
	MetaServerInfo         = "io.modelcontextprotocol/serverInfo"
	MetaSubscriptionID     = "io.modelcontextprotocol/subscriptionId"
)

// Meta is the metadata of one request, which has been checked.
type Meta struct {
	Capabilities Capability      // of the client, those that a question can need
	Raw          json.RawMessage // the whole _meta object; a slice of the request, valid as long as its [Call]
}

// Value gives the value under a key, such as MetaClientInfo, as the client wrote it, or nil. It is not to be trusted.
func (m Meta) Value(key string) json.RawMessage { return memberOf(m.Raw, key) }

// A Capability is something that a client may declare and a question to it may need. They can be combined with |.
type Capability int

// The capabilities of clients: the schema's ClientCapabilities.
const ElicitationForm, ElicitationURL, Sampling, SamplingTools, Roots Capability = 1, 2, 4, 8, 16

// supported is the data of an error that a client can mend by naming another version.
var supported = json.RawMessage(`{"supported":["` + ProtocolVersion + `"]}`)

// noHandshake follows the message of the errors that initialize of an older client gets: it may be all that its user sees.
const noHandshake = " (this server speaks MCP " + ProtocolVersion + ", which has no initialize handshake)"

// lazySchema compiles a schema of ours when it is first needed.
func lazySchema(text string) func() *Schema {
	return sync.OnceValue(func() *Schema {
		schema, err := CompileSchema([]byte(text))
		if err != nil {
			panic(err) // only a mistake in this package
		}
		return schema
	})
}

// unfit is the error for params, at a path in them, that do not fit a schema of ours: it names the first member that does not.
func unfit(what, path string, problems *ValidationError) *Error {
	p := problems.Problems[0]
	path = strings.TrimPrefix(path+strings.ReplaceAll(p.Pointer, "~1", "/"), "/")
	return &Error{Code: CodeInvalidParams, Message: fmt.Sprintf("%s: %s: %s", what, path, p.Message)}
}

// metaSchema is what _meta has to be beside the version: basic/index, heading _meta; the schema's ClientCapabilities.
var metaSchema = lazySchema(`{"required":["` + MetaClientCapabilities + `"],"properties":{
	"` + MetaClientCapabilities + `":{"type":"object","properties":{
		"elicitation":{"type":"object","properties":{"form":{"type":"object"},"url":{"type":"object"}}},
		"sampling":{"type":"object","properties":{"tools":{"type":"object"},"context":{"type":"object"}}},
		"roots":{"type":"object"},"experimental":{"type":"object"},"extensions":{"type":"object"}}},
	"` + MetaClientInfo + `":{"type":"object","required":["name","version"],
		"properties":{"name":{"type":"string"},"version":{"type":"string"}}},
	"progressToken":{"type":["string","integer"]},
	"` + MetaLogLevel + `":{"enum":["debug","info","notice","warning","error","critical","alert","emergency"]}}}`)

// checkMeta holds a request against basic/index, heading _meta: a required field that is missing or malformed is -32602,
// a version that is not ours -32022, and that before the rest, which is a matter of the version. Most clients send the same
// _meta each time: what was good once is not looked at again, nor read again where no progress token is in it.
func (m *message) checkMeta() *Error {
	params, meta, version := m.at(slotParams), m.at(slotMeta), m.at(slotVersion)
	switch {
	case meta != nil && bytes.Equal(meta, m.good):
		return nil
	case params != nil && !isObject(params) || meta != nil && !isObject(meta):
		return &Error{CodeInvalidParams, "Invalid params: params and its _meta must be objects", supported}
	case version == nil && string(m.method()) == "initialize":
		return &Error{CodeInvalidParams, "Missing required _meta field: " + MetaProtocolVersion + noHandshake, supported}
	case version == nil:
		return &Error{CodeInvalidParams, "Missing required _meta field: " + MetaProtocolVersion, supported}
	case !isText(version):
		return &Error{CodeInvalidParams, "Invalid _meta field: " + MetaProtocolVersion + ": expected a string", supported}
	case !textIs(version, ProtocolVersion):
		data := fmt.Appendf(nil, `{"supported":["%s"],"requested":%s}`, ProtocolVersion, appendClientText(nil, version))
		return &Error{CodeUnsupportedProtocolVersion, "Unsupported protocol version", data}
	case m.at(slotCapabilities) == nil:
		return &Error{CodeInvalidParams, "Missing required _meta field: " + MetaClientCapabilities, supported}
	}
	if problems := metaSchema().validate(meta); problems != nil {
		err := unfit("Invalid _meta field", "", problems)
		err.Data = supported
		return err
	}
	if m.good = m.good[:0]; len(meta) <= maxKept && m.at(slotProgressToken) == nil {
		m.good = append(m.good, meta...)
	}
	m.capabilities = capabilitiesOf(m.at(slotCapabilities))
	return nil
}

// capabilitiesOf reads clientCapabilities. An elicitation object without a mode is form mode alone: client/elicitation,
// heading Capabilities.
func capabilitiesOf(declared []byte) (c Capability) {
	elicitation, sampling := memberOf(declared, "elicitation"), memberOf(declared, "sampling")
	for i, member := range [...][]byte{memberOf(elicitation, "form"), memberOf(elicitation, "url"), sampling,
		memberOf(sampling, "tools"), memberOf(declared, "roots")} {
		if member != nil {
			c |= 1 << i
		}
	}
	if elicitation != nil && c&ElicitationURL == 0 {
		c |= ElicitationForm
	}
	return c
}

// meta writes the _meta of a result: its own members, and who made it (basic/index, per-response protocol fields).
func (e *encoder) meta(s *Server, own json.RawMessage) {
	start := len(e.buf)
	e.raw("_meta", own, typeObject)
	switch {
	case len(e.buf) == start:
		e.open("_meta", '{')
	case memberOf(own, MetaServerInfo) != nil:
		e.fail(errors.New("_meta must not have " + MetaServerInfo))
	default:
		e.buf = e.buf[:len(e.buf)-1]
	}
	e.item(s.serverInfo)
	e.close('}')
}
