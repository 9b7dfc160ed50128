// Command mcpgo is a server made with mcp-go, for its lines to be recorded.
package main

import (
	"context"
	"encoding/json"
	"log"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func main() {
	s := server.NewMCPServer("recorded", "1.0.0", server.WithInstructions("Say <&> and \u2028."), server.WithToolCapabilities(true))
	s.AddTool(mcp.NewTool("echo", mcp.WithDescription("Says it again."), mcp.WithString("text", mcp.Required())),
		func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(call.GetString("text", "")), nil
		})
	s.AddTool(mcp.NewTool("fail"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultError("it failed: <&> \u2028"), nil
	})
	s.AddTool(mcp.NewTool("weather"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultStructuredOnly(map[string]any{"temperature": 21.5, "conditions": "<clear>"}), nil
	})
	s.AddTool(mcp.NewTool("steps"), func(ctx context.Context, call mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for step := range 2 {
			err := s.SendNotificationToClient(ctx, "notifications/progress", map[string]any{
				"progressToken": call.Params.Meta.ProgressToken, "progress": step + 1, "total": 2})
			if err != nil {
				return nil, err
			}
		}
		return &mcp.CallToolResult{}, nil
	})
	s.AddTool(mcp.NewTool("raw"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		raw := json.RawMessage(`{ "n": 12345678901234567890.50, "s": "\u2028" }`)
		return &mcp.CallToolResult{StructuredContent: raw}, nil
	})
	if err := server.ServeStdio(s); err != nil {
		log.Print(err)
	}
}
