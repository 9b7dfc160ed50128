// frame.go: one message, one line. The Reader cuts a byte stream into lines, the Writer puts messages on one. Page:
// basic/transports/stdio (messages are delimited by newlines and have none inside). Read after tools.go; next is serve.go.

package mcp

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

const (
	// DefaultMaxMessage is the longest message, in bytes without its newline, unless [Options] say otherwise. The
	// specification sets no limit; without one, a line that never ends would take all memory.
	DefaultMaxMessage = 4 << 20

	maxMaxMessage = 1 << 30  // the largest limit that can be set: more is not counted in 32 bits, with what is added to it
	maxOutput     = 1 << 20  // bytes that may wait for a client that does not read; one message may go over it
	readSize      = 32 << 10 // the room that a Reader starts with
	maxEmptyReads = 100      // in a row that may give neither bytes nor an error
	byteOrderMark = "\xEF\xBB\xBF"
)

// A FrameTooLongError reports a line over the limit, in bytes. The line is dropped up to its newline; reading can go on.
type FrameTooLongError struct{ Limit int }

// Error names the limit.
func (e *FrameTooLongError) Error() string {
	return fmt.Sprintf("message longer than %d bytes", e.Limit)
}

// A Reader reads messages from a stream, whatever pieces the stream comes in. Each byte is searched once for a newline and
// moved only when the buffer is full, or another Reader goes on, so that the cost of a line is linear in its length. Not safe for concurrent use.
type Reader struct {
	r              io.Reader
	limit          int
	buf            []byte
	from, searched int   // buf[from:] is not yet returned; buf[from:searched] has no newline
	dropping       bool  // inside a line over the limit, whose beginning is gone
	started        bool  // past the place where a byte order mark is skipped
	err            error // of the last Read
}

// NewReader returns a Reader of messages of at most limit bytes.
func NewReader(r io.Reader, limit int) *Reader {
	return &Reader{r: r, limit: limit, buf: make([]byte, 0, readSize)}
}

// ReadFrame returns the next line that is not white space alone, without its newline. The bytes are valid until the next
// call. The error is a [*FrameTooLongError] for a line over the limit, after which reading goes on, else that of the stream:
// io.EOF after the last line, which needs no newline.
func (f *Reader) ReadFrame() ([]byte, error) {
	for {
		for !f.ready() && f.err == nil {
			f.fill()
		}
		line, last, long := f.buf[f.from:f.searched], f.searched == len(f.buf), f.dropping
		f.from = min(f.searched+1, len(f.buf))
		f.searched, f.dropping = f.from, false
		if !f.started { // RFC 8259, section 8.1: may be ignored
			line, f.started = bytes.TrimPrefix(line, []byte(byteOrderMark)), true
		}
		switch {
		case long || len(line) > f.limit:
			return nil, &FrameTooLongError{f.limit}
		case skipSpace(line, 0) < len(line):
			return line, nil
		case last:
			return nil, f.err
		}
	}
}

// ready reports whether a whole line is buffered, so that ReadFrame need not wait; its newline is then at buf[searched].
func (f *Reader) ready() bool {
	i := bytes.IndexByte(f.buf[f.searched:], '\n')
	if i < 0 {
		i = len(f.buf) - f.searched
	}
	f.searched += i
	return f.searched < len(f.buf)
}

// fill reads once, where ready found no newline. The buffer doubles only for a line that needs all of it.
func (f *Reader) fill() {
	if f.dropping = f.dropping || len(f.buf)-f.from-len(byteOrderMark) > f.limit; f.dropping {
		f.from = len(f.buf)
	}
	if f.from == len(f.buf) || len(f.buf) == cap(f.buf) && f.from > 0 {
		f.buf, f.from = append(f.buf[:0], f.buf[f.from:]...), 0
	} else if len(f.buf) == cap(f.buf) {
		f.buf = slices.Grow(f.buf, min(len(f.buf), f.limit-len(f.buf)+len(byteOrderMark)+1))
	}
	f.searched = len(f.buf)
	n, err := 0, error(nil)
	for tries := 0; n == 0 && err == nil; tries++ {
		if n, err = f.r.Read(f.buf[f.searched:cap(f.buf)]); n == 0 && tries == maxEmptyReads {
			err = cmp.Or(err, io.ErrNoProgress)
		}
	}
	f.buf, f.err = f.buf[:f.searched+n], err
}

// successor returns a Reader that goes on where f stands, and leaves f's buffer to the line that f returned last.
func (f *Reader) successor() *Reader {
	next := *f
	next.buf = append(make([]byte, 0, readSize), f.buf[f.from:]...)
	next.from, next.searched = 0, f.searched-f.from
	return &next
}

// A Writer writes messages to a stream, each whole and on its own line. Messages that come while the stream is busy go out
// together in one Write; past maxOutput bytes of them WriteFrame waits. Safe for concurrent use.
type Writer struct {
	mu         sync.Mutex
	room       sync.Cond // signalled when output has gone out
	w          io.Writer
	out, spare []byte // messages that wait, and the buffer that this takes turns with
	writing    int    // bytes that w has been given and not yet taken
	err        error  // of the last Write; nothing is written after it
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer {
	f := &Writer{w: w}
	f.room.L = &f.mu
	return f
}

// WriteFrame writes a message, which is copied, and its newline. It fails on a message with a newline inside, and once a
// write has failed.
func (f *Writer) WriteFrame(message []byte) error {
	if bytes.IndexByte(message, '\n') >= 0 {
		return errors.New("a message must not contain a newline")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.full() {
		f.room.Wait()
	}
	f.put(message)
	f.flush()
	return f.err
}

// The methods below are called with f.mu held. full reports whether what comes now has to wait for the Write under way.
func (f *Writer) full() bool { return len(f.out)+f.writing >= maxOutput && f.writing > 0 }

func (f *Writer) put(message []byte) { f.out = append(append(f.out, message...), '\n') }

// flush writes what waits, unless somebody is writing, who then takes it along. It lets go of f.mu while it writes.
func (f *Writer) flush() {
	for f.writing == 0 && len(f.out) > 0 && f.err == nil {
		out := f.out
		f.out, f.spare, f.writing = f.spare[:0], nil, len(out)
		f.mu.Unlock()
		n, err := f.w.Write(out)
		if err == nil && n < len(out) {
			err = io.ErrShortWrite
		}
		f.mu.Lock()
		f.err, f.writing = cmp.Or(f.err, err), 0 // an error that is there stands: the connection has been given up
		if cap(out) <= maxOutput {
			f.spare = out
		}
		f.room.Broadcast()
	}
	if f.err != nil {
		f.out = nil
	}
}
