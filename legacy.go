// legacy.go: clients of older revisions, which open with initialize. A translator stands before a connection's input: from
// initialize on, a request that lacks the metadata of this revision is given it, and a mark. Three errors that such requests
// get become the results of older days, where serve.go writes them. All else passes, also batches, which revision 2025-03-26
// had: they stay refused. Pages: basic/versioning, basic/transports/stdio (headings Backward Compatibility); of revision
// 2025-11-25 basic/lifecycle, basic/utilities/ping. Read last. All this can go once no host opens with initialize any more.

package mcp

import (
	"bytes"
	"io"
	"slices"
)

// legacyVersions are the revisions with a handshake, the latest first.
var legacyVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

const (
	legacyMark   = "minimcp/legacy"
	legacyNoForm = `{"content":[{"type":"text","text":"This tool has to ask the client for input, which takes a client of MCP ` +
		ProtocolVersion + ` or later."}],"isError":true}`
	// What a request of theirs lacks, and the most bytes that takes. The client's capabilities are none that could be used.
	lackedFields = `"` + MetaProtocolVersion + `":"` + ProtocolVersion + `","` + MetaClientCapabilities + `":{},"` +
		legacyMark + `":1`
	lackedMost = len(`"params":{"_meta":{` + lackedFields + `}},`)
)

// A translator is the input of one connection.
type translator struct {
	frames *Reader
	input  bytes.Buffer // for the core to read
	legacy bool         // initialize has selected legacy semantics, for this connection alone
}

// translate puts a translator before an input, and gives the limit of its messages.
func translate(r io.Reader, limit int) (io.Reader, int) {
	first := *bytes.NewBufferString("\n") // ends the start of the stream, where the core too would skip a byte order mark
	return &translator{frames: NewReader(r, limit), input: first}, limit + lackedMost
}

// Read gives the core the client's lines. One that is too long becomes one that is too long for the core.
func (t *translator) Read(p []byte) (int, error) {
	for t.input.Len() == 0 {
		line, err := t.frames.ReadFrame()
		if long, ok := err.(*FrameTooLongError); ok {
			line = make([]byte, long.Limit+lackedMost+1)
		} else if err != nil {
			return 0, err
		}
		t.input.Write(slices.Concat(t.inward(line), []byte("\n")))
	}
	return t.input.Read(p)
}

// inward translates a line. What is no good request passes, for the core to say so; so does a whole one.
func (t *translator) inward(line []byte) []byte {
	var m message
	kind, _ := m.read(line)
	older := kind == request && m.at(slotVersion) == nil && m.at(slotCapabilities) == nil
	if t.legacy = t.legacy || older && string(m.method()) == "initialize"; !older || !t.legacy {
		return line
	}
	at, lacked := m.place[slotMeta].from, lackedFields // put first in the innermost object that there is
	if m.at(slotMeta) == nil {
		at, lacked = m.place[slotParams].from, `"_meta":{`+lacked+"}"
	}
	if m.at(slotParams) == nil {
		at, lacked = m.space(0), `"params":{`+lacked+"}"
	}
	switch {
	case line[at] != '{':
		return line // the core refuses it
	case line[skipSpace(line, at+1)] != '}':
		lacked += ","
	}
	return slices.Concat(line[:at+1], []byte(lacked), line[at+1:])
}

// legacyResult gives a result in the place of an error, where a request with the mark has a method that the core does not know.
func (s *Server) legacyResult(m *message, failure *Error) ([]byte, *Error) {
	if failure.Code != CodeMethodNotFound || memberOf(m.at(slotMeta), legacyMark) == nil {
		return nil, failure
	}
	switch string(m.method()) {
	case "ping":
		return []byte("{}"), nil
	case "initialize":
		asked := func(version string) bool { return textIs(memberOf(m.at(slotParams), "protocolVersion"), version) }
		e := encoder{buf: []byte(`{"capabilities":{"tools":{}},"serverInfo":` + s.serverInfo[len(MetaServerInfo)+len(`"":`):])}
		e.text("protocolVersion", legacyVersions[max(0, slices.IndexFunc(legacyVersions, asked))])
		e.option("instructions", s.options.Instructions)
		return append(e.buf, '}'), nil
	}
	return nil, failure
}

// legacyResponse is the response to a call, of which one with the mark cannot be told that it lacks a capability.
func (t *task) legacyResponse(response []byte) []byte {
	if !bytes.HasPrefix(memberOf(response, "error"), []byte(`{"code":-32021,`)) || t.call.Meta.Value(legacyMark) == nil {
		return response
	}
	return appendResult(nil, t.id, []byte(legacyNoForm))
}
