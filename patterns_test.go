package mcp

// patterns_test.go: progress, questions to the client, state that comes back, and subscriptions.

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func progressCall(id, token, arguments string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"work","arguments":` + arguments +
		`,"_meta":{"MCP/protocolVersion":"2026-07-28","MCP/clientCapabilities":{},"progressToken":` + token + `}}}`
}

func progressOf(token, rest string) string {
	return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,"progress":` + rest + `}}`
}

// working is a link to a server with the one tool work, for use inside a bubble.
func working(t *testing.T, handler Handler) *link {
	t.Helper()
	return dialInside(t, withTool(t, emptyServer(Options{}), "work", handler), t.Context())
}

func TestProgress(t *testing.T) {
	t.Run("the token goes back byte for byte", func(t *testing.T) {
		for _, token := range []string{
			`0`, `-0`, `1.0`, `1e2`, `""`, `"a"`, `"0"`, `"\u0061"`, `"\ud800"`, `9007199254740993`, `1234567890123456789012345678901234567890`,
			"\"\u2028\"", `"` + strings.Repeat("x", 1000) + `"`,
		} {
			synctest.Test(t, func(t *testing.T) {
				l := working(t, func(ctx context.Context, call *Call) (*Result, error) {
					call.Progress(1, 2, "m")
					return Text("done"), nil
				})
				l.send(progressCall("1", token, "{}"))
				l.settle(time.Second, progressOf(token, `1,"total":2,"message":"m"`), textResult("1", "done"))
			})
		}
	})
	t.Run("without a token there is none", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := working(t, func(ctx context.Context, call *Call) (*Result, error) {
				call.Progress(1, 2, "m")
				time.Sleep(time.Second)
				call.Progress(2, 2, "m")
				return Text("done"), nil
			})
			l.send(toolCall("1", "work", "{}"))
			l.settle(time.Minute, textResult("1", "done"))
		})
	})
	t.Run("without a token it costs nothing", func(t *testing.T) {
		skipUnderRace(t)
		s := withTool(t, emptyServer(Options{}), "work", func(ctx context.Context, call *Call) (*Result, error) {
			if n := testing.AllocsPerRun(100, func() { call.Progress(1, 2, "m") }); n > 0 {
				t.Errorf("%v allocations", n)
			}
			return Text("done"), nil
		})
		ask(t, s, toolCall("1", "work", "{}"))
	})
	t.Run("upwards only", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := working(t, func(ctx context.Context, call *Call) (*Result, error) {
				for _, value := range []float64{-5, -6, -5, math.NaN(), math.Inf(-1), 0, math.Copysign(0, -1), 0, 0.5, 0.25, math.Inf(1), 1, math.NaN(), 1, 1e21, 3, 1.5e300} {
					call.Progress(value, 0, "")
					time.Sleep(progressInterval)
				}
				return Text("done"), nil
			})
			l.send(progressCall("1", "7", "{}"))
			l.settle(time.Minute, progressOf("7", "-5"), progressOf("7", "0"), progressOf("7", "0.5"), progressOf("7", "1"),
				progressOf("7", "1e+21"), progressOf("7", "1.5e+300"), textResult("1", "done"))
		})
	})
	t.Run("the least value there is, too", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := working(t, func(ctx context.Context, call *Call) (*Result, error) {
				call.Progress(-math.MaxFloat64, 0, "")
				time.Sleep(progressInterval)
				call.Progress(math.MaxFloat64, 0, "")
				return Text("done"), nil
			})
			l.send(progressCall("1", "7", "{}"))
			l.settle(time.Minute, progressOf("7", "-1.7976931348623157e+308"), progressOf("7", "1.7976931348623157e+308"), textResult("1", "done"))
		})
	})
	t.Run("a total that is none is left out", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := working(t, func(ctx context.Context, call *Call) (*Result, error) {
				for i, total := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), 0.001} {
					call.Progress(float64(i), total, "<\u2028\xff>")
					time.Sleep(progressInterval)
				}
				return Text("done"), nil
			})
			l.send(progressCall("1", "7", "{}"))
			message := `,"message":"<\u2028` + "\uFFFD" + `>"`
			l.settle(time.Minute, progressOf("7", "0"+message), progressOf("7", "1"+message), progressOf("7", "2"+message),
				progressOf("7", "3"+message), progressOf("7", "4"+message), progressOf("7", `5,"total":0.001`+message), textResult("1", "done"))
		})
	})
	t.Run("every 20 ms, and the newest value then", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := working(t, func(ctx context.Context, call *Call) (*Result, error) {
				for i := range 100 { // one each millisecond
					call.Progress(float64(i), 0, "")
					time.Sleep(time.Millisecond)
				}
				time.Sleep(time.Second)
				return Text("done"), nil
			})
			start := time.Now()
			l.send(progressCall("1", "7", "{}"))
			time.Sleep(time.Minute)
			got := l.takeTimed()
			// The value and the timer of one millisecond come in either order.
			at := []time.Duration{0, 20, 40, 60, 80, 100}
			if len(got) != len(at)+1 {
				t.Fatalf("%d lines", len(got))
			}
			last := -1.0
			for i, wait := range at {
				var message struct{ Params struct{ Progress float64 } }
				json.Unmarshal([]byte(got[i].line), &message)
				value := message.Params.Progress
				if passed := got[i].at.Sub(start); passed != wait*time.Millisecond || value < float64(min(99, wait-1)) || value > float64(wait) || value <= last {
					t.Errorf("%v after %v, want about %d after %d ms", value, passed, wait, wait)
				}
				last = value
			}
			if last != 99 {
				t.Errorf("the last value is %v", last)
			}
		})
	})
	t.Run("what waits is sent when it is due", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := working(t, func(ctx context.Context, call *Call) (*Result, error) {
				call.Progress(1, 0, "")
				call.Progress(2, 0, "")
				time.Sleep(time.Hour)
				call.Progress(3, 0, "") // at once, since the last was long ago
				call.Progress(4, 0, "")
				time.Sleep(time.Hour)
				return Text("done"), nil
			})
			start := time.Now()
			l.send(progressCall("1", "7", "{}"))
			time.Sleep(3 * time.Hour)
			got := l.takeTimed()
			for i, at := range []time.Duration{0, progressInterval, time.Hour, time.Hour + progressInterval, 2 * time.Hour} {
				if len(got) != 5 || got[i].at.Sub(start) != at {
					t.Fatalf("line %d of %d, want it after %v", i, len(got), at)
				}
			}
		})
	})
	t.Run("what waits is sent before the response, and nothing after it", func(t *testing.T) {
		for _, row := range []struct {
			rule string
			end  func() (*Result, error)
			last string
		}{
			{"a result", func() (*Result, error) { return Text("done"), nil }, textResult("1", "done")},
			{"an error", func() (*Result, error) { return nil, &Error{Code: 1, Message: "no"} }, failure("1", 1, "no")},
			{"a panic", func() (*Result, error) { panic("x") }, failure("1", -32603, "Internal error")},
		} {
			synctest.Test(t, func(t *testing.T) {
				var late *Call
				l := working(t, func(ctx context.Context, call *Call) (*Result, error) {
					late = call
					call.Progress(1, 0, "")
					call.Progress(2, 0, "")
					call.Progress(3, 0, "")
					return row.end()
				})
				l.send(progressCall("1", "7", "{}"))
				l.settle(0, progressOf("7", "1"), progressOf("7", "3"), row.last)
				late.Progress(4, 0, "")
				l.settle(time.Minute)
			})
		}
	})
	t.Run("two calls do not wait for each other", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := working(t, func(ctx context.Context, call *Call) (*Result, error) {
				call.Progress(1, 0, "")
				time.Sleep(time.Second)
				return Text("done"), nil
			})
			l.send(progressCall("1", "7", "{}"), progressCall("2", `"7"`, "{}"))
			l.settle(10*time.Millisecond, progressOf("7", "1"), progressOf(`"7"`, "1"))
			l.settleSorted(time.Minute, textResult("1", "done"), textResult("2", "done"))
		})
	})
	t.Run("a client that reads late gets the newest value, and the response last", func(t *testing.T) {
		for range 8 { // there is an order to get wrong
			synctest.Test(t, func(t *testing.T) {
				s := withTool(t, emptyServer(Options{}), "work", func(ctx context.Context, call *Call) (*Result, error) {
					call.Progress(1, 0, "")
					call.Progress(2, 0, "") // is due while the client does not read
					time.Sleep(time.Second)
					return Text("done"), nil
				})
				withTool(t, s, "large", func(ctx context.Context, call *Call) (*Result, error) {
					time.Sleep(10 * time.Millisecond)
					return Text(strings.Repeat("x", 2*maxOutput)), nil
				})
				inside := make(chan struct{})
				l := dialSilent(t, s, t.Context())
				go func() { // reads the first progress alone
					buf := make([]byte, len(expand(progressOf("7", "1")))+1)
					l.out.Read(buf)
					close(inside)
				}()
				l.send(toolCall(`"l"`, "large", "{}"), progressCall("1", "7", "{}"))
				<-inside
				time.Sleep(time.Minute)
				l.read()
				time.Sleep(time.Minute)
				got := l.take()
				got = slices.DeleteFunc(got, func(line string) bool { return len(line) > maxOutput })
				compare(t, got, []string{progressOf("7", "2"), textResult("1", "done")})
			})
		}
	})
}

// withCapabilities is a tools/call of a client that has these capabilities.
func withCapabilities(id, tool, capabilities, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `"` + params +
		`,"_meta":{"MCP/protocolVersion":"2026-07-28","MCP/clientCapabilities":` + capabilities + `}}}`
}

const everyCapability = `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{}}`

var nameForm = MustForm("Your name?", `{"type":"object","properties":{"name":{"type":"string","minLength":1}},"required":["name"]}`)

const nameQuestion = `{"method":"elicitation/create","params":{"mode":"form","message":"Your name?","requestedSchema":` +
	`{"type":"object","properties":{"name":{"type":"string","minLength":1}},"required":["name"]}}}`

// inputRequired is the answer that asks.
func inputRequired(id, members string) string {
	return success(id, `{"resultType":"input_required",`+members+`,`+standardInfo+`}`)
}

// TestInputRequired: what a handler may ask, and what the client gets.
func TestInputRequired(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	elicit := func(key, params string) InputRequest {
		return InputRequest{Key: key, Method: "elicitation/create", Params: raw(params)}
	}
	const url = `{"mode":"url","message":"m","url":"https://example.com/a"}`
	const sample = `{"messages":[],"maxTokens":10}`
	internal := failure("1", -32603, "Internal error")
	missing := func(capabilities string) string {
		return failure("1", -32021, "Missing required client capability", `{"requiredCapabilities":`+capabilities+`}`)
	}
	for _, row := range []struct {
		rule         string
		question     InputRequired
		capabilities string
		wire         string
	}{
		{"a form", InputRequired{Requests: []InputRequest{nameForm.Request("name")}}, everyCapability, inputRequired("1", `"inputRequests":{"name":`+nameQuestion+`}`)},
		{"state alone", InputRequired{State: "s\u2028"}, `{}`, inputRequired("1", `"requestState":"s\u2028"`)},
		{"both", InputRequired{Requests: []InputRequest{nameForm.Request("")}, State: "s"}, everyCapability, inputRequired("1", `"inputRequests":{"":`+nameQuestion+`},"requestState":"s"`)},
		{"each kind, in their order", InputRequired{Requests: []InputRequest{
			{Key: "b", Method: "roots/list"}, elicit("a", url), {Key: "\"c\u2028", Method: "sampling/createMessage", Params: raw(` { "maxTokens" : 10, "messages":[ ] } `)},
			{Key: "d", Method: "roots/list", Params: raw(`{}`)},
		}}, everyCapability, inputRequired("1", `"inputRequests":{"b":{"method":"roots/list","params":{}},"a":{"method":"elicitation/create","params":`+url+`},`+
			`"\"c\u2028":{"method":"sampling/createMessage","params":{"maxTokens":10,"messages":[]}},"d":{"method":"roots/list","params":{}}}`)},
		{"a form with no mode", InputRequired{Requests: []InputRequest{elicit("a", `{"message":"m","requestedSchema":{"type":"object","properties":{}}}`)}}, `{"elicitation":{}}`,
			inputRequired("1", `"inputRequests":{"a":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}}`)},

		{"forms are allowed by {}", InputRequired{Requests: []InputRequest{nameForm.Request("name")}}, `{"elicitation":{}}`, inputRequired("1", `"inputRequests":{"name":`+nameQuestion+`}`)},
		{"forms are allowed by form", InputRequired{Requests: []InputRequest{nameForm.Request("name")}}, `{"elicitation":{"form":{}}}`, inputRequired("1", `"inputRequests":{"name":`+nameQuestion+`}`)},
		{"and by something unknown beside nothing", InputRequired{Requests: []InputRequest{nameForm.Request("name")}}, `{"elicitation":{"x":{}}}`, inputRequired("1", `"inputRequests":{"name":`+nameQuestion+`}`)},
		{"forms are not allowed by url", InputRequired{Requests: []InputRequest{nameForm.Request("name")}}, `{"elicitation":{"url":{}}}`, missing(`{"elicitation":{"form":{}}}`)},
		{"forms are not allowed by nothing", InputRequired{Requests: []InputRequest{nameForm.Request("name")}}, `{"sampling":{},"roots":{}}`, missing(`{"elicitation":{"form":{}}}`)},
		{"pages are allowed by url", InputRequired{Requests: []InputRequest{elicit("a", url)}}, `{"elicitation":{"url":{}}}`, inputRequired("1", `"inputRequests":{"a":{"method":"elicitation/create","params":`+url+`}}`)},
		{"pages are not allowed by {}", InputRequired{Requests: []InputRequest{elicit("a", url)}}, `{"elicitation":{}}`, missing(`{"elicitation":{"url":{}}}`)},
		{"pages are not allowed by form", InputRequired{Requests: []InputRequest{elicit("a", url)}}, `{"elicitation":{"form":{}}}`, missing(`{"elicitation":{"url":{}}}`)},
		{"sampling", InputRequired{Requests: []InputRequest{{Key: "a", Method: "sampling/createMessage", Params: raw(sample)}}}, `{"sampling":{}}`,
			inputRequired("1", `"inputRequests":{"a":{"method":"sampling/createMessage","params":`+sample+`}}`)},
		{"no sampling", InputRequired{Requests: []InputRequest{{Key: "a", Method: "sampling/createMessage", Params: raw(sample)}}}, `{"elicitation":{}}`, missing(`{"sampling":{}}`)},
		{"sampling with tools is more", InputRequired{Requests: []InputRequest{{Key: "a", Method: "sampling/createMessage", Params: raw(`{"messages":[],"maxTokens":1,"tools":[]}`)}}}, `{"sampling":{}}`, missing(`{"sampling":{"tools":{}}}`)},
		{"roots", InputRequired{Requests: []InputRequest{{Key: "a", Method: "roots/list"}}}, `{"roots":{}}`, inputRequired("1", `"inputRequests":{"a":{"method":"roots/list","params":{}}}`)},
		{"no roots", InputRequired{Requests: []InputRequest{{Key: "a", Method: "roots/list"}}}, `{}`, missing(`{"roots":{}}`)},
		{"all that is missing is named", InputRequired{Requests: []InputRequest{nameForm.Request("a"), elicit("b", url), {Key: "c", Method: "roots/list"}, {Key: "d", Method: "sampling/createMessage", Params: raw(sample)}}},
			`{}`, missing(`{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`)},
		{"and no more than that", InputRequired{Requests: []InputRequest{nameForm.Request("a"), {Key: "c", Method: "roots/list"}}, State: "s"}, `{"elicitation":{}}`, missing(`{"roots":{}}`)},

		{"neither question nor state", InputRequired{}, everyCapability, internal},
		{"a method that is none of these", InputRequired{Requests: []InputRequest{{Key: "a", Method: "ping"}}}, everyCapability, internal},
		{"two with one key", InputRequired{Requests: []InputRequest{{Key: "a", Method: "roots/list"}, {Key: "a", Method: "roots/list"}}}, everyCapability, internal},
		{"two whose keys would leave as one", InputRequired{Requests: []InputRequest{{Key: "\xff", Method: "roots/list"}, {Key: "\xfe", Method: "roots/list"}}}, everyCapability, internal},
		{"params that are not JSON", InputRequired{Requests: []InputRequest{elicit("a", `{`)}}, everyCapability, internal},
		{"params that are no object", InputRequired{Requests: []InputRequest{{Key: "a", Method: "roots/list", Params: raw(`[]`)}}}, everyCapability, internal},
		{"a form without a schema", InputRequired{Requests: []InputRequest{elicit("a", `{"message":"m"}`)}}, everyCapability, internal},
		{"a form without a message", InputRequired{Requests: []InputRequest{elicit("a", `{"requestedSchema":{"type":"object","properties":{}}}`)}}, everyCapability, internal},
		{"a form of a schema that is not flat", InputRequired{Requests: []InputRequest{elicit("a", `{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"object"}}}}`)}}, everyCapability, internal},
		{"a page without a url", InputRequired{Requests: []InputRequest{elicit("a", `{"mode":"url","message":"m"}`)}}, everyCapability, internal},
		{"a page whose url is none", InputRequired{Requests: []InputRequest{elicit("a", `{"mode":"url","message":"m","url":"not a url"}`)}}, everyCapability, internal},
		{"a mode that is none", InputRequired{Requests: []InputRequest{elicit("a", `{"mode":"x","message":"m","url":"https://example.com"}`)}}, everyCapability, internal},
		{"sampling without messages", InputRequired{Requests: []InputRequest{{Key: "a", Method: "sampling/createMessage", Params: raw(`{"maxTokens":1}`)}}}, everyCapability, internal},
		{"sampling without params", InputRequired{Requests: []InputRequest{{Key: "a", Method: "sampling/createMessage"}}}, everyCapability, internal},
	} {
		t.Run(row.rule, func(t *testing.T) {
			s := withTool(t, emptyServer(Options{}), "ask", func(context.Context, *Call) (*Result, error) { return nil, &row.question })
			compare(t, talk(t, s, withCapabilities("1", "ask", row.capabilities, "")), []string{row.wire})
			withTool(t, s, "wrapped", func(context.Context, *Call) (*Result, error) {
				return Text("unused"), fmt.Errorf("wrapped: %w", &row.question)
			})
			compare(t, talk(t, s, withCapabilities("1", "wrapped", row.capabilities, "")), []string{row.wire})
		})
	}
	t.Run("a tool with an output schema may ask", func(t *testing.T) {
		s := emptyServer(Options{})
		s.AddTool(Tool{Name: "ask", OutputSchema: raw(`{"type":"object"}`)}, func(context.Context, *Call) (*Result, error) { return nil, &InputRequired{State: "s"} })
		compare(t, talk(t, s, toolCall("1", "ask", "{}")), []string{inputRequired("1", `"requestState":"s"`)})
	})
}

// TestAnswers: what comes back with the next call. No earlier round is needed for answers to count.
func TestAnswers(t *testing.T) {
	requests := []InputRequest{
		nameForm.Request("form"),
		{Key: "sample", Method: "sampling/createMessage", Params: json.RawMessage(`{"messages":[],"maxTokens":1}`)},
		{Key: "roots", Method: "roots/list"},
	}
	questions := `"inputRequests":{"form":` + nameQuestion + `,"sample":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}},"roots":{"method":"roots/list","params":{}}}`
	s := withTool(t, emptyServer(Options{}), "ask", func(ctx context.Context, call *Call) (*Result, error) {
		answers, err := call.Ask(requests...)
		if err != nil {
			return nil, err
		}
		var all []string
		for _, answer := range answers {
			all = append(all, string(answer))
		}
		return Text(strings.Join(all, " ")), nil
	})
	const form, sample, roots = `"form":{"action":"decline"}`, `"sample":{"role":"assistant","content":{"type":"text","text":"a"},"model":"m"}`, `"roots":{"roots":[{"uri":"file:///a"}]}`
	all := textResult("1", `{"action":"decline"} {"role":"assistant","content":{"type":"text","text":"a"},"model":"m"} {"roots":[{"uri":"file:///a"}]}`)
	again := inputRequired("1", questions)
	for _, row := range []struct{ rule, responses, wire string }{
		{"no answers", ``, again},
		{"answers that are empty", `{}`, again},
		{"all of them", `{` + form + `,` + sample + `,` + roots + `}`, all},
		{"in another order, with others among them", `{"x":1,` + roots + `,"FORM":{},` + sample + `,"y":{"action":"accept"},` + form + `}`, all},
		{"with the names written with escapes", `{"f\u006frm":{"action":"decline"},` + sample + `,` + roots + `}`, all},
		{"one is missing, and all are asked again", `{` + form + `,` + roots + `}`, again},
		{"answers not an object", `[]`, failure("1", -32602, "Invalid params: inputResponses: expected an object, got an array")},
		{"answers null", `null`, failure("1", -32602, "Invalid params: inputResponses: expected an object, got null; leave it out")},
	} {
		t.Run(row.rule, func(t *testing.T) {
			params := ""
			if row.responses != "" {
				params = `,"inputResponses":` + row.responses
			}
			compare(t, talk(t, s, withCapabilities("1", "ask", everyCapability, params)), []string{row.wire})
		})
	}
	t.Run("an answer that is not of its kind", func(t *testing.T) {
		for _, wrong := range []string{
			`"form":null`, `"form":"accept"`, `"form":{}`, `"form":{"action":"agree"}`, `"form":{"action":null}`, `"form":{"action":"Accept"}`,
			`"form":{"action":"accept","content":[]}`, `"form":{"action":"decline","content":null}`,
			`"sample":[]`, `"sample":{}`, `"sample":{"role":"robot","content":{},"model":"m"}`, `"sample":{"role":"user","content":"a","model":"m"}`, `"sample":{"role":"user","content":{}}`,
			`"roots":{}`, `"roots":{"roots":{}}`, `"roots":{"roots":[{}]}`, `"roots":{"roots":["file:///a"]}`, `"roots":[]`,
		} {
			got := ask(t, s, withCapabilities("1", "ask", everyCapability, `,"inputResponses":{`+wrong+`}`))
			key, _, _ := strings.Cut(wrong[1:], `"`)
			if want := `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: inputResponses/` + key; !strings.HasPrefix(got, want) || len(got) > 400 {
				t.Errorf("%s: %s", wrong, got)
			}
		}
		long := ask(t, s, withCapabilities("1", "ask", everyCapability, `,"inputResponses":{"form":{"action":"`+strings.Repeat("x", 100_000)+`"}}`))
		if len(long) > 400 || !strings.Contains(long, "-32602") {
			t.Errorf("%d bytes: %.300s", len(long), long)
		}
	})
	t.Run("a question that one answer makes needless is not asked", func(t *testing.T) {
		got := ask(t, s, withCapabilities("1", "ask", `{}`, `,"inputResponses":{`+form+`,`+sample+`,`+roots+`}`))
		if got != all {
			t.Error(got)
		}
	})
}

// TestDecodeAnswer: an answer is decoded as arguments are.
func TestDecodeAnswer(t *testing.T) {
	form := MustForm("m", `{"type":"object","properties":{"n":{"type":"integer"}}}`)
	var content struct {
		N int `json:"n"`
	}
	answer := ElicitResult{Accept, json.RawMessage(`{"n":3.0,"N":4}`), form}
	if err := answer.Decode(&content); err != nil || content.N != 3 {
		t.Error(content.N, err)
	}
	answer.Content = json.RawMessage(`{"n":1e40}`)
	if err := answer.Decode(&content); err == nil || !strings.HasPrefix(err.Error(), "/n: ") {
		t.Error(err)
	}
}

// TestElicit: a form is accepted, declined or cancelled, and asked again where the answer does not fit it.
func TestElicit(t *testing.T) {
	s := withTool(t, emptyServer(Options{}), "greet", func(ctx context.Context, call *Call) (*Result, error) {
		answer, err := call.Elicit("name", nameForm)
		if err != nil {
			return nil, err
		}
		var content struct{ Name string }
		err = answer.Decode(&content)
		return Text(fmt.Sprintf("%s %s %v %v", answer.Action, content.Name, string(answer.Content), err)), nil
	})
	const notFilled = "the user has not filled in the form"
	question := inputRequired("1", `"inputRequests":{"name":`+nameQuestion+`}`)
	for _, row := range []struct{ rule, responses, wire string }{
		{"not asked yet", `{}`, question},
		{"accepted", `{"name":{"action":"accept","content":{"name":"Ada"}}}`, textResult("1", `accept Ada {"name":"Ada"} <nil>`)},
		{"accepted, with escapes", `{"n\u0061me":{"\u0061ction":"acc\u0065pt","cont\u0065nt":{"n\u0061me":"Ad\u0061"}}}`, textResult("1", `accept Ada {"n\u0061me":"Ad\u0061"} <nil>`)},
		{"accepted, with more beside it", `{"name":{"action":"accept","content":{"name":"Ada","NAME":"Eve"},"_meta":{}}}`, textResult("1", `accept Ada {"name":"Ada","NAME":"Eve"} <nil>`)},
		{"accepted without content", `{"name":{"action":"accept"}}`, question},
		{"accepted with a member missing", `{"name":{"action":"accept","content":{}}}`, question},
		{"accepted with a value that does not fit", `{"name":{"action":"accept","content":{"name":""}}}`, question},
		{"accepted with a value of another type", `{"name":{"action":"accept","content":{"name":7}}}`, question},
		{"declined", `{"name":{"action":"decline"}}`, textResult("1", `decline   `+notFilled)},
		{"cancelled", `{"name":{"action":"cancel"}}`, textResult("1", `cancel   `+notFilled)},
	} {
		t.Run(row.rule, func(t *testing.T) {
			compare(t, talk(t, s, withCapabilities("1", "greet", `{"elicitation":{}}`, `,"inputResponses":`+row.responses)), []string{row.wire})
		})
	}
	t.Run("content beside a refusal does not count", func(t *testing.T) {
		got := ask(t, s, withCapabilities("1", "greet", `{"elicitation":{}}`, `,"inputResponses":{"name":{"action":"decline","content":{"name":"Ada"}}}`))
		if !strings.Contains(got, `"text":"decline `) || !strings.Contains(got, notFilled) {
			t.Error(got)
		}
	})
	t.Run("a client that cannot", func(t *testing.T) {
		compare(t, talk(t, s, toolCall("1", "greet", "{}")),
			[]string{failure("1", -32021, "Missing required client capability", `{"requiredCapabilities":{"elicitation":{"form":{}}}}`)})
	})
}

// TestNewForm: a form is flat: an object of strings, numbers, booleans and choices.
func TestNewForm(t *testing.T) {
	for _, row := range []struct {
		rule, schema string
		good         bool
	}{
		{"nothing to fill in", `{"type":"object","properties":{}}`, true},
		{"a text", `{"type":"object","properties":{"a":{"type":"string","title":"t","description":"d","minLength":3,"maxLength":50,"format":"email","default":"a@b"}}}`, true},
		{"numbers", `{"type":"object","properties":{"a":{"type":"number","minimum":0.5,"maximum":1e3,"default":1},"b":{"type":"integer"}},"required":["a"]}`, true},
		{"a boolean", `{"type":"object","properties":{"a":{"type":"boolean","default":false}}}`, true},
		{"one of several", `{"type":"object","properties":{"a":{"type":"string","enum":["x","y"],"default":"x"}}}`, true},
		{"one of several with titles", `{"type":"object","properties":{"a":{"type":"string","oneOf":[{"const":"x","title":"X"}]}}}`, true},
		{"some of several", `{"type":"object","properties":{"a":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["x"]},"default":["x"]}}}`, true},
		{"some of several with titles", `{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]}}}}`, true},
		{"with a dialect", `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{}}`, true},
		{"no properties", `{"type":"object"}`, false},
		{"not an object", `{"type":"string"}`, false},
		{"not a schema", `{"type":"objekt","properties":{}}`, false},
		{"not JSON", `{`, false},
		{"an object inside", `{"type":"object","properties":{"a":{"type":"object"}}}`, false},
		{"an array of objects", `{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}}}}`, false},
		{"an array of any texts", `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}`, false},
		{"a value of any type", `{"type":"object","properties":{"a":{}}}`, false},
		{"a value of two types", `{"type":"object","properties":{"a":{"type":["string","null"]}}}`, false},
		{"a pattern", `{"type":"object","properties":{"a":{"type":"string","pattern":"x"}}}`, false},
		{"a format that is none of the four", `{"type":"object","properties":{"a":{"type":"string","format":"uuid"}}}`, false},
		{"a reference", `{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}`, false},
		{"additionalProperties", `{"type":"object","properties":{},"additionalProperties":false}`, false},
		{"a number with a length", `{"type":"object","properties":{"a":{"type":"number","minLength":1}}}`, false},
		{"a number of several", `{"type":"object","properties":{"a":{"type":"number","oneOf":[{"const":"x","title":"X"}]}}}`, false},
		{"a choice that is no text", `{"type":"object","properties":{"a":{"type":"string","oneOf":[{"const":1,"title":"x"}]}}}`, false},
		{"choices that are no texts", `{"type":"object","properties":{"a":{"type":"string","enum":[1,{}]}}}`, false},
		{"a choice with more to it", `{"type":"object","properties":{"a":{"type":"string","oneOf":[{"const":"x","title":"x","properties":{}}]}}}`, false},
		{"a default of another type", `{"type":"object","properties":{"a":{"type":"string","default":5}}}`, false},
		{"a boolean of several", `{"type":"object","properties":{"a":{"type":"boolean","enum":[true]}}}`, false},
		{"some of several that are no texts", `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","enum":[1]}}}}`, false},
		{"some of several without titles", `{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[{"const":"x"}]}}}}`, false},
		{"both ways to choose", `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","anyOf":[{"const":"x","title":"X"}]}}}}`, false},
		{"an array of several", `{"type":"object","properties":{"a":{"type":"array","enum":[["x"]],"items":{"type":"string","enum":["x"]}}}}`, false},
	} {
		t.Run(row.rule, func(t *testing.T) {
			form, err := NewForm("m", json.RawMessage(row.schema))
			if (err == nil) != row.good {
				t.Fatalf("good is %v, but: %v", row.good, err)
			}
			if err != nil {
				return
			}
			s := withTool(t, emptyServer(Options{}), "ask", func(ctx context.Context, call *Call) (*Result, error) {
				_, err := call.Elicit("a", form)
				return nil, err
			})
			want := `"inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"form","message":"m","requestedSchema":` + row.schema + `}}}`
			if got := ask(t, s, withCapabilities("1", "ask", `{"elicitation":{}}`, "")); got != inputRequired("1", want) {
				t.Error(got)
			}
		})
	}
}

// sealing adds a tool that seals a payload when it is called without state, and opens the state when there is some.
func sealing(t *testing.T, options Options) *Server {
	t.Helper()
	s := emptyServer(options)
	handler := func(ctx context.Context, call *Call) (*Result, error) {
		payload, err := call.OpenState(ctx)
		switch {
		case err != nil:
			return nil, err
		case payload != nil:
			return Text("opened " + string(payload)), nil
		}
		return nil, &InputRequired{State: call.SealState(ctx, []byte("step 2"))}
	}
	withTool(t, s, "one", handler)
	return withTool(t, s, "two", handler)
}

// sealed calls a tool and gives the state that it returns.
func sealed(t *testing.T, ctx context.Context, s *Server, tool, arguments string) string {
	t.Helper()
	var answer struct {
		Result struct{ RequestState string }
	}
	line := askWith(t, ctx, s, toolCall("1", tool, arguments), nil)
	if err := json.Unmarshal([]byte(line), &answer); err != nil || answer.Result.RequestState == "" {
		t.Fatal(line)
	}
	return answer.Result.RequestState
}

func opened(t *testing.T, ctx context.Context, s *Server, tool, arguments, state string) string {
	t.Helper()
	return askWith(t, ctx, s, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`,"requestState":`+quote(state)+`,META}}`, nil)
}

// TestSealedState: it opens for the request that it was made for, for a while, and for no other.
func TestSealedState(t *testing.T) {
	good := textResult("1", "opened step 2")
	bad := failure("1", -32602, "Invalid requestState: altered, expired, or of another request")
	ctx := context.Background()
	expect := func(t *testing.T, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("got %s", got)
		}
	}
	key := []byte("a key that several processes share")
	t.Run("it opens, any number of times", func(t *testing.T) {
		s := sealing(t, Options{})
		state := sealed(t, ctx, s, "one", `{"a":1}`)
		for range 3 {
			expect(t, opened(t, ctx, s, "one", `{"a":1}`, state), good)
		}
	})
	t.Run("the client can read it", func(t *testing.T) {
		raw, err := base64.RawURLEncoding.DecodeString(sealed(t, ctx, sealing(t, Options{}), "one", "{}"))
		if err != nil || !strings.Contains(string(raw), "step 2") {
			t.Errorf("%q, %v", raw, err)
		}
	})
	t.Run("altered at any byte it does not open", func(t *testing.T) {
		s := sealing(t, Options{})
		state := sealed(t, ctx, s, "one", "{}")
		const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
		for i := range len(state) {
			for _, letter := range letters + "+/= \n\r." {
				if byte(letter) != state[i] {
					altered := state[:i] + string(letter) + state[i+1:]
					if got := opened(t, ctx, s, "one", "{}", altered); got != bad {
						t.Fatalf("byte %d replaced by %q: %s", i, letter, got)
					}
				}
			}
		}
	})
	t.Run("nor with bytes more or less", func(t *testing.T) {
		s := sealing(t, Options{})
		state := sealed(t, ctx, s, "one", "{}")
		for i := range len(state) + 1 {
			for _, more := range []string{"A", "=", "\n", "\r\n", " ", "\x00", "é"} {
				if got := opened(t, ctx, s, "one", "{}", state[:i]+more+state[i:]); got != bad {
					t.Fatalf("%q at byte %d: %s", more, i, got)
				}
			}
			if i > 0 && i < len(state) {
				expect(t, opened(t, ctx, s, "one", "{}", state[:i]), bad)
				expect(t, opened(t, ctx, s, "one", "{}", state[i:]), bad)
			}
		}
		for _, other := range []string{"a", "step 2", state + state, strings.Repeat("A", 1000), strings.Repeat("=", 64)} {
			expect(t, opened(t, ctx, s, "one", "{}", other), bad)
		}
	})
	t.Run("for another tool it does not open", func(t *testing.T) {
		s := sealing(t, Options{})
		expect(t, opened(t, ctx, s, "two", "{}", sealed(t, ctx, s, "one", "{}")), bad)
	})
	t.Run("arguments are compared by their value", func(t *testing.T) {
		s := sealing(t, Options{})
		for _, row := range []struct {
			first  string
			same   []string
			others []string
		}{
			{`{}`, []string{`{ }`}, []string{`{"a":null}`, `{"":{}}`}},
			{`{"a":1,"b":[1,2]}`, []string{`{"b":[1.0,2e0],"a":10e-1}`, "{\t\"\\u0061\" : 1, \"b\":[ 1, 2 ] }"},
				[]string{`{"a":1,"b":[2,1]}`, `{"a":"1","b":[1,2]}`, `{"a":1}`, `{"a":1,"b":[1,2],"c":null}`, `{"b":1,"a":[1,2]}`, `{"a":1.0000000000000000001,"b":[1,2]}`}},
			{`{"a":9007199254740993}`, []string{`{"a":9007199254740993.0}`}, []string{`{"a":9007199254740992}`}},
			{`{"a":"\ud800é"}`, []string{`{"a":"\uD800\u00e9"}`}, []string{`{"a":"\ufffdé"}`, `{"a":"\ud801é"}`}},
			{`{"a":{"x":{"k":1,"l":2},"y":"` + strings.Repeat("z", 100) + `"}}`, []string{`{"a":{"y":"` + strings.Repeat("z", 100) + `","x":{"l":2,"k":1}}}`},
				[]string{`{"a":{"x":{"k":2,"l":1},"y":"` + strings.Repeat("z", 100) + `"}}`}},
			{`{"a":"x","b":"y"}`, nil, []string{`{"a":"x\",\"b\":\"y"}`, `{"a":"xb","b":"y"}`, `{"ab":"x","":"y"}`}},
			{`{"a":[]}`, nil, []string{`{"a":{}}`, `{"a":""}`, `{"a":[[]]}`, `{"a":[null]}`, `{"a":false}`}},
		} {
			state := sealed(t, ctx, s, "one", row.first)
			for _, arguments := range append(row.same, row.first) {
				if got := opened(t, ctx, s, "one", arguments, state); got != good {
					t.Errorf("sealed for %s, not opened for %s: %s", row.first, arguments, got)
				}
			}
			for _, arguments := range row.others {
				if got := opened(t, ctx, s, "one", arguments, state); got != bad {
					t.Errorf("sealed for %s, opened for %s: %s", row.first, arguments, got)
				}
			}
		}
	})
	t.Run("no arguments are empty arguments", func(t *testing.T) {
		s := sealing(t, Options{})
		state := sealed(t, ctx, s, "one", "{}")
		expect(t, ask(t, s, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one","requestState":"`+state+`",META}}`), good)
	})
	t.Run("for another principal it does not open", func(t *testing.T) {
		s := sealing(t, Options{})
		ada, eve := WithPrincipal(ctx, "ada"), WithPrincipal(ctx, "eve")
		state := sealed(t, ada, s, "one", "{}")
		expect(t, opened(t, ada, s, "one", "{}", state), good)
		expect(t, opened(t, eve, s, "one", "{}", state), bad)
		expect(t, opened(t, ctx, s, "one", "{}", state), bad)
		expect(t, opened(t, ada, s, "one", "{}", sealed(t, ctx, s, "one", "{}")), bad)
	})
	t.Run("the principal of a connection is that of its context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := sealing(t, Options{})
			ada := WithPrincipal(t.Context(), "ada")
			state := sealed(t, ada, s, "one", "{}")
			l := dialInside(t, s, ada)
			l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one","requestState":"` + state + `",META}}`)
			l.settle(time.Second, good)
		})
	})
	t.Run("it expires", func(t *testing.T) {
		for _, row := range []struct{ option, life time.Duration }{{0, 10 * time.Minute}, {time.Hour, time.Hour}} {
			synctest.Test(t, func(t *testing.T) {
				s := sealing(t, Options{StateLife: row.option})
				state := sealed(t, t.Context(), s, "one", "{}")
				time.Sleep(row.life - time.Millisecond)
				expect(t, opened(t, t.Context(), s, "one", "{}", state), good)
				time.Sleep(time.Millisecond)
				expect(t, opened(t, t.Context(), s, "one", "{}", state), bad)
			})
		}
	})
	t.Run("another server does not open it", func(t *testing.T) {
		expect(t, opened(t, ctx, sealing(t, Options{}), "one", "{}", sealed(t, ctx, sealing(t, Options{}), "one", "{}")), bad)
		expect(t, opened(t, ctx, sealing(t, Options{StateKey: key[1:]}), "one", "{}", sealed(t, ctx, sealing(t, Options{StateKey: key}), "one", "{}")), bad)
	})
	t.Run("unless they share a key", func(t *testing.T) {
		mine := slices.Clone(key)
		first, second := sealing(t, Options{StateKey: mine}), sealing(t, Options{StateKey: key})
		clear(mine) // the server has its own copy
		expect(t, opened(t, ctx, second, "one", "{}", sealed(t, ctx, first, "one", "{}")), good)
	})
	t.Run("an empty payload opens too", func(t *testing.T) {
		s := withTool(t, emptyServer(Options{}), "one", func(ctx context.Context, call *Call) (*Result, error) {
			payload, err := call.OpenState(ctx)
			if err != nil || payload != nil {
				return Text("opened " + string(payload)), err
			}
			return nil, &InputRequired{State: call.SealState(ctx, nil)}
		})
		expect(t, opened(t, ctx, s, "one", "{}", sealed(t, ctx, s, "one", "{}")), textResult("1", "opened "))
	})
	t.Run("state in which the tool takes no interest is passed over", func(t *testing.T) {
		expect(t, opened(t, ctx, testServer(t, Options{}), "boom", "{}", "x"), toolError("1", "city not found"))
	})
}

func listChanged(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}}}`
}

func TestSubscriptions(t *testing.T) {
	t.Run("the acknowledgment names what is honoured", func(t *testing.T) {
		for _, row := range []struct{ filter, honoured string }{
			{`{}`, ``},
			{`{"toolsListChanged":true}`, `"toolsListChanged":true`},
			{`{"toolsListChanged":false}`, ``},
			{`{"toolsL\u0069stChanged":true}`, `"toolsListChanged":true`},
			{`{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":false,"resourceSubscriptions":["file:///a"],"x":7}`, `"toolsListChanged":true`},
			{`{"promptsListChanged":true,"resourceSubscriptions":[]}`, ``},
			{`{"ToolsListChanged":true,"x":null}`, ``},
		} {
			synctest.Test(t, func(t *testing.T) {
				s := emptyServer(Options{})
				l := dialInside(t, s, t.Context())
				l.send(requestOf("1", "subscriptions/listen", `"notifications":`+row.filter))
				l.settle(time.Second, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"MCP/subscriptionId":1},"notifications":{`+row.honoured+`}}}`)
				withTool(t, s, "a", boom)
				if row.honoured == "" {
					l.settle(time.Second)
				} else {
					l.settle(time.Second, listChanged("1"))
				}
			})
		}
	})
	t.Run("a malformed filter is refused", func(t *testing.T) {
		s := emptyServer(Options{})
		for _, row := range []struct{ params, message string }{
			{``, ": missing, but required: expected an object"},
			{`"notifications":null`, ": expected an object, got "},
			{`"notifications":[]`, ": expected an object, got "},
			{`"notifications":"toolsListChanged"`, ": expected an object, got "},
			{`"notifications":true`, ": expected an object, got "},
			{`"notifications":{"toolsListChanged":null}`, "/toolsListChanged: "},
			{`"notifications":{"toolsListChanged":"true"}`, "/toolsListChanged: "},
			{`"notifications":{"toolsListChanged":1}`, "/toolsListChanged: "},
			{`"notifications":{"promptsListChanged":{}}`, "/promptsListChanged: "},
			{`"notifications":{"resourcesListChanged":[]}`, "/resourcesListChanged: "},
			{`"notifications":{"resourceSubscriptions":true}`, "/resourceSubscriptions: "},
			{`"notifications":{"resourceSubscriptions":"file:///a"}`, "/resourceSubscriptions: "},
			{`"notifications":{"resourceSubscriptions":["file:///a",7]}`, "/resourceSubscriptions/1: "},
			{`"notifications":{"toolsListChanged":true,"promptsListChanged":0}`, "/promptsListChanged: "},
		} {
			want := `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: notifications` + row.message
			if got := ask(t, s, requestOf("1", "subscriptions/listen", row.params)); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s", row.params, got)
			}
		}
	})
	t.Run("the id is that of the request, byte for byte", func(t *testing.T) {
		for _, id := range []string{`0`, `""`, `1.0`, `1e2`, `"\u0061"`, `"\ud800"`, `12345678901234567890123456789`, "\"\u2028\""} {
			synctest.Test(t, func(t *testing.T) {
				s := emptyServer(Options{})
				l := dialInside(t, s, t.Context())
				l.send(listenTo(id))
				l.settle(time.Second, ack(id))
				withTool(t, s, "a", boom)
				l.settle(time.Second, listChanged(id))
				l.stop()
				l.wait()
				compare(t, l.take(), listenEnd(id))
			})
		}
	})
	t.Run("adding and removing is told, to each who listens", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := emptyServer(Options{})
			first, second := dialInside(t, s, t.Context()), dialInside(t, s, t.Context())
			first.send(listenTo("1"), listenTo(`"b"`), requestOf("3", "subscriptions/listen", `"notifications":{}`))
			second.send(listenTo("1"))
			time.Sleep(time.Second)
			synctest.Wait()
			first.take()
			second.take()
			for range 2 {
				withTool(t, s, "a", boom)
				first.settleSorted(time.Second, listChanged("1"), listChanged(`"b"`))
				second.settle(time.Second, listChanged("1"))
				s.RemoveTool("a")
				first.settleSorted(time.Second, listChanged("1"), listChanged(`"b"`))
				second.settle(time.Second, listChanged("1"))
			}
		})
	})
	t.Run("what changes nothing is not told", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := testServer(t, Options{})
			l := dialInside(t, s, t.Context())
			l.send(listenTo("1"))
			l.settle(time.Second, ack("1"))
			s.RemoveTool("nope")
			s.AddTool(Tool{Name: "add"}, boom)
			s.AddTool(Tool{Name: "a b"}, boom)
			l.send(toolCall("2", "boom", "{}"))
			l.settle(time.Minute, toolError("2", "city not found"))
		})
	})
	t.Run("changes before it are not told", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := testServer(t, Options{})
			l := dialInside(t, s, t.Context())
			s.RemoveTool("add")
			l.send(listenTo("1"))
			l.settle(time.Second, ack("1"))
		})
	})
	t.Run("the list is the new one when the change is told", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := emptyServer(Options{})
			l := dialInside(t, s, t.Context())
			l.send(listenTo("1"), requestOf("2", "tools/list", ""))
			time.Sleep(time.Second)
			l.take()
			withTool(t, s, "new", boom)
			l.settle(time.Second, listChanged("1"))
			l.send(requestOf("2", "tools/list", ""))
			l.settle(time.Second, success("2", `{"resultType":"complete","tools":[{"name":"new","inputSchema":{"type":"object"}}],"ttlMs":300000,"cacheScope":"public",`+standardInfo+`}`))
		})
	})
	t.Run("changes that wait to be written are one", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := withTool(t, emptyServer(Options{}), "large", func(context.Context, *Call) (*Result, error) {
				return Text(strings.Repeat("x", 2*maxOutput)), nil
			})
			l := dialSilent(t, s, t.Context())
			l.send(listenTo("1"), listenTo("2"), toolCall("3", "large", "{}"))
			time.Sleep(time.Second)
			for n := range 1000 {
				withTool(t, s, "tool"+strconv.Itoa(n), boom)
				if n%100 == 0 {
					time.Sleep(time.Second)
				}
			}
			l.read()
			time.Sleep(time.Second)
			synctest.Wait()
			count := make(map[string]int)
			for _, line := range l.take() {
				count[line]++
			}
			for _, id := range []string{"1", "2"} {
				if n := count[listChanged(id)]; count[ack(id)] != 1 || n < 1 || n > 2 {
					t.Errorf("%d changes told to %s", n, id)
				}
			}
		})
	})
	t.Run("the acknowledgment is first, though tools change all the time", func(t *testing.T) {
		s := emptyServer(Options{})
		stop := make(chan struct{})
		go func() {
			for {
				select {
				case <-stop:
					return
				default:
					s.AddTool(Tool{Name: "a"}, boom)
					s.RemoveTool("a")
				}
			}
		}()
		defer close(stop)
		l := dial(t, s)
		seen := make(map[string]bool)
		for n := range 50 {
			l.send(listenTo(strconv.Itoa(n)))
		}
		for len(seen) < 50 {
			line := l.next()
			for n := range 50 {
				switch id := strconv.Itoa(n); line {
				case ack(id):
					seen[id] = true
				case listChanged(id):
					if !seen[id] {
						t.Fatalf("%s is told of a change before the acknowledgment", id)
					}
				}
			}
		}
		for n := range 50 {
			l.send(cancelOf(strconv.Itoa(n)))
		}
		l.end()
	})
	t.Run("the client ends it without a word", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := emptyServer(Options{})
			l := dialInside(t, s, t.Context())
			l.send(listenTo("1"), listenTo("2"))
			l.settleSorted(time.Second, ack("1"), ack("2"))
			l.send(cancelOf("1.0"))
			l.settle(time.Second)
			withTool(t, s, "a", boom)
			l.settle(time.Second, listChanged("2"))
			l.send(listenTo("1"))
			l.settle(time.Second, ack("1"))
			withTool(t, s, "b", boom)
			l.settleSorted(time.Second, listChanged("1"), listChanged("2"))
		})
	})
}

// TestProgressAfterTheEnd: what a tool reports once the connection takes no more is dropped, whether it comes then or has
// waited for its time; the tool goes on.
func TestProgressAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		s := withTool(t, emptyServer(Options{}), "work", func(ctx context.Context, call *Call) (*Result, error) {
			defer close(ended)
			call.Progress(1, 0, "")
			time.Sleep(DefaultGrace - time.Millisecond)
			call.Progress(2, 0, "")
			call.Progress(3, 0, "") // waits
			<-ctx.Done()
			for value := range 100 {
				call.Progress(float64(10+value), 0, "")
				time.Sleep(time.Millisecond)
			}
			return Text("done"), nil
		})
		var out strings.Builder
		line := expand(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","_meta":{"progressToken":1,"MCP/protocolVersion":"2026-07-28","MCP/clientCapabilities":{}}}}`)
		if err := s.Serve(t.Context(), strings.NewReader(line), &out); err != nil {
			t.Error(err)
		}
		<-ended
		if n := strings.Count(out.String(), "\n"); n != 2 {
			t.Errorf("%d lines: %s", n, &out)
		}
	})
}

// TestQuestionThatIsNotJSON: what a handler gets wrong in raw JSON is an internal error, whatever it is.
func TestQuestionThatIsNotJSON(t *testing.T) {
	for _, params := range []string{`{"message":"x\"}`, `{"message`, `{"a":1,"a":2}`, `[`, `"`} {
		s := withTool(t, emptyServer(Options{}), "ask", func(ctx context.Context, call *Call) (*Result, error) {
			return nil, &InputRequired{Requests: []InputRequest{{"a", "elicitation/create", json.RawMessage(params)}}}
		})
		if got := ask(t, s, withCapabilities("1", "ask", `{"elicitation":{}}`, "")); got != failure("1", -32603, "Internal error") {
			t.Errorf("%s: %s", params, got)
		}
	}
}

func TestMustForm(t *testing.T) {
	defer func() {
		if err, ok := recover().(error); !ok || !strings.Contains(err.Error(), "not the schema of a form") {
			t.Errorf("panic is %v", err)
		}
	}()
	MustForm("?", `{"type":"array"}`)
}
