package interop

// main_test.go: what the tests share. The servers and the relay are built once; a connection leaves a trace; and what
// each client could do goes into a table.

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	mcp "example.com/minimcp"
)

var (
	update = flag.Bool("update", false, "write RESULTS.md")
	record = flag.Bool("record", false, "record the lines of other servers")
	traces = flag.String("traces", "", "keep the traces of all connections in this `folder`")
	bin    string // the folder of what has been built
)

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if bin, err = os.MkdirTemp("", "interop"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(bin)
	for _, pkg := range []string{
		"example.com/minimcp/cmd/minimcp", "example.com/minimcp/cmd/everything", "./relay", "./servers/gosdk", "./servers/mcpgo",
	} {
		build := exec.Command("go", "build", "-o", bin+string(filepath.Separator), pkg)
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "building %s: %v\n%s", pkg, err, out)
			return 1
		}
	}
	code := m.Run()
	for _, script := range scripts {
		os.Remove(script)
	}
	if code == 0 {
		if err := keepResults(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

// through is the command that runs a server with its arguments behind the relay, and the folder of its traces.
func through(t *testing.T, server string, args ...string) (command []string, folder string) {
	t.Helper()
	folder = t.TempDir()
	if *traces != "" {
		parent := filepath.Join(*traces, filepath.FromSlash(t.Name()))
		err := os.MkdirAll(parent, 0o755)
		if err == nil {
			folder, err = os.MkdirTemp(parent, server)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return append([]string{filepath.Join(bin, "relay"), folder, filepath.Join(bin, server)}, args...), folder
}

// A line of a trace.
type line struct {
	from byte // >, < or =
	text string
	msg  struct {
		ID, Method, Params, Result, Error json.RawMessage
	}
}

// readTraces gives the traces of a folder, one for each process, in the order in which they were started. It waits for
// the processes to end.
func readTraces(t *testing.T, folder string) (all [][]line) {
	t.Helper()
	var files []string
	for deadline := time.Now().Add(8 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		var err error
		if files, err = filepath.Glob(filepath.Join(folder, "*")); err != nil || len(files) == 0 {
			t.Fatalf("no trace: %v", err)
		}
		all = nil
		ended := true
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var lines []line
			for text := range strings.Lines(string(data)) {
				if len(text) > 2 && strings.HasSuffix(text, "\n") {
					l := line{from: text[0], text: text[2 : len(text)-1]}
					if l.from != '=' {
						json.Unmarshal([]byte(l.text), &l.msg) // what is not JSON has no members
					}
					lines = append(lines, l)
				}
			}
			all = append(all, lines)
			last := len(lines) - 1
			ended = ended && last >= 0 && lines[last].from == '=' && strings.HasPrefix(lines[last].text, "exit status")
		}
		if ended || time.Now().After(deadline) {
			return all
		}
	}
}

// anything is the schema that all strict JSON fits.
var anything = func() *mcp.Schema {
	schema, err := mcp.CompileSchema([]byte("true"))
	if err != nil {
		panic(err)
	}
	return schema
}()

// checkServer holds the server's lines of a trace against basic/transports/stdio: strict JSON, no requests, and one
// response to each request, with the id as the client wrote it.
func checkServer(t *testing.T, trace []line) {
	t.Helper()
	open := map[string]int{}
	for _, l := range trace {
		id := string(l.msg.ID)
		switch {
		case l.from == '>' && l.msg.ID != nil && l.msg.Method != nil:
			open[id]++
		case l.from == '<' && anything.Validate([]byte(l.text)) != nil:
			t.Errorf("the server wrote what is not strict JSON: %s", l.text)
		case l.from == '<' && l.msg.ID != nil && l.msg.Method != nil:
			t.Errorf("the server wrote a request: %s", l.text)
		case l.from == '<' && l.msg.Method == nil:
			if open[id]--; open[id] < 0 {
				t.Errorf("the server answered what was not asked: %s", l.text)
			}
		}
	}
}

// checkCancelled sees to it that the client has cancelled the call that takes a minute, and that nothing more was said of
// it: basic/patterns/cancellation.
func checkCancelled(t *testing.T, trace []line) {
	t.Helper()
	id, cancelled := "", false
	for _, l := range trace {
		var params struct{ RequestID json.RawMessage }
		switch {
		case l.from == '>' && l.msg.ID != nil && strings.Contains(l.text, `"ms":60000`):
			id = string(l.msg.ID)
		case l.from == '>' && string(l.msg.Method) == `"notifications/cancelled"`:
			cancelled = cancelled || json.Unmarshal(l.msg.Params, &params) == nil && string(params.RequestID) == id
		case l.from == '<' && l.msg.Method == nil && string(l.msg.ID) == id:
			t.Errorf("the cancelled call was answered: %s", l.text)
		}
	}
	if id == "" || !cancelled {
		t.Errorf("the client did not cancel the call with the id %q", id)
	}
}

// clientFaults are what a client did that a page of the specification forbids it, each told once.
func clientFaults(trace []line, modern bool) (faults []string) {
	fault := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !slices.Contains(faults, text) {
			faults = append(faults, text)
		}
	}
	seen := map[string]bool{}
	for _, l := range trace {
		if l.from != '>' {
			continue
		}
		method := strings.Trim(string(l.msg.Method), `"`)
		if err := anything.Validate([]byte(l.text)); err != nil {
			fault("basic/transports: a line that is not strict JSON: %v", err)
		}
		switch {
		case l.msg.Method == nil:
			fault("basic/transports/stdio: a response, to a server that asks nothing: %s", clip(l.text))
		case l.msg.ID == nil:
			continue
		}
		if seen[string(l.msg.ID)] {
			fault("basic/index, Requests: the id %s twice", l.msg.ID)
		}
		seen[string(l.msg.ID)] = true
		if !modern {
			continue
		}
		var params struct {
			Meta map[string]json.RawMessage `json:"_meta"`
		}
		json.Unmarshal(l.msg.Params, &params)
		for _, key := range []string{mcp.MetaProtocolVersion, mcp.MetaClientCapabilities} {
			if params.Meta[key] == nil {
				fault("basic/index, _meta: %s without %s", method, key)
			}
		}
	}
	return faults
}

func clip(text string) string {
	if len(text) > 200 {
		return text[:200] + "…"
	}
	return text
}

// features are the columns of the table, in its order.
var features = []string{
	"connect", "list", "call", "tool failure", "protocol error", "bad arguments", "structured", "progress", "cancel", "input",
	"list_changed", "all kinds of content", "clean end",
}

// A row is what a client could do, in one of its modes.
type row struct {
	client, version, mode, flag, revision string
	outcome                               map[string]string // by feature; "" is not tried
	faults                                []string
}

var rows []*row

// keepResults writes RESULTS.md, or sees to it that what has been run is in it.
func keepResults() error {
	if *update {
		if flag.Lookup("test.run").Value.String() != "" || installNode().missing != "" {
			return errors.New("-update wants all clients to run")
		}
		return os.WriteFile("RESULTS.md", results(), 0o644)
	}
	have, err := os.ReadFile("RESULTS.md")
	if err != nil {
		return err
	}
	for line := range bytes.Lines(results()) {
		if !bytes.Contains(have, line) {
			return fmt.Errorf("RESULTS.md lacks this line; go test -update puts it there:\n%s", line)
		}
	}
	return nil
}

// results is the table, and what the clients did that they should not.
func results() []byte {
	var b bytes.Buffer
	b.WriteString("<!-- Written by go test -update in this folder. -->\n\n")
	b.WriteString("| client | version | mode | server | revision | " + strings.Join(features, " | ") + " |\n")
	b.WriteString(strings.Repeat("|---", 5+len(features)) + "|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |", r.client, r.version, r.mode, strings.TrimSpace("minimcp "+r.flag), r.revision)
		for _, feature := range features {
			fmt.Fprintf(&b, " %s |", cmp.Or(r.outcome[feature], "–"))
		}
		b.WriteByte('\n')
	}
	b.WriteString("\nyes: it works. –: the client, or the revision that it speaks, has no such thing. tool error: a client of that revision\n" +
		"cannot be asked, and is told so by an ordinary tool error. -32021: the client says that it cannot be asked, and gets\n" +
		"this error. yes, but: README.md says what does not.\n")
	for _, r := range rows {
		for _, fault := range r.faults {
			fmt.Fprintf(&b, "\n%s %s, %s, breaks a rule. %s\n", r.client, r.version, r.mode, fault)
		}
	}
	return b.Bytes()
}
