// changes.go: tools that come and go while the server serves. Whoever has sent subscriptions/listen with
// toolsListChanged is told of each change; the handler need not care.
//
// Pages: server/tools, heading List Changed Notification; basic/patterns/subscriptions. This is the last file.

package main

import (
	"context"
	"sync"

	"example.com/minimcp"
)

// toolChange makes the tool that adds a tool where it is absent, and removes it where it is present. Calls run side by
// side, so the two steps need a lock.
func toolChange(server *mcp.Server) tool {
	var mu sync.Mutex
	return tool{
		mcp.Tool{Name: "test_trigger_tool_change", Description: "Adds the tool here_today, or removes it."},
		func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
			mu.Lock()
			defer mu.Unlock()
			if server.RemoveTool(hereToday.Name) {
				return mcp.Text("removed here_today"), nil
			}
			if err := server.AddTool(hereToday.Tool, hereToday.run); err != nil {
				return nil, err
			}
			return mcp.Text("added here_today"), nil
		},
	}
}

var hereToday = tool{
	mcp.Tool{Name: "here_today", Description: "Is there until test_trigger_tool_change is called again."},
	func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
		return mcp.Text("Here I am."), nil
	},
}
