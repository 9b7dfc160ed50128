// Command gosdk is a server made with the Go SDK, for its lines to be recorded.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type text struct {
	Text string `json:"text"`
}

type weather struct {
	Temperature float64 `json:"temperature"`
	Conditions  string  `json:"conditions"`
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "recorded", Version: "1.0.0"}, &mcp.ServerOptions{Instructions: "Say <&> and \u2028."})
	mcp.AddTool(server, &mcp.Tool{Name: "echo", Description: "Says it again."},
		func(ctx context.Context, call *mcp.CallToolRequest, in text) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}}}, nil, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "fail"}, func(context.Context, *mcp.CallToolRequest, any) (*mcp.CallToolResult, any, error) {
		return nil, nil, errors.New("it failed: <&> \u2028")
	})
	mcp.AddTool(server, &mcp.Tool{Name: "weather"}, func(context.Context, *mcp.CallToolRequest, any) (*mcp.CallToolResult, weather, error) {
		return nil, weather{21.5, "<clear>"}, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "steps"}, func(ctx context.Context, call *mcp.CallToolRequest, in any) (*mcp.CallToolResult, any, error) {
		for step := range 2 {
			err := call.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: call.Params.GetProgressToken(), Progress: float64(step + 1), Total: 2})
			if err != nil {
				return nil, nil, err
			}
		}
		return &mcp.CallToolResult{}, nil, nil
	})
	server.AddTool(&mcp.Tool{Name: "raw", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{StructuredContent: json.RawMessage(`{ "n": 12345678901234567890.50, "s": "\u2028" }`)}, nil
	})
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Print(err)
	}
}
