// meta.go: the metadata that every request carries, because the server remembers nothing of the client.
//
// Page: basic/index, heading _meta. Read after json.go; next is tools.go.

package mcp

import (
	"encoding/json"
	"fmt"
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

// Meta is the metadata of one request, which has been checked. The raw JSON is a slice of the request and valid as long as
// its [Call].
type Meta struct {
	Capabilities Capability      // of the client, those that a question can need
	Raw          json.RawMessage // the whole _meta object, with what others put there
}

// Value gives the value under a key, such as MetaClientInfo, as the client wrote it, or nil. What it says of the client is
// not to be trusted.
func (m Meta) Value(key string) json.RawMessage { return memberOf(m.Raw, key) }

// A Capability is something that a client may declare and a question to it may need: the schema's ClientCapabilities. They
// can be combined with |.
type Capability int

// The capabilities of clients.
const (
	ElicitationForm Capability = 1 << iota
	ElicitationURL
	Sampling
	SamplingTools
	Roots
)

// metaFields are the members of _meta that the reading of a message notes.
var metaFields = []field{
	{MetaProtocolVersion, slotVersion, nil},
	{MetaClientInfo, slotClientInfo, []field{{"name", slotClientName, nil}, {"version", slotClientVersion, nil}}},
	{MetaClientCapabilities, slotCapabilities, []field{
		{"elicitation", slotElicitation, []field{{"form", slotForm, nil}, {"url", slotURL, nil}}},
		{"sampling", slotSampling, []field{{"tools", slotSamplingTools, nil}, {"context", slotSamplingContext, nil}}},
		{"roots", slotRoots, nil},
		{"experimental", slotExperimental, nil},
		{"extensions", slotExtensions, nil},
	}},
	{"progressToken", slotProgressToken, nil},
	{MetaLogLevel, slotLogLevel, nil},
}

// metaRules are the types of the optional members, in the order in which they are checked; the first that is broken is
// the error. A member of another slot has to be there if that one is.
var metaRules = []struct {
	slot int
	name string
	want string
	fits func([]byte) bool
	of   int
}{
	{slotElicitation, MetaClientCapabilities + " elicitation", "an object", isObject, none},
	{slotForm, MetaClientCapabilities + " elicitation.form", "an object", isObject, none},
	{slotURL, MetaClientCapabilities + " elicitation.url", "an object", isObject, none},
	{slotSampling, MetaClientCapabilities + " sampling", "an object", isObject, none},
	{slotSamplingTools, MetaClientCapabilities + " sampling.tools", "an object", isObject, none},
	{slotSamplingContext, MetaClientCapabilities + " sampling.context", "an object", isObject, none},
	{slotRoots, MetaClientCapabilities + " roots", "an object", isObject, none},
	{slotExperimental, MetaClientCapabilities + " experimental", "an object", isObject, none},
	{slotExtensions, MetaClientCapabilities + " extensions", "an object", isObject, none},
	{slotClientInfo, MetaClientInfo, "an object", isObject, none},
	{slotClientName, MetaClientInfo + " name", "a string", isText, slotClientInfo},
	{slotClientVersion, MetaClientInfo + " version", "a string", isText, slotClientInfo},
	{slotProgressToken, "progressToken", "a string or an integer", isID, none},
	{slotLogLevel, MetaLogLevel, "one of the eight log levels", isLogLevel, none},
}

const none = -1

// isLogLevel knows the levels of server/utilities/logging.
func isLogLevel(value []byte) bool {
	if !isText(value) {
		return false
	}
	switch unquote(value) {
	case "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency":
		return true
	}
	return false
}

// supported is the data of an error that a client can mend by naming another version.
var supported = json.RawMessage(`{"supported":["` + ProtocolVersion + `"]}`)

// checkMeta holds a request against basic/index, heading _meta: a required field that is missing or malformed is -32602,
// a version that is not ours -32022, and that before the rest, which is a matter of the version.
func (m *message) checkMeta() *Error {
	version := m.at(slotVersion)
	switch params, meta := m.at(slotParams), m.at(slotMeta); {
	case len(params) > 0 && !isObject(params):
		return &Error{CodeInvalidParams, "Invalid params: params must be an object", supported}
	case len(meta) > 0 && !isObject(meta):
		return &Error{CodeInvalidParams, "Invalid params: _meta must be an object", supported}
	case len(version) == 0:
		return m.missing(MetaProtocolVersion)
	case !isText(version):
		return invalidMeta(MetaProtocolVersion, "a string")
	case !textIs(version, ProtocolVersion):
		requested := appendClientText(nil, version)
		data := fmt.Appendf(nil, `{"supported":["%s"],"requested":%s}`, ProtocolVersion, requested)
		return &Error{CodeUnsupportedProtocolVersion, "Unsupported protocol version", data}
	}
	switch declared := m.at(slotCapabilities); {
	case len(declared) == 0:
		return m.missing(MetaClientCapabilities)
	case !isObject(declared):
		return invalidMeta(MetaClientCapabilities, "an object")
	}
	for _, rule := range metaRules {
		value := m.at(rule.slot)
		demanded := value != nil || rule.of != none && m.at(rule.of) != nil
		if demanded && !rule.fits(value) {
			return invalidMeta(rule.name, rule.want)
		}
	}
	return nil
}

// missing is the error for a required field that is not there. A client of an older revision is told what it met
// (basic/versioning, backward compatibility: the error should name the versions).
func (m *message) missing(key string) *Error {
	text := "Missing required _meta field: " + key
	if key == MetaProtocolVersion && string(m.method()) == "initialize" {
		text += noHandshake
	}
	return &Error{CodeInvalidParams, text, supported}
}

// noHandshake follows the message of each error that initialize gets.
const noHandshake = " (this server speaks MCP " + ProtocolVersion + ", which has no initialize handshake)"

func invalidMeta(key, want string) *Error {
	return &Error{CodeInvalidParams, fmt.Sprintf("Invalid _meta field: %s must be %s", key, want), supported}
}

// declared are the capabilities of the client that a question can need.
func (m *message) declared() (c Capability) {
	for _, d := range [...]struct {
		slot int
		c    Capability
	}{
		{slotForm, ElicitationForm}, {slotURL, ElicitationURL}, {slotSampling, Sampling}, {slotSamplingTools, SamplingTools}, {slotRoots, Roots},
	} {
		if m.at(d.slot) != nil {
			c |= d.c
		}
	}
	if m.at(slotElicitation) != nil && c&ElicitationURL == 0 {
		c |= ElicitationForm // client/elicitation, heading Capabilities: an empty object is form mode alone
	}
	return c
}
