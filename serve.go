// serve.go: a connection. Requests come in, calls run side by side, answers go out, until one of the two ends. Pages:
// basic/transports/stdio (receiving, cancellation, shutdown), basic/patterns/cancellation. Read after frame.go; next is
// patterns.go.

package mcp

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"
)

const (
	maxWaiting      = 1024                   // requests beyond the calls that run; subscriptions, which wait for changes, count
	maxWaitingBytes = 16 << 20               // of those requests
	maxPatience     = 100 * time.Millisecond // how long the reader waits for a place, before it refuses
	maxFarewell     = 500 * time.Millisecond // how long a client that does not read keeps Serve, once its context has ended
	forever         = 1<<63 - 1              // as a duration, which is long enough
	flushAt         = 64 << 10               // bytes of output that a reader with more input to serve gathers
	handOver        = 500 * time.Microsecond // how long the reader may run a call, and what counts as a slow tool
)

// ServeStdio serves the process's own stdin and stdout as [Server.Serve] does. It takes stdout for itself: from now on os.Stdout
// is stderr, also for code that kept os.Stdout from before, because nothing that is not a message may be written there. A client
// that goes away does not kill the process by SIGPIPE.
func (s *Server) ServeStdio(ctx context.Context) error {
	stdout := *os.Stdout
	*os.Stdout = *os.Stderr
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a write to stdout then fails with EPIPE
	return s.Serve(ctx, os.Stdin, &stdout)
}

// Serve answers the messages that come from r on w, until r ends, w fails or ctx ends; r and w may be any stream. It takes both
// for itself.
//
// At the end of input, calls that run or wait have a grace to finish, and what finishes is written. Then their contexts end, what
// they say later is dropped, and Serve returns nil. So it does at once, without the grace, where w fails, because the client is
// gone, and where ctx ends, which closes subscriptions with a word. What is written waits for a client that reads slowly, but not
// for long once ctx has ended. An error in reading is returned. What may be left behind is the goroutine of a tool that does not
// return, and one in a Read or a Write that does not end.
func (s *Server) Serve(ctx context.Context, r io.Reader, w io.Writer) error {
	limit := s.options.MaxMessage
	if s.options.Legacy {
		r, w, limit = translate(s, r, w)
	}
	reading, end := context.WithCancel(ctx)
	defer end()
	open, giveUp := context.WithCancel(ctx)
	defer giveUp()
	c := &conn{Writer: NewWriter(w), server: s, serving: ctx, open: open, end: end, tasks: make(map[idKey]*task)}
	c.finish = c.finished
	go c.read(c.newLane(NewReader(r, limit)))
	<-reading.Done()
	c.mu.Lock()
	defer c.mu.Unlock()
	idle := func() bool { return c.running == 0 && len(c.queue) == 0 && c.blocked == 0 }
	for c.await(ctx, s.options.Grace, idle); c.full() && ctx.Err() == nil && !idle(); c.await(ctx, s.options.Grace, idle) {
		c.await(ctx, forever, func() bool { return !c.full() }) // the grace does not run while the client does not read
	}
	farewell := ctx.Err() != nil
	giveUp()
	go c.wakeUp()            // a Write may not end
	flushed := func() bool { // and subscriptions have got their word
		return len(c.out) == 0 && c.writing == 0 && c.blocked == 0 && (c.waiting == len(c.queue) || !farewell)
	}
	c.await(ctx, forever, flushed) // as long as the client takes to read it
	c.await(context.WithoutCancel(ctx), maxFarewell, flushed)
	c.err = cmp.Or(c.err, io.ErrClosedPipe) // nothing more is written
	c.room.Broadcast()
	return c.readErr
}

// A conn is one connection. The lock of its Writer guards it all, so that an answer and the cancellation that crosses it have an
// order, and nothing is put into the output for an id after its cancellation has been read.
type conn struct {
	*Writer
	server  *Server
	serving context.Context     // Serve's
	open    context.Context     // ends with it, and when Serve gives up what is in flight
	finish  func(*task, []byte) // the method finished, as a value
	lane    *lane               // whose goroutine is the reader; nil once the input has ended

	tasks        map[idKey]*task // in flight, by id; save the call that a reader runs itself
	running      int             // calls that hold one of MaxRunning places
	queue        []*task         // calls that wait for one, in order
	waiting      int             // requests in queue, and subscriptions
	waitingBytes int             // of those
	lastPlace    time.Time       // when a place to wait in was last free or taken, or the client last did not read
	blocked      int             // goroutines that wait for room to write
	end          func()          // tells Serve that the input has ended, or the client is gone
	readErr      error
}

// await waits until done, or the client is gone, or ctx or a time ends. Like the next two it is called with c.mu held.
func (c *conn) await(ctx context.Context, atMost time.Duration, done func() bool) {
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	defer context.AfterFunc(ctx, c.wakeUp)()
	for c.err == nil && ctx.Err() == nil && !done() {
		c.room.Wait()
	}
}

func (c *conn) flushNow() {
	if c.flush(); c.err != nil {
		c.end()
	}
}

// waitForRoom waits while the client does not read what is written: this is what stops the reader, and from then on nothing gets
// through but the end of the context. It reports whether something may still be written for t, or, where t is nil, for the reader:
// not for a task that is cancelled, and once all is given up only for subscriptions that the server ends.
func (c *conn) waitForRoom(t *task) bool {
	givenUp := func() bool {
		if t != nil && t.over {
			return true
		}
		ending := t != nil && t.call.tool == nil && c.serving.Err() != nil // a subscription gets its word
		return c.open.Err() != nil && !ending
	}
	c.blocked++
	for c.full() && c.err == nil && !givenUp() {
		c.room.Wait()
	}
	c.blocked--
	return !givenUp()
}

// A lane is a reader and what it needs. The goroutine that reads runs a call itself, on the bytes in its buffer: nothing is
// copied and nobody is woken, which is what makes short calls cheap. A call that takes longer than handOver loses the role of the
// reader: a timer starts another goroutine, which reads on in a lane of its own, and the buffer stays with the call. So no call
// holds up another for longer than that, and cancellations get through. The same goes for a Write of the reader's. There is one
// reader at any time, and while it runs a call nobody else can look for that call's id; so the call enters the books only when
// taken over.
type lane struct {
	frames   *Reader
	msg      message
	task     *task       // the call that the reader runs; nil where it writes
	busy     bool        // it runs a call, or writes: it can lose its role
	timer    *time.Timer // runs out handOver after the latest start of that; if it is over, in vain
	inFlight bool        // there were requests in flight when the reader looked last; it alone can add to them
}

func (c *conn) newLane(frames *Reader) *lane {
	l := &lane{frames: frames}
	l.timer = time.AfterFunc(time.Hour, func() { c.takeOver(l) })
	l.timer.Stop()
	c.lane = l
	return l
}

// work is what the reader begins when it runs a call, or writes, which is no task. It is called with c.mu held.
func (l *lane) work(t *task) {
	l.task, l.busy = t, true
	l.timer.Reset(handOver)
}

// takeOver reads on where the reader of l has been at work for long.
func (c *conn) takeOver(l *lane) {
	c.mu.Lock()
	if c.lane != l || !l.busy {
		c.mu.Unlock()
		return
	}
	if t := l.task; t != nil {
		t.call.tool.slow.Store(true) // gets a goroutine at once the next time
		t.key = keyOf(t.id)
		c.tasks[t.key] = t
		c.running++
	}
	next := c.newLane(l.frames.successor())
	c.mu.Unlock()
	c.read(next)
}

// read reads and serves as long as l has the role of the reader, until the input ends.
func (c *conn) read(l *lane) {
	returned := false
	defer func() {
		if !returned { // a tool has ended the goroutine
			go c.read(l)
		}
	}()
	for c.writeOut(l) {
		line, err := l.frames.ReadFrame()
		switch _, tooMuch := err.(*FrameTooLongError); {
		case tooMuch:
			c.respond(nil, nil, tooLong(c.server.options.MaxMessage))
		case err != nil:
			c.mu.Lock()
			if c.lane = nil; err != io.EOF {
				c.readErr = err
			}
			c.end() // before a Write that may take long
			c.flushNow()
			c.mu.Unlock()
		default:
			c.serve(l, line)
		}
	}
	returned = true
}

// writeOut writes what has been answered where the reader is about to wait, so that a burst of requests gets its answers in few
// Writes, or where much of it waits. It reports whether l still has the reader.
func (c *conn) writeOut(l *lane) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open.Err() != nil || c.lane != l {
		return false
	}
	l.inFlight = len(c.tasks) > 0
	if len(c.out) >= flushAt || len(c.out) > 0 && !l.frames.ready() {
		l.work(nil)
		c.flushNow()
		l.busy = false
	}
	return c.lane == l
}

// serve does with a line what is to be done with it.
func (c *conn) serve(l *lane, line []byte) {
	m := &l.msg
	kind, failure := m.read(line)
	if kind == notification {
		c.cancel(m.cancels())
	} else if kind == request && l.inFlight && c.inFlight(m.id()) {
		kind, failure = m.refuse("the id is in flight already")
	}
	if result, t, failure := c.server.open(m, kind, failure); t != nil {
		c.begin(l, t)
	} else if result != nil || failure != nil {
		c.respond(m.id(), result, failure)
	}
}

// cancels is the key of the request that a notification cancels, if it does and is well made, else "".
func (m *message) cancels() idKey {
	id, reason := m.at(slotRequestID), m.at(slotReason)
	if m.dup >= 0 || string(m.method()) != "notifications/cancelled" || !isID(id) || reason != nil && !isText(reason) {
		return ""
	}
	return keyOf(id)
}

// inFlight reports whether a request with this id has not been answered yet: basic/index, heading Requests.
func (c *conn) inFlight(id []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tasks[keyOf(id)] != nil
}

// respond writes an answer of the reader's own; a result that is known beforehand without making a copy of it first.
func (c *conn) respond(id, result []byte, failure *Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waitForRoom(nil) {
		c.out = append(appendResponse(c.out, id, result, failure), '\n')
	}
}

// A callContext ends with its call. Most calls are too short to ask whether it has: the context package's own, which is entered
// into the connection's and taken out again, is made for those that do.
type callContext struct {
	context.Context // the connection's
	mu              sync.Mutex
	own             context.Context // nil until somebody asks, or it ends
	cancel          func()
}

var endedContext, endContext = context.WithCancel(context.Background()) // of calls that nobody has asked about

func (c *callContext) asked() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.own == nil {
		c.own, c.cancel = context.WithCancel(c.Context)
	}
	return c.own
}

// Done and Err are those of a context that ends with the call.
func (c *callContext) Done() <-chan struct{} { return c.asked().Done() }

// Err says why it has ended.
func (c *callContext) Err() error { return c.asked().Err() }

// String keeps package fmt, which would not heed the lock, from looking inside.
func (c *callContext) String() string { return "the context of a call" }

func (c *callContext) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.own == nil {
		c.own, c.cancel = endedContext, endContext
	}
	c.cancel()
}

// begin runs a task, or puts it where it waits for its turn: at most MaxRunning calls run at once, and the rest wait in order.
// Where even that is full the request is refused.
func (c *conn) begin(l *lane, t *task) {
	tool := t.call.tool
	t.size, t.lock = len(l.msg.line), &c.mu
	t.ctx = &callContext{Context: c.open}
	if t.call.progress != nil || tool == nil {
		t.send = func(next func() []byte) {
			if t.over = !c.waitForRoom(t); !t.over {
				c.put(next())
				c.flushNow()
			}
		}
	}
	c.mu.Lock()
	free := tool != nil && c.running < c.server.options.MaxRunning && len(c.queue) == 0
	if free && c.open.Err() == nil && !tool.slow.Load() {
		t.lane = l
		l.work(t)
		c.mu.Unlock()
		c.server.perform(t.ctx, t, c.finish)
		return
	}
	defer c.mu.Unlock()
	l.msg.line = bytes.Clone(l.msg.line) // the reader's buffer moves on
	t.fill(&l.msg)
	switch free = free || c.waitForPlace(t.size); {
	case c.open.Err() != nil:
	case !free:
		c.put(appendResponse(nil, t.id, nil, &Error{Code: CodeInternalError, Message: "Too many requests in flight"}))
	default:
		t.key = keyOf(t.id)
		c.tasks[t.key] = t
		c.countWaiting(t, 1)
		if tool == nil {
			go c.server.perform(t.ctx, t, c.finish)
		} else {
			c.queue = append(c.queue, t)
			c.startWaiting()
		}
	}
}

// countWaiting counts a task among those that wait, or, with -1, no longer. Like the next two it is called with c.mu held.
func (c *conn) countWaiting(t *task, n int) {
	c.waiting += n
	c.waitingBytes += n * t.size
	c.lastPlace = time.Now()
	c.room.Broadcast()
}

// startWaiting starts the calls at the head of the queue for which there are places.
func (c *conn) startWaiting() {
	for len(c.queue) > 0 && c.running < c.server.options.MaxRunning && c.open.Err() == nil {
		t := c.queue[0]
		c.queue = slices.Delete(c.queue, 0, 1)
		c.countWaiting(t, -1)
		c.running++
		go func() {
			started := time.Now()
			c.server.perform(t.ctx, t, c.finish)
			t.call.tool.slow.Store(time.Since(started) > handOver)
		}()
	}
}

// waitForPlace waits until one more request of this size may wait. It gives up when there has been no place for maxPatience; the
// end of input and cancellations stand behind the request that waits here.
func (c *conn) waitForPlace(size int) bool {
	crowded := func() bool {
		return c.open.Err() == nil && c.err == nil &&
			(c.waiting >= maxWaiting || c.waiting > 0 && c.waitingBytes+size > maxWaitingBytes)
	}
	if crowded() {
		go c.wakeUp() // writes what has been answered, which may take long
	}
	for crowded() {
		switch patience := maxPatience - time.Since(c.lastPlace); {
		case c.full(): // the calls that run cannot end before the client reads
			c.waitForRoom(nil)
			c.lastPlace = time.Now()
		case patience <= 0:
			return false
		default:
			timer := time.AfterFunc(patience, c.wakeUp)
			c.room.Wait()
			timer.Stop()
		}
	}
	return true
}

// wakeUp wakes all who wait for room, and writes what has been answered.
func (c *conn) wakeUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.room.Broadcast()
	c.flushNow()
}

// cancel ends a request that the client has cancelled: basic/patterns/cancellation. Its context ends, nothing more is answered to
// it, and its id is free; but it keeps its place until its tool returns. A request that is unknown or has been answered is passed
// over.
func (c *conn) cancel(key idKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tasks[key]
	if t == nil {
		return
	}
	delete(c.tasks, key)
	t.over = true
	t.ctx.end()
	if i := slices.Index(c.queue, t); i >= 0 {
		c.queue = slices.Delete(c.queue, i, i+1)
		c.countWaiting(t, -1)
	}
	c.room.Broadcast()
}

// finished writes the last messages of a task whose function has returned, unless it is over: the progress that waits, the
// response, and where the server ends a subscription a notification that it has (basic/patterns/cancellation). Then it starts
// what waited for its place.
func (c *conn) finished(t *task, response []byte) {
	subscription := t.call.tool == nil
	c.mu.Lock()
	defer c.mu.Unlock()
	inline := t.lane != nil && t.lane == c.lane
	if inline {
		t.lane.busy = false // before it waits for room, so that nobody else reads then
	}
	if c.waitForRoom(t) {
		if last := t.call.progress.take(); last != nil {
			c.put(last)
		}
		if c.put(response); subscription {
			c.put(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,`+
				`"_meta":{"%s":%[1]s}}}`, t.id, MetaSubscriptionID))
		}
	}
	t.ctx.end()
	if t.over = true; inline { // in no books
		if t.call.progress == nil {
			t.lane.msg.reuse = t
		}
		return
	}
	if c.tasks[t.key] == t { // not another that has its id by now
		delete(c.tasks, t.key)
	}
	if subscription {
		c.countWaiting(t, -1)
	} else {
		c.running--
		c.startWaiting()
	}
	c.room.Broadcast()
	c.flushNow()
}
