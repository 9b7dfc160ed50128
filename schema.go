// schema.go: JSON Schema 2020-12, so far as it can be exact, bounded and fast: what tools say of their arguments.
//
// What is supported and what is refused; the compiler, which makes nodes; the evaluation, a walk over the data; the report.
// Pages: basic/index, heading JSON Schema Usage; server/tools, heading Tool. "Core" and "Validation" are the documents of JSON
// Schema 2020-12, with their sections. Read after patterns.go; next is pattern.go.

package mcp

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Limits of a schema, for which basic/index, heading JSON Schema Usage, asks, and of the text of what is wrong.
const (
	maxSchemaLevels = 64     // schemas inside each other
	maxSubschemas   = 10_000 // in one schema
	maxInPlace      = 1_000  // schemas that apply to one and the same value, by whatever way
	maxProblems     = 100    // that are told; the rest are counted
	maxProblemText  = 16_000 // bytes of all problems
	maxList         = 500    // bytes of the names or values that one problem lists
	maxSteps        = 12     // of a JSON Pointer that are shown
	always          = -1     // what needs no other member has in its place

	maxWork       = 1 << 25 // schemas applied in one evaluation, and what else takes as long; more is refused
	maxRemembered = 1 << 17 // arrays and objects that it remembers the verdict of, and as many canonical texts
	maxMarks      = 1 << 21 // elements and members, once for each schema that evaluates them
)

// A keyword takes some types of value, and reads the value at raw[at] into a node. Without read it is an annotation, like x-*,
// but for $id, which is read before the others.
type keyword struct {
	takes, on types // on: the values that it concerns, if the node is to look at them
	read      func(c *compiler, n *node, at int)
}

var keywords = map[string]keyword{
	// Core 8 and 9, Validation 8 and 9: identifiers, references, and what only informs
	"$schema": {typeString, 0, (*compiler).dialect}, "$id": {typeString, 0, nil}, "$anchor": {typeString, 0, (*compiler).anchor},
	"$ref":        {typeString, 0, func(c *compiler, n *node, at int) { n.refAt, c.references = at, append(c.references, n) }},
	"$defs":       each(0, func(c *compiler, _ *node, _ string, at int) { c.schema(at) }),
	"definitions": each(0, func(c *compiler, _ *node, _ string, at int) { c.schema(at) }), // which is $defs in older schemas
	"$comment":    {typeString, 0, nil}, "title": {typeString, 0, nil}, "description": {typeString, 0, nil},
	"default": {typeAny, 0, nil}, "examples": {typeArray, 0, nil}, "format": {typeString, 0, nil},
	"deprecated": {typeBoolean, 0, nil}, "readOnly": {typeBoolean, 0, nil}, "writeOnly": {typeBoolean, 0, nil},
	"contentEncoding": {typeString, 0, nil}, "contentMediaType": {typeString, 0, nil}, "contentSchema": one(0, contentSchemas),
	// Core 10.2: subschemas in place
	"allOf": many(0, allOf), "anyOf": many(0, anyOf), "oneOf": many(0, oneOf),
	"not": one(0, not), "if": one(0, ifs), "then": one(0, then), "else": one(0, otherwise),
	"dependentSchemas": each(typeObject, func(c *compiler, n *node, name string, at int) {
		n.needs = append(n.needs, need{when: n.know(name), schema: c.schema(at)})
	}),
	// Core 10.3 and 11: subschemas for elements and members
	"prefixItems": many(typeArray, prefixItems), "items": one(typeArray, items), "contains": one(typeArray, contains),
	"propertyNames": one(typeObject, memberNames), "additionalProperties": one(typeObject, additionalProperties),
	"unevaluatedItems": one(0, unevaluatedItems), "unevaluatedProperties": one(0, unevaluatedProperties),
	"properties": each(typeObject, func(c *compiler, n *node, name string, at int) {
		p := &n.known[n.know(name)]
		if p.schema, p.rank = c.schema(at), rankMember+int64(at); !p.schema.never {
			n.names = append(n.names, p.shown)
		}
	}),
	"patternProperties": each(typeObject, func(c *compiler, n *node, name string, at int) {
		n.patterns = append(n.patterns, c.pattern(name, c.schema(at), at))
	}),
	// Validation 6.1 and 6.2: any value, numbers
	"type":             {typeString | typeArray, 0, (*compiler).types},
	"enum":             {typeArray, 0, func(c *compiler, n *node, at int) { c.values(n, children(c.raw, at)) }},
	"const":            {typeAny, 0, func(c *compiler, n *node, at int) { c.values(n, maps.All(map[string]int{"": at})) }},
	"multipleOf":       bound("a multiple of ", decimal.multipleOf),
	"maximum":          bound("at most ", func(v, l decimal) bool { return v.compare(l) <= 0 }),
	"minimum":          bound("at least ", func(v, l decimal) bool { return v.compare(l) >= 0 }),
	"exclusiveMaximum": bound("less than ", func(v, l decimal) bool { return v.compare(l) < 0 }),
	"exclusiveMinimum": bound("more than ", func(v, l decimal) bool { return v.compare(l) > 0 }),
	// Validation 6.3, 6.4 and 6.5: strings, arrays, objects
	"minLength": count(typeString, minLength), "maxLength": count(typeString, maxLength),
	"pattern":  {typeString, typeString, func(c *compiler, n *node, at int) { n.pattern = c.pattern(c.text(at), nil, at) }},
	"minItems": count(typeArray, minItems), "maxItems": count(typeArray, maxItems),
	"minContains": count(typeArray, minContains), "maxContains": count(typeArray, maxContains),
	"uniqueItems":   {typeBoolean, typeArray, func(c *compiler, n *node, at int) { n.uniqueItems = c.raw[at] == 't' }},
	"minProperties": count(typeObject, minProperties), "maxProperties": count(typeObject, maxProperties),
	"required":          {typeArray, typeObject, func(c *compiler, n *node, at int) { c.names(n, always, at) }},
	"dependentRequired": each(typeObject, func(c *compiler, n *node, name string, at int) { c.names(n, n.know(name), at) }),
}

// Where a node keeps the subschemas that it has one of, those that it has several of, and its counts, the least before the most.
const (
	not, ifs, then, otherwise, items, contains, memberNames, additionalProperties                    = 0, 1, 2, 3, 4, 5, 6, 7
	unevaluatedItems, unevaluatedProperties, contentSchemas                                          = 8, 9, 10
	allOf, anyOf, oneOf, prefixItems                                                                 = 0, 1, 2, 3
	minLength, maxLength, minItems, maxItems, minContains, maxContains, minProperties, maxProperties = 0, 1, 2, 3, 4, 5, 6, 7
)

// refused are keywords that one may well expect here; every other name is no keyword of JSON Schema 2020-12 at all.
var refused = map[string]string{
	"$dynamicRef": "is not supported; $ref is", "$dynamicAnchor": "is not supported; $anchor is",
	"$vocabulary":     "is not supported; the vocabularies are those of 2020-12",
	"additionalItems": "is of older drafts; prefixItems has the first schemas, items that of the rest",
	"dependencies":    "is of older drafts; it was split into dependentRequired and dependentSchemas",
	"id":              "is of draft-04; $id is supported", "nullable": `is of OpenAPI; write "type": [..., "null"]`,
}

// dialects are the values of $schema, which may end in #; true is draft-07. Refused is what that takes otherwise than 2020-12.
var (
	dialects = map[string]bool{
		"https://json-schema.org/draft/2020-12/schema": false, "http://json-schema.org/draft-07/schema": true}
	notDraft7 = []string{"$anchor", "dependentRequired", "dependentSchemas", "maxContains", "minContains", "prefixItems",
		"unevaluatedItems", "unevaluatedProperties"}
	besideRef = []string{"$ref", "$schema", "$defs", "definitions", "contentSchema"} // and what has no read, but for $id
)

// A Schema is a compiled JSON Schema. It keeps nothing of the bytes it was made from, and goroutines may use it at once.
type Schema struct{ root *node }

// A SchemaError says what [CompileSchema] does not take.
type SchemaError struct {
	Pointer string // JSON Pointer to the place in the schema; "" is its root
	Keyword string // or ""
	Reason  string
	Err     error // a *[JSONError], if the schema is not strict JSON
}

// Error gives the place, the keyword and the reason.
func (e *SchemaError) Error() string {
	return "schema, at " + place(e.Pointer) + ": " + strings.TrimPrefix(e.Keyword+" "+e.Reason, " ")
}

// Unwrap gives Err.
func (e *SchemaError) Unwrap() error { return e.Err }

func place(pointer string) string { return cmp.Or(pointer, "(root)") }

// A node is a schema. A keyword that is absent has the value that lets everything pass, which compiler.schema sees to; $ref is one
// more of allOf.
type node struct {
	at, refAt   int      // where it begins in the raw schema, and where its $ref has its value
	base        *url.URL // of its references
	cost        int      // schemas that apply in place when it does, itself included; -1 while they are counted
	never       bool     // the schema false
	uniqueItems bool
	inPlace     []*node // the subschemas in place
	types, on   types   // on: those for which there are further keywords
	wants       string  // what types say, or false
	sub         [11]*node
	lists       [4][]*node
	counts      [8]int
	pattern     *property
	patterns    []*property // of patternProperties
	values      []*values   // of enum and const
	limits      []limit
	needs       []need
	names       []string       // of properties, as they are shown
	known       []property     // all names of members that keywords mention
	index       map[string]int // into known
}

type (
	// A property is what a schema says of a name: its schema and its rank by properties, and whether it is required. Or, with an
	// expression, what patternProperties say of names, or pattern of strings.
	property struct {
		name, shown string
		expression  *regexp.Regexp
		schema      *node
		rank        int64
		required    bool
	}
	// A need is a member, or a schema for the object, that is asked for when another member is there: both in known.
	need struct {
		when, member int
		schema       *node
	}
	// A limit is one of numbers: whether a value is within it, and how it is shown.
	limit struct {
		holds func(value decimal) bool
		text  string
	}
	// values are those of enum or const: as canonical texts, and as they are shown.
	values struct {
		canonical map[string]bool
		shown     string
		types     types
	}
	types uint8 // a set of the types of Validation 6.1.1
)

const typeNull, typeBoolean, typeObject, typeArray, typeNumber, typeString, typeInteger, typeAny types = 1, 2, 4, 8, 16, 32, 64, 255

var (
	typeNames = []string{"null", "boolean", "object", "array", "number", "string", "integer"}
	typeWords = []string{"null", "true or false", "an object", "an array", "a number", "a string", "an integer"}
	typeOf    = [256]types{'"': typeString, '{': typeObject, '[': typeArray, 't': typeBoolean, 'f': typeBoolean, 'n': typeNull,
		'-': typeNumber, '0': typeNumber, '1': typeNumber, '2': typeNumber, '3': typeNumber, '4': typeNumber, '5': typeNumber,
		'6': typeNumber, '7': typeNumber, '8': typeNumber, '9': typeNumber} // by the first byte of a value
	unlimited = [8]int{0, math.MaxInt, 0, math.MaxInt, 1, math.MaxInt, 0, math.MaxInt} // counts of a node
)

// String names the types for a reader.
func (t types) String() (text string) {
	for i, words := range typeWords {
		if t>>i&1 != 0 {
			text += " or " + words
		}
	}
	return strings.TrimPrefix(text, " or ")
}

// CompileSchema makes a Schema of raw JSON, or gives a [*SchemaError]: nothing is ignored, and nothing is fetched. Annotations,
// format among them, are no tests: Validation 7 and 9.
func CompileSchema(raw []byte) (*Schema, error) {
	if err := checkJSON(raw); err != nil {
		return nil, &SchemaError{Reason: err.Error(), Err: err}
	}
	at, base := skipSpace(raw, 0), &url.URL{Scheme: "schema", Path: "/"}
	c := &compiler{raw: raw, keywords: keywords, base: base, nodes: map[int]*node{}, ids: map[string]int{base.String(): at},
		inside: map[int]map[string]int{}}
	root := c.schema(at)
	for i := 0; i < len(c.references) && c.err == nil; i++ { // to resolve one may add others
		c.resolve(c.references[i])
	}
	for _, n := range c.all {
		c.evaluations(n)
	}
	if c.err != nil {
		return nil, c.err
	}
	return &Schema{root}, nil
}

type compiler struct {
	raw             []byte
	keywords        map[string]keyword // the variable, which may not refer to itself
	draft7          bool
	level           int                    // of the schema that is read
	base            *url.URL               // of its references: Core 8.1
	keyword         string                 // of it
	all, references []*node                // references have a $ref, which waits until all identifiers are known
	nodes           map[int]*node          // by where they begin
	ids             map[string]int         // where a schema begins that has an $id or, after #, an $anchor
	inside          map[int]map[string]int // children of what pointers have crossed
	err             *SchemaError           // the first
}

// fail notes the first error, which is in the value that begins at raw[at].
func (c *compiler) fail(at int, format string, args ...any) {
	if c.err != nil {
		return
	}
	reason := oneLine.Replace(fmt.Sprintf(format, args...))
	c.err = &SchemaError{Pointer: pointerTo(c.raw, at), Keyword: brief(c.keyword), Reason: reason}
}

// pointerTo gives the JSON Pointer to the innermost value that has raw[at].
func pointerTo(raw []byte, at int) (pointer string) {
	for i, outer := skipSpace(raw, 0), -1; i != outer && (isObject(raw[i:]) || isArray(raw[i:])); {
		outer = i
		for name, from := range children(raw, outer) {
			if from <= at && at < skip(raw, from) {
				i, pointer = from, pointer+"/"+escapePointer.Replace(brief(name))
				break
			}
		}
	}
	return pointer
}

// children goes through an object, an array (numbers are the names) or a value alone, and gives where the values begin.
func children(raw []byte, i int) iter.Seq2[string, int] {
	return func(yield func(name string, at int) bool) {
		open := raw[i]
		if open != '{' && open != '[' {
			yield("", i)
			return
		}
		for i, k := skipSpace(raw, i+1), 0; raw[i] != open+2; i, k = nextItem(raw, skip(raw, i)), k+1 {
			name := strconv.Itoa(k)
			if open == '{' {
				end := skipText(raw, i)
				name, i = unquote(raw[i:end]), nextItem(raw, end)
			}
			if !yield(name, i) {
				return
			}
		}
	}
}

// text is a string of the schema, or "".
func (c *compiler) text(at int) string {
	if !isText(c.raw[at:]) {
		return ""
	}
	return unquote(c.raw[at:skipText(c.raw, at)])
}

// schema reads the schema that begins at raw[at].
func (c *compiler) schema(at int) *node {
	n := &node{at: at, counts: unlimited}
	base, keyword := c.base, c.keyword
	c.all = append(c.all, n)
	switch c.level++; {
	case c.err != nil:
	case c.level > maxSchemaLevels:
		c.fail(at, "holds more than %d schemas inside each other", maxSchemaLevels)
	case len(c.all) > maxSubschemas:
		c.fail(at, "is one schema too many: %d are allowed in all", maxSubschemas)
	case c.raw[at] == '{':
		c.read(n)
	default:
		if n.never = c.raw[at] == 'f'; !n.never && c.raw[at] != 't' {
			c.fail(at, "takes a schema: an object, true or false")
		}
	}
	c.nodes[at], n.base = n, c.base
	c.base, c.keyword, c.level = base, keyword, c.level-1
	return n
}

// read reads the keywords of a schema; $id first, because the others may depend on it.
func (c *compiler) read(n *node) {
	hasRef := false
	for name, at := range children(c.raw, n.at) {
		hasRef = hasRef || name == "$ref"
		c.draft7 = c.draft7 || len(c.all) == 1 && name == "$schema" && dialects[strings.TrimSuffix(c.text(at), "#")]
		if c.keyword = name; name == "$id" && isText(c.raw[at:]) {
			c.identify(n, at)
		}
	}
	for name, at := range children(c.raw, n.at) {
		k, supported := c.keywords[name]
		c.keyword = name
		switch t := typeOf[c.raw[at]]; {
		case c.err != nil:
			return
		case refused[name] != "":
			c.fail(at, "%s", refused[name])
		case !supported && !strings.HasPrefix(name, "x-"):
			c.fail(at, "is not a keyword of JSON Schema 2020-12")
		case c.draft7 && slices.Contains(notDraft7, name):
			c.fail(at, "is not a keyword of draft-07, which the schema declares")
		case c.draft7 && hasRef && (k.read != nil && !slices.Contains(besideRef, name) || name == "$id"):
			c.fail(at, "is ignored beside $ref in draft-07, which the schema declares; in 2020-12 it is not")
		case supported && k.takes&t == 0:
			c.fail(at, "takes %v, not %v", k.takes, t)
		case k.read != nil:
			n.on |= k.on
			k.read(c, n, at)
		}
	}
	if rest := n.sub[additionalProperties]; n.names != nil && rest != nil && rest.never {
		rest.wants = "; known are " + join(n.names, ", ")
	}
}

// one, many and each are keywords with one schema, an array of them, and an object whose members are read one by one.
func one(on types, slot int) keyword {
	return keyword{typeAny, on, func(c *compiler, n *node, at int) { n.sub[slot] = c.schema(at) }}
}

func many(on types, slot int) keyword {
	return keyword{typeArray, on, func(c *compiler, n *node, at int) {
		for _, at := range children(c.raw, at) {
			n.lists[slot] = append(n.lists[slot], c.schema(at))
		}
		if n.lists[slot] == nil {
			c.fail(at, "takes at least one schema")
		}
	}}
}

func each(on types, read func(c *compiler, n *node, name string, at int)) keyword {
	return keyword{typeObject, on, func(c *compiler, n *node, at int) {
		for name, at := range children(c.raw, at) {
			read(c, n, name, at)
		}
	}}
}

// count reads a count. Beyond 2^53 it may be off a little: no text or list can reach it.
func count(on types, slot int) keyword {
	return keyword{typeNumber, on, func(c *compiler, n *node, at int) {
		text := c.raw[at:skip(c.raw, at)]
		f, _ := strconv.ParseFloat(string(text), 64)
		if f < 0 || !isInteger(text) {
			c.fail(at, "takes an integer from 0 on")
		}
		if n.counts[slot] = math.MaxInt; f < math.MaxInt {
			n.counts[slot] = int(f)
		}
	}}
}

// bound reads a keyword for numbers, Validation 6.2.
func bound(words string, holds func(value, limit decimal) bool) keyword {
	return keyword{typeNumber, typeNumber, func(c *compiler, n *node, at int) {
		text := bytes.Clone(c.raw[at:skip(c.raw, at)])
		l := parseDecimal(text)
		n.limits = append(n.limits, limit{func(value decimal) bool { return holds(value, l) }, words + clip(string(text))})
		if c.keyword == "multipleOf" && !l.divisor() {
			c.fail(at, "takes a number above 0, of at most %d digits and an exponent below 10^17", maxDivisorDigits)
		}
	}}
}

// dialect reads $schema: Core 8.1.1.
func (c *compiler) dialect(_ *node, at int) {
	if draft7, known := dialects[strings.TrimSuffix(c.text(at), "#")]; !known || draft7 != c.draft7 {
		c.fail(at, "takes https://json-schema.org/draft/2020-12/schema or http://json-schema.org/draft-07/schema#, one in all")
	}
}

// identify reads $id: Core 8.2.1.
func (c *compiler) identify(n *node, at int) {
	uri, err := c.base.Parse(c.text(at))
	if err != nil || uri.Fragment != "" {
		c.fail(at, "takes a URI without a fragment")
		return
	} else if other, taken := c.ids[uri.String()]; taken && other != n.at {
		c.fail(at, "is the identifier of two schemas")
	}
	c.base, c.ids[uri.String()] = uri, n.at
}

// anchor reads $anchor: Core 8.2.2.
func (c *compiler) anchor(n *node, at int) {
	id := c.base.String() + "#" + c.text(at)
	if other, taken := c.ids[id]; taken && other != n.at || !isAnchor(c.text(at)) {
		c.fail(at, "takes a name of letters, digits, - . and _ that no other schema has")
	}
	c.ids[id] = n.at
}

func isAnchor(name string) bool {
	return isName(name) && strings.Contains(letters, name[:1])
}

// resolve finds what a $ref means, Core 8.2.3.1 and 9.2: an identifier, an anchor, or a pointer to where a schema may stand.
func (c *compiler) resolve(n *node) {
	c.keyword = "$ref"
	uri, err := n.base.Parse(c.text(n.refAt))
	if err != nil {
		c.fail(n.refAt, "takes a URI reference")
		return
	}
	fragment := uri.Fragment
	uri.Fragment, uri.RawFragment, c.base = "", "", uri
	at, found := c.ids[uri.String()]
	if !found {
		c.fail(n.refAt, "leaves the schema, and nothing is fetched: copy what it refers to into $defs")
	}
	path, isPointer := strings.CutPrefix(fragment, "/")
	if !isPointer && fragment != "" {
		at, found = c.ids[uri.String()+"#"+fragment]
	}
	for tokens := strings.Split(path, "/"); isPointer && found && len(tokens) > 0; tokens = tokens[1:] {
		if c.inside[at] == nil {
			c.inside[at] = maps.Collect(children(c.raw, at))
		}
		at, found = c.inside[at][unescapePointer.Replace(tokens[0])]
		if crossed := c.nodes[at]; found && crossed != nil {
			c.base = crossed.base
		}
	}
	target := c.nodes[at]
	if !found {
		c.fail(n.refAt, "points to nothing in the schema")
	} else if target == nil {
		target = c.schema(at)
	}
	n.lists[allOf] = slices.Insert(n.lists[allOf], 0, target)
}

// evaluations counts the schemas that apply in place when n does, and refuses circles.
func (c *compiler) evaluations(n *node) int {
	if c.keyword = ""; n.cost < 0 {
		c.fail(n.at, "refers in a circle to itself for one and the same value")
	}
	if n.cost != 0 || c.err != nil {
		return n.cost
	}
	n.cost = -1
	total := 1
	n.inPlace = slices.Concat(n.sub[not:items], n.lists[allOf], n.lists[anyOf], n.lists[oneOf])
	for _, need := range n.needs {
		n.inPlace = append(n.inPlace, need.schema)
	}
	n.inPlace = slices.DeleteFunc(n.inPlace, func(s *node) bool { return s == nil })
	for _, s := range n.inPlace {
		total = min(total+c.evaluations(s), maxInPlace+1)
	}
	if n.cost = total; total > maxInPlace {
		c.fail(n.at, "applies more than %d schemas to one and the same value", maxInPlace)
	}
	return total
}

// know gives the place of a name in known.
func (n *node) know(name string) int {
	i, found := n.index[name]
	if !found {
		if i = len(n.known); i == 0 {
			n.index = map[string]int{}
		}
		n.known, n.index[name] = append(n.known, property{name: name, shown: brief(name)}), i
	}
	return i
}

// names reads an array of names of members, none of them twice, that are needed when another is there.
func (c *compiler) names(n *node, when, at int) {
	if !isArray(c.raw[at:]) {
		c.fail(at, "takes arrays of names")
	}
	seen := map[int]bool{}
	for _, at := range children(c.raw, at) {
		member := n.know(c.text(at))
		if !isText(c.raw[at:]) || seen[member] {
			c.fail(at, "takes names of members, each once")
		}
		seen[member], n.needs = true, append(n.needs, need{when: when, member: member})
		n.known[member].required = n.known[member].required || when == always
	}
}

// pattern compiles the expression that stands at raw[at], or is the name of what stands there.
func (c *compiler) pattern(source string, schema *node, at int) *property {
	expression, err := compilePattern(source)
	if err != nil {
		c.fail(at, "%s: %v", brief(source), err)
	}
	return &property{shown: brief(source), expression: expression, schema: schema}
}

// types reads type: Validation 6.1.1.
func (c *compiler) types(n *node, at int) {
	for _, at := range children(c.raw, at) {
		i := slices.Index(typeNames, c.text(at))
		if i < 0 || n.types>>i&1 != 0 {
			c.fail(at, "takes some of %s, each once", strings.Join(typeNames, ", "))
		}
		n.types |= 1 << max(i, 0)
	}
	if n.wants = n.types.String(); n.types == 0 {
		c.fail(at, "takes at least one type")
	}
}

// values reads enum or const: Validation 6.1.2 and 6.1.3.
func (c *compiler) values(n *node, all iter.Seq2[string, int]) {
	v, shown := &values{canonical: map[string]bool{}}, []string(nil)
	for _, at := range all {
		text, end := appendCanonical(nil, c.raw, at)
		v.canonical[string(text)] = true
		v.types |= typeOf[c.raw[at]]
		shown = append(shown, brief(string(appendCompact(nil, c.raw[at:end]))))
	}
	v.shown = cmp.Or(join(shown, " or "), "nothing")
	n.values = append(n.values, v)
}

// Validate gives nil, a [*JSONError] if data is not strict JSON, or a [*ValidationError]. It keeps nothing of data.
func (s *Schema) Validate(data []byte) error {
	e := evaluations.Get().(*evaluation)
	defer e.release()
	if err := e.scanner.scan(data, nil, nil); err != nil {
		return err
	} else if e.scanner.dup >= 0 {
		return &JSONError{e.scanner.dup, "", ErrDuplicate}
	} else if err := e.evaluate(s.root, data); err != nil {
		return err
	}
	return nil
}

// validate is Validate for data that a scanner has accepted.
func (s *Schema) validate(data []byte) *ValidationError {
	e := evaluations.Get().(*evaluation)
	defer e.release()
	return e.evaluate(s.root, data)
}

// An evaluation goes over the data and collects problems on its way: once, but for what several schemas or branches have a say
// in. What evaluates a value gives where that ends, or -1 if it has not gone there.
type evaluation struct {
	canonical                           // the data; work: schemas applied, and bytes passed over
	scanner           scanner           // of raw data; it also finds what is twice
	text, texts, line []byte            // room for a string without its escapes, canonical texts, a problem
	items             []name            // in texts
	seen              []bool            // of each object that is open, which of known are there
	marks             []int             // what is evaluated of values, for the unevaluated keywords: see mark
	path              []step            // to the value at hand
	problems          []problem         // those of each value in order
	more              int               // problems that are only counted
	memory            map[visit]outcome // of arrays and objects, once it pays: see value
	frame
}

type (
	// A frame is what an evaluation knows of the value at hand.
	frame struct {
		at, from, ahead  int   // where it begins; where its problems do; how many problems of values around it come before those
		wrong, enough    int64 // see the weights; from enough on more makes no difference but to what is told
		telling, marking bool  // problems are told, not only the verdict; marks are wanted
	}
	// A step leads to a member that the schema knows, to another, by where its name begins, or to an element, by ^ its number.
	step struct {
		known    *property
		at       int
		rank     int64 // of its problems, among those of its object or array
		optional bool  // it may be left out
	}
	// A visit evaluates a schema for an array or object.
	visit struct {
		n       *node
		at      int
		telling bool
	}
	outcome struct {
		end   int
		wrong int64
	}
)

const (
	// Ranks; to each is added an order.
	rankMissing, rankMember, rankOther, rankUnexpected, rankWhole int64 = 0, 1 << 40, 2 << 40, 3 << 40, 4 << 40
	// What is wrong with a value: some parts; that a member which has to be a certain value is another; that it is itself such a value;
	// that it is of another kind.
	wrongPart, wrongTag, wrongValue, wrongKind int64 = 1, 1 << 32, 1 << 36, 1 << 40
)

var evaluations = sync.Pool{New: func() any { return new(evaluation) }}

// release gives an evaluation back, without the room that unusual data has needed.
func (e *evaluation) release() {
	e.scanner.trim()
	e.scanner.data, e.canonical, e.memory = nil, canonical{}, nil
	clear(e.problems[:cap(e.problems)])
	if cap(e.text)+cap(e.texts)+cap(e.items)+cap(e.seen)+cap(e.marks)+cap(e.problems) > 4*maxKept {
		*e = evaluation{scanner: e.scanner}
	}
	evaluations.Put(e)
}

func (e *evaluation) evaluate(root *node, data []byte) *ValidationError {
	e.canonical, e.more, e.problems = canonical{data: data}, 0, e.problems[:0]
	e.frame = frame{at: skipSpace(data, 0), telling: true}
	if e.apply(root); e.work > maxWork {
		return &ValidationError{Problems: []Problem{{"", "takes too long to check; send less, or what is less nested"}}}
	} else if e.wrong == 0 {
		return nil
	}
	v, size := &ValidationError{Problems: make([]Problem, 0, len(e.problems)), More: e.more}, 0
	for k, p := range e.problems { // what two schemas say alike of one place is told once
		if slices.ContainsFunc(e.problems[:k], func(q problem) bool { return q.Problem == p.Problem && q.at == p.at }) {
			continue
		}
		if size += len(place(p.Pointer)) + len(p.Message) + len(": \n"); size > maxProblemText {
			v.More++
		} else {
			v.Problems = append(v.Problems, p.Problem)
		}
	}
	return v
}

// enter begins with a value inside the one at hand, and leave ends with it and puts its problems among those of the outer one.
func (e *evaluation) enter(s step, i int) (outer frame) {
	outer, e.path = e.frame, append(e.path, s)
	e.frame = frame{at: i, from: len(e.problems), ahead: outer.ahead, telling: outer.telling, enough: wrongPart}
	if e.from > outer.from && e.problems[e.from-1].rank <= s.rank {
		e.ahead += e.from - outer.from
	}
	return outer
}

func (e *evaluation) leave(outer frame) {
	last := len(e.path) - 1
	if rank := e.path[last].rank; e.wrong > 0 {
		if outer.wrong += wrongPart; e.wrong&wrongValue != 0 && e.path[last].known != nil {
			outer.wrong |= wrongTag
		}
		for k := e.from; k < len(e.problems); k++ {
			e.problems[k].rank = rank
		}
		if e.from > outer.from && e.problems[e.from-1].rank > rank {
			slices.SortStableFunc(e.problems[outer.from:], func(p, q problem) int { return cmp.Compare(p.rank, q.rank) })
		}
		if over := len(e.problems) - outer.from - maxProblems; over > 0 {
			e.more, e.problems = e.more+over, e.problems[:outer.from+maxProblems]
		}
	}
	e.path, e.frame = e.path[:last], outer
}

// value evaluates a schema for an element or a member; an array or object, once that is frequent, only the first time: schemas
// that apply twice to each level would take exponential time.
func (e *evaluation) value(n *node, s step, i int) (end int) {
	if n.never && s.rank >= rankOther {
		s.rank += rankUnexpected - rankOther
	}
	outer := e.enter(s, i)
	if known, found := e.memory[visit{n, i, e.telling}]; found {
		end, e.wrong = known.end, known.wrong
	} else {
		if end = e.apply(n); end < 0 {
			end = e.skip(i)
		}
		if e.hot(i) {
			e.memory[visit{n, i, e.telling}] = outcome{end, e.wrong}
		}
	}
	e.leave(outer)
	return end
}

// settled reports whether a value is known to be so wrong that the rest of it makes no difference.
func (e *evaluation) settled() bool { return !e.telling && e.wrong > 0 && e.wrong >= e.enough }

// hot reports whether it pays to remember what begins at i, and there is room.
func (e *evaluation) hot(i int) bool {
	if e.memory == nil && e.work > 2*len(e.data)+maxKept {
		e.memory, e.known = map[visit]outcome{}, map[int]known{}
	}
	return e.memory != nil && len(e.memory) < maxRemembered && (e.data[i] == '{' || e.data[i] == '[')
}

// skip passes over a value; once it pays, that where it ends is remembered with its canonical text.
func (e *evaluation) skip(i int) (end int) {
	if e.hot(i) {
		e.texts, end = e.canonical.append(e.texts[:0], i)
		return end
	}
	end = skip(e.data, i)
	e.work += (end - i) / 16
	return end
}

// apply evaluates a schema for the value at hand, be it the only one or in place: Core 7.6.
func (e *evaluation) apply(n *node) (end int) {
	t := typeOf[e.data[e.at]]
	if e.work++; e.work > maxWork {
		return -1 // see evaluate
	} else if n.never {
		return e.fails(wrongPart, 0, "not expected", n.wants)
	}
	integer := n.types&typeInteger != 0 && t == typeNumber && isInteger(e.data[e.at:skip(e.data, e.at)])
	if n.types != 0 && n.types&t == 0 && !integer { // Validation 6.1.1
		return e.fails(wrongKind, n.types, "expected ", n.wants)
	}
	marking, marks, unevaluated := e.marking, len(e.marks), (*node)(nil)
	if t == typeObject {
		unevaluated = n.sub[unevaluatedProperties]
	} else if t == typeArray {
		unevaluated = n.sub[unevaluatedItems]
	}
	e.marking = marking || unevaluated != nil
	for _, v := range n.values { // Validation 6.1.2 and 6.1.3
		if v.types&t != 0 {
			e.hot(e.at) // canonical texts, too
			e.texts, _ = e.canonical.append(e.texts[:0], e.at)
		}
		if v.types&t == 0 || !v.canonical[string(e.texts)] {
			e.fails(wrongKind|wrongValue, cmp.Or(v.types, typeAny), "expected ", v.shown)
		}
	}
	end = -1
	switch n.on & t {
	case typeNumber:
		end = skip(e.data, e.at)
		for d, k := parseDecimal(e.data[e.at:end]), 0; k < len(n.limits); k++ { // Validation 6.2
			if l := &n.limits[k]; !l.holds(d) {
				e.fails(wrongPart, typeNumber, "expected ", l.text)
			}
		}
	case typeString:
		end = e.string(n)
	case typeArray:
		end = e.array(n)
	case typeObject:
		end = e.object(n)
	}
	wrong := e.wrong
	if len(n.inPlace) > 0 {
		end = max(end, e.applicators(n))
	}
	if unevaluated != nil && e.wrong == wrong {
		end = e.unevaluated(unevaluated, marks)
	}
	if e.marking = marking; !marking {
		e.marks = e.marks[:marks]
	}
	return end
}

// string evaluates maxLength, minLength and pattern: Validation 6.3.
func (e *evaluation) string(n *node) (end int) {
	end = skipText(e.data, e.at)
	text := standIns(e.unescaped(e.at, end))
	e.within(n, minLength, utf8.RuneCount(text), "character")
	if n.pattern != nil && !n.pattern.expression.Match(text) {
		e.fails(wrongPart, typeString, "expected a match of ", n.pattern.shown)
	}
	return end
}

// within evaluates a pair such as minItems and maxItems: Validation 6.3.1 and 2, 6.4.1, 2, 4 and 5, 6.5.1 and 2.
func (e *evaluation) within(n *node, least, count int, unit string) {
	words, limit := "expected at least ", n.counts[least]
	if most := n.counts[least+1]; limit <= count && count <= most {
		return
	} else if count > most {
		words, limit = "expected at most ", most
	}
	if limit != 1 {
		unit += "s"
	}
	if least == minContains {
		unit += " to be " + n.sub[contains].describe()
	}
	e.fails(wrongPart, 0, words, strconv.Itoa(limit), " ", unit, ", got ", strconv.Itoa(count))
}

// unescaped gives the string between two places without its quotes and escapes, until the next one.
func (e *evaluation) unescaped(from, to int) []byte {
	text := e.data[from+1 : to-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		e.text = appendUnescaped(e.text[:0], text)
		text = e.text
	}
	return text
}

// standIns puts standIn in the place of lone surrogates, which only what had escapes has; so one is one character.
func standIns(text []byte) []byte {
	for i := bytes.IndexByte(text, 0xED); i >= 0 && i < len(text); i++ {
		if text[i] == 0xED && text[i+1] >= 0xA0 {
			copy(text[i:], string(standIn))
		}
	}
	return text
}

// array evaluates the keywords for arrays: Core 10.3.1, Validation 6.4.
func (e *evaluation) array(n *node) int {
	i, count, contained, prefix := skipSpace(e.data, e.at+1), 0, 0, n.lists[prefixItems]
	for ; e.data[i] != ']'; i, count = nextItem(e.data, i), count+1 {
		if e.settled() {
			return -1
		}
		s, schema, end := step{at: ^count, rank: rankOther + int64(count)}, n.sub[items], -1
		if count < len(prefix) {
			schema = prefix[count]
		}
		if schema != nil { // prefixItems and items: Core 10.3.1.1 and 10.3.1.2
			end = e.value(schema, s, i)
			e.mark(count)
		}
		if n.sub[contains] != nil { // Core 10.3.1.3
			outer := e.frame
			e.telling = false
			if end = e.value(n.sub[contains], s, i); e.wrong == outer.wrong {
				contained++
				e.mark(count)
			}
			e.frame = outer
		}
		if end < 0 {
			end = e.skip(i)
		}
		i = end
	}
	e.within(n, minItems, count, "item")
	if n.sub[contains] != nil {
		e.within(n, minContains, contained, "item")
	}
	if n.uniqueItems {
		e.unique()
	}
	return i + 1
}

// unique evaluates uniqueItems: Validation 6.4.3. What finds duplicate names finds duplicate canonical texts.
func (e *evaluation) unique() {
	e.texts, e.items = e.texts[:0], e.items[:0]
	for i := skipSpace(e.data, e.at+1); e.data[i] != ']'; i = nextItem(e.data, i) {
		from := len(e.texts)
		e.texts, i = e.canonical.append(e.texts, i)
		e.items = append(e.items, name{span: span{from, len(e.texts)}})
	}
	e.scanner.data = e.texts
	if dup := e.scanner.duplicate(e.items); dup >= 0 {
		second := slices.IndexFunc(e.items, func(n name) bool { return n.from == dup })
		first := slices.IndexFunc(e.items, func(n name) bool { return e.scanner.same(n, e.items[second]) })
		e.fails(wrongPart, 0, "expected items that all differ, got the same at ", strconv.Itoa(first), " and ", strconv.Itoa(second))
	}
}

// object evaluates the keywords for objects: Core 10.3.2, Validation 6.5.
func (e *evaluation) object(n *node) int {
	i, count, outer := skipSpace(e.data, e.at+1), 0, len(e.seen)
	e.seen = append(e.seen, make([]bool, len(n.known))...)
	for ; e.data[i] != '}'; i, count = nextItem(e.data, i), count+1 {
		i = e.member(n, i, count, outer)
	}
	e.within(n, minProperties, count, "member")
	for order, need := range n.needs {
		if need.when != always && !e.seen[outer+need.when] {
			continue
		} else if need.schema != nil { // Core 10.2.2.4
			e.apply(need.schema)
		} else if !e.seen[outer+need.member] { // Validation 6.5.3 and 6.5.4
			if need.when != always {
				order += len(n.needs) // after those of required
			}
			e.missing(n, need, order)
		}
	}
	e.seen = e.seen[:outer]
	return i + 1
}

// member evaluates the member whose name begins at quote.
func (e *evaluation) member(n *node, quote, count, seen int) (end int) {
	s, after := step{at: quote, rank: rankOther + int64(count)}, skipText(e.data, quote)
	i, name, evaluated := nextItem(e.data, after), e.unescaped(quote, after), false
	k, known := count, count < len(n.known) && n.known[count].name == string(name) // members often come in this order
	if !known {
		k, known = n.index[string(name)]
	}
	if known {
		e.seen[seen+k] = true
		s.known, s.optional = &n.known[k], !n.known[k].required
	}
	if e.settled() {
		return e.skip(i)
	}
	end = -1
	if p := s.known; p != nil && p.schema != nil { // properties: Core 10.3.2.1
		s.rank = p.rank
		end, evaluated = e.value(p.schema, s, i), true
	}
	for _, p := range n.patterns { // Core 10.3.2.2
		if p.expression.Match(standIns(e.unescaped(quote, after))) {
			end, evaluated = e.value(p.schema, s, i), true
		}
	}
	if rest := n.sub[additionalProperties]; rest != nil && !evaluated { // Core 10.3.2.3
		end, evaluated = e.value(rest, s, i), true
	}
	if names := n.sub[memberNames]; names != nil { // Core 10.3.2.4: a name is a string like any other
		e.value(names, s, quote)
	}
	if evaluated {
		e.mark(count)
	}
	if end < 0 {
		end = e.skip(i)
	}
	return end
}

func (e *evaluation) missing(n *node, need need, order int) {
	p, where := &n.known[need.member], ""
	outer := e.enter(step{known: p, rank: rankMissing + int64(order)}, e.at)
	if need.when != always {
		where = " where there is " + n.known[need.when].shown
	}
	if p.schema != nil && e.telling && !e.full() {
		where += ": expected " + p.schema.describe()
	}
	e.fails(wrongPart, 0, "missing, but required", where)
	e.leave(outer)
}

// applicators evaluates the subschemas in place.
func (e *evaluation) applicators(n *node) (end int) {
	end = -1
	for _, s := range n.lists[allOf] { // Core 10.2.1.1, and $ref: 8.2.3.1
		end = max(end, e.apply(s))
	}
	e.branches(n.lists[anyOf], false)               // Core 10.2.1.2
	e.branches(n.lists[oneOf], true)                // Core 10.2.1.3
	if s := n.sub[not]; s != nil && e.try(s) == 0 { // Core 10.2.1.4
		e.fails(wrongPart, typeAny, "expected anything but ", s.describe())
	}
	if s := n.sub[ifs]; s != nil { // Core 10.2.2
		branch := n.sub[then]
		if e.try(s) > 0 {
			branch = n.sub[otherwise]
		}
		if branch != nil {
			end = max(end, e.apply(branch))
		}
	}
	return end
}

// try evaluates a schema in place for how wrong the value is: its kind, a tag, or else how many parts. If it fails it leaves no
// marks: Core 7.7.1.
func (e *evaluation) try(n *node) int64 {
	outer, marks := e.frame, len(e.marks)
	e.telling, e.wrong, e.enough = false, 0, wrongTag
	e.apply(n)
	wrong := e.wrong
	if e.frame = outer; wrong > 0 {
		e.marks = e.marks[:marks]
	}
	if wrong >= wrongKind {
		return wrongKind
	}
	return min(wrong, wrongTag)
}

// branches evaluates anyOf or oneOf. Of a value that fits none it tells the problems with the branch that is clearly the closest,
// or else what the closest ask for. Where marks are wanted, all branches of anyOf have a say.
func (e *evaluation) branches(all []*node, onlyOne bool) {
	first, fitting, least := 0, 0, wrongKind
	for k, s := range all {
		wrong := e.try(s)
		if wrong < wrongKind {
			fitting++ // it is of this kind
		}
		if least = min(least, wrong); wrong > 0 {
			continue
		} else if first > 0 && onlyOne {
			e.fails(wrongPart, 0, "fits alternatives ", strconv.Itoa(first), " and ", strconv.Itoa(k+1), ", but may fit only one")
			return
		} else if first = k + 1; !onlyOne && !e.marking {
			return
		}
	}
	var closest *node
	var texts []string
	for _, s := range all {
		if e.telling && first == 0 && !e.full() && e.try(s) == least {
			if text := clip(s.describe()); !slices.Contains(texts, text) {
				closest, texts = s, append(texts, text)
			}
		}
	}
	if len(texts) == 1 && (least < wrongTag || fitting == 1) {
		e.apply(closest)
	} else if first == 0 && all != nil {
		e.fails(least, typeAny, "expected ", join(texts, " or "))
	}
}

// mark notes that an element or member is evaluated, on the stack that began with the schema whose unevaluated keyword asks.
func (e *evaluation) mark(i int) {
	if e.marking {
		e.marks = append(e.marks, i)
		if len(e.marks) > maxMarks {
			e.work = maxWork // apply gives up
		}
	}
}

// unevaluated evaluates unevaluatedItems or unevaluatedProperties, Core 11, for what has no mark.
func (e *evaluation) unevaluated(schema *node, marks int) int {
	i, object, marked := skipSpace(e.data, e.at+1), e.data[e.at] == '{', e.marks[marks:]
	slices.Sort(marked)
	for count := 0; e.data[i] != '}' && e.data[i] != ']'; count++ {
		s := step{at: ^count, rank: rankOther + int64(count), optional: object}
		if object {
			s.at, i = i, nextItem(e.data, skipText(e.data, i))
		}
		if _, found := slices.BinarySearch(marked, count); found {
			i = e.skip(i)
		} else {
			i = e.value(schema, s, i)
			e.mark(count)
		}
		i = nextItem(e.data, i)
	}
	return i + 1
}

// describe says in a few words what a schema asks for.
func (n *node) describe() string {
	var members []string
	for _, p := range n.known {
		if p.schema != nil && len(p.schema.values) > 0 && len(p.schema.values[0].canonical) == 1 {
			members = append(members, p.shown+" "+p.schema.values[0].shown)
		} else if p.required {
			members = append(members, p.shown)
		}
	}
	switch {
	case n.values != nil:
		return n.values[0].shown
	case members != nil:
		return "an object with " + join(members, " and ")
	case n.wants == "" && n.lists[allOf] != nil:
		return n.lists[allOf][0].describe()
	case n.wants == "" && (n.lists[anyOf] != nil || n.lists[oneOf] != nil):
		for _, s := range slices.Concat(n.lists[anyOf], n.lists[oneOf]) {
			members = append(members, s.describe())
		}
		return join(members, " or ")
	}
	return cmp.Or(n.wants, "something else")
}

// A Problem is one thing that is wrong with data.
type Problem struct {
	Pointer string // JSON Pointer to the value, or to the member that is missing; "" is the whole; a long one is abridged
	Message string // one line: what was expected, what came, and the cure if there is a usual one
}

// A ValidationError says what is wrong with data. For each object first what is missing, then members that fail, in the order of
// properties, then others in the order of the data, then those that are not expected, and last what concerns it as a whole.
type ValidationError struct {
	Problems []Problem // at most 100, and 16 kB of text
	More     int       // that were found besides
}

// Error gives the problems, one a line, and how many more there are.
func (v *ValidationError) Error() string {
	text := make([]byte, 0, 128*len(v.Problems))
	for _, p := range v.Problems {
		text = append(append(append(append(text, place(p.Pointer)...), ": "...), p.Message...), '\n')
	}
	if v.More > 0 {
		text = fmt.Appendf(text, "and %d more\n", v.More)
	}
	return string(text[:max(len(text), 1)-1])
}

// A problem keeps where its value begins, and its rank among the problems of the value at hand.
type problem struct {
	Problem
	at   int
	rank int64
}

// full reports whether a problem here would be one too many to be told.
func (e *evaluation) full() bool {
	return e.ahead+len(e.problems)-e.from >= maxProblems || len(e.problems) > 20*maxProblems
}

// fails notes what is wrong with the value at hand and, if there is room, tells it: the parts, and of wanted types what came.
func (e *evaluation) fails(weight int64, want types, parts ...string) int {
	if e.wrong = (e.wrong + wrongPart) | weight&(wrongTag|wrongValue|wrongKind); !e.telling {
		return -1
	} else if e.full() {
		e.more++
		return -1
	}
	line := e.line[:0]
	for k, s := range e.path {
		switch line = append(line, '/'); {
		case k == maxSteps/2 && len(e.path) > maxSteps:
			line = append(line, "…"...)
		case k > maxSteps/2 && k < len(e.path)-maxSteps/2:
			line = line[:len(line)-1] // left out
		case s.known != nil:
			line = append(line, escapePointer.Replace(s.known.shown)...)
		case s.at < 0:
			line = strconv.AppendInt(line, int64(^s.at), 10)
		default:
			text := head(e.data[s.at:])
			e.texts = appendUnescaped(e.texts[:0], text[1:len(text)-1])
			line = append(line, escapePointer.Replace(brief(string(e.texts)))...)
		}
	}
	pointer := len(line)
	for _, part := range parts {
		line = append(line, part...)
	}
	if want != 0 {
		line = append(appendShown(append(line, ", got "...), e.data[e.at:]), e.cure(want, typeOf[e.data[e.at]])...)
	}
	text := string(line)
	e.line, e.problems = line, append(e.problems, problem{Problem{text[:pointer], text[pointer:]}, e.at, rankWhole})
	return -1
}

// cure says what to do about a value of the wrong type, where that is clear.
func (e *evaluation) cure(want, t types) string {
	switch {
	case t == typeNull && len(e.path) > 0 && e.path[len(e.path)-1].optional:
		return "; leave it out"
	case t&(typeNumber|typeBoolean) != 0 && want == typeString:
		return "; send it in quotes"
	case t == typeString && want&t == 0:
		text := e.data[e.at:skipText(e.data, e.at)]
		inside := typeOf[text[skipSpace(text, 1)]]
		fits := want&inside != 0 || inside == typeNumber && want&typeInteger != 0
		if fits && checkJSON([]byte(unquote(text))) == nil {
			return "; send it as JSON, not in a string"
		}
	}
	return ""
}

// escapePointer escapes as JSON Pointer does, and unescapePointer undoes it; oneLine escapes what would end a line.
var (
	escapePointer   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")
	oneLine         = strings.NewReplacer("\n", `\n`, "\r", `\r`, "\v", `\v`, "\f", `\f`, "\u0085", `\u0085`,
		"\u2028", `\u2028`, "\u2029", `\u2029`)
)

// brief shows a name or an expression: on one line, clipped, and with lone surrogates as escapes.
func brief(text string) string {
	if len(text) <= maxClientText && !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf || !plain[r] }) {
		return text
	}
	return oneLine.Replace(clientText([]byte(`"` + strings.ReplaceAll(text, `\`, `\\`) + `"`)))
}

// head gives the string that data begins with, or its first part, with an end that also completes an escape cut in half: that lies
// beyond what is shown.
func head(data []byte) []byte {
	text, most := data[:skipText(data, 0)], 8*maxClientText
	if len(text) > most {
		return append(text[:most:most], `u0000"`...)
	}
	return text
}

// appendShown appends the value that begins with the first byte of data as a reader sees it: on one line, and clipped.
func appendShown(dst, data []byte) []byte {
	switch t := typeOf[data[0]]; t {
	case typeObject, typeArray:
		return append(dst, t.String()...)
	case typeString:
		shown := appendClientText(nil, head(data))
		return append(dst, bytes.ReplaceAll(shown, []byte("\u0085"), []byte(`\u0085`))...) // all else that ends a line is escaped by now
	}
	return append(dst, clip(string(data[:skip(data, 0)]))...)
}

// join lists texts, and says so if it leaves some out.
func join(texts []string, between string) string {
	list := strings.Join(texts, between)
	if len(list) > maxList {
		end := strings.LastIndex(list[:maxList-64], between) + len(between)
		list = fmt.Sprintf("%s… (%d in all)", list[:end], len(texts))
	}
	return list
}
