// Command minimcp serves a few demonstration tools over MCP on stdin and stdout, shows a guided tour of the protocol, and
// tries JSON Schemas.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
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
	command := ""
	for i, arg := range args {
		if i > 0 {
			command += " "
		}
		command += arg
	}
	var err error
	switch command {
	case "", "-legacy":
		err = serve(command == "-legacy")
	case "demo", "demo -raw":
		err = demo(os.Stdout, command == "demo -raw")
	case "validate":
		err = validate(os.Stdin, os.Stdout)
	case "-h", "-help", "--help":
		fmt.Print(usage)
	case "-version", "--version":
		fmt.Println("minimcp", version, "(MCP "+mcp.ProtocolVersion+")")
	default:
		fmt.Fprintf(os.Stderr, "minimcp: unknown arguments: %s\n\n%s", command, usage)
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
	if info, err := os.Stdin.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		io.WriteString(os.Stderr, "minimcp waits for MCP messages on stdin, one a line; minimcp -h says more, control-D ends it\n")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return server.ServeStdio(ctx)
}
