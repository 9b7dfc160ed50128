package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestStrictJSON has texts and what is wrong with them: "" for nothing.
func TestStrictJSON(t *testing.T) {
	names := func(n int, last string) string { // an object of n members, and one more
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"n%d":%d,`, i, i)
		}
		return "{" + b.String() + last + "}"
	}
	for _, test := range []struct{ rule, text, want string }{
		{"scalars", `null`, ``}, {"true", ` true `, ``}, {"false", "\tfalse\r\n", ``}, {"numbers", `-0.10e+05`, ``},
		{"strings", `"\"\\\/\b\f\n\r\t\u00e9é😀"`, ``}, {"a zero byte as an escape", `"\u0000"`, ``}, {"DEL", "\"\x7f\"", ``},
		{"arrays and objects", `{"a":[1,{},[ ]],"b":{"c":null}}`, ``},
		{"a lone surrogate is legal: RFC 8259, section 8.2", `"\ud800"`, ``},
		{"nothing", ``, `not JSON, at byte 0: want a value`},
		{"white space alone", ` `, `not JSON, at byte 1: want a value`},
		{"two texts", `1 2`, `not JSON, at byte 2: want nothing after the first value`},
		{"no byte order mark", "\ufeff1", `not JSON, at byte 0: want a value`},
		{"no other white space", "\v1", `not JSON, at byte 0: want a value`},
		{"words in full", `nul`, `not JSON, at byte 0: want a value`}, {"words in lower case", `True`, `not JSON, at byte 0: want a value`},
		{"no comment", `[/**/]`, `not JSON, at byte 1: want a value`},
		{"no single quotes", `'a'`, `not JSON, at byte 0: want a value`},
		{"no comma at the end", `[1,]`, `not JSON, at byte 3: want a value`},
		{"no comma at the end of an object", `{"a":1,}`, `not JSON, at byte 7: want a member name in quotes`},
		{"an open array", `[1`, `not JSON, at byte 2: want a comma or the end of the array`},
		{"an open object", `{"a":1`, `not JSON, at byte 6: want a comma or the end of the object`},
		{"the wrong bracket", `[1}`, `not JSON, at byte 2: want a comma or the end of the array`},
		{"a name without quotes", `{a:1}`, `not JSON, at byte 1: want a member name in quotes`},
		{"a name without a colon", `{"a" 1}`, `not JSON, at byte 5: want a colon after the member name`},
		{"a member without a value", `{"a":}`, `not JSON, at byte 5: want a value`},
		{"an open string", `"abc`, `not JSON, at byte 4: want the closing quote of a string`},
		{"an open string of eight bytes", `"12345678`, `not JSON, at byte 9: want the closing quote of a string`},
		{"a newline in a string", "\"a\nb\"", `not JSON, at byte 2: want an escape, not a control character`},
		{"an unknown escape", `"\x41"`, `not JSON, at byte 2: want one of " \ / b f n r t u after a backslash`},
		{"half an escape", `"\u12"`, `not JSON, at byte 5: want four hexadecimal digits after \u`},
		{"a leading zero", `01`, `not JSON, at byte 1: want nothing after the first value`},
		{"a leading plus", `+1`, `not JSON, at byte 0: want a value`},
		{"no digit before the point", `.5`, `not JSON, at byte 0: want a value`},
		{"no digit after the point", `1.`, `not JSON, at byte 2: want a digit`},
		{"no digit after the sign", `-`, `not JSON, at byte 1: want a digit`},
		{"no digit in the exponent", `1e+`, `not JSON, at byte 3: want a digit`},
		{"not a number", `NaN`, `not JSON, at byte 0: want a value`},
		{"not UTF-8", "\"a\xff\"", `not UTF-8, at byte 2`},
		{"too long a form of UTF-8", "\"\xc0\xaf\"", `not UTF-8, at byte 1`},
		{"a surrogate in UTF-8", "\"\xed\xa0\x80\"", `not UTF-8, at byte 1`},
		{"a character cut off", "\"\xe2\x82", `not UTF-8, at byte 1`},
		{"512 brackets", strings.Repeat("[", 512) + strings.Repeat("]", 512), ``},
		{"513 brackets", strings.Repeat("[", 513) + strings.Repeat("]", 513), `nested more than 512 deep, at byte 512`},
		{"513 brackets, objects too", strings.Repeat(`{"a":[`, 257), `nested more than 512 deep, at byte 1536`},
		{"a name twice", `{"a":1,"a":2}`, `a member name twice in one object, at byte 8`},
		{"a name twice, further in", `[{"b":{"a":1,"c":2,"a":3}}]`, `a member name twice in one object, at byte 20`},
		{"a name in two objects", `{"a":{"a":1},"b":{"a":2}}`, ``},
		{"the case of names counts", `{"a":1,"A":2}`, ``},
		{"a name twice by way of an escape", `{"a/":1,"\u0061\/":2}`, `a member name twice in one object, at byte 9`},
		{"a pair of surrogates is its character", `{"😀":1,"\ud83d\ude00":2}`, `a member name twice in one object, at byte 11`},
		{"a lone surrogate equals itself", `{"\ud800":1,"\uD800":2}`, `a member name twice in one object, at byte 13`},
		{"a lone surrogate equals no other", `{"\ud800":1,"\ud801":2,"\ufffd":3,"\udc00":4}`, ``},
		{"many names", names(20, `"n20":1`), ``},
		{"many names, one twice", names(20, `"n7":1`), `a member name twice in one object, at byte 162`},
		{"many names, one twice by way of an escape", names(20, `"\u006e7":1`), `a member name twice in one object, at byte 162`},
		{"the first error counts", `{"a":1,"a":x`, `not JSON, at byte 11: want a value`},
	} {
		t.Run(test.rule, func(t *testing.T) {
			err := checkJSON([]byte(test.text))
			if got := fmt.Sprint(err); got != test.want && !(err == nil && test.want == "") {
				t.Errorf("%s\n got: %v\nwant: %s", clip(test.text), err, test.want)
			}
			var wrong *JSONError
			if err != nil && (!errors.As(err, &wrong) || errors.Unwrap(err) == nil) {
				t.Errorf("%v is no JSONError", err)
			}
			if err == nil && !(json.Valid([]byte(test.text)) && utf8.ValidString(test.text)) {
				t.Error("encoding/json does not agree")
			}
		})
	}
}

// TestStrictStrings has every byte at each place of a string, of which eight bytes are looked at together.
func TestStrictStrings(t *testing.T) {
	for b := range 256 {
		for at := range 20 {
			text := []byte(`"` + strings.Repeat("x", 20) + `"`)
			text[at+1] = byte(b)
			if good, want := checkJSON(text) == nil, json.Valid(text) && utf8.Valid(text); good != want {
				t.Errorf("%q is good: %v, want %v", text, good, want)
			}
		}
	}
}

// TestCanonical has groups of values; those of one group are equal, and no others.
func TestCanonical(t *testing.T) {
	long := strings.Repeat("x", 100)
	groups := [][]string{
		{`null`}, {`true`}, {`false`}, {`0`, `-0.0`, `0e5`}, {`1`, `1.0`, ` 10e-1`}, {`""`}, {`"1"`}, {`"0"`},
		{`"a/é"`, `"\u0061\/\u00e9"`}, {`"\ud83d\ude00"`, `"😀"`}, {`"\ud83d"`, `"\uD83D"`}, {`"\ufffd"`, `"` + "\ufffd" + `"`},
		{`"\""`, `"\u0022"`}, {`"\\"`}, {`"\\\""`},
		{`[]`, `[ ]`}, {`{}`, `{ }`}, {`[[]]`}, {`[{}]`}, {`[1,2]`, "[1.0,\n2]"}, {`[2,1]`}, {`["1,2"]`}, {`["1","2"]`},
		{`{"a":1,"b":[2]}`, `{ "b" : [ 2.0 ] , "\u0061" : 1 }`}, {`{"a":[2],"b":1}`}, {`{"a":1}`}, {`{"a":{"b":1}}`},
		{`{"` + long + `":{"y":1,"x":2},"z":0}`, `{"z":0,"` + long + `":{"x":2,"y":1}}`},
		{`{"` + long + `":{"y":1,"x":3},"z":0}`},
	}
	for i, group := range groups {
		for j, other := range groups {
			for _, a := range group {
				for _, b := range other {
					x, end := appendCanonical(nil, []byte(a), skipSpace([]byte(a), 0))
					y, _ := appendCanonical(nil, []byte(b), skipSpace([]byte(b), 0))
					if (string(x) == string(y)) != (i == j) {
						t.Errorf("%s and %s: %q and %q", a, b, x, y)
					}
					if end != len(a) {
						t.Errorf("%s ends at %d", a, end)
					}
				}
			}
		}
	}
}

func TestAppendText(t *testing.T) {
	for text, want := range map[string]string{
		"":                    `""`,
		"a\"b\\c":             `"a\"b\\c"`,
		"<&>/'":               `"<&>/'"`,
		"\n\r\t\b\x00\x7f":    "\"\\n\\r\\t\\b\\u0000\x7f\"",
		"é😀":                  `"é😀"`,
		"\u2028\u2029\u2027":  `"\u2028\u2029` + "\u2027\"",
		"a\xffb\xed\xa0\x80c": "\"a\uFFFDb\uFFFD\uFFFD\uFFFDc\"",
		"\ufffd":              "\"\ufffd\"",
	} {
		got := appendText(nil, text)
		if string(got) != want {
			t.Errorf("%q became %s, want %s", text, got, want)
		}
		if err := checkJSON(got); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAppendCompact(t *testing.T) {
	for value, want := range map[string]string{
		" [ 1 ,\n{ \"a b\" :\t1.0 } ] ":     `[1,{"a b":1.0}]`,
		`"\u0061 \/"`:                       `"\u0061 \/"`,
		`"a\\"`:                             `"a\\"`,
		"[\"\u2028\u2029\u2027\u202a\", 1]": `["\u2028\u2029` + "\u2027\u202a\",1]",
		"1E+400":                            "1E+400",
	} {
		if got := string(appendCompact(nil, []byte(value))); got != want {
			t.Errorf("%s became %s, want %s", value, got, want)
		}
	}
}

func TestUnquote(t *testing.T) {
	for text, want := range map[string]string{
		`""`: "", `"a"`: "a", `"\"\\\/\b\f\n\r\t"`: "\"\\/\b\f\n\r\t", `"\u00e9\ud83d\ude00"`: "é😀",
		`"\ud83dx"`: "\xed\xa0\xbdx", `"\ude00\ud83d"`: "\xed\xb8\x80\xed\xa0\xbd", `"\ud83d\u0041"`: "\xed\xa0\xbdA", `"\ud83d\n"`: "\xed\xa0\xbd\n",
	} {
		if got := unquote([]byte(text)); got != want {
			t.Errorf("%s is %q, want %q", text, got, want)
		}
	}
}

// TestClip tests the bound of echoed text at its edge and one past it.
func TestClip(t *testing.T) {
	for text, want := range map[string]string{
		strings.Repeat("a", 64): strings.Repeat("a", 64),
		strings.Repeat("a", 65): strings.Repeat("a", 61) + "…",
		strings.Repeat("é", 32): strings.Repeat("é", 32),
		strings.Repeat("é", 33): strings.Repeat("é", 30) + "…",
		strings.Repeat("😀", 17): strings.Repeat("😀", 15) + "…",
	} {
		if got := clip(text); got != want {
			t.Errorf("%s became %s", text, got)
		}
	}
	for text, want := range map[string]string{
		`"a\nb"`:                                 "a\nb",
		`"\ud800"`:                               `\ud800`,
		`"` + strings.Repeat("x", 70) + `"`:      strings.Repeat("x", 61) + "…",
		`"` + strings.Repeat(`\ud800`, 9) + `"`:  strings.Repeat(`\ud800`, 9),
		`"` + strings.Repeat(`\udfff`, 30) + `"`: strings.Repeat(`\udfff`, 10) + `\…`,
	} {
		if got := clientText([]byte(text)); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}

// TestSkip walks over each value of a text and has to come out where the next one begins.
func TestSkip(t *testing.T) {
	for _, value := range []string{`1`, `-1.5e3`, `null`, `true`, `"a\"]}"`, `"\\"`, `[]`, `{}`, `[1,"]",{"}":[2]}]`, `{"a\\":{"b":"\\\""}}`} {
		text := []byte(`[` + value + ` , "after"]`)
		if end := skip(text, 1); string(text[1:end]) != value {
			t.Errorf("%s is taken for %s", value, text[1:end])
		}
		if next := nextItem(text, skip(text, 1)); string(text[next:]) != `"after"]` {
			t.Errorf("after %s comes %s", value, text[next:])
		}
	}
}
