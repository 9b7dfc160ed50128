// Command relay runs a server in the place of itself and keeps a trace of what passes: relay FOLDER SERVER ARG...
//
// The trace is a file of its own in the folder. A line of it begins with > where the client has written it, with < where
// the server has, and with = where something has happened: the end of the client's output, a signal, the server's exit.
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("relay: ")
	if len(os.Args) < 3 {
		log.Fatal("usage: relay FOLDER SERVER ARG...")
	}
	name := fmt.Sprintf("%s/%020d-%d", os.Args[1], time.Now().UnixNano(), os.Getpid())
	file, err := os.Create(name)
	if err != nil {
		log.Fatal(err)
	}
	t := &trace{file: file}

	server := exec.Command(os.Args[2], os.Args[3:]...)
	server.Stderr = os.Stderr
	in, err := server.StdinPipe()
	if err != nil {
		log.Fatal(err)
	}
	out, err := server.StdoutPipe()
	if err != nil {
		log.Fatal(err)
	}
	if err := server.Start(); err != nil {
		log.Fatal(err)
	}

	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for s := range signals {
			t.note("=", []byte(s.String()))
			server.Process.Signal(s)
		}
	}()
	go func() {
		t.copy(">", in, os.Stdin)
		t.note("=", []byte("end of input"))
		in.Close()
	}()
	t.copy("<", os.Stdout, out)
	err = server.Wait()
	t.note("=", []byte(server.ProcessState.String()))
	if err != nil {
		log.Fatal(err)
	}
}

type trace struct {
	mu   sync.Mutex
	file *os.File
}

func (t *trace) note(mark string, line []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(t.file, "%s %s\n", mark, line)
}

// copy passes on line by line, each noted before, so that an answer never comes before its question.
func (t *trace) copy(mark string, w io.Writer, r io.Reader) {
	for lines := bufio.NewReader(r); ; {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			text := line
			if text[len(text)-1] == '\n' {
				text = text[:len(text)-1]
			}
			t.note(mark, text)
			if _, err := w.Write(line); err != nil {
				t.note("=", []byte(err.Error()))
				return
			}
		}
		if err != nil {
			return
		}
	}
}
