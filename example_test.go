package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"example.com/minimcp"
)

// meta is what every request carries: the version, and what the client can do.
const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`

// call is a tools/call with params.
func call(id int, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s,%s}}`, id, params, meta)
}

// show prints an answer without the name of the server.
func show(message []byte) {
	fmt.Println(strings.Replace(string(message), `,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"example","version":"1.0.0"}}`, "", 1))
}

func newServer(tool mcp.Tool, handler mcp.Handler) *mcp.Server {
	server := mcp.NewServer(mcp.Implementation{Name: "example", Version: "1.0.0"}, mcp.Options{})
	if err := server.AddTool(tool, handler); err != nil {
		panic(err)
	}
	return server
}

// A server reads a line and writes a line; here it serves a string.
func Example() {
	server := newServer(mcp.Tool{Name: "hello", Description: "Greets."},
		func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) { return mcp.Text("Hello!"), nil })

	var answers strings.Builder
	if err := server.Serve(context.Background(), strings.NewReader(call(1, `"name":"hello"`)), &answers); err != nil {
		fmt.Println(err)
	}
	show([]byte(strings.TrimSpace(answers.String())))
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"Hello!"}],"isError":false}}
}

// A typed tool gets its arguments as a Go value, after they have been checked against the schema.
func ExampleTyped() {
	type sum struct{ A, B float64 }
	server := newServer(mcp.Tool{
		Name:        "add",
		InputSchema: []byte(`{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}`),
	}, mcp.Typed(func(ctx context.Context, call *mcp.Call, in sum) (*mcp.Result, error) {
		return mcp.Text(fmt.Sprint(in.A + in.B)), nil
	}))

	show(server.HandleMessage(context.Background(), []byte(call(1, `"name":"add","arguments":{"a":2,"b":3}`)), nil))
	show(server.HandleMessage(context.Background(), []byte(call(2, `"name":"add","arguments":{"a":"2"}`)), nil))
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"5"}],"isError":false}}
	// {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[{"type":"text","text":"Invalid arguments:\n/b: missing, but required: expected a number\n/a: expected a number, got \"2\"; send it as JSON, not in a string"}],"isError":true}}
}

// Progress goes to a client that sent a token, before the answer.
func ExampleCall_Progress() {
	server := newServer(mcp.Tool{Name: "work"}, func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
		call.Progress(1, 2, "half of it")
		return mcp.Text("done"), nil
	})
	request := strings.Replace(call(1, `"name":"work"`), `"_meta":{`, `"_meta":{"progressToken":"t",`, 1)
	show(server.HandleMessage(context.Background(), []byte(request), show))
	// Output:
	// {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1,"total":2,"message":"half of it"}}
	// {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"done"}],"isError":false}}
}

// A call that the client cancels is not answered; a handler that heeds its context ends.
func ExampleServer_Serve_cancellation() {
	ended := make(chan error, 1)
	server := newServer(mcp.Tool{Name: "wait"}, func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ctx.Err()
	})
	client, stream := net.Pipe()
	go server.Serve(context.Background(), stream, stream)
	fmt.Fprintln(client, call(1, `"name":"wait"`))
	fmt.Fprintln(client, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	fmt.Println(<-ended)
	fmt.Fprintln(client, call(2, `"name":"no such tool"`))
	answer, _ := bufio.NewReader(client).ReadString('\n')
	fmt.Print(answer)
	client.Close()
	// Output:
	// context canceled
	// {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Unknown tool: no such tool"}}
}

// A handler that needs input returns the question as its error. The client calls again, with the answer.
func ExampleCall_Elicit() {
	form := mcp.MustForm("Which city?", `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)
	server := newServer(mcp.Tool{Name: "book"}, func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
		answer, err := call.Elicit("city", form)
		if err != nil {
			return nil, err
		}
		var content struct{ City string }
		if err := answer.Decode(&content); err != nil { // declined, or cancelled
			return nil, err
		}
		return mcp.Text("Booked: " + content.City), nil
	})
	show(server.HandleMessage(context.Background(), []byte(call(1, `"name":"book"`)), nil))
	answer := `"inputResponses":{"city":{"action":"accept","content":{"city":"Oslo"}}}`
	show(server.HandleMessage(context.Background(), []byte(call(2, `"name":"book",`+answer)), nil))
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"city":{"method":"elicitation/create","params":{"mode":"form","message":"Which city?","requestedSchema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}}}}
	// {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[{"type":"text","text":"Booked: Oslo"}],"isError":false}}
}

// whenForm and book are in README as well.
var whenForm = mcp.MustForm("When?", `{"type":"object","properties":{"day":{"type":"string"}},"required":["day"]}`)

// book runs twice. The second call knows of the first only what the client brings back: its answer, and the state.
func book(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
	table, err := call.OpenState(ctx) // nil in the first round, and where the client leaves it out
	if err != nil {
		return nil, err
	}
	answer, err := call.Elicit("when", whenForm)
	if question := new(mcp.InputRequired); errors.As(err, &question) { // there is no answer yet
		question.State = call.SealState(ctx, []byte("table 7"))
		return nil, question
	}
	if err != nil {
		return nil, err
	}
	if answer.Action != mcp.Accept || table == nil {
		return mcp.Text("Nothing is booked."), nil
	}
	var in struct {
		Day string `json:"day"`
	}
	if err := answer.Decode(&in); err != nil {
		return nil, err
	}
	return mcp.Text(fmt.Sprintf("Booked: %s for %s.", table, in.Day)), nil
}

// What a tool wants to remember until the client calls again goes through the client, sealed.
func ExampleCall_SealState() {
	server := newServer(mcp.Tool{Name: "book"}, book)
	var first struct{ Result struct{ RequestState string } }
	question := server.HandleMessage(context.Background(), []byte(call(1, `"name":"book"`)), nil)
	if err := json.Unmarshal(question, &first); err != nil {
		fmt.Println(err)
	}
	answer := `"inputResponses":{"when":{"action":"accept","content":{"day":"Friday"}}},"requestState":"` + first.Result.RequestState + `"`
	show(server.HandleMessage(context.Background(), []byte(call(2, `"name":"book",`+answer)), nil))
	// Output:
	// {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","content":[{"type":"text","text":"Booked: table 7 for Friday."}],"isError":false}}
}

// A schema names every problem, and where it is.
func ExampleSchema_Validate() {
	schema, err := mcp.CompileSchema([]byte(`{
		"type": "object",
		"properties": {"location": {"type": "string"}, "days": {"type": "integer"}, "units": {"enum": ["c", "f"]}},
		"required": ["location"],
		"additionalProperties": false
	}`))
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println(schema.Validate([]byte(`{"days": 2.5, "units": "k", "x": 1}`)))
	// Output:
	// /location: missing, but required: expected a string
	// /days: expected an integer, got 2.5
	// /units: expected "c" or "f", got "k"
	// /x: not expected; known are location, days, units
}

// Any stream will do: a Unix socket, a TCP connection, here a pipe inside the process.
func ExampleServer_Serve() {
	server := newServer(mcp.Tool{Name: "hello"},
		func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) { return mcp.Text("Hello!"), nil })
	client, stream := net.Pipe()
	served := make(chan error)
	go func() { served <- server.Serve(context.Background(), stream, stream) }()

	requests, answers := mcp.NewWriter(client), mcp.NewReader(client, mcp.DefaultMaxMessage)
	go requests.WriteFrame([]byte(call(1, `"name":"hello"`)))
	answer, err := answers.ReadFrame()
	show(answer)
	client.Close()
	fmt.Println(err, <-served)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"Hello!"}],"isError":false}}
	// <nil> <nil>
}

// HandleMessage behind HTTP: one POST, one answer, and the notifications before it as lines. This is not the Streamable
// HTTP transport of the specification, which also has headers to check, event streams and authorization.
func ExampleServer_HandleMessage() {
	server := newServer(mcp.Tool{Name: "whoami"}, func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
		call.Progress(1, 1, "looking")
		return mcp.Text("you"), nil
	})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mcp.DefaultMaxMessage))
		if err != nil {
			http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
			return
		}
		ctx := mcp.WithPrincipal(r.Context(), r.Header.Get("X-User")) // as the web server has authenticated it
		out := http.NewResponseController(w)
		answer := server.HandleMessage(ctx, body, func(message []byte) {
			fmt.Fprintf(w, "%s\n", message)
			out.Flush()
		})
		if answer == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		fmt.Fprintf(w, "%s\n", answer)
	}))
	defer web.Close()

	web.Client().Timeout = 10 * time.Second
	response, err := web.Client().Post(web.URL, "application/json", strings.NewReader(call(1, `"name":"whoami"`)))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	var answer struct {
		Result struct{ Content json.RawMessage }
	}
	err = json.NewDecoder(response.Body).Decode(&answer)
	fmt.Println(response.StatusCode, string(answer.Result.Content), err)
	// Output:
	// 200 [{"type":"text","text":"you"}] <nil>
}
