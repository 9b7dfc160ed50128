package main

// main_test.go: the command as a process, with pipes, signals and an exit status; then what its tools say.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/minimcp"
)

const (
	meta       = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`
	serverInfo = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"minimcp","version":"1.0.0"}}`
	discovered = `"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},` +
		`"instructions":"Demonstration tools; nothing here acts on the world.","ttlMs":300000,"cacheScope":"public",` + serverInfo + `}`
	patience = 30 * time.Second
)

func discover(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"server/discover","params":{%s}}`, id, meta)
}

func call(id int, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":%s,%s}}`, id, tool, arguments, meta)
}

// text is the answer of a tool: a text in JSON, or an error.
func text(id int, text string, isError bool) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"resultType":"complete","content":[{"type":"text","text":%s}],"isError":%v,%s}}`, id, text, isError, serverInfo)
}

var (
	binary string      // the command, built
	kept   = os.Stdout // by a program that looked at it before it began to serve
)

// probe is the environment variable that makes this test be a server whose tool prints.
const probe = "MINIMCP_PROBE"

func TestMain(m *testing.M) {
	if os.Getenv(probe) != "" {
		serveProbe()
	}
	folder, err := os.MkdirTemp("", "minimcp")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(folder, "minimcp")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v\n%s", err, out))
	}
	status := m.Run()
	os.RemoveAll(folder)
	os.Exit(status)
}

// serveProbe serves a tool that prints in every way that a program has to write to stdout.
func serveProbe() {
	buffered := bufio.NewWriter(os.Stdout)
	s := mcp.NewServer(mcp.Implementation{Name: "minimcp", Version: version}, mcp.Options{})
	err := s.AddTool(mcp.Tool{Name: "print"}, func(context.Context, *mcp.Call) (*mcp.Result, error) {
		fmt.Println("printed by fmt")
		fmt.Fprintln(kept, "printed to what was stdout")
		fmt.Fprintln(buffered, "printed through a buffer")
		buffered.Flush()
		child := exec.Command("echo", "printed by a child")
		child.Stdout = os.Stdout
		if err := child.Run(); err != nil {
			return nil, err
		}
		return mcp.Text("done"), nil
	})
	if err == nil {
		err = s.ServeStdio(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A process is the command, or another, with its pipes.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     *os.File // its stdin
	out    *os.File // its stdout
	lines  *bufio.Reader
	stderr bytes.Buffer
}

// start starts a process. The test holds the only other ends of its pipes, so that closing one is what the process sees.
func start(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd}
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, &p.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inR.Close()
	outW.Close()
	p.in, p.out, p.lines = inW, outR, bufio.NewReader(outR)
	deadline := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	t.Cleanup(func() {
		deadline.Stop()
		inW.Close()
		outR.Close()
		cmd.Process.Kill()
	})
	return p
}

func (p *process) send(lines ...string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, strings.Join(lines, "\n")+"\n"); err != nil {
		p.t.Error(err)
	}
}

func (p *process) want(lines ...string) {
	p.t.Helper()
	for _, want := range lines {
		got, err := p.lines.ReadString('\n')
		if err != nil || got != want+"\n" {
			p.t.Errorf("got  %s (%v)\nwant %s", got, err, want)
		}
	}
}

// exit waits for the end of the process, which has written nothing more, and checks its status and its stderr.
func (p *process) exit(status int, stderr string) {
	p.t.Helper()
	if rest, err := io.ReadAll(p.lines); err == nil && len(rest) > 0 {
		p.t.Errorf("it has written more: %s", rest)
	}
	p.cmd.Wait()
	if got := p.cmd.ProcessState.ExitCode(); got != status {
		p.t.Errorf("exit status %d (%v), want %d", got, p.cmd.ProcessState, status)
	}
	if got := p.stderr.String(); got != stderr {
		p.t.Errorf("stderr has %q, want %q", got, stderr)
	}
}

func TestConversation(t *testing.T) {
	p := start(t, exec.Command(binary))
	p.send(discover(1))
	p.want(`{"jsonrpc":"2.0","id":1,` + discovered + `}`)
	p.send(call(2, "add", `{"a":2,"b":3}`))
	p.want(text(2, `"5"`, false))
	p.send(`{"jsonrpc":"2.0","id":3`)
	p.want(`{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error: not JSON, at byte 23: want a comma or the end of the object"}}`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, call(4, "boom", `{}`))
	p.want(text(4, `"city not found"`, true))
	io.WriteString(p.in, discover(5)[:20])
	time.Sleep(10 * time.Millisecond) // the other half may as well come with it
	p.send(discover(5)[20:])
	p.want(`{"jsonrpc":"2.0","id":5,` + discovered + `}`)
	p.in.Close()
	p.exit(0, "")
}

func TestEndOfInput(t *testing.T) {
	t.Run("at once", func(t *testing.T) {
		p := start(t, exec.Command(binary))
		p.in.Close()
		p.exit(0, "")
	})
	t.Run("right after a burst, of which all is answered", func(t *testing.T) {
		p := start(t, exec.Command(binary))
		want := make(map[string]bool)
		for n := range 500 {
			p.send(call(n, "add", fmt.Sprintf(`{"a":%d,"b":1}`, n)))
			want[text(n, fmt.Sprintf(`"%d"`, n+1), false)+"\n"] = true
		}
		p.in.Close()
		for range 500 {
			line, err := p.lines.ReadString('\n')
			if err != nil || !want[line] {
				t.Fatalf("got %s, %v", line, err)
			}
			delete(want, line)
		}
		p.exit(0, "")
	})
	t.Run("while a call runs that is over in time", func(t *testing.T) {
		p := start(t, exec.Command(binary))
		p.send(call(1, "sleep", `{"ms":100}`))
		p.in.Close()
		p.want(text(1, `"slept 100 ms"`, false))
		p.exit(0, "")
	})
	t.Run("while a call runs that is not", func(t *testing.T) {
		p := start(t, exec.Command(binary))
		p.send(call(1, "sleep", `{"ms":60000}`))
		begin := time.Now()
		p.in.Close()
		p.exit(0, "")
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

func TestSignals(t *testing.T) {
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(signal.String(), func(t *testing.T) {
			p := start(t, exec.Command(binary))
			p.send(call(1, "sleep", `{"ms":60000}`))
			p.send(`{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + meta + `}}`)
			const id = `"_meta":{"io.modelcontextprotocol/subscriptionId":2}`
			p.want(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{` + id + `,"notifications":{"toolsListChanged":true}}}`)
			if err := p.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			p.want(
				`{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":2,"io.modelcontextprotocol/serverInfo":{"name":"minimcp","version":"1.0.0"}}}}`,
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,`+id+`}}`)
			p.exit(0, "")
		})
	}
}

// TestClientVanishes: a client that is gone does not kill the server by SIGPIPE.
func TestClientVanishes(t *testing.T) {
	t.Run("it no longer reads", func(t *testing.T) {
		p := start(t, exec.Command(binary))
		p.send(discover(1))
		p.want(`{"jsonrpc":"2.0","id":1,` + discovered + `}`)
		p.out.Close()
		p.send(discover(2)) // and its input stays open
		p.exit(0, "")
	})
	t.Run("it no longer reads while calls run", func(t *testing.T) {
		p := start(t, exec.Command(binary))
		p.send(call(1, "sleep", `{"ms":60000}`), call(2, "sleep", `{"ms":50}`))
		p.out.Close()
		p.exit(0, "")
	})
	t.Run("it is gone altogether", func(t *testing.T) {
		p := start(t, exec.Command(binary))
		p.send(call(1, "sleep", `{"ms":50}`))
		p.out.Close()
		p.in.Close()
		p.exit(0, "")
	})
}

// TestStdoutStaysClean: what a tool prints goes to stderr.
func TestStdoutStaysClean(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), probe+"=1")
	p := start(t, cmd)
	p.send(call(1, "print", "{}"), discover(2))
	first, _ := p.lines.ReadString('\n')
	second, _ := p.lines.ReadString('\n')
	got := []string{first, second} // in either order: the first starts a process
	slices.Sort(got)
	if got[0] != text(1, `"done"`, false)+"\n" || !strings.HasPrefix(got[1], `{"jsonrpc":"2.0","id":2,"result":`) {
		t.Errorf("got %q", got)
	}
	p.in.Close()
	p.exit(0, "printed by fmt\nprinted to what was stdout\nprinted through a buffer\nprinted by a child\n")
}

func TestFlags(t *testing.T) {
	for _, row := range []struct {
		args           []string
		status         int
		stdout, stderr string // how each begins; "" that it is empty
	}{
		{[]string{"-h"}, 0, "minimcp serves demonstration tools", ""},
		{[]string{"-help"}, 0, "minimcp serves demonstration tools", ""},
		{[]string{"--help"}, 0, "minimcp serves demonstration tools", ""},
		{[]string{"-version"}, 0, "minimcp 1.0.0 (MCP 2026-07-28)\n", ""},
		{[]string{"--version"}, 0, "minimcp 1.0.0 (MCP 2026-07-28)\n", ""},
		{[]string{"-x"}, 2, "", "minimcp: unknown arguments: -x\n\nminimcp serves demonstration tools"},
		{[]string{"serve"}, 2, "", "minimcp: unknown arguments: serve\n\nminimcp serves demonstration tools"},
		{[]string{"demo", "-x"}, 2, "", "minimcp: unknown arguments: demo -x\n\nminimcp serves demonstration tools"},
		{[]string{"-h", "-h"}, 2, "", "minimcp: unknown arguments: -h -h\n\nminimcp serves demonstration tools"},
		{[]string{""}, 2, "", "minimcp: unknown arguments: "},
		{[]string{"demo -raw"}, 2, "", "minimcp: unknown arguments: "},
	} {
		t.Run(strings.Join(row.args, " "), func(t *testing.T) {
			cmd := exec.Command(binary, row.args...)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			cmd.Run()
			begins := func(text, want string) bool { return strings.HasPrefix(text, want) && (text == "") == (want == "") }
			if status := cmd.ProcessState.ExitCode(); status != row.status || !begins(stdout.String(), row.stdout) || !begins(stderr.String(), row.stderr) {
				t.Errorf("status %d, stdout %.100q, stderr %.100q", status, stdout.String(), stderr.String())
			}
		})
	}
}

// TestDemo: the tour runs to its end, and its lines are messages.
func TestDemo(t *testing.T) {
	out, err := exec.Command(binary, "demo").Output()
	if err != nil || !bytes.Contains(out, []byte(`"Unknown tool: nope"`)) || !bytes.Contains(out, []byte("city not found")) {
		t.Errorf("%v: %.2000s", err, out)
	}
	raw, err := exec.Command(binary, "demo", "-raw").Output()
	if err != nil || len(raw) == 0 {
		t.Fatal(err)
	}
	answers := 0
	for line := range strings.Lines(string(raw)) {
		if strings.Contains(line, `"result":`) || strings.Contains(line, `"error":`) {
			answers++
		}
	}
	if answers < 8 {
		t.Errorf("%d answers in %s", answers, raw)
	}
}

// TestValidate: a line with a schema and data, and the judgement.
func TestValidate(t *testing.T) {
	cmd := exec.Command(binary, "validate")
	rows := []struct{ in, begins string }{
		{`{"schema":true,"data":1}`, `{"valid":true}`},
		{`{"schema":{"type":"string"},"data":"a"}`, `{"valid":true}`},
		{`{"data":{"a":1},"schema":{"required":["a"]}}`, `{"valid":true}`},
		{`{"schema":false,"data":1}`, `{"valid":false,"problems":1,"text":"`},
		{`{"schema":{"type":"string"},"data":1}`, `{"valid":false,"problems":1,"text":"`},
		{`{"schema":{"required":["a","b"]},"data":{}}`, `{"valid":false,"problems":2,"text":"`},
		{`{"schema":{"typo":1},"data":1}`, `{"refused":"`},
		{`{"schema":{"type":"string"}}`, `{"refused":"`},
		{`{"data":1}`, `{"refused":"`},
		{`[]`, `{"refused":"`},
		{`nonsense`, `{"refused":"`},
		{`{"schema":true,"data":1}`, `{"valid":true}`},
	}
	var in strings.Builder
	for _, row := range rows {
		in.WriteString(row.in + "\n")
	}
	cmd.Stdin = strings.NewReader(in.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(rows) {
		t.Fatalf("%d answers to %d lines: %s", len(lines), len(rows), out)
	}
	for i, row := range rows {
		if !strings.HasPrefix(lines[i], row.begins) || !json.Valid([]byte(lines[i])) {
			t.Errorf("%s\ngot  %s\nwant %s", row.in, lines[i], row.begins)
		}
	}
}

// TestTools: what each tool says.
func TestTools(t *testing.T) {
	s, err := newServer(false)
	if err != nil {
		t.Fatal(err)
	}
	const failed = `"the sum is too large for a 64-bit floating point number"`
	const oslo = `{"location":"Oslo","temperature":21.5,"units":"c","conditions":"partly cloudy"}`
	structured := func(text, structured string) string {
		return `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"` + text + `"}],"structuredContent":` + structured + `,"isError":false,` + serverInfo + `}}`
	}
	for _, row := range []struct{ rule, line, answer string }{
		{"add", call(1, "add", `{"a":2,"b":3}`), text(1, `"5"`, false)},
		{"add fractions", call(1, "add", `{"a":0.5,"b":-0.25}`), text(1, `"0.25"`, false)},
		{"add in the shortest form", call(1, "add", `{"a":1e20,"b":2.5e0}`), text(1, `"100000000000000000000"`, false)},
		{"add what comes to zero", call(1, "add", `{"a":-1,"b":1.0}`), text(1, `"0"`, false)},
		{"a sum that is not finite", call(1, "add", `{"a":1e308,"b":1e308}`), text(1, failed, true)},
		{"a number that is not finite", call(1, "add", `{"a":1e400,"b":1}`), text(1, `"Invalid arguments:\n/a: number 1e400 does not fit into a Go float64"`, true)},
		{"boom", call(1, "boom", `{}`), text(1, `"city not found"`, true)},
		{"boom takes no notice of arguments", call(1, "boom", `{"x":1}`), text(1, `"city not found"`, true)},
		{"echo", call(1, "echo", `{"text":"a\u0062\ud800 <é>"}`), text(1, `"a\u0062\ud800 <é>"`, false)},
		{"echo nothing", call(1, "echo", `{"text":""}`), text(1, `""`, false)},
		{"the weather", call(1, "get_weather", `{"location":"Oslo"}`), structured("Oslo: 21.5 °C, partly cloudy", oslo)},
		{"the weather in Fahrenheit", call(1, "get_weather", `{"location":"Oslo","units":"f","days":2.0}`),
			structured("Oslo: 70.7 °F, partly cloudy", `{"location":"Oslo","temperature":70.7,"units":"f","conditions":"partly cloudy"}`)},
		{"sleep", call(1, "sleep", `{"ms":1}`), text(1, `"slept 1 ms"`, false)},
		{"sleep in steps", call(1, "sleep", `{"ms":1e1,"steps":2.0}`), text(1, `"slept 10 ms"`, false)},
		{"sleep not at all", call(1, "sleep", `{"ms":0}`), text(1, `"slept 0 ms"`, false)},
	} {
		t.Run(row.rule, func(t *testing.T) {
			if got := string(s.HandleMessage(t.Context(), []byte(row.line), nil)); got != row.answer {
				t.Errorf("got  %s\nwant %s", got, row.answer)
			}
		})
	}
	t.Run("arguments out of range", func(t *testing.T) {
		for _, line := range []string{
			call(1, "sleep", `{"ms":-1}`), call(1, "sleep", `{"ms":60001}`), call(1, "sleep", `{"ms":1.5}`), call(1, "sleep", `{}`),
			call(1, "sleep", `{"ms":1,"steps":0}`), call(1, "sleep", `{"ms":1,"steps":101}`),
			call(1, "add", `{"a":1}`), call(1, "add", `{"a":"1","b":2}`), call(1, "echo", `{}`), call(1, "echo", `{"text":null}`),
			call(1, "get_weather", `{}`), call(1, "get_weather", `{"location":"a","x":1}`), call(1, "greet", `{"x":1}`),
		} {
			got := string(s.HandleMessage(t.Context(), []byte(line), nil))
			if !strings.Contains(got, `"text":"Invalid arguments:\n`) || !strings.HasSuffix(got, `"isError":true,`+serverInfo+`}}`) {
				t.Errorf("%s: %s", line, got)
			}
		}
	})
	t.Run("sleep reports each step", func(t *testing.T) {
		line := strings.Replace(call(1, "sleep", `{"ms":100,"steps":2}`), `"_meta":{`, `"_meta":{"progressToken":"t",`, 1)
		var told []string
		s.HandleMessage(t.Context(), []byte(line), func(message []byte) { told = append(told, string(message)) })
		if len(told) != 2 || !strings.Contains(told[0], `"progressToken":"t","progress":1,"total":2`) || !strings.Contains(told[1], `"progress":2,"total":2`) {
			t.Errorf("got %q", told)
		}
	})
	t.Run("sleep ends early", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		begin := time.Now()
		s.HandleMessage(ctx, []byte(call(1, "sleep", `{"ms":60000}`)), nil)
		if took := time.Since(begin); took > patience {
			t.Errorf("it took %v", took)
		}
	})
	t.Run("greet", func(t *testing.T) {
		first := string(s.HandleMessage(t.Context(), []byte(call(1, "greet", `{}`)), nil))
		if !strings.HasPrefix(first, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"name":{"method":"elicitation/create","params":{"mode":"form",`) {
			t.Error(first)
		}
		for response, says := range map[string]string{
			`{"action":"accept","content":{"name":"Ada"}}`: "Ada",
			`{"action":"decline"}`:                         "",
			`{"action":"cancel"}`:                          "",
		} {
			line := strings.Replace(call(1, "greet", `{}`), `"_meta":{`, `"inputResponses":{"name":`+response+`},"_meta":{`, 1)
			got := string(s.HandleMessage(t.Context(), []byte(line), nil))
			if !strings.Contains(got, `"resultType":"complete"`) || !strings.Contains(got, says) || !strings.Contains(got, `"isError":false`) || says == "" && strings.Contains(got, "Hello") {
				t.Errorf("%s: %s", response, got)
			}
		}
	})
}

// TestAddAllocations counts what a call of add costs, from the line in to the answer out.
func TestAddAllocations(t *testing.T) {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, setting := range info.Settings {
			if setting.Key == "-race" && setting.Value == "true" {
				t.Skip("the race detector allocates")
			}
		}
	}
	s, err := newServer(false)
	if err != nil {
		t.Fatal(err)
	}
	const n = 20_000
	lines := strings.Repeat(call(1, "add", `{"a":2,"b":3}`)+"\n", n)
	got := testing.AllocsPerRun(1, func() {
		if err := s.Serve(t.Context(), strings.NewReader(lines), io.Discard); err != nil {
			t.Error(err)
		}
	})
	if got /= n; got > 12.05 {
		t.Errorf("%.2f allocations, want at most 12", got)
	}
}
