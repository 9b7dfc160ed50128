// frame.go: one message, one line. The Reader cuts a byte stream into lines, the Writer puts messages on one.
//
// Page: basic/transports/stdio (messages are delimited by newlines and have none inside). Read after tools.go; serve.go
// puts the two together.

package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// DefaultMaxMessage is the longest message, in bytes without its newline, unless [Options] say otherwise. The
// specification sets no limit; without one, a line that never ends would take all memory.
const DefaultMaxMessage = 4 << 20

// maxMaxMessage is the largest limit that can be set: more is not counted in 32 bits, with what is added to it.
const maxMaxMessage = 1 << 30

// A FrameTooLongError reports a line over the limit. The line is dropped up to its newline; reading can go on.
type FrameTooLongError struct {
	Limit int // in bytes
}

// Error names the limit.
func (e *FrameTooLongError) Error() string {
	return fmt.Sprintf("message longer than %d bytes", e.Limit)
}

// A Reader reads messages from a stream, whatever pieces the stream comes in. Each byte is searched once for a newline
// and moved only when the buffer is full, so that the cost of a line is linear in its length. Not safe for concurrent use.
type Reader struct {
	r        io.Reader
	limit    int
	buf      []byte
	from, to int   // buf[from:to] is read and not yet returned
	searched int   // buf[from:searched] has no newline
	newline  int   // where the next one is, if it is known; else -1
	dropping bool  // inside a line over the limit
	started  bool  // past the place where a byte order mark is skipped
	err      error // of the last Read
}

// readSize is the room that a Reader starts with, and the least that it reads at a time where the buffer is empty.
const readSize = 32 << 10

// NewReader returns a Reader of messages of at most limit bytes, and at most 1 GiB and a little.
func NewReader(r io.Reader, limit int) *Reader {
	return &Reader{r: r, limit: min(max(limit, 0), maxMaxMessage+lackedMost), buf: make([]byte, readSize), newline: -1}
}

// ReadFrame returns the next line that is not white space alone, without its newline. The bytes are valid until the next
// call. The error is a [*FrameTooLongError] for a line over the limit, after which reading goes on, else that of the
// stream: io.EOF after the last line, which needs no newline.
func (f *Reader) ReadFrame() ([]byte, error) {
	for {
		if f.ready() {
			line, err := f.take(f.newline)
			f.from, f.searched, f.newline = f.newline+1, f.newline+1, -1
			if len(line) > 0 || err != nil {
				return line, err
			}
			continue
		}
		if f.dropping || f.to-f.from > f.limit+len(byteOrderMark) {
			f.dropping = true
			f.from, f.to, f.searched = 0, 0, 0
		}
		if f.err != nil {
			line, err := f.take(f.to)
			f.from = f.to
			if len(line) > 0 || err != nil {
				return line, err
			}
			return nil, f.err
		}
		f.fill()
	}
}

const byteOrderMark = "\xEF\xBB\xBF"

// take gives the line that ends at end.
func (f *Reader) take(end int) ([]byte, error) {
	line := f.buf[f.from:end]
	if !f.started {
		f.started = true
		line = bytes.TrimPrefix(line, []byte(byteOrderMark)) // RFC 8259, section 8.1: may be ignored
	}
	if f.dropping || len(line) > f.limit {
		f.dropping = false
		return nil, &FrameTooLongError{f.limit}
	}
	if len(trimSpace(line)) == 0 {
		return nil, nil
	}
	return line, nil
}

// fill makes room and reads once; the buffer doubles only for a line that needs all of it.
func (f *Reader) fill() {
	switch {
	case f.from == f.to:
		f.from, f.to, f.searched = 0, 0, 0
	case f.to == len(f.buf) && f.from > 0:
		copy(f.buf, f.buf[f.from:f.to])
		f.from, f.to, f.searched = 0, f.to-f.from, f.searched-f.from
	case f.to == len(f.buf):
		grown := make([]byte, max(readSize, min(2*len(f.buf), f.limit+len(byteOrderMark)+1)))
		copy(grown, f.buf)
		f.buf = grown
	}
	for range maxEmptyReads {
		n, err := f.r.Read(f.buf[f.to:])
		f.to += n
		f.err = err
		if n > 0 || err != nil {
			return
		}
	}
	f.err = io.ErrNoProgress
}

// maxEmptyReads is how often in a row a stream may give neither bytes nor an error.
const maxEmptyReads = 100

// ready reports whether a whole line is buffered, so that ReadFrame need not wait.
func (f *Reader) ready() bool {
	if f.newline < 0 {
		if i := bytes.IndexByte(f.buf[f.searched:f.to], '\n'); i >= 0 {
			f.newline = f.searched + i
		} else {
			f.searched = f.to
		}
	}
	return f.newline >= 0
}

// successor returns a Reader that goes on where f stands, and leaves f's buffer to the line that f returned last.
func (f *Reader) successor() *Reader {
	next := *f
	rest := f.buf[f.from:f.to]
	next.buf = make([]byte, max(readSize, len(rest)))
	next.from, next.to, next.searched, next.newline = 0, copy(next.buf, rest), 0, -1
	return &next
}

// maxOutput is how much output may wait for a client that does not read, in bytes; one message may go over it.
const maxOutput = 1 << 20

// A Writer writes messages to a stream, each whole and on its own line. Messages that come while the stream is busy go
// out together in one Write; past maxOutput bytes of them WriteFrame waits. Safe for concurrent use.
type Writer struct {
	mu      sync.Mutex
	room    sync.Cond // signalled when output has gone out
	w       io.Writer
	out     []byte // messages that wait
	spare   []byte // the buffer that out takes turns with
	writing int    // bytes that w has been given and not yet taken
	err     error  // of the last Write; nothing is written after it
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer {
	f := &Writer{w: w}
	f.room.L = &f.mu
	return f
}

// WriteFrame writes a message and its newline. The bytes are copied. It fails on a message with a newline inside, and
// once a write has failed.
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

// The methods below are called with f.mu held.

// full reports whether what comes now has to wait. Only a Write under way can make room.
func (f *Writer) full() bool {
	return len(f.out)+f.writing >= maxOutput && f.writing > 0
}

// put adds a message and its newline to what waits.
func (f *Writer) put(message []byte) {
	f.out = append(append(f.out, message...), '\n')
}

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
		f.writing = 0
		if f.err == nil { // not given up in the meantime
			f.err = err
		}
		if cap(out) <= maxOutput {
			f.spare = out
		}
		f.room.Broadcast()
	}
	if f.err != nil {
		f.out = nil
	}
}
