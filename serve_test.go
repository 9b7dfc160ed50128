package mcp

// serve_test.go: a connection: calls side by side, those that wait, cancellation, and the ways in which it ends. Where
// time matters the tests run in a bubble of synctest, where an hour is over at once and nothing is a matter of luck.

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

// gates are the calls of a tool named gate, which say that they run, and wait until they are let go. They do not heed
// their contexts.
type gates struct {
	mu      sync.Mutex
	open    map[string]chan *Result // by the argument n
	started []string
	ended   []string // whose contexts have ended by the time they are let go
}

func (g *gates) gate(n string) chan *Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open == nil {
		g.open = make(map[string]chan *Result)
	}
	if g.open[n] == nil {
		g.open[n] = make(chan *Result, 1)
	}
	return g.open[n]
}

func (g *gates) handle(ctx context.Context, call *Call) (*Result, error) {
	n := string(call.Argument("n"))
	gate := g.gate(n)
	g.mu.Lock()
	g.started = append(g.started, n)
	g.mu.Unlock()
	result := <-gate
	g.mu.Lock()
	defer g.mu.Unlock()
	if ctx.Err() != nil {
		g.ended = append(g.ended, n)
	}
	return result, nil
}

// release lets calls go, which answer with their number.
func (g *gates) release(numbers ...int) {
	for _, n := range numbers {
		g.gate(strconv.Itoa(n)) <- Text(strconv.Itoa(n))
	}
}

// running gives the calls that have started since it was asked last, sorted.
func (g *gates) running() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	started := g.started
	g.started = nil
	slices.SortFunc(started, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	return started
}

func gateCall(n int) string {
	return toolCall(strconv.Itoa(n), "gate", `{"n":`+strconv.Itoa(n)+`}`)
}

func gateCalls(from, to int) (lines []string) {
	for n := from; n <= to; n++ {
		lines = append(lines, gateCall(n))
	}
	return lines
}

func numbers(from, to int) (all []string) {
	for n := from; n <= to; n++ {
		all = append(all, strconv.Itoa(n))
	}
	return all
}

// insideGates runs a test in a bubble, with a server that has the usual tools and gate.
func insideGates(t *testing.T, options Options, test func(t *testing.T, l *link, g *gates)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := new(gates)
		l := dialInside(t, withTool(t, testServer(t, options), "gate", g.handle), t.Context())
		test(t, l, g)
	})
}

func ack(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` +
		id + `},"notifications":{"toolsListChanged":true}}}`
}

func listenTo(id string) string {
	return requestOf(id, "subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
}

// listenEnd is what a subscription that the server ends is told.
func listenEnd(id string) []string {
	return []string{
		success(id, `{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":`+id+`,"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1.0.0"}}}`),
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}}}`,
	}
}

// TestSideBySide: calls run at once, up to a number, and the rest wait in order.
func TestSideBySide(t *testing.T) {
	t.Run("a slow call holds up nobody", func(t *testing.T) {
		insideGates(t, Options{}, func(t *testing.T, l *link, g *gates) {
			l.send(gateCall(1), toolCall("2", "echo", `{"text":"a"}`), requestOf("3", "server/discover", ""), `{`)
			l.settle(time.Millisecond, textResult("2", "a"), discovered("3"), failure("", -32700, "Parse error: not JSON, at byte 1: want a member name in quotes"))
			g.release(1)
			l.settle(time.Millisecond, textResult("1", "1"))
		})
	})
	t.Run("a slow call is overtaken after half a millisecond", func(t *testing.T) {
		insideGates(t, Options{}, func(t *testing.T, l *link, g *gates) {
			l.send(toolCall("1", "sleep", `{"ms":1000}`), requestOf("2", "server/discover", ""))
			start := time.Now()
			time.Sleep(time.Minute)
			synctest.Wait()
			got := l.takeTimed()
			if len(got) != 2 || got[0].line != discovered("2") || got[0].at.Sub(start) > handOver {
				t.Errorf("got %v", got)
			}
		})
	})
	t.Run("a call that ends just when it is overtaken", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := withTool(t, emptyServer(Options{MaxRunning: 1}), "edge", func(context.Context, *Call) (*Result, error) {
				time.Sleep(handOver)
				return Text("done"), nil
			})
			l := dialInside(t, s, t.Context())
			for n := range 300 { // it is a matter of luck which of the two comes first
				id := strconv.Itoa(n)
				l.send(toolCall(id, "edge", "{}"))
				l.settle(time.Second, textResult(id, "done"))
			}
			l.send(toolCall("1", "edge", "{}"), toolCall("2", "edge", "{}"), requestOf("3", "server/discover", ""))
			l.settleSorted(time.Second, textResult("1", "done"), textResult("2", "done"), discovered("3"))
			compare(t, l.end(), nil)
		})
	})
	t.Run("64 at once by default", func(t *testing.T) {
		insideGates(t, Options{}, func(t *testing.T, l *link, g *gates) {
			l.send(gateCalls(1, 70)...)
			l.settle(time.Second)
			compare(t, g.running(), numbers(1, 64))
			g.release(10, 20, 30)
			l.settleSorted(time.Second, textResult("10", "10"), textResult("20", "20"), textResult("30", "30"))
			compare(t, g.running(), numbers(65, 67))
			for n := 1; n <= 70; n++ {
				if n != 10 && n != 20 && n != 30 {
					g.release(n)
				}
			}
		})
	})
	t.Run("as many as the option says, and the rest in order", func(t *testing.T) {
		insideGates(t, Options{MaxRunning: 2}, func(t *testing.T, l *link, g *gates) {
			l.send(gateCalls(1, 6)...)
			l.settle(time.Second)
			compare(t, g.running(), numbers(1, 2))
			for n := 1; n <= 6; n++ {
				g.release(n)
				l.settle(time.Second, textResult(strconv.Itoa(n), strconv.Itoa(n)))
				compare(t, g.running(), numbers(n+2, min(n+2, 6)))
			}
		})
	})
	t.Run("one at a time", func(t *testing.T) {
		insideGates(t, Options{MaxRunning: 1}, func(t *testing.T, l *link, g *gates) {
			l.send(gateCall(1), toolCall("2", "echo", `{"text":"a"}`), gateCall(3), toolCall("4", "echo", `{"text":"b"}`))
			l.settle(time.Second)
			g.release(1)
			l.settle(time.Second, textResult("1", "1"), textResult("2", "a"))
			g.release(3)
			l.settle(time.Second, textResult("3", "3"), textResult("4", "b"))
		})
	})
	t.Run("what needs no tool does not wait", func(t *testing.T) {
		insideGates(t, Options{MaxRunning: 1}, func(t *testing.T, l *link, g *gates) {
			l.send(gateCall(1), gateCall(2), requestOf("3", "server/discover", ""), toolCall("4", "nope", "{}"), listenTo("5"))
			l.settle(time.Second, discovered("3"), failure("4", -32602, "Unknown tool: nope"), ack("5"))
			g.release(1, 2)
		})
	})
	t.Run("the numbers are those of one connection", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := new(gates)
			s := withTool(t, testServer(t, Options{MaxRunning: 1}), "gate", g.handle)
			first, second := dialInside(t, s, t.Context()), dialInside(t, s, t.Context())
			first.send(gateCall(1))
			first.settle(time.Second)
			second.send(gateCall(2), gateCall(3))
			second.settle(time.Second)
			compare(t, g.running(), numbers(1, 2))
			g.release(1, 2, 3)
		})
	})
	t.Run("two connections may use one id", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := testServer(t, Options{})
			first, second := dialInside(t, s, t.Context()), dialInside(t, s, t.Context())
			first.send(toolCall("1", "sleep", `{"ms":10}`))
			second.send(toolCall("1", "sleep", `{"ms":20}`), cancelOf("2"))
			first.settle(time.Second, textResult("1", "slept 10 ms"))
			second.settle(time.Second, textResult("1", "slept 20 ms"))
		})
	})
	t.Run("a thousand at once", func(t *testing.T) {
		s := testServer(t, Options{})
		var in, out []string
		for n := range 1000 {
			id := strconv.Itoa(n)
			in, out = append(in, toolCall(id, "sleep", `{"ms":1}`)), append(out, textResult(id, "slept 1 ms"))
		}
		compareSorted(t, talk(t, s, in...), out)
	})
	t.Run("a long burst of fast calls is never refused", func(t *testing.T) {
		s := testServer(t, Options{})
		var in, out []string
		for n := range 5000 {
			id := strconv.Itoa(n)
			in, out = append(in, toolCall(id, "add", `{"a":1,"b":2}`)), append(out, textResult(id, "3"))
		}
		compareSorted(t, talk(t, s, in...), out)
	})
	t.Run("nor is one of calls that take a while", func(t *testing.T) {
		insideGates(t, Options{}, func(t *testing.T, l *link, g *gates) {
			var in, out []string
			for n := range 3000 {
				id := strconv.Itoa(n)
				in, out = append(in, toolCall(id, "sleep", `{"ms":50}`)), append(out, textResult(id, "slept 50 ms"))
			}
			l.send(in...)
			time.Sleep(time.Minute)
			synctest.Wait()
			compareSorted(t, l.take(), out)
		})
	})
	t.Run("nor is one whose client reads slowly, which pushes back", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			text := strings.Repeat("x", 1<<10)
			s := withTool(t, emptyServer(Options{}), "slow", func(ctx context.Context, call *Call) (*Result, error) {
				time.Sleep(time.Millisecond)
				return Text(text), nil
			})
			l := dialSilent(t, s, t.Context())
			l.out = io.NopCloser(&slowly{l.out, 100_000}) // bytes in a second: far less than the calls give
			l.read()
			var in, out []string
			for n := range 3000 {
				id := strconv.Itoa(n)
				in, out = append(in, toolCall(id, "slow", "{}")), append(out, textResult(id, text))
			}
			l.send(in...)
			time.Sleep(time.Hour)
			synctest.Wait()
			compareSorted(t, l.take(), out)
			l.stop()
		})
	})
}

// slowly gives so many bytes in a second.
type slowly struct {
	r    io.Reader
	rate int
}

func (r *slowly) Read(p []byte) (int, error) {
	n, err := r.r.Read(p[:min(len(p), r.rate/100)])
	time.Sleep(time.Second * time.Duration(n) / time.Duration(r.rate))
	return n, err
}

// TestTooMany: what waits is bounded, in number and in bytes.
func TestTooMany(t *testing.T) {
	tooMany := func(n int) string { return failure(strconv.Itoa(n), -32603, "Too many requests in flight") }
	// full fills the queue behind one call that runs.
	full := func(t *testing.T, l *link) {
		l.send(gateCalls(0, maxWaiting)...)
		l.settle(time.Minute)
	}
	letAllGo := func(g *gates) {
		for n := range 2 * maxWaiting {
			select {
			case g.gate(strconv.Itoa(n)) <- nil:
			default:
			}
		}
	}
	t.Run("1024 wait, and one more is refused", func(t *testing.T) {
		insideGates(t, Options{MaxRunning: 1}, func(t *testing.T, l *link, g *gates) {
			full(t, l)
			l.send(gateCall(2000))
			l.settle(time.Minute, tooMany(2000))
			compare(t, g.running(), numbers(0, 0))
			letAllGo(g)
		})
	})
	t.Run("a request waits 100 ms for a place after the last one was there, and is refused then", func(t *testing.T) {
		insideGates(t, Options{MaxRunning: 1}, func(t *testing.T, l *link, g *gates) {
			l.send(gateCalls(0, maxWaiting)...)
			synctest.Wait()
			start := time.Now() // the last place was taken now
			l.send(gateCall(2000), gateCall(2001), gateCall(2002), requestOf(`"x"`, "server/discover", ""))
			time.Sleep(maxPatience - time.Nanosecond)
			synctest.Wait()
			compare(t, l.take(), nil)
			time.Sleep(time.Minute)
			got := l.takeTimed()
			for i, want := range []string{tooMany(2000), tooMany(2001), tooMany(2002), discovered(`"x"`)} {
				if len(got) <= i || got[i].line != want || got[i].at.Sub(start) != maxPatience {
					t.Errorf("want %.200s, got %.300v", want, got[min(i, len(got)):])
				}
			}
			l.send(gateCall(2003)) // and from then on at once
			start = time.Now()
			time.Sleep(time.Minute)
			if got := l.takeTimed(); len(got) != 1 || got[0].line != tooMany(2003) || got[0].at != start {
				t.Errorf("got %v at %v", got, start)
			}
			letAllGo(g)
		})
	})
	t.Run("a cancellation gets through also where answers wait for a client that does not read", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ended := make(chan struct{})
			s := withTool(t, testServer(t, Options{MaxRunning: 1}), "wait", func(ctx context.Context, call *Call) (*Result, error) {
				<-ctx.Done()
				if string(call.Argument("first")) == "true" {
					close(ended)
				}
				return Text("enough"), nil
			})
			l := dialSilent(t, s, t.Context())
			fmt.Fprintln(l.in, toolCall("0", "wait", `{"first":true}`))
			for n := range maxWaiting {
				fmt.Fprintln(l.in, toolCall(strconv.Itoa(n+1), "wait", `{}`))
			}
			fmt.Fprintln(l.in, "{\n"+toolCall("2000", "wait", `{}`)+"\n"+`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0}}`)
			select {
			case <-ended:
			case <-time.After(time.Minute):
				t.Error("the call runs on")
			}
		})
	})
	t.Run("a place that comes free in time is taken", func(t *testing.T) {
		insideGates(t, Options{MaxRunning: 1}, func(t *testing.T, l *link, g *gates) {
			l.send(gateCalls(0, maxWaiting)...)
			synctest.Wait()
			l.send(gateCall(2000))
			time.Sleep(maxPatience / 2)
			g.release(0)
			l.settle(time.Minute, textResult("0", "0"))
			l.send(gateCall(2001))
			l.settle(time.Minute, tooMany(2001))
			g.release(1)
			l.settle(time.Minute, textResult("1", "1"))
			l.send(gateCall(2002), gateCall(2003))
			l.settle(time.Minute, tooMany(2003))
			g.running()
			for n := 2; n <= maxWaiting; n++ {
				g.release(n)
			}
			l.settle(time.Minute, func() (lines []string) {
				for n := 2; n <= maxWaiting; n++ {
					lines = append(lines, textResult(strconv.Itoa(n), strconv.Itoa(n)))
				}
				return lines
			}()...)
			g.release(2000, 2002)
			l.settle(time.Minute, textResult("2000", "2000"), textResult("2002", "2002"))
		})
	})
	t.Run("a call that is cancelled while it waits leaves its place", func(t *testing.T) {
		insideGates(t, Options{MaxRunning: 1}, func(t *testing.T, l *link, g *gates) {
			full(t, l)
			l.send(cancelOf("7"), gateCall(2000), gateCall(2001))
			l.settle(time.Minute, tooMany(2001))
			letAllGo(g)
		})
	})
	t.Run("cancellations and the end of input get through", func(t *testing.T) {
		insideGates(t, Options{MaxRunning: 1}, func(t *testing.T, l *link, g *gates) {
			full(t, l)
			l.send(toolCall("2000", "echo", `{"text":"a"}`), cancelOf("0"), requestOf("2001", "server/discover", ""))
			l.settle(time.Minute, tooMany(2000), discovered("2001"))
			compare(t, l.end(), nil)
			letAllGo(g)
			synctest.Wait()
			compare(t, g.ended, []string{"0"})
		})
	})
	t.Run("subscriptions count", func(t *testing.T) {
		insideGates(t, Options{MaxRunning: 1}, func(t *testing.T, l *link, g *gates) {
			var in, out []string
			for n := range maxWaiting {
				in, out = append(in, listenTo(strconv.Itoa(n))), append(out, ack(strconv.Itoa(n)))
			}
			l.send(in...)
			time.Sleep(time.Minute)
			synctest.Wait()
			compareSorted(t, l.take(), out)
			l.send(listenTo("2000"), gateCall(2001), gateCall(2002))
			l.settle(time.Minute, tooMany(2000), tooMany(2002)) // 2001 runs
			l.send(cancelOf("7"))
			l.settle(time.Second)
			l.send(listenTo("2003"), gateCall(2004))
			l.settleSorted(time.Minute, ack("2003"), tooMany(2004))
			g.release(2001)
			l.settle(time.Minute, textResult("2001", "2001"))
		})
	})
	t.Run("16 MiB of requests wait", func(t *testing.T) {
		const small = 1000
		padded := func(n, size int) string { return gateCall(n) + strings.Repeat(" ", size-len(gateCall(n))) }
		for _, row := range []struct {
			rule  string
			last  int // the size of the fourth request
			fifth bool
		}{
			{"at the edge", DefaultMaxMessage - small, true},
			{"one past it", DefaultMaxMessage - small + 1, false},
			{"full to the brim", DefaultMaxMessage, false},
		} {
			t.Run(row.rule, func(t *testing.T) {
				insideGates(t, Options{MaxRunning: 1}, func(t *testing.T, l *link, g *gates) {
					l.send(gateCall(0))
					for n := 1; n <= 3; n++ {
						l.send(padded(n, DefaultMaxMessage))
					}
					l.send(padded(4, row.last))
					l.settle(time.Minute)
					l.send(padded(5, small))
					if row.fifth {
						l.settle(time.Minute)
						l.send(padded(6, small))
						l.settle(time.Minute, tooMany(6))
					} else {
						l.settle(time.Minute, tooMany(5))
					}
					l.send(cancelOf("1"), padded(7, small))
					l.settle(time.Minute)
					g.release(0, 2, 3, 4, 5, 7)
					time.Sleep(time.Minute)
				})
			})
		}
	})
	t.Run("a subscription that has ended leaves its place", func(t *testing.T) {
		insideGates(t, Options{}, func(t *testing.T, l *link, g *gates) {
			l.send(listenTo("0"))
			l.settle(time.Second, ack("0"))
			large := listenTo("1")
			large += strings.Repeat(" ", DefaultMaxMessage-len(large))
			for range 10 {
				l.send(large)
				l.settle(time.Second, ack("1"))
				l.send(cancelOf("1"))
				l.settle(time.Second)
			}
		})
	})
	t.Run("refusals push back too", func(t *testing.T) {
		// The client asks for more than may wait, and does not read. An answer that does not go out stands first.
		synctest.Test(t, func(t *testing.T) {
			g := new(gates)
			s := withTool(t, testServer(t, Options{MaxRunning: 1}), "gate", g.handle)
			l := dialSilent(t, s, t.Context())
			l.send(gateCalls(0, maxWaiting)...)
			time.Sleep(time.Minute)
			g.release(0)
			time.Sleep(time.Minute)
			const flood = 100_000
			sent := 0
			go func() {
				for n := range flood {
					if _, err := io.WriteString(l.in, toolCall(strconv.Itoa(10_000+n), "echo", `{"text":"a"}`)+"\n"); err != nil {
						return
					}
					sent++
				}
			}()
			time.Sleep(time.Minute)
			synctest.Wait()
			if size := len(tooMany(10_000)); sent*size > 2*maxOutput {
				t.Errorf("%d refusals of %d bytes wait for a client that does not read", sent, size)
			}
			l.stop()
			l.in.Close()
			l.out.Close()
			letAllGo(g)
		})
	})
}

// TestCancel: after a cancellation nothing more is written for its request.
func TestCancel(t *testing.T) {
	t.Run("the context ends, and no answer comes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var cause error
			s := withTool(t, testServer(t, Options{}), "hold", func(ctx context.Context, call *Call) (*Result, error) {
				<-ctx.Done()
				cause = ctx.Err()
				return Text("too late"), nil
			})
			l := dialInside(t, s, t.Context())
			l.send(toolCall("1", "hold", "{}"))
			l.settle(time.Second)
			l.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough","_meta":{"x":1}}}`)
			l.settle(time.Hour)
			if cause != context.Canceled {
				t.Errorf("the context's error is %v", cause)
			}
			compare(t, l.end(), nil)
		})
	})
	t.Run("no answer comes, though the tool takes no notice", func(t *testing.T) {
		insideGates(t, Options{}, func(t *testing.T, l *link, g *gates) {
			l.send(gateCall(1))
			l.settle(time.Second)
			l.send(cancelOf("1"))
			l.settle(time.Second)
			g.release(1)
			l.settle(time.Second)
			compare(t, g.ended, []string{"1"})
		})
	})
	t.Run("no answer comes from a tool that fails, panics or asks", func(t *testing.T) {
		for name, handler := range map[string]Handler{
			"an error":  func(context.Context, *Call) (*Result, error) { return nil, errors.New("x") },
			"a refusal": func(context.Context, *Call) (*Result, error) { return nil, &Error{Code: 1, Message: "x"} },
			"a panic":   func(context.Context, *Call) (*Result, error) { panic("x") },
			"the end of its goroutine": func(context.Context, *Call) (*Result, error) {
				runtime.Goexit()
				return nil, nil
			},
			"a question": func(context.Context, *Call) (*Result, error) { return nil, &InputRequired{State: "x"} },
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := withTool(t, testServer(t, Options{}), "slow", func(ctx context.Context, call *Call) (*Result, error) {
						<-ctx.Done()
						return handler(ctx, call)
					})
					l := dialInside(t, s, t.Context())
					l.send(toolCall("1", "slow", "{}"))
					l.settle(time.Second)
					l.send(cancelOf("1"))
					l.settle(time.Second)
					l.send(requestOf("1", "server/discover", ""))
					l.settle(time.Second, discovered("1"))
				})
			})
		}
	})
	t.Run("no progress comes, not even what waits", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := withTool(t, testServer(t, Options{}), "work", func(ctx context.Context, call *Call) (*Result, error) {
				for i := range 100 {
					call.Progress(float64(i), 0, "")
					time.Sleep(time.Millisecond)
				}
				return Text("done"), nil
			})
			l := dialInside(t, s, t.Context())
			l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","_meta":{"MCP/protocolVersion":"2026-07-28","MCP/clientCapabilities":{},"progressToken":"t"}}}`)
			time.Sleep(30 * time.Millisecond)
			synctest.Wait()
			if got := l.take(); len(got) != 2 {
				t.Errorf("before: %q", got)
			}
			l.send(cancelOf("1"))
			l.settle(time.Minute)
		})
	})
	t.Run("the id is free at once", func(t *testing.T) {
		insideGates(t, Options{}, func(t *testing.T, l *link, g *gates) {
			l.send(gateCall(1))
			l.settle(time.Second)
			l.send(cancelOf("1"), toolCall("1", "echo", `{"text":"a"}`), requestOf("1", "server/discover", ""))
			l.settle(time.Second, textResult("1", "a"), discovered("1"))
			l.send(toolCall("1", "sleep", `{"ms":500}`))
			l.settle(time.Millisecond)
			g.release(1) // the first of that id: its end does not touch the second
			l.settle(time.Millisecond)
			l.send(toolCall("1", "echo", `{"text":"a"}`))
			l.settle(time.Millisecond, failure("1", -32600, "Invalid Request: the id is in flight already"))
			l.settle(time.Second, textResult("1", "slept 500 ms"))
		})
	})
	t.Run("a cancelled tool that goes on keeps its place", func(t *testing.T) {
		insideGates(t, Options{MaxRunning: 1}, func(t *testing.T, l *link, g *gates) {
			l.send(gateCall(1))
			l.settle(time.Second)
			l.send(cancelOf("1"), toolCall("1", "echo", `{"text":"a"}`), toolCall("2", "echo", `{"text":"b"}`))
			l.settle(time.Hour)
			g.release(1)
			l.settle(time.Second, textResult("1", "a"), textResult("2", "b"))
		})
	})
	t.Run("a call that waits for its turn does not run", func(t *testing.T) {
		insideGates(t, Options{MaxRunning: 1}, func(t *testing.T, l *link, g *gates) {
			l.send(gateCalls(1, 4)...)
			l.settle(time.Second)
			l.send(cancelOf("3"), cancelOf("2.0"))
			l.settle(time.Second)
			g.release(1, 4)
			l.settle(time.Second, textResult("1", "1"), textResult("4", "4"))
			compare(t, g.running(), []string{"1", "4"})
			l.send(toolCall("2", "echo", `{"text":"a"}`), toolCall("3", "echo", `{"text":"a"}`))
			l.settle(time.Second, textResult("2", "a"), textResult("3", "a"))
		})
	})
	t.Run("an id is found whatever it is spelt like", func(t *testing.T) {
		for id, spelling := range map[string]string{
			"1": "1.0", "100": "1e2", "1e400": "10e399", "-0": "0", `"a"`: `"\u0061"`, `"\ud800"`: `"\uD800"`, `""`: `""`,
		} {
			synctest.Test(t, func(t *testing.T) {
				l := dialInside(t, testServer(t, Options{}), t.Context())
				l.send(toolCall(id, "sleep", `{"ms":1000}`))
				l.settle(time.Millisecond)
				l.send(cancelOf(spelling))
				l.settle(time.Minute)
			})
		}
	})
	t.Run("what is malformed, unknown or late does nothing", func(t *testing.T) {
		insideGates(t, Options{}, func(t *testing.T, l *link, g *gates) {
			l.send(toolCall("0", "echo", `{"text":"a"}`))
			l.settle(time.Millisecond, textResult("0", "a"))
			l.send(toolCall("7", "sleep", `{"ms":1000}`))
			l.settle(time.Millisecond)
			l.send(
				cancelOf("0"), cancelOf("8"), cancelOf(`"7"`), cancelOf("7.5"), cancelOf("70"), cancelOf("-7"),
				cancelOf("null"), cancelOf("true"), cancelOf("[7]"), cancelOf(`{"id":7}`),
				`{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":null}`,
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":[7]}`,
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":7}`,
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestID":7}}`,
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":null}}`,
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"id":7}}`,
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"requestId":7}}`,
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7},"x":{"a":1,"a":1}}`,
				`{"jsonrpc":"2.0","method":"notifications/Cancelled","params":{"requestId":7}}`,
				`{"jsonrpc":"2.0","method":"cancelled","params":{"requestId":7}}`,
			)
			l.settle(time.Millisecond)
			l.send(
				`{"jsonrpc":"2.0","id":9,"method":"notifications/cancelled","params":{"requestId":7,META}}`,
				`{"method":"notifications/cancelled","params":{"requestId":7}}`,
				`{"jsonrpc":"2.0","id":null,"method":"notifications/cancelled","params":{"requestId":7}}`,
				`[{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}]`,
			)
			l.settle(time.Millisecond,
				failure("9", -32601, "Method not found"),
				failure("", -32600, `Invalid Request: jsonrpc must be "2.0"`),
				failure("", -32600, "Invalid Request: id must be a string or an integer"),
				failure("", -32600, "Invalid Request: a batch; send one message a line"))
			l.settle(time.Minute, textResult("7", "slept 1000 ms"))
			l.send(cancelOf("7"))
			l.settle(time.Minute)
			l.send(toolCall("7", "echo", `{"text":"still here"}`))
			l.settle(time.Minute, textResult("7", "still here"))
		})
	})
	t.Run("twice is once", func(t *testing.T) {
		insideGates(t, Options{}, func(t *testing.T, l *link, g *gates) {
			l.send(toolCall("1", "sleep", `{"ms":1000}`))
			l.settle(time.Millisecond)
			l.send(cancelOf("1"), cancelOf("1"))
			l.settle(time.Minute)
		})
	})
	t.Run("written with escapes, and with more beside it", func(t *testing.T) {
		insideGates(t, Options{}, func(t *testing.T, l *link, g *gates) {
			l.send(toolCall("1", "sleep", `{"ms":1000}`))
			l.settle(time.Millisecond)
			l.send(`{"p\u0061rams":{"x":1,"request\u0049d":1,"requestid":2},"method":"notifications\/c\u0061ncelled","jsonrpc":"2.0","X":[]}`)
			l.settle(time.Minute)
		})
	})
}

// TestEndOfInput: calls have a grace to finish, and what finishes is answered.
func TestEndOfInput(t *testing.T) {
	serveTime := func(l *link) time.Duration {
		start := time.Now()
		l.in.Close()
		if err := l.wait(); err != nil {
			l.t.Errorf("Serve returned %v", err)
		}
		return time.Since(start)
	}
	t.Run("with nothing in flight it is over at once", func(t *testing.T) {
		insideGates(t, Options{}, func(t *testing.T, l *link, g *gates) {
			l.send(toolCall("1", "echo", `{"text":"a"}`))
			l.settle(time.Second, textResult("1", "a"))
			if took := serveTime(l); took != 0 {
				t.Errorf("it took %v", took)
			}
		})
	})
	t.Run("calls have half a second", func(t *testing.T) {
		insideGates(t, Options{}, func(t *testing.T, l *link, g *gates) {
			l.send(toolCall("1", "sleep", `{"ms":300}`), toolCall("2", "sleep", `{"ms":499}`), toolCall("3", "sleep", `{"ms":501}`), toolCall("4", "sleep", `{"ms":9000}`))
			if took := serveTime(l); took > DefaultGrace+handOver || took < DefaultGrace-4*handOver {
				t.Errorf("it took %v", took)
			}
			compare(t, l.take(), []string{textResult("1", "slept 300 ms"), textResult("2", "slept 499 ms")})
		})
	})
	t.Run("it is over when the last of them is answered", func(t *testing.T) {
		insideGates(t, Options{}, func(t *testing.T, l *link, g *gates) {
			l.send(toolCall("1", "sleep", `{"ms":100}`))
			if took := serveTime(l); took > 100*time.Millisecond {
				t.Errorf("it took %v", took)
			}
			compare(t, l.take(), []string{textResult("1", "slept 100 ms")})
		})
	})
	t.Run("calls that wait have it too", func(t *testing.T) {
		insideGates(t, Options{MaxRunning: 1}, func(t *testing.T, l *link, g *gates) {
			var in, out []string
			for n := range 7 {
				id := strconv.Itoa(n)
				in = append(in, toolCall(id, "sleep", `{"ms":100}`))
				if n < 4 {
					out = append(out, textResult(id, "slept 100 ms"))
				}
			}
			l.send(in...)
			time.Sleep(time.Millisecond)
			serveTime(l)
			got := l.take()
			compare(t, got[:min(len(got), 4)], out)
			if len(got) > 5 {
				t.Errorf("%d answers in half a second", len(got))
			}
		})
	})
	t.Run("as long as the option says", func(t *testing.T) {
		insideGates(t, Options{Grace: time.Hour}, func(t *testing.T, l *link, g *gates) {
			l.send(toolCall("1", "sleep", `{"ms":20000}`))
			serveTime(l)
			compare(t, l.take(), []string{textResult("1", "slept 20000 ms")})
		})
		insideGates(t, Options{Grace: -1}, func(t *testing.T, l *link, g *gates) {
			l.send(toolCall("1", "sleep", `{"ms":10}`))
			l.settle(time.Millisecond)
			if took := serveTime(l); took != 0 {
				t.Errorf("it took %v", took)
			}
			compare(t, l.take(), nil)
		})
	})
	t.Run("then their contexts end, and what they say is dropped", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var ended time.Duration
			start := time.Now()
			s := withTool(t, testServer(t, Options{}), "hold", func(ctx context.Context, call *Call) (*Result, error) {
				<-ctx.Done()
				ended = time.Since(start)
				return Text("too late"), nil
			})
			l := dialInside(t, s, t.Context())
			l.send(toolCall("1", "hold", "{}"))
			time.Sleep(time.Second)
			start = time.Now()
			compare(t, l.end(), nil)
			synctest.Wait()
			if ended != DefaultGrace {
				t.Errorf("the context ended after %v", ended)
			}
		})
	})
	t.Run("a tool that takes no notice does not hold it up", func(t *testing.T) {
		insideGates(t, Options{}, func(t *testing.T, l *link, g *gates) {
			l.send(gateCall(1))
			time.Sleep(time.Second)
			if took := serveTime(l); took != DefaultGrace {
				t.Errorf("it took %v", took)
			}
			g.release(1)
			synctest.Wait()
			compare(t, l.take(), nil)
			compare(t, g.ended, []string{"1"})
		})
	})
	t.Run("subscriptions do not hold it up and get no word", func(t *testing.T) {
		insideGates(t, Options{}, func(t *testing.T, l *link, g *gates) {
			l.send(listenTo("1"), listenTo("2"))
			l.settleSorted(time.Second, ack("1"), ack("2"))
			if took := serveTime(l); took != 0 {
				t.Errorf("it took %v", took)
			}
			compare(t, l.take(), nil)
		})
	})
	t.Run("a last line without a newline is answered", func(t *testing.T) {
		s := testServer(t, Options{})
		compare(t, talkRaw(t, s, requestOf("1", "server/discover", "")), []string{discovered("1")})
		compare(t, talkRaw(t, s, toolCall("1", "echo", `{"text":"a"}`)), []string{textResult("1", "a")})
	})
	t.Run("half a line is answered too", func(t *testing.T) {
		s := testServer(t, Options{})
		compare(t, talkRaw(t, s, requestOf("1", "server/discover", "")+"\n{\"a"), []string{discovered("1"),
			failure("", -32700, "Parse error: not JSON, at byte 3: want the closing quote of a string")})
	})
	t.Run("nothing at all", func(t *testing.T) {
		compare(t, talkRaw(t, testServer(t, Options{}), ""), nil)
	})
	t.Run("a client that reads late gets everything", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := dialSilent(t, testServer(t, Options{}), t.Context())
			l.send(requestOf("1", "server/discover", ""), toolCall("2", "sleep", `{"ms":100}`), requestOf("3", "server/discover", ""))
			l.in.Close()
			time.Sleep(time.Hour)
			l.read()
			if err := l.wait(); err != nil {
				t.Error(err)
			}
			compare(t, l.take(), []string{discovered("1"), discovered("3"), textResult("2", "slept 100 ms")})
		})
	})
}

// TestContextEnds: when the serving context ends, calls end without a grace, and subscriptions get a word.
func TestContextEnds(t *testing.T) {
	t.Run("calls", func(t *testing.T) {
		insideGates(t, Options{}, func(t *testing.T, l *link, g *gates) {
			l.send(toolCall("1", "sleep", `{"ms":1000}`), gateCall(2))
			l.settle(time.Millisecond)
			start := time.Now()
			l.stop()
			if err := l.wait(); err != nil {
				t.Error(err)
			}
			if took := time.Since(start); took != 0 {
				t.Errorf("it took %v", took)
			}
			g.release(2)
			synctest.Wait()
			compare(t, l.take(), nil)
			compare(t, g.ended, []string{"2"})
		})
	})
	t.Run("calls that wait", func(t *testing.T) {
		insideGates(t, Options{MaxRunning: 1}, func(t *testing.T, l *link, g *gates) {
			l.send(gateCalls(1, 5)...)
			l.settle(time.Second)
			l.stop()
			l.wait()
			g.release(1)
			time.Sleep(time.Second)
			compare(t, g.running(), numbers(1, 1))
			compare(t, l.take(), nil)
		})
	})
	for _, grace := range []time.Duration{0, -1} {
		t.Run(fmt.Sprintf("subscriptions, with a grace of %d", grace), func(t *testing.T) {
			insideGates(t, Options{Grace: grace}, func(t *testing.T, l *link, g *gates) {
				ids := []string{"1", `"a"`, "1e1"}
				for _, id := range ids {
					l.send(listenTo(id))
					l.settle(time.Second, ack(id))
				}
				l.stop()
				if err := l.wait(); err != nil {
					t.Error(err)
				}
				got := l.take()
				for _, id := range ids {
					want := listenEnd(id)
					at := slices.Index(got, want[0])
					if at < 0 || at+1 >= len(got) || got[at+1] != want[1] {
						t.Errorf("no word to %s: %q", id, got)
					}
				}
				if len(got) != 2*len(ids) {
					t.Errorf("%d lines: %q", len(got), got)
				}
			})
		})
	}
	t.Run("a subscription that the client has cancelled gets none", func(t *testing.T) {
		insideGates(t, Options{}, func(t *testing.T, l *link, g *gates) {
			l.send(listenTo("1"), listenTo("2"))
			l.settleSorted(time.Second, ack("1"), ack("2"))
			l.send(cancelOf("1"))
			l.settle(time.Second)
			l.stop()
			l.wait()
			compare(t, l.take(), listenEnd("2"))
		})
	})
	t.Run("what has been answered is written", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s := withTool(t, testServer(t, Options{}), "stop", func(context.Context, *Call) (*Result, error) {
				cancel()
				return Text("stopped"), nil
			})
			l := dialInside(t, s, ctx)
			start := time.Now()
			l.send(requestOf("1", "server/discover", ""), toolCall("2", "echo", `{"text":"a"}`), toolCall("3", "stop", "{}"), requestOf("4", "server/discover", ""))
			l.wait()
			if took := time.Since(start); took != 0 {
				t.Errorf("it took %v", took)
			}
			got := l.take()
			compare(t, got[:min(len(got), 2)], []string{discovered("1"), textResult("2", "a")})
		})
	})
	t.Run("what comes after it does not run", func(t *testing.T) {
		insideGates(t, Options{}, func(t *testing.T, l *link, g *gates) {
			l.settle(time.Second)
			l.stop()
			l.wait()
			l.send(gateCall(1)) // the Read that was under way when serving ended
			synctest.Wait()
			compare(t, g.running(), nil)
			g.release(1)
		})
	})
	t.Run("before it begins", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			l := dialInside(t, testServer(t, Options{}), ctx)
			if err := l.wait(); err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("with a client that does not read it is over after the grace", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := dialSilent(t, testServer(t, Options{}), t.Context())
			l.send(listenTo("1"))
			time.Sleep(time.Second)
			start := time.Now()
			l.stop()
			if err := <-l.served; err != nil {
				t.Error(err)
			}
			if took := time.Since(start); took != DefaultGrace {
				t.Errorf("it took %v", took)
			}
		})
	})
}

// TestReadError: an error in reading is returned, after the grace that calls have at the end of input.
func TestReadError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		in := io.MultiReader(strings.NewReader(toolCall("1", "sleep", `{"ms":100}`)+"\n"+requestOf("2", "server/discover", "")), iotest.ErrReader(broken))
		var out bytes.Buffer
		start := time.Now()
		if err := testServer(t, Options{}).Serve(t.Context(), in, &out); err != broken {
			t.Errorf("Serve returned %v", err)
		}
		if took := time.Since(start); took != 100*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		compare(t, strings.Split(out.String(), "\n"), []string{discovered("2"), textResult("1", "slept 100 ms"), ""})
	})
}

// TestWriteError: a client that is gone ends serving at once, and without an error.
func TestWriteError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended time.Duration
		start := time.Now()
		s := withTool(t, testServer(t, Options{}), "hold", func(ctx context.Context, call *Call) (*Result, error) {
			<-ctx.Done()
			ended = time.Since(start)
			return nil, nil
		})
		l := dialSilent(t, s, t.Context())
		l.send(toolCall("1", "hold", "{}"), listenTo("2"))
		time.Sleep(time.Second)
		start = time.Now()
		l.out.Close() // the acknowledgment does not go out
		if err := <-l.served; err != nil {
			t.Errorf("Serve returned %v", err)
		}
		synctest.Wait()
		if took := time.Since(start); took != 0 || ended != 0 {
			t.Errorf("it took %v, and the call's context ended after %v", took, ended)
		}
	})
	t.Run("nothing is written after it", func(t *testing.T) {
		w := &failing{good: 1, err: os.ErrClosed}
		var in strings.Builder
		for n := range 10_000 {
			in.WriteString(requestOf(strconv.Itoa(n), "server/discover", "") + "\n")
		}
		if err := testServer(t, Options{}).Serve(t.Context(), strings.NewReader(in.String()), w); err != nil {
			t.Errorf("Serve returned %v", err)
		}
		if w.calls != 2 {
			t.Errorf("%d Writes", w.calls)
		}
	})
}

// TestPushBack: while the client does not read, the server stops reading; when it reads again, nothing is lost.
func TestPushBack(t *testing.T) {
	for _, row := range []struct{ rule, tool string }{
		{"answers of the reader's own", ""},
		{"fast calls", "echo"},
		{"slow calls", "slow"},
	} {
		t.Run(row.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const calls, size = 4000, 1 << 10
				text := strings.Repeat("x", size)
				s := withTool(t, testServer(t, Options{Instructions: text}), "slow", func(ctx context.Context, call *Call) (*Result, error) {
					time.Sleep(2 * handOver)
					return echo(ctx, call)
				})
				l := dialSilent(t, s, t.Context())
				sent := 0
				go func() {
					for n := range calls {
						line := toolCall(strconv.Itoa(n), row.tool, `{"text":"`+text+`"}`)
						if row.tool == "" {
							line = requestOf(strconv.Itoa(n), "server/discover", "")
						}
						l.send(line)
						sent++
					}
					l.in.Close()
				}()
				time.Sleep(time.Hour)
				synctest.Wait()
				// Beside the output that waits: a buffer's worth of requests, the calls that run, and those that wait.
				most := maxOutput/size + readSize/100
				if row.tool == "slow" {
					most += DefaultMaxRunning + maxWaiting
				}
				if sent > most {
					t.Errorf("%d requests of %d were read, want at most %d", sent, calls, most)
				}
				l.read()
				if err := l.wait(); err != nil {
					t.Error(err)
				}
				answers := make(map[string]int)
				for _, line := range l.take() {
					var answer struct{ ID json.Number }
					if err := json.Unmarshal([]byte(line), &answer); err != nil {
						t.Fatal(err)
					}
					answers[answer.ID.String()]++
				}
				for n := range calls {
					if answers[strconv.Itoa(n)] != 1 {
						t.Fatalf("%d answers to %d", answers[strconv.Itoa(n)], n)
					}
				}
			})
		})
	}
	t.Run("until the bound is reached it reads on", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ended := false
			s := withTool(t, emptyServer(Options{}), "hold", func(ctx context.Context, call *Call) (*Result, error) {
				<-ctx.Done()
				ended = true
				return nil, nil
			})
			l := dialSilent(t, s, t.Context())
			l.send(toolCall("1", "hold", "{}"), requestOf("2", "server/discover", ""))
			time.Sleep(time.Second) // an answer is on its way
			l.send(cancelOf("1"), requestOf("3", "server/discover", ""))
			time.Sleep(time.Second)
			synctest.Wait()
			if !ended {
				t.Error("the cancellation has not been read")
			}
			l.read()
			l.settle(time.Second, discovered("2"), discovered("3"))
		})
	})
	t.Run("a call that is cancelled while its answer waits is not answered", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := new(gates)
			s := withTool(t, withTool(t, testServer(t, Options{}), "gate", g.handle), "large", func(context.Context, *Call) (*Result, error) {
				return Text(strings.Repeat("x", 2*maxOutput)), nil
			})
			l := dialSilent(t, s, t.Context())
			l.send(gateCall(1), gateCall(2))
			time.Sleep(time.Second)
			l.send(toolCall("3", "large", "{}"), cancelOf("1"), cancelOf("9"))
			time.Sleep(time.Second) // the reader is in Write
			g.release(1, 2)         // 2 waits for room
			time.Sleep(time.Second)
			l.read()
			time.Sleep(time.Second)
			synctest.Wait()
			got := l.take()
			if len(got) != 2 || len(got[0]) < maxOutput || got[1] != textResult("2", "2") {
				t.Errorf("%d lines", len(got))
			}
		})
	})
}

// TestNothingLeftBehind: no goroutine outlives Serve but that of a tool that does not return.
func TestNothingLeftBehind(t *testing.T) {
	settled := func(want int) bool {
		for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			if runtime.NumGoroutine() <= want {
				return true
			}
		}
		return false
	}
	before := runtime.NumGoroutine()
	release := make(chan struct{})
	s := testServer(t, Options{Grace: 20 * time.Millisecond})
	withTool(t, s, "hold", hold)
	withTool(t, s, "stuck", func(context.Context, *Call) (*Result, error) {
		<-release
		return nil, nil
	})
	withTool(t, s, "panic", func(context.Context, *Call) (*Result, error) { panic("x") })
	withTool(t, s, "goexit", func(context.Context, *Call) (*Result, error) {
		runtime.Goexit()
		return nil, nil
	})
	lines := []string{listenTo(`"s1"`), listenTo(`"s2"`)}
	for n := range 200 {
		tool := []string{"hold", "panic", "goexit", "echo", "sleep"}[n%5]
		lines = append(lines, toolCall(strconv.Itoa(n), tool, `{"text":"a","ms":5}`))
	}
	for range 3 {
		talk(t, s, lines...)
	}
	if !settled(before) {
		t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
	}
	talk(t, s, toolCall("1", "stuck", "{}"), toolCall("2", "stuck", "{}"))
	if !settled(before + 2) {
		t.Errorf("%d goroutines before, %d while two tools do not return", before, runtime.NumGoroutine())
	}
	close(release)
	if !settled(before) {
		t.Errorf("%d goroutines before, %d after the tools have returned", before, runtime.NumGoroutine())
	}
}

// TestStress: thousands of calls answer, report progress, are cancelled and time out at random. Each is answered exactly
// once or, if cancelled, at most once, and nothing is written for it after its cancellation was read: which it was before
// the answer to a later request was written.
func TestStress(t *testing.T) {
	calls := 6000
	if testing.Short() {
		calls = 1000
	}
	for seed := range uint64(2) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { stress(t, calls, rand.New(rand.NewPCG(seed, 0))) })
	}
}

func stress(t *testing.T, calls int, random *rand.Rand) {
	s := withTool(t, testServer(t, Options{MaxRunning: 32}), "work", func(ctx context.Context, call *Call) (*Result, error) {
		var in struct {
			Steps  int
			Sleep  time.Duration
			Heed   bool
			Effect string
		}
		if err := json.Unmarshal(call.Arguments, &in); err != nil {
			return nil, err
		}
		for step := range in.Steps {
			call.Progress(float64(step), 0, "")
			time.Sleep(in.Sleep)
			if in.Heed && ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
		switch in.Effect {
		case "panic":
			panic("x")
		case "goexit":
			runtime.Goexit()
		case "fail":
			return nil, errors.New("x")
		}
		return Text("done"), nil
	})
	l := dial(t, s)
	type cancellation struct{ id, ping string }
	var cancelled []cancellation
	timeouts := make(chan string, calls)
	var timers sync.WaitGroup
	pings := 0
	ping := func(ids ...string) (lines []string) { // cancels, and asks for what proves that it was read
		name := fmt.Sprintf("ping %d", pings)
		pings++
		for _, id := range ids {
			lines = append(lines, cancelOf(id))
			cancelled = append(cancelled, cancellation{id, name})
		}
		return append(lines, requestOf(`"`+name+`"`, "server/discover", ""))
	}
	for n := range calls {
		id := strconv.Itoa(n)
		effect := []string{"", "", "", "", "", "fail", "panic", "goexit"}[random.IntN(8)]
		arguments := fmt.Sprintf(`{"steps":%d,"sleep":%d,"heed":%v,"effect":"%s"}`,
			random.IntN(4), random.IntN(int(time.Millisecond)), random.IntN(2) == 0, effect)
		lines := []string{`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"work","arguments":` + arguments +
			`,"_meta":{"MCP/protocolVersion":"2026-07-28","MCP/clientCapabilities":{},"progressToken":` + id + `}}}`}
		switch random.IntN(6) {
		case 0: // cancelled at once
			lines = append(lines, ping(id)...)
		case 1: // times out
			timers.Add(1)
			time.AfterFunc(time.Duration(random.IntN(int(3*time.Millisecond))), func() {
				timeouts <- id
				timers.Done()
			})
		case 2:
			lines = append(lines, toolCall(`"x`+id+`"`, "echo", `{"text":"a"}`), "nonsense", cancelOf(`"x`+id+`"`))
		}
		l.send(lines...)
		select {
		case id := <-timeouts:
			l.send(ping(id)...)
		default:
		}
	}
	timers.Wait()
	close(timeouts)
	for id := range timeouts {
		l.send(ping(id)...)
	}
	l.send(ping()...)
	// All is answered before the input ends, so that no call is cut off by the end of the grace.
	last := fmt.Sprintf(`"ping %d"`, pings-1)
	answers, answered := make(map[string]int), make(map[string]int) // how often, and at which line
	open := make(map[string]bool)
	for n := range calls {
		open[strconv.Itoa(n)] = true
	}
	for _, c := range cancelled {
		delete(open, c.id)
	}
	latest := make(map[string]int) // the last line of an id, an answer or progress
	for i := 0; len(open) > 0 || answers[last] == 0; i++ {
		line := l.next()
		if line == "" {
			t.Fatalf("the output ended with %d calls open", len(open))
		}
		var message struct {
			ID     json.RawMessage
			Params struct{ ProgressToken json.RawMessage }
		}
		if err := json.Unmarshal([]byte(line), &message); err != nil {
			t.Fatal(err)
		}
		id := string(message.ID)
		switch {
		case message.Params.ProgressToken != nil:
			id = string(message.Params.ProgressToken)
			if answers[id] > 0 {
				t.Errorf("progress of %s after its answer", id)
			}
		case message.ID == nil:
			continue // nonsense
		default:
			answers[id]++
			answered[id] = i
			delete(open, id)
		}
		latest[id] = i
	}
	for _, line := range l.end() {
		t.Errorf("a line after all has been answered: %s", line)
	}
	for n := range calls {
		if id := strconv.Itoa(n); answers[id] > 1 {
			t.Errorf("%d answers to %s", answers[id], id)
		}
	}
	late := 0
	for _, c := range cancelled {
		proof, ok := answered[`"`+c.ping+`"`]
		if !ok {
			t.Fatalf("%s is not answered", c.ping)
		}
		if at, ok := latest[c.id]; ok && at > proof {
			t.Errorf("a line for %s after its cancellation was read", c.id)
		}
		late += answers[c.id]
	}
	t.Logf("%d calls, %d cancelled, %d of them too late", calls, len(cancelled), late)
}

// TestCallContext: the context of a call is one of the kind that everybody expects.
func TestCallContext(t *testing.T) {
	type key struct{}
	var ctx context.Context
	var late error
	s := withTool(t, testServer(t, Options{}), "look", func(c context.Context, call *Call) (*Result, error) {
		ctx = c
		child, cancel := context.WithTimeout(c, time.Hour)
		defer cancel()
		stopped := make(chan struct{})
		context.AfterFunc(c, func() { close(stopped) })
		select {
		case <-child.Done():
		case <-time.After(time.Minute):
			late = child.Err()
			return Text("in time"), nil
		}
		<-stopped
		late = child.Err()
		return nil, late
	})
	inside := func(t *testing.T, test func(t *testing.T, l *link, cancel context.CancelCauseFunc)) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			ctx, late = nil, nil
			parent, cancel := context.WithCancelCause(context.WithValue(t.Context(), key{}, "value"))
			l := dialInside(t, s, parent)
			l.send(toolCall("1", "look", "{}"))
			l.settle(time.Second)
			if ctx.Err() != nil || ctx.Value(key{}) != "value" || fmt.Sprint(ctx) != "the context of a call" {
				t.Errorf("while it runs: %v, %v, %v", ctx.Err(), ctx.Value(key{}), ctx)
			}
			select {
			case <-ctx.Done():
				t.Error("done while it runs")
			default:
			}
			test(t, l, cancel)
			synctest.Wait()
			<-ctx.Done()
			<-ctx.Done() // again and again
			if ctx.Err() != context.Canceled || context.Cause(ctx) == nil {
				t.Errorf("afterwards: %v, %v", ctx.Err(), context.Cause(ctx))
			}
		})
	}
	t.Run("the call is cancelled", func(t *testing.T) {
		inside(t, func(t *testing.T, l *link, cancel context.CancelCauseFunc) {
			l.send(cancelOf("1"))
			l.settle(time.Second)
			if late != context.Canceled {
				t.Errorf("the child's error is %v", late)
			}
		})
	})
	t.Run("the call is over", func(t *testing.T) {
		inside(t, func(t *testing.T, l *link, cancel context.CancelCauseFunc) {
			l.settle(time.Hour, textResult("1", "in time"))
			if late != nil {
				t.Errorf("the child's error is %v", late)
			}
		})
	})
	t.Run("the input ends", func(t *testing.T) {
		inside(t, func(t *testing.T, l *link, cancel context.CancelCauseFunc) {
			compare(t, l.end(), nil)
			synctest.Wait()
			if late != context.Canceled {
				t.Errorf("the child's error is %v", late)
			}
		})
	})
	t.Run("serving ends", func(t *testing.T) {
		inside(t, func(t *testing.T, l *link, cancel context.CancelCauseFunc) {
			cancel(errors.New("enough"))
			l.wait()
			synctest.Wait()
			if late != context.Canceled {
				t.Errorf("the child's error is %v", late)
			}
		})
	})
	t.Run("the deadline is that of serving", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var deadline time.Time
			s := withTool(t, emptyServer(Options{}), "look", func(c context.Context, call *Call) (*Result, error) {
				deadline, _ = c.Deadline()
				<-c.Done()
				return nil, nil
			})
			want := time.Now().Add(10 * time.Second)
			parent, cancel := context.WithDeadline(t.Context(), want)
			defer cancel()
			l := dialInside(t, s, parent)
			l.send(toolCall("1", "look", "{}"))
			if err := l.wait(); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			if !deadline.Equal(want) || time.Since(want) != 0 {
				t.Errorf("the deadline is %v, want %v", deadline, want)
			}
		})
	})
}

// TestAnswersBeforeTheEnd: what has been answered when the context ends is written, at once.
func TestAnswersBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := emptyServer(Options{})
		withTool(t, s, "end", func(context.Context, *Call) (*Result, error) { cancel(); <-t.Context().Done(); return nil, nil })
		withTool(t, s, "echo", echo)
		lines := expand(strings.Repeat(toolCall("1", "echo", `{"text":"x"}`)+"\n", 20) + toolCall("2", "end", "{}") + "\n")
		in, stay := io.Pipe()
		defer stay.Close()
		var out strings.Builder
		start := time.Now()
		go stay.Write([]byte(lines))
		if err := s.Serve(ctx, in, &out); err != nil {
			t.Error(err)
		}
		if n := strings.Count(out.String(), "\n"); n != 20 || time.Since(start) >= maxFarewell {
			t.Errorf("%d answers after %v", n, time.Since(start))
		}
	})
}

// A gatedWriter lets one Write begin, and end when told to.
type gatedWriter struct {
	begun, end chan struct{}
	writes     atomic.Int32
}

func (w *gatedWriter) Write(p []byte) (int, error) {
	if w.writes.Add(1) == 1 {
		close(w.begun)
		<-w.end
	}
	return len(p), nil
}

// TestWriteThatEndsLate: nothing is written after Serve has returned, also where a Write was under way that ends later.
func TestWriteThatEndsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := &gatedWriter{begun: make(chan struct{}), end: make(chan struct{})}
		in, client := io.Pipe()
		defer client.Close()
		go func() {
			client.Write([]byte("x\n"))
			<-w.begun
			client.Write([]byte("y\n"))
			time.Sleep(time.Second)
			cancel()
		}()
		if err := emptyServer(Options{}).Serve(ctx, in, w); err != nil {
			t.Error(err)
		}
		close(w.end)
		synctest.Wait()
		if n := w.writes.Load(); n != 1 {
			t.Errorf("%d writes", n)
		}
	})
}

// shortWriter takes all but the last byte, and says nothing of it.
type shortWriter struct{}

func (shortWriter) Write(p []byte) (int, error) { return len(p) - 1, nil }

// TestShortWrite: a stream that takes less than it was given has failed.
func TestShortWrite(t *testing.T) {
	w := NewWriter(shortWriter{})
	if err := w.WriteFrame([]byte("x")); err != io.ErrShortWrite {
		t.Errorf("the error is %v", err)
	}
}

// TestEndOfInputWithoutReader: the grace of calls does not run while the client does not read; all are answered when it does.
func TestEndOfInputWithoutReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withTool(t, emptyServer(Options{MaxRunning: 4}), "long", func(context.Context, *Call) (*Result, error) {
			time.Sleep(time.Millisecond)
			return Text(strings.Repeat("x", 300_000)), nil
		})
		var lines strings.Builder
		for n := range 40 {
			lines.WriteString(toolCall(strconv.Itoa(n), "long", "{}") + "\n")
		}
		out, w := io.Pipe()
		go func() {
			if err := s.Serve(t.Context(), strings.NewReader(expand(lines.String())), w); err != nil {
				t.Error(err)
			}
			w.Close()
		}()
		time.Sleep(10 * DefaultGrace)
		all, err := io.ReadAll(out)
		if n := bytes.Count(all, []byte("\n")); err != nil || n != 40 {
			t.Errorf("%d answers, error %v", n, err)
		}
	})
}

// unspeakable ends the goroutine of whoever prints it.
type unspeakable struct{}

func (unspeakable) Error() string { runtime.Goexit(); return "" }

// TestPanicThatCannotBePrinted: a call is answered, and its place is free, also where what its tool panics with cannot be logged.
func TestPanicThatCannotBePrinted(t *testing.T) {
	s := withTool(t, emptyServer(Options{MaxRunning: 1, Log: log.New(io.Discard, "", 0)}), "evil", func(context.Context, *Call) (*Result, error) {
		panic(unspeakable{})
	})
	internal := failure("1", -32603, "Internal error")
	for range 3 {
		compare(t, talk(t, s, toolCall("1", "evil", "{}")), []string{internal})
	}
}

// stuckLog is a log that nobody reads.
type stuckLog struct{ until chan struct{} }

func (w stuckLog) Write(p []byte) (int, error) { <-w.until; return len(p), nil }

// TestLogThatNobodyReads: a log that takes nothing costs what it would have said, not the calls.
func TestLogThatNobodyReads(t *testing.T) {
	stuck := stuckLog{make(chan struct{})}
	defer close(stuck.until)
	s := withTool(t, emptyServer(Options{MaxRunning: 2 * maxLogging, Log: log.New(stuck, "", 0)}), "boom", func(context.Context, *Call) (*Result, error) {
		panic("!")
	})
	var in, out []string
	for n := range maxLogging + 6 { // the last of which find no place in it
		in, out = append(in, toolCall(strconv.Itoa(n), "boom", "{}")), append(out, failure(strconv.Itoa(n), -32603, "Internal error"))
	}
	compareSorted(t, talk(t, s, in...), out)
}
