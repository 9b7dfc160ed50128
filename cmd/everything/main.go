// Command everything serves over MCP, on stdin and stdout, a tool for every feature of package mcp. The tools whose names
// begin with test_, and json_schema_2020_12_tool, are those that the official conformance suite asks a server for; the
// rest are there where it asks for nothing.
//
// It is an example before it is a program. main.go makes the server and lists its tools; a tool is a variable with its
// description and its handler side by side, to be read alone. The files, from the plain to the involved: content.go (what
// a tool can say), schemas.go (what goes in and comes out), patterns.go (progress, questions to the client, state),
// changes.go (tools that come and go).
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"example.com/minimcp"
)

const usage = `everything serves a tool for every feature of MCP, revision ` + mcp.ProtocolVersion + `, on stdin and stdout.

  everything          serve, one JSON message a line
  everything -legacy  the same, also for clients of older revisions (initialize)
  everything -h       print this
`

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run does what the arguments say and returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	command := strings.Join(args, " ")
	switch command {
	case "", "-legacy":
	case "-h", "-help", "--help":
		io.WriteString(stdout, usage)
		return 0
	default:
		fmt.Fprintf(stderr, "everything: unknown arguments: %s\n\n%s", command, usage)
		return 2
	}
	// The first of these signals ends the context, and with it the calls that run and the subscriptions.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server, err := newServer(mcp.Options{Legacy: command == "-legacy"})
	if err == nil {
		err = server.ServeStdio(ctx)
	}
	if err != nil {
		fmt.Fprintln(stderr, "everything:", err)
		return 1
	}
	return 0
}

// A tool is what tools/list says of it, and what runs it.
type tool struct {
	mcp.Tool
	run mcp.Handler
}

// newServer makes the server with all its tools. The options that it does not set are the caller's.
func newServer(options mcp.Options) (*mcp.Server, error) {
	options.Instructions = "Every tool shows one feature of the protocol; none acts on the world."
	options.TTL = 10 * time.Second // the list of tools changes here
	server := mcp.NewServer(mcp.Implementation{
		Name:        "everything",
		Version:     "1.0.0",
		Title:       "Everything",
		Description: "A tool for every feature of MCP.",
	}, options)
	for _, t := range []tool{
		// content.go
		simpleText, imageContent, audioContent, embeddedResource, resourceLink, multipleContentTypes, errorHandling,
		// schemas.go
		statistics, contact, region, echo, requestMeta, logging,
		// patterns.go
		progress, missingCapability, elicitation, streamingElicitation, urlElicitation, sampling, listRoots,
		capabilities, requestState, tamperedState, multiRound, multipleInputs,
		// changes.go
		toolChange(server),
	} {
		if err := server.AddTool(t.Tool, t.run); err != nil {
			return nil, err
		}
	}
	return server, nil
}
