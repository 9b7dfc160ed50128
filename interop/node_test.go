package interop

// node_test.go: the clients that run on Node: the TypeScript SDK's, in the second line of the SDK and in the first, with
// which most hosts of today are made, and the Inspector's command line. npm installs them in the user's cache, once.

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	tsClientVersion  = "2.4.0"
	tsSDKVersion     = "1.32.2"
	inspectorVersion = "2.12.0"
)

// nodeNeeded is the least Node that all of them run on; npm has one where that of the machine is older.
var nodeNeeded = [2]int{22, 19}

const nodePackage = "22"

// node gives what runs JavaScript, and the folder that has node_modules. Without Node or npm the test is skipped.
func node(t *testing.T) (program, folder string) {
	t.Helper()
	n := installNode()
	if n.missing != "" {
		t.Skip("SKIPPED, not tried: the clients that run on Node. " + n.missing)
	}
	return n.program, n.folder
}

type nodeInstallation struct{ program, folder, missing string }

var installNode = sync.OnceValue(func() (n nodeInstallation) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		n.missing = "There is no npm."
		return n
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		n.missing = err.Error()
		return n
	}
	packages := []string{
		"@modelcontextprotocol/client@" + tsClientVersion, "@modelcontextprotocol/server@" + tsClientVersion,
		"@modelcontextprotocol/sdk@" + tsSDKVersion, "@modelcontextprotocol/inspector@" + inspectorVersion,
	}
	if n.program, err = exec.LookPath("node"); err != nil || !recent(n.program) {
		arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
		if arch == "" {
			arch = runtime.GOARCH
		}
		name := "node-" + runtime.GOOS + "-" + arch
		n.program = filepath.Join("node_modules", name, "bin", "node")
		packages = append(packages, name+"@"+nodePackage)
	}
	n.folder = filepath.Join(cache, "minimcp-interop")
	if !filepath.IsAbs(n.program) {
		n.program = filepath.Join(n.folder, n.program)
	}
	// The list is written when all is there, so that an interrupted installation is done again.
	list, want := filepath.Join(n.folder, "installed"), strings.Join(packages, "\n")
	if have, err := os.ReadFile(list); err == nil && string(have) == want {
		return n
	}
	install := exec.Command(npm, append([]string{"install", "--prefix", n.folder, "--no-audit", "--no-fund", "--loglevel=error"}, packages...)...)
	if err := os.MkdirAll(n.folder, 0o755); err != nil {
		n.missing = err.Error()
	} else if out, err := install.CombinedOutput(); err != nil {
		n.missing = fmt.Sprintf("npm cannot install them: %v: %s", err, out)
	} else if err := os.WriteFile(list, []byte(want), 0o644); err != nil {
		n.missing = err.Error()
	}
	return n
})

// recent reports whether a node is new enough.
func recent(program string) bool {
	out, err := exec.Command(program, "--version").Output()
	if err != nil {
		return false
	}
	parts := strings.Split(strings.TrimPrefix(string(out), "v"), ".")
	if len(parts) < 2 {
		return false
	}
	major, _ := strconv.Atoi(parts[0])
	minor, _ := strconv.Atoi(parts[1])
	return major > nodeNeeded[0] || major == nodeNeeded[0] && minor >= nodeNeeded[1]
}

func TestTypeScriptClient(t *testing.T) {
	program, folder := node(t)
	c := client{name: "TypeScript client", version: tsClientVersion, dropsProgress: true}
	for _, mode := range []struct{ name, revision, flag string }{
		{"default", "2025-11-25", "-legacy"},
		{"auto", latest, ""},
		{"auto", latest, "-legacy"},
		{"pin", latest, ""},
		{"pin", latest, "-legacy"},
	} {
		c.mode, c.revision, c.dial = mode.name, mode.revision, dialTypeScript(program, folder, "client", mode.name)
		c.try(t, strings.Fields(mode.flag)...)
	}
}

func TestTypeScriptSDKOfTheFirstLine(t *testing.T) {
	program, folder := node(t)
	client{
		name: "TypeScript SDK", version: tsSDKVersion, mode: "default", revision: "2025-11-25", dropsProgress: true,
		dial: dialTypeScript(program, folder, "sdk", ""),
	}.try(t, "-legacy")
}

// typeScript drives driver.mjs.
type typeScript struct {
	process *exec.Cmd
	in      io.WriteCloser
	spoken  string
	changed chan struct{}

	mu       sync.Mutex
	last     int
	waiting  map[int]chan reply
	progress map[int]func(float64)
	ended    error
}

type reply struct {
	ID       int
	OK       json.RawMessage
	Error    string
	Progress int
	Value    float64
	Changed  bool
}

type command struct {
	ID       int            `json:"id,omitempty"`
	Op       string         `json:"op"`
	Command  []string       `json:"command,omitempty"`
	Mode     string         `json:"mode,omitempty"`
	Tool     string         `json:"tool,omitempty"`
	Args     map[string]any `json:"args,omitempty"`
	Progress bool           `json:"progress,omitempty"`
	Call     int            `json:"call,omitempty"`
}

func dialTypeScript(program, folder, generation, mode string) func(context.Context, []string) (driver, error) {
	return func(ctx context.Context, server []string) (driver, error) {
		script, err := beside(folder, "driver.mjs")
		if err != nil {
			return nil, err
		}
		d := &typeScript{
			process: exec.Command(program, script, generation), changed: make(chan struct{}, 100),
			waiting: map[int]chan reply{}, progress: map[int]func(float64){},
		}
		d.process.Stderr = os.Stderr
		if d.in, err = d.process.StdinPipe(); err != nil {
			return nil, err
		}
		out, err := d.process.StdoutPipe()
		if err != nil {
			return nil, err
		}
		if err := d.process.Start(); err != nil {
			return nil, err
		}
		go d.read(out)
		raw, err := d.do(ctx, command{Op: "connect", Command: server, Mode: mode}, nil)
		if err == nil {
			err = json.Unmarshal(raw, &d.spoken)
		}
		if err != nil {
			d.in.Close()
			return nil, errors.Join(err, d.process.Wait())
		}
		return d, nil
	}
}

// beside puts a script of this folder where Node finds the packages that it imports.
func beside(folder, script string) (string, error) {
	text, err := os.ReadFile(filepath.Join("node", script))
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, strconv.Itoa(os.Getpid())+"-"+script)
	scripts = append(scripts, path)
	return path, os.WriteFile(path, text, 0o644)
}

var scripts []string // to be removed at the end

func (d *typeScript) read(r io.Reader) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var answer reply
		if err := json.Unmarshal(lines.Bytes(), &answer); err != nil {
			break
		}
		d.mu.Lock()
		switch {
		case answer.Changed:
			d.changed <- struct{}{}
		case answer.Progress != 0:
			if f := d.progress[answer.Progress]; f != nil {
				f(answer.Value)
			}
		case d.waiting[answer.ID] != nil:
			d.waiting[answer.ID] <- answer
			delete(d.waiting, answer.ID)
		}
		d.mu.Unlock()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = errors.New("the driver has ended")
	for _, c := range d.waiting {
		c <- reply{Error: d.ended.Error()}
	}
}

// do gives the driver a command and waits for what comes of it. Where ctx ends, the driver is told to abort the call.
func (d *typeScript) do(ctx context.Context, c command, progress func(float64)) (json.RawMessage, error) {
	answer := make(chan reply, 1)
	send := func(c command) error {
		line, err := json.Marshal(c)
		if err == nil {
			_, err = d.in.Write(append(line, '\n'))
		}
		return err
	}
	d.mu.Lock()
	d.last++
	c.ID, c.Progress = d.last, progress != nil
	d.waiting[c.ID], d.progress[c.ID] = answer, progress
	err := errors.Join(d.ended, send(c))
	d.mu.Unlock()
	if err != nil {
		return nil, err
	}
	aborted := ctx.Done()
	for {
		select {
		case a := <-answer:
			if a.Error != "" {
				return nil, errors.New(a.Error)
			}
			return a.OK, nil
		case <-aborted:
			aborted = nil
			d.mu.Lock()
			send(command{Op: "abort", Call: c.ID})
			d.mu.Unlock()
		}
	}
}

func (d *typeScript) revision() string { return d.spoken }

func (d *typeScript) list(ctx context.Context) (names []string, err error) {
	raw, err := d.do(ctx, command{Op: "list"}, nil)
	if err == nil {
		err = json.Unmarshal(raw, &names)
	}
	return names, err
}

func (d *typeScript) call(ctx context.Context, tool string, args map[string]any, progress func(float64)) (*answer, error) {
	raw, err := d.do(ctx, command{Op: "call", Tool: tool, Args: args}, progress)
	if err != nil {
		return nil, err
	}
	return resultOf(raw)
}

// resultOf takes the JSON of a result apart.
func resultOf(raw []byte) (*answer, error) {
	var result struct {
		Content           []json.RawMessage
		StructuredContent json.RawMessage
		IsError           bool
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return nil, err
	}
	if result.StructuredContent == nil {
		return answerOf(result.Content, nil, result.IsError)
	}
	return answerOf(result.Content, result.StructuredContent, result.IsError)
}

func (d *typeScript) listen(ctx context.Context) (<-chan struct{}, error) {
	_, err := d.do(ctx, command{Op: "listen"}, nil)
	return d.changed, err
}

func (d *typeScript) close() error {
	_, err := d.do(context.Background(), command{Op: "close"}, nil)
	return errors.Join(err, d.in.Close(), d.process.Wait())
}

// The Inspector's command line makes a connection for each thing that it does. It looks a tool up before it calls it, and
// declares no capabilities.
func TestInspector(t *testing.T) {
	program, folder := node(t)
	for _, mode := range []struct{ era, revision, flag string }{
		{"legacy", "2025-11-25", "-legacy"}, {"auto", latest, ""}, {"modern", latest, ""},
	} {
		r := &row{client: "Inspector", version: inspectorVersion, mode: "--protocol-era " + mode.era, flag: mode.flag, revision: mode.revision, outcome: map[string]string{}}
		rows = append(rows, r)
		t.Run(mode.era, func(t *testing.T) {
			home := t.TempDir()
			do := func(t *testing.T, server string, args ...string) (stdout string, status int) {
				t.Helper()
				line, traces := through(t, server, strings.Fields(mode.flag)...)
				cli := filepath.Join(folder, "node_modules", "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
				all := slices.Concat([]string{cli, "--cli"}, line, []string{"--protocol-era", mode.era, "--format", "json"}, args)
				run := exec.CommandContext(t.Context(), program, all...)
				run.Env = append(os.Environ(), "HOME="+home, "USERPROFILE="+home)
				out, err := run.Output()
				var exit *exec.ExitError
				if errors.As(err, &exit) {
					out = append(out, exit.Stderr...)
				} else if err != nil {
					t.Fatal(err)
				}
				checkTraces(t, r, readTraces(t, traces), mode.revision == latest)
				return string(out), run.ProcessState.ExitCode()
			}
			call := func(t *testing.T, status int, tool string, args string) *answer {
				t.Helper()
				out, got := do(t, "minimcp", "--method", "tools/call", "--tool-name", tool, "--tool-args-json", args)
				var printed struct{ Result json.RawMessage }
				if err := json.NewDecoder(strings.NewReader(out)).Decode(&printed); err != nil || got != status {
					t.Fatalf("%s: status %d, %v: %s", tool, got, err, out)
				}
				a, err := resultOf(printed.Result)
				if err != nil {
					t.Fatal(err)
				}
				return a
			}
			const toolError = 5 // the status where a result has isError
			check(t, r, "list", "yes", func(t *testing.T) {
				for server, want := range map[string]string{"minimcp": "get_weather", "everything": "json_schema_2020_12_tool"} {
					if out, status := do(t, server, "--method", "tools/list", "--strict"); status != 0 || !strings.Contains(out, want) {
						t.Errorf("%s: status %d: %s", server, status, out)
					}
				}
			})
			r.outcome["connect"] = r.outcome["list"]
			check(t, r, "call", "yes", func(t *testing.T) {
				if a := call(t, 0, "add", `{"a":2,"b":3}`); a.text() != "5" || a.IsError {
					t.Errorf("got %+v", a)
				}
			})
			check(t, r, "tool failure", "yes", func(t *testing.T) {
				if a := call(t, toolError, "boom", `{}`); a.text() != "city not found" || !a.IsError {
					t.Errorf("got %+v", a)
				}
			})
			check(t, r, "bad arguments", "yes", func(t *testing.T) {
				if a := call(t, toolError, "get_weather", `{"days":2.5}`); !strings.Contains(a.text(), "/days") || !a.IsError {
					t.Errorf("got %+v", a)
				}
			})
			check(t, r, "structured", "yes", func(t *testing.T) {
				if a := call(t, 0, "get_weather", `{"location":"Paris"}`); !strings.Contains(string(a.Structured), "21.5") || a.IsError {
					t.Errorf("got %+v", a)
				}
			})
			if mode.revision != latest {
				check(t, r, "input", "tool error", func(t *testing.T) {
					if a := call(t, toolError, "greet", `{}`); !strings.Contains(a.text(), "ask the client") || !a.IsError {
						t.Errorf("got %+v", a)
					}
				})
			} else {
				check(t, r, "input", "-32021", func(t *testing.T) {
					out, status := do(t, "minimcp", "--method", "tools/call", "--tool-name", "greet")
					if status != 1 || !strings.Contains(out, "Missing required client capability") {
						t.Errorf("status %d: %s", status, out)
					}
				})
			}
			r.outcome["clean end"] = "yes" // checkTraces has looked
		})
	}
}
