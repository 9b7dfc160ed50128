// legacy.go: clients of older revisions, which open with initialize. A translator stands between a connection's streams and the
// rest of the package, which does not know of it. Inward, from initialize on, a request that lacks the metadata of this revision
// is given it. Outward, three errors that such requests get become the results of older days. All else passes, also batches, which
// revision 2025-03-26 had: they stay refused. Pages: basic/versioning, basic/transports/stdio (headings Backward Compatibility);
// of revision 2025-11-25 basic/lifecycle, basic/utilities/ping. Read last. It can go once no host opens with initialize any more.

package mcp

import (
	"bytes"
	"io"
	"slices"
	"sync"
)

// legacyVersions are the revisions with a handshake, the latest first.
var legacyVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// What a request of theirs lacks, and the most bytes that takes. The client's capabilities are none that could be used.
const (
	lackedFields = `"` + MetaProtocolVersion + `":"` + ProtocolVersion + `","` + MetaClientCapabilities + `":{}`
	lackedMost   = len(`"params":{"_meta":{` + lackedFields + `}},`)
)

// A translator is both streams of one connection.
type translator struct {
	server  *Server
	frames  *Reader
	w       io.Writer
	input   bytes.Buffer // for the core to read
	legacy  bool         // initialize has selected legacy semantics, for this connection alone
	mu      sync.Mutex
	waiting map[idKey]amendment // of legacy requests that are neither answered nor cancelled
}

// An amendment is a result to give in the place of an error that begins so.
type amendment struct{ failure, result string }

const callFailure = `{"code":-32021,`

// translate puts a translator before the streams of a connection, and gives the limit of what it hands on.
func translate(s *Server, r io.Reader, w io.Writer) (io.Reader, io.Writer, int) {
	t := &translator{server: s, frames: NewReader(r, s.options.MaxMessage), w: w, waiting: make(map[idKey]amendment)}
	t.input.WriteByte('\n') // ends the start of the stream, where the core too would skip a byte order mark
	return t, t, s.options.MaxMessage + lackedMost
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
	t.mu.Lock()
	defer t.mu.Unlock()
	var m message
	kind, _ := m.read(line)
	if kind == notification {
		if key := m.cancels(); t.waiting[key].failure == callFailure { // what is no call has been answered by now
			delete(t.waiting, key)
		}
	}
	older := kind == request && m.at(slotVersion) == nil && m.at(slotCapabilities) == nil
	if t.legacy = t.legacy || older && string(m.method()) == "initialize"; !older || !t.legacy {
		return line
	}
	if key := keyOf(m.id()); t.waiting[key] == (amendment{}) { // else the core refuses this one, and the first goes on
		t.waiting[key] = t.server.amendment(&m)
	}
	at, lacked := m.place[slotMeta].from, lackedFields // put first in the innermost object that there is
	if m.at(slotMeta) == nil {
		at, lacked = m.place[slotParams].from, `"_meta":{`+lacked+"}"
	}
	if m.at(slotParams) == nil {
		at, lacked = skipSpace(line, 0), `"params":{`+lacked+"}"
	}
	switch {
	case line[at] != '{':
		return line // the core refuses it
	case line[skipSpace(line, at+1)] != '}':
		lacked += ","
	}
	return slices.Concat(line[:at+1], []byte(lacked), line[at+1:])
}

// amendment is that for a legacy request. The core knows neither ping nor initialize.
func (s *Server) amendment(m *message) amendment {
	switch string(m.method()) {
	case "ping":
		return amendment{`{"code":-32601,`, "{}"}
	case "initialize":
		asked := func(version string) bool { return textIs(memberOf(m.at(slotParams), "protocolVersion"), version) }
		e := encoder{buf: []byte(`{"capabilities":{"tools":{}},"serverInfo":` + s.serverInfo[len(MetaServerInfo)+len(`"":`):])}
		e.text("protocolVersion", legacyVersions[max(0, slices.IndexFunc(legacyVersions, asked))])
		e.option("instructions", s.options.Instructions)
		return amendment{`{"code":-32601,`, string(e.buf) + "}"}
	}
	return amendment{callFailure, `{"content":[{"type":"text","text":"This tool has to ask the client for input, ` +
		`which takes a client of MCP ` + ProtocolVersion + ` or later."}],"isError":true}`}
}

// Write gives the client what the core writes, which is always whole lines, and amends the answers.
func (t *translator) Write(p []byte) (int, error) {
	var out []byte
	t.mu.Lock()
	for line := range bytes.Lines(p) {
		id, failure := memberOf(line, "id"), memberOf(line, "error")
		if id != nil && !bytes.HasPrefix(failure, []byte(`{"code":-32600,"message":"Invalid Request: `)) { // the id's own answer
			a := t.waiting[keyOf(id)]
			delete(t.waiting, keyOf(id))
			if a.result != "" && bytes.HasPrefix(failure, []byte(a.failure)) {
				line = append(appendResult(nil, id, []byte(a.result)), '\n')
			}
		}
		out = append(out, line...)
	}
	t.mu.Unlock()
	n, err := t.w.Write(out)
	if err == nil && n < len(out) {
		err = io.ErrShortWrite
	}
	return len(p), err
}
