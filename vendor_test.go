package mcp

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// vendoredServer is the server of README, in a module of its own.
const vendoredServer = `package main

import (
	"context"
	"log"

	"example.com/minimcp"
)

func main() {
	server := mcp.NewServer(mcp.Implementation{Name: "hello", Version: "1.0.0"}, mcp.Options{})
	err := server.AddTool(mcp.Tool{Name: "hello"}, func(ctx context.Context, call *mcp.Call) (*mcp.Result, error) {
		return mcp.Text("Hello!"), nil
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := server.ServeStdio(context.Background()); err != nil {
		log.Fatal(err)
	}
}
`

// TestVendor: another module that requires this one gets one package of ours and nobody else's, nothing in its go.sum that
// its build would need, and a server that runs.
func TestVendor(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module")
	}
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	goCommand := func(args ...string) string {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(vendoredServer), 0o666); err != nil {
		t.Fatal(err)
	}
	goCommand("mod", "init", "example.com/hello")
	goCommand("mod", "edit", "-require", "example.com/minimcp@v0.0.0", "-replace", "example.com/minimcp="+here)
	goCommand("mod", "tidy")
	goCommand("mod", "vendor")
	var packages []string
	modules, err := os.ReadFile(filepath.Join(dir, "vendor", "modules.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(modules)) {
		if !strings.HasPrefix(line, "#") {
			packages = append(packages, strings.TrimSpace(line))
		}
	}
	if !slices.Equal(packages, []string{"example.com/minimcp"}) {
		t.Errorf("vendored: %q", packages)
	}
	if sum, err := os.ReadFile(filepath.Join(dir, "go.sum")); err == nil && len(sum) > 0 {
		os.Remove(filepath.Join(dir, "go.sum")) // the build below does without it
	}
	goCommand("build", "-mod=vendor", "-o", "hello", ".")
	runHello(t, filepath.Join(dir, "hello"))
}

// TestCopy: the files that are not tests, in a folder of another module, are the same package.
func TestCopy(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module")
	}
	dir := t.TempDir()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "mcp"), 0o777); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			write(filepath.Join("mcp", file), string(text))
		}
	}
	write("main.go", strings.Replace(vendoredServer, "example.com/minimcp", "example.com/hello/mcp", 1))
	write("go.mod", "module example.com/hello\n\ngo 1.25\n")
	cmd := exec.Command("go", "build", "-o", "hello", ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	runHello(t, filepath.Join(dir, "hello"))
}

// runHello calls the tool of the server.
func runHello(t *testing.T, server string) {
	cmd := exec.Command(server)
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hello",` + fuzzMeta + "}}\n")
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), `"text":"Hello!"`) {
		t.Errorf("%v: %s", err, out)
	}
}
