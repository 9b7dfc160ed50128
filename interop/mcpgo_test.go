package interop

// mcpgo_test.go: the client of mcp-go. It asks server/discover and falls back to initialize, or is told to begin there.

import (
	"context"
	"fmt"
	"sync"
	"testing"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

const mcpGoVersion = "1.2.1"

func TestMCPGo(t *testing.T) {
	c := client{name: "mcp-go", version: mcpGoVersion, mode: "default", revision: latest, dial: dialMCPGo()}
	c.try(t)
	c.try(t, "-legacy")
	c = client{name: "mcp-go", version: mcpGoVersion, mode: "WithLegacyProtocolOnly", revision: "2025-11-25", dial: dialMCPGo(mcpclient.WithLegacyProtocolOnly())}
	c.try(t, "-legacy")
	for _, revision := range []string{"2025-06-18", "2025-03-26", "2024-11-05"} {
		dial := dialMCPGo(mcpclient.WithProtocolVersion(revision))
		client{name: "mcp-go", version: mcpGoVersion, mode: "WithProtocolVersion " + revision, revision: revision, dial: dial}.try(t, "-legacy")
	}
}

type mcpGo struct {
	c       *mcpclient.Client
	changed chan struct{}

	mu       sync.Mutex
	calls    int
	progress map[string]func(float64)
}

func dialMCPGo(options ...mcpclient.ClientOption) func(ctx context.Context, command []string) (driver, error) {
	return func(ctx context.Context, command []string) (driver, error) {
		d := &mcpGo{changed: make(chan struct{}, 100), progress: map[string]func(float64){}}
		d.c = mcpclient.NewClient(transport.NewStdioWithOptions(command[0], nil, command[1:]), append(options,
			mcpclient.WithElicitationHandler(mcpGoUser{}), mcpclient.WithSamplingHandler(mcpGoUser{}), mcpclient.WithRootsHandler(mcpGoUser{}))...)
		d.c.OnNotification(func(n mcp.JSONRPCNotification) {
			switch n.Method {
			case "notifications/tools/list_changed":
				d.changed <- struct{}{}
			case "notifications/progress":
				d.mu.Lock()
				defer d.mu.Unlock()
				if f := d.progress[fmt.Sprint(n.Params.AdditionalFields["progressToken"])]; f != nil {
					f(n.Params.AdditionalFields["progress"].(float64))
				}
			}
		})
		if err := d.c.Start(ctx); err != nil {
			return nil, err
		}
		request := mcp.InitializeRequest{}
		request.Params.ClientInfo = mcp.Implementation{Name: "interop", Version: "1.0.0"}
		_, err := d.c.Initialize(ctx, request)
		return d, err
	}
}

// mcpGoUser answers what the server asks.
type mcpGoUser struct{}

func (mcpGoUser) Elicit(ctx context.Context, request mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	content, err := filled(request.Params.RequestedSchema)
	return &mcp.ElicitationResult{ElicitationResponse: mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionAccept, Content: content}}, err
}

func (mcpGoUser) CreateMessage(context.Context, mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	message := mcp.SamplingMessage{Role: mcp.RoleAssistant, Content: mcp.NewTextContent(modelSays)}
	return &mcp.CreateMessageResult{SamplingMessage: message, Model: "none"}, nil
}

func (mcpGoUser) ListRoots(context.Context, mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	return &mcp.ListRootsResult{Roots: []mcp.Root{{URI: "file:///nowhere", Name: "nowhere"}}}, nil
}

func (d *mcpGo) revision() string { return d.c.ProtocolVersion() }

func (d *mcpGo) list(ctx context.Context) (names []string, err error) {
	result, err := d.c.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return nil, err
	}
	for _, tool := range result.Tools {
		names = append(names, tool.Name)
	}
	return names, nil
}

func (d *mcpGo) call(ctx context.Context, tool string, args map[string]any, progress func(float64)) (*answer, error) {
	request := mcp.CallToolRequest{Params: mcp.CallToolParams{Name: tool}}
	if args != nil {
		request.Params.Arguments = args
	}
	if progress != nil {
		d.mu.Lock()
		d.calls++
		d.progress[fmt.Sprint(d.calls)] = progress
		request.Params.Meta = &mcp.Meta{ProgressToken: d.calls}
		d.mu.Unlock()
	}
	result, err := d.c.CallTool(ctx, request)
	if err != nil {
		return nil, err
	}
	return answerOf(result.Content, result.StructuredContent, result.IsError)
}

func (d *mcpGo) listen(ctx context.Context) (<-chan struct{}, error) {
	_, err := d.c.ListenAsync(ctx, mcp.SubscriptionFilter{ToolsListChanged: true}, nil)
	return d.changed, err
}

func (d *mcpGo) close() error { return d.c.Close() }
