package interop

// gosdk_test.go: the client of the Go SDK. It asks server/discover and falls back to initialize; given an older revision
// it opens with initialize.

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const goSDKVersion = "1.8.0"

func TestGoSDK(t *testing.T) {
	c := client{name: "Go SDK", version: goSDKVersion, mode: "default", revision: latest, dial: dialGoSDK("")}
	c.try(t)
	c.try(t, "-legacy")
	for _, revision := range []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		client{name: "Go SDK", version: goSDKVersion, mode: "ProtocolVersion " + revision, revision: revision, dial: dialGoSDK(revision)}.try(t, "-legacy")
	}
}

type goSDK struct {
	session *mcp.ClientSession
	changed chan struct{}

	mu       sync.Mutex
	calls    int
	progress map[any]func(float64)
}

func dialGoSDK(revision string) func(ctx context.Context, command []string) (driver, error) {
	return func(ctx context.Context, command []string) (driver, error) {
		d := &goSDK{changed: make(chan struct{}, 100), progress: map[any]func(float64){}}
		c := mcp.NewClient(&mcp.Implementation{Name: "interop", Version: "1.0.0"}, &mcp.ClientOptions{
			ElicitationHandler: func(ctx context.Context, request *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				content, err := filled(request.Params.RequestedSchema)
				return &mcp.ElicitResult{Action: "accept", Content: content}, err
			},
			CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
				return &mcp.CreateMessageResult{Model: "none", Role: "assistant", Content: &mcp.TextContent{Text: modelSays}}, nil
			},
			ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { d.changed <- struct{}{} },
			ProgressNotificationHandler: func(ctx context.Context, request *mcp.ProgressNotificationClientRequest) {
				d.mu.Lock()
				defer d.mu.Unlock()
				if f := d.progress[request.Params.ProgressToken]; f != nil {
					f(request.Params.Progress)
				}
			},
		})
		c.AddRoots(&mcp.Root{URI: "file:///nowhere", Name: "nowhere"})
		server := exec.Command(command[0], command[1:]...)
		server.Stderr = os.Stderr
		var err error
		d.session, err = c.Connect(ctx, &mcp.CommandTransport{Command: server}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
		return d, err
	}
}

func (d *goSDK) revision() string { return d.session.InitializeResult().ProtocolVersion }

func (d *goSDK) list(ctx context.Context) (names []string, err error) {
	for tool, err := range d.session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		names = append(names, tool.Name)
	}
	return names, nil
}

func (d *goSDK) call(ctx context.Context, tool string, args map[string]any, progress func(float64)) (*answer, error) {
	params := &mcp.CallToolParams{Name: tool}
	if args != nil { // a nil map would be sent as null, which is not an object
		params.Arguments = args
	}
	if progress != nil {
		d.mu.Lock()
		d.calls++
		token := string(rune('a' + d.calls))
		d.progress[token] = progress
		d.mu.Unlock()
		params.SetProgressToken(token)
	}
	result, err := d.session.CallTool(ctx, params)
	if err != nil {
		return nil, err
	}
	return answerOf(result.Content, result.StructuredContent, result.IsError)
}

func (d *goSDK) listen(context.Context) (<-chan struct{}, error) { return d.changed, nil }
func (d *goSDK) close() error                                    { return d.session.Close() }

// answerOf takes a result apart by way of its JSON.
func answerOf[T any](content []T, structured any, isError bool) (*answer, error) {
	a := &answer{IsError: isError}
	for _, item := range content {
		raw, err := json.Marshal(item)
		var c struct{ Type, Text string }
		if err == nil {
			err = json.Unmarshal(raw, &c)
		}
		if err != nil {
			return nil, err
		}
		a.Kinds = append(a.Kinds, c.Type)
		if c.Type == "text" {
			a.Text = append(a.Text, c.Text)
		}
	}
	var err error
	if structured != nil {
		a.Structured, err = json.Marshal(structured)
	}
	return a, err
}
