package mcp

// imports_test.go: the package stands on the standard library alone, and reads the same everywhere.

import (
	"go/build/constraint"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sources are the Go files of a folder, tests or not.
func sources(t *testing.T, folder string, tests bool) (files []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		if strings.HasSuffix(file, "_test.go") == tests {
			files = append(files, file)
		}
	}
	if len(files) == 0 {
		t.Fatalf("no Go files in %s", folder)
	}
	return files
}

// imports are the packages that a file imports.
func imports(t *testing.T, file string) (paths []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range parsed.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

func TestImports(t *testing.T) {
	standard := func(path string) bool {
		first, _, _ := strings.Cut(path, "/")
		return !strings.Contains(first, ".")
	}
	for _, file := range sources(t, ".", false) {
		for _, path := range imports(t, file) {
			// Nothing is fetched, so that net is not needed; net/url only takes references apart.
			if !standard(path) || path == "unsafe" || path == "C" || path == "net" || strings.HasPrefix(path, "net/") && path != "net/url" {
				t.Errorf("%s imports %s", file, path)
			}
		}
	}
	for _, file := range sources(t, ".", true) {
		for _, path := range imports(t, file) {
			if !standard(path) && !strings.HasPrefix(path, "github.com/google/go-cmp/") && !strings.HasPrefix(path, "example.com/minimcp") {
				t.Errorf("%s imports %s", file, path)
			}
		}
	}
}

// TestSourcesAreForEverywhere: there is one set of files for all systems, and nothing is generated.
func TestSourcesAreForEverywhere(t *testing.T) {
	commands, err := filepath.Glob("cmd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range append(commands, ".") {
		files := sources(t, folder, false)
		if tests, err := filepath.Glob(filepath.Join(folder, "*_test.go")); err == nil {
			files = append(files, tests...)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				if line = strings.TrimSpace(line); constraint.IsGoBuild(line) || constraint.IsPlusBuild(line) || strings.HasPrefix(line, "//go:"+"generate") {
					t.Errorf("%s: %s", file, line)
				}
			}
			name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".go"), "_test")
			if part := name[strings.LastIndex(name, "_")+1:]; slices.Contains([]string{"linux", "windows", "darwin", "unix", "amd64", "arm64"}, part) {
				t.Errorf("%s is for %s alone", file, part)
			}
		}
	}
}

// TestGoMod: go.mod asks for nothing but go-cmp, benchstat, and what they need.
func TestGoMod(t *testing.T) {
	text, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	// benchstat is of golang.org/x/perf, and needs github.com/aclements/go-moremath.
	needed := []string{"github.com/google/go-cmp", "golang.org/x/perf", "github.com/aclements/go-moremath"}
	seen := make(map[string]bool)
	block := ""
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(line)
		directive := block
		switch {
		case len(words) == 0:
			continue
		case words[0] == ")":
			block = ""
			continue
		case len(words) == 2 && words[1] == "(":
			block = words[0]
			continue
		case block == "":
			directive, words = words[0], words[1:]
		}
		switch directive {
		case "module":
		case "go":
			if words[0] != "1.25" {
				t.Errorf("go %s", words[0])
			}
		case "tool":
			if words[0] != "golang.org/x/perf/cmd/benchstat" {
				t.Errorf("the tool %s", words[0])
			}
		case "require":
			seen[words[0]] = true
			if !slices.Contains(needed, words[0]) {
				t.Errorf("%s is required", words[0])
			}
		default:
			t.Errorf("a directive %s", directive)
		}
	}
	if !seen["github.com/google/go-cmp"] {
		t.Error("go-cmp is not there")
	}
}
