package mcp

// frame_test.go: lines in and lines out, whatever pieces the stream comes in.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
)

// frames reads until the stream ends, with "<too long>" where that is reported, and gives the error of the end.
func frames(r io.Reader, limit int) (lines []string, end error) {
	f := NewReader(r, limit)
	for {
		line, err := f.ReadFrame()
		var long *FrameTooLongError
		switch {
		case errors.As(err, &long) && long.Limit == limit && line == nil:
			lines = append(lines, "<too long>")
		case err != nil:
			return lines, err
		default:
			lines = append(lines, string(line))
		}
	}
}

// frameRows: what a stream holds, with a limit of 8 bytes.
var frameRows = []struct {
	rule, stream string
	lines        []string
}{
	{"nothing", "", nil},
	{"a line", "{}\n", []string{"{}"}},
	{"two lines", "{}\n[]\n", []string{"{}", "[]"}},
	{"a last line without a newline", "{}\n[]", []string{"{}", "[]"}},
	{"a carriage return before the newline is white space", "{}\r\n[]\r\n", []string{"{}\r", "[]\r"}},
	{"a carriage return is no end of a line", "{}\r[]\n", []string{"{}\r[]"}},
	{"blank lines are skipped", "\n\n{}\n\n\n[]\n\n", []string{"{}", "[]"}},
	{"lines of white space are skipped", " \t\r\n{}\n \n\t\n", []string{"{}"}},
	{"white space alone at the end", "{}\n  ", []string{"{}"}},
	{"white space around a message is kept", " {} \n", []string{" {} "}},
	{"a byte order mark at the start is skipped", byteOrderMark + "{}\n", []string{"{}"}},
	{"one on the second line is not", "{}\n" + byteOrderMark + "{}\n", []string{"{}", byteOrderMark + "{}"}},
	{"one after a blank line is not", "\n" + byteOrderMark + "{}\n", []string{byteOrderMark + "{}"}},
	{"the second of two is not", byteOrderMark + byteOrderMark + "{}\n", []string{byteOrderMark + "{}"}},
	{"one alone on the line", byteOrderMark + "\n{}\n", []string{"{}"}},
	{"one alone in the stream", byteOrderMark, nil},
	{"half of one", "\xEF\xBB\n", []string{"\xEF\xBB"}},
	{"other bytes are not looked at", "\x00\xff\n", []string{"\x00\xff"}},
	{"other line ends are not", "a\u2028b\vc\n", []string{"a\u2028b\vc"}},

	{"the limit", "12345678\n", []string{"12345678"}},
	{"one past the limit", "123456789\n", []string{"<too long>"}},
	{"reading goes on after it", "123456789\n{}\n", []string{"<too long>", "{}"}},
	{"reported once however long it is", strings.Repeat("x", 100_000) + "\n{}\n", []string{"<too long>", "{}"}},
	{"each of two is reported", "123456789\n123456789\n", []string{"<too long>", "<too long>"}},
	{"at the end of the stream", "{}\n123456789", []string{"{}", "<too long>"}},
	{"at the end of the stream, and very long", "{}\n" + strings.Repeat("x", 100_000), []string{"{}", "<too long>"}},
	{"the limit at the end of the stream", "{}\n12345678", []string{"{}", "12345678"}},
	{"a carriage return counts", "1234567\r\n", []string{"1234567\r"}},
	{"a carriage return can be the byte too many", "12345678\r\n", []string{"<too long>"}},
	{"a byte order mark does not count", byteOrderMark + "12345678\n", []string{"12345678"}},
	{"one past the limit after a byte order mark", byteOrderMark + "123456789\n", []string{"<too long>"}},
	{"a byte order mark elsewhere counts", "{}\n" + byteOrderMark + "123456\n", []string{"{}", "<too long>"}},
	{"white space counts", strings.Repeat(" ", 9) + "\n{}\n", []string{"<too long>", "{}"}},
	{"white space up to the limit is skipped", strings.Repeat(" ", 8) + "\n{}\n", []string{"{}"}},
}

// stutter gives nothing, without an error, before each byte.
type stutter struct {
	r    io.Reader
	turn bool
}

func (r *stutter) Read(p []byte) (int, error) {
	if r.turn = !r.turn; r.turn || len(p) == 0 {
		return 0, nil
	}
	return r.r.Read(p[:1])
}

// scraps gives pieces of random lengths.
type scraps struct {
	r      io.Reader
	random *rand.Rand
}

func (r *scraps) Read(p []byte) (int, error) {
	return r.r.Read(p[:min(len(p), 1+r.random.IntN(7))])
}

func TestReadFrame(t *testing.T) {
	pieces := map[string]func(io.Reader) io.Reader{
		"whole":            func(r io.Reader) io.Reader { return r },
		"byte by byte":     iotest.OneByteReader,
		"in halves":        iotest.HalfReader,
		"end with data":    iotest.DataErrReader,
		"byte by byte end": func(r io.Reader) io.Reader { return iotest.DataErrReader(iotest.OneByteReader(r)) },
		"stuttering":       func(r io.Reader) io.Reader { return &stutter{r: r} },
		"in scraps":        func(r io.Reader) io.Reader { return &scraps{r, rand.New(rand.NewPCG(1, 2))} },
	}
	for _, row := range frameRows {
		for name, cut := range pieces {
			t.Run(row.rule+"/"+name, func(t *testing.T) {
				lines, end := frames(cut(strings.NewReader(row.stream)), 8)
				compare(t, lines, row.lines)
				if end != io.EOF {
					t.Errorf("the end is %v", end)
				}
			})
		}
	}
}

// TestReadFrameAtBufferEdge puts the newline on both sides of where a buffer may end.
func TestReadFrameAtBufferEdge(t *testing.T) {
	for _, edge := range []int{readSize, 2 * readSize, 4 * readSize} {
		for length := edge - 3; length <= edge+3; length++ {
			first, second := strings.Repeat("x", length), strings.Repeat("y", 5)
			want := []string{first, second, first, second}
			stream := strings.Join(want, "\n") + "\n"
			for _, r := range []io.Reader{
				strings.NewReader(stream), iotest.HalfReader(strings.NewReader(stream)),
				io.MultiReader(strings.NewReader(stream[:length]), strings.NewReader(stream[length:])),
				io.MultiReader(strings.NewReader(stream[:length+1]), strings.NewReader(stream[length+1:])),
			} {
				lines, end := frames(r, 5*readSize)
				if !slices.Equal(lines, want) || end != io.EOF {
					t.Fatalf("a line of %d bytes: %d lines, %v", length, len(lines), end)
				}
			}
			// The same as the limit: the longest line, and one that is a byte or two too long.
			if lines, _ := frames(strings.NewReader(stream), length); !slices.Equal(lines, want) {
				t.Fatalf("a limit of %d bytes: %d lines", length, len(lines))
			}
			for limit := length - 2; limit < length; limit++ {
				lines, end := frames(strings.NewReader(stream), limit)
				if !slices.Equal(lines, []string{"<too long>", second, "<too long>", second}) || end != io.EOF {
					t.Fatalf("a limit of %d bytes, and lines of %d: %d lines, %v", limit, length, len(lines), end)
				}
			}
		}
	}
}

// TestReadFrameErrors: the error of the stream comes after the lines before it, and stays.
func TestReadFrameErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, row := range []struct {
		rule  string
		r     io.Reader
		lines []string
		end   error
	}{
		{"an error after a line", io.MultiReader(strings.NewReader("{}\n"), iotest.ErrReader(broken)), []string{"{}"}, broken},
		{"an error inside a line", io.MultiReader(strings.NewReader("{}\n[1,"), iotest.ErrReader(broken)), []string{"{}", "[1,"}, broken},
		{"an error inside a line over the limit", io.MultiReader(strings.NewReader("123456789"), iotest.ErrReader(broken)), []string{"<too long>"}, broken},
		{"an error that comes with bytes", iotest.DataErrReader(io.MultiReader(strings.NewReader("{}\n[]\n"), iotest.ErrReader(broken))), []string{"{}", "[]"}, broken},
		{"an error that would pass", iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("{}\n"))), []string{"{"}, iotest.ErrTimeout},
		{"nothing, again and again", never{}, nil, io.ErrNoProgress},
	} {
		t.Run(row.rule, func(t *testing.T) {
			lines, end := frames(row.r, 8)
			compare(t, lines, row.lines)
			if end != row.end {
				t.Errorf("the end is %v, want %v", end, row.end)
			}
		})
	}
	t.Run("it stays", func(t *testing.T) {
		f := NewReader(iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("{}\n{}\n"))), 8)
		f.ReadFrame()
		for range 3 {
			if line, err := f.ReadFrame(); line != nil || err != iotest.ErrTimeout {
				t.Errorf("%q, %v", line, err)
			}
		}
	})
	t.Run("it is typed and names the limit", func(t *testing.T) {
		_, err := NewReader(strings.NewReader("123456789\n"), 8).ReadFrame()
		if err == nil || err.Error() != "message longer than 8 bytes" {
			t.Error(err)
		}
	})
}

// never gives neither bytes nor an error.
type never struct{}

func (never) Read([]byte) (int, error) { return 0, nil }

// watched is a stream of which each Read delivers one byte. It looks at the Reader that reads from it: whether all that
// is buffered has been searched, and how much had to be moved to make room.
type watched struct {
	t       *testing.T
	stream  io.Reader
	f       *Reader
	room    []byte // what was left of the buffer after the last Read
	pending int    // bytes since the last line
	moved   int
}

func (w *watched) Read(p []byte) (int, error) {
	if w.f.searched != len(w.f.buf) {
		w.t.Fatalf("%d bytes would be searched again", len(w.f.buf)-w.f.searched)
	}
	if len(w.room) == 0 || &w.room[0] != &p[0] {
		w.moved += w.pending
	}
	n, err := w.stream.Read(p[:1])
	w.room = p[n:]
	if w.pending += n; n > 0 && p[n-1] == '\n' {
		w.pending = 0
	}
	return n, err
}

// TestReadFrameIsLinear: however the stream is cut, each byte is searched once, and bytes are moved no more often than
// one buffer needs to grow: to twice its size each time, which in all is less than twice the bytes.
func TestReadFrameIsLinear(t *testing.T) {
	for _, row := range []struct {
		rule   string
		length int // of a line
		lines  int
	}{
		{"a long line", 1 << 20, 1}, {"long lines", 100_000, 10}, {"short lines", 100, 10_000}, {"lines as long as the buffer", readSize - 1, 20},
	} {
		t.Run(row.rule, func(t *testing.T) {
			stream := strings.Repeat(strings.Repeat("x", row.length)+"\n", row.lines)
			w := &watched{t: t, stream: strings.NewReader(stream)}
			w.f = NewReader(w, DefaultMaxMessage)
			for range row.lines {
				if line, err := w.f.ReadFrame(); err != nil || len(line) != row.length {
					t.Fatalf("%d bytes, %v", len(line), err)
				}
			}
			if w.moved > 2*len(stream) {
				t.Errorf("%d bytes were moved to read %d", w.moved, len(stream))
			}
		})
	}
}

// TestReadFrameAllocations: nothing is allocated for a line once the buffer is there.
func TestReadFrameBufferIsBounded(t *testing.T) {
	const limit = 100_000 // between two doublings of the buffer
	f := NewReader(strings.NewReader(strings.Repeat("1", limit)+"\n"), limit)
	if line, err := f.ReadFrame(); len(line) != limit || err != nil {
		t.Fatal(len(line), err)
	}
	if most := limit + limit/4; cap(f.buf) > most {
		t.Errorf("a line of %d bytes, the limit, takes a buffer of %d, more than %d", limit, cap(f.buf), most)
	}
}

func TestReadFrameAllocations(t *testing.T) {
	for _, length := range []int{2, 100, 100_000} {
		f := NewReader(&repeatedly{line: []byte(strings.Repeat("x", length) + "\n"), n: 1 << 30}, DefaultMaxMessage)
		f.ReadFrame()
		if got := testing.AllocsPerRun(1000, func() {
			if line, err := f.ReadFrame(); err != nil || len(line) != length {
				t.Fatal(len(line), err)
			}
		}); got > 0 {
			t.Errorf("%v allocations for a line of %d bytes", got, length)
		}
	}
}

// endless is n bytes without a newline, then the rest.
type endless struct {
	n    int
	rest io.Reader
}

func (r *endless) Read(p []byte) (int, error) {
	if r.n == 0 {
		return r.rest.Read(p)
	}
	n := min(r.n, len(p))
	r.n -= n
	for filled := copy(p[:n], "xxxxxxxx"); filled > 0 && filled < n; filled *= 2 {
		copy(p[filled:n], p[:filled])
	}
	return n, nil
}

// TestEndlessLine: a line of 1 GiB is refused in bounded memory, and the next is answered.
func TestEndlessLine(t *testing.T) {
	size := 1 << 30
	if testing.Short() {
		size = 64 << 20
	}
	s := testServer(t, Options{})
	var out bytes.Buffer
	in := &endless{size, strings.NewReader("\n" + requestOf("1", "server/discover", "") + "\n")}
	memory := allocated(func() {
		if err := s.Serve(t.Context(), in, &out); err != nil {
			t.Error(err)
		}
	})
	if memory > 4*DefaultMaxMessage {
		t.Errorf("%d bytes were allocated", memory)
	}
	compare(t, strings.Split(out.String(), "\n"), []string{
		failure("", -32600, "Invalid Request: longer than 4194304 bytes"), discovered("1"), "",
	})
}

// TestMessageLimit: the limit of the server at its edge and one past it, over a connection.
func TestMessageLimit(t *testing.T) {
	const tooLong = "Invalid Request: longer than 300 bytes"
	for _, limit := range []int{math.MaxInt, math.MinInt, -1} {
		s := emptyServer(Options{MaxMessage: limit, Legacy: limit == math.MaxInt})
		var out strings.Builder
		if err := s.Serve(t.Context(), strings.NewReader("x\ny"), &out); err != nil || strings.Count(out.String(), "\n") != 2 {
			t.Errorf("with a limit of %d: %v, %s", limit, err, &out)
		}
	}
	s := testServer(t, Options{MaxMessage: 300})
	line := requestOf("1", "server/discover", "")
	pad := func(n int) string { return line + strings.Repeat(" ", n-len(line)) }
	for _, row := range []struct{ rule, input, out string }{
		{"at the limit", pad(300) + "\n", discovered("1")},
		{"one past it", pad(301) + "\n", failure("", -32600, tooLong)},
		{"at the limit with a carriage return", pad(299) + "\r\n", discovered("1")},
		{"one past it by a carriage return", pad(300) + "\r\n", failure("", -32600, tooLong)},
		{"at the limit after a byte order mark", byteOrderMark + pad(300) + "\n", discovered("1")},
		{"at the limit and without a newline", pad(300), discovered("1")},
		{"one past it and without a newline", pad(301), failure("", -32600, tooLong)},
		{"too long comes before all else", strings.Repeat("[", 301) + "\n", failure("", -32600, tooLong)},
		{"a notification that is too long", `{"jsonrpc":"2.0","method":"` + strings.Repeat("x", 300) + `"}` + "\n", failure("", -32600, tooLong)},
	} {
		t.Run(row.rule, func(t *testing.T) {
			compare(t, talkRaw(t, s, row.input), []string{row.out})
			compareSorted(t, talkRaw(t, s, row.input+"\n"+requestOf("2", "server/discover", "")), []string{row.out, discovered("2")})
		})
	}
	t.Run("the default", func(t *testing.T) {
		s := testServer(t, Options{})
		pad := func(n int) string { return line + strings.Repeat(" ", n-len(line)) + "\n" }
		compare(t, talkRaw(t, s, pad(4<<20)+pad(4<<20+1)), []string{discovered("1"), failure("", -32600, "Invalid Request: longer than 4194304 bytes")})
	})
	t.Run("a byte order mark at the start of the stream, over a connection", func(t *testing.T) {
		compare(t, talkRaw(t, s, byteOrderMark+line+"\n"), []string{discovered("1")})
	})
}

// ragged takes what it is given a few bytes at a time, so that two writers would show.
type ragged struct {
	mu   sync.Mutex
	all  bytes.Buffer
	busy bool
	bad  bool
}

func (w *ragged) Write(p []byte) (int, error) {
	w.mu.Lock()
	w.bad = w.bad || w.busy
	w.busy = true
	w.mu.Unlock()
	for i := 0; i < len(p); i += 3 {
		w.all.Write(p[i:min(len(p), i+3)])
	}
	w.mu.Lock()
	w.busy = false
	w.mu.Unlock()
	return len(p), nil
}

// TestWriteFrame: messages leave whole, each with one newline, and those of one writer in order.
func TestWriteFrame(t *testing.T) {
	const writers, each = 16, 200
	w := new(ragged)
	f := NewWriter(w)
	var wg sync.WaitGroup
	for writer := range writers {
		wg.Go(func() {
			for i := range each {
				if err := f.WriteFrame(fmt.Appendf(nil, `%d %d %s`, writer, i, strings.Repeat("x", i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if w.bad {
		t.Error("two Writes at once")
	}
	var next [writers]int
	for line := range strings.Lines(w.all.String()) {
		var writer, i int
		var text string
		fmt.Sscan(line, &writer, &i, &text)
		if i != next[writer] || line != fmt.Sprintf("%d %d %s\n", writer, i, strings.Repeat("x", i)) {
			t.Fatalf("want message %d, got %q", next[writer], line)
		}
		next[writer]++
	}
	for writer, n := range next {
		if n != each {
			t.Errorf("%d messages of writer %d", n, writer)
		}
	}
}

func TestWriteFrameKeepsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		f := NewWriter(w)
		go f.WriteFrame([]byte("first"))
		synctest.Wait() // in Write
		message := []byte("second")
		if err := f.WriteFrame(message); err != nil {
			t.Error(err)
		}
		copy(message, "xxxxxx")
		got := make([]byte, 64)
		n, _ := io.ReadAtLeast(r, got, len("first\nsecond\n"))
		if string(got[:n]) != "first\nsecond\n" {
			t.Errorf("%q", got[:n])
		}
	})
}

func TestWriteFrameRefusesNewlines(t *testing.T) {
	var out bytes.Buffer
	f := NewWriter(&out)
	for _, message := range []string{"\n", "{}\n", "{\n}", "\n{}"} {
		if err := f.WriteFrame([]byte(message)); err == nil || err.Error() != "a message must not contain a newline" {
			t.Errorf("%q: %v", message, err)
		}
	}
	if err := f.WriteFrame([]byte("{}")); err != nil || out.String() != "{}\n" {
		t.Errorf("afterwards: %q, %v", out.String(), err)
	}
}

// failing takes some Writes and fails then; it counts them all.
type failing struct {
	good  int
	calls int
	err   error
}

func (w *failing) Write(p []byte) (int, error) {
	if w.calls++; w.calls > w.good {
		return 0, w.err
	}
	return len(p), nil
}

func TestWriteFrameErrorsStay(t *testing.T) {
	w := &failing{good: 2, err: errors.New("broken")}
	f := NewWriter(w)
	for i := range 6 {
		want := w.err
		if i < 2 {
			want = nil
		}
		if err := f.WriteFrame([]byte("{}")); err != want {
			t.Errorf("message %d: %v", i, err)
		}
	}
	if w.calls != 3 {
		t.Errorf("%d Writes, want none after the one that failed", w.calls)
	}
}

// TestWriteFramePushesBack: while the stream takes nothing, WriteFrame takes a bounded amount, and nothing is lost.
func TestWriteFramePushesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size, writers, each = 1 << 10, 8, 1 << 10
		r, w := io.Pipe()
		f := NewWriter(w)
		var mu sync.Mutex
		written := 0
		for range writers {
			go func() {
				for range each {
					f.WriteFrame(bytes.Repeat([]byte("x"), size-1))
					mu.Lock()
					written += size
					mu.Unlock()
				}
			}()
		}
		synctest.Wait()
		// What waits, what is in Write, and that of the writer who is in it.
		if written < maxOutput/2 || written > maxOutput+writers*size {
			t.Errorf("%d bytes were taken", written)
		}
		got := 0
		for buf := make([]byte, 1<<16); got < writers*each*size; {
			n, err := r.Read(buf)
			if err != nil {
				t.Fatal(err)
			}
			got += n
		}
		synctest.Wait()
		if written != got {
			t.Errorf("%d bytes written, %d read", written, got)
		}
	})
}

// TestWriteFrameWakesAll: those who wait for a stream that then fails get its error.
// TestWriterIsFull: at maxOutput bytes, but only while a Write is under way that makes room; and its buffers are used again.
func TestWriterIsFull(t *testing.T) {
	for _, row := range []struct {
		out, writing int
		full         bool
	}{{maxOutput - 2, 1, false}, {maxOutput - 1, 1, true}, {0, maxOutput, true}, {2 * maxOutput, 0, false}} {
		f := NewWriter(io.Discard)
		if f.out, f.writing = make([]byte, row.out), row.writing; f.full() != row.full {
			t.Errorf("%d bytes wait, %d are being written: full is %v", row.out, row.writing, f.full())
		}
	}
	f := NewWriter(io.Discard)
	message := make([]byte, 1000)
	if n := testing.AllocsPerRun(100, func() {
		if err := f.WriteFrame(message); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations for a message", n)
	}
}

func TestWriteFrameWakesAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		f := NewWriter(w)
		broken := errors.New("broken")
		errs := make(chan error, 4)
		for range 4 {
			go func() { errs <- f.WriteFrame(bytes.Repeat([]byte("x"), 2*maxOutput)) }()
		}
		synctest.Wait()
		r.CloseWithError(broken)
		for range 4 {
			if err := <-errs; err != broken {
				t.Errorf("got %v", err)
			}
		}
	})
}

// TestTextLeavesSafely: what a tool says cannot break a line or the encoding, and is not changed beyond that.
func TestTextLeavesSafely(t *testing.T) {
	for _, row := range []struct{ rule, text, wire string }{
		{"plain", "a b", `a b`},
		{"a line break", "a\nb\r\n", `a\nb\r\n`},
		{"quotes and backslashes", `"\`, `\"\\`},
		{"control characters", "\x00\x01\b\f\t\x1f\x7f", `\u0000\u0001\b\f\t\u001f` + "\x7f"},
		{"<>& leave as they are", "<a href=\"x\">&</a>", `<a href=\"x\">&</a>`},
		{"U+2028 and U+2029 leave as escapes", "a\u2028b\u2029c", `a\u2028b\u2029c`},
		{"their neighbours leave as they are", "\u2027\u202a\u00a8", "\u2027\u202a\u00a8"},
		{"other letters leave as they are", "é漢😀\U0010FFFF\uFEFF", "é漢😀\U0010FFFF\uFEFF"},
		{"a byte that is not UTF-8 leaves as U+FFFD", "a\xffb", "a\uFFFDb"},
		{"so does each", "\xff\xfe", "\uFFFD\uFFFD"},
		{"a character cut off", "\xe2\x82", "\uFFFD\uFFFD"},
		{"a surrogate", "\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"},
		{"a slash in two bytes", "\xc0\xaf", "\uFFFD\uFFFD"},
		{"U+FFFD itself", "\uFFFD", "\uFFFD"},
	} {
		t.Run(row.rule, func(t *testing.T) {
			s := emptyServer(Options{})
			withTool(t, s, "text", func(ctx context.Context, call *Call) (*Result, error) { return Text(row.text), nil })
			withTool(t, s, "error", func(ctx context.Context, call *Call) (*Result, error) { return nil, errors.New(row.text) })
			withTool(t, s, "refusal", func(ctx context.Context, call *Call) (*Result, error) {
				return nil, &Error{Code: 1, Message: row.text}
			})
			for tool, isError := range map[string]bool{"text": false, "error": true} {
				want := success("1", `{"resultType":"complete","content":[{"type":"text","text":"`+row.wire+`"}],"isError":`+strconv.FormatBool(isError)+`,INFO}`)
				compare(t, talk(t, s, toolCall("1", tool, "{}")), []string{expand(want)})
			}
			compare(t, talk(t, s, toolCall("1", "refusal", "{}")), []string{`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"` + row.wire + `"}}`})
		})
	}
}
