package mcp

// tools_test.go: tools that are registered, listed page by page, and called: what a handler may return, and what becomes
// of it.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestAddTool: what is registered is refused with a reason, or comes out of tools/list compacted and otherwise as it was.
func TestAddTool(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	object := raw(`{"type":"object"}`)
	t.Run("refused", func(t *testing.T) {
		for _, row := range []struct {
			rule string
			tool Tool
			want string
		}{
			{"no name", Tool{}, `tool "": name: `},
			{"a space in the name", Tool{Name: "a b"}, `tool "a b": name: `},
			{"a letter of another script", Tool{Name: "é"}, `tool "é": name: `},
			{"a slash", Tool{Name: "a/b"}, `tool "a/b": name: `},
			{"other signs near the letters", Tool{Name: "a@["}, `tool "a@[": name: `},
			{"a NUL byte", Tool{Name: "a\x00"}, `tool "a\x00": name: `},
			{"129 characters", Tool{Name: strings.Repeat("x", 129)}, `tool "` + strings.Repeat("x", 61) + `…": name: `},
			{"a name that is taken", Tool{Name: "taken"}, `tool "taken": the name is taken`},
			{"an input schema that is not JSON", Tool{Name: "a", InputSchema: raw(`{"type":"object"`)}, `tool "a": input schema: schema, at (root): not JSON, at byte 16: want a comma or the end of the object`},
			{"an input schema of another type", Tool{Name: "a", InputSchema: raw(`{"type":"string"}`)}, `tool "a": input schema: expected an object with "type":"object"`},
			{"an input schema without a type", Tool{Name: "a", InputSchema: raw(`{}`)}, `tool "a": input schema: expected an object with "type":"object"`},
			{"an input schema of two types", Tool{Name: "a", InputSchema: raw(`{"type":["object","null"]}`)}, `tool "a": input schema: expected an object with "type":"object"`},
			{"an input schema true", Tool{Name: "a", InputSchema: raw(`true`)}, `tool "a": input schema: expected an object with "type":"object"`},
			{"a keyword that is not known", Tool{Name: "a", InputSchema: raw(`{"type":"object","properties":{"a":{"typo":"string"}}}`)}, `tool "a": input schema: `},
			{"an output schema that is not one", Tool{Name: "a", OutputSchema: raw(`{"type":"objekt"}`)}, `tool "a": output schema: `},
			{"an output schema that is no object", Tool{Name: "a", OutputSchema: raw(`true`)}, `tool "a": outputSchema: expected an object, got true`},
			{"annotations that are an array", Tool{Name: "a", Annotations: raw(`[]`)}, `tool "a": annotations: expected an object, got an array`},
			{"annotations that are not JSON", Tool{Name: "a", Annotations: raw(`{"a":}`)}, `tool "a": annotations: not JSON, at byte 5: want a value`},
			{"annotations with a duplicate", Tool{Name: "a", Annotations: raw(`{"a":1,"a":1}`)}, `tool "a": annotations: a member name twice in one object, at byte 8`},
			{"icons that are an object", Tool{Name: "a", Icons: raw(`{}`)}, `tool "a": icons: expected an array, got an object`},
			{"icons that are null", Tool{Name: "a", Icons: raw(`null`)}, `tool "a": icons: expected an array, got null`},
			{"_meta that is a string", Tool{Name: "a", Meta: raw(`"x"`)}, `tool "a": _meta: expected an object, got "x"`},
		} {
			t.Run(row.rule, func(t *testing.T) {
				s := withTool(t, emptyServer(Options{}), "taken", boom)
				before := ask(t, s, requestOf("1", "tools/list", ""))
				err := s.AddTool(row.tool, boom)
				if err == nil || !strings.HasPrefix(err.Error(), row.want) || strings.HasSuffix(row.want, ": ") == (err.Error() == row.want) {
					t.Errorf("got  %v\nwant %s", err, row.want)
				}
				if after := ask(t, s, requestOf("1", "tools/list", "")); after != before {
					t.Errorf("the list has changed: %s", after)
				}
			})
		}
		if err := emptyServer(Options{}).AddTool(Tool{Name: "a"}, nil); err == nil || err.Error() != `tool "a": there is no handler` {
			t.Error(err)
		}
	})
	t.Run("accepted", func(t *testing.T) {
		for _, row := range []struct {
			rule  string
			tool  Tool
			entry string
		}{
			{"a name alone takes no arguments", Tool{Name: "a"}, `{"name":"a","inputSchema":{"type":"object","additionalProperties":false}}`},
			{"a name of every kind of character", Tool{Name: "aZ09_-.", InputSchema: object}, `{"name":"aZ09_-.","inputSchema":{"type":"object"}}`},
			{"128 characters", Tool{Name: strings.Repeat("x", 128), InputSchema: object}, `{"name":"` + strings.Repeat("x", 128) + `","inputSchema":{"type":"object"}}`},
			{"everything", Tool{
				Name: "a", Title: "T <>&", Description: "d\u2028\xff",
				InputSchema:  raw(" { \"type\" : \"object\",\n\t\"properties\": {\"\\u0061\": {\"default\": 1.50e1, \"title\": \"x  y\"}} } "),
				OutputSchema: raw("{\"type\" : [ \"array\" , \"null\" ]}\r\n"),
				Annotations:  raw(`{ "title" : "\u00e9 é", "readOnlyHint" : true, "x-other": 1e2 }`),
				Icons:        raw(`[ {"src":"https://example.com/a.png", "sizes": [ "48x48" ]} ]`),
				Meta:         raw("{ \"com.example/a\u2028\" : \"\u2029\" }"),
			}, `{"name":"a","title":"T <>&","description":"d\u2028�",` +
				`"inputSchema":{"type":"object","properties":{"\u0061":{"default":1.50e1,"title":"x  y"}}},"outputSchema":{"type":["array","null"]},` +
				`"annotations":{"title":"\u00e9 é","readOnlyHint":true,"x-other":1e2},"icons":[{"src":"https://example.com/a.png","sizes":["48x48"]}],` +
				`"_meta":{"com.example/a\u2028":"\u2029"}}`},
		} {
			t.Run(row.rule, func(t *testing.T) {
				s := emptyServer(Options{})
				if err := s.AddTool(row.tool, boom); err != nil {
					t.Fatal(err)
				}
				compare(t, talk(t, s, requestOf("1", "tools/list", "")),
					[]string{success("1", `{"resultType":"complete","tools":[`+row.entry+`],"ttlMs":300000,"cacheScope":"public",`+standardInfo+`}`)})
			})
		}
	})
	t.Run("what was given may be changed afterwards", func(t *testing.T) {
		s := emptyServer(Options{})
		schema := []byte(`{"type":"object","required":["a"]}`)
		if err := s.AddTool(Tool{Name: "a", InputSchema: schema}, boom); err != nil {
			t.Fatal(err)
		}
		for i := range schema {
			schema[i] = 'x'
		}
		if got := ask(t, s, toolCall("1", "a", `{"a":1}`)); got != toolError("1", "city not found") {
			t.Error(got)
		}
		if got := ask(t, s, toolCall("1", "a", `{}`)); !strings.Contains(got, "/a: missing") {
			t.Error(got)
		}
	})
	t.Run("a tool with no schema takes no arguments", func(t *testing.T) {
		s := emptyServer(Options{})
		s.AddTool(Tool{Name: "a"}, boom)
		if got := ask(t, s, toolCall("1", "a", `{"x":1}`)); !strings.Contains(got, "/x: not expected") {
			t.Error(got)
		}
	})
}

func cursorAfter(name string) string { return cursorPrefix + name }

// list asks for pages until there is no more, and gives the names on each.
func list(t *testing.T, s *Server, cursor string) (pages [][]string) {
	t.Helper()
	for {
		params := ""
		if cursor != "" {
			params = `"cursor":` + quote(cursor)
		}
		var answer struct {
			Result struct {
				Tools      []struct{ Name string }
				NextCursor string
			}
			Error *Error
		}
		if err := json.Unmarshal([]byte(ask(t, s, requestOf("1", "tools/list", params))), &answer); err != nil || answer.Error != nil {
			t.Fatal(err, answer.Error)
		}
		var names []string
		for _, tool := range answer.Result.Tools {
			names = append(names, tool.Name)
		}
		pages = append(pages, names)
		if cursor = answer.Result.NextCursor; cursor == "" {
			return pages
		}
	}
}

func TestListTools(t *testing.T) {
	const line = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{META}}`
	empty := func(scope string) []string {
		return []string{success("1", `{"resultType":"complete","tools":[],"ttlMs":300000,"cacheScope":"`+scope+`",`+standardInfo+`}`)}
	}
	t.Run("no tools", func(t *testing.T) {
		compare(t, talk(t, emptyServer(Options{}), line), empty("public"))
		compare(t, talk(t, emptyServer(Options{Private: true}), line), empty("private"))
	})
	t.Run("sorted by name, byte by byte", func(t *testing.T) {
		s := emptyServer(Options{})
		for _, name := range []string{"b", "a", "B", "a.b", "10", "9", "_", "aa"} {
			withTool(t, s, name, boom)
		}
		if diff := cmp.Diff([][]string{{"10", "9", "B", "_", "a", "a.b", "aa", "b"}}, list(t, s, "")); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("pages of every size", func(t *testing.T) {
		var names []string
		for n := range 7 {
			names = append(names, fmt.Sprintf("tool%d", n))
		}
		for size := -1; size <= 8; size++ {
			s := emptyServer(Options{PageSize: size})
			for _, name := range names {
				withTool(t, s, name, boom)
			}
			want := [][]string{names}
			if size > 0 {
				want = slices.Collect(slices.Chunk(names, size))
			}
			if diff := cmp.Diff(want, list(t, s, "")); diff != "" {
				t.Errorf("pages of %d: %s", size, diff)
			}
		}
	})
	t.Run("a page, to the byte", func(t *testing.T) {
		s := emptyServer(Options{PageSize: 1})
		withTool(t, withTool(t, s, "a", boom), "b", boom)
		compare(t, talk(t, s, line), []string{success("1", `{"resultType":"complete","tools":[{"name":"a","inputSchema":{"type":"object"}}],`+
			`"nextCursor":"`+cursorAfter("a")+`","ttlMs":300000,"cacheScope":"public",`+standardInfo+`}`)})
		compare(t, talk(t, s, requestOf("1", "tools/list", `"cursor":"`+cursorAfter("a")+`"`)),
			[]string{success("1", `{"resultType":"complete","tools":[{"name":"b","inputSchema":{"type":"object"}}],"ttlMs":300000,"cacheScope":"public",`+standardInfo+`}`)})
	})
	t.Run("a cursor works when its tool is gone, and finds what is new", func(t *testing.T) {
		s := emptyServer(Options{PageSize: 2})
		for _, name := range []string{"a", "c", "e", "g"} {
			withTool(t, s, name, boom)
		}
		cursor := cursorAfter("c")
		if s.RemoveTool("c"); !cmp.Equal(list(t, s, cursor), [][]string{{"e", "g"}}) {
			t.Error(list(t, s, cursor))
		}
		withTool(t, s, "d", boom)
		if diff := cmp.Diff([][]string{{"d", "e"}, {"g"}}, list(t, s, cursor)); diff != "" {
			t.Error(diff)
		}
		for _, name := range []string{"d", "e", "g"} {
			s.RemoveTool(name)
		}
		if diff := cmp.Diff([][]string{nil}, list(t, s, cursor)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a cursor works with another server and another page size", func(t *testing.T) {
		first, second := emptyServer(Options{PageSize: 1}), emptyServer(Options{})
		for _, name := range []string{"a", "b", "c"} {
			withTool(t, first, name, boom)
			withTool(t, second, name, boom)
		}
		if diff := cmp.Diff([][]string{{"b", "c"}}, list(t, second, cursorAfter("a"))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a cursor in other letters is the same string", func(t *testing.T) {
		s := emptyServer(Options{})
		withTool(t, withTool(t, s, "a", boom), "b", boom)
		escaped := fmt.Sprintf(`"\u%04x%s"`, cursorAfter("a")[0], cursorAfter("a")[1:])
		got := ask(t, s, requestOf("1", "tools/list", `"cursor":`+escaped))
		if want := ask(t, s, requestOf("1", "tools/list", `"cursor":"`+cursorAfter("a")+`"`)); got != want || !strings.Contains(got, `"b"`) {
			t.Error(got)
		}
	})
	t.Run("any other cursor is refused", func(t *testing.T) {
		s := testServer(t, Options{PageSize: 1})
		good := cursorAfter("add")
		for _, cursor := range []string{
			`""`, `null`, `7`, `{}`, `[]`, `true`, `"add"`, `" ` + good + `"`, `"` + good[1:] + `"`, `"` + strings.ToUpper(good) + `"`,
			`"\ud800"`, `"` + strings.Repeat("A", 100_000) + `"`, `"after "`, `"after !!"`, `"after add "`, `"after ` + strings.Repeat("a", 129) + `"`,
		} {
			want := failure("1", -32602, "Invalid params: cursor is not one that this server gives")
			if got := ask(t, s, requestOf("1", "tools/list", `"cursor":`+cursor)); got != want {
				t.Errorf("%.60s: %.300s", cursor, got)
			}
		}
	})
	t.Run("the list is renewed on every change", func(t *testing.T) {
		s := emptyServer(Options{})
		for range 2 {
			if diff := cmp.Diff([][]string{nil}, list(t, s, "")); diff != "" {
				t.Error(diff)
			}
			withTool(t, s, "a", boom)
			if diff := cmp.Diff([][]string{{"a"}}, list(t, s, "")); diff != "" {
				t.Error(diff)
			}
			withTool(t, s, "b", boom)
			if diff := cmp.Diff([][]string{{"a", "b"}}, list(t, s, "")); diff != "" {
				t.Error(diff)
			}
			if s.RemoveTool("c") || !s.RemoveTool("a") || !s.RemoveTool("b") || s.RemoveTool("b") {
				t.Error("RemoveTool says what is not so")
			}
		}
	})
	t.Run("a tool that is removed is unknown, and may come back as another", func(t *testing.T) {
		s := testServer(t, Options{})
		s.RemoveTool("echo")
		if got := ask(t, s, toolCall("1", "echo", `{"text":"a"}`)); got != failure("1", -32602, "Unknown tool: echo") {
			t.Error(got)
		}
		withTool(t, s, "echo", boom)
		if got := ask(t, s, toolCall("1", "echo", `{"text":"a"}`)); got != toolError("1", "city not found") {
			t.Error(got)
		}
	})
	t.Run("while tools come and go", func(t *testing.T) {
		s := testServer(t, Options{PageSize: 2})
		var wg sync.WaitGroup
		for worker := range 4 {
			wg.Go(func() {
				name := "tool" + strconv.Itoa(worker)
				for range 100 {
					s.AddTool(Tool{Name: name}, boom)
					ask(t, s, requestOf("1", "tools/list", ""))
					ask(t, s, requestOf("1", "tools/list", `"cursor":"`+cursorAfter(name)+`"`))
					ask(t, s, toolCall("1", name, "{}"))
					s.RemoveTool(name)
				}
			})
		}
		wg.Wait()
		if got := list(t, s, ""); len(got) != 3 {
			t.Error(got)
		}
	})
}

// TestContents: each kind of content, to the byte.
func TestContents(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	for _, row := range []struct {
		rule    string
		content Content
		wire    string
	}{
		{"text", Content{"type": "text", "text": "a"}, `{"text":"a","type":"text"}`},
		{"no text", Content{"type": "text", "text": ""}, `{"text":"","type":"text"}`},
		{"text with annotations", Content{"type": "text", "text": "a", "annotations": raw(` {"audience" : ["user"], "priority":0.50}`), "_meta": raw(`{ }`)},
			`{"_meta":{},"annotations":{"audience":["user"],"priority":0.50},"text":"a","type":"text"}`},
		{"text that leaves safely", Content{"type": "text", "text": "<\u2028\xff&\n", "_meta": raw("{\"\u2028\":\"\xff<\"}")},
			`{"_meta":{"\u2028":"` + "\uFFFD" + `<"},"text":"<\u2028\ufffd&\n","type":"text"}`},
		{"an image", Content{"type": "image", "data": []byte{0, 0xFF, 0xFE}, "mimeType": "image/png"}, `{"data":"AP/+","mimeType":"image/png","type":"image"}`},
		{"an image without bytes", Content{"type": "image", "data": []byte{}, "mimeType": "image/png"}, `{"data":"","mimeType":"image/png","type":"image"}`},
		{"sound", Content{"type": "audio", "data": []byte("a"), "mimeType": "audio/wav", "annotations": map[string]any{"priority": 1}},
			`{"annotations":{"priority":1},"data":"YQ==","mimeType":"audio/wav","type":"audio"}`},
		{"a link", Content{"type": "resource_link", "uri": "file:///a", "name": "a"}, `{"name":"a","type":"resource_link","uri":"file:///a"}`},
		{"a link with everything", Content{"type": "resource_link", "uri": "file:///a?b&c", "name": "a", "title": "t", "description": "d", "mimeType": "text/plain",
			"size": 1024, "icons": raw(`[{"src":"x"}]`), "annotations": raw(`{"lastModified":"2026-07-28"}`), "_meta": raw(`{"a":[]}`)},
			`{"_meta":{"a":[]},"annotations":{"lastModified":"2026-07-28"},"description":"d","icons":[{"src":"x"}],"mimeType":"text/plain","name":"a","size":1024,` +
				`"title":"t","type":"resource_link","uri":"file:///a?b&c"}`},
		{"a resource that is text", Content{"type": "resource", "resource": map[string]any{"uri": "file:///a", "text": "a\nb"}},
			`{"resource":{"text":"a\nb","uri":"file:///a"},"type":"resource"}`},
		{"a resource that is bytes", Content{"type": "resource", "resource": Content{"uri": "file:///a", "mimeType": "image/png", "blob": []byte{0xFB}, "_meta": raw(`{"a":1}`)}},
			`{"resource":{"_meta":{"a":1},"blob":"+w==","mimeType":"image/png","uri":"file:///a"},"type":"resource"}`},
	} {
		t.Run(row.rule, func(t *testing.T) {
			s := withTool(t, emptyServer(Options{}), "x", func(context.Context, *Call) (*Result, error) {
				return &Result{Content: []Content{row.content, {"type": "text", "text": "and"}}}, nil
			})
			compare(t, talk(t, s, toolCall("1", "x", "{}")),
				[]string{success("1", `{"resultType":"complete","content":[`+row.wire+`,{"text":"and","type":"text"}],"isError":false,`+standardInfo+`}`)})
		})
	}
}

// TestResults: what a handler returns, and what the client gets. A result that breaks the rules is an internal error,
// whose details are in the log and nowhere else.
func TestResults(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	internal := failure("1", -32603, "Internal error")
	result := func(members string) string {
		return success("1", `{"resultType":"complete",`+members+`,`+standardInfo+`}`)
	}
	const numberSchema = `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`
	for _, row := range []struct {
		rule   string
		output string // the output schema
		result *Result
		err    error
		wire   string
		log    string // has to be in the log; "" that nothing is
	}{
		{rule: "a text", result: Text("a"), wire: result(`"content":[{"type":"text","text":"a"}],"isError":false`)},
		{rule: "a text that is empty is a text", result: Text(""), wire: result(`"content":[{"type":"text","text":""}],"isError":false`)},
		{rule: "also beside structured content", result: func() *Result { r := Text(""); r.StructuredContent = raw(`{}`); return r }(),
			wire: result(`"content":[{"type":"text","text":""}],"structuredContent":{},"isError":false`)},
		{rule: "and that of an error", err: errors.New(""), wire: toolError("1", "")},
		{rule: "nothing to say", result: &Result{}, wire: result(`"content":[],"isError":false`)},
		{rule: "no text as JSON", result: &Result{RawText: json.RawMessage{}}, wire: result(`"content":[],"isError":false`)},
		{rule: "no structured content as JSON", result: &Result{StructuredContent: json.RawMessage(nil)}, wire: result(`"content":[],"isError":false`)},
		{rule: "a link whose icons are none", result: &Result{Content: []Content{{"type": "resource_link", "uri": "a:b", "name": "a", "icons": 5}}}, wire: internal, log: "/icons: expected an array, got 5"},
		{rule: "text that is JSON already", result: &Result{RawText: raw(`"\ud800\u0061"`)}, wire: result(`"content":[{"type":"text","text":"\ud800\u0061"}],"isError":false`)},
		{rule: "such text with what must not leave", result: &Result{RawText: raw(" \"\u2028\xff<\"")},
			wire: result(`"content":[{"type":"text","text":"\u2028` + "\uFFFD" + `<"}],"isError":false`)},
		{rule: "a text before content", result: &Result{RawText: raw(`"b"`), Content: []Content{{"type": "text", "text": "c"}}},
			wire: result(`"content":[{"type":"text","text":"b"},{"text":"c","type":"text"}],"isError":false`)},
		{rule: "an error that the tool words itself", result: &Result{Content: []Content{{"type": "text", "text": "a"}}, IsError: true},
			wire: result(`"content":[{"text":"a","type":"text"}],"isError":true`)},
		{rule: "an error without words", result: &Result{IsError: true}, wire: result(`"content":[],"isError":true`)},
		{rule: "structured content has a twin in text", result: &Result{StructuredContent: raw(` {"a" : [1.0, "\u0062"]} `)},
			wire: result(`"content":[{"type":"text","text":"{\"a\":[1.0,\"\\u0062\"]}"}],"structuredContent":{"a":[1.0,"\u0062"]},"isError":false`)},
		{rule: "unless the tool gives content", result: &Result{Text: "x", StructuredContent: raw(`{}`)},
			wire: result(`"content":[{"type":"text","text":"x"}],"structuredContent":{},"isError":false`)},
		{rule: "structured content may be null", result: &Result{StructuredContent: raw(`null`)},
			wire: result(`"content":[{"type":"text","text":"null"}],"structuredContent":null,"isError":false`)},
		{rule: "or a scalar", result: &Result{StructuredContent: raw(`7`)},
			wire: result(`"content":[{"type":"text","text":"7"}],"structuredContent":7,"isError":false`)},
		{rule: "structured content leaves safely", result: &Result{StructuredContent: raw("{\"a\u2028\":\"\xff<>&\"}")},
			wire: result(`"content":[{"type":"text","text":"{\"a\\u2028\":\"` + "\uFFFD" + `<>&\"}"}],"structuredContent":{"a\u2028":"` + "\uFFFD" + `<>&"},"isError":false`)},
		{rule: "structured content that is not JSON", result: &Result{StructuredContent: raw(`{"a":}`)}, wire: internal, log: "structured content: json: "},
		{rule: "structured content with a duplicate", result: &Result{StructuredContent: raw(`{"a":1,"a":1}`)}, wire: internal, log: "a member name twice"},

		{rule: "an output schema that is met", output: numberSchema, result: &Result{StructuredContent: raw(`{"n":1.0}`)},
			wire: result(`"content":[{"type":"text","text":"{\"n\":1.0}"}],"structuredContent":{"n":1.0},"isError":false`)},
		{rule: "an output schema that is not met", output: numberSchema, result: &Result{StructuredContent: raw(`{"n":"secret"}`)}, wire: internal, log: "/n"},
		{rule: "an output schema and no structured content", output: numberSchema, result: Text("a"), wire: internal, log: "structured content: none, though the tool has an output schema"},
		{rule: "an output schema and null", output: numberSchema, result: &Result{StructuredContent: raw(`null`)}, wire: internal, log: "structured content: "},
		{rule: "an output schema that null meets", output: `{"type":["object","null"]}`, result: &Result{StructuredContent: raw(`null`)},
			wire: result(`"content":[{"type":"text","text":"null"}],"structuredContent":null,"isError":false`)},
		{rule: "an output schema that null meets, and absence does not", output: `{"type":["object","null"]}`, result: &Result{}, wire: internal, log: "structured content: none"},
		{rule: "an error need not meet the output schema", output: numberSchema, result: &Result{IsError: true}, wire: result(`"content":[],"isError":true`)},
		{rule: "nor does an error value", output: numberSchema, err: errors.New("a"), wire: toolError("1", "a")},

		{rule: "_meta of the result", result: &Result{Meta: raw(` { "com.example/a" : [ 1 ] } `)},
			wire: success("1", `{"resultType":"complete","content":[],"isError":false,"_meta":{"com.example/a":[1],"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1.0.0"}}}`)},
		{rule: "_meta that is empty", result: &Result{Meta: raw(`{}`)}, wire: result(`"content":[],"isError":false`)},
		{rule: "_meta with a name that is empty", result: &Result{Meta: raw(`{"":1,"a":2}`)},
			wire: success("1", `{"resultType":"complete","content":[],"isError":false,"_meta":{"":1,"a":2,"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1.0.0"}}}`)},
		{rule: "_meta leaves safely", result: &Result{Meta: raw("{\"a\u2028\":\"\u2029\xff\"}")},
			wire: success("1", `{"resultType":"complete","content":[],"isError":false,"_meta":{"a\u2028":"\u2029`+"\uFFFD"+`","io.modelcontextprotocol/serverInfo":{"name":"test","version":"1.0.0"}}}`)},
		{rule: "_meta that is no object", result: &Result{Meta: raw(`[]`)}, wire: internal, log: "_meta"},
		{rule: "_meta that is not JSON", result: &Result{Meta: raw(`{`)}, wire: internal, log: "_meta"},
		{rule: "_meta that would name another server", result: &Result{Meta: raw(`{"io.modelcontextprotocol\/serverInfo":{}}`)}, wire: internal, log: "serverInfo"},

		{rule: "an error", err: errors.New("it broke\n"), wire: toolError("1", "it broke\n")},
		{rule: "an error beside a result", result: Text("a"), err: errors.New("b"), wire: toolError("1", "b")},
		{rule: "an error of the package", err: &Error{Code: -32602, Message: "no"}, wire: failure("1", -32602, "no")},
		{rule: "with data", err: &Error{Code: 42, Message: "no", Data: raw("{ \"a\":\"\u2028\" }")}, wire: failure("1", 42, "no", `{"a":"\u2028"}`)},
		{rule: "with data that is null", err: &Error{Code: 42, Message: "no", Data: raw(`null`)}, wire: failure("1", 42, "no", `null`)},
		{rule: "with data that is not UTF-8", err: &Error{Code: 42, Message: "no", Data: raw("\"\xff\"")}, wire: failure("1", 42, "no", "\"\uFFFD\"")},
		{rule: "with data that is not JSON", err: &Error{Code: 42, Message: "no", Data: raw(`{`)}, wire: internal, log: "data that is not JSON"},
		{rule: "wrapped", err: fmt.Errorf("context: %w", &Error{Code: 42, Message: "no"}), wire: failure("1", 42, "no")},
		{rule: "a capability that is missing", err: MissingClientCapability(Sampling),
			wire: failure("1", -32021, "Missing required client capability", `{"requiredCapabilities":{"sampling":{}}}`)},
		{rule: "a code of a reserved range that means nothing", err: &Error{Code: -32001, Message: "no"}, wire: internal, log: "an error with a reserved code"},
		{rule: "the first of that range", err: &Error{Code: -32000, Message: "no"}, wire: internal, log: "an error with a reserved code"},
		{rule: "the last of that range", err: &Error{Code: -32768, Message: "no"}, wire: internal, log: "an error with a reserved code"},
		{rule: "the first after it", err: &Error{Code: -32769, Message: "no"}, wire: failure("1", -32769, "no")},

		{rule: "neither result nor error", wire: internal, log: "neither a result nor an error"},
		{rule: "raw text that is no text", result: &Result{RawText: raw(`1`)}, wire: internal, log: "text: expected a string, got 1"},
		{rule: "raw text with more after it", result: &Result{RawText: raw(`"a","b":1`)}, wire: internal, log: "want nothing after the first value"},
		{rule: "content of no kind", result: &Result{Content: []Content{{"type": "text", "text": ""}, {}}}, wire: internal, log: "type"},
		{rule: "content that is nothing", result: &Result{Content: []Content{nil}}, wire: internal, log: "expected an object, got null"},
		{rule: "content of another kind", result: &Result{Content: []Content{{"type": "video", "text": "a"}}}, wire: internal, log: "(root): expected an object with"},
		{rule: "text without a text", result: &Result{Content: []Content{{"type": "text"}}}, wire: internal, log: "/text: missing"},
		{rule: "text that JSON does not have", result: &Result{Content: []Content{{"type": "text", "text": func() {}}}}, wire: internal, log: "unsupported type"},
		{rule: "annotations that are no object", result: &Result{Content: []Content{{"type": "text", "text": "a", "annotations": "secret"}}}, wire: internal, log: "/annotations"},
		{rule: "content with _meta that is no object", result: &Result{Content: []Content{{"type": "text", "text": "a", "_meta": raw(`null`)}}}, wire: internal, log: "/_meta"},
		{rule: "content with a duplicate", result: &Result{Content: []Content{{"type": "text", "text": "a", "_meta": raw(`{"a":1,"a":1}`)}}}, wire: internal, log: "a member name twice"},
		{rule: "an image without data", result: &Result{Content: []Content{{"type": "image", "data": []byte(nil), "mimeType": "image/png"}}}, wire: internal, log: "/data: expected a string, got null"},
		{rule: "annotations of a link that are no object", result: &Result{Content: []Content{{"type": "resource_link", "uri": "a", "name": "a", "annotations": raw(`[]`)}}}, wire: internal, log: "/annotations: expected an object"},
		{rule: "a size that is no integer", result: &Result{Content: []Content{{"type": "resource_link", "uri": "a", "name": "a", "size": 1.5}}}, wire: internal, log: "/size: expected an integer"},
		{rule: "a resource that is text and bytes", result: &Result{Content: []Content{{"type": "resource", "resource": Content{"uri": "a", "text": "", "blob": ""}}}}, wire: internal, log: "/resource: fits"},
	} {
		t.Run(row.rule, func(t *testing.T) {
			var logged bytes.Buffer
			s := emptyServer(Options{Log: log.New(&logged, "", 0)})
			handler := func(context.Context, *Call) (*Result, error) { return row.result, row.err }
			tool := Tool{Name: "x", InputSchema: raw(`{"type":"object"}`), OutputSchema: raw(row.output)}
			if err := s.AddTool(tool, handler); err != nil {
				t.Fatal(err)
			}
			compare(t, talk(t, s, toolCall("1", "x", "{}")), []string{row.wire})
			if got := ask(t, s, toolCall("1", "x", "{}")); got != row.wire {
				t.Errorf("HandleMessage: %s", got)
			}
			if got := logged.String(); (got == "") != (row.log == "") || !strings.Contains(got, row.log) || row.log != "" && !strings.Contains(got, "tool x") {
				t.Errorf("the log has %q, want %q", got, row.log)
			}
		})
	}
}

// TestHandlersThatDoNotReturn: a panic or the end of the goroutine is an internal error, and the server lives on.
func TestHandlersThatDoNotReturn(t *testing.T) {
	var nothing *Result
	for _, row := range []struct {
		rule string
		end  func()
		log  string
	}{
		{"a panic", func() { panic("a secret") }, "a secret"},
		{"a panic with an error", func() { panic(errors.New("a secret")) }, "a secret"},
		{"a panic with an error of the package", func() { panic(&Error{Code: 1, Message: "a secret"}) }, "a secret"},
		{"a panic with nil", func() { panic(nil) }, "panic called with nil"},
		{"a panic of the runtime", func() { _ = nothing.IsError }, "nil pointer"},
		{"the end of its goroutine", runtime.Goexit, "did not return"},
	} {
		for _, wait := range []time.Duration{0, 5 * handOver} { // on the reader's goroutine, and on another
			t.Run(fmt.Sprintf("%s after %v", row.rule, wait), func(t *testing.T) {
				var logged bytes.Buffer
				s := emptyServer(Options{Log: log.New(&logged, "", 0)})
				withTool(t, s, "x", func(context.Context, *Call) (*Result, error) {
					if wait > 0 {
						time.Sleep(wait)
					}
					row.end()
					return Text("not reached"), nil
				})
				var in, out []string
				for n := range 10 {
					id := strconv.Itoa(n)
					in = append(in, toolCall(id, "x", "{}"), requestOf(`"`+id+`"`, "server/discover", ""))
					out = append(out, failure(id, -32603, "Internal error"), discovered(`"`+id+`"`))
				}
				compareSorted(t, talk(t, s, in...), out)
				if got := ask(t, s, in[0]); got != out[0] {
					t.Errorf("HandleMessage: %s", got)
				}
				if got := logged.String(); strings.Count(got, "tool x: ") != 11 || !strings.Contains(got, row.log) || !strings.Contains(got, "tools_test.go") {
					t.Errorf("the log has %.2000q", got)
				}
			})
		}
	}
}

// TestLogDefault: without an option the log is stderr.
func TestLogDefault(t *testing.T) {
	s := NewServer(Implementation{Name: "test", Version: "1"}, Options{})
	if s.options.Log == nil || s.options.Log.Writer() == io.Discard || s.options.Log.Prefix() != "test: " {
		t.Error(s.options.Log)
	}
}

// TestArguments: what a handler gets is what the client sent.
func TestArguments(t *testing.T) {
	var got Call
	var arguments, a, missing string
	s := withTool(t, emptyServer(Options{}), "x", func(ctx context.Context, call *Call) (*Result, error) {
		got = Call{Name: call.Name, RequestState: call.RequestState, Meta: Meta{call.Meta.Capabilities, bytes.Clone(call.Meta.Raw)}}
		arguments, a, missing = string(call.Arguments), string(call.Argument("a")), string(call.Argument("A"))
		return Text("ok"), nil
	})
	const meta = `{"MCP/protocolVersion":"2026-07-28","MCP/clientCapabilities":{"elicitation":{}},"MCP/clientInfo":{"name":"n","version":"v"},"progressToken":1.0,"MCP/logLevel":"info","x":1}`
	line := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\u0078","arguments":{ "\u0061" : [1.50,  "\ud800"] },"requestState":"s\u0061\ud83d\ude00","_meta":` + meta + `}}`
	for _, over := range []string{"HandleMessage", "Serve"} {
		t.Run(over, func(t *testing.T) {
			got = Call{}
			if over == "Serve" {
				talk(t, s, line)
			} else {
				ask(t, s, line)
			}
			if arguments != `{ "\u0061" : [1.50,  "\ud800"] }` || a != `[1.50,  "\ud800"]` || missing != "" {
				t.Errorf("the arguments are %s, a is %s, A is %s", arguments, a, missing)
			}
			if got.Name != "x" || got.RequestState != "sa😀" {
				t.Errorf("the name is %q, the state %q", got.Name, got.RequestState)
			}
			m := got.Meta
			if m.Capabilities != ElicitationForm || string(m.Raw) != expand(meta) || string(m.Value(MetaClientInfo)) != `{"name":"n","version":"v"}` ||
				string(m.Value("progressToken")) != "1.0" || string(m.Value(MetaLogLevel)) != `"info"` || m.Value("none") != nil {
				t.Errorf("_meta is %s", m.Raw)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		ask(t, s, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x",META}}`)
		if arguments != "{}" || got.RequestState != "" || got.Meta.Value(MetaClientInfo) != nil || got.Meta.Value("progressToken") != nil {
			t.Errorf("the arguments are %s, the rest %+v", arguments, got)
		}
	})
	t.Run("they stay as they are while other messages come in", func(t *testing.T) {
		release := make(chan struct{})
		s := withTool(t, testServer(t, Options{}), "keep", func(ctx context.Context, call *Call) (*Result, error) {
			<-release
			return &Result{RawText: call.Argument("text")}, nil
		})
		l := dial(t, s)
		var want []string
		for n := range 50 {
			id := strconv.Itoa(n)
			text := strings.Repeat(id, 1+n*97%3000)
			l.send(toolCall(id, "keep", `{"text":"`+text+`"}`))
			want = append(want, textResult(id, text))
		}
		l.send(toolCall(`"x"`, "echo", `{"text":"`+strings.Repeat("y", 200_000)+`"}`))
		l.want(textResult(`"x"`, strings.Repeat("y", 200_000)))
		close(release)
		compareSorted(t, l.end(), want)
	})
}

// TestArgumentErrors: the text for the model, which lists every problem.
func TestArgumentErrors(t *testing.T) {
	s := testServer(t, Options{})
	const head = "Invalid arguments:\n"
	for _, row := range []struct{ rule, tool, arguments, text string }{
		{"one problem", "echo", `{"text":7}`, head + "/text: expected a string, got 7; send it in quotes"},
		{"two problems", "add", `{"a":"1"}`, ""},
		{"four problems", "get_weather", `{"days":2.5,"units":"k","x":1}`, head + "/location: missing, but required: expected a string\n" +
			"/days: expected an integer, got 2.5\n" + "/units: expected \"c\" or \"f\", got \"k\"\n" + "/x: not expected; known are location, days, units"},
	} {
		t.Run(row.rule, func(t *testing.T) {
			got := talk(t, s, toolCall("1", row.tool, row.arguments))
			if row.text != "" {
				compare(t, got, []string{toolError("1", row.text)})
			} else if len(got) != 1 || strings.Count(got[0], `\n/`) != 2 {
				t.Error(got)
			}
		})
	}
	t.Run("the handler does not run", func(t *testing.T) {
		s := emptyServer(Options{})
		err := s.AddTool(Tool{Name: "x", InputSchema: json.RawMessage(echoSchema)}, func(context.Context, *Call) (*Result, error) {
			t.Error("it ran")
			return nil, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		talk(t, s, toolCall("1", "x", "{}"))
	})
	t.Run("the text is short, whatever is wrong", func(t *testing.T) {
		var many strings.Builder
		for n := range 100_000 {
			fmt.Fprintf(&many, `"k%d":0,`, n)
		}
		for _, arguments := range []string{
			`{` + many.String() + `"location":"a"}`,
			`{"location":"a","units":"` + strings.Repeat("x", 1<<20) + `"}`,
			`{"location":"a","` + strings.Repeat("x", 1<<20) + `":1}`,
			`{"location":"a","days":` + strings.Repeat("1", 1<<20) + `.5}`,
		} {
			if got := ask(t, s, toolCall("1", "get_weather", arguments)); len(got) > 20_000 || !strings.Contains(got, `"isError":true`) {
				t.Errorf("%d bytes: %.300s", len(got), got)
			}
		}
	})
}

// TestTyped: a handler of a Go value gets what the schema's properties hold, and nothing of a name that only resembles
// one of theirs.
func TestTyped(t *testing.T) {
	type input struct {
		Text  string
		Count int
		Other *string `json:"other"`
	}
	var got input
	s := emptyServer(Options{})
	schema := `{"type":"object","properties":{"text":{"type":"string"},"count":{"type":"number"},"K":{}}}`
	err := s.AddTool(Tool{Name: "x", InputSchema: json.RawMessage(schema)}, Typed(func(ctx context.Context, call *Call, in input) (*Result, error) {
		got = in
		return Text("ok"), nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ rule, arguments, text string }{
		{"a member", `{"text":"a"}`, "a"},
		{"one in another case beside it", `{"text":"a","TEXT":"b"}`, "a"},
		{"one in another case before it", `{"Text":"b","text":"a"}`, "a"},
		{"one in another case alone", `{"Text":"b"}`, ""},
		{"one in another case, written with escapes", `{"text":"a","\u0054ext":"b"}`, "a"},
		{"written with escapes", `{"t\u0065xt":"a"}`, "a"},
		{"beside a name that is empty", `{"":1,"text":"a","TEXT":"b"}`, "a"},
		{"letters that fold to others", `{"text":"a","te\u0078t\u0000":"c"}`, "a"},
	} {
		t.Run(row.rule, func(t *testing.T) {
			got = input{}
			if answer := ask(t, s, toolCall("1", "x", row.arguments)); answer != textResult("1", "ok") || got.Text != row.text {
				t.Errorf("the text is %q: %s", got.Text, answer)
			}
		})
	}
	t.Run("integers, however written", func(t *testing.T) {
		for written, want := range map[string]int{"3": 3, "3.0": 3, "0.30e1": 3, "1e1": 10, "-2.50e2": -250, "0.0e9": 0, "-0.0": 0} {
			got = input{}
			answer := ask(t, s, toolCall("1", "x", `{"text":"3.0 \"1e1", "count" : `+written+` }`))
			if answer != textResult("1", "ok") || got.Count != want || got.Text != `3.0 "1e1` {
				t.Errorf("%s is %d, beside %q: %s", written, got.Count, got.Text, answer)
			}
		}
	})
	t.Run("up to the largest that Go holds", func(t *testing.T) {
		var in struct{ N uint64 }
		if err := decode([]byte(`{"n":18446744073709551615.0}`), anySchema(), &in); err != nil || in.N != math.MaxUint64 {
			t.Errorf("it is %d: %v", in.N, err)
		}
	})
	t.Run("what Go cannot hold is a tool error", func(t *testing.T) {
		if answer := ask(t, s, toolCall("1", "x", `{"count":1.5}`)); !strings.Contains(answer, `"text":"Invalid arguments:\n/count: number 1.5 does not fit into a Go int"`) || !strings.Contains(answer, `"isError":true`) {
			t.Error(answer)
		}
	})
	t.Run("what a type that decodes itself does not take is told in part", func(t *testing.T) {
		s := emptyServer(Options{})
		if err := s.AddTool(Tool{Name: "x", InputSchema: []byte(`{"type":"object","properties":{"at":{}}}`)},
			Typed(func(context.Context, *Call, struct{ At time.Time }) (*Result, error) { return Text("ok"), nil })); err != nil {
			t.Fatal(err)
		}
		compare(t, talk(t, s, toolCall("1", "x", `{"at":"`+strings.Repeat("y", 1000)+`"}`)),
			[]string{toolError("1", "Invalid arguments:\nparsing time \""+strings.Repeat("y", 47)+"…")})
	})
	t.Run("and a short one", func(t *testing.T) {
		if answer := ask(t, s, toolCall("1", "x", `{"count":`+strings.Repeat("1", 1<<20)+`}`)); len(answer) > 1000 || !strings.Contains(answer, `"isError":true`) {
			t.Errorf("%d bytes: %.300s", len(answer), answer)
		}
	})
}

// TestTypedBelow: a name in another case is none of the schema's properties at any level, in whatever way the schema has them.
func TestTypedBelow(t *testing.T) {
	type inner struct {
		K    int
		Free map[string]int
	}
	type input struct {
		K       int
		Sub     inner
		List    []inner
		Any     map[string]inner
		Pattern map[string]inner
		Both    map[string]int
		Tuple   []map[string]int
		When    int
	}
	var got input
	s := emptyServer(Options{})
	schema := `{"type":"object","allOf":[{"properties":{"k":{"maximum":5}}}],"additionalProperties":true,
		"$defs":{"inner":{"properties":{"k":{"type":"integer","maximum":5},"free":{"additionalProperties":true}}}},
		"properties":{"sub":{"$ref":"#/$defs/inner"},"list":{"prefixItems":[{"$ref":"#/$defs/inner"}],"items":{"anyOf":[{"$ref":"#/$defs/inner"}]}},
			"any":{"additionalProperties":{"$ref":"#/$defs/inner"}},"pattern":{"patternProperties":{"^a":{"$ref":"#/$defs/inner"},"^ab":true}},
			"both":{"properties":{"a":true},"allOf":[{"properties":{"A":true}}]},"tuple":{"prefixItems":[{"properties":{"k":true}}]}},
		"if":{"properties":{"WHEN":{"const":1}}},"then":true,"not":{"properties":{"When":{"const":0}},"required":["When"]}}`
	err := s.AddTool(Tool{Name: "x", InputSchema: json.RawMessage(schema)}, Typed(func(ctx context.Context, call *Call, in input) (*Result, error) {
		got = in
		return Text("ok"), nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	for arguments, want := range map[string]input{
		`{"k":1,"K":9}`:                        {K: 1},
		`{"sub":{"k":1,"K":9}}`:                {Sub: inner{K: 1}},
		`{"sub":{"K":9},"Sub":{"k":9}}`:        {},
		`{"list":[{"K":9},{"k":2},{"K":9}]}`:   {List: []inner{{}, {K: 2}, {}}},
		`{"any":{"a":{"k":1,"K":9},"A":{}}}`:   {Any: map[string]inner{"a": {K: 1}, "A": {}}},
		`{"pattern":{"a":{"k":1,"K":9}}}`:      {Pattern: map[string]inner{"a": {K: 1}}},
		`{"pattern":{"ab":{"k":1,"K":9}}}`:     {Pattern: map[string]inner{"ab": {K: 1}}},
		`{"both":{"a":1,"A":2}}`:               {Both: map[string]int{"a": 1, "A": 2}},
		`{"tuple":[{"K":9,"x":1},{"K":2}]}`:    {Tuple: []map[string]int{{"x": 1}, {"K": 2}}},
		`{"when":1}`:                           {When: 1},
		`{"sub":{"free":{"K":9,"k":1,"a":2}}}`: {Sub: inner{Free: map[string]int{"K": 9, "k": 1, "a": 2}}},
	} {
		t.Run(arguments, func(t *testing.T) {
			got = input{}
			if answer := ask(t, s, toolCall("1", "x", arguments)); answer != textResult("1", "ok") {
				t.Error(answer)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("what does not fit is told by the argument's own name", func(t *testing.T) {
		answer := ask(t, s, toolCall("1", "x", `{"list":[{"k":1},{"k":-99999999999999999999}]}`))
		if !strings.Contains(answer, `"Invalid arguments:\n/list/1/k: number -99999999999999999999 does not fit into a Go int"`) {
			t.Error(answer)
		}
		if answer := ask(t, s, toolCall("1", "x", `{"list":{"a":[1]}}`)); !strings.Contains(answer, `"Invalid arguments:\n/list: object does not fit into a Go []mcp.inner"`) {
			t.Error(answer)
		}
	})
}

// TestTypedIsLinear: a schema that leads to one place in many ways costs no more than its places, and depth no more than bytes.
func TestTypedIsLinear(t *testing.T) {
	schema := `{"type":"object","$ref":"#/$defs/e","$defs":{"e":{"type":"object","anyOf":[{"properties":{"a":{"$ref":"#/$defs/e"}}},
		{"properties":{"a":{"$ref":"#/$defs/e"},"b":true}},{"properties":{"a":{"$ref":"#/$defs/e"},"c":true}}]}}}`
	var got map[string]any
	s := emptyServer(Options{})
	err := s.AddTool(Tool{Name: "x", InputSchema: json.RawMessage(schema)}, Typed(func(ctx context.Context, call *Call, in map[string]any) (*Result, error) {
		got = in
		return Text("ok"), nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	const depth = MaxDepth - 2
	arguments := strings.Repeat(`{"a":`, depth-1) + `{"s":"` + strings.Repeat("s", 1<<20) + `"}` + strings.Repeat("}", depth-1)
	answered := make(chan string, 1)
	go func() { answered <- ask(t, s, toolCall("1", "x", arguments)) }()
	select {
	case answer := <-answered:
		if answer != textResult("1", "ok") || got["a"] == nil {
			t.Errorf("%.200s", answer)
		}
	case <-time.After(patience): // it would take longer than the universe has
		t.Error("no answer")
	}
}

// A collector makes it visible when it is decoded twice.
type collector []string

func (c *collector) UnmarshalJSON(data []byte) error {
	*c = append(*c, string(data))
	return nil
}

func TestTypedDecodesOnce(t *testing.T) {
	s := withTool(t, emptyServer(Options{}), "x", Typed(func(ctx context.Context, call *Call, in struct {
		A collector
		N int
	}) (*Result, error) {
		return Text(fmt.Sprint(in)), nil
	}))
	if got := ask(t, s, toolCall("1", "x", `{"a":"1.0","n":1.0}`)); !strings.Contains(got, `"text":"{[\"1.0\"] 1}"`) {
		t.Error(got)
	}
}

// TestStructured: a Go value as structured content.
func TestStructured(t *testing.T) {
	s := withTool(t, emptyServer(Options{}), "x", func(context.Context, *Call) (*Result, error) {
		return Structured(map[string]any{"b": []int{1}, "a": nil, "c": "<&>"})
	})
	withTool(t, s, "y", func(context.Context, *Call) (*Result, error) { return Structured(func() {}) })
	compare(t, talk(t, s, toolCall("1", "x", "{}")), []string{success("1",
		`{"resultType":"complete","content":[{"type":"text","text":"{\"a\":null,\"b\":[1],\"c\":\"<&>\"}"}],"structuredContent":{"a":null,"b":[1],"c":"<&>"},"isError":false,`+standardInfo+`}`)})
	compare(t, talk(t, s, toolCall("1", "y", "{}")), []string{toolError("1", "json: unsupported type: func()")})
}

// TestCallsAreUsedAgain: a call's context ends with it, and nothing of a call is in the next one on the connection.
func TestCallsAreUsedAgain(t *testing.T) {
	var calls []*Call
	var contexts []context.Context
	var states []string
	s := withTool(t, emptyServer(Options{}), "x", func(ctx context.Context, call *Call) (*Result, error) {
		if len(contexts) > 0 && contexts[len(contexts)-1].Err() != context.Canceled {
			t.Error("the context of the call before has not ended")
		}
		if ctx.Err() != nil {
			t.Error("the context has ended too soon")
		}
		answer, err := call.Ask(InputRequest{Key: "a", Method: "roots/list"})
		state := fmt.Sprintf("%s %s %v %v %s", call.RequestState, answer, err, call.Meta.Capabilities, call.Arguments)
		calls, contexts, states = append(calls, call), append(contexts, ctx), append(states, state)
		call.Progress(1, 0, "")
		return Text("ok"), nil
	})
	l := dial(t, s)
	request := func(id, params, meta string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"x"` + params + `,"_meta":{` + meta +
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	}
	for _, line := range []string{
		request("1", `,"arguments":{"a":1},"requestState":"s","inputResponses":{"a":{"roots":[]}}`, ""),
		request("2", "", ""),
		request("3", "", `"progressToken":7,`),
		request("4", "", ""),
	} {
		l.send(line)
		if want := `"progressToken":7,"progress":1`; strings.Contains(line, "Token") {
			if got := l.next(); !strings.Contains(got, want) {
				t.Errorf("no progress: %s", got)
			}
		}
		if got := l.next(); !strings.Contains(got, `"text":"ok"`) {
			t.Error(got)
		}
	}
	calls[2].Progress(2, 0, "late") // nothing
	if rest := l.end(); rest != nil {
		t.Errorf("and then: %q", rest)
	}
	none := ` [] input required 0 {}`
	compare(t, states, []string{`s [{"roots":[]}] <nil> 0 {"a":1}`, none, none, none})
	if calls[2] == calls[1] || calls[3] == calls[2] {
		t.Error("a call with a progress token is another's")
	}
}
