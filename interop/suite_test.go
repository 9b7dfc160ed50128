package interop

// suite_test.go: what every client is put through, whatever language it is written in.

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

// A driver is a client, connected to a server. An error of the protocol is an error.
type driver interface {
	revision() string
	list(ctx context.Context) ([]string, error)
	call(ctx context.Context, tool string, args map[string]any, progress func(float64)) (*answer, error)
	listen(ctx context.Context) (changed <-chan struct{}, err error) // for tools/list_changed
	close() error
}

type answer struct {
	Text       []string // of the content that is text
	Kinds      []string // of all content
	IsError    bool
	Structured json.RawMessage
}

func (a *answer) text() string { return strings.Join(a.Text, "\n") }

// A client is one in one of its modes. Its handlers answer as the constants below say.
type client struct {
	name, version, mode string
	revision            string // that it is to settle on
	dial                func(ctx context.Context, command []string) (driver, error)
	dropsProgress       bool // loses progress that comes together with the response; see README.md
}

// What the user and the model say, by the name of what is asked for.
var replies = map[string]any{"name": "Ada", "color": "blue", "ok": true}

const modelSays = "Paris"

// filled is a form filled in, given its schema.
func filled(schema any) (map[string]any, error) {
	var form struct{ Properties map[string]any }
	raw, err := json.Marshal(schema)
	if err == nil {
		err = json.Unmarshal(raw, &form)
	}
	content := map[string]any{}
	for name := range form.Properties {
		content[name] = replies[name]
	}
	return content, err
}

const latest = "2026-07-28"

// try puts a client through everything, against servers with the flag, if there is one.
func (c client) try(t *testing.T, flags ...string) {
	t.Helper()
	flag := strings.Join(flags, " ")
	r := &row{client: c.name, version: c.version, mode: c.mode, flag: flag, revision: c.revision, outcome: map[string]string{}}
	t.Run(strings.TrimSpace(c.name+" "+c.mode+" "+flag), func(t *testing.T) {
		rows = append(rows, r)
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
		defer cancel()
		c.tryMinimcp(ctx, t, r, flags)
		c.tryEverything(ctx, t, r, flags)
	})
}

// connect dials a server and returns what closes the connection and looks at its traces.
func (c client) connect(ctx context.Context, t *testing.T, r *row, server string, flags []string) (d driver, end func(t *testing.T) (last []line)) {
	command, folder := through(t, server, flags...)
	d, err := c.dial(ctx, command)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	if got := d.revision(); got != c.revision {
		t.Errorf("the revision is %q, not %q", got, c.revision)
	}
	return d, func(t *testing.T) []line {
		t.Helper()
		if err := d.close(); err != nil {
			t.Errorf("close: %v", err)
		}
		traces := readTraces(t, folder)
		checkTraces(t, r, traces, c.revision == latest)
		if t.Failed() && testing.Verbose() {
			for _, trace := range traces {
				for _, l := range trace {
					t.Logf("%c %s", l.from, clip(l.text))
				}
			}
		}
		return traces[len(traces)-1]
	}
}

// checkTraces looks at the traces of one connection. Its last process is the one that the client talked to; one that was a
// probe may end as it likes.
func checkTraces(t *testing.T, r *row, traces [][]line, modern bool) {
	t.Helper()
	for i, trace := range traces {
		checkServer(t, trace)
		for _, fault := range clientFaults(trace, modern) {
			if !slices.Contains(r.faults, fault) {
				r.faults = append(r.faults, fault)
			}
		}
		var events []string
		for _, l := range trace {
			if l.from == '=' {
				events = append(events, l.text)
			}
		}
		if i == len(traces)-1 && !slices.Equal(events, []string{"end of input", "exit status 0"}) {
			t.Errorf("the end of the connection was: %s", strings.Join(events, ", "))
		}
	}
}

// check runs one feature and notes what came of it.
func check(t *testing.T, r *row, feature, outcome string, f func(t *testing.T)) {
	if t.Run(feature, f); t.Failed() {
		outcome = "no"
	}
	if r.outcome[feature] != "no" {
		r.outcome[feature] = outcome
	}
}

func (c client) tryMinimcp(ctx context.Context, t *testing.T, r *row, flags []string) {
	d, end := c.connect(ctx, t, r, "minimcp", flags)
	r.outcome["connect"] = "yes"
	call := func(t *testing.T, tool string, args map[string]any) *answer {
		t.Helper()
		a, err := d.call(ctx, tool, args, nil)
		if err != nil {
			t.Fatalf("%s: %v", tool, err)
		}
		return a
	}
	check(t, r, "list", "yes", func(t *testing.T) {
		names, err := d.list(ctx)
		if want := []string{"add", "boom", "echo", "get_weather", "greet", "sleep"}; err != nil || !slices.Equal(names, want) {
			t.Errorf("got %v, %v", names, err)
		}
	})
	check(t, r, "call", "yes", func(t *testing.T) {
		if a := call(t, "add", map[string]any{"a": 2, "b": 3}); a.text() != "5" || a.IsError {
			t.Errorf("add: %+v", a)
		}
		const text = "line\nand \u2028 and \U0001F600 and <&>\x00"
		if a := call(t, "echo", map[string]any{"text": text}); a.text() != text || a.IsError {
			t.Errorf("echo: %+v", a)
		}
	})
	check(t, r, "tool failure", "yes", func(t *testing.T) {
		if a := call(t, "boom", nil); a.text() != "city not found" || !a.IsError {
			t.Errorf("got %+v", a)
		}
	})
	check(t, r, "protocol error", "yes", func(t *testing.T) {
		if a, err := d.call(ctx, "nope", nil, nil); err == nil || !strings.Contains(err.Error(), "Unknown tool: nope") {
			t.Errorf("got %+v, %v", a, err)
		}
	})
	check(t, r, "bad arguments", "yes", func(t *testing.T) {
		a := call(t, "get_weather", map[string]any{"days": 2.5})
		if !a.IsError || !strings.Contains(a.text(), "location") || !strings.Contains(a.text(), "days") {
			t.Errorf("got %+v", a)
		}
	})
	check(t, r, "structured", "yes", func(t *testing.T) {
		a := call(t, "get_weather", map[string]any{"location": "Paris", "units": "f"})
		var weather struct {
			Location    string
			Temperature float64
		}
		if err := json.Unmarshal(a.Structured, &weather); err != nil || weather.Location != "Paris" || weather.Temperature != 70.7 {
			t.Errorf("got %+v: %s", a, a.Structured)
		}
	})
	progress := "yes"
	if c.dropsProgress {
		progress = "yes, but"
	}
	check(t, r, "progress", progress, func(t *testing.T) {
		values := make(chan float64, 100)
		a, err := d.call(ctx, "sleep", map[string]any{"ms": 150, "steps": 3}, func(value float64) { values <- value })
		if err != nil || a.text() != "slept 150 ms" {
			t.Fatalf("got %+v, %v", a, err)
		}
		for want := 1.0; want <= 3; want++ {
			select {
			case got := <-values:
				if got != want {
					t.Errorf("progress is %v, not %v", got, want)
				}
			case <-time.After(time.Second):
				if want < 3 || !c.dropsProgress {
					t.Errorf("no progress %v", want)
				}
			}
		}
	})
	check(t, r, "cancel", "yes", func(t *testing.T) {
		short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		defer cancel()
		started := time.Now()
		if a, err := d.call(short, "sleep", map[string]any{"ms": 60000}, nil); err == nil || time.Since(started) > 5*time.Second {
			t.Errorf("got %+v, %v", a, err)
		}
		call(t, "echo", map[string]any{"text": "still there"})
	})
	input := "yes"
	if c.revision != latest {
		input = "tool error"
	}
	check(t, r, "input", input, func(t *testing.T) {
		a := call(t, "greet", nil)
		if c.revision == latest && (a.text() != "Hello, Ada!" || a.IsError) {
			t.Errorf("got %+v", a)
		}
		if c.revision != latest && (!strings.Contains(a.text(), "ask the client") || !a.IsError) {
			t.Errorf("got %+v", a)
		}
	})
	check(t, r, "clean end", "yes", func(t *testing.T) { checkCancelled(t, end(t)) })
}

func (c client) tryEverything(ctx context.Context, t *testing.T, r *row, flags []string) {
	d, end := c.connect(ctx, t, r, "everything", flags)
	check(t, r, "all kinds of content", "yes", func(t *testing.T) {
		for tool, kinds := range map[string][]string{
			"test_simple_text":            {"text"},
			"test_image_content":          {"image"},
			"test_audio_content":          {"audio"},
			"test_embedded_resource":      {"resource"},
			"resource_link":               {"resource_link"},
			"test_multiple_content_types": {"text", "image", "resource"},
		} {
			if a, err := d.call(ctx, tool, nil, nil); err != nil || a.IsError || !slices.Equal(a.Kinds, kinds) {
				t.Errorf("%s: got %+v, %v", tool, a, err)
			}
		}
		a, err := d.call(ctx, "statistics", map[string]any{"numbers": []float64{1, 2.5, 4}}, nil)
		var s struct{ Min, Max, Mean float64 }
		if err != nil || json.Unmarshal(a.Structured, &s) != nil || s.Min != 1 || s.Max != 4 || s.Mean != 2.5 {
			t.Errorf("statistics: got %+v, %v", a, err)
		}
	})
	if c.revision == latest {
		check(t, r, "input", "yes", func(t *testing.T) {
			for tool, want := range map[string]string{
				"test_input_required_result_multi_round":     "Ada likes blue.",
				"test_input_required_result_request_state":   "state-ok",
				"test_input_required_result_sampling":        modelSays,
				"test_input_required_result_multiple_inputs": "Ada has 1 roots",
			} {
				a, err := d.call(ctx, tool, nil, nil)
				if err != nil || a.IsError || !strings.Contains(a.text(), want) {
					t.Errorf("%s: got %+v, %v", tool, a, err)
				}
			}
		})
		check(t, r, "list_changed", "yes", func(t *testing.T) {
			changed, err := d.listen(ctx)
			if err != nil {
				t.Fatalf("listen: %v", err)
			}
			told := 0
			for tries := 0; told < 2; tries++ { // there, and gone again; the first may come before the subscription is there
				before, err := d.list(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := d.call(ctx, "test_trigger_tool_change", nil, nil); err != nil {
					t.Fatal(err)
				}
				select {
				case <-changed:
					told++
				case <-time.After(2 * time.Second):
					if tries > 0 {
						t.Fatal("no word of the change")
					}
					continue
				}
				after, err := d.list(ctx)
				if err != nil || slices.Contains(after, "here_today") == slices.Contains(before, "here_today") {
					t.Errorf("the list was %v and is %v, %v", before, after, err)
				}
			}
		})
	}
	check(t, r, "clean end", "yes", func(t *testing.T) { end(t) })
}
