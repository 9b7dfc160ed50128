package mcp

// ledger_test.go holds SPEC_NOTES.md true as far as that can be checked: the statements are all there, each once, and
// what is named exists. That a function meets a statement and a test shows it is for readers to see.

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ledgerIDs are the numbers, by page, of the statements that bind a server or both sides. Numbers that are missing here
// bind clients and hosts alone.
var ledgerIDs = map[string]string{
	"overview": "1,4-7", "deprecated": "1-2", "basic": "1-3,7-13,16-22,24-26,28-34,36-62,64-66,68-74",
	"versioning": "2,4,6-9,13,15-16", "patterns": "1,3-4", "cancellation": "2-3,5,7,11-15,17-18,20", "mrtr": "1,4-21,28-32",
	"progress": "1,4-11", "subscriptions": "1-6,8,11-13,16", "transports": "1-3,5-9", "stdio": "1-4,7,9,11,13,16-17,19-20",
	"discover": "1,3,6-7", "tools": "5-12,14-17,19-23,27,29-35,37-40,43-46", "caching": "1-3,6,11-12,20,22-23,27-31",
	"pagination": "3-6,11", "logging": "1-7", "elicitation": "1-32",
	"schema": "1-8,11,14-27,30,32-34,36-39,41,43,45-51,53-60,62,64", "jsonrpc": "1-4,6-7,9-16",
}

// expectedIDs writes them out.
func expectedIDs() (ids []string) {
	for page, ranges := range ledgerIDs {
		for part := range strings.SplitSeq(ranges, ",") {
			first, last, isRange := strings.Cut(part, "-")
			from, _ := strconv.Atoi(first)
			to, _ := strconv.Atoi(last)
			if !isRange {
				to = from
			}
			for n := from; n <= to; n++ {
				ids = append(ids, fmt.Sprintf("%s-%02d", page, n))
			}
		}
	}
	return ids
}

// A codeBase is what a ledger can name: the names in the package's sources, as Name or Type.Name, those of a command
// with its folder before them; the same for tests; and the text of all tests.
type codeBase struct {
	names, tests map[string]bool
	testText     string
}

func readCodeBase(t *testing.T) codeBase {
	c := codeBase{map[string]bool{}, map[string]bool{}, ""}
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && path != "." && (strings.HasPrefix(path, ".") || entry.Name() == "testdata" || entry.Name() == "vendor" || entry.Name() == "node_modules") {
			return cmp.Or(err, fs.SkipDir)
		}
		if entry.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder := ""
		if dir := filepath.ToSlash(filepath.Dir(path)); dir != "." {
			folder = dir + "."
		}
		into := c.names
		if strings.HasSuffix(path, "_test.go") {
			into = c.tests
			c.testText += string(source)
		}
		for _, name := range declared(file) {
			into[folder+name] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// declared are the names at the top of a file: functions, methods, types and their fields, constants, variables.
func declared(file *ast.File) (names []string) {
	add := func(prefix string, idents ...*ast.Ident) {
		for _, ident := range idents {
			names = append(names, prefix+ident.Name)
		}
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			prefix := ""
			if d.Recv != nil {
				receiver := d.Recv.List[0].Type
				if pointer, ok := receiver.(*ast.StarExpr); ok {
					receiver = pointer.X
				}
				prefix = fmt.Sprint(receiver) + "."
			}
			add(prefix, d.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					add("", s.Names...)
				case *ast.TypeSpec:
					add("", s.Name)
					if fields, ok := s.Type.(*ast.StructType); ok {
						for _, field := range fields.Fields.List {
							add(s.Name.Name+".", field.Names...)
						}
					}
				}
			}
		}
	}
	return names
}

// A ledgerRow is a statement: its id, what it asks, where it is met, and what shows it.
type ledgerRow struct{ id, requirement, where, shown string }

func ledgerRows(text string) (rows []ledgerRow) {
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) == 6 && ledgerID.MatchString(cells[1]) {
			rows = append(rows, ledgerRow{cells[1], cells[2], cells[3], cells[4]})
		}
	}
	return rows
}

var (
	ledgerID    = regexp.MustCompile(`^[a-z]+-[0-9]+$`)
	ledgerName  = regexp.MustCompile("`([^`]*)`")
	ledgerQuote = regexp.MustCompile(`"([^"]*)"`)
	// noTest begins the last cell of a row that no test shows.
	noTest = regexp.MustCompile(`^(A permission|The author's|The host's|Out of scope|Cannot be shown|Not met|Met in part; not shown|This file)\b`)
)

// ledgerRules are the rules of a ledger, each with a function that gives what breaks it.
var ledgerRules = []struct {
	rule   string
	broken func(text string, c codeBase) []string
}{
	{"every statement is there", func(text string, c codeBase) (missing []string) {
		there := map[string]bool{}
		for _, r := range ledgerRows(text) {
			there[r.id] = true
		}
		for _, id := range expectedIDs() {
			if !there[id] {
				missing = append(missing, id)
			}
		}
		return missing
	}},
	{"no statement is there twice, and none that does not bind a server", func(text string, c codeBase) (extra []string) {
		left := map[string]bool{}
		for _, id := range expectedIDs() {
			left[id] = true
		}
		for _, r := range ledgerRows(text) {
			if !left[r.id] {
				extra = append(extra, r.id)
			}
			delete(left, r.id)
		}
		return extra
	}},
	{"every row says what is asked, where it is met and what shows it", func(text string, c codeBase) (bare []string) {
		for _, r := range ledgerRows(text) {
			if r.requirement == "" || r.where == "" || r.shown == "" {
				bare = append(bare, r.id)
			}
		}
		return bare
	}},
	{"a row without a test says why", func(text string, c codeBase) (bare []string) {
		for _, r := range ledgerRows(text) {
			if !ledgerName.MatchString(r.shown) && !noTest.MatchString(r.shown) {
				bare = append(bare, r.id)
			}
		}
		return bare
	}},
	{"whatever stands in backticks is a name in the sources or a test", func(text string, c codeBase) (unknown []string) {
		for _, name := range ledgerName.FindAllStringSubmatch(text, -1) {
			if !c.names[name[1]] && !c.tests[name[1]] {
				unknown = append(unknown, name[1])
			}
		}
		return unknown
	}},
	{"where a statement is met is no test, and what shows it is one", func(text string, c codeBase) (wrong []string) {
		for _, r := range ledgerRows(text) {
			for _, name := range ledgerName.FindAllStringSubmatch(r.where, -1) {
				if !c.names[name[1]] {
					wrong = append(wrong, r.id+": "+name[1])
				}
			}
			for _, name := range ledgerName.FindAllStringSubmatch(r.shown, -1) {
				if !c.tests[name[1]] && !noTest.MatchString(r.shown) {
					wrong = append(wrong, r.id+": "+name[1])
				}
			}
		}
		return wrong
	}},
	{"a row of a test that is named in quotes is in a test", func(text string, c codeBase) (unknown []string) {
		for _, r := range ledgerRows(text) {
			for _, quote := range ledgerQuote.FindAllStringSubmatch(r.shown, -1) {
				if !strings.Contains(c.testText, strings.TrimSuffix(quote[1], " ...")) {
					unknown = append(unknown, r.id+": "+quote[1])
				}
			}
		}
		return unknown
	}},
}

func TestLedger(t *testing.T) {
	ledger, err := os.ReadFile("SPEC_NOTES.md")
	if err != nil {
		t.Fatal(err)
	}
	c := readCodeBase(t)
	t.Run("README points at what exists", func(t *testing.T) {
		readme, err := os.ReadFile("README.md")
		if err != nil {
			t.Fatal(err)
		}
		for _, heading := range []string{"| the question | the answer |", "## To change it\n"} {
			_, part, _ := strings.Cut(string(readme), heading)
			part, _, _ = strings.Cut(part, "\n## ")
			names := ledgerName.FindAllStringSubmatch(part, -1)
			if len(names) < 10 {
				t.Errorf("nothing is found under %s", heading)
			}
			for _, name := range names {
				if !c.names[name[1]] && !c.tests[name[1]] {
					t.Error(name[1])
				}
			}
		}
		example, err := os.ReadFile("example_test.go")
		if err != nil {
			t.Fatal(err)
		}
		_, handler, _ := strings.Cut(string(example), "are in README as well.\n")
		handler, _, found := strings.Cut(handler, "\n\n// What a tool")
		if !found || !strings.Contains(string(readme), handler) {
			t.Error("the handler that asks is not that of example_test.go")
		}
	})
	for _, rule := range ledgerRules {
		t.Run(rule.rule, func(t *testing.T) {
			for _, what := range rule.broken(string(ledger), c) {
				t.Error(what)
			}
		})
	}
}

// TestLedgerNotices: each rule, in its order, is broken by the row beside it.
func TestLedgerNotices(t *testing.T) {
	c := codeBase{map[string]bool{"isID": true}, map[string]bool{"TestIDs": true}, "a row"}
	for i, row := range []string{
		"| overview-04 | a | `isID` | `TestIDs` |",
		"| overview-02 | a | `isID` | `TestIDs` |",
		"| overview-01 | a |  | `TestIDs` |",
		"| overview-01 | a | `isID` | tested |",
		"| overview-01 | a | `isId` | `TestIDs` |",
		"| overview-01 | a | `TestIDs` | `TestIDs` |",
		"| overview-01 | a | `isID` | `TestIDs` \"no row\" |",
	} {
		t.Run(ledgerRules[i].rule, func(t *testing.T) {
			if len(ledgerRules[i].broken(row, c)) == 0 {
				t.Errorf("nobody minds %s", row)
			}
		})
	}
	good := "| overview-01 | a | `isID` | `TestIDs` \"a row\" |"
	for _, rule := range ledgerRules[1:] {
		if broken := rule.broken(good, c); broken != nil {
			t.Errorf("%s: %v", rule.rule, broken)
		}
	}
	if twice := ledgerRules[1].broken(good+"\n"+good, c); !slices.Equal(twice, []string{"overview-01"}) {
		t.Errorf("twice: %v", twice)
	}
	if n := len(expectedIDs()); n != 318 || len(slices.Compact(slices.Sorted(maps.Keys(ledgerIDs)))) != 19 {
		t.Errorf("%d statements are expected, not 318", n)
	}
}
