// meta.go: the metadata that every request carries, because the server remembers nothing of the client.
// Page: basic/index, heading _meta. Read after json.go; next is tools.go.

package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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

// noHandshake follows the message of each error that initialize gets: it may be all that a user of an older client sees.
const noHandshake = " (this server speaks MCP " + ProtocolVersion + ", which has no initialize handshake)"

// capabilities are the members of clientCapabilities that have slots, from slotElicitation on. An elicitation object that
// names no mode is form mode alone: client/elicitation, heading Capabilities.
var capabilities = [...]struct {
	name     string
	declares Capability
}{
	{"elicitation", ElicitationForm}, {"elicitation.form", ElicitationForm}, {"elicitation.url", ElicitationURL}, {"sampling", Sampling},
	{"sampling.tools", SamplingTools}, {"sampling.context", 0}, {"roots", Roots}, {"experimental", 0}, {"extensions", 0},
}

// logLevels are those of server/utilities/logging.
var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// checkMeta holds a request against basic/index, heading _meta: a required field that is missing or malformed is -32602,
// a version that is not ours -32022, and that before the rest, which is a matter of the version.
func (m *message) checkMeta() *Error {
	switch params, meta, version := m.at(slotParams), m.at(slotMeta), m.at(slotVersion); {
	case string(version) == `"`+ProtocolVersion+`"`: // in params and _meta that are objects
	case params != nil && !isObject(params) || meta != nil && !isObject(meta):
		return &Error{CodeInvalidParams, "Invalid params: params and its _meta must be objects", supported}
	case version == nil && string(m.method()) == "initialize":
		return &Error{CodeInvalidParams, missingField + MetaProtocolVersion + noHandshake, supported}
	case version == nil:
		return &Error{CodeInvalidParams, missingField + MetaProtocolVersion, supported}
	case !isText(version):
		return invalidMeta(MetaProtocolVersion, "a string")
	case !textIs(version, ProtocolVersion):
		data := fmt.Appendf(nil, `{"supported":["%s"],"requested":%s}`, ProtocolVersion, appendClientText(nil, version))
		return &Error{CodeUnsupportedProtocolVersion, "Unsupported protocol version", data}
	}
	m.capabilities = 0
	switch declared := m.at(slotCapabilities); {
	case declared == nil:
		return &Error{CodeInvalidParams, missingField + MetaClientCapabilities, supported}
	case !isObject(declared):
		return invalidMeta(MetaClientCapabilities, "an object")
	case len(declared) > len("{}"):
		for i, c := range capabilities {
			if value := m.at(slotElicitation + i); value != nil && !isObject(value) {
				return invalidMeta(MetaClientCapabilities+" "+c.name, "an object")
			} else if value != nil {
				m.capabilities |= c.declares
			}
		}
		if m.at(slotURL) != nil && m.at(slotForm) == nil {
			m.capabilities &^= ElicitationForm
		}
	}
	switch info, token, level := m.at(slotClientInfo), m.at(slotProgressToken), m.at(slotLogLevel); {
	case info != nil && !(isText(m.at(slotClientName)) && isText(m.at(slotClientVersion))):
		return invalidMeta(MetaClientInfo, "an object with strings name and version")
	case token != nil && !isID(token):
		return invalidMeta("progressToken", "a string or an integer")
	case level != nil && !(isText(level) && slices.Contains(logLevels, unquote(level))):
		return invalidMeta(MetaLogLevel, "one of the eight log levels")
	}
	return nil
}

const missingField = "Missing required _meta field: "

func invalidMeta(key, want string) *Error {
	return &Error{CodeInvalidParams, fmt.Sprintf("Invalid _meta field: %s must be %s", key, want), supported}
}

// meta writes the _meta of a result: its own members, and who made it (basic/index, per-response protocol fields).
func (e *encoder) meta(s *Server, own json.RawMessage) {
	start := len(e.buf)
	e.raw("_meta", own, isObject)
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
