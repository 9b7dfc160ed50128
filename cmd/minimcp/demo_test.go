package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestDemoGolden: the tour says and shows what the golden file has, to the byte; piped, it is plain and 80 columns wide.
func TestDemoGolden(t *testing.T) {
	for _, tour := range []struct {
		file string
		args []string
	}{
		{"demo.txt", []string{"demo"}},
		{"demo-raw.txt", []string{"demo", "-raw"}},
	} {
		got, err := exec.Command(binary, tour.args...).Output()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", tour.file)
		if *update {
			if err := os.WriteFile(file, got, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%v differs from %s; go test ./cmd/minimcp -update writes it anew. Got:\n%s", tour.args, file, got)
		}
		for line := range strings.Lines(string(got)) {
			if strings.Contains(line, "\x1b") || tour.args[len(tour.args)-1] == "demo" && utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > columns {
				t.Errorf("not plain, or too wide: %q", line)
			}
		}
	}
}

// TestDemoPaint: colour is for a terminal, and never with NO_COLOR; what is not a terminal gets none.
func TestDemoPaint(t *testing.T) {
	if got := (shower{colour: true}).paint("1", "x"); got != "\x1b[1mx\x1b[0m" {
		t.Errorf("with colour: %q", got)
	}
	if got := (shower{}).paint("1", "x"); got != "x" {
		t.Errorf("without: %q", got)
	}
	var b bytes.Buffer
	if isTerminal(&b) {
		t.Error("a buffer is taken for a terminal")
	}
}

// TestRowEnd: a message is cut after a comma in the second half of a row, else where the row is full, never inside a rune.
func TestRowEnd(t *testing.T) {
	for _, row := range []struct{ message, first string }{
		{"0123456789", "0123456789"},
		{"0123456789x", "0123456789"},
		{"01234567,9x", "01234567,"},
		{"0,23456789x", "0,23456789"},
		{"ééééééééééx", "éééééééééé"},
	} {
		if got := row.message[:rowEnd(row.message, 10)]; got != row.first {
			t.Errorf("%q is cut to %q, want %q", row.message, got, row.first)
		}
	}
}
