// serve.go: a connection. Requests come in, calls run side by side, answers go out, until one of the two ends.
//
// Pages: basic/transports/stdio (receiving, cancellation, shutdown), basic/patterns/cancellation. Read after frame.go;
// next is patterns.go.

package mcp

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// What waits for its turn beyond the calls that run; subscriptions, which wait for changes, count as well.
const (
	maxWaiting      = 1024
	maxWaitingBytes = 16 << 20
	maxPatience     = 100 * time.Millisecond // how long the reader waits for a place, before it refuses
)

// maxFarewell is how long a client that does not read keeps Serve, once its context has ended.
const maxFarewell = 500 * time.Millisecond

// ServeStdio serves the process's own stdin and stdout as [Server.Serve] does. It takes stdout for itself: from now on
// os.Stdout is stderr, also for code that kept os.Stdout from before, because nothing that is not a message may be
// written there. A client that goes away does not kill the process by SIGPIPE.
func (s *Server) ServeStdio(ctx context.Context) error {
	stdout := *os.Stdout
	*os.Stdout = *os.Stderr
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a write to stdout then fails with EPIPE
	return s.Serve(ctx, os.Stdin, &stdout)
}

// Serve answers the messages that come from r on w, until r ends, w fails or ctx ends; r and w may be any stream. It takes
// both for itself.
//
// At the end of input, calls that run or wait have a grace to finish, and what finishes is written. Then their contexts
// end, what they say later is dropped, and Serve returns nil. So it does at once, without the grace, where w fails,
// because the client is gone, and where ctx ends, which closes subscriptions with a word. What is written waits for a
// client that reads slowly, but not for long once ctx has ended. An error in reading is returned. What may be left behind
// is the goroutine of a tool that does not return, and one in a Read or a Write that does not end.
func (s *Server) Serve(ctx context.Context, r io.Reader, w io.Writer) error {
	limit := s.options.MaxMessage
	if s.options.Legacy {
		r, w, limit = translate(s, r, w)
	}
	c := &conn{Writer: NewWriter(w), server: s, ctx: ctx, tasks: make(map[idKey]*task), wake: make(chan struct{}, 1)}
	c.finish = c.finished
	go c.read(c.newLane(NewReader(r, limit)))

	c.await(ctx, nil, func() bool { return c.inputEnded })
	c.finishCalls(ctx)
	c.close()
	if ctx.Err() == nil {
		c.await(ctx, nil, c.flushed) // as long as the client takes to read it
	}
	if ctx.Err() != nil {
		c.await(context.Background(), time.After(maxFarewell), c.flushed)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = io.ErrClosedPipe // nothing more is written
	}
	c.room.Broadcast()
	return c.readErr
}

// A conn is one connection. The lock of its Writer guards it all, so that an answer and the cancellation that crosses it
// have an order, and nothing is written for an id after its cancellation has been read.
type conn struct {
	*Writer
	server *Server
	ctx    context.Context
	finish func(*task, []byte)
	lane   *lane // whose goroutine is the reader

	tasks         map[idKey]*task // in flight, by id; save the call that a reader runs itself
	running       int             // calls that hold one of MaxRunning places
	queue         []*task         // calls that wait for one, in order
	subscriptions int
	waitingBytes  int       // of the requests in queue and of subscriptions
	lastPlace     time.Time // when there was last a place to wait in
	telling       int       // goroutines that wait for room to write

	inputEnded bool
	readErr    error
	closed     bool          // nothing new is written
	farewell   bool          // but that subscriptions end
	wake       chan struct{} // tells await that something has changed
}

// finishCalls gives calls their grace, which does not run while they wait for a client that does not read.
func (c *conn) finishCalls(ctx context.Context) {
	hasRoom := func() bool { return !c.full() }
	for {
		c.await(ctx, time.After(c.server.options.Grace), c.idle)
		c.mu.Lock()
		over := c.err != nil || ctx.Err() != nil || c.idle() || hasRoom()
		c.mu.Unlock()
		if over {
			return
		}
		c.await(ctx, nil, hasRoom)
	}
}

// await waits until done, or the client does not take what is written, or ctx or the time ends. It asks done with c.mu
// held.
func (c *conn) await(ctx context.Context, timeout <-chan time.Time, done func() bool) {
	for {
		c.mu.Lock()
		over := c.err != nil || done()
		c.mu.Unlock()
		if over {
			return
		}
		select {
		case <-c.wake:
		case <-timeout:
			return
		case <-ctx.Done():
			return
		}
	}
}

// close ends the contexts of all tasks, and lets no more begin.
func (c *conn) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed, c.farewell = true, c.ctx.Err() != nil
	for _, t := range c.tasks {
		t.ctx.end()
	}
	if c.lane.task != nil {
		c.lane.task.ctx.end()
	}
	go c.writeRest() // a Write may not end
}

// writeRest writes what has been answered.
func (c *conn) writeRest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flushNow()
}

// changed wakes await where it waits for more than the end of input. It is called with c.mu held.
func (c *conn) changed() {
	if c.err != nil || c.inputEnded || c.closed {
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
}

// idle reports whether no call runs, waits for its turn, or waits to write its answer.
func (c *conn) idle() bool { return c.running == 0 && len(c.queue) == 0 && c.telling == 0 }

// flushed reports whether all is written that will be.
func (c *conn) flushed() bool {
	return len(c.out) == 0 && c.writing == 0 && c.telling == 0 && (c.subscriptions == 0 || !c.farewell)
}

// A lane is a reader and what it needs. The goroutine that reads runs a call itself, on the bytes in its buffer: nothing
// is copied and nobody is woken, which is what makes short calls cheap. A call that takes longer than handOver loses the
// role of the reader: a timer starts another goroutine, which reads on in a lane of its own, and the buffer stays with
// the call. So no call holds up another for longer than that, and cancellations get through. The same goes for a Write.
// There is one reader at any time, and while it runs a call itself nobody else can look for that call's id; so the call
// enters the books only where it is taken over.
type lane struct {
	frames *Reader
	msg    message
	task   *task        // the call that the reader runs; nil where it writes
	state  atomic.Int32 // laneReading and so on
	timer  *time.Timer  // runs out handOver after the latest start of a call or a Write; if that is over, in vain
	busy   bool         // there were requests in flight when the reader looked last; it alone can add to them
}

const (
	laneReading int32 = iota // reads, or does what is quickly done
	laneRunning              // runs a call, or writes
	laneLeft                 // reads no more
)

// handOver is how long the reader may run a call. A tool that took longer the last time gets a goroutine at once.
const handOver = 500 * time.Microsecond

func (c *conn) newLane(frames *Reader) *lane {
	l := &lane{frames: frames}
	l.timer = time.AfterFunc(time.Hour, func() { c.takeOver(l) })
	l.timer.Stop()
	c.lane = l
	return l
}

// takeOver reads on where the reader of l runs a call that takes long.
func (c *conn) takeOver(l *lane) {
	if !l.state.CompareAndSwap(laneRunning, laneLeft) {
		return
	}
	c.mu.Lock()
	if t := l.task; t != nil { // not a Write
		t.call.tool.slow.Store(true)
		if !t.over { // it has not finished in the meantime
			c.enter(t)
			c.running++
		}
	}
	next := c.newLane(l.frames.successor())
	c.mu.Unlock()
	c.read(next)
}

// read reads and serves until the input ends, or the lane is left. What has been answered goes out when the reader is
// about to wait, so that a burst of requests gets its answers in few writes.
func (c *conn) read(l *lane) {
	defer func() {
		if l.state.Load() == laneReading { // a tool has ended the goroutine
			go c.read(l)
		}
	}()
	for l.state.Load() == laneReading {
		if !c.writeOut(l) {
			return
		}
		line, err := l.frames.ReadFrame()
		switch _, tooMuch := err.(*FrameTooLongError); {
		case tooMuch:
			c.respond(appendError(nil, nil, tooLong(c.server.options.MaxMessage)))
		case err != nil:
			l.state.Store(laneLeft)
			c.endInput(err)
		default:
			c.serve(l, line)
		}
	}
}

// writeOut writes what has been answered where the reader of l is about to wait, or much of it waits. It reports whether
// the lane still has the reader: a Write that takes long is like a call that does.
func (c *conn) writeOut(l *lane) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		l.state.Store(laneLeft)
		return false
	}
	l.busy = len(c.tasks) > 0
	if l.frames.ready() && len(c.out) < flushAt || len(c.out) == 0 {
		return true
	}
	l.task = nil
	l.state.Store(laneRunning)
	l.timer.Reset(handOver)
	c.flushNow()
	return l.state.CompareAndSwap(laneRunning, laneReading)
}

// flushAt is how much output a reader with more input to serve gathers.
const flushAt = 64 << 10

func (c *conn) endInput(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inputEnded = true
	if err != io.EOF {
		c.readErr = err
	}
	c.changed()
	c.flushNow()
}

// serve does with a line what is to be done with it.
func (c *conn) serve(l *lane, line []byte) {
	m := &l.msg
	kind, failure := m.read(line)
	switch {
	case kind == notification:
		if key := m.cancels(); key != "" {
			c.cancel(key)
		}
		return
	case kind == response:
		return
	case failure == nil && l.busy && c.inFlight(m.id()):
		_, failure = m.refuse("the id is in flight already")
	}
	var result []byte
	var t *task
	if failure == nil {
		result, t, failure = c.server.open(m)
	}
	switch {
	case failure != nil:
		c.respond(appendError(nil, m.id(), failure))
	case t == nil:
		c.respondResult(m.id(), result)
	default:
		c.begin(l, t)
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

// respond writes an answer of the reader's own.
func (c *conn) respond(response []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waitForRoom(nil); !c.closed {
		c.put(response)
	}
}

// respondResult writes a result that is known beforehand, without making a copy of it first.
func (c *conn) respondResult(id, result []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waitForRoom(nil); !c.closed {
		c.out = append(appendResult(c.out, id, result), '\n')
	}
}

func (c *conn) flushNow() {
	c.flush()
	c.changed()
}

// waitForRoom waits while the client does not read what is written, unless t is over. This is what stops the reader.
func (c *conn) waitForRoom(t *task) {
	c.telling++
	for c.full() && c.err == nil && (t == nil || !t.over) {
		c.room.Wait()
	}
	c.telling--
}

// A taskContext is the context of a task. It has the values of the connection's, ends when the task is cancelled, over, or
// given up with the connection, and costs next to nothing unless somebody asks for Done; the context package's own would be
// entered into its parent for every call, and taken out again.
type taskContext struct {
	context.Context
	mu   sync.Mutex
	done chan struct{} // nil until it is asked for
	err  error
}

// Done returns a channel that is closed when the context ends.
func (c *taskContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.err != nil {
			close(c.done)
		}
	}
	return c.done
}

// Err returns nil until the context ends, then context.Canceled.
func (c *taskContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *taskContext) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = context.Canceled
		if c.done != nil {
			close(c.done)
		}
	}
}

// begin runs a task, or puts it where it waits for its turn: at most MaxRunning calls run at once, and the rest wait in
// order. Where even that is full the request is refused.
func (c *conn) begin(l *lane, t *task) {
	t.size, t.ctx.Context = len(l.msg.line), c.ctx
	t.call.progress = newProgress(t)
	if t.lock = &c.mu; t.call.progress != nil || t.call.tool == nil {
		t.send = func(next func() []byte) { c.send(t, next) }
	}
	if c.admit(l, t) {
		l.state.Store(laneRunning)
		l.timer.Reset(handOver)
		c.server.perform(&t.ctx, t, c.finish)
	}
}

// admit finds a task its place, and reports whether that is the reader's own goroutine.
func (c *conn) admit(l *lane, t *task) (inline bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	tool := t.call.tool
	free := c.running < c.server.options.MaxRunning && len(c.queue) == 0
	if c.closed {
		return false
	}
	if tool != nil && free && !tool.slow.Load() {
		t.lane, l.task = l, t
		return true
	}
	l.msg.line = bytes.Clone(l.msg.line) // the reader's buffer moves on
	t.fill(&l.msg)
	switch {
	case tool != nil && free:
		c.enter(t)
		c.start(t)
	case !c.waitForPlace(t.size):
		c.put(appendError(nil, t.id, &Error{Code: CodeInternalError, Message: "Too many requests in flight"}))
	case tool != nil:
		c.enter(t)
		c.takePlace(t)
		c.queue = append(c.queue, t)
		c.startWaiting()
	default:
		c.enter(t)
		c.takePlace(t)
		c.subscriptions++
		go c.server.perform(&t.ctx, t, c.finish)
	}
	return false
}

// The methods below are called with c.mu held, but for finished.

// enter enters a task into the books.
func (c *conn) enter(t *task) {
	t.key = keyOf(t.id)
	c.tasks[t.key] = t
}

// start gives a call one of the places to run.
func (c *conn) start(t *task) {
	c.running++
	go func() {
		started := time.Now()
		c.server.perform(&t.ctx, t, c.finish)
		t.call.tool.slow.Store(time.Since(started) > handOver)
	}()
}

// startWaiting starts the calls at the head of the queue for which there are places.
func (c *conn) startWaiting() {
	for len(c.queue) > 0 && c.running < c.server.options.MaxRunning && !c.closed {
		t := c.queue[0]
		c.queue = slices.Delete(c.queue, 0, 1)
		c.freePlace(t)
		c.start(t)
	}
}

// waitForPlace waits until one more request of this size may wait. It gives up when there has been no place for
// maxPatience; the end of input and cancellations stand behind the request that waits here.
func (c *conn) waitForPlace(size int) bool {
	if c.crowded(size) {
		go c.writeRest() // it may take long
	}
	for c.crowded(size) && !c.closed && c.err == nil {
		if c.full() { // the calls that run cannot end before the client reads
			c.waitForRoom(nil)
			c.lastPlace = time.Now()
			continue
		}
		patience := maxPatience - time.Since(c.lastPlace)
		if patience <= 0 {
			return false
		}
		timer := time.AfterFunc(patience, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.room.Broadcast()
		})
		c.room.Wait()
		timer.Stop()
	}
	return true
}

func (c *conn) crowded(size int) bool {
	waiting := len(c.queue) + c.subscriptions
	return waiting >= maxWaiting || waiting > 0 && c.waitingBytes+size > maxWaitingBytes
}

func (c *conn) takePlace(t *task) {
	c.waitingBytes += t.size
	c.lastPlace = time.Now()
}

func (c *conn) freePlace(t *task) {
	c.waitingBytes -= t.size
	c.lastPlace = time.Now()
	c.room.Broadcast()
}

// cancel ends a request that the client has cancelled: basic/patterns/cancellation. Its context ends, nothing more is
// written for it, and its id is free; but it keeps its place until its tool returns. A request that is unknown or has
// been answered is passed over.
func (c *conn) cancel(key idKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tasks[key]
	if t == nil {
		return
	}
	delete(c.tasks, key)
	t.call.progress.end()
	t.over = true
	if i := slices.Index(c.queue, t); i >= 0 {
		c.queue = slices.Delete(c.queue, i, i+1)
		c.freePlace(t)
		return
	}
	t.ctx.end()
	c.room.Broadcast()
}

// send writes a notification that belongs to a task, unless the task is over.
func (c *conn) send(t *task, next func() []byte) {
	if c.waitForRoom(t); !t.over && !c.closed {
		c.put(next())
		c.flushNow()
	}
}

// finished writes the response of a task whose function has returned, unless the task has been cancelled, and starts
// what waited for its place.
func (c *conn) finished(t *task, response []byte) {
	inline := t.lane != nil && t.lane.state.CompareAndSwap(laneRunning, laneReading)
	c.mu.Lock()
	defer c.mu.Unlock()
	subscription := t.call.tool == nil
	if !c.closed || subscription && c.farewell {
		c.waitForRoom(t)
		c.conclude(t, response)
	}
	t.over = true
	t.ctx.end()
	if c.tasks[t.key] == t { // not another that has its id by now
		delete(c.tasks, t.key)
	}
	switch {
	case subscription:
		c.subscriptions--
		c.freePlace(t)
	case !inline && t.key != "":
		c.running--
		c.startWaiting()
	}
	if !inline {
		c.flushNow()
	}
}

// conclude writes the last messages of a task: the progress that waits, the response, and, where the server ends a
// subscription, a notification that it has (basic/patterns/cancellation).
func (c *conn) conclude(t *task, response []byte) {
	if t.over {
		return
	}
	if last := t.call.progress.end(); last != nil {
		c.put(last)
	}
	c.put(response)
	if t.call.tool == nil {
		c.put(cancelled(t.id))
	}
}
