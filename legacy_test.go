package mcp

// legacy_test.go: what a client of an older revision meets, and that nobody else meets it. Lines are as on the wire, but
// for META, the whole metadata of a request of this revision, and INFO, the metadata of a result.

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

const (
	legacyMeta  = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	legacyInfo  = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"old","version":"1.0.0"}}`
	legacyLimit = 1000 // of a message, in these tests
	// The line that opens a connection in the older way, and its answer.
	legacyOpen   = `{"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	legacyOpened = `{"jsonrpc":"2.0","id":"open","result":{"capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1.0.0"},"protocolVersion":"2025-06-18","instructions":"Be kind."}}`
	// What a tool that needs input says.
	legacyCannotAsk = `"result":{"content":[{"type":"text","text":"This tool has to ask the client for input, which takes a client of MCP 2026-07-28 or later."}],"isError":true}}`
	legacyLacking   = `"error":{"code":-32021,"message":"Missing required client capability","data":{"requiredCapabilities":{"elicitation":{"form":{}}}}}}`
)

var legacyWords = strings.NewReplacer("META", legacyMeta, "INFO", legacyInfo)

// legacyServer has the tools echo and greet; slow, which takes its time, as told by a channel; and late, which does so too
// and then asks.
func legacyServer(t *testing.T, legacy bool) (s *Server, started, proceed chan bool) {
	t.Helper()
	started, proceed = make(chan bool, 10), make(chan bool)
	s = NewServer(Implementation{Name: "old", Version: "1.0.0"}, Options{
		Legacy: legacy, Instructions: "Be kind.", MaxMessage: legacyLimit, Log: log.New(io.Discard, "", 0), Grace: 5 * time.Second,
	})
	form, err := NewForm("Who?", []byte(`{"type":"object","properties":{"name":{"type":"string"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	ask := func(ctx context.Context, call *Call) (*Result, error) {
		_, err := call.Elicit("name", form)
		return Text("Hello"), err
	}
	wait := func(ctx context.Context) error {
		started <- true
		select {
		case <-proceed:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for name, handler := range map[string]Handler{
		"echo": func(ctx context.Context, call *Call) (*Result, error) {
			call.Progress(1, 1, "")
			return &Result{RawText: call.Argument("text")}, nil
		},
		"greet": ask,
		"slow": func(ctx context.Context, call *Call) (*Result, error) {
			return Text("done"), wait(ctx)
		},
		"late": func(ctx context.Context, call *Call) (*Result, error) {
			if err := wait(ctx); err != nil {
				return nil, err
			}
			return ask(ctx, call)
		},
	} {
		if err := s.AddTool(Tool{Name: name, InputSchema: []byte(`{"type":"object"}`)}, handler); err != nil {
			t.Fatal(err)
		}
	}
	return s, started, proceed
}

// legacyServe gives a server some input and returns the lines that it answers, sorted, because calls run side by side.
func legacyServe(t *testing.T, legacy bool, r io.Reader) []string {
	t.Helper()
	s, _, _ := legacyServer(t, legacy)
	var out bytes.Buffer
	if err := s.Serve(t.Context(), r, &out); err != nil {
		t.Fatal("Serve:", err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if out.Len() == 0 {
		lines = nil
	}
	for _, line := range lines {
		if err := checkJSON([]byte(line)); err != nil {
			t.Errorf("not strict JSON: %s: %v", line, err)
		}
	}
	slices.Sort(lines)
	return lines
}

// legacyCompare compares lines, whatever their order.
func legacyCompare(t *testing.T, got, want []string) {
	t.Helper()
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func legacyHandshake(id, asked, answered string) (line, answer string) {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"initialize","params":{` + asked + `}}`,
		`{"jsonrpc":"2.0","id":` + id + `,"result":{"capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1.0.0"},"protocolVersion":"` + answered + `","instructions":"Be kind."}}`
}

func TestLegacyHandshakeNamesAVersionThatBothSpeak(t *testing.T) {
	for _, test := range []struct{ name, asked, answered string }{
		{"2025-11-25 is spoken", `"protocolVersion":"2025-11-25"`, "2025-11-25"},
		{"2025-06-18 is spoken", `"protocolVersion":"2025-06-18"`, "2025-06-18"},
		{"2025-03-26 is spoken", `"protocolVersion":"2025-03-26"`, "2025-03-26"},
		{"2024-11-05 is spoken", `"protocolVersion":"2024-11-05"`, "2024-11-05"},
		{"a version is the same with escapes", `"protocolVersion":"2025\u002d06-18"`, "2025-06-18"},
		{"an unknown version gets the latest", `"protocolVersion":"1999-01-01"`, "2025-11-25"},
		{"this revision has no handshake, so that it gets the latest that has", `"protocolVersion":"2026-07-28"`, "2025-11-25"},
		{"a version of no kind gets the latest", `"protocolVersion":20250618`, "2025-11-25"},
		{"no version gets the latest", ``, "2025-11-25"},
	} {
		t.Run(test.name, func(t *testing.T) {
			line, answer := legacyHandshake("1", test.asked, test.answered)
			legacyCompare(t, legacyServe(t, true, strings.NewReader(line+"\n")), []string{answer})
		})
	}
}

// legacyRows are lines sent after the handshake, and their answers.
var legacyRows = []struct {
	name string
	in   []string
	want []string
}{
	{"initialized is a notification, and never answered",
		[]string{`{"jsonrpc":"2.0","method":"notifications/initialized"}`}, nil},
	{"a ping gets an empty result, under its id as it was written",
		[]string{`{"jsonrpc":"2.0","id":1.50e1,"method":"ping"}`, `{"jsonrpc":"2.0","id":"","method":"ping","params":{}}`, `{"jsonrpc":"2.0","method":"p\u0069ng","id":"\u0061"}`},
		[]string{`{"jsonrpc":"2.0","id":1.50e1,"result":{}}`, `{"jsonrpc":"2.0","id":"","result":{}}`, `{"jsonrpc":"2.0","id":"\u0061","result":{}}`}},
	{"a ping with the version is a method that this revision does not have",
		[]string{`{"jsonrpc":"2.0","id":1,"method":"ping","params":{META}}`},
		[]string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`}},
	{"a ping is a request, and a notification of that name is not",
		[]string{`{"jsonrpc":"2.0","method":"ping"}`}, nil},
	{"a request needs no params",
		[]string{`{"jsonrpc":"2.0","id":1,"method":"tools/list","x":{}}`, ` { "jsonrpc":"2.0","id":2,"method":"none"}`},
		[]string{`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"greet","inputSchema":{"type":"object"}},{"name":"late","inputSchema":{"type":"object"}},{"name":"slow","inputSchema":{"type":"object"}}],"ttlMs":300000,"cacheScope":"public",INFO}}`,
			`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found"}}`}},
	{"params and _meta may be there and empty, also with white space inside",
		[]string{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"},"_meta":{}}}`,
			"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"none\",\"params\":{ }}\r", `{"jsonrpc":"2.0","id":3,"method":"none","params" : { "_meta" : { } } }`},
		[]string{`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"a"}],"isError":false,INFO}}`,
			`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found"}}`,
			`{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"Method not found"}}`}},
	{"a progress token alone in _meta is enough, and comes back as it was",
		[]string{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":"\u0030"},"name":"echo","arguments":{"text":"a"}}}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"b"},"_meta":{ "progressToken":0}}}`},
		[]string{`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"\u0030","progress":1,"total":1}}`,
			`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"a"}],"isError":false,INFO}}`,
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":0,"progress":1,"total":1}}`,
			`{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[{"type":"text","text":"b"}],"isError":false,INFO}}`}},
	{"a progress token of no kind is refused as ever",
		[]string{`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"progressToken":null}}}`},
		[]string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid _meta field: progressToken: expected a string or an integer, got null; leave it out","data":{"supported":["2026-07-28"]}}}`}},
	{"params or _meta that is no object is refused as ever",
		[]string{`{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`, `{"jsonrpc":"2.0","id":2,"method":"ping","params":{"_meta":"{"}}`},
		[]string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: params and its _meta must be objects","data":{"supported":["2026-07-28"]}}}`,
			`{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Invalid params: params and its _meta must be objects","data":{"supported":["2026-07-28"]}}}`}},
	{"a version that is there and wrong is no older client's",
		[]string{`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-06-18"}}}`, `{"jsonrpc":"2.0","id":2,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":null}}}`},
		[]string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"2025-06-18"}}}`,
			`{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Invalid _meta field: io.modelcontextprotocol/protocolVersion: expected a string","data":{"supported":["2026-07-28"]}}}`}},
	{"neither are capabilities without a version",
		[]string{`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`},
		[]string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Missing required _meta field: io.modelcontextprotocol/protocolVersion","data":{"supported":["2026-07-28"]}}}`}},
	{"a tool that needs input is a tool error to an older client, and the error of this revision to a whole request",
		[]string{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet"}}`, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"greet",META}}`, `{"jsonrpc":"2.0","id":"3","method":"tools/call","params":{"name":"greet"}}`},
		[]string{`{"jsonrpc":"2.0","id":1,` + legacyCannotAsk, `{"jsonrpc":"2.0","id":2,` + legacyLacking, `{"jsonrpc":"2.0","id":"3",` + legacyCannotAsk}},
	{"errors keep their code",
		[]string{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"none"}}`, `{"jsonrpc":"2.0","id":2,"method":"resources/list"}`},
		[]string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool: none"}}`, `{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found"}}`}},
	{"initialize with the version is a method that this revision does not have",
		[]string{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{META}}`},
		[]string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found (this server speaks MCP 2026-07-28, which has no initialize handshake)"}}`}},
	{"a second handshake is answered like the first",
		[]string{strings.Replace(legacyOpen, `"open"`, `2`, 1)}, []string{strings.Replace(legacyOpened, `"open"`, `2`, 1)}},
	{"a batch is refused, also where revision 2025-03-26 allowed it",
		[]string{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`},
		[]string{`{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request: a batch; send one message a line"}}`}},
	{"a member that is there twice is refused, wherever it is",
		[]string{`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1,"a":1}}`, `{"jsonrpc":"2.0","id":2,"id":2,"method":"ping"}`, `{"jsonrpc":"2.0","id":3,"method":"ping","params":{},"params":{}}`},
		[]string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid Request: a member name twice in one object, at byte 57"}}`,
			`{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request: a member name twice in one object, at byte 25"}}`,
			`{"jsonrpc":"2.0","id":3,"error":{"code":-32600,"message":"Invalid Request: a member name twice in one object, at byte 53"}}`}},
	{"what is not JSON is refused at the byte that the client knows",
		[]string{`{"jsonrpc":"2.0","id":1,"method":"ping",}`},
		[]string{`{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error: not JSON, at byte 40: want a member name in quotes"}}`}},
	{"an id may be used again once it is answered",
		[]string{`{"jsonrpc":"2.0","id":1,"method":"none"}`, "\n \n", `{"jsonrpc":"2.0","id":1,"method":"none"}`},
		[]string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`}},
}

func TestLegacyLinesAfterTheHandshake(t *testing.T) {
	for _, row := range legacyRows {
		t.Run(row.name, func(t *testing.T) {
			input := legacyWords.Replace(strings.Join(append([]string{legacyOpen}, row.in...), "\n"))
			want := []string{legacyOpened}
			for _, line := range row.want {
				want = append(want, legacyWords.Replace(line))
			}
			legacyCompare(t, legacyServe(t, true, strings.NewReader(input+"\n")), want)
			t.Run("in one-byte reads, without the last newline", func(t *testing.T) {
				legacyCompare(t, legacyServe(t, true, iotest.OneByteReader(strings.NewReader(input))), want)
			})
		})
	}
}

// Lines that are not those of an older client after a handshake, and lines of an older client before one.
var legacyStrangers = []string{
	"\xEF\xBB\xBF\xEF\xBB\xBF" + `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{META}}`, // must stay first
	`{"jsonrpc":"2.0","id":2,"method":"server/discover","params":{META}}`,
	`{"jsonrpc":"2.0","id":"3\u2028","method":"tools/list","params":{META}}`,
	`{"jsonrpc":"2.0","id":4.0,"method":"tools/call","params":{"name":"greet",META}}`,
	`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"greet","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`,
	`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"echo","arguments":{"text":"\ud800"},META}}`,
	`{"jsonrpc":"2.0","id":7,"method":"ping","params":{META}}`,
	`{"jsonrpc":"2.0","id":8,"method":"initialize","params":{META}}`,
	`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"none",META}}`,
	`{"jsonrpc":"2.0","id":10,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
	`{"jsonrpc":"2.0","id":11,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}}}`,
	"", "  \t\r", `null`, `[]`, `"x"`, `{`, `{}`, "{\"jsonrpc\":\"2.0\",\"id\":12,\"method\":\"\xff\"}",
	`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"1.0","id":13,"method":"ping"}`, `{"jsonrpc":"2.0","id":14,"result":{}}`,
	`{"jsonrpc":"2.0","id":15,"method":"initialize","params":{},"params":{}}`,
	`{"jsonrpc":"2.0","id":1.5,"method":"initialize"}`, `[{"jsonrpc":"2.0","id":16,"method":"initialize"}]`,
	`{"jsonrpc":"2.0","method":"initialize"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":17}}`,
	"\xEF\xBB\xBF" + `{"jsonrpc":"2.0","id":18,"method":"server/discover","params":{META}}`,
	strings.Repeat(" ", legacyLimit+1), strings.Repeat("[", 600), `{"jsonrpc":"2.0","id":19,"x":"` + strings.Repeat("x", 10*readSize) + `"}`,
}

func TestLegacyOptionChangesNothingForOthers(t *testing.T) {
	whole := legacyWords.Replace(strings.Join(legacyStrangers, "\n"))
	older := whole + "\n" + `{"jsonrpc":"2.0","id":20,"method":"tools/list"}` + "\n" + `{"jsonrpc":"2.0","id":21,"method":"ping","params":{"_meta":{"progressToken":1}}}`
	t.Run("as long as there is no handshake", func(t *testing.T) {
		legacyCompare(t, legacyServe(t, true, strings.NewReader(older)), legacyServe(t, false, strings.NewReader(older)))
	})
	t.Run("in one-byte reads", func(t *testing.T) {
		legacyCompare(t, legacyServe(t, true, iotest.OneByteReader(strings.NewReader(older))), legacyServe(t, false, strings.NewReader(older)))
	})
	t.Run("and for whole requests and what is no request also after one", func(t *testing.T) {
		// The first line has a byte order mark too many at the start of a stream, and so it has here, in second place.
		want := append(legacyServe(t, false, strings.NewReader("\xEF\xBB\xBF\n"+whole)), legacyOpened)
		legacyCompare(t, legacyServe(t, true, strings.NewReader("\xEF\xBB\xBF"+legacyOpen+"\n"+whole)), want)
	})
}

func TestLegacyLimitIsThatOfTheClientsLine(t *testing.T) {
	ping := func(id, length int) string {
		start, end := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping","x":"`, id), `"}`
		return start + strings.Repeat("x", length-len(start)-len(end)) + end
	}
	tooLong := fmt.Sprintf(`{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request: longer than %d bytes"}}`, legacyLimit)
	input := strings.Join([]string{legacyOpen, ping(1, legacyLimit), ping(2, legacyLimit+1), ping(3, legacyLimit+lackedMost),
		ping(4, legacyLimit+lackedMost+1), ping(5, 50)}, "\n")
	legacyCompare(t, legacyServe(t, true, strings.NewReader(input)),
		[]string{legacyOpened, `{"jsonrpc":"2.0","id":1,"result":{}}`, tooLong, tooLong, tooLong, `{"jsonrpc":"2.0","id":5,"result":{}}`})
}

func TestLegacyLineGainsAtMostWhatTheLimitAllowsFor(t *testing.T) {
	s, _, _ := legacyServer(t, true)
	in := &translator{server: s, legacy: true, waiting: map[idKey]amendment{}}
	line := []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if gained := len(in.inward(line)) - len(line); gained != lackedMost {
		t.Errorf("a request without params gains %d bytes, not %d", gained, lackedMost)
	}
}

func TestLegacyReadErrorIsReturned(t *testing.T) {
	s, _, _ := legacyServer(t, true)
	broken := errors.New("broken")
	var out bytes.Buffer
	err := s.Serve(t.Context(), io.MultiReader(strings.NewReader(legacyOpen+"\n"), iotest.ErrReader(broken)), &out)
	if !errors.Is(err, broken) || out.String() != legacyOpened+"\n" {
		t.Errorf("Serve returned %v and wrote %s", err, &out)
	}
}

// A legacyLink is a connection to a server that goes on. Some lines of output can wait.
type legacyLink struct {
	t   *testing.T
	in  *io.PipeWriter
	out chan string // closed at its end
	end chan error
}

func legacyConnect(t *testing.T, s *Server) *legacyLink {
	r, in := io.Pipe()
	out, w := io.Pipe()
	l := &legacyLink{t, in, make(chan string, 100), make(chan error, 1)}
	go func() {
		defer close(l.out)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			select {
			case l.out <- lines.Text():
			case <-t.Context().Done():
				return
			}
		}
	}()
	go func() {
		err := s.Serve(context.Background(), r, w)
		w.Close()
		l.end <- err
	}()
	t.Cleanup(func() { in.Close(); out.Close() })
	return l
}

func (l *legacyLink) send(lines ...string) {
	l.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(l.in, legacyWords.Replace(line)+"\n"); err != nil {
			l.t.Fatal(err)
		}
	}
}

func (l *legacyLink) want(lines ...string) {
	l.t.Helper()
	for _, line := range lines {
		select {
		case got, open := <-l.out:
			if !open || got != legacyWords.Replace(line) {
				l.t.Fatalf("got  %s\nwant %s", got, legacyWords.Replace(line))
			}
		case <-time.After(10 * time.Second):
			l.t.Fatalf("no answer; want %s", line)
		}
	}
}

// close ends the input and waits for the server, which has nothing more to say.
func (l *legacyLink) close() {
	l.t.Helper()
	l.in.Close()
	for line := range l.out {
		l.t.Errorf("a line too many: %s", line)
	}
	if err := <-l.end; err != nil {
		l.t.Error("Serve:", err)
	}
}

func TestLegacyConnectionsOfOneServerAreApart(t *testing.T) {
	s, _, _ := legacyServer(t, true)
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet"}}`
	const missing = `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Missing required _meta field: io.modelcontextprotocol/protocolVersion","data":{"supported":["2026-07-28"]}}}`
	older, other := legacyConnect(t, s), legacyConnect(t, s)
	other.send(list)
	other.want(missing)
	older.send(legacyOpen)
	older.want(legacyOpened)
	for range 3 {
		other.send(list, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet",META}}`)
		other.want(missing, `{"jsonrpc":"2.0","id":1,`+legacyLacking)
		older.send(list)
		older.want(`{"jsonrpc":"2.0","id":1,` + legacyCannotAsk)
	}
	older.close()
	other.send(list)
	other.want(missing)
	other.close()
	next := legacyConnect(t, s)
	next.send(list)
	next.want(missing)
	next.close()
}

func TestLegacyCancellation(t *testing.T) {
	s, started, _ := legacyServer(t, true)
	l := legacyConnect(t, s)
	l.send(legacyOpen, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}`)
	l.want(legacyOpened)
	<-started
	l.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":10e-1,"reason":"enough"}}`)
	l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet"}}`) // the id is free
	l.want(`{"jsonrpc":"2.0","id":1,` + legacyCannotAsk)
	l.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`) // late
	l.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	l.want(`{"jsonrpc":"2.0","id":2,"result":{}}`)
	l.close()
}

func TestLegacyRequestsWithAnIDInFlight(t *testing.T) {
	s, started, proceed := legacyServer(t, true)
	l := legacyConnect(t, s)
	l.send(legacyOpen)
	l.want(legacyOpened)
	for _, first := range []struct{ line, answer string }{
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"late"}}`, `{"jsonrpc":"2.0","id":1,` + legacyCannotAsk},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow",META}}`, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"done"}],"isError":false,INFO}}`},
	} {
		l.send(first.line)
		<-started
		for _, id := range []string{"1", "1.0", "10e-1"} {
			inFlight := `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32600,"message":"Invalid Request: the id is in flight already"}}`
			handshake, _ := legacyHandshake(id, "", "")
			for _, line := range []string{
				handshake,
				`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"greet"}}`,
				`{"jsonrpc":"2.0","id":` + id + `,"method":"ping","params":{META}}`,
				`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`,
			} {
				l.send(line)
				l.want(inFlight)
			}
			l.send(`{"jsonrpc":"1.0","id":` + id + `,"method":"ping"}`)
			l.want(`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32600,"message":"Invalid Request: jsonrpc must be \"2.0\""}}`)
		}
		l.send(`{"jsonrpc":"2.0","id":"1","method":"ping"}`) // a text is another id
		l.want(`{"jsonrpc":"2.0","id":"1","result":{}}`)
		proceed <- true
		l.want(first.answer)
		l.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		l.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	}
	l.close()
}

func TestLegacyCallsGetTheirGraceAtTheEndOfInput(t *testing.T) {
	s, started, proceed := legacyServer(t, true)
	l := legacyConnect(t, s)
	l.send(legacyOpen, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"late"}}`)
	l.want(legacyOpened)
	<-started
	l.in.Close()
	proceed <- true
	l.want(`{"jsonrpc":"2.0","id":1,` + legacyCannotAsk)
	l.close()
}

func TestLegacyClientThatReadsLateMissesNothing(t *testing.T) {
	s, _, _ := legacyServer(t, true)
	l := legacyConnect(t, s)
	const pings = 50_000 // more than may wait to be written
	go func() {
		l.send(legacyOpen)
		for i := range pings {
			io.WriteString(l.in, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", i))
		}
	}()
	time.Sleep(100 * time.Millisecond)
	l.want(legacyOpened)
	for i := range pings {
		l.want(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, i))
	}
	l.close()
}

// A Write that takes a part is an error, as it is without the translator.
func TestLegacyShortWrite(t *testing.T) {
	s, _, _ := legacyServer(t, true)
	if _, err := (&translator{server: s, w: half{}}).Write([]byte(legacyOpened + "\n")); err != io.ErrShortWrite {
		t.Error(err)
	}
}

type half struct{}

func (half) Write(p []byte) (int, error) { return len(p) / 2, nil }

// What the translator keeps for a request it keeps only until the answer or the cancellation.
func TestLegacyTranslatorForgets(t *testing.T) {
	s, _, _ := legacyServer(t, true)
	var out strings.Builder
	r, w, _ := translate(s, strings.NewReader(""), &out)
	in := r.(*translator)
	in.inward([]byte(legacyOpen))
	for i := range 100 {
		in.inward(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d.0,"method":"tools/call","params":{"name":"greet"}}`, i))
	}
	if n := len(in.waiting); n != 101 {
		t.Fatalf("%d requests wait for their answers, not 101", n)
	}
	in.inward([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"open"}}`))
	fmt.Fprintln(w, `{"jsonrpc":"2.0","id":"open","error":{"code":-32601,"message":"Method not found"}}`)
	if !strings.HasPrefix(out.String(), `{"jsonrpc":"2.0","id":"open","result":{`) {
		t.Errorf("the answer to initialize, which is there before its cancellation can be read: %s", out.String())
	}
	in.inward([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"unknown"}}`))
	in.inward([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{META}}`))
	fmt.Fprintln(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid Request: the id is in flight already"}}`)
	if n := len(in.waiting); n != 100 {
		t.Fatalf("%d requests wait for their answers, not 100: a refusal of the second with an id is not the answer to the first", n)
	}
	for i := range 50 {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`+"\n"+`{"jsonrpc":"2.0","id":%d,"result":{}}`+"\n", i)
		in.inward(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, 50+i))
	}
	if n := len(in.waiting); n != 0 {
		t.Errorf("%d requests are kept", n)
	}
}
