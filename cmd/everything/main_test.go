package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"example.com/minimcp"
)

// request makes a message of the params that come before _meta, in which a client with these capabilities says what it is.
func request(method, params, capabilities string) string {
	if params != "" {
		params += ","
	}
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":` + capabilities + `,"progressToken":"p"}}}`
}

// able are the capabilities of a client that can do all that a server may ask for.
const able = `{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`

// calls are made one after the other. STATE stands for the requestState that came last; in what is wanted, … stands for
// anything, and every line but the last is a notification.
var calls = []struct {
	sentence string
	tool     string
	params   string // besides the tool's name
	able     string // default: everything
	want     string
}{
	{"a text", "test_simple_text", ``, ``,
		`…"result":{"resultType":"complete","content":[{"type":"text","text":"This is a simple text response for testing."}],"isError":false,…`},
	{"an argument that nobody asked for is an error that the model reads", "test_simple_text", `"arguments":{"x":1}`, ``,
		`…"text":"Invalid arguments:…"isError":true,…`},
	{"an image", "test_image_content", `"arguments":{}`, ``,
		`…"content":[{"data":"iVBORw0KGgo…","mimeType":"image/png","type":"image"}]…`},
	{"a sound", "test_audio_content", `"arguments":{}`, ``,
		`…"content":[{"data":"UklGRiYAAABXQVZFZm10I…","mimeType":"audio/wav","type":"audio"}]…`},
	{"a resource and its text", "test_embedded_resource", ``, ``,
		`…"content":[{"resource":{"mimeType":"text/plain","text":"This is…","uri":"test://embedded-resource"},"type":"resource"}]…`},
	{"a link, and all that may be said of it", "resource_link", ``, ``,
		`…"content":[{"_meta":{"example.com/revision":7},"annotations":{"audience":["user"],"priority":0.5,"lastModified":"2026-07-28T12:00:00Z"},` +
			`"description":"A report that does not exist.","mimeType":"text/plain","name":"report.txt","size":1024,"title":"The report","type":"resource_link",` +
			`"uri":"https://example.com/report.txt"}]…`},
	{"several contents keep their order", "test_multiple_content_types", ``, ``,
		`…"type":"text"},{…"type":"image"},{"resource":{"blob":"iVBOR…","mimeType":"image/png","uri":"test://pixel.png"},"type":"resource"}…`},
	{"a failure is a result", "test_error_handling", ``, ``,
		`…"result":{…"content":[{"type":"text","text":"this tool fails on purpose"}],"isError":true,…`},

	{"a structured result comes as JSON and as text", "statistics", `"arguments":{"numbers":[1,2.5,-3e0]}`, ``,
		`…"content":[{"type":"text","text":"{\"max\":2.5,\"mean\":0.16666666666666…,\"min\":-3}"}],` +
			`"structuredContent":{"max":2.5,"mean":0.16666666666666…,"min":-3},"isError":false,…`},
	{"arguments that do not fit never reach the tool", "statistics", `"arguments":{"numbers":[]}`, ``,
		`…"text":"Invalid arguments:…"isError":true,…`},
	{"a schema with a condition: a phone number where that is preferred", "json_schema_2020_12_tool",
		`"arguments":{"name":"Ann","phone":"1","contactMethod":"phone"}`, ``,
		`…name \"Ann\", phone \"1\", email \"\"…"isError":false…`},
	{"a schema with a condition: the phone number is missing", "json_schema_2020_12_tool",
		`"arguments":{"email":"a@example.com","contactMethod":"phone"}`, ``,
		`…"text":"Invalid arguments:…"isError":true,…`},
	{"an annotation for another transport does nothing here", "test_x_mcp_header", `"arguments":{"region":"us-west1"}`, ``,
		`…"text":"region: \"us-west1\""…"isError":false,…`},
	{"an argument may be left out", "test_x_mcp_header", `"arguments":{}`, ``,
		`…"text":"region: \"\""…"isError":false,…`},
	{"a text comes back as it was written", "echo", `"arguments":{"text":"\ud800 caf\u00e9"}`, ``,
		`…"text":"\ud800 caf\u00e9"…`},
	{"a request tells what the client is", "request_meta", ``, `{"roots":{}}`,
		`…"structuredContent":{…"io.modelcontextprotocol/clientCapabilities":{"roots":{}},"progressToken":"p"},"isError":false,` +
			`"_meta":{"example.com/answers":"request_meta",…`},
	{"nothing is logged", "test_logging_tool", ``, ``, `…"text":"Done, and nothing logged."…`},

	{"progress comes before the answer", "test_tool_with_progress", ``, ``,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":0,"total":100,"message":"0 percent done"}}` + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":50,"total":100,"message":"50 percent done"}}` + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":100,"total":100,"message":"100 percent done"}}` + "\n" +
			`…"text":"All is done."…`},
	{"a capability that a tool insists on", "test_missing_capability", ``, `{"elicitation":{}}`,
		`…"error":{"code":-32021,…"data":{"requiredCapabilities":{"sampling":{}}}}}`},
	{"the capability is there", "test_missing_capability", ``, `{"sampling":{}}`,
		`…"text":"The client declares sampling."…`},

	{"a form is asked for", "test_input_required_result_elicitation", ``, `{"elicitation":{}}`,
		`…"result":{"resultType":"input_required","inputRequests":{"user_name":{"method":"elicitation/create","params":{"mode":"form",` +
			`"message":"What is your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string","title":"Name"}},"required":["name"]}}}},"_meta":…`},
	{"a client without forms cannot be asked", "test_input_required_result_elicitation", ``, `{"elicitation":{"url":{}}}`,
		`…"error":{"code":-32021,…"data":{"requiredCapabilities":{"elicitation":{"form":{}}}}}}`},
	{"a form that is filled in", "test_input_required_result_elicitation",
		`"inputResponses":{"user_name":{"action":"accept","content":{"name":"Alice"}}}`, ``,
		`…"text":"Hello, Alice!"…`},
	{"to decline is an answer", "test_input_required_result_elicitation",
		`"inputResponses":{"user_name":{"action":"decline"}}`, ``,
		`…"text":"Hello, whoever you are!"…"isError":false,…`},
	{"to cancel is an answer", "test_input_required_result_elicitation",
		`"inputResponses":{"user_name":{"action":"cancel"}}`, ``, `…"text":"Another time, then."…"isError":false,…`},
	{"a form that is filled in wrongly is asked for again", "test_input_required_result_elicitation",
		`"inputResponses":{"user_name":{"action":"accept","content":{"name":7}}}`, ``,
		`…"resultType":"input_required"…"user_name"…`},
	{"an answer to another question is none", "test_input_required_result_elicitation",
		`"inputResponses":{"wrong_key":{"action":"accept","content":{"name":"Alice"}}}`, ``,
		`…"resultType":"input_required"…"user_name"…`},
	{"what is no answer at all is an error", "test_input_required_result_elicitation",
		`"inputResponses":{"user_name":12345}`, ``, `…"error":{"code":-32602,…`},
	{"answers that are no object are an error", "test_input_required_result_elicitation",
		`"inputResponses":null`, ``, `…"error":{"code":-32602,…`},
	{"a question is a result and not a request", "test_streaming_elicitation", ``, `{"elicitation":{}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required",…`},
	{"a page is asked for", "url_elicitation", ``, ``,
		`…"params":{"mode":"url","message":"Please visit this page.","url":"https://example.com/visit"}…`},
	{"a client without pages cannot be asked", "url_elicitation", ``, `{"elicitation":{}}`,
		`…"error":{"code":-32021,…"data":{"requiredCapabilities":{"elicitation":{"url":{}}}}}}`},
	{"the page was visited", "url_elicitation", `"inputResponses":{"visit":{"action":"accept"}}`, ``,
		`…"text":"The user's choice: accept"…`},

	{"a model is asked", "test_input_required_result_sampling", ``, ``,
		`…"inputRequests":{"capital_question":{"method":"sampling/createMessage","params":{"messages":[{"role":"user",` +
			`"content":{"type":"text","text":"What is the capital of France?"}}],"maxTokens":100}}},"_meta":…`},
	{"the model has answered", "test_input_required_result_sampling",
		`"inputResponses":{"capital_question":{"role":"assistant","content":{"type":"text","text":"Paris"},"model":"m","stopReason":"endTurn"}}`, ``,
		`…"text":"m says: {\"type\":\"text\",\"text\":\"Paris\"}"…`},
	{"the client's folders are asked for", "test_input_required_result_list_roots", ``, ``,
		`…"inputRequests":{"client_roots":{"method":"roots/list","params":{}}},"_meta":…`},
	{"the folders are there", "test_input_required_result_list_roots",
		`"inputResponses":{"client_roots":{"roots":[{"uri":"file:///test/root","name":"Test Root"}]}}`, ``,
		`…"text":"roots: 1"…`},
	{"a client that has forms gets one", "test_input_required_result_capabilities", ``, ``,
		`…"inputRequests":{"user_name":…`},
	{"a client that has a model alone is asked for that", "test_input_required_result_capabilities", ``, `{"sampling":{}}`,
		`…"inputRequests":{"capital_question":{"method":"sampling/createMessage",…`},
	{"a client that has neither cannot be asked", "test_input_required_result_capabilities", ``, `{}`,
		`…"error":{"code":-32021,…"data":{"requiredCapabilities":{"sampling":{}}}}}`},

	{"a question with state", "test_input_required_result_request_state", ``, ``,
		`…"inputRequests":{"confirm":{"method":"elicitation/create",…,"requestState":"…`},
	{"state and an answer", "test_input_required_result_request_state",
		`"requestState":"STATE","inputResponses":{"confirm":{"action":"accept","content":{"ok":true}}}`, ``,
		`…"text":"state-ok: order …, sent: true"…`},
	{"state can come back twice", "test_input_required_result_request_state",
		`"requestState":"STATE","inputResponses":{"confirm":{"action":"accept","content":{"ok":false}}}`, ``,
		`…"text":"state-ok: order …, sent: false"…`},
	{"an answer without the state is to an order that nobody knows", "test_input_required_result_request_state",
		`"inputResponses":{"confirm":{"action":"accept","content":{"ok":true}}}`, ``,
		`…"resultType":"input_required"…"requestState":"…`},
	{"to decline is here a failure", "test_input_required_result_request_state",
		`"requestState":"STATE","inputResponses":{"confirm":{"action":"decline"}}`, ``,
		`…"text":"the user did not fill in \"confirm\" (decline)"…"isError":true,…`},
	{"state of another tool", "test_input_required_result_tampered_state",
		`"requestState":"STATE","inputResponses":{"confirm":{"action":"accept","content":{"ok":true}}}`, ``,
		`…"error":{"code":-32602,…`},
	{"the same question of the other tool", "test_input_required_result_tampered_state", ``, ``,
		`…"inputRequests":{"confirm":…"requestState":"…`},
	{"state that has been altered", "test_input_required_result_tampered_state",
		`"requestState":"STATE-TAMPERED","inputResponses":{"confirm":{"action":"accept","content":{"ok":true}}}`, ``,
		`…"error":{"code":-32602,…`},
	{"state as it was", "test_input_required_result_tampered_state",
		`"requestState":"STATE","inputResponses":{"confirm":{"action":"accept","content":{"ok":true}}}`, ``,
		`…"text":"state-ok:…`},

	{"the first of two questions", "test_input_required_result_multi_round", ``, ``,
		`…"inputRequests":{"step1":…"requestState":"…`},
	{"the second question, after the answer to the first", "test_input_required_result_multi_round",
		`"requestState":"STATE","inputResponses":{"step1":{"action":"accept","content":{"name":"Alice"}}}`, ``,
		`…"inputRequests":{"step2":…"requestState":"…`},
	{"the second question again, where its answer is missing", "test_input_required_result_multi_round",
		`"requestState":"STATE"`, ``, `…"inputRequests":{"step2":…"requestState":"…`},
	{"the answer to the second; the first is in the state", "test_input_required_result_multi_round",
		`"requestState":"STATE","inputResponses":{"step2":{"action":"accept","content":{"color":"blue"}}}`, ``,
		`…"text":"Alice likes blue."…`},
	{"three questions at once", "test_input_required_result_multiple_inputs", ``, ``,
		`…"inputRequests":{"user_name":{"method":"elicitation/create",…,"greeting":{"method":"sampling/createMessage",…"maxTokens":50}},` +
			`"client_roots":{"method":"roots/list","params":{}}},"requestState":"…`},
	{"one answer of three", "test_input_required_result_multiple_inputs",
		`"requestState":"STATE","inputResponses":{"user_name":{"action":"accept","content":{"name":"Alice"}}}`, ``,
		`…"resultType":"input_required","inputRequests":{"greeting":…,"client_roots":…"requestState":"…`},
	{"one answer that is none is an error, whatever the others are", "test_input_required_result_multiple_inputs",
		`"requestState":"STATE","inputResponses":{"greeting":"Hello","client_roots":{"roots":[]}}`, ``,
		`…"error":{"code":-32602,…`},
	{"the other two", "test_input_required_result_multiple_inputs",
		`"requestState":"STATE","inputResponses":{"greeting":{"role":"assistant","content":[],"model":"m"},"client_roots":{"roots":[]}}`, ``,
		`…"text":"Alice has 0 roots. m says: []"…`},

	{"a tool that is not there yet", "here_today", ``, ``,
		`…"error":{"code":-32602,"message":"Unknown tool: here_today"}}`},
	{"the tool comes", "test_trigger_tool_change", ``, ``, `…"text":"added here_today"…`},
	{"the tool is there", "here_today", ``, ``, `…"text":"Here I am."…`},
	{"the tool goes", "test_trigger_tool_change", ``, ``, `…"text":"removed here_today"…`},
}

func TestTools(t *testing.T) {
	// A bubble of its own time, in which progress that is due is never late.
	synctest.Test(t, func(t *testing.T) {
		server := testServer(t)
		called := map[string]bool{}
		state := ""
		for _, c := range calls {
			called[c.tool] = true
			params := `"name":"` + c.tool + `"`
			if c.params != "" {
				params += "," + strings.ReplaceAll(c.params, "STATE", state)
			}
			if c.able == "" {
				c.able = able
			}
			var lines []string
			answer := server.HandleMessage(t.Context(), []byte(request("tools/call", params, c.able)), func(notification []byte) {
				lines = append(lines, string(notification))
			})
			got := strings.Join(append(lines, string(answer)), "\n")
			if !matches(got, c.want) {
				t.Errorf("%s: %s\n got %s\nwant %s", c.sentence, params, got, c.want)
			}
			var response struct{ Result struct{ RequestState string } }
			if err := json.Unmarshal(answer, &response); err != nil {
				t.Errorf("%s: %v", c.sentence, err)
			}
			if response.Result.RequestState != "" {
				state = response.Result.RequestState
			}
		}
		for name, description := range list(t, server) {
			if !called[name] {
				t.Errorf("no row calls %s", name)
			}
			if description == "" {
				t.Errorf("%s has no description", name)
			}
		}
	})
}

// matches reports whether text is as wanted, where each … stands for anything, also nothing.
func matches(text, want string) bool {
	parts := strings.Split(want, "…")
	text, ok := strings.CutPrefix(text, parts[0])
	for i, part := range parts[1:] {
		if i == len(parts)-2 { // the last has to be the end
			return ok && strings.HasSuffix(text, part)
		}
		var found bool
		_, text, found = strings.Cut(text, part)
		ok = ok && found
	}
	return ok && text == ""
}

func testServer(t *testing.T) *mcp.Server {
	server, err := newServer(mcp.Options{Log: log.New(t.Output(), "", 0)})
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// list gives the description of each tool by its name.
func list(t *testing.T, server *mcp.Server) map[string]string {
	var response struct {
		Result struct {
			Tools []struct{ Name, Description string }
		}
	}
	answer := server.HandleMessage(t.Context(), []byte(request("tools/list", "", "{}")), nil)
	if err := json.Unmarshal(answer, &response); err != nil {
		t.Fatal(err)
	}
	descriptions := map[string]string{}
	for _, tool := range response.Result.Tools {
		descriptions[tool.Name] = tool.Description
	}
	return descriptions
}

// Over a connection: whoever listens is told of each change, and ends with the connection.
func TestToolChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fromClient, toServer := io.Pipe()
		fromServer, toClient := io.Pipe()
		served := make(chan error)
		go func() {
			served <- testServer(t).Serve(t.Context(), fromClient, toClient)
			toClient.Close()
		}()
		lines := bufio.NewScanner(fromServer)
		const subscription = `"params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}`
		const changed = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed",` + subscription + `}}`
		listen := request("subscriptions/listen", `"notifications":{"toolsListChanged":true}`, "{}")
		listen = strings.Replace(listen, `"id":1`, `"id":"s"`, 1)
		change := request("tools/call", `"name":"test_trigger_tool_change"`, "{}")
		for _, step := range []struct {
			sentence, send string
			want           []string // in any order
		}{
			{"a subscription is acknowledged", listen, []string{`{"jsonrpc":"2.0","method":` +
				`"notifications/subscriptions/acknowledged",` + subscription + `,"notifications":{"toolsListChanged":true}}}`}},
			{"a tool is added", change, []string{changed, `{"jsonrpc":"2.0","id":1,"result":{…"added here_today"…`}},
			{"a tool is removed", change, []string{changed, `{"jsonrpc":"2.0","id":1,"result":{…"removed here_today"…`}},
		} {
			io.WriteString(toServer, step.send+"\n")
			for want := step.want; len(want) > 0; {
				if !lines.Scan() {
					t.Fatalf("%s: the output has ended", step.sentence)
				}
				i := slices.IndexFunc(want, func(w string) bool { return matches(lines.Text(), w) })
				if i < 0 {
					t.Fatalf("%s:\n got %s\nwant %s", step.sentence, lines.Text(), strings.Join(want, "\n  or "))
				}
				want = slices.Delete(want, i, i+1)
			}
		}
		toServer.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if lines.Scan() {
			t.Errorf("after the end of input: %s", lines.Text())
		}
	})
}

// The context of a call ends it; there is nobody left to answer.
func TestProgressEndsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		answer := testServer(t).HandleMessage(ctx, []byte(request("tools/call", `"name":"test_tool_with_progress"`, "{}")), nil)
		if !matches(string(answer), `…"text":"context canceled"}],"isError":true,…`) {
			t.Errorf("got %s", answer)
		}
	})
}

func TestCommandLine(t *testing.T) {
	for _, test := range []struct {
		sentence       string
		args           []string
		status         int
		stdout, stderr string
	}{
		{"help is what was asked for", []string{"-h"}, 0, usage, ""},
		{"what is not understood is a mistake", []string{"-legacy", "x"}, 2, "", "everything: unknown arguments: -legacy x\n\n" + usage},
	} {
		var stdout, stderr bytes.Buffer
		status := run(test.args, &stdout, &stderr)
		if status != test.status || stdout.String() != test.stdout || stderr.String() != test.stderr {
			t.Errorf("%s: status %d, stdout %q, stderr %q", test.sentence, status, stdout.String(), stderr.String())
		}
	}
}
