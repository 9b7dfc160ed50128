package mcp

// Benchmarks, named for what is done and for the shape of the input. Each has a test twin, which runs the same body a few
// times: TestBenchmarks. The results are checked, and allocations are what may fail (TestAllocations).
//
//	go test -run '^$' -bench . -count 6 . | tee new.txt
//	go tool benchstat -ignore cpu testdata/bench/baseline.txt new.txt

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
)

// A benchmark does something n times and says what is wrong with the result, if anything is.
type benchmark struct {
	name  string
	bytes int // a time
	body  func(n int) error
}

func run(b *testing.B, benchmarks []benchmark) {
	for _, bench := range benchmarks {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(bench.bytes))
			if err := bench.body(b.N); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func BenchmarkReadFrame(b *testing.B)   { run(b, readFrameBenchmarks()) }
func BenchmarkReadMessage(b *testing.B) { run(b, readMessageBenchmarks()) }
func BenchmarkValidate(b *testing.B)    { run(b, validateBenchmarks()) }
func BenchmarkServe(b *testing.B)       { run(b, serveBenchmarks()) }

func TestBenchmarks(t *testing.T) {
	for group, benchmarks := range map[string][]benchmark{
		"ReadFrame": readFrameBenchmarks(), "ReadMessage": readMessageBenchmarks(),
		"Validate": validateBenchmarks(), "Serve": serveBenchmarks(),
	} {
		for _, bench := range benchmarks {
			t.Run(group+"/"+bench.name, func(t *testing.T) {
				if err := bench.body(3); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

const benchMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},` +
	`"io.modelcontextprotocol/clientCapabilities":{}}`

func benchCall(id int, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":%s,%s}}`+"\n",
		id, tool, arguments, benchMeta)
}

func benchText(size int) string { return `{"text":"` + strings.Repeat("x", size) + `"}` }

// benchServer has the tools echo and add, and as many more as are asked for.
func benchServer(more int) *Server {
	s := NewServer(Implementation{Name: "bench", Version: "1.0.0"}, Options{})
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	must(s.AddTool(Tool{
		Name:        "echo",
		InputSchema: []byte(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
	}, func(ctx context.Context, call *Call) (*Result, error) {
		return &Result{RawText: call.Argument("text")}, nil
	}))
	must(s.AddTool(Tool{
		Name:        "add",
		InputSchema: []byte(`{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}`),
	}, Typed(func(ctx context.Context, call *Call, in struct{ A, B float64 }) (*Result, error) {
		return Text(strconv.FormatFloat(in.A+in.B, 'f', -1, 64)), nil
	})))
	for i := range more {
		must(s.AddTool(Tool{Name: fmt.Sprintf("tool_%d", i)}, func(ctx context.Context, call *Call) (*Result, error) {
			return Text("x"), nil
		}))
	}
	return s
}

// A repeater is a stream that gives the same bytes a number of times, at most chunk of them at a time.
type repeater struct {
	data         []byte
	times, chunk int
	at           int
}

func (r *repeater) Read(p []byte) (int, error) {
	if r.times == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), r.chunk)], r.data[r.at:])
	if r.at += n; r.at == len(r.data) {
		r.at, r.times = 0, r.times-1
	}
	return n, nil
}

func readFrameBenchmarks() []benchmark {
	read := func(size, chunk int) func(int) error {
		line := append(bytes.Repeat([]byte("x"), size-1), '\n')
		return func(n int) error {
			r := NewReader(&repeater{data: line, times: n, chunk: chunk}, DefaultMaxMessage)
			for range n {
				if got, err := r.ReadFrame(); err != nil || len(got) != size-1 {
					return fmt.Errorf("a line of %d bytes, error %v", len(got), err)
				}
			}
			return nil
		}
	}
	return []benchmark{
		{"Small", 256, read(256, 32<<10)},
		{"Large", 1 << 20, read(1<<20, 64<<10)},
		{"OneByteReads", 4096, read(4096, 1)},
		{"OneByteReadsLong", 256 << 10, read(256<<10, 1)},
	}
}

// readMessageBenchmarks have json.Valid beside them, which checks less.
func readMessageBenchmarks() []benchmark {
	line := []byte(strings.TrimSpace(benchCall(12345, "echo", benchText(64))))
	return []benchmark{
		{"Call", len(line), func(n int) error {
			var m message
			for range n {
				if kind, err := m.read(line); kind != request {
					return err
				}
			}
			return nil
		}},
		{"JSONValid", len(line), func(n int) error {
			for range n {
				if !json.Valid(line) {
					return fmt.Errorf("not valid")
				}
			}
			return nil
		}},
	}
}

const benchSchema = `{"type":"object","properties":{
	"query":{"type":"string","minLength":3,"maxLength":200},
	"limit":{"type":"integer","minimum":1,"maximum":100},
	"state":{"enum":["open","closed","all"]},
	"labels":{"type":"array","items":{"type":"string"}},
	"sort":{"type":"object","properties":{"by":{"type":"string"},"down":{"type":"boolean"}},"required":["by"],"additionalProperties":false}},
	"required":["query","limit","state"],"additionalProperties":false}`

func validateBenchmarks() []benchmark {
	schema, err := CompileSchema([]byte(benchSchema))
	if err != nil {
		panic(err)
	}
	good := []byte(`{"query":"a validator that names every problem","limit":50,"state":"open","labels":["bug","help wanted"],"sort":{"by":"date","down":true}}`)
	bad := []byte(`{"query":"a validator that names every problem","limit":5000,"labels":["bug",17],"sort":{"by":"date","way":"down"}}`)
	return []benchmark{
		{"Valid", len(good), func(n int) error {
			for range n {
				if err := schema.Validate(good); err != nil {
					return err
				}
			}
			return nil
		}},
		{"FourProblems", len(bad), func(n int) error {
			for range n {
				var problems *ValidationError
				if err := schema.Validate(bad); err == nil || strings.Count(err.Error(), "\n") != 3 {
					return fmt.Errorf("want four problems, got %v, %v", err, problems)
				}
			}
			return nil
		}},
		{"JSONValid", len(good), func(n int) error {
			for range n {
				if !json.Valid(good) {
					return fmt.Errorf("not valid")
				}
			}
			return nil
		}},
		{"Compile", len(benchSchema), func(n int) error {
			for range n {
				if _, err := CompileSchema([]byte(benchSchema)); err != nil {
					return err
				}
			}
			return nil
		}},
	}
}

// serveBenchmarks go through Serve over pipes: a request and its answer, or a window of 64.
func serveBenchmarks() []benchmark {
	few, many := benchServer(8), benchServer(10000)
	echo, add := benchCall(1, "echo", benchText(64)), benchCall(1, "add", `{"a":2,"b":3.5}`)
	discover := `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + benchMeta + "}}\n"
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + benchMeta + "}}\n"
	large := benchCall(1, "echo", benchText(1<<20))
	return []benchmark{
		{"Echo", len(echo), exchange(few, echo, 1, `"isError":false`)},
		{"Pipelined", len(echo), exchange(few, echo, 64, `"isError":false`)},
		{"BareEcho", len(echo), exchange(barePipe{}, echo, 1, `"isError":false`)},
		{"BarePipelined", len(echo), exchange(barePipe{}, echo, 64, `"isError":false`)},
		{"PipelinedOf10000Tools", len(echo), exchange(many, echo, 64, `"isError":false`)},
		{"Rejected", 20, exchange(few, `{"jsonrpc":"2.0",id:1}`+"\n", 64, `-32700`)},
		{"Add", len(add), exchange(few, add, 64, `"text":"5.5"`)},
		{"Discover", len(discover), exchange(few, discover, 64, `"supportedVersions"`)},
		{"List", len(list), exchange(few, list, 64, `"tools":[`)},
		{"Large", len(large), exchange(few, large, 4, `"isError":false`)},
	}
}

// A server is a [Server], or the bare pipe that it is measured against.
type server interface {
	Serve(ctx context.Context, r io.Reader, w io.Writer) error
}

// A barePipe reads lines and answers each as an echo would, without a look at more than its id: what the pipes cost.
type barePipe struct{}

func (barePipe) Serve(ctx context.Context, r io.Reader, w io.Writer) error {
	in, out := bufio.NewReaderSize(r, 64<<10), bufio.NewWriterSize(w, 64<<10)
	rest := `,"result":{"resultType":"complete","content":[{"type":"text","text":"` + strings.Repeat("x", 64) + `"}],"isError":false,` +
		`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"bench","version":"1.0.0"}}}}` + "\n"
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return nil
		}
		from := bytes.Index(line, []byte(`"id":`)) + len(`"id":`)
		out.WriteString(`{"jsonrpc":"2.0","id":`)
		out.Write(line[from : from+bytes.IndexByte(line[from:], ',')])
		out.WriteString(rest)
		if in.Buffered() == 0 {
			out.Flush()
		}
	}
}

// exchange sends a request n times, in windows of requests with ids of their own, and looks for a text in each answer.
func exchange(s server, line string, window int, want string) func(n int) error {
	batch, ends := "", []int{0}
	for id := range window {
		batch += strings.Replace(line, `"id":1,`, fmt.Sprintf(`"id":%d,`, id), 1)
		ends = append(ends, len(batch))
	}
	return func(n int) error {
		in, toServer, err := os.Pipe()
		if err != nil {
			return err
		}
		fromServer, out, err := os.Pipe()
		if err != nil {
			return err
		}
		served := make(chan error, 1)
		go func() {
			served <- s.Serve(context.Background(), in, out)
			out.Close()
			in.Close()
		}()
		answers := bufio.NewReaderSize(fromServer, 2<<20)
		for sent := 0; sent < n; {
			burst := min(window, n-sent)
			wrote := make(chan error, 1)
			go func() {
				_, err := toServer.WriteString(batch[:ends[burst]])
				wrote <- err
			}()
			for range burst {
				answer, err := answers.ReadSlice('\n')
				if err != nil || !bytes.Contains(answer, []byte(want)) {
					return fmt.Errorf("answer %.200q, error %v", answer, err)
				}
			}
			if err := <-wrote; err != nil {
				return err
			}
			sent += burst
		}
		toServer.Close()
		_, err = io.Copy(io.Discard, answers)
		fromServer.Close()
		if err != nil {
			return err
		}
		return <-served
	}
}
