package mcp

// Fuzz targets. Each says first what always holds. Seeds come from the lists here and from testdata/fuzz, whose README
// says what is in it; FuzzSchema and FuzzDecimal seed themselves from the tables of their files.
//
//	.ci/fuzz 10m FuzzServe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// FuzzFrames: the frames of a stream are the same however its bytes are cut into reads, and are the lines between its
// newlines that are not white space alone; a longer line than the limit is an error in its place.
func FuzzFrames(f *testing.F) {
	for _, seed := range []string{"", "\n", "a", "a\n", "a\nb", "\r\n \n\t\na\r\n", "\xEF\xBB\xBFa\n\xEF\xBB\xBFb\n", "12345678\n123456789\n1", "\xEF\xBB\xBF12345678\nx", "1234567890123456789012345"} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, stream []byte, chunk uint8) {
		const limit = 8
		var want []string
		for _, line := range bytes.Split(bytes.TrimPrefix(stream, []byte(byteOrderMark)), []byte("\n")) {
			switch {
			case len(line) > limit:
				want = append(want, "too long")
			case len(bytes.Trim(line, " \t\r")) > 0:
				want = append(want, "line "+string(line))
			}
		}
		for name, r := range map[string]io.Reader{
			"whole":    bytes.NewReader(stream),
			"one byte": iotest.OneByteReader(bytes.NewReader(stream)),
			"half":     iotest.HalfReader(bytes.NewReader(stream)),
			"data+EOF": iotest.DataErrReader(bytes.NewReader(stream)),
			"chunks":   &repeater{data: stream, times: min(1, len(stream)), chunk: int(chunk)%7 + 1},
		} {
			frames := NewReader(r, limit)
			frames.buf = make([]byte, 0, int(chunk)%5+1) // small, so that its edge is met
			var got []string
			for {
				line, err := frames.ReadFrame()
				if err == io.EOF {
					break
				}
				if err != nil {
					got = append(got, "too long")
				} else {
					got = append(got, "line "+string(line))
				}
			}
			if strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
	})
}

// FuzzJSON: what the scanner accepts is JSON to encoding/json and valid UTF-8, and what it refuses is not, unless a name
// occurs twice or the nesting is too deep, which have errors of their own.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{}`, `[1,-0.5e+3,"a\u00e9\ud83d\ude00\ud800",true,null]`, `{"a":1,"\u0061":2}`, `{"a":{"b":1,"b":2}}`, "\"\xff\"", `"\x"`, `01`, `1.`, `[1,]`, `{"a" 1}`, "\"\x01\"", ` 1 `, `1 2`, strings.Repeat("[", 513) + strings.Repeat("]", 513), `{"1":1,"2":1,"3":1,"4":1,"5":1,"6":1,"7":1,"8":1,"9":1,"10":1,"11":1,"12":1,"13":1,"14":1,"1\u0030":1}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		err := checkJSON(text)
		good := json.Valid(text) && utf8.Valid(text)
		switch {
		case err == nil && !good:
			t.Errorf("%q is accepted", text)
		case good && err != nil && !errors.Is(err, ErrDuplicate) && !errors.Is(err, ErrDepth):
			t.Errorf("%q is refused: %v", text, err)
		}
		if err == nil {
			compact := appendCompact(nil, text)
			first, _ := appendCanonical(nil, text, skipSpace(text, 0))
			second, _ := appendCanonical(nil, compact, 0)
			if checkJSON(compact) != nil || !bytes.Equal(first, second) {
				t.Errorf("%q is another value when compact: %q", text, compact)
			}
		}
	})
}

// FuzzMessage: a message that is read, written without white space and read again is the same message.
func FuzzMessage(f *testing.F) {
	for _, seed := range hostileLines {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var m, again message
		kind, failure := m.read(line)
		if failure != nil && failure.Code == CodeParseError {
			return
		}
		compact := appendCompact(nil, line)
		kind2, failure2 := again.read(compact)
		if kind != kind2 || (failure == nil) != (failure2 == nil) {
			t.Fatalf("%q is %v, %v; %q is %v, %v", line, kind, failure, compact, kind2, failure2)
		}
		for slot := range slots {
			first, second := m.at(slot), again.at(slot)
			if (first == nil) != (second == nil) || !bytes.Equal(appendCompact(nil, first), second) {
				t.Errorf("slot %d: %q and %q", slot, first, second)
			}
		}
	})
}

// FuzzID: two ids have one key exactly when they are the same value: equal numbers, or strings with the same code units.
func FuzzID(f *testing.F) {
	for _, seed := range [][2]string{{"1", "1.0"}, {"1", "10e-1"}, {"1", `"1"`}, {"-0", "0"}, {"1e2", "100"}, {`"a"`, `"\u0061"`}, {`"\ud83d\ude00"`, `"😀"`}, {`"\ud800"`, `"\udc00"`}, {`"\ud800"`, `"\uD800"`}, {"123456789012345678901234567890", "1234567890123456789012345678901e-1"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if checkJSON([]byte(a)) != nil || checkJSON([]byte(b)) != nil {
			return
		}
		left, right := trimSpace([]byte(a)), trimSpace([]byte(b))
		if !isID(left) || !isID(right) {
			return
		}
		same := isText(left) == isText(right)
		if same && isText(left) {
			same = unquote(left) == unquote(right)
		} else if same {
			if len(a) > 100 || len(b) > 100 || strings.ContainsAny(a+b, "eE") && exponentOver(a+" "+b, 4) {
				return // more than math/big should be asked to hold
			}
			x, _ := new(big.Rat).SetString(string(left))
			y, _ := new(big.Rat).SetString(string(right))
			same = x.Cmp(y) == 0
		}
		if got := keyOf(left) == keyOf(right); got != same {
			t.Errorf("%s and %s: one key is %v, one value is %v", left, right, got, same)
		}
	})
}

// exponentOver reports whether an exponent in text has more than that many digits.
func exponentOver(text string, digits int) bool {
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == 'e' || r == 'E' })[1:] {
		end := strings.TrimLeft(part, "+-0")
		if i := strings.IndexAny(end, " \t\r\n"); i >= 0 {
			end = end[:i]
		}
		if len(end) > digits {
			return true
		}
	}
	return false
}

// fuzzServer has tools that are quick, and logs nothing.
func fuzzServer() *Server {
	s := NewServer(Implementation{Name: "fuzz", Version: "1"}, Options{Log: log.New(io.Discard, "", 0), StateKey: []byte("key")})
	schema := json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)
	for name, handler := range map[string]Handler{
		"echo": func(ctx context.Context, call *Call) (*Result, error) {
			call.Progress(1, 2, "half")
			return &Result{RawText: call.Argument("text")}, nil
		},
		"boom": func(ctx context.Context, call *Call) (*Result, error) { return nil, errors.New("city not found") },
		"raw": func(ctx context.Context, call *Call) (*Result, error) {
			return &Result{StructuredContent: call.Arguments}, nil
		},
		"panic": func(ctx context.Context, call *Call) (*Result, error) { panic("!") },
	} {
		tool := Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}
		if name == "echo" {
			tool.InputSchema = schema
		}
		if err := s.AddTool(tool, handler); err != nil {
			panic(err)
		}
	}
	return s
}

const fuzzMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// hostileLines are the seeds of whatever takes messages.
var hostileLines = []string{
	`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + fuzzMeta + `}}`,
	`{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{` + fuzzMeta + `}}`,
	`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"h\u00e9"},` + fuzzMeta + `}}`,
	`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"raw","arguments":{"a":[1,{"b":null}]},` + fuzzMeta + `}}`,
	`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"boom",` + fuzzMeta + `}}`,
	`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"panic",` + fuzzMeta + `}}`,
	`{"jsonrpc":"2.0","id":6,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + fuzzMeta + `}}`,
	`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}}`,
	`{"jsonrpc":"2.0","id":1.5,"method":"x"}`, `{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}`, `[]`, `{}`, `null`, `{"id":1`,
	`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, "\xff", ` `,
	`{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":"x",` + fuzzMeta + `}}`,
	`{"jsonrpc":"2.0","id":8,"method":"initialize","params":{}}`,
	`{"jsonrpc":"2.0","id":9,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01"}}}`,
}

// serveAll gives what the server writes for these bytes, by line.
func serveAll(t *testing.T, s *Server, input []byte) []string {
	var out bytes.Buffer
	if err := s.Serve(context.Background(), bytes.NewReader(input), &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(out.String(), "\n")
	if last := lines[len(lines)-1]; last != "" {
		t.Fatalf("the last line has no newline: %q", last)
	}
	return lines[:len(lines)-1]
}

// FuzzServe: any bytes bring only lines that are valid messages of the revision, exactly one answer to each request that
// can be identified and has not been cancelled, one error without id to each line that is no message, and none to
// notifications and responses.
func FuzzServe(f *testing.F) {
	f.Add([]byte(strings.Join(hostileLines, "\n")))
	for _, line := range hostileLines {
		f.Add([]byte(line + "\n" + hostileLines[0]))
	}
	s := fuzzServer()
	f.Fuzz(func(t *testing.T, input []byte) {
		asked, free, without := map[idKey]int{}, map[idKey]bool{}, 0
		var talk conversation
		frames := NewReader(bytes.NewReader(input), DefaultMaxMessage)
		for {
			line, err := frames.ReadFrame()
			if err != nil {
				break
			}
			talk.sent(string(line))
			var m message
			switch kind, failure := m.read(line); {
			case kind == notification:
				if id := m.at(slotRequestID); isID(id) {
					free[keyOf(id)] = true
				}
			case kind == response:
			case m.id() == nil:
				without++
			default:
				asked[keyOf(m.id())]++
				if failure == nil && string(m.method()) == "subscriptions/listen" {
					free[keyOf(m.id())] = true
				}
			}
		}
		for _, line := range serveAll(t, s, input) {
			if err := talk.problem(strings.TrimSuffix(line, "\n")); err != nil {
				t.Errorf("%q: %v", line, err)
			}
			var m message
			m.read([]byte(line))
			switch id := m.at(slotID); {
			case m.at(slotMethod) != nil:
			case id == nil:
				without--
			default:
				asked[keyOf(id)]--
			}
		}
		for id, n := range asked {
			if n < 0 || n > 0 && !free[id] {
				t.Errorf("id %s: %d answers too few", id, n)
			}
		}
		if without != 0 {
			t.Errorf("%d errors without id too few", without)
		}
	})
}

// FuzzIndependent: a request's answer does not depend on what came before it on the connection.
func FuzzIndependent(f *testing.F) {
	for i, line := range hostileLines {
		f.Add([]byte(hostileLines[len(hostileLines)-1-i]), []byte(line))
	}
	s := fuzzServer()
	f.Fuzz(func(t *testing.T, before, line []byte) {
		if bytes.ContainsAny(line, "\n") || bytes.HasPrefix(line, []byte(byteOrderMark)) || bytes.Contains(before, []byte("listen")) {
			return // the request has to be one line; a subscription holds its id
		}
		var m message
		if kind, _ := m.read(line); kind != request || bytes.Contains(line, []byte("listen")) {
			return
		}
		key := keyOf(m.id())
		answer := func(input []byte) (last string) {
			for _, line := range serveAll(t, s, input) {
				if m.read([]byte(line)); m.at(slotMethod) == nil && m.at(slotID) != nil && keyOf(m.at(slotID)) == key {
					last = line
				}
			}
			return last
		}
		alone := answer(line)
		after := answer(append(append(append([]byte{}, before...), '\n'), line...))
		if alone != after {
			t.Errorf("alone %q, after %q %q", alone, before, after)
		}
	})
}

// FuzzMeta: a request with any _meta is served, or refused by -32602 or -32022, or by -32600 where a member is twice.
func FuzzMeta(f *testing.F) {
	for _, seed := range []string{`{}`, `null`, `[]`, `{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`, strings.TrimPrefix(fuzzMeta, `"_meta":`),
		`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":1}}}`,
		`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":1.5}`,
		`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"loud"}`,
		`{"io.modelcontextprotocol/protocolVersion":1,"io.modelcontextprotocol/protocolVersion":2}`} {
		f.Add([]byte(seed))
	}
	s := fuzzServer()
	f.Fuzz(func(t *testing.T, meta []byte) {
		if !json.Valid(meta) || !utf8.Valid(meta) {
			return
		}
		line := append(append([]byte(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":`), meta...), "}}"...)
		answer := s.HandleMessage(context.Background(), line, nil)
		var talk conversation
		talk.sent(string(line))
		if err := talk.problem(string(answer)); err != nil {
			t.Errorf("%q: %v", answer, err)
		}
		for _, allowed := range []string{`"result":{`, `"code":-32602`, `"code":-32022`, `"code":-32600`, `nested more than`} {
			if bytes.Contains(answer, []byte(allowed)) {
				return
			}
		}
		t.Errorf("%q gets %q", meta, answer)
	})
}

// FuzzState: sealed state opens with its payload, and never once any of it is altered.
func FuzzState(f *testing.F) {
	f.Add([]byte("payload"), "x", uint16(0))
	f.Add([]byte{}, "A", uint16(3))
	f.Add([]byte("payload"), "", uint16(9))
	s := fuzzServer()
	f.Fuzz(func(t *testing.T, payload []byte, with string, at uint16) {
		call := &Call{Name: "echo", Arguments: json.RawMessage(`{"text":"a"}`), server: s}
		state := call.SealState(context.Background(), payload)
		call.RequestState = state
		if got, err := call.OpenState(context.Background()); err != nil || !bytes.Equal(got, payload) {
			t.Fatalf("sealed state does not open: %v", err)
		}
		i := int(at) % len(state)
		call.RequestState = state[:i] + with + state[min(len(state), i+1):]
		if call.RequestState == state || call.RequestState == "" {
			return
		}
		if got, err := call.OpenState(context.Background()); err == nil {
			t.Errorf("altered state %q opens with %q", call.RequestState, got)
		}
	})
}

// TestFuzzSeeds: each folder of seeds belongs to a target and has seeds in it, each with a name that can be read.
func TestFuzzSeeds(t *testing.T) {
	folders, err := filepath.Glob("testdata/fuzz/Fuzz*")
	if err != nil || len(folders) == 0 {
		t.Fatal("no seeds", err)
	}
	var sources []byte
	for _, file := range []string{"fuzz_test.go", "schema_fuzz_test.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, text...)
	}
	for _, folder := range folders {
		if !bytes.Contains(sources, []byte("func "+filepath.Base(folder)+"(")) {
			t.Errorf("%s belongs to no target", folder)
		}
		seeds, err := filepath.Glob(folder + "/*")
		if err != nil || len(seeds) == 0 {
			t.Errorf("%s has no seeds: %v", folder, err)
		}
		for _, seed := range seeds {
			if !strings.Contains(filepath.Base(seed), "-") {
				t.Errorf("%s has no name that says what it is for", seed)
			}
		}
	}
}
