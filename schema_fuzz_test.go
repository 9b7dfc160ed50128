package mcp

import (
	"bytes"
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzSchema: whatever the schema and the data are, nothing panics; what is said is bounded, one line a problem, the
// same every time; and the verdict is yes exactly when collecting finds no problem.
func FuzzSchema(f *testing.F) {
	for _, seed := range [][2]string{
		{weatherArguments, `{"x":1,"units":"k","days":2.5}`},                              // the contract's example
		{`{"$defs":{"a/b":{"$anchor":"x"}},"$ref":"#/$defs/a~1b"}`, `1`},                  // references
		{`{"$id":"http://a/b","items":{"$ref":"c"},"contains":{"$id":"c"}}`, `[1]`},       // identifiers
		{`{"allOf":[{"items":{"$ref":"#"}},{"items":{"$ref":"#"}}]}`, `[[[[[[[[]]]]]]]]`}, // two ways down
		{`{"anyOf":[{"properties":{"k":{"const":1}}},{"type":"null"}],"unevaluatedProperties":false}`, `{"k":2,"l":1}`},
		{`{"prefixItems":[true],"contains":{"minimum":2},"maxContains":1,"unevaluatedItems":false,"uniqueItems":true}`, `[1,2,2.0]`},
		{`{"patternProperties":{"^[^\\s\\w]\\u{1F600}":{"maxLength":1}},"propertyNames":{"pattern":"."}}`, `{"\ud800":"a"}`},
		{`{"if":{"required":["a"]},"then":{"dependentRequired":{"a":["b"]}},"else":{"dependentSchemas":{"c":false}}}`, `{"c":null}`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","multipleOf":0.1,"exclusiveMaximum":1e400}`, `1e-400`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, schema, data []byte) {
		s, err := CompileSchema(schema)
		if err != nil {
			if len(err.Error()) > 16_384 || strings.Contains(err.Error(), "\n") {
				t.Errorf("the refusal is %q", err)
			}
			return
		}
		err = s.Validate(data)
		wrong, isProblem := err.(*ValidationError)
		if err != nil && !isProblem {
			return // not strict JSON
		}
		e := evaluation{canonical: canonical{data: data}, frame: frame{at: skipSpace(data, 0)}}
		if e.apply(s.root); (e.wrong == 0) != (err == nil) {
			t.Errorf("the verdict is %v, and without problems %v", err, e.wrong)
		}
		if !isProblem {
			return
		}
		if len(wrong.Problems) == 0 || len(wrong.Problems) > maxProblems || len(err.Error()) > 16_384 {
			t.Errorf("%d problems in %d bytes", len(wrong.Problems), len(err.Error()))
		}
		for _, p := range wrong.Problems {
			if strings.ContainsAny(p.Pointer+p.Message, "\n\r\u2028\u2029") || !utf8.ValidString(p.Pointer+p.Message) || strings.Contains(p.Message, "\uFFFD") && !bytes.Contains(append(schema, data...), []byte("\uFFFD")) {
				t.Errorf("a problem is %q", p)
			}
		}
		if again := s.Validate(data); again.Error() != err.Error() {
			t.Errorf("first %s\nthen %s", err, again)
		}
	})
}

// FuzzDecimal: decimals compare, divide and are integers as the rational numbers of math/big, as far as those can hold
// them, and have one canonical text for each value.
func FuzzDecimal(f *testing.F) {
	for _, seed := range [][2]string{
		{"9007199254740993", "9007199254740992"}, {"0.3", "0.1"}, {"-0", "0e9"}, {"1e2", "100.0"}, {"0.00123e3", "1.23"},
		{"-1.5", "-1.50e0"}, {"1e-300", "1e300"}, {"123456789012345678", "3"}, {"100", "0.7"}, {"10.01", "0.01"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := rational(a), rational(b)
		if x == nil || y == nil {
			return
		}
		d, e := parseDecimal([]byte(a)), parseDecimal([]byte(b))
		if got, want := d.compare(e), x.Cmp(y); got != want {
			t.Errorf("%s compares with %s as %d, want %d", a, b, got, want)
		}
		if got := d.integer(); got != x.IsInt() {
			t.Errorf("integer of %s is %v", a, got)
		}
		if same := bytes.Equal(d.appendTo(nil), e.appendTo(nil)); same != (x.Cmp(y) == 0) {
			t.Errorf("the canonical texts of %s and %s: %s, %s", a, b, d.appendTo(nil), e.appendTo(nil))
		}
		if e.divisor() {
			if got, want := d.multipleOf(e), new(big.Rat).Quo(x, y).IsInt(); got != want {
				t.Errorf("%s a multiple of %s: %v, want %v", a, b, got, want)
			}
		}
	})
}

// rational gives a JSON number that math/big can hold in little room, or nil.
func rational(text string) *big.Rat {
	_, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if checkJSON([]byte(text)) != nil || text != strings.TrimSpace(text) || !isNumber([]byte(text)) || len(strings.TrimLeft(exponent, "+-0")) > 3 {
		return nil
	}
	r, _ := new(big.Rat).SetString(text)
	return r
}
