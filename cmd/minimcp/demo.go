package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"
)

// A step of the tour: what is sent, how many lines come back, and what that teaches.
type step struct {
	title   string
	teaches string
	send    []string
	answers int
}

// What the lines below abbreviate: the _meta that every request needs, and the same with more in it.
const (
	version0728 = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
	metaPlain   = `"_meta":{` + version0728 + `,"io.modelcontextprotocol/clientCapabilities":{}}`
	metaToken   = `"_meta":{` + version0728 + `,"io.modelcontextprotocol/clientCapabilities":{},"progressToken":"p1"}`
	metaForms   = `"_meta":{` + version0728 + `,"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}`
	metaLacking = `"_meta":{` + version0728 + `}`
	metaOld     = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-01-01","io.modelcontextprotocol/clientCapabilities":{}}`
)

func request(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"%s","params":{%s}}`, id, method, params)
}

// tour is made when it is asked for: a server does without.
func tour() []step {
	return []step{
		{"Discovery", "A client may begin with a look at the server: versions, capabilities, name. It need not; there is no handshake.",
			[]string{request(1, "server/discover", metaPlain)}, 1},
		{"A missing _meta key", "Every request says its version and what the client can do, because the server remembers nothing. Without one of the two it is malformed.",
			[]string{request(2, "tools/list", metaLacking)}, 1},
		{"An unsupported version", "The error lists the versions that would do, so that the client can try again.",
			[]string{request(3, "tools/list", metaOld)}, 1},
		{"The tools", "Sorted by name, each with the JSON Schema of its arguments, and how long the list may be kept.",
			[]string{request(4, "tools/list", metaPlain)}, 1},
		{"A call", "The result has content for the model. The id tells which request it answers.",
			[]string{request(5, "tools/call", `"name":"add","arguments":{"a":2,"b":3},`+metaPlain)}, 1},
		{"A tool's failure", "The tool failed, the request did not: an ordinary result with isError, for the model to read.",
			[]string{request(6, "tools/call", `"name":"boom",`+metaPlain)}, 1},
		{"A protocol error", "There is no such tool: an error, for the client. The same for a method that the server does not have.",
			[]string{request(7, "tools/call", `"name":"nope",`+metaPlain), request(8, "resources/list", metaPlain)}, 2},
		{"Four problems in one answer", "Arguments are checked against the schema, and every problem is named, so that the model can mend them all at once.",
			[]string{request(9, "tools/call", `"name":"get_weather","arguments":{"days":2.5,"units":"k","x":1},`+metaPlain)}, 1},
		{"A parse error", "A line that is not JSON. Its id cannot be known, so the error has none; the server goes on.",
			[]string{`{"jsonrpc":"2.0","id":10,`}, 1},
		{"A notification", "No id, no answer, whatever it says. The request after it is answered.",
			[]string{`{"jsonrpc":"2.0","method":"notifications/anything"}`, request(11, "tools/call", `"name":"echo","arguments":{"text":"line1\nline2"},`+metaPlain)}, 1},
		{"Progress", "A request with a progress token may be told how far it is, until it is answered.",
			[]string{request(12, "tools/call", `"name":"sleep","arguments":{"ms":300,"steps":3},`+metaToken)}, 4},
		{"A cancel", "The call ends and is never answered; its id is free. What comes after it is answered.",
			[]string{request(13, "tools/call", `"name":"sleep","arguments":{"ms":60000},`+metaPlain),
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":13}}`,
				request(14, "tools/call", `"name":"echo","arguments":{"text":"still here"},`+metaPlain)}, 1},
		{"A question to the user", "The tool needs input, so the result asks for it. The server keeps nothing: the client calls again, with the answer.",
			[]string{request(15, "tools/call", `"name":"greet",`+metaForms)}, 1},
		{"The answer", "Another request with another id, which carries all that is needed.",
			[]string{request(16, "tools/call", `"name":"greet","inputResponses":{"name":{"action":"accept","content":{"name":"Ada"}}},`+metaForms)}, 1},
	}
}

// demo starts this program as a server, over real pipes, and shows what goes over the wire.
func demo(w io.Writer, raw bool) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	stdin, in, err := os.Pipe()
	if err != nil {
		return err
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		return err
	}
	server, err := os.StartProcess(self, []string{self}, &os.ProcAttr{Files: []*os.File{stdin, stdout, os.Stderr}})
	if err != nil {
		return err
	}
	stdin.Close()
	stdout.Close()
	stuck := time.AfterFunc(20*time.Second, func() { server.Kill() })
	defer stuck.Stop()
	show := shower{w: w, raw: raw, colour: isTerminal(w) && os.Getenv("NO_COLOR") == ""}
	answers, steps := bufio.NewReader(out), tour()
	for i, s := range steps {
		show.head(i+1, s.title, s.teaches)
		for _, line := range s.send {
			show.line("→ ", line)
			if _, err := io.WriteString(in, line+"\n"); err != nil {
				return err
			}
		}
		for range s.answers {
			line, err := answers.ReadString('\n')
			if err != nil {
				return fmt.Errorf("step %q: the server has ended: %w", s.title, err)
			}
			show.line("← ", strings.TrimSuffix(line, "\n"))
		}
	}
	in.Close()
	if rest, _ := io.ReadAll(answers); len(rest) > 0 {
		return errors.New("the server wrote more than it should: " + string(rest))
	}
	if end, err := server.Wait(); err != nil || !end.Success() {
		return fmt.Errorf("the server has ended badly: %v, %v", end, err)
	}
	show.head(len(steps)+1, "The end", "The client closes the server's stdin, and the server ends, with status 0.")
	return nil
}

// isTerminal reports whether a stream is a terminal, as far as can be told without more than the standard library.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull) // is a device of that kind too
	return err != nil || !os.SameFile(info, null)
}

// A shower writes the tour for a terminal of 80 columns, or only its lines.
type shower struct {
	w           io.Writer
	raw, colour bool
}

const columns = 80

func (s shower) head(number int, title, teaches string) {
	if s.raw {
		return
	}
	if number > 1 {
		fmt.Fprintln(s.w)
	}
	fmt.Fprintln(s.w, s.paint("1", fmt.Sprintf("%d. %s", number, title)))
	for _, line := range wrapWords(teaches, columns-3) {
		fmt.Fprintln(s.w, "   "+s.paint("2", line))
	}
}

// line writes a message, cut where a row of the terminal is full.
func (s shower) line(arrow, message string) {
	if s.raw {
		fmt.Fprintln(s.w, message)
		return
	}
	colour := "36"
	if arrow == "← " {
		colour = "32"
	}
	for message != "" {
		cut := rowEnd(message, columns-2)
		fmt.Fprintln(s.w, s.paint(colour, arrow+message[:cut]))
		arrow, message = "  ", message[cut:]
	}
}

// rowEnd is where a message of more than width runes is cut: after a comma, if one is near.
func rowEnd(message string, width int) int {
	end, comma, runes := len(message), 0, 0
	for i, r := range message {
		if runes++; runes > width {
			end = i
			break
		}
		if r == ',' && runes > width/2 {
			comma = i + 1
		}
	}
	if end < len(message) && comma > 0 {
		return comma
	}
	return end
}

func (s shower) paint(colour, text string) string {
	if !s.colour {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// wrapWords breaks a text into lines of at most width columns.
func wrapWords(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}
