// schema.go: JSON Schema 2020-12, so far as it can be exact, bounded and fast: what tools say of their arguments.
//
// First the tables of what is supported and refused; then the compiler, which turns a schema into nodes; the evaluation, one walk over
// the bytes of the data; and the report, which puts what is wrong in words that a model can act on.
//
// Pages: basic/index, heading JSON Schema Usage; server/tools, heading Tool. "Core" and "Validation" are the documents of JSON Schema
// 2020-12, with their sections. Read after number.go; next is pattern.go.

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
)

// A keyword says what types of value a keyword takes and how the value, which begins at raw[at], gets into a node; without
// read it is an annotation, which never fails. Besides these every x-* is supported.
type keyword struct {
	takes types
	read  func(c *compiler, n *node, at int)
}

var keywords map[string]keyword
var keywordsOnce sync.Once

func setKeywords() {
	keywords = map[string]keyword{
		// Core 8 and 9, Validation 8 and 9: identifiers, references, and what only informs
		"$schema": {typeString, (*compiler).dialect}, "$id": {typeString, nil}, "$anchor": {typeString, (*compiler).anchor},
		"$ref": {typeString, (*compiler).reference}, "$defs": {typeObject, definitions}, "definitions": {typeObject, definitions},
		"$comment": {typeString, nil}, "title": {typeString, nil}, "description": {typeString, nil}, "default": {typeAny, nil},
		"examples": {typeArray, nil}, "deprecated": {typeBoolean, nil}, "readOnly": {typeBoolean, nil}, "writeOnly": {typeBoolean, nil},
		"format": {typeString, nil}, "contentEncoding": {typeString, nil}, "contentMediaType": {typeString, nil},
		"contentSchema": one(func(*node) **node { return new(*node) }),
		// Core 10.2: subschemas in place
		"allOf": many(func(n *node) *[]*node { return &n.allOf }), "anyOf": many(func(n *node) *[]*node { return &n.anyOf }),
		"oneOf": many(func(n *node) *[]*node { return &n.oneOf }), "not": one(func(n *node) **node { return &n.not }),
		"if": one(func(n *node) **node { return &n.ifs }), "then": one(func(n *node) **node { return &n.then }),
		"else": one(func(n *node) **node { return &n.otherwise }), "dependentSchemas": {typeObject, (*compiler).dependentSchemas},
		// Core 10.3 and 11: subschemas for elements and members
		"prefixItems": many(func(n *node) *[]*node { return &n.prefixItems }), "items": one(func(n *node) **node { return &n.items }),
		"contains": one(func(n *node) **node { return &n.contains }), "properties": {typeObject, (*compiler).properties},
		"patternProperties":     {typeObject, (*compiler).patternProperties},
		"additionalProperties":  one(func(n *node) **node { return &n.additionalProperties }),
		"propertyNames":         one(func(n *node) **node { return &n.propertyNames }),
		"unevaluatedItems":      one(func(n *node) **node { return &n.unevaluatedItems }),
		"unevaluatedProperties": one(func(n *node) **node { return &n.unevaluatedProperties }),
		// Validation 6.1: any value (6.2, numbers: see limits)
		"type": {typeString | typeArray, (*compiler).types}, "enum": {typeArray, (*compiler).enum}, "const": {typeAny, (*compiler).constant},
		// Validation 6.3, 6.4 and 6.5: strings, arrays, objects
		"maxLength": count(func(n *node) *int { return &n.length.max }), "minLength": count(func(n *node) *int { return &n.length.min }),
		"pattern": {typeString, (*compiler).pattern}, "uniqueItems": {typeBoolean, (*compiler).uniqueItems},
		"maxItems": count(func(n *node) *int { return &n.elements.max }), "minItems": count(func(n *node) *int { return &n.elements.min }),
		"maxContains":   count(func(n *node) *int { return &n.contained.max }),
		"minContains":   count(func(n *node) *int { return &n.contained.min }),
		"maxProperties": count(func(n *node) *int { return &n.members.max }),
		"minProperties": count(func(n *node) *int { return &n.members.min }),
		"required":      {typeArray, (*compiler).required}, "dependentRequired": {typeObject, (*compiler).dependentRequired},
	}
	for i, l := range limits {
		keywords[l.keyword] = keyword{typeNumber, func(c *compiler, n *node, at int) { c.limit(n, i, at) }}
	}
}

// limits are the keywords for numbers, Validation 6.2: what they ask of a value, and how that is said.
var limits = [...]struct {
	keyword string
	holds   func(value, limit decimal) bool
	words   string
}{
	{"multipleOf", decimal.multipleOf, "a multiple of "},
	{"maximum", func(v, l decimal) bool { return v.compare(l) <= 0 }, "at most "},
	{"exclusiveMaximum", func(v, l decimal) bool { return v.compare(l) < 0 }, "less than "},
	{"minimum", func(v, l decimal) bool { return v.compare(l) >= 0 }, "at least "},
	{"exclusiveMinimum", func(v, l decimal) bool { return v.compare(l) > 0 }, "more than "},
}

// refused are keywords that one may well expect here; every other name is no keyword of JSON Schema 2020-12 at all.
var refused = map[string]string{
	"$dynamicRef": "is not supported; $ref is", "$dynamicAnchor": "is not supported; $anchor is",
	"$recursiveRef": "is of 2019-09; $ref is supported", "$recursiveAnchor": "is of 2019-09; $anchor is supported",
	"$vocabulary":     "is not supported; the vocabularies are those of 2020-12",
	"additionalItems": "is of older drafts; prefixItems has the first schemas, items that of the rest",
	"dependencies":    "is of older drafts; it was split into dependentRequired and dependentSchemas",
	"id":              "is of draft-04; $id is supported", "nullable": `is of OpenAPI; write "type": [..., "null"]`,
}

// dialects are the values of $schema; true is draft-07. What draft-07 understands otherwise than 2020-12 is refused, so that the
// rest means the same: the keywords that it does not know, and those that it ignores beside $ref.
var (
	dialects = map[string]bool{
		"https://json-schema.org/draft/2020-12/schema": false, "https://json-schema.org/draft/2020-12/schema#": false,
		"http://json-schema.org/draft-07/schema": true, "http://json-schema.org/draft-07/schema#": true,
	}
	notDraft7 = []string{"$anchor", "dependentRequired", "dependentSchemas", "maxContains", "minContains", "prefixItems",
		"unevaluatedItems", "unevaluatedProperties"}
	besideRef = []string{"$ref", "$schema", "$defs", "definitions", "contentSchema"} // and what has no read, but for $id
)

// A Schema is a compiled JSON Schema. It keeps nothing of the bytes it was made from; any number of goroutines may use it at once.
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

// A node is a schema. A keyword that is absent has the value that lets everything pass.
type node struct {
	at    int      // where it begins in the raw schema
	refAt int      // where the value of its $ref does
	base  *url.URL // of its references
	cost  int      // schemas that apply in place when it does, itself included; -1 while they are counted
	never bool     // the schema false

	ref, not, ifs, then, otherwise, items, contains, unevaluatedItems *node
	additionalProperties, propertyNames, unevaluatedProperties        *node
	allOf, anyOf, oneOf, prefixItems                                  []*node
	patternProperties                                                 []expression
	dependencies                                                      []dependency

	types                                types
	enum, constant                       *values
	limits                               [len(limits)]*limit
	pattern                              *expression
	length, elements, contained, members extent // maxLength and minLength, maxItems and minItems, and so on
	uniqueItems                          bool
	required                             []int          // into known
	known                                []property     // all names of members that keywords mention
	index                                map[string]int // into known
	others                               string         // what to say of a member that is not expected
	on                                   types          // for which there are keywords other than type, enum and const
	inPlace                              bool           // whether there are subschemas in place
}

type (
	extent   struct{ min, max int } // the least and the most that is allowed of something
	property struct {               // a name and what a schema says of it
		name     string
		schema   *node // in properties, or nil
		order    int   // there
		required bool
	}
	dependency struct { // what the presence of the member known[on] asks for: other members, or a schema
		on     int
		needs  []int // into known
		schema *node
	}
	expression struct { // a pattern, and in patternProperties a schema
		source string
		*regexp.Regexp
		schema *node
	}
	limit struct { // a number and how it is shown
		decimal
		text string
	}
	values struct { // those of enum or const: as canonical texts, and as they are shown
		canonical map[string]bool
		shown     []string
		types     types
	}
)

var unlimited = extent{0, math.MaxInt}

// types is a set of the types of Validation 6.1.1.
type types uint8

const (
	typeNull types = 1 << iota
	typeBoolean
	typeObject
	typeArray
	typeNumber
	typeString
	typeInteger
	typeAny = math.MaxUint8
)

var (
	typeNames = [...]string{"null", "boolean", "object", "array", "number", "string", "integer"}
	typeWords = [...]string{"null", "true or false", "an object", "an array", "a number", "a string", "an integer"}

	// typeOf gives the type of a value by its first byte.
	typeOf = [256]types{'"': typeString, '{': typeObject, '[': typeArray, 't': typeBoolean, 'f': typeBoolean, 'n': typeNull,
		'-': typeNumber, '0': typeNumber, '1': typeNumber, '2': typeNumber, '3': typeNumber, '4': typeNumber, '5': typeNumber,
		'6': typeNumber, '7': typeNumber, '8': typeNumber, '9': typeNumber}
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

// CompileSchema makes a Schema of raw JSON. What it does not support it refuses with a [*SchemaError]: nothing in a schema is
// ignored, and nothing is fetched.
func CompileSchema(raw []byte) (*Schema, error) {
	if err := checkJSON(raw); err != nil {
		return nil, &SchemaError{Reason: err.Error(), Err: err}
	}
	keywordsOnce.Do(setKeywords)
	at := skipSpace(raw, 0)
	c := &compiler{raw: raw, nodes: map[int]*node{}, ids: map[string]int{}, inside: map[int]map[string]int{}}
	for name, at := range children(raw, at) {
		c.draft7 = c.draft7 || name == "$schema" && dialects[c.text(at)]
	}
	c.base = &url.URL{Scheme: "schema", Path: "/"}
	c.ids[c.base.String()] = at
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

// objectRoot reports whether the root has "type": "object" and no other type.
func (s *Schema) objectRoot() bool { return s.root.types == typeObject }

type compiler struct {
	raw             []byte
	draft7          bool
	level           int      // of the schema that is read
	base            *url.URL // of its references: Core 8.1
	keyword         string   // of it
	all, references []*node  // all nodes; those with $ref, which waits until all identifiers are known
	nodes           map[int]*node
	ids             map[string]int         // where a schema begins that has an $id or, after #, an $anchor
	inside          map[int]map[string]int // children of what pointers have crossed
	err             *SchemaError           // the first
}

// fail notes the first error, which is in the value that begins at raw[at].
func (c *compiler) fail(at int, format string, args ...any) {
	if c.err != nil {
		return
	}
	c.err = &SchemaError{Keyword: brief(c.keyword), Reason: oneLine.Replace(fmt.Sprintf(format, args...))}
	for i := skipSpace(c.raw, 0); i < at; {
		for name, from := range children(c.raw, i) {
			if i = from; at < skip(c.raw, from) {
				c.err.Pointer += "/" + escapePointer.Replace(brief(name))
				break
			}
		}
	}
}

// children goes through the members of an object, or the elements of an array, whose names are their numbers, and gives where
// the values begin.
func children(raw []byte, i int) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		open := raw[i]
		if open != '{' && open != '[' {
			return
		}
		i := skipSpace(raw, i+1)
		for k := 0; raw[i] != '}' && raw[i] != ']'; k++ {
			name := ""
			if open == '{' {
				end := skipText(raw, i)
				name, i = unquote(raw[i:end]), memberValue(raw, end)
			} else {
				name = strconv.Itoa(k)
			}
			if !yield(name, i) {
				return
			}
			i = nextItem(raw, skip(raw, i))
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
	n := &node{at: at, length: unlimited, elements: unlimited, members: unlimited, contained: extent{1, math.MaxInt}}
	c.all = append(c.all, n)
	base, keyword := c.base, c.keyword
	switch c.level++; {
	case c.err != nil:
	case c.level > maxSchemaLevels:
		c.fail(at, "holds more than %d schemas inside each other", maxSchemaLevels)
	case len(c.all) > maxSubschemas:
		c.fail(at, "is one schema too many: %d are allowed in all", maxSubschemas)
	case c.raw[at] == 'f':
		n.never = true
	case c.raw[at] == '{':
		c.read(n)
	case c.raw[at] != 't':
		c.fail(at, "takes a schema: an object, true or false")
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
		if c.keyword = name; name == "$id" && isText(c.raw[at:]) {
			c.identify(n, at)
		}
	}
	for name, at := range children(c.raw, n.at) {
		k, supported := keywords[name]
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
			k.read(c, n, at)
		}
	}
	var names []string
	for _, p := range n.known {
		if p.schema != nil && !p.schema.never {
			names = append(names, p.name)
		}
	}
	if names != nil && n.additionalProperties != nil && n.additionalProperties.never {
		n.others = "; known are " + join(names, ", ")
	}
	for t, has := range map[types]bool{
		typeNumber: n.limits != [len(limits)]*limit{},
		typeString: n.pattern != nil || n.length != unlimited,
		typeArray:  n.prefixItems != nil || n.items != nil || n.contains != nil || n.uniqueItems || n.elements != unlimited,
		typeObject: n.known != nil || n.patternProperties != nil || n.additionalProperties != nil || n.propertyNames != nil ||
			n.members != unlimited,
	} {
		if has {
			n.on |= t
		}
	}
}

func one(field func(*node) **node) keyword {
	return keyword{typeAny, func(c *compiler, n *node, at int) { *field(n) = c.schema(at) }}
}

func many(field func(*node) *[]*node) keyword {
	return keyword{typeArray, func(c *compiler, n *node, at int) {
		for _, at := range children(c.raw, at) {
			*field(n) = append(*field(n), c.schema(at))
		}
		if *field(n) == nil {
			c.fail(at, "takes at least one schema")
		}
	}}
}

// count reads a count. Beyond 2^53 it may be off a little: no text or list can reach it.
func count(field func(*node) *int) keyword {
	return keyword{typeNumber, func(c *compiler, n *node, at int) {
		text := c.raw[at:skip(c.raw, at)]
		f, _ := strconv.ParseFloat(string(text), 64)
		if f < 0 || !parseDecimal(text).integer() {
			c.fail(at, "takes an integer from 0 on")
		}
		*field(n) = math.MaxInt
		if f < math.MaxInt {
			*field(n) = int(f)
		}
	}}
}

func (c *compiler) limit(n *node, i, at int) {
	text := bytes.Clone(c.raw[at:skip(c.raw, at)])
	n.limits[i] = &limit{parseDecimal(text), clip(string(text))}
	if i == 0 && !n.limits[i].divisor() {
		c.fail(at, "takes a number above 0, of at most %d digits", maxDivisorDigits)
	}
}

// definitions reads $defs, Core 8.2.4, and definitions, which 2020-12 keeps for older schemas.
func definitions(c *compiler, _ *node, at int) {
	for _, at := range children(c.raw, at) {
		c.schema(at)
	}
}

// dialect reads $schema: Core 8.1.1.
func (c *compiler) dialect(_ *node, at int) {
	if draft7, known := dialects[c.text(at)]; !known || draft7 != c.draft7 {
		c.fail(at, "takes https://json-schema.org/draft/2020-12/schema or http://json-schema.org/draft-07/schema#, "+
			"one for the whole schema")
	}
}

// identify reads $id: Core 8.2.1.
func (c *compiler) identify(n *node, at int) {
	uri, err := c.base.Parse(c.text(at))
	if err != nil || uri.Fragment != "" {
		c.fail(at, "takes a URI without a fragment")
	} else if other, taken := c.ids[uri.String()]; taken && other != n.at {
		c.fail(at, "is the identifier of two schemas")
	} else {
		c.base, c.ids[uri.String()] = uri, n.at
	}
}

// isAnchor knows the names of Core 8.2.2: those of tools (see isToolName), of any length, that begin with a letter or _.
func isAnchor(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || c != '-' && c != '.' && !isDigit(c)) {
			return false
		}
	}
	return name != ""
}

// anchor reads $anchor: Core 8.2.2.
func (c *compiler) anchor(n *node, at int) {
	id := c.base.String() + "#" + c.text(at)
	if other, taken := c.ids[id]; taken && other != n.at || !isAnchor(c.text(at)) {
		c.fail(at, "takes a name of letters, digits, - . and _ that no other schema has")
	}
	c.ids[id] = n.at
}

// reference reads $ref: Core 8.2.3.1.
func (c *compiler) reference(n *node, at int) {
	n.refAt, c.references = at, append(c.references, n)
}

// resolve finds what a $ref means: in one of the identified schemas its root, an anchor or a JSON Pointer, Core 9.2, which may
// lead to where no keyword has put a schema.
func (c *compiler) resolve(n *node) {
	c.keyword = "$ref"
	uri, err := n.base.Parse(c.text(n.refAt))
	if err != nil {
		c.fail(n.refAt, "takes a URI reference")
		return
	}
	fragment := uri.Fragment
	uri.Fragment, uri.RawFragment = "", ""
	at, found := c.ids[uri.String()]
	if c.base = uri; !found {
		c.fail(n.refAt, "leaves the schema, and nothing is fetched: copy what it refers to into $defs")
		return
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
	if !found {
		c.fail(n.refAt, "points to nothing in the schema")
	} else if n.ref = c.nodes[at]; n.ref == nil {
		n.ref = c.schema(at)
	}
}

// evaluations counts the schemas that apply in place when n does, and refuses circles.
func (c *compiler) evaluations(n *node) int {
	c.keyword = ""
	if n.cost < 0 {
		c.fail(n.at, "refers in a circle to itself for one and the same value")
	}
	if n.cost != 0 || c.err != nil {
		return n.cost
	}
	n.cost = -1
	total := 1
	all := slices.Concat([]*node{n.ref, n.not, n.ifs, n.then, n.otherwise}, n.allOf, n.anyOf, n.oneOf)
	for _, d := range n.dependencies {
		all = append(all, d.schema)
	}
	for _, s := range all {
		if s != nil {
			n.inPlace = true
			total = min(total+c.evaluations(s), maxInPlace+1)
		}
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
		if n.index == nil {
			n.index = map[string]int{}
		}
		i = len(n.known)
		n.known, n.index[name] = append(n.known, property{name: name}), i
	}
	return i
}

// names reads an array of names, none of them twice.
func (c *compiler) names(n *node, at int) (names []int) {
	seen := map[int]bool{}
	for _, at := range children(c.raw, at) {
		name := n.know(c.text(at))
		if !isText(c.raw[at:]) || seen[name] {
			c.fail(at, "takes names of members, each once")
		}
		seen[name] = true
		names = append(names, name)
	}
	return names
}

func (c *compiler) properties(n *node, at int) {
	order := 0
	for name, at := range children(c.raw, at) {
		p := &n.known[n.know(name)]
		p.schema, p.order = c.schema(at), order
		order++
	}
}

func (c *compiler) required(n *node, at int) {
	n.required = c.names(n, at)
	for _, i := range n.required {
		n.known[i].required = true
	}
}

func (c *compiler) dependentRequired(n *node, at int) {
	for name, at := range children(c.raw, at) {
		if !isArray(c.raw[at:]) {
			c.fail(at, "takes arrays of names")
		}
		n.dependencies = append(n.dependencies, dependency{on: n.know(name), needs: c.names(n, at)})
	}
}

func (c *compiler) dependentSchemas(n *node, at int) {
	for name, at := range children(c.raw, at) {
		n.dependencies = append(n.dependencies, dependency{on: n.know(name), schema: c.schema(at)})
	}
}

// expression compiles the pattern that stands at raw[at], or is the name of what stands there.
func (c *compiler) expression(source string, at int) *expression {
	re, err := compilePattern(source)
	if err != nil {
		c.fail(at, "%s: %v", brief(source), err)
	}
	return &expression{source: brief(source), Regexp: re}
}

func (c *compiler) patternProperties(n *node, at int) {
	for name, at := range children(c.raw, at) {
		p := c.expression(name, at)
		p.schema = c.schema(at)
		n.patternProperties = append(n.patternProperties, *p)
	}
}

func (c *compiler) pattern(n *node, at int) { n.pattern = c.expression(c.text(at), at) }

func (c *compiler) uniqueItems(n *node, at int) { n.uniqueItems = c.raw[at] == 't' }

func (c *compiler) types(n *node, at int) {
	add := func(at int) {
		i := slices.Index(typeNames[:], c.text(at))
		if i < 0 || n.types>>i&1 != 0 {
			c.fail(at, "takes some of %s, each once", strings.Join(typeNames[:], ", "))
		}
		n.types |= 1 << max(i, 0)
	}
	if isText(c.raw[at:]) {
		add(at)
	}
	for _, at := range children(c.raw, at) {
		add(at)
	}
	if n.types == 0 {
		c.fail(at, "takes at least one type")
	}
}

func (c *compiler) enum(n *node, at int) {
	n.enum = &values{canonical: map[string]bool{}}
	for _, at := range children(c.raw, at) {
		n.enum.add(c.raw, at)
	}
	if n.enum.shown == nil {
		n.enum.shown = []string{"nothing"}
	}
}

func (c *compiler) constant(n *node, at int) {
	n.constant = &values{canonical: map[string]bool{}}
	n.constant.add(c.raw, at)
}

func (v *values) add(raw []byte, at int) {
	text, end := appendCanonical(nil, raw, at)
	v.canonical[string(text)] = true
	v.types |= typeOf[raw[at]]
	v.shown = append(v.shown, brief(string(appendCompact(nil, raw[at:end]))))
}

// Validate checks data against the schema. It returns nil, a [*JSONError] if data is not strict JSON, or a [*ValidationError]. It
// keeps nothing of data.
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

// An evaluation goes over the data once and collects problems on its way. A function that evaluates a value gives where it ends,
// also if the value fails, or -1 if it has not gone there.
type evaluation struct {
	data                  []byte
	scanner               scanner
	text, canonical, line []byte    // room for a string without its escapes, canonical texts, a problem
	items                 []name    // in canonical
	seen                  []uint64  // of each object that is open, a bit for each of known that is there
	marks                 []int     // what is evaluated of values, for the unevaluated keywords: see mark
	path                  []step    // to the value at hand
	problems              []problem // those of each value in order
	more                  int       // that are only counted
	work                  int       // schemas applied, and bytes passed over
	memory                map[visit]outcome
	ends                  []int32       // see skip
	known                 map[int]known // see appendCanonical
	frame
}

// A frame is what an evaluation knows of the value at hand.
type frame struct {
	at       int   // where it begins
	from     int   // its problems are problems[from:]
	ahead    int   // problems that come before those, of the values it is in
	wrong    int64 // what is wrong with it: see the weights
	telling  bool  // of problems; otherwise only the verdict counts, because one of several branches may fail
	marking  bool
	optional bool // it is a member that may be left out
}

// A step leads to a member, by where its name begins in the data, to an element, by ^ its number, or to a missing member.
type step struct {
	at      int
	missing string // if at is isMissing
	rank    int64  // of its problems, among those of its object or array
}

const isMissing = math.MinInt

// Ranks; to each is added an order.
const (
	rankMissing int64 = iota << 32
	rankMember
	rankOther
	rankUnexpected
	rankWhole
)

// How much is wrong with a value that is held against a branch of anyOf or oneOf: how many members and limits; beyond that, that
// a member which has to have a certain value has another; and beyond that, that the value itself is of another kind.
const (
	wrongPart int64 = 1
	wrongTag  int64 = 1 << 32
	wrongKind int64 = 1 << 40
)

var evaluations = sync.Pool{New: func() any { return new(evaluation) }}

// release gives an evaluation back, without the room that unusual data has needed.
func (e *evaluation) release() {
	e.scanner.trim()
	e.scanner.data, e.data, e.memory, e.ends, e.known = nil, nil, nil, nil, nil
	clear(e.problems[:cap(e.problems)])
	if cap(e.text)+cap(e.canonical)+cap(e.items)+cap(e.seen)+cap(e.marks)+cap(e.problems) > 4*maxKept {
		*e = evaluation{scanner: e.scanner}
	}
	evaluations.Put(e)
}

func (e *evaluation) evaluate(root *node, data []byte) *ValidationError {
	e.data, e.work, e.more, e.problems = data, 0, 0, e.problems[:0]
	e.frame = frame{at: skipSpace(data, 0), telling: true}
	if e.apply(root, e.at); e.wrong == 0 {
		return nil
	}
	return e.report()
}

// enter begins with a value inside the one at hand, and leave ends with it: what was wrong with it is one wrong part.
func (e *evaluation) enter(s step, i int) (outer frame) {
	outer = e.frame
	e.path = append(e.path, s)
	e.frame = frame{at: i, from: len(e.problems), ahead: outer.ahead, telling: outer.telling}
	if e.from > outer.from && e.problems[e.from-1].rank <= s.rank {
		e.ahead += e.from - outer.from
	}
	return outer
}

func (e *evaluation) leave(outer frame) {
	last := len(e.path) - 1
	if e.wrong > 0 {
		outer.wrong += wrongPart
		e.settle(outer.from, e.path[last].rank)
	}
	e.path, e.frame = e.path[:last], outer
}

// settle puts the problems of a value among those of the one it is in, which begin at from.
func (e *evaluation) settle(from int, rank int64) {
	for k := e.from; k < len(e.problems); k++ {
		e.problems[k].rank = rank
	}
	if e.from > from && e.problems[e.from-1].rank > rank {
		slices.SortStableFunc(e.problems[from:], func(p, q problem) int { return cmp.Compare(p.rank, q.rank) })
	}
	if over := len(e.problems) - from - maxProblems; over > 0 {
		e.more += over
		e.problems = e.problems[:from+maxProblems]
	}
}

// value evaluates a schema for a value that stands by itself: an element or a member.
func (e *evaluation) value(n *node, s step, optional bool, i int) (end int) {
	outer := e.enter(s, i)
	e.optional = optional
	if e.hot() && (e.data[i] == '{' || e.data[i] == '[') {
		end = e.remember(n, i)
	} else {
		end = e.apply(n, i)
	}
	e.leave(outer)
	if end < 0 {
		end = e.skip(i)
	}
	return end
}

// hot reports whether the schema has made the walk cross the same data so often that it pays to remember.
func (e *evaluation) hot() bool { return e.work > 2*len(e.data)+maxKept }

type visit struct {
	n       *node
	at      int
	telling bool
}

type outcome struct {
	end   int
	wrong int64
}

// remember evaluates a schema for an array or object unless that is done already; its problems are told once. Without it,
// schemas that apply twice to each level would take time exponential in the depth of the data.
func (e *evaluation) remember(n *node, i int) (end int) {
	v := visit{n, i, e.telling}
	known, found := e.memory[v]
	if found {
		e.wrong = known.wrong
		return known.end
	}
	end = e.apply(n, i)
	if e.memory == nil {
		e.memory = map[visit]outcome{}
	}
	e.memory[v] = outcome{end, e.wrong}
	return end
}

// skip passes over a value; once it pays, with a table of where all arrays and objects end.
func (e *evaluation) skip(i int) int {
	if c := e.data[i]; e.hot() && (c == '{' || c == '[') {
		if e.ends == nil {
			e.ends = ends(e.data)
		}
		return int(e.ends[i])
	}
	end := skip(e.data, i)
	e.work += (end - i) / 16
	return end
}

func ends(data []byte) []int32 {
	all, open := make([]int32, len(data)), []int(nil)
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = skipText(data, i) - 1
		case '{', '[':
			open = append(open, i)
		case '}', ']':
			all[open[len(open)-1]] = int32(i + 1)
			open = open[:len(open)-1]
		}
	}
	return all
}

// apply evaluates a schema for a value, be it the only one or in place: Core 7.6.
func (e *evaluation) apply(n *node, i int) (end int) {
	e.work++
	t := typeOf[e.data[i]]
	if n.never {
		if e.fails(wrongPart) {
			e.tell(false, "", "not expected")
		}
		return -1
	}
	if n.types != 0 && n.types&t == 0 && !(t == typeNumber && n.types&typeInteger != 0 && e.integer(i)) { // Validation 6.1.1
		if e.fails(wrongKind) {
			e.tell(true, e.cure(n.types, t), "expected ", n.types.String())
		}
		return -1
	}
	marking, marks := e.marking, len(e.marks)
	unevaluated := n.unevaluatedItems
	if t == typeObject {
		unevaluated = n.unevaluatedProperties
	}
	asks := unevaluated != nil && t&(typeObject|typeArray) != 0
	e.marking = marking || asks
	e.among(n.enum, t)
	e.among(n.constant, t)
	end = -1
	switch n.on & t {
	case typeNumber:
		end = e.number(n, i)
	case typeString:
		end = e.string(n, i)
	case typeArray:
		end = e.array(n, i)
	case typeObject:
		end = e.object(n, i)
	}
	wrong := e.wrong
	if n.inPlace {
		end = max(end, e.applicators(n, i))
	}
	if asks && e.wrong == wrong {
		end = e.unevaluated(unevaluated, n, i, marks)
	}
	if e.marking = marking; !marking {
		e.marks = e.marks[:marks]
	}
	return end
}

func (e *evaluation) integer(i int) bool {
	text := e.data[i:skip(e.data, i)]
	return bytes.IndexAny(text, ".eE") < 0 || parseDecimal(text).integer()
}

// enum and const: Validation 6.1.2 and 6.1.3.
func (e *evaluation) among(v *values, t types) {
	if v == nil {
		return
	}
	if v.types&t != 0 {
		e.canonical, _ = e.appendCanonical(e.canonical[:0], e.at)
		if v.canonical[string(e.canonical)] {
			return
		}
	}
	if e.fails(wrongKind) {
		e.tell(true, e.cure(v.types, t), "expected ", join(v.shown, " or "))
	}
}

// appendCanonical is the function of the same name, with a memory once it pays.
func (e *evaluation) appendCanonical(dst []byte, i int) (text []byte, end int) {
	if e.hot() && e.known == nil {
		e.known = map[int]known{}
	}
	c := canonical{data: e.data, known: e.known}
	text, end = c.append(dst, i)
	e.work += c.work
	return text, end
}

// number evaluates multipleOf, maximum and so on: Validation 6.2.
func (e *evaluation) number(n *node, i int) (end int) {
	end = skip(e.data, i)
	d := parseDecimal(e.data[i:end])
	for k, l := range n.limits {
		if l != nil && !limits[k].holds(d, l.decimal) && e.fails(wrongPart) {
			e.tell(true, "", "expected ", limits[k].words, l.text)
		}
	}
	return end
}

// string evaluates maxLength, minLength and pattern: Validation 6.3. A lone surrogate is one character.
func (e *evaluation) string(n *node, i int) (end int) {
	end = skipText(e.data, i)
	text := e.unescaped(i, end)
	if len(text) > n.length.max || len(text)/4 < n.length.min {
		length := 0
		for _, c := range text {
			if c&0xC0 != 0x80 {
				length++
			}
		}
		e.within(n.length, length, "character", nil)
	}
	if n.pattern != nil && !n.pattern.matches(text) && e.fails(wrongPart) {
		e.tell(true, "", "expected a match of ", n.pattern.source)
	}
	return end
}

// within evaluates a pair such as maxItems and minItems: Validation 6.3.1 and 2, 6.4.1, 2, 4 and 5, 6.5.1 and 2.
func (e *evaluation) within(x extent, count int, unit string, contained *node) {
	if x.min <= count && count <= x.max || !e.fails(wrongPart) {
		return
	}
	words, limit := "expected at least ", x.min
	if count > x.max {
		words, limit = "expected at most ", x.max
	}
	if limit != 1 {
		unit += "s"
	}
	if contained != nil {
		unit += " to be " + contained.describe()
	}
	e.tell(false, "", words, strconv.Itoa(limit), " ", unit, ", got ", strconv.Itoa(count))
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

// matches finds an expression in a text, in which lone surrogates, if any, are replaced: see standIn.
func (p *expression) matches(text []byte) bool {
	if !utf8.Valid(text) {
		for i := range text {
			if text[i] == 0xED && text[i+1] >= 0xA0 {
				copy(text[i:], string(standIn))
			}
		}
	}
	return p.Match(text)
}

// array evaluates the keywords for arrays: Core 10.3.1, Validation 6.4.
func (e *evaluation) array(n *node, i int) int {
	count, contained := 0, 0
	for i = skipSpace(e.data, i+1); e.data[i] != ']'; i = nextItem(e.data, i) {
		s, schema, end := step{at: ^count, rank: rankOther + int64(count)}, n.items, -1
		if count < len(n.prefixItems) {
			schema = n.prefixItems[count]
		}
		if schema != nil { // prefixItems and items: Core 10.3.1.1 and 10.3.1.2
			end = e.value(schema, s, false, i)
			e.mark(count)
		}
		if n.contains != nil { // Core 10.3.1.3
			outer := e.frame
			e.telling = false
			if end = e.value(n.contains, s, false, i); e.wrong == outer.wrong {
				contained++
				e.mark(count)
			}
			e.frame = outer
		}
		if end < 0 {
			end = e.skip(i)
		}
		i = end
		count++
	}
	e.within(n.elements, count, "item", nil)
	if n.contains != nil {
		e.within(n.contained, contained, "item", n.contains)
	}
	if n.uniqueItems {
		e.uniqueItems(e.at)
	}
	return i + 1
}

// uniqueItems: Validation 6.4.3. What finds duplicate names finds duplicate canonical texts.
func (e *evaluation) uniqueItems(i int) {
	e.canonical, e.items = e.canonical[:0], e.items[:0]
	for i = skipSpace(e.data, i+1); e.data[i] != ']'; i = nextItem(e.data, i) {
		from := len(e.canonical)
		e.canonical, i = e.appendCanonical(e.canonical, i)
		e.items = append(e.items, name{span: span{from, len(e.canonical)}})
	}
	e.scanner.data = e.canonical
	dup := e.scanner.duplicate(e.items)
	if dup < 0 || !e.fails(wrongPart) {
		return
	}
	second := slices.IndexFunc(e.items, func(n name) bool { return n.from == dup })
	first := slices.IndexFunc(e.items, func(n name) bool { return e.scanner.same(n, e.items[second]) })
	e.tell(false, "", "expected items that all differ, got the same at ", strconv.Itoa(first), " and ", strconv.Itoa(second))
}

// object evaluates the keywords for objects: Core 10.3.2, Validation 6.5.
func (e *evaluation) object(n *node, i int) int {
	count, seen := 0, len(e.seen)
	for range (len(n.known) + 63) / 64 {
		e.seen = append(e.seen, 0)
	}
	for i = skipSpace(e.data, i+1); e.data[i] != '}'; i = nextItem(e.data, i) {
		i = e.member(n, i, count, seen)
		count++
	}
	has := func(k int) bool { return e.seen[seen+k/64]>>(k%64)&1 != 0 }
	for order, k := range n.required { // Validation 6.5.3
		if !has(k) {
			e.missing(n.known[k], order, "")
		}
	}
	e.within(n.members, count, "member", nil)
	for _, d := range n.dependencies {
		if !has(d.on) {
			continue
		}
		for _, k := range d.needs { // Validation 6.5.4
			if !has(k) {
				e.missing(n.known[k], len(n.required), n.known[d.on].name)
			}
		}
		if d.schema != nil { // Core 10.2.2.4
			e.apply(d.schema, e.at)
		}
	}
	e.seen = e.seen[:seen]
	return i + 1
}

// member evaluates the member whose name begins at quote.
func (e *evaluation) member(n *node, quote, count, seen int) (end int) {
	s, after := step{at: quote, rank: rankOther + int64(count)}, skipText(e.data, quote)
	i := memberValue(e.data, after)
	name := e.unescaped(quote, after)
	k, known := count, count < len(n.known) && n.known[count].name == string(name) // members often come in this order
	if !known {
		k, known = n.index[string(name)]
	}
	end = -1
	optional, evaluated := false, false
	if known {
		p := &n.known[k]
		e.seen[seen+k/64] |= 1 << (k % 64)
		if optional = !p.required; p.schema != nil { // properties: Core 10.3.2.1
			s.rank = rankMember + int64(p.order)
			wrong := e.wrong
			end, evaluated = e.value(p.schema, s, optional, i), true
			if e.wrong > wrong && p.schema.tag() {
				e.wrong += wrongTag
			}
		}
	}
	for p := range n.patternProperties { // Core 10.3.2.2
		if n.patternProperties[p].matches(e.unescaped(quote, after)) {
			end, evaluated = e.value(n.patternProperties[p].schema, s, optional, i), true
		}
	}
	if !evaluated && n.additionalProperties != nil { // Core 10.3.2.3
		end, evaluated = e.unexpected(n.additionalProperties, n, s, i), true
	}
	if n.propertyNames != nil { // Core 10.3.2.4: a name is a string like any other
		e.value(n.propertyNames, s, optional, quote)
	}
	if evaluated {
		e.mark(count)
	}
	if end < 0 {
		end = e.skip(i)
	}
	return end
}

// unexpected evaluates a member or element that is left to a schema because no other keyword knows it.
func (e *evaluation) unexpected(schema, n *node, s step, i int) (end int) {
	if !schema.never {
		return e.value(schema, s, true, i)
	}
	s.rank += rankUnexpected - rankOther
	outer := e.enter(s, i)
	if e.fails(wrongPart) {
		e.tell(false, "", "not expected", n.others)
	}
	e.leave(outer)
	return e.skip(i)
}

func (e *evaluation) missing(p property, order int, on string) {
	outer := e.enter(step{at: isMissing, missing: p.name, rank: rankMissing + int64(order)}, e.at)
	if e.fails(wrongPart) {
		where, want := "", ""
		if on != "" {
			where = " where there is " + brief(on)
		}
		if p.schema != nil {
			want = ": expected " + p.schema.describe()
		}
		e.tell(false, "", "missing, but required", where, want)
	}
	e.leave(outer)
}

// applicators evaluates the subschemas in place.
func (e *evaluation) applicators(n *node, i int) (end int) {
	end = -1
	if n.ref != nil { // Core 8.2.3.1
		end = e.apply(n.ref, i)
	}
	for _, s := range n.allOf { // Core 10.2.1.1
		end = max(end, e.apply(s, i))
	}
	if n.anyOf != nil { // Core 10.2.1.2
		e.branches(n.anyOf, false, i)
	}
	if n.oneOf != nil { // Core 10.2.1.3
		e.branches(n.oneOf, true, i)
	}
	if n.not != nil && e.try(n.not, i) == 0 && e.fails(wrongPart) { // Core 10.2.1.4
		e.tell(true, "", "expected anything but ", n.not.describe())
	}
	if n.ifs != nil { // Core 10.2.2
		then := n.then
		if e.try(n.ifs, i) > 0 {
			then = n.otherwise
		}
		if then != nil {
			end = max(end, e.apply(then, i))
		}
	}
	return end
}

// try evaluates a schema in place for how much is wrong, of the gravest kind, and tells nothing. If it fails it leaves no marks:
// Core 7.7.1.
func (e *evaluation) try(n *node, i int) int64 {
	outer, marks := e.frame, len(e.marks)
	e.telling, e.wrong = false, 0
	e.apply(n, i)
	wrong := e.wrong
	if e.frame = outer; wrong > 0 {
		e.marks = e.marks[:marks]
	}
	if wrong >= wrongKind {
		return wrongKind
	}
	return min(wrong, wrongTag)
}

// branches evaluates anyOf or oneOf. Of a value that fits none it tells the problems with the branch that it clearly comes closest
// to, or else what those branches ask for that it comes closest to. Where marks are wanted, all branches of anyOf have a say.
func (e *evaluation) branches(all []*node, onlyOne bool, i int) {
	first, least := -1, wrongKind
	for k, s := range all {
		wrong := e.try(s, i)
		least = min(least, wrong)
		switch {
		case wrong > 0:
		case first < 0:
			first = k
		case onlyOne:
			if e.fails(wrongPart) {
				e.tell(false, "", "fits alternatives ", strconv.Itoa(first+1), " and ", strconv.Itoa(k+1), ", but may fit only one")
			}
			return
		}
		if first >= 0 && !onlyOne && !e.marking {
			return
		}
	}
	if first >= 0 {
		return
	}
	if !e.telling {
		e.wrong += least
		return
	}
	var closest *node
	var texts []string
	for _, s := range all {
		if e.try(s, i) == least {
			closest = cmp.Or(closest, s)
			if text := s.describe(); !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	}
	if len(texts) == 1 && least < wrongTag {
		e.apply(closest, i)
	} else if e.fails(least) {
		e.tell(true, "", "expected ", join(texts, " or "))
	}
}

// mark notes that an element or member, by its number, is evaluated, if an unevaluated keyword will ask. The marks of a value are
// those on top of the stack since that keyword's schema began.
func (e *evaluation) mark(i int) {
	if e.marking {
		e.marks = append(e.marks, i)
	}
}

// unevaluated evaluates unevaluatedItems or unevaluatedProperties, Core 11, for what has no mark.
func (e *evaluation) unevaluated(schema, n *node, i, marks int) int {
	object, marked := e.data[i] == '{', e.marks[marks:]
	slices.Sort(marked)
	i = skipSpace(e.data, i+1)
	for count := 0; e.data[i] != '}' && e.data[i] != ']'; count++ {
		s := step{at: ^count, rank: rankOther + int64(count)}
		if object {
			s.at, i = i, memberValue(e.data, skipText(e.data, i))
		}
		if _, found := slices.BinarySearch(marked, count); found {
			i = e.skip(i)
		} else {
			i = e.unexpected(schema, n, s, i)
			e.mark(count)
		}
		i = nextItem(e.data, i)
	}
	return i + 1
}

// target is the schema itself, or what it refers to.
func (n *node) target() *node {
	for n.ref != nil && n.types == 0 {
		n = n.ref
	}
	return n
}

// tag reports whether a schema allows certain values only.
func (n *node) tag() bool { return n.target().constant != nil || n.target().enum != nil }

// describe says in a few words what a schema asks for.
func (n *node) describe() string {
	n = n.target()
	var members []string
	for _, p := range n.known {
		if p.schema != nil && p.schema.constant != nil {
			members = append(members, brief(p.name)+" "+p.schema.constant.shown[0])
		} else if p.required {
			members = append(members, brief(p.name))
		}
	}
	switch {
	case n.constant != nil:
		return n.constant.shown[0]
	case n.enum != nil:
		return join(n.enum.shown, " or ")
	case members != nil:
		return "an object with " + join(members, " and ")
	}
	return cmp.Or(n.types.String(), "something else")
}

// A Problem is one thing that is wrong with data.
type Problem struct {
	Pointer string // JSON Pointer to the value, or to the member that is missing; "" is the whole; a long one is abridged
	Message string // one line: what was expected, what came, and the cure if there is a usual one
}

// A ValidationError says what is wrong with data. For each object first the members that are missing, then those that fail, in the
// order of properties, then others in the order of the data, then those that are not expected, and last what concerns it as a whole.
type ValidationError struct {
	Problems []Problem // at most 100, and 16 kB of text
	More     int       // that were found besides
}

// Error gives the problems, one a line, and how many more there are.
func (v *ValidationError) Error() string {
	text := make([]byte, 0, 128*len(v.Problems))
	for i, p := range v.Problems {
		if i > 0 {
			text = append(text, '\n')
		}
		text = append(append(append(text, place(p.Pointer)...), ": "...), p.Message...)
	}
	if v.More > 0 {
		text = fmt.Appendf(text, "\nand %d more", v.More)
	}
	return string(text)
}

type problem struct {
	Problem
	at   int   // where the value begins
	rank int64 // among the problems of the value at hand
}

// fails notes what is wrong with the value at hand, and reports whether that is to be told; if there is no room, it is counted.
func (e *evaluation) fails(weight int64) bool {
	e.wrong += weight
	if e.telling && (e.ahead+len(e.problems)-e.from >= maxProblems || len(e.problems) > 20*maxProblems) {
		e.more++
		return false
	}
	return e.telling
}

// tell adds a problem: the parts of its text, what came if that helps, and a cure.
func (e *evaluation) tell(got bool, cure string, parts ...string) {
	line := e.line[:0]
	for k, s := range e.path {
		switch {
		case k >= maxSteps/2 && k < len(e.path)-maxSteps/2:
			if k == maxSteps/2 {
				line = append(line, "/…"...)
			}
		case s.at == isMissing:
			line = append(append(line, '/'), escapePointer.Replace(brief(s.missing))...)
		case s.at < 0:
			line = strconv.AppendInt(append(line, '/'), int64(^s.at), 10)
		default:
			line = appendName(append(line, '/'), e.data[s.at:skipText(e.data, s.at)])
		}
	}
	pointer := len(line)
	for _, part := range parts {
		line = append(line, part...)
	}
	if got {
		line = appendShown(append(line, ", got "...), e.data[e.at:])
	}
	e.line = append(line, cure...)
	text := string(e.line)
	e.problems = append(e.problems, problem{Problem{text[:pointer], text[pointer:]}, e.at, rankWhole})
}

// report makes the error. What two schemas say alike of one place is told once.
func (e *evaluation) report() *ValidationError {
	v := &ValidationError{Problems: make([]Problem, 0, len(e.problems)), More: e.more}
	size := 0
	for k, p := range e.problems {
		if slices.ContainsFunc(e.problems[:k], func(q problem) bool { return q.Problem == p.Problem && q.at == p.at }) {
			continue
		}
		if size += len(place(p.Pointer)) + len(p.Message) + len(": \n"); size > maxProblemText {
			v.More++
			continue
		}
		v.Problems = append(v.Problems, p.Problem)
	}
	return v
}

// cure says what to do about a value of the wrong type, where that is clear.
func (e *evaluation) cure(want, t types) string {
	switch inner := skipSpace(e.data, e.at+1); {
	case t == typeNull && e.optional:
		return "; leave it out"
	case t&(typeNumber|typeBoolean) != 0 && want == typeString:
		return "; send it in quotes"
	case t == typeString && want&t == 0:
		inside := typeOf[e.data[inner]]
		if (want&inside != 0 || inside == typeNumber && want&typeInteger != 0) &&
			checkJSON([]byte(unquote(e.data[e.at:skipText(e.data, e.at)]))) == nil {
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

// brief shows a name or an expression of the schema: on one line, clipped, and with lone surrogates as escapes.
func brief(text string) string {
	if isBrief(text) {
		return text
	}
	if !utf8.ValidString(text) {
		text = clientText([]byte(`"` + strings.ReplaceAll(text, `\`, `\\`) + `"`))
	}
	return oneLine.Replace(clip(text))
}

// isBrief reports whether a text can be shown as it is, also in a pointer and without escapes.
func isBrief[T string | []byte](text T) bool {
	for i := range min(len(text), maxClientText+1) {
		if c := text[i]; i == maxClientText || !plain[c] && c != '"' || c == '~' || c == '/' {
			return false
		}
	}
	return true
}

// appendName appends a member's name, in its quotes, as a step of a JSON Pointer.
func appendName(dst, text []byte) []byte {
	if name := text[1 : len(text)-1]; isBrief(name) {
		return append(dst, name...)
	}
	return append(dst, escapePointer.Replace(oneLine.Replace(clientText(head(text))))...)
}

// head gives the first part of a long string, more than will be shown and never half an escape.
func head(text []byte) []byte {
	for i := 1; i < len(text)-1; i++ {
		if i > 8*maxClientText {
			return append(bytes.Clone(text[:i]), '"')
		}
		if text[i] == '\\' {
			if i++; text[i] == 'u' {
				i += 4
			}
		}
	}
	return text
}

// appendShown appends the value that begins with the first byte of data as a reader sees it: on one line, and clipped.
func appendShown(dst, data []byte) []byte {
	switch t := typeOf[data[0]]; t {
	case typeObject, typeArray:
		return append(dst, t.String()...)
	case typeString:
		return appendClientText(dst, head(data[:skipText(data, 0)]))
	}
	return append(dst, clip(string(data[:skip(data, 0)]))...)
}

// join lists texts, and says so if it leaves some out.
func join(texts []string, between string) string {
	var room [maxList]byte
	list := room[:0]
	for i, text := range texts {
		if i > 0 {
			list = append(list, between...)
		}
		if text = brief(text); len(list)+len(text)+64 > maxList {
			list = append(strconv.AppendInt(append(list, "… ("...), int64(len(texts)), 10), " in all)"...)
			break
		}
		list = append(list, text...)
	}
	return string(list)
}
