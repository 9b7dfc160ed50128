// Command minimcp serves a few demonstration tools over MCP on stdin and stdout, shows a guided tour of the protocol, and
// tries JSON Schemas.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"example.com/minimcp"
)

const version = "1.0.0"

const usage = `minimcp serves demonstration tools over the Model Context Protocol, revision ` + mcp.ProtocolVersion + `.

  minimcp            serve on stdin and stdout, one JSON message a line
  minimcp -legacy    the same, also for clients of older revisions (initialize)
  minimcp demo       a guided tour: this program talks to itself over pipes
  minimcp demo -raw  only the lines of the tour
  minimcp validate   read lines {"schema":...,"data":...} and judge each
  minimcp -version   print the version
  minimcp -h         print this
`

func main() {
	os.Exit(run(os.Args[1:]))
}

// run does what the arguments say and returns the exit status.
func run(args []string) int {
	var err error
	switch command := strings.Join(args, "\x00"); {
	case len(args) == 0, command == "-legacy":
		err = serve(len(args) > 0)
	case command == "demo", command == "demo\x00-raw":
		err = demo(os.Stdout, len(args) > 1)
	case command == "validate":
		err = validate(os.Stdin, os.Stdout)
	case command == "-h", command == "-help", command == "--help":
		fmt.Print(usage)
	case command == "-version", command == "--version":
		fmt.Println("minimcp", version, "(MCP "+mcp.ProtocolVersion+")")
	default:
		fmt.Fprintf(os.Stderr, "minimcp: unknown arguments: %s\n\n%s", strings.Join(args, " "), usage)
		return 2
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "minimcp:", err)
		return 1
	}
	return 0
}

// serve serves until the input ends or a signal comes.
func serve(legacy bool) error {
	server, err := newServer(legacy)
	if err != nil {
		return err
	}
	if isTerminal(os.Stdin) {
		io.WriteString(os.Stderr, "minimcp waits for MCP messages on stdin, one a line; minimcp -h says more, control-D ends it\n")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return server.ServeStdio(ctx)
}
