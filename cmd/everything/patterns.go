// patterns.go: tools that do more than answer: they report progress, ask the client for input, and remember things from
// one round of questions to the next in state that the client carries. Four helpers, for tools that ask for more than one
// thing, are at the end.
//
// A tool that asks does not wait for the answer. It returns the question as its error; the client finds the answer and
// makes the call again with it; and the handler runs from its start, as if for the first time, but that an answer is there.
//
// Pages: basic/patterns/progress, basic/patterns/mrtr, client/elicitation. Read after schemas.go; next is changes.go.

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"example.com/minimcp"
)

// Progress goes out only if the client has asked for it. A tool that takes time should end when its context does: the
// client has cancelled the call, or is gone.
var progress = tool{
	mcp.Tool{Name: "test_tool_with_progress", Description: "Takes a tenth of a second and reports progress."},
	func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for percent := 0.0; ; percent += 50 {
			call.Progress(percent, 100, fmt.Sprintf("%v percent done", percent))
			if percent == 100 {
				return mcp.Text("All is done."), nil
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	},
}

// A tool that cannot do without something that the client has not declared returns this error. For a question of its own
// it need not look: the server then refuses by itself.
var missingCapability = tool{
	mcp.Tool{
		Name:        "test_missing_capability",
		Description: "Insists on a client that declares sampling, though it does not use it.",
	},
	func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
		if call.Meta.Capabilities&mcp.Sampling == 0 {
			return nil, mcp.MissingClientCapability(mcp.Sampling)
		}
		return mcp.Text("The client declares sampling."), nil
	},
}

// The forms of this file. What a user puts into one has been held against its schema before a tool sees it.
var (
	nameForm = mcp.MustForm("What is your name?",
		`{"type":"object","properties":{"name":{"type":"string","title":"Name"}},"required":["name"]}`)
	colorForm = mcp.MustForm("What is your favourite colour?",
		`{"type":"object","properties":{"color":{"type":"string","title":"Colour"}},"required":["color"]}`)
	confirmForm = mcp.MustForm("Shall the order go out?",
		`{"type":"object","properties":{"ok":{"type":"boolean","title":"Send it"}},"required":["ok"]}`)
)

// What comes back from them.
type (
	person  struct{ Name string }
	taste   struct{ Color string }
	consent struct{ OK bool }
)

// Elicit gives the answer or, as an error, the question. To decline and to cancel are answers too.
var elicitation = tool{
	mcp.Tool{Name: "test_input_required_result_elicitation", Description: "Asks for a name and greets."},
	func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
		answer, err := call.Elicit("user_name", nameForm)
		if err != nil {
			return nil, err
		}
		switch answer.Action {
		case mcp.Decline:
			return mcp.Text("Hello, whoever you are!"), nil
		case mcp.Cancel:
			return mcp.Text("Another time, then."), nil
		}
		var user person
		if err := answer.Decode(&user); err != nil {
			return nil, err
		}
		return mcp.Text("Hello, " + user.Name + "!"), nil
	},
}

// The suite looks whether a server sends a request of its own while a call runs. A question is a result, so none does.
var streamingElicitation = tool{
	mcp.Tool{
		Name:        "test_streaming_elicitation",
		Description: "Asks for a name and greets, without a request to the client.",
	},
	elicitation.run,
}

// In URL mode the user answers on a page of the web, and the client only says whether the user went there. A real page
// would know the user, and tell the server what came of it. Ask is Elicit for what is not a form: the question is written
// out, and the answer is JSON of the right kind.
var urlElicitation = tool{
	mcp.Tool{Name: "url_elicitation", Description: "Asks the user to visit a page."},
	func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
		answers, err := call.Ask(visitPage)
		if err != nil {
			return nil, err
		}
		var visit struct{ Action string }
		if err := json.Unmarshal(answers[0], &visit); err != nil {
			return nil, err
		}
		return mcp.Text("The user's choice: " + visit.Action), nil
	},
}

// Sampling asks the client's model, and roots/list for its folders. Both are deprecated in this revision: a new tool had
// better do without. Clients still have them, so they can be asked for.
var sampling = tool{
	mcp.Tool{
		Name:        "test_input_required_result_sampling",
		Description: "Asks the client's model for the capital of France.",
	},
	func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
		var said *message
		if err := ask(call, capitalQuestion, &said); err != nil {
			return nil, err
		}
		return mcp.Text(said.String()), nil
	},
}

var listRoots = tool{
	mcp.Tool{
		Name:        "test_input_required_result_list_roots",
		Description: "Asks for the client's folders and counts them.",
	},
	func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
		var folders *roots
		if err := ask(call, clientRoots, &folders); err != nil {
			return nil, err
		}
		return mcp.Text(fmt.Sprintf("roots: %d", len(folders.Roots))), nil
	},
}

// The questions of this file that are not forms. A key names a question among those of one call.
var (
	visitPage = mcp.InputRequest{Key: "visit", Method: "elicitation/create", Params: json.RawMessage(
		`{"mode":"url","message":"Please visit this page.","url":"https://example.com/visit"}`)}
	capitalQuestion = mcp.InputRequest{Key: "capital_question", Method: "sampling/createMessage", Params: json.RawMessage(
		`{"messages":[{"role":"user","content":{"type":"text","text":"What is the capital of France?"}}],"maxTokens":100}`)}
	greetingRequest = mcp.InputRequest{Key: "greeting", Method: "sampling/createMessage", Params: json.RawMessage(
		`{"messages":[{"role":"user","content":{"type":"text","text":"Write a short greeting."}}],"maxTokens":50}`)}
	clientRoots = mcp.InputRequest{Key: "client_roots", Method: "roots/list"}
)

// A message is what a model says: one item of content, or an array of them.
type message struct {
	Model   string
	Content json.RawMessage
}

func (m message) String() string { return fmt.Sprintf("%s says: %s", m.Model, m.Content) }

type roots struct {
	Roots []struct{ URI, Name string }
}

// A tool with a choice looks at what the client can do before it asks.
var capabilities = tool{
	mcp.Tool{
		Name:        "test_input_required_result_capabilities",
		Description: "Asks the user or, where the client has no forms, its model.",
	},
	func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
		if call.Meta.Capabilities&mcp.ElicitationForm != 0 {
			return elicitation.run(ctx, call)
		}
		return sampling.run(ctx, call)
	},
}

// State makes both rounds speak of the same thing, here an order number, in a server that remembers nothing. A client can
// read it, but not alter it, nor use it with another tool or other arguments, nor for longer than Options.StateLife; it
// can use it twice. A server of several processes shares an Options.StateKey.
var requestState = tool{
	mcp.Tool{
		Name:        "test_input_required_result_request_state",
		Description: "Asks whether to send an order, which it remembers.",
	},
	sendOrder,
}

// With state that has been altered the answer is a JSON-RPC error, whatever the tool.
var tamperedState = tool{
	mcp.Tool{
		Name:        "test_input_required_result_tampered_state",
		Description: "Asks whether to send an order, and notices if its state is altered.",
	},
	sendOrder,
}

func sendOrder(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
	var order struct{ Number int }
	if err := recall(ctx, call, &order); err != nil {
		return nil, err
	}
	if order.Number == 0 { // the first round: if there is an answer, it is for no order of ours
		order.Number = 1000 + rand.IntN(9000)
		question := &mcp.InputRequired{Requests: []mcp.InputRequest{confirmForm.Request("confirm")}}
		return nil, remember(ctx, call, question, order)
	}
	var user *consent
	if err := fill(call, confirmForm, "confirm", &user); err != nil {
		return nil, remember(ctx, call, err, order)
	}
	return mcp.Text(fmt.Sprintf("state-ok: order %d, sent: %t", order.Number, user.OK)), nil
}

// A call brings the answers to the last question alone. So what is known already goes into the state.
var multiRound = tool{
	mcp.Tool{Name: "test_input_required_result_multi_round", Description: "Asks for a name, then for a colour."},
	func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
		var known struct {
			User  *person
			Taste *taste
		}
		if err := recall(ctx, call, &known); err != nil {
			return nil, err
		}
		if err := fill(call, nameForm, "step1", &known.User); err != nil {
			return nil, remember(ctx, call, err, known)
		}
		if err := fill(call, colorForm, "step2", &known.Taste); err != nil {
			return nil, remember(ctx, call, err, known)
		}
		return mcp.Text(known.User.Name + " likes " + known.Taste.Color + "."), nil
	},
}

// Several requests can go in one question; if some come back without an answer, those alone are asked for again.
var multipleInputs = tool{
	mcp.Tool{
		Name:        "test_input_required_result_multiple_inputs",
		Description: "Asks for a name, a greeting and the client's folders, all at once.",
	},
	func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
		var known struct {
			User     *person
			Greeting *message
			Folders  *roots
		}
		if err := recall(ctx, call, &known); err != nil {
			return nil, err
		}
		question := new(mcp.InputRequired)
		for _, err := range []error{
			fill(call, nameForm, "user_name", &known.User),
			ask(call, greetingRequest, &known.Greeting),
			ask(call, clientRoots, &known.Folders),
		} {
			var one *mcp.InputRequired
			if errors.As(err, &one) {
				question.Requests = append(question.Requests, one.Requests...)
			} else if err != nil {
				return nil, err
			}
		}
		if len(question.Requests) > 0 {
			return nil, remember(ctx, call, question, known)
		}
		return mcp.Text(fmt.Sprintf("%s has %d roots. %v", known.User.Name, len(known.Folders.Roots), known.Greeting)), nil
	},
}

// The helpers below share a rule: what is known is not asked for again. Nil is not known.

// fill decodes what the user puts into a form. The error may be the question.
func fill[T any](call *mcp.Call, form *mcp.Form, key string, known **T) error {
	if *known != nil {
		return nil
	}
	answer, err := call.Elicit(key, form)
	if err != nil {
		return err
	}
	if answer.Action != mcp.Accept {
		return fmt.Errorf("the user did not fill in %q (%s)", key, answer.Action)
	}
	return answer.Decode(known)
}

// ask does the same for a request that is not a form.
func ask[T any](call *mcp.Call, request mcp.InputRequest, known **T) error {
	if *known != nil {
		return nil
	}
	answers, err := call.Ask(request)
	if err != nil {
		return err
	}
	return json.Unmarshal(answers[0], known)
}

// remember adds to a question what recall is to give back in the next round. Another error it leaves as it is.
func remember(ctx context.Context, call *mcp.Call, err error, known any) error {
	var question *mcp.InputRequired
	if !errors.As(err, &question) {
		return err
	}
	payload, err := json.Marshal(known)
	if err != nil {
		return err
	}
	question.State = call.SealState(ctx, payload)
	return question
}

// recall gives back what an earlier round has remembered; in the first round it changes nothing. Its error is for the
// handler to return: the state has been altered, has expired, or is another call's.
func recall(ctx context.Context, call *mcp.Call, known any) error {
	payload, err := call.OpenState(ctx)
	if err != nil || payload == nil {
		return err
	}
	return json.Unmarshal(payload, known)
}
