package mcp

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// problemsOf compiles a schema, validates data, and gives the problems as a model would read them; "" for none.
func problemsOf(t *testing.T, schema, data string) string {
	t.Helper()
	s, err := CompileSchema([]byte(schema))
	if err != nil {
		t.Fatalf("CompileSchema(%s): %v", clip(schema), err)
	}
	err = s.Validate([]byte(data))
	if internal := s.validate([]byte(data)); (internal == nil) != (err == nil) {
		t.Errorf("validate says %v, Validate %v", internal, err)
	}
	if err == nil {
		return ""
	}
	return err.Error()
}

// A schemaTest is a rule, a schema, data, and what is said of them.
type schemaTest struct{ rule, schema, data, want string }

func runSchemaTests(t *testing.T, tests []schemaTest) {
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			if got := problemsOf(t, test.schema, test.data); got != test.want {
				t.Errorf("schema %s\ndata   %s\n got: %s\nwant: %s", clip(test.schema), clip(test.data), got, test.want)
			}
		})
	}
}

const weatherArguments = `{"type":"object","properties":{"location":{"type":"string"},"days":{"type":"integer"},"units":{"enum":["c","f"]}},
	"required":["location"],"additionalProperties":false}`

func TestSchemaProblemsInOrder(t *testing.T) {
	runSchemaTests(t, []schemaTest{
		{"arguments that fit have no problem", weatherArguments, `{"location":"Rome","days":2.0,"units":"c"}`, ``},
		{"all problems are found: missing, wrong in the order of properties, not expected", weatherArguments, `{"x":1,"units":"k","days":2.5}`,
			"/location: missing, but required: expected a string\n" +
				"/days: expected an integer, got 2.5\n" +
				"/units: expected \"c\" or \"f\", got \"k\"\n" +
				"/x: not expected; known are location, days, units"},
		{"missing members come in the order of required", `{"required":["b","a"]}`, `{}`,
			"/b: missing, but required\n/a: missing, but required"},
		{"members that other keywords check come after those of properties, in the order of the data",
			`{"properties":{"p":{"type":"null"}},"patternProperties":{"^x":{"type":"null"}},"additionalProperties":{"type":"null"}}`,
			`{"z":1,"x":1,"p":1}`,
			"/p: expected null, got 1\n/z: expected null, got 1\n/x: expected null, got 1"},
		{"members that are not expected come after others, in the order of the data",
			`{"patternProperties":{"^x":{"type":"null"}},"additionalProperties":false}`, `{"z":1,"x":1,"a":1}`,
			"/x: expected null, got 1\n/z: not expected\n/a: not expected"},
		{"what concerns the object comes last", `{"minProperties":3,"required":["a"],"properties":{"b":false}}`, `{"b":1}`,
			"/a: missing, but required\n/b: not expected\n(root): expected at least 3 members, got 1"},
		{"an object inside is in order by itself", `{"properties":{"o":` + weatherArguments + `,"n":{"type":"null"}},"required":["m"]}`, `{"n":1,"o":{"y":1}}`,
			"/m: missing, but required\n/o/location: missing, but required: expected a string\n" +
				"/o/y: not expected; known are location, days, units\n/n: expected null, got 1"},
		{"schemas in place do not disturb the order, which is that of the schema's text", `{"allOf":[{"properties":{"b":{"type":"null"}},"minProperties":3}],"properties":{"a":{"type":"null"}},"required":["c"]}`,
			`{"b":1,"a":1}`, "/c: missing, but required\n/b: expected null, got 1\n/a: expected null, got 1\n(root): expected at least 3 members, got 2"},
		{"elements come in the order of the array", `{"prefixItems":[{"type":"null"}],"items":{"type":"string"},"maxItems":1}`, `[1,"a",2]`,
			"/0: expected null, got 1\n/2: expected a string, got 2; send it in quotes\n(root): expected at most 1 item, got 3"},
		{"what two schemas say alike is told once, and the rest too", `{"allOf":[{"required":["a"]},{"required":["a"]}],"minProperties":1}`, `{}`,
			"/a: missing, but required\n(root): expected at least 1 member, got 0"},
		{"what is missing, not expected, and wrong in whole", `{"additionalProperties":false,"minProperties":3,"required":["a"]}`, `{"b":1}`,
			"/a: missing, but required\n/b: not expected\n(root): expected at least 3 members, got 1"},
	})
}

func TestSchemaCures(t *testing.T) {
	runSchemaTests(t, []schemaTest{
		{"null for an optional member: leave it out", `{"properties":{"a":{"type":"string"}}}`, `{"a":null}`,
			"/a: expected a string, got null; leave it out"},
		{"null for a required member has no such cure", `{"properties":{"a":{"type":"string"}},"required":["a"]}`, `{"a":null}`,
			"/a: expected a string, got null"},
		{"null for an element has no such cure", `{"properties":{"a":{"items":{"type":"string"}}}}`, `{"a":[null]}`,
			"/a/0: expected a string, got null"},
		{"an array in a string", `{"type":"array"}`, `"[\"a\"]"`, `(root): expected an array, got "[\"a\"]"; send it as JSON, not in a string`},
		{"an object in a string, after white space", `{"type":"object"}`, `" {}"`, `(root): expected an object, got " {}"; send it as JSON, not in a string`},
		{"an integer in a string", `{"type":"integer"}`, `"5"`, `(root): expected an integer, got "5"; send it as JSON, not in a string`},
		{"a number in a string, where none is wanted", `{"type":"boolean"}`, `"1"`, `(root): expected true or false, got "1"`},
		{"true in a string for an integer", `{"type":"integer"}`, `"true"`, `(root): expected an integer, got "true"`},
		{"a string that is only the start of an array", `{"type":"array"}`, `"[1"`, `(root): expected an array, got "[1"`},
		{"an empty string", `{"type":"array"}`, `""`, `(root): expected an array, got ""`},
		{"true for an enum of strings", `{"enum":["true","false"]}`, `true`, `(root): expected "true" or "false", got true; send it in quotes`},
	})
}

func TestSchemaKeywords(t *testing.T) {
	runSchemaTests(t, []schemaTest{
		{"true accepts everything", `true`, `{"a":[1]}`, ``},
		{"false accepts nothing", `false`, `null`, `(root): not expected`},
		{"type: one of several", `{"type":["string","null"]}`, `1`, `(root): expected null or a string, got 1`},
		{"type: an integer is a number", `{"type":"number"}`, `1`, ``},
		{"type: 1.0 and 1e2 are integers", `{"items":{"type":"integer"}}`, `[1.0,1e2,-0,10e-1]`, ``},
		{"type: 1.5 and 1e-1 are not", `{"items":{"type":"integer"}}`, `[1.5,1e-1]`, "/0: expected an integer, got 1.5\n/1: expected an integer, got 1e-1"},
		{"type: objects and arrays are shown by their type", `{"type":"boolean"}`, `{"a":1}`, `(root): expected true or false, got an object`},
		{"enum: any type, numbers by value", `{"enum":[1.0,"a",null,{"x":[1,2]}]}`, `{"x":[1,2e0]}`, ``},
		{"enum: the order of members does not matter", `{"const":{"a":1,"b":2}}`, `{"b":2,"a":1}`, ``},
		{"enum: the order of elements does", `{"const":[1,2]}`, `[2,1]`, `(root): expected [1,2], got an array`},
		{"enum: empty", `{"enum":[]}`, `1`, `(root): expected nothing, got 1`},
		{"const: all of it in escapes", `{"const":"abc"}`, `"\u0061\u0062\u0063"`, ``},
		{"const: false is not 0", `{"const":false}`, `0`, `(root): expected false, got 0`},
		{"const: the letter case counts", `{"const":"A"}`, `"a"`, `(root): expected "A", got "a"`},
		{"const: escapes do not count", `{"const":"A\/"}`, `"\u0041/"`, ``},
		{"multipleOf", `{"multipleOf":3}`, `7`, `(root): expected a multiple of 3, got 7`},
		{"maximum: the edge is in", `{"maximum":3}`, `3.0`, ``},
		{"maximum", `{"maximum":3}`, `3.01`, `(root): expected at most 3, got 3.01`},
		{"exclusiveMaximum: the edge is out", `{"exclusiveMaximum":3}`, `3`, `(root): expected less than 3, got 3`},
		{"minimum: the edge is in", `{"minimum":-3}`, `-3`, ``},
		{"minimum", `{"minimum":-3}`, `-4`, `(root): expected at least -3, got -4`},
		{"exclusiveMinimum: the edge is out", `{"exclusiveMinimum":3}`, `3`, `(root): expected more than 3, got 3`},
		{"limits are for numbers alone", `{"minimum":3,"multipleOf":2}`, `"1"`, ``},
		{"maxLength: code points, not bytes", `{"maxLength":2}`, `"é😀"`, ``},
		{"maxLength", `{"maxLength":2}`, `"abc"`, `(root): expected at most 2 characters, got 3`},
		{"maxLength: as a decimal", `{"maxLength":2.0}`, `"ab"`, ``},
		{"maxLength: without an end", `{"maxLength":1e400}`, `"ab"`, ``},
		{"minLength: an escaped pair is one", `{"minLength":2}`, `"\ud83d\ude00"`, `(root): expected at least 2 characters, got 1`},
		{"minLength: a lone surrogate is one", `{"minLength":2}`, `"\ud83d"`, `(root): expected at least 2 characters, got 1`},
		{"minLength: exactly", `{"minLength":1}`, `"\u0041"`, ``},
		{"minLength: as many as an int32 holds", `{"minLength":2147483647}`, `"abc"`, `(root): expected at least 2147483647 characters, got 3`},
		{"minLength: more than any string has", `{"not":{"minLength":1000000000000000000}}`, `"abc"`, ``},
		{"pattern: anywhere in the string", `{"pattern":"b+"}`, `"abbc"`, ``},
		{"pattern", `{"pattern":"^b"}`, `"abbc"`, `(root): expected a match of ^b, got "abbc"`},
		{"pattern: against the string, not its escapes", `{"pattern":"^a\\nb$"}`, `"a\nb"`, ``},
		{"maxItems and minItems: the edge", `{"minItems":2,"maxItems":2}`, `[1,2]`, ``},
		{"minItems", `{"minItems":1}`, `[]`, `(root): expected at least 1 item, got 0`},
		{"uniqueItems: equal numbers", `{"uniqueItems":true}`, `[1,"1",1.0]`, `(root): expected items that all differ, got the same at 0 and 2`},
		{"uniqueItems: equal objects", `{"uniqueItems":true}`, `[{"a":1,"b":2},{"b":2,"a":1}]`, `(root): expected items that all differ, got the same at 0 and 1`},
		{"uniqueItems: 1 and true, false and 0, null and absent", `{"uniqueItems":true}`, `[1,true,0,false,{},{"a":null},[],[null],"",null]`, ``},
		{"uniqueItems: false", `{"uniqueItems":false}`, `[1,1]`, ``},
		{"prefixItems: fewer elements are fine", `{"prefixItems":[{"type":"string"},{"type":"string"}]}`, `["a"]`, ``},
		{"prefixItems: more elements are fine", `{"prefixItems":[{"type":"string"}]}`, `["a",1]`, ``},
		{"items: false closes a tuple", `{"prefixItems":[true],"items":false}`, `[1,2]`, `/1: not expected`},
		{"contains", `{"contains":{"type":"string"}}`, `[1]`, `(root): expected at least 1 item to be a string, got 0`},
		{"contains: minContains 0 asks for nothing", `{"contains":{"type":"string"},"minContains":0}`, `[]`, ``},
		{"contains: maxContains", `{"contains":{"type":"string"},"maxContains":1}`, `["a",1,"b"]`, `(root): expected at most 1 item to be a string, got 2`},
		{"minContains: nothing without contains", `{"minContains":2}`, `[]`, ``},
		{"properties: names are compared after undoing escapes", `{"properties":{"a/b":{"type":"null"}}}`, `{"a\/\u0062":1}`, `/a~1b: expected null, got 1`},
		{"patternProperties: every match counts", `{"patternProperties":{"a":{"type":"number"},"b":{"minimum":2}}}`, `{"ab":1}`, `/ab: expected at least 2, got 1`},
		{"additionalProperties: not what a pattern matches", `{"patternProperties":{"^x":true},"additionalProperties":false}`, `{"x1":1}`, ``},
		{"propertyNames: escapes are undone", `{"propertyNames":{"maxLength":1}}`, `{"\u0061":1,"bc":2}`, `/bc: expected at most 1 character, got 2`},
		{"maxProperties", `{"maxProperties":1}`, `{"a":1,"b":2}`, `(root): expected at most 1 member, got 2`},
		{"required: for objects alone", `{"required":["a"]}`, `[]`, ``},
		{"dependentRequired", `{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `/b: missing, but required where there is a`},
		{"a count that contradicts another", `{"minItems":3,"maxItems":1}`, `[1]`, `(root): expected at least 3 items, got 1`},
		{"a count that no int holds", `{"maxLength":9223372036854775807,"minLength":0}`, `"a"`, ``},
		{"a lone surrogate is one character, each", `{"maxLength":2,"minLength":2}`, `"\ud800\ud801"`, ``},
		{"what is not expected comes before the object as a whole", `{"additionalProperties":false,"minProperties":3}`, `{"b":1}`,
			"/b: not expected\n(root): expected at least 3 members, got 1"},
		{"unevaluatedItems: beside others", `{"items":{"unevaluatedItems":{"type":"integer"}}}`, `[[1],[2,true],[3],[null]]`,
			"/1/1: expected an integer, got true\n/3/0: expected an integer, got null"},
		{"unevaluatedProperties: in the order of the data", `{"unevaluatedProperties":{"type":"object"}}`, `{"b":1,"a":2,"c":3}`,
			"/b: expected an object, got 1\n/a: expected an object, got 2\n/c: expected an object, got 3"},
		{"a pointer of 12 steps", strings.Repeat(`{"items":`, 12) + "false" + strings.Repeat("}", 12), strings.Repeat("[", 12) + "1" + strings.Repeat("]", 12),
			strings.Repeat("/0", 12) + ": not expected"},
		{"a pointer of 13 steps", strings.Repeat(`{"items":`, 13) + "false" + strings.Repeat("}", 13), strings.Repeat("[", 13) + "1" + strings.Repeat("]", 13),
			strings.Repeat("/0", 6) + "/…" + strings.Repeat("/0", 6) + ": not expected"},
		{"null that cannot be left out, being all there is", `{"type":"string"}`, `null`, `(root): expected a string, got null`},
		{"dependentRequired: after those of required", `{"dependentRequired":{"a":["b"]},"required":["z","y"]}`, `{"a":1}`,
			"/z: missing, but required\n/y: missing, but required\n/b: missing, but required where there is a"},
		{"unevaluatedItems: an element is not to be left out", `{"unevaluatedItems":{"type":"string"}}`, `[null]`, `/0: expected a string, got null`},
		{"dependentRequired: nor without a member that other keywords know", `{"properties":{"a":true,"b":true},"dependentRequired":{"b":["c"]}}`, `{}`, ``},
		{"dependentRequired: not without its member", `{"dependentRequired":{"a":["b"]}}`, `{"c":1}`, ``},
		{"dependentRequired: also where the first asks for nothing", `{"dependentRequired":{"a":["b"],"c":["d"]}}`, `{"c":1}`, `/d: missing, but required where there is c`},
		{"contains: what has no words", `{"contains":{"minimum":2}}`, `[1]`, `(root): expected at least 1 item to be something else, got 0`},
		{"dependentSchemas", `{"dependentSchemas":{"a":{"maxProperties":1}}}`, `{"a":1,"b":1}`, `(root): expected at most 1 member, got 2`},
		{"allOf", `{"allOf":[{"minimum":2},{"multipleOf":2}]}`, `1`, "(root): expected at least 2, got 1\n(root): expected a multiple of 2, got 1"},
		{"not", `{"not":{"type":"string"}}`, `"a"`, `(root): expected anything but a string, got "a"`},
		{"if and then", `{"if":{"properties":{"k":{"const":1}}},"then":{"required":["a"]},"else":{"required":["b"]}}`, `{"k":1}`, `/a: missing, but required`},
		{"if and else", `{"if":{"properties":{"k":{"const":1}}},"then":{"required":["a"]},"else":{"required":["b"]}}`, `{"k":2}`, `/b: missing, but required`},
		{"then without if says nothing", `{"then":false,"else":false}`, `1`, ``},
		{"annotations never fail", `{"title":"t","description":"d","default":[],"examples":[1],"deprecated":true,"readOnly":true,"writeOnly":true,
			"format":"email","contentEncoding":"base64","contentMediaType":"text/plain","contentSchema":false,"$comment":"c","x-note":{"a":1}}`, `"!"`, ``},
		{"unevaluatedProperties: what allOf knows is evaluated", `{"allOf":[{"properties":{"a":true}}],"properties":{"b":true},"unevaluatedProperties":false}`,
			`{"a":1,"b":1,"c":1}`, `/c: not expected`},
		{"unevaluatedProperties: what a failed branch knows is not", `{"anyOf":[{"properties":{"a":{"const":1}},"required":["a"]},{"properties":{"b":true}}],"unevaluatedProperties":false}`,
			`{"a":2}`, `/a: not expected`},
		{"unevaluatedProperties: all branches of anyOf have a say", `{"anyOf":[{"properties":{"a":true}},{"properties":{"b":true}}],"unevaluatedProperties":false}`, `{"a":1,"b":1}`, ``},
		{"unevaluatedProperties: if has a say without then", `{"if":{"properties":{"a":true}},"unevaluatedProperties":false}`, `{"a":1}`, ``},
		{"unevaluatedProperties: not has none", `{"not":{"not":{"properties":{"a":true}}},"unevaluatedProperties":false}`, `{"a":1}`, `/a: not expected`},
		{"unevaluatedProperties: sees into $ref", `{"$defs":{"d":{"properties":{"a":true}}},"$ref":"#/$defs/d","unevaluatedProperties":{"type":"null"}}`, `{"a":1,"b":2}`, `/b: expected null, got 2`},
		{"unevaluatedProperties: does not see its cousins", `{"allOf":[{"properties":{"a":true}},{"unevaluatedProperties":false}]}`, `{"a":1}`, `/a: not expected`},
		{"unevaluatedProperties: inside, it evaluates for those outside", `{"allOf":[{"unevaluatedProperties":true}],"unevaluatedProperties":false}`, `{"a":1}`, ``},
		{"unevaluatedItems: after prefixItems", `{"prefixItems":[true],"unevaluatedItems":false}`, `[1,2]`, `/1: not expected`},
		{"unevaluatedItems: contains evaluates what it finds", `{"contains":{"const":1},"unevaluatedItems":{"const":2}}`, `[2,1,3]`, `/2: expected 2, got 3`},
	})
}

func TestSchemaNumbers(t *testing.T) {
	runSchemaTests(t, []schemaTest{
		{"2^53+1 is not 2^53", `{"const":9007199254740992}`, `9007199254740993`, `(root): expected 9007199254740992, got 9007199254740993`},
		{"2^53+1 is above 2^53", `{"maximum":9007199254740992}`, `9007199254740993`, `(root): expected at most 9007199254740992, got 9007199254740993`},
		{"1e400 is below 1e401", `{"minimum":1e401}`, `1e400`, `(root): expected at least 1e401, got 1e400`},
		{"1e401 is not", `{"minimum":1e401}`, `10e400`, ``},
		{"0.3 is a multiple of 0.1", `{"multipleOf":0.1}`, `0.3`, ``},
		{"0.35 is not", `{"multipleOf":0.1}`, `0.35`, `(root): expected a multiple of 0.1, got 0.35`},
		{"1e308 is a multiple of 0.5", `{"type":"integer","multipleOf":0.5}`, `1e308`, ``},
		{"exponents of any length are compared", `{"const":1e99999999999999999999}`, `10e99999999999999999998`, ``},
		{"and told apart", `{"const":1e99999999999999999999}`, `1e99999999999999999998`, `(root): expected 1e99999999999999999999, got 1e99999999999999999998`},
		{"a huge exponent makes an integer", `{"type":"integer"}`, `1.5e99999999999999999999`, ``},
		{"a tiny one a fraction", `{"type":"integer"}`, `1e-99999999999999999999`, `(root): expected an integer, got 1e-99999999999999999999`},
		{"all zeros are one", `{"uniqueItems":true}`, `[0,-0.0e5]`, `(root): expected items that all differ, got the same at 0 and 1`},
		{"a long number is shown in part", `{"type":"string"}`, strings.Repeat("1", 100), "(root): expected a string, got " + strings.Repeat("1", 61) + "…; send it in quotes"},
	})
}

func TestSchemaReferences(t *testing.T) {
	runSchemaTests(t, []schemaTest{
		{"to the root", `{"properties":{"a":{"$ref":"#"}},"additionalProperties":false}`, `{"a":{"a":{"b":1}}}`, `/a/a/b: not expected; known are a`},
		{"to $defs", `{"$defs":{"d":{"type":"null"}},"$ref":"#/$defs/d"}`, `1`, `(root): expected null, got 1`},
		{"to definitions", `{"definitions":{"d":{"type":"null"}},"$ref":"#/definitions/d"}`, `1`, `(root): expected null, got 1`},
		{"with escapes of JSON Pointer and of URIs", `{"$defs":{"a/b~c %":{"type":"null"}},"$ref":"#/$defs/a~1b~0c%20%25"}`, `1`, `(root): expected null, got 1`},
		{"to an element", `{"prefixItems":[{"type":"null"},{"$ref":"#/prefixItems/0"}]}`, `[null,1]`, `/1: expected null, got 1`},
		{"to where no keyword has put a schema", `{"examples":[{"type":"null"}],"$ref":"#/examples/0"}`, `1`, `(root): expected null, got 1`},
		{"to the vendor's own corner", `{"x-types":{"t":{"type":"null"}},"items":{"$ref":"#/x-types/t"}}`, `[1]`, `/0: expected null, got 1`},
		{"to an anchor", `{"$defs":{"d":{"$anchor":"here","type":"null"}},"$ref":"#here"}`, `1`, `(root): expected null, got 1`},
		{"to an embedded identifier", `{"$id":"https://example.com/a/b","$defs":{"d":{"$id":"c","type":"null"}},"$ref":"https://example.com/a/c"}`, `1`, `(root): expected null, got 1`},
		{"beside other keywords", `{"$defs":{"d":{"minimum":2}},"$ref":"#/$defs/d","multipleOf":2}`, `1`, "(root): expected a multiple of 2, got 1\n(root): expected at least 2, got 1"},
		{"a member named $ref is no reference", `{"properties":{"$ref":{"type":"null"}}}`, `{"$ref":"#"}`, `/$ref: expected null, got "#"`},
		{"a tree", `{"type":"object","properties":{"v":{"type":"integer"},"kids":{"type":"array","items":{"$ref":"#"}}},"required":["v"]}`,
			`{"v":1,"kids":[{"v":2},{"kids":[{"v":"x"}]}]}`, "/kids/1/v: missing, but required: expected an integer\n/kids/1/kids/0/v: expected an integer, got \"x\""},
	})
}

func TestSchemaBranches(t *testing.T) {
	shapes := `{"oneOf":[{"type":"object","properties":{"kind":{"const":"circle"},"radius":{"type":"number"}},"required":["kind","radius"]},
		{"type":"object","properties":{"kind":{"const":"square"},"side":{"type":"number"}},"required":["kind","side"]}]}`
	runSchemaTests(t, []schemaTest{
		{"a tag chooses the branch whose problems are told", shapes, `{"kind":"square","side":"2"}`, `/side: expected a number, got "2"; send it as JSON, not in a string`},
		{"an unknown tag: what each branch wants", shapes, `{"kind":"line"}`,
			`(root): expected an object with kind "circle" and radius or an object with kind "square" and side, got an object`},
		{"an unknown tag, and other members as one branch wants them: still what each wants", shapes, `{"kind":"line","side":1}`,
			`(root): expected an object with kind "circle" and radius or an object with kind "square" and side, got an object`},
		{"another type: what each branch wants", `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `1`, `(root): expected a string or null, got 1`},
		{"the type chooses the branch", `{"anyOf":[{"type":"string","minLength":2},{"type":"array","items":{"type":"string"}}]}`, `["a",1]`, `/1: expected a string, got 1; send it in quotes`},
		{"the branch with the fewest problems, if it is the only one", `{"anyOf":[{"required":["a","b"]},{"required":["c"]}]}`, `{}`, `/c: missing, but required`},
		{"else what each of them wants", `{"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`, `(root): expected an object with a or an object with b, got an object`},
		{"if they want the same in words, the problems of the first", `{"anyOf":[{"type":"array","items":{"type":"null"}},{"type":"array","items":{"type":"object"}}]}`, `[1]`, `/0: expected null, got 1`},
		{"elements that are wrong count, too", `{"anyOf":[{"type":"array","items":{"type":"null"}},{"type":"array","items":{"type":"integer"}}]}`, `[1,2,null]`, `/2: expected an integer, got null`},
		{"elements after those that settle it", `{"anyOf":[{"items":{"items":{"type":"null"}}},{"type":"null"}]}`, `[[1,"a"],["b"]]`, "/0/0: expected null, got 1\n/0/1: expected null, got \"a\"\n/1/0: expected null, got \"b\""},
		{"two branches of oneOf", `{"oneOf":[{"minimum":1},{"type":"null"},{"maximum":3}]}`, `2`, `(root): fits alternatives 1 and 3, but may fit only one`},
		{"a branch by reference", `{"$defs":{"s":{"type":"string"},"n":{"type":"null"}},"anyOf":[{"$ref":"#/$defs/s"},{"$ref":"#/$defs/n"}]}`, `1`, `(root): expected a string or null, got 1`},
		{"a tag of an element is none of the array", `{"anyOf":[{"type":"array","items":{"enum":["c","f"]}},{"type":"null"}]}`, `["k","c"]`, `/0: expected "c" or "f", got "k"`},
		{"a tag further down is none of the object", `{"anyOf":[{"type":"object","properties":{"p":{"properties":{"t":{"enum":["s","e"]}}}}},{"type":"string"}]}`, `{"p":{"t":"z"}}`, `/p/t: expected "s" or "e", got "z"`},
		{"the only branch of its kind, whatever is wrong", `{"anyOf":[{"type":"object","properties":{"u":{"enum":["c","f"]}}},{"type":"null"}]}`, `{"u":"k"}`, `/u: expected "c" or "f", got "k"`},
		{"the only branch of its kind among others, whatever is wrong", `{"anyOf":[{"type":"object","properties":{"u":{"const":"c"}}},{"type":"string"},{"type":"null"}]}`, `{"u":"k"}`, `/u: expected "c", got "k"`},
		{"a tag chooses the branch also where it comes after what is wrong", `{"anyOf":[{"properties":{"n":{"type":"null"},"t":{"const":"c"}}},{"properties":{"n":{"type":"null"},"t":{"const":"d"}}}]}`, `{"n":1,"t":"d"}`, `/n: expected null, got 1`},
		{"a branch that has branches counts as they do: one part", `{"anyOf":[{"anyOf":[{"required":["a","b","c"]}]},{"required":["d","e"]}]}`, `{}`,
			"/a: missing, but required\n/b: missing, but required\n/c: missing, but required"},
		{"two of a kind that want the same tag", `{"anyOf":[{"properties":{"t":{"const":1}}},{"properties":{"t":{"const":1},"b":true}}]}`, `{"t":2}`, `(root): expected an object with t 1, got an object`},
		{"branches of branches in words", `{"anyOf":[{"anyOf":[{"type":"string"},{"type":"integer"}]},{"type":"null"}]}`, `true`, `(root): expected a string or an integer or null, got true`},
		{"branches inside branches", `{"anyOf":[{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}},{"type":"null"}]}`, `{"a":1}`, `/a: expected a string or null, got 1`},
	})
}

func TestSchemaText(t *testing.T) {
	long := strings.Repeat("é", 40)
	runSchemaTests(t, []schemaTest{
		{"a value is clipped at the start of a character", `{"type":"null"}`, `"` + long + `"`, `(root): expected null, got "` + strings.Repeat("é", 30) + `…"`},
		{"so is a name", `{"additionalProperties":false}`, `{"` + long + `":1}`, `/` + strings.Repeat("é", 30) + `…: not expected`},
		{"a value of escapes, too", `{"type":"null"}`, `"` + strings.Repeat(`\u00e9`, 1000) + `"`, `(root): expected null, got "` + strings.Repeat("é", 30) + `…"`},
		{"a lone surrogate is shown as it is written", `{"type":"null"}`, `"\ud800"`, `(root): expected null, got "\ud800"`},
		{"also in a name", `{"additionalProperties":false}`, `{"\ud800":1}`, `/\ud800: not expected`},
		{"a value is on one line", `{"type":"null"}`, "\"a\u0085b\u2028\"", `(root): expected null, got "a\u0085b\u2028"`},
		{"a problem is one line", `{"additionalProperties":false}`, `{"a\nb\u2028":1}`, `/a\nb\u2028: not expected`},
		{"also names and expressions of the schema", `{"required":["a\nb"],"properties":{"c\n":true},"patternProperties":{"^\n":{"pattern":"a\nb"}},"additionalProperties":false}`, `{"d":1,"\n":"x"}`,
			`/a\nb: missing, but required` + "\n" + `/\n: expected a match of a\nb, got "x"` + "\n" + `/d: not expected; known are c\n`},
		{"with lone surrogates as they were written", `{"required":["\ud800"],"properties":{"\udc00":true},"additionalProperties":false}`, `{"d":1}`,
			`/\ud800: missing, but required` + "\n" + `/d: not expected; known are \udc00`},
		{"a member whose name is empty", `{"additionalProperties":false}`, `{"":1}`, `/: not expected`},
		{"a deep place is shown by its ends", `{"items":{"$ref":"#"},"type":"array"}`, strings.Repeat("[", 20) + "1" + strings.Repeat("]", 20),
			"/0/0/0/0/0/0/…/0/0/0/0/0/0: expected an array, got 1"},
		{"a long list is cut short", `{"enum":[` + strings.Repeat(`"01234567890123456789",`, 99) + `1]}`, `2`,
			"(root): expected " + strings.Repeat(`"01234567890123456789" or `, 16) + "… (100 in all), got 2"},
		{"one of 500 bytes is not", `{"enum":[` + strings.Repeat(`"0123456789012345",`, 22) + `"01234567890123"]}`, `{}`,
			"(root): expected " + strings.Repeat(`"0123456789012345" or `, 22) + `"01234567890123", got an object`},
		{"one of 501 is", `{"enum":[` + strings.Repeat(`"0123456789012345",`, 22) + `"012345678901234"]}`, `{}`,
			"(root): expected " + strings.Repeat(`"0123456789012345" or `, 19) + "… (23 in all), got an object"},
	})
}

func TestSchemaSurrogates(t *testing.T) {
	runSchemaTests(t, []schemaTest{
		{"two lone surrogates are equal to themselves alone", `{"uniqueItems":true}`, `["\ud800","\ud801","\ufffd"]`, ``},
		{"names too", `{"properties":{"\ud800":{"type":"null"}}}`, `{"\ud801":1,"\uD800":1}`, `/\ud800: expected null, got 1`},
		{"one is one character of a pattern", `{"pattern":"^.$"}`, `"\udc00"`, ``},
		{"it is no letter", `{"pattern":"\\p{L}|\\w|\\s"}`, `"\udc00"`, `(root): expected a match of \p{L}|\w|\s, got "\udc00"`},
		{"a pair is one character", `{"pattern":"^\\ud83d\\udc32.$"}`, `"\ud83d\udc32\ud83d\udc32"`, ``},
	})
}

func TestSchemaNotJSON(t *testing.T) {
	s, err := CompileSchema([]byte(`true`))
	if err != nil {
		t.Fatal(err)
	}
	for data, want := range map[string]error{`{"a":1,"\u0061":2}`: ErrDuplicate, `[`: ErrSyntax, "\"\xff\"": ErrUTF8,
		strings.Repeat("[", MaxDepth+1): ErrDepth, ``: ErrSyntax} {
		var wrong *JSONError
		if err := s.Validate([]byte(data)); !errors.As(err, &wrong) || !errors.Is(err, want) {
			t.Errorf("Validate(%s) = %v, want %v", clip(data), err, want)
		}
	}
}

func TestSchemaRefusals(t *testing.T) {
	const draft7 = `"$schema":"http://json-schema.org/draft-07/schema#"`
	dialect := "takes https://json-schema.org/draft/2020-12/schema or http://json-schema.org/draft-07/schema#, one in all"
	for _, test := range []struct{ rule, schema, want string }{
		{"a schema is an object or a boolean", `1`, "(root): takes a schema: an object, true or false"},
		{"a schema is strict JSON", `{"a":1,"a":2}`, "(root): a member name twice in one object, at byte 8"},
		{"an unknown keyword", `{"properties":{"a":{"typ":"string"}}}`, "/properties/a/typ: typ is not a keyword of JSON Schema 2020-12"},
		{"$dynamicRef", `{"$dynamicRef":"#a"}`, "/$dynamicRef: $dynamicRef is not supported; $ref is"},
		{"$dynamicAnchor", `{"$dynamicAnchor":"a"}`, "/$dynamicAnchor: $dynamicAnchor is not supported; $anchor is"},
		{"$vocabulary", `{"$vocabulary":{}}`, "/$vocabulary: $vocabulary is not supported; the vocabularies are those of 2020-12"},
		{"a schema after white space", ` {"not":{"type":"x"}}`, "/not/type: type takes some of null, boolean, object, array, number, string, integer, each once"},
		{"dependencies", `{"dependencies":{}}`, "/dependencies: dependencies is of older drafts; it was split into dependentRequired and dependentSchemas"},
		{"additionalItems", `{"items":{"additionalItems":false}}`, "/items/additionalItems: additionalItems is of older drafts; prefixItems has the first schemas, items that of the rest"},
		{"items as an array", `{"items":[{}]}`, "/items: items takes a schema: an object, true or false"},
		{"nullable", `{"nullable":true}`, `/nullable: nullable is of OpenAPI; write "type": [..., "null"]`},
		{"another dialect", `{"$schema":"https://json-schema.org/draft/2019-09/schema"}`, "/$schema: $schema " + dialect},
		{"a second dialect", `{"items":{` + draft7 + `}}`, "/items/$schema: $schema " + dialect},
		{"a reference that leaves the schema", `{"$ref":"https://example.com/x"}`, "/$ref: $ref leaves the schema, and nothing is fetched: copy what it refers to into $defs"},
		{"a reference to nothing", `{"$ref":"#/$defs/a"}`, "/$ref: $ref points to nothing in the schema"},
		{"an anchor that is not there", `{"$ref":"#a"}`, "/$ref: $ref points to nothing in the schema"},
		{"a reference to what is no schema", `{"x-a":1,"$ref":"#/x-a"}`, "/x-a: $ref takes a schema: an object, true or false"},
		{"a reference that is no URI", `{"$ref":"%"}`, "/$ref: $ref takes a URI reference"},
		{"an identifier with a fragment", `{"$id":"#a"}`, "/$id: $id takes a URI without a fragment"},
		{"an identifier twice", `{"items":{"$id":"a"},"contains":{"$id":"a"}}`, "/contains/$id: $id is the identifier of two schemas"},
		{"an anchor without a name", `{"$anchor":""}`, "/$anchor: $anchor takes a name of letters, digits, - . and _ that no other schema has"},
		{"an anchor that begins with a digit", `{"$anchor":"1a"}`, "/$anchor: $anchor takes a name of letters, digits, - . and _ that no other schema has"},
		{"an anchor twice", `{"items":{"$anchor":"a"},"contains":{"$anchor":"a"}}`, "/contains/$anchor: $anchor takes a name of letters, digits, - . and _ that no other schema has"},
		{"a circle", `{"$ref":"#"}`, "(root): refers in a circle to itself for one and the same value"},
		{"a circle through a branch", `{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}`, "/$defs/a: refers in a circle to itself for one and the same value"},
		{"type: no such type", `{"type":"float"}`, "/type: type takes some of null, boolean, object, array, number, string, integer, each once"},
		{"type: twice", `{"type":["null","null"]}`, "/type/1: type takes some of null, boolean, object, array, number, string, integer, each once"},
		{"type: none", `{"type":[]}`, "/type: type takes at least one type"},
		{"required: true", `{"required":true}`, "/required: required takes an array, not true or false"},
		{"required: not a name", `{"required":["a",1]}`, "/required/1: required takes names of members, each once"},
		{"required: twice", `{"required":["a","\u0061"]}`, "/required/1: required takes names of members, each once"},
		{"properties: an array", `{"properties":[]}`, "/properties: properties takes an object, not an array"},
		{"allOf: empty", `{"allOf":[]}`, "/allOf: allOf takes at least one schema"},
		{"minLength: negative", `{"minLength":-1}`, "/minLength: minLength takes an integer from 0 on"},
		{"maxItems: a fraction", `{"maxItems":1.5}`, "/maxItems: maxItems takes an integer from 0 on"},
		{"exclusiveMinimum: as in draft-04", `{"exclusiveMinimum":true}`, "/exclusiveMinimum: exclusiveMinimum takes a number, not true or false"},
		{"multipleOf: 0", `{"multipleOf":0}`, "/multipleOf: multipleOf takes a number above 0, of at most 18 digits and an exponent below 10^17"},
		{"multipleOf: more digits than can be divided by", `{"multipleOf":1.000000000000000001}`, "/multipleOf: multipleOf takes a number above 0, of at most 18 digits and an exponent below 10^17"},
		{"pattern: cannot be said", `{"pattern":"(?=a)"}`, "/pattern: pattern (?=a): look-around, (?=, cannot be matched in linear time"},
		{"patternProperties: cannot be said", `{"patternProperties":{"\\1":true}}`, `/patternProperties/\1: patternProperties \1: a back reference, \1, cannot be matched in linear time`},
		{"dependentRequired: not a list", `{"dependentRequired":{"a":"b"}}`, "/dependentRequired/a: dependentRequired takes arrays of names"},
		{"an unknown keyword with a line end", `{"a\nb":1}`, `/a\nb: a\nb is not a keyword of JSON Schema 2020-12`},
		{"title: not a string", `{"title":1}`, "/title: title takes a string, not a number"},
		{"draft-07: beside $ref", `{` + draft7 + `,"items":{"$ref":"#/definitions/a","minimum":1},"definitions":{"a":true}}`,
			"/items/minimum: minimum is ignored beside $ref in draft-07, which the schema declares; in 2020-12 it is not"},
		{"draft-07: a keyword that it does not have", `{` + draft7 + `,"prefixItems":[true]}`, "/prefixItems: prefixItems is not a keyword of draft-07, which the schema declares"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			_, err := CompileSchema([]byte(test.schema))
			var wrong *SchemaError
			if !errors.As(err, &wrong) || err.Error() != "schema, at "+test.want {
				t.Errorf("schema %s\n got: %v\nwant: schema, at %s", test.schema, err, test.want)
			}
		})
	}
}

func TestSchemaDraft7(t *testing.T) {
	runSchemaTests(t, []schemaTest{
		{"what means the same is accepted", `{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"type":"null"}},"items":{"$ref":"#/definitions/a","description":"d"}}`,
			`[1]`, `/0: expected null, got 1`},
	})
}

// TestSchemaBounds tests each limit of a schema at its edge and one past it.
func TestSchemaBounds(t *testing.T) {
	levels := func(n int) string { return strings.Repeat(`{"items":`, n-1) + `true` + strings.Repeat(`}`, n-1) }
	many := func(n int) string { return `{"prefixItems":[` + strings.Repeat("true,", n-2) + `true]}` }
	inPlace := func(n int) string { return `{"allOf":[` + strings.Repeat("true,", n-2) + `true]}` }
	for _, test := range []struct{ rule, schema, want string }{
		{"64 levels", levels(maxSchemaLevels), ""},
		{"65 levels", levels(maxSchemaLevels + 1), "holds more than 64 schemas inside each other"},
		{"10,000 schemas", many(maxSubschemas), ""},
		{"10,001 schemas", many(maxSubschemas + 1), "is one schema too many: 10000 are allowed in all"},
		{"1,000 schemas for a value", inPlace(maxInPlace), ""},
		{"1,001 schemas for a value", inPlace(maxInPlace + 1), "applies more than 1000 schemas to one and the same value"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			_, err := CompileSchema([]byte(test.schema))
			if err == nil && test.want != "" || err != nil && (test.want == "" || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// TestSchemaProblemBounds tests that text is bounded, however much is wrong, and that what is left out is counted.
func TestSchemaProblemBounds(t *testing.T) {
	list := func(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	members := func(n int, name string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"%s%d":0,`, name, i)
		}
		return "{" + strings.TrimSuffix(b.String(), ",") + "}"
	}
	edge := `{"items":{"enum":["` + strings.Repeat("e", 60) + `",null,true]}}`
	text := func(size int) string { // data with 100 problems, each longer by each digit but the first
		size -= len(strings.Repeat(`/0: expected "`+strings.Repeat("e", 60)+`" or null or true, got 1`+"\n", 100)) + 90
		numbers := make([]string, 100)
		for i := range numbers {
			numbers[i] = "1" + strings.Repeat("0", min(size, 63))
			size -= len(numbers[i]) - 1
		}
		return "[" + strings.Join(numbers, ",") + "]"
	}
	for _, test := range []struct {
		rule, schema, data string
		problems, more     int
	}{
		{"100 problems", `{"items":false}`, "[" + list(100, "0") + "]", 100, 0},
		{"101 problems", `{"items":false}`, "[" + list(101, "0") + "]", 100, 1},
		{"two times 45 problems, side by side", `{"items":{"additionalProperties":false}}`, "[" + members(45, "m") + "," + members(45, "m") + "]", 90, 0},
		{"100,000 members", `{"additionalProperties":false}`, members(100_000, "m"), 100, 99_900},
		{"many long names", `{"additionalProperties":false}`, members(1000, strings.Repeat("n", 500)), 100, 900},
		{"a text of 16,000 bytes, line ends included", edge, text(maxProblemText), 100, 0},
		{"a text of one byte more", edge, text(maxProblemText + 1), 99, 1},
		{"long texts", `{"items":{"enum":["` + strings.Repeat("e", 60) + `","` + strings.Repeat("f", 60) + `","g"]}}`, "[" + list(200, `"`+strings.Repeat("x", 70)+`"`) + "]", 72, 128},
	} {
		t.Run(test.rule, func(t *testing.T) {
			s, err := CompileSchema([]byte(test.schema))
			if err != nil {
				t.Fatal(err)
			}
			v := s.validate([]byte(test.data))
			if len(v.Problems) != test.problems || v.More != test.more || len(v.Error()) > 16_384 {
				t.Errorf("%d problems and %d more in %d bytes, want %d and %d", len(v.Problems), v.More, len(v.Error()), test.problems, test.more)
			}
			if again := s.validate([]byte(test.data)); again.Error() != v.Error() {
				t.Error("the second time it says something else")
			}
		})
	}
	// The first in order are kept, though the last in the data.
	properties := make([]string, 500)
	data := make([]string, 500)
	for i := range properties {
		properties[i] = fmt.Sprintf(`"p%d":false`, i)
		data[499-i] = fmt.Sprintf(`"p%d":0`, i)
	}
	s, err := CompileSchema([]byte(`{"properties":{` + strings.Join(properties, ",") + `}}`))
	if err != nil {
		t.Fatal(err)
	}
	v := s.validate([]byte("{" + strings.Join(data, ",") + "}"))
	for i, p := range v.Problems {
		if want := fmt.Sprintf("/p%d", i); p.Pointer != want {
			t.Fatalf("problem %d is at %s, want %s", i, p.Pointer, want)
		}
	}
	if v.More != 400 {
		t.Errorf("%d more, want 400", v.More)
	}
}

// TestSchemaWork counts evaluations, and bytes passed over, where a simple evaluator would take exponential or
// quadratic time: twice the data may cost little more than twice the work.
func TestSchemaWork(t *testing.T) {
	nest := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	deep := func(n int) string {
		return strings.Repeat("[", n) + `"` + strings.Repeat("x", 100*n) + `"` + strings.Repeat("]", n)
	}
	deepList := func(n int) string {
		return strings.Repeat("[[],", n) + "[" + strings.Repeat("1.5,", 100*n) + "2]" + strings.Repeat("]", n)
	}
	flat := func(n int) string { return "[" + strings.Repeat("[],", n) + "1]" }
	for _, test := range []struct {
		rule, schema string
		data         func(n int) string
	}{
		{"two ways down at every level", `{"allOf":[{"items":{"$ref":"#"}},{"items":{"$ref":"#"}}]}`, nest},
		{"two ways down, of which none fits", `{"anyOf":[{"type":"array","items":{"$ref":"#"},"minItems":1},{"type":"array","items":{"$ref":"#"},"minItems":2}]}`, nest},
		{"two ways down through members", `{"allOf":[{"properties":{"a":{"$ref":"#"}}},{"additionalProperties":{"$ref":"#"}}]}`,
			func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }},
		{"contains and items", `{"contains":{"$ref":"#"},"items":{"$ref":"#"},"minContains":0}`, nest},
		{"not at every level", `{"not":{"items":{"$ref":"#"},"minItems":1}}`, nest},
		{"a schema that passes over what another goes into", `{"items":{"$ref":"#"},"allOf":[{"contains":true}]}`, deep},
		{"unevaluatedItems at every level", `{"unevaluatedItems":{"$ref":"#"},"allOf":[{"minItems":0,"maxItems":9}]}`, deep},
		{"uniqueItems at every level", `{"uniqueItems":true,"items":{"$ref":"#"}}`, deepList},
		{"const at every level", `{"not":{"const":[0]},"items":{"$ref":"#"}}`, deepList},
		{"uniqueItems of many", `{"uniqueItems":true,"items":{"$ref":"#"}}`, flat},
	} {
		t.Run(test.rule, func(t *testing.T) {
			s, err := CompileSchema([]byte(test.schema))
			if err != nil {
				t.Fatal(err)
			}
			work := func(n int) int {
				e := new(evaluation)
				e.evaluate(s.root, []byte(test.data(n)))
				return e.work
			}
			if small, large := work(200), work(400); large > 3*small+10_000 {
				t.Errorf("%d for 200, %d for 400", small, large)
			}
		})
	}
}

// TestSchemaWorkBounds: what takes too long, or too much room, is told so; and what is likely to be sent does not.
func TestSchemaWorkBounds(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds, and many with the race detector")
	}
	const tooLong = "(root): takes too long to check; send less, or what is less nested"
	blocks := `{"$defs":{"block":{"oneOf":[`
	for i := range 20 {
		blocks += fmt.Sprintf(`{"type":"object","properties":{"type":{"const":"b%d"},"children":{"type":"array","items":{"$ref":"#/$defs/block"}}}},`, i)
	}
	blocks = strings.TrimSuffix(blocks, ",") + `]}},"type":"array","items":{"$ref":"#/$defs/block"}}`
	block := `{"type":"b0","children":[` + strings.Repeat(`{"type":"b1"},`, 1000) + `{"type":"b2","children":[]}]}`
	for _, test := range []struct {
		rule, schema, data, want string
		room                     uint64
	}{
		{"many ways down, past what is remembered", `{"allOf":[` + strings.Repeat(`{"items":{"$ref":"#"}},`, 20) + `true]}`,
			"[" + strings.Repeat("[],", 2*maxRemembered) + strings.Repeat("[", 60) + strings.Repeat("]", 60) + "]", tooLong, 64 << 20},
		{"more marks than are kept", `{"unevaluatedItems":false,"allOf":[` + strings.Repeat(`{"items":true},`, 50) + `true]}`,
			"[" + strings.Repeat("1,", maxMarks/50) + "1]", tooLong, 128 << 20},
		{"as many as that are", `{"unevaluatedItems":false,"allOf":[` + strings.Repeat(`{"items":true},`, 49) + `{"items":true}]}`,
			"[" + strings.Repeat("1,", maxMarks/50-1) + "1]", "<nil>", 128 << 20},
		{"one of many kinds at every level", blocks, "[" + strings.Repeat(block+",", 20) + block + "]", "<nil>", 4 << 20},
		{"one of many kinds at every level, none fits", blocks, "[" + strings.Repeat(strings.ReplaceAll(block, "b", "c")+",", 20) + "1]",
			"", 8 << 20},
	} {
		t.Run(test.rule, func(t *testing.T) {
			s, err := CompileSchema([]byte(test.schema))
			if err != nil {
				t.Fatal(err)
			}
			var v *ValidationError
			data := []byte(test.data)
			if room := allocated(func() { v = new(evaluation).evaluate(s.root, data) }); room > test.room {
				t.Errorf("took %d bytes, want at most %d", room, test.room)
			}
			if got := fmt.Sprint(v); test.want != "" && got != test.want {
				t.Errorf("got %.200s", got)
			}
		})
	}
}

func TestSchemaConcurrency(t *testing.T) {
	s, err := CompileSchema([]byte(weatherArguments))
	if err != nil {
		t.Fatal(err)
	}
	data := []byte(`{"x":1,"units":"k","days":2.5}`)
	want := s.Validate(data).Error()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				if got := s.Validate(data).Error(); got != want {
					t.Errorf("got %s", got)
				}
				if err := s.Validate([]byte(`{"location":"Rome"}`)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func TestSchemaAllocations(t *testing.T) {
	var pool sync.Pool
	for range 100 {
		if pool.Put(t); pool.Get() == nil {
			t.Skip("pools forget on purpose, as under the race detector")
		}
	}
	for _, test := range []struct {
		rule, schema, data string
		most               float64
	}{
		{"ordinary keywords, nothing wrong", `{"type":"object","properties":{"s":{"type":"string","minLength":1,"maxLength":9,"pattern":"^a"},"n":{"type":"integer","minimum":1,"maximum":5},
			"e":{"enum":["x","y",3]},"a":{"type":"array","items":{"type":["string","null"]},"maxItems":3},"o":{"type":"object","required":["b"],"properties":{"b":{"type":"boolean"}},
			"additionalProperties":false}},"required":["s","n"],"additionalProperties":false}`,
			`{"s":"abc","n":3,"e":"y","a":["p",null],"o":{"b":true}}`, 0},
		{"names and strings with escapes", `{"properties":{"é":{"minLength":1}}}`, `{"\u00e9":"\n"}`, 0},
		{"four problems", weatherArguments, `{"x":1,"units":"k","days":2.5}`, 20},
	} {
		t.Run(test.rule, func(t *testing.T) {
			s, err := CompileSchema([]byte(test.schema))
			if err != nil {
				t.Fatal(err)
			}
			data := []byte(test.data)
			if got := testing.AllocsPerRun(100, func() {
				if err := s.Validate(data); err != nil {
					_ = err.Error()
				}
			}); got > test.most {
				t.Errorf("%v allocations, want at most %v", got, test.most)
			}
		})
	}
}

func TestSchemaErrorIs(t *testing.T) {
	_, err := CompileSchema([]byte(`{"type":"object","type":"string"}`))
	if !errors.Is(err, ErrDuplicate) {
		t.Errorf("%v is not ErrDuplicate", err)
	}
}

// TestSchemaRelease: an evaluation that has needed much room for anything is not kept.
func TestSchemaRelease(t *testing.T) {
	const most = 4 * maxKept
	for what, grow := range map[string]func(e *evaluation, n int){
		"text":     func(e *evaluation, n int) { e.text = make([]byte, n) },
		"texts":    func(e *evaluation, n int) { e.texts = make([]byte, n) },
		"items":    func(e *evaluation, n int) { e.items = make([]name, n) },
		"seen":     func(e *evaluation, n int) { e.seen = make([]bool, n) },
		"marks":    func(e *evaluation, n int) { e.marks = make([]int, n) },
		"problems": func(e *evaluation, n int) { e.problems = make([]problem, n) },
	} {
		for n, kept := range map[int]bool{most: true, most + 1: false} {
			e := &evaluation{line: make([]byte, 1)}
			grow(e, n)
			if e.release(); (e.line != nil) != kept {
				t.Errorf("with room for %d in %s it is kept: %v", n, what, !kept)
			}
		}
	}
}

func TestValidationErrorWithoutProblems(t *testing.T) {
	for more, want := range map[int]string{0: "", 7: "and 7 more"} {
		if got := (&ValidationError{More: more}).Error(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
