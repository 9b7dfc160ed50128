package interop

// servers_test.go: what the servers of others write, read and written again by the Reader and the Writer of minimcp. The
// lines are in testdata, a file for each server and revision; -record asks the servers for them anew, with the questions
// below. What they write that the specification does not allow is listed here, not copied.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	mcp "example.com/minimcp"
)

// questions are what the servers were asked. META is the metadata of a request of this revision, and nothing but a
// progress token in an older one; HELLO is server/discover or initialize.
var questions = []string{
	`{"jsonrpc":"2.0","id":1,HELLO}`,
	`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
	`{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{META}}`,
	`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"<&> \u2028 \u2029 \ud83d\ude00 \u0000 \u007f / ` + "\u2028" + `"},META}}`,
	`{"jsonrpc":"2.0","id":"\u0062","method":"tools/call","params":{"name":"echo","arguments":{"text":"\ud800"},META}}`,
	`{"jsonrpc":"2.0","id":"","method":"tools/call","params":{"name":"fail","arguments":{},META}}`,
	`{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"name":"weather","arguments":{},META}}`,
	`{"jsonrpc":"2.0","id":3.0,"method":"tools/call","params":{"name":"weather","arguments":{},META}}`,
	`{"jsonrpc":"2.0","id":-4,"method":"tools/call","params":{"name":"steps","arguments":{},META}}`,
	`{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"raw","arguments":{},META}}`,
	`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"none","arguments":{},META}}`,
	`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"echo","arguments":{"text":7},META}}`,
	`{"jsonrpc":"2.0","id":7,"method":"none","params":{META}}`,
	`{"jsonrpc":"2.0","id":8,"method":"none","id":8}`,
	`{"jsonrpc":"2.0","id":null,"method":"none"}`,
	`[]`,
	`{`,
	`{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{META}}`,
}

const stepsID = "-4" // of the call that reports progress

// A recorded is one server in one revision, and what is wrong with its lines.
type recorded struct {
	server, revision string
	faults           []string
}

var recordings = []recorded{
	{"gosdk", latest, goSDKFaults},
	{"gosdk", "2025-11-25", goSDKFaults},
	{"mcpgo", latest, mcpGoFaults},
	{"mcpgo", "2025-11-25", mcpGoFaults},
	{"ts", latest, tsFaults},
	{"ts", "2025-11-25", tsFaults},
	{"ts-first-line", "2025-11-25", tsFaults},
}

// An id of 2^53+1 is what each of them gets wrong: JSON-RPC 2.0 wants an answer with the same value.
var (
	// An empty batch ends the connection.
	goSDKFaults = []string{
		"an answer to nobody: the id 9007199254740992", "no answer to the id 9007199254740993", "no answer to the id 9",
	}
	// Notifications and responses have ways of their own to stdout; an id of null is not in the schema of errors.
	mcpGoFaults = []string{
		"an answer to nobody: the id 9007199254740992", "progress after the response", "progress after the response",
		"an answer to nobody: the id null", "an answer to nobody: the id null", "no answer to the id 9007199254740993",
	}
	tsFaults = []string{"no answer to the id 9007199254740993"}
)

func (r recorded) file() string { return filepath.Join("testdata", r.server+"-"+r.revision+".jsonl") }

func (r recorded) questions() (lines []string) {
	meta := `"_meta":{"progressToken":"token"}`
	hello := `"method":"initialize","params":{"protocolVersion":"` + r.revision + `","capabilities":{},"clientInfo":{"name":"interop","version":"1.0.0"}}`
	if r.revision == latest {
		meta = `"_meta":{"progressToken":"token","` + mcp.MetaProtocolVersion + `":"` + latest + `","` + mcp.MetaClientCapabilities + `":{},` +
			`"` + mcp.MetaClientInfo + `":{"name":"interop","version":"1.0.0"}}`
		hello = `"method":"server/discover","params":{` + meta + `}`
	}
	for _, line := range questions {
		if r.revision == latest && strings.Contains(line, "initialized") {
			continue
		}
		lines = append(lines, strings.NewReplacer("META", meta, "HELLO", hello).Replace(line))
	}
	return lines
}

func TestServers(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) != len(recordings) && !*record {
		t.Fatalf("%d recordings in testdata, not %d: %v", len(files), len(recordings), err)
	}
	for _, r := range recordings {
		t.Run(r.server+" "+r.revision, func(t *testing.T) {
			if *record {
				r.record(t)
			}
			data, err := os.ReadFile(r.file())
			if err != nil {
				t.Fatal(err)
			}
			lines := readAll(t, bytes.NewReader(data))
			if again := readAll(t, iotest.OneByteReader(bytes.NewReader(data))); !slices.Equal(again, lines) {
				t.Error("one-byte reads give other lines")
			}
			var written bytes.Buffer
			w := mcp.NewWriter(&written)
			for _, line := range lines {
				if err := w.WriteFrame([]byte(line)); err != nil {
					t.Error(err)
				}
			}
			if !bytes.Equal(written.Bytes(), data) {
				t.Error("what is written is not what was read")
			}
			faults := r.look(lines)
			if !slices.Equal(faults, r.faults) {
				t.Errorf("the faults are\n\t%q\nnot\n\t%q", faults, r.faults)
			}
		})
	}
}

func readAll(t *testing.T, r io.Reader) (lines []string) {
	t.Helper()
	for frames := mcp.NewReader(r, mcp.DefaultMaxMessage); ; {
		line, err := frames.ReadFrame()
		if err == io.EOF {
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
}

// look says what is wrong with a server's lines: with the JSON, with the ids, of which each has to come back once and with
// the same value, and with progress, which has to end with the call.
func (r recorded) look(lines []string) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	var open []json.RawMessage // the ids that want an answer
	for _, question := range r.questions() {
		var q struct{ ID, Method json.RawMessage }
		if json.Unmarshal([]byte(question), &q) == nil && q.ID != nil && string(q.ID) != "null" {
			open = append(open, q.ID)
		}
	}
	stepsDone := false
	for _, line := range lines {
		var m struct{ ID, Method, Error json.RawMessage }
		if err := anything.Validate([]byte(line)); err != nil {
			fault("not strict JSON: %v: %s", err, line)
		} else if err := json.Unmarshal([]byte(line), &m); err != nil {
			fault("not a message: %s", line)
		}
		if m.Method != nil {
			if m.ID != nil {
				fault("a request: %s", line)
			}
			if stepsDone && strings.Contains(line, "notifications/progress") {
				fault("progress after the response")
			}
			continue
		}
		stepsDone = stepsDone || string(m.ID) == stepsID
		at := slices.IndexFunc(open, func(id json.RawMessage) bool { return sameID(id, m.ID) })
		switch {
		case at >= 0:
			open = slices.Delete(open, at, at+1)
		case m.ID != nil || m.Error == nil:
			fault("an answer to nobody: the id %s", m.ID)
		}
	}
	for _, id := range open {
		fault("no answer to the id %s", id)
	}
	return faults
}

// sameID compares ids by type and value, so that 3.0 and 3 are one; the servers of others write ids as they like.
func sameID(a, b json.RawMessage) bool {
	var textA, textB string
	if json.Unmarshal(a, &textA) == nil {
		return json.Unmarshal(b, &textB) == nil && len(b) > 0 && b[0] == '"' && textA == textB
	}
	numberA, okA := new(big.Rat).SetString(string(a))
	numberB, okB := new(big.Rat).SetString(string(b))
	return okA && okB && numberA.Cmp(numberB) == 0
}

// record asks a server the questions, one by one, and keeps its lines.
func (r recorded) record(t *testing.T) {
	var command []string
	switch r.server {
	case "gosdk", "mcpgo":
		command = []string{filepath.Join(bin, r.server)}
	default:
		program, folder := node(t)
		script, err := beside(folder, "server.mjs")
		if err != nil {
			t.Fatal(err)
		}
		command = []string{program, script, map[string]string{"ts": "server", "ts-first-line": "sdk"}[r.server]}
	}
	server := exec.CommandContext(t.Context(), command[0], command[1:]...)
	var out bytes.Buffer
	server.Stdout, server.Stderr = &out, os.Stderr
	in, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond) // Node takes its time
	for _, line := range r.questions() {
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			t.Logf("the server is gone: %v, before %s", err, line)
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	in.Close()
	if err := server.Wait(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			t.Fatal(err)
		}
		t.Logf("the server ended: %v", err)
	}
	if err := os.WriteFile(r.file(), out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
