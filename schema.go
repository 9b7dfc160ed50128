// schema.go: JSON Schema 2020-12, so far as it can be exact, bounded and fast: what tools say of their arguments.
//
// In this order: the tables of what is supported and what is refused; the compiler, which turns a schema into nodes;
// the evaluation, a walk over the bytes of the data, in which every value is read once by every schema that applies to
// it; and the report, which puts what is wrong in words that a model can act on.
//
// Pages: basic/index, heading JSON Schema Usage; server/tools, heading Tool. "Core" and "Validation" are the documents
// of JSON Schema 2020-12, with their sections. Read after number.go; next is pattern.go.

package mcp

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
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

// A keyword says what types of value a keyword takes and how the value, which begins at raw[at], gets into a node.
// Annotations have no read: they never fail.
type keyword struct {
	takes types
	read  func(c *compiler, n *node, at int)
}

// keywords are those that are supported, and besides them every x-*. CompileSchema has them filled in: they need it.
var (
	keywords     map[string]keyword
	keywordsOnce sync.Once
)

func setKeywords() {
	keywords = map[string]keyword{
		// Core 8 and 9; Validation 8 and 9: identifiers, references, and what only informs
		"$schema": {typeString, (*compiler).dialect}, "$id": {typeString, nil}, "$anchor": {typeString, (*compiler).anchor},
		"$ref": {typeString, (*compiler).reference}, "$defs": {typeObject, definitions},
		"definitions": {typeObject, definitions}, "$comment": {typeString, nil}, "title": {typeString, nil},
		"description": {typeString, nil}, "default": {typeAny, nil},
		"examples": {typeArray, nil}, "deprecated": {typeBoolean, nil}, "readOnly": {typeBoolean, nil},
		"writeOnly": {typeBoolean, nil}, "format": {typeString, nil}, "contentEncoding": {typeString, nil},
		"contentMediaType": {typeString, nil}, "contentSchema": one(func(*node) **node { return new(*node) }),
		// Core 10.2: subschemas in place
		"allOf": many(func(n *node) *[]*node { return &n.allOf }), "anyOf": many(func(n *node) *[]*node { return &n.anyOf }),
		"oneOf": many(func(n *node) *[]*node { return &n.oneOf }), "not": one(func(n *node) **node { return &n.not }),
		"if": one(func(n *node) **node { return &n.ifs }), "then": one(func(n *node) **node { return &n.then }),
		"else":             one(func(n *node) **node { return &n.otherwise }),
		"dependentSchemas": {typeObject, (*compiler).dependentSchemas},
		// Core 10.3 and 11: subschemas for elements and members
		"prefixItems": many(func(n *node) *[]*node { return &n.prefixItems }),
		"items":       one(func(n *node) **node { return &n.items }),
		"contains":    one(func(n *node) **node { return &n.contains }),
		"properties":  {typeObject, (*compiler).properties}, "patternProperties": {typeObject, (*compiler).patternProperties},
		"additionalProperties":  one(func(n *node) **node { return &n.additionalProperties }),
		"propertyNames":         one(func(n *node) **node { return &n.propertyNames }),
		"unevaluatedItems":      one(func(n *node) **node { return &n.unevaluatedItems }),
		"unevaluatedProperties": one(func(n *node) **node { return &n.unevaluatedProperties }),
		// Validation 6.1: any value (6.2, numbers: see limits)
		"type": {typeString | typeArray, (*compiler).types}, "enum": {typeArray, (*compiler).enum},
		"const": {typeAny, (*compiler).constant},
		// Validation 6.3: strings
		"maxLength": count(func(n *node) *int { return &n.length.max }),
		"minLength": count(func(n *node) *int { return &n.length.min }),
		"pattern":   {typeString, (*compiler).pattern},
		// Validation 6.4: arrays
		"maxItems":    count(func(n *node) *int { return &n.elements.max }),
		"minItems":    count(func(n *node) *int { return &n.elements.min }),
		"maxContains": count(func(n *node) *int { return &n.contained.max }),
		"minContains": count(func(n *node) *int { return &n.contained.min }),
		"uniqueItems": {typeBoolean, (*compiler).uniqueItems},
		// Validation 6.5: objects
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

// dialects are the values of $schema; true is draft-07. What draft-07 understands otherwise than 2020-12 is refused, so
// that the rest means the same: the keywords that it does not know, and those that it ignores beside $ref.
var (
	dialects = map[string]bool{
		"https://json-schema.org/draft/2020-12/schema": false, "https://json-schema.org/draft/2020-12/schema#": false,
		"http://json-schema.org/draft-07/schema": true, "http://json-schema.org/draft-07/schema#": true,
	}
	notDraft7 = []string{"$anchor", "dependentRequired", "dependentSchemas", "maxContains", "minContains", "prefixItems",
		"unevaluatedItems", "unevaluatedProperties"}
	besideRef = []string{"$ref", "$schema", "$defs", "definitions", "contentSchema"} // and what has no read, but for $id
)

// A Schema is a compiled JSON Schema. It keeps nothing of the bytes it was made from, and any number of goroutines may
// use it at once.
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

func place(pointer string) string {
	if pointer == "" {
		return "(root)"
	}
	return pointer
}

// A node is a schema. A keyword that is absent has the value that lets everything pass.
type node struct {
	at    int  // where it begins in the raw schema
	cost  int  // schemas that apply in place when it does, itself included; -1 while they are counted
	never bool // the schema false

	ref, not, ifs, then, otherwise                             *node
	allOf, anyOf, oneOf, prefixItems                           []*node
	items, contains, unevaluatedItems                          *node
	additionalProperties, propertyNames, unevaluatedProperties *node
	patternProperties                                          []expression
	dependentRequired, dependentSchemas                        []dependency

	types                                 types
	enum, constant                        *values
	limits                                [len(limits)]*limit
	pattern                               *expression
	length, elements, contained, members  extent // maxLength and minLength, maxItems and minItems, and so on
	uniqueItems                           bool
	required                              []int          // into known
	known                                 []property     // all names of members that keywords mention
	index                                 map[string]int // into known, once they are many
	others                                string         // what to say of a member that is not expected
	onNumber, onString, onArray, onObject bool           // whether there are keywords for such a value
	inPlace                               bool           // or subschemas in place
}

// An extent is the least and the most that is allowed of something.
type extent struct{ min, max int }

func (x extent) any() bool { return x.min == 0 && x.max == math.MaxInt }

// A property is a name and what a schema says of it.
type property struct {
	name     string
	schema   *node // in properties, or nil
	order    int   // there
	required bool
}

// A dependency is what the presence of a member asks for. The numbers are indexes into known.
type dependency struct {
	on     int
	needs  []int
	schema *node
}

// An expression is a pattern, and in patternProperties a schema.
type expression struct {
	source string
	*regexp.Regexp
	schema *node
}

// A limit is a number and how it is shown.
type limit struct {
	decimal
	text string
}

// values are those of enum or const: as canonical texts, and as they are shown.
type values struct {
	canonical map[string]bool
	shown     []string
	longest   int // of the canonical texts, in bytes
	types     types
}

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

var typeNames = [...]string{"null", "boolean", "object", "array", "number", "string", "integer"}

// String names the types for a reader.
func (t types) String() (text string) {
	for i, words := range [len(typeNames)]string{"null", "true or false", "an object", "an array", "a number", "a string",
		"an integer"} {
		if t>>i&1 != 0 {
			text += " or " + words
		}
	}
	return strings.TrimPrefix(text, " or ")
}

// typeOf gives the type of a value by its first byte.
var typeOf = [256]types{'"': typeString, '{': typeObject, '[': typeArray, 't': typeBoolean, 'f': typeBoolean,
	'n': typeNull,
	'-': typeNumber, '0': typeNumber, '1': typeNumber, '2': typeNumber, '3': typeNumber, '4': typeNumber, '5': typeNumber,
	'6': typeNumber, '7': typeNumber, '8': typeNumber, '9': typeNumber}

// CompileSchema makes a Schema of raw JSON. What it does not support it refuses with a [*SchemaError]: nothing in a
// schema is ignored, and nothing is fetched.
func CompileSchema(raw []byte) (*Schema, error) {
	if err := checkJSON(raw); err != nil {
		return nil, &SchemaError{Reason: err.Error(), Err: err}
	}
	keywordsOnce.Do(setKeywords)
	c := &compiler{raw: raw, nodes: map[int]compiled{}, resources: map[string]*resource{}}
	at := skipSpace(raw, 0)
	for name, at := range children(raw, at) {
		c.draft7 = c.draft7 || name == "$schema" && dialects[c.text(at)]
	}
	c.open(&url.URL{Scheme: "schema", Path: "/"}, at)
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
	raw        []byte
	draft7     bool
	level      int       // of the schema that is read
	base       *resource // that it belongs to
	keyword    string    // of it
	all        []*node
	nodes      map[int]compiled // by where they begin
	resources  map[string]*resource
	references []reference
	err        *SchemaError // the first
}

type compiled struct {
	*node
	base *resource
}

// A resource is a schema with an identifier of its own: Core 4.3.5.
type resource struct {
	uri     *url.URL
	root    int
	anchors map[string]int
}

// A reference is a $ref, which waits until all identifiers are known.
type reference struct {
	from *node
	base *resource
	at   int
}

// fail notes the first error, which is in the value that begins at raw[at].
func (c *compiler) fail(at int, format string, args ...any) {
	if c.err == nil {
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
}

// children goes through the members of an object, or the elements of an array, whose names are then their numbers, and
// gives where the values begin.
func children(raw []byte, i int) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		if open := raw[i]; open == '{' || open == '[' {
			i = skipSpace(raw, i+1)
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
}

// text is a string of the schema.
func (c *compiler) text(at int) string {
	if !isText(c.raw[at:]) {
		return ""
	}
	return unquote(c.raw[at:skipText(c.raw, at)])
}

// schema reads the schema that begins at raw[at].
func (c *compiler) schema(at int) *node {
	n := &node{at: at}
	n.length.max, n.elements.max, n.members.max = math.MaxInt, math.MaxInt, math.MaxInt
	n.contained = extent{1, math.MaxInt}
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
	c.nodes[at] = compiled{n, c.base}
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
	n.onNumber = n.limits != [len(limits)]*limit{}
	n.onString = n.pattern != nil || !n.length.any()
	n.onArray = n.prefixItems != nil || n.items != nil || n.contains != nil || n.uniqueItems || !n.elements.any()
	n.onObject = n.known != nil || n.patternProperties != nil || n.additionalProperties != nil ||
		n.propertyNames != nil || !n.members.any()
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

// count reads a count; one that no text or list can reach becomes the largest int.
func count(field func(*node) *int) keyword {
	return keyword{typeNumber, func(c *compiler, n *node, at int) {
		d := parseDecimal(c.raw[at:skip(c.raw, at)])
		if d.negative || !d.integer() {
			c.fail(at, "takes an integer from 0 on")
		}
		*field(n) = math.MaxInt
		if d.wide == nil && d.point <= pointDigits {
			digits := string(bytes.ReplaceAll(d.digits, []byte("."), nil)) + strings.Repeat("0", pointDigits)
			*field(n), _ = strconv.Atoi("0" + digits[:max(d.point, 0)])
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
	if uri, err := c.base.uri.Parse(c.text(at)); err != nil || uri.Fragment != "" {
		c.fail(at, "takes a URI without a fragment")
	} else if c.resources[uri.String()] != nil {
		c.fail(at, "is the identifier of two schemas")
	} else {
		c.open(uri, n.at)
	}
}

func (c *compiler) open(uri *url.URL, at int) {
	c.base = &resource{uri: uri, root: at, anchors: map[string]int{}}
	c.resources[uri.String()] = c.base
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
	name := c.text(at)
	if other, taken := c.base.anchors[name]; taken && other != n.at || !isAnchor(name) {
		c.fail(at, "takes a name of letters, digits, - . and _ that no other schema has")
	}
	c.base.anchors[name] = n.at
}

// reference reads $ref: Core 8.2.3.1.
func (c *compiler) reference(n *node, at int) {
	c.references = append(c.references, reference{n, c.base, at})
}

// resolve finds what a $ref means: in one of the resources its root, an anchor or a JSON Pointer, Core 9.2, which may
// lead to where no keyword has put a schema.
func (c *compiler) resolve(r reference) {
	c.keyword = "$ref"
	uri, err := r.base.uri.Parse(c.text(r.at))
	if err != nil {
		c.fail(r.at, "takes a URI reference")
		return
	}
	fragment := uri.Fragment
	uri.Fragment, uri.RawFragment = "", ""
	if c.base = c.resources[uri.String()]; c.base == nil {
		c.fail(r.at, "leaves the schema, and nothing is fetched: copy what it refers to into $defs")
		return
	}
	at, found := c.base.root, true
	if strings.HasPrefix(fragment, "/") {
		for _, token := range strings.Split(fragment[1:], "/") {
			from := at
			for name, child := range children(c.raw, from) {
				if name == unescapePointer.Replace(token) {
					at = child
					break
				}
			}
			found = found && at > from
			if crossed := c.nodes[at]; crossed.node != nil {
				c.base = crossed.base
			}
		}
	} else if fragment != "" {
		at, found = c.base.anchors[fragment]
	}
	if !found {
		c.fail(r.at, "points to nothing in the schema")
	} else if r.from.ref = c.nodes[at].node; r.from.ref == nil {
		r.from.ref = c.schema(at)
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
	for _, d := range n.dependentSchemas {
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
		i = len(n.known)
		n.known = append(n.known, property{name: name})
		if n.index == nil {
			n.index = map[string]int{}
		}
		n.index[name] = i
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
		n.dependentRequired = append(n.dependentRequired, dependency{on: n.know(name), needs: c.names(n, at)})
	}
}

func (c *compiler) dependentSchemas(n *node, at int) {
	for name, at := range children(c.raw, at) {
		n.dependentSchemas = append(n.dependentSchemas, dependency{on: n.know(name), schema: c.schema(at)})
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
	read := func(_ string, at int) bool {
		i := slices.Index(typeNames[:], c.text(at))
		if i < 0 || n.types>>i&1 != 0 {
			c.fail(at, "takes some of %s, each once", strings.Join(typeNames[:], ", "))
			return false
		}
		n.types |= 1 << i
		return true
	}
	if isText(c.raw[at:]) {
		read("", at)
	} else if children(c.raw, at)(read); n.types == 0 {
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
	v.longest = max(v.longest, len(text))
	v.shown = append(v.shown, brief(string(appendCompact(nil, raw[at:end]))))
}

// Validate checks data against the schema. It returns nil, a [*JSONError] if data is not strict JSON, or a
// [*ValidationError]. It keeps nothing of data.
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

// An evaluation goes over the data once and collects problems on its way; branches, of which one may fail, it evaluates
// for their verdict alone. A function that evaluates a value gives where it ends, also if the value fails, or -1 if it
// has not gone there.
type evaluation struct {
	data      []byte
	scanner   scanner
	text      []byte   // a string without its escapes
	canonical []byte   // canonical texts
	items     []name   // in canonical
	seen      []uint64 // of each object that is open, a bit for each of known that is there
	marks     []int    // what is evaluated of values, for the unevaluated keywords: see mark
	marking   bool
	work      int               // schemas applied, and bytes passed over
	memory    map[visit]outcome // see remember
	known     map[int]known     // see appendCanonical
	trial     int               // where the value begins whose branches are compared, or -1
	distance  int64             // of that value from a branch
	report
}

var evaluations = sync.Pool{New: func() any { return new(evaluation) }}

// release gives an evaluation back, without the room that unusual data has needed.
func (e *evaluation) release() {
	e.scanner.trim()
	e.scanner.data, e.data, e.memory, e.known = nil, nil, nil, nil
	if cap(e.text)+cap(e.canonical)+cap(e.items)+cap(e.seen)+cap(e.marks)+cap(e.problems)+cap(e.keys) > 4*maxKept {
		*e = evaluation{scanner: e.scanner}
	}
	evaluations.Put(e)
}

func (e *evaluation) evaluate(root *node, data []byte) *ValidationError {
	e.data, e.work, e.trial = data, 0, -1
	e.collecting, e.more, e.keys = true, 0, e.keys[:0]
	if _, ok := e.value(root, skipSpace(data, 0)); ok {
		return nil
	}
	return e.finish()
}

// value evaluates a schema for a value that stands by itself: the root, an element or a member.
func (e *evaluation) value(n *node, i int) (end int, ok bool) {
	if c := e.data[i]; c != '{' && c != '[' {
		end, ok = e.apply(n, i)
	} else {
		marking, optional := e.marking, e.optional
		e.marking, e.optional = false, false
		if e.hot() {
			end, ok = e.remember(n, i)
		} else {
			end, ok = e.apply(n, i)
		}
		e.marking, e.optional = marking, optional
	}
	if end < 0 {
		end = e.skip(i)
	}
	return end, ok
}

// hot reports whether the schema has made the walk cross the same data so often that it pays to remember.
func (e *evaluation) hot() bool { return e.work > 2*len(e.data)+maxKept }

type visit struct {
	n  *node
	at int
}

type outcome struct {
	end             int
	ok, isCollected bool
}

// remember evaluates a schema for an array or object unless that is done already. Without it, schemas that apply twice
// to each level would take time exponential in the depth of the data.
func (e *evaluation) remember(n *node, i int) (end int, ok bool) {
	known, found := e.memory[visit{n, i}]
	if found && (known.ok || known.isCollected || !e.collecting) {
		return known.end, known.ok
	}
	if end, ok = e.apply(n, i); end < 0 {
		end = e.skip(i)
	}
	if e.memory == nil {
		e.memory = map[visit]outcome{}
	}
	e.memory[visit{n, i}] = outcome{end, ok, e.collecting}
	return end, ok
}

// anything accepts every value, and goes through all of it.
var anything = func() *node {
	n := &node{onArray: true, onObject: true, members: extent{0, math.MaxInt}, elements: extent{0, math.MaxInt}}
	n.items, n.additionalProperties = n, n
	return n
}()

// long is from how many bytes on the end of an array or object is worth remembering.
const long = 256

// skip passes over a value.
func (e *evaluation) skip(i int) int {
	if c := e.data[i]; e.hot() && (c == '{' || c == '[') {
		if known, found := e.memory[visit{anything, i}]; found {
			return known.end
		}
		if len(e.data)-i > long {
			end, _ := e.value(anything, i)
			return end
		}
	}
	end := skip(e.data, i)
	e.work += (end - i) / 16
	return end
}

// apply evaluates a schema for a value, be it the only one or in place: Core 7.6.
func (e *evaluation) apply(n *node, i int) (end int, ok bool) {
	e.work++
	t := typeOf[e.data[i]]
	if n.never {
		return -1, e.telling() && e.fail(-1, "", "not expected")
	}
	if !e.typed(n, t, i) {
		return -1, false
	}
	marking, marks := e.marking, len(e.marks)
	unevaluated := t == typeObject && n.unevaluatedProperties != nil || t == typeArray && n.unevaluatedItems != nil
	e.marking = marking || unevaluated
	end, ok = -1, e.among(n.enum, t, i) && e.among(n.constant, t, i)
	good := true
	switch {
	case t == typeNumber && n.onNumber:
		end, good = e.number(n, i)
	case t == typeString && n.onString:
		end, good = e.string(n, i)
	case t == typeArray && n.onArray:
		end, good = e.array(n, i)
	case t == typeObject && n.onObject:
		end, good = e.object(n, i)
	}
	ok, good = ok && good, true
	if n.inPlace && e.goesOn(ok, i) {
		end, good = e.applicators(n, i, end)
	}
	if unevaluated && good && e.goesOn(ok, i) {
		end, good = e.unevaluated(n, i, marks)
	}
	if e.marking = marking; !marking {
		e.marks = e.marks[:marks]
	}
	return end, ok && good
}

// goesOn reports whether there is more to find out of the value at i: not if it has failed and only that counts.
func (e *evaluation) goesOn(ok bool, i int) bool { return ok || e.collecting || e.trial == i }

// type: Validation 6.1.1.
func (e *evaluation) typed(n *node, t types, i int) bool {
	if n.types == 0 || n.types&t != 0 || n.types&typeInteger != 0 && t == typeNumber && e.integer(i) {
		return true
	}
	e.missed(i, wrongKind)
	return e.telling() && e.fail(i, e.cure(n.types, t, i), "expected ", n.types.String())
}

func (e *evaluation) integer(i int) bool {
	text := e.data[i:skip(e.data, i)]
	return bytes.IndexAny(text, ".eE") < 0 || parseDecimal(text).integer()
}

// enum and const: Validation 6.1.2 and 6.1.3.
func (e *evaluation) among(v *values, t types, i int) bool {
	if v == nil {
		return true
	}
	if v.types&t != 0 && (t != typeString || skipText(e.data, i)-i <= 6*v.longest) { // an escape takes 6 bytes
		e.canonical, _ = e.appendCanonical(e.canonical[:0], i)
		if v.canonical[string(e.canonical)] {
			return true
		}
	}
	e.missed(i, wrongKind)
	return e.telling() && e.fail(i, e.cure(v.types, t, i), "expected ", join(v.shown, " or "))
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
func (e *evaluation) number(n *node, i int) (end int, ok bool) {
	end, ok = skip(e.data, i), true
	d := parseDecimal(e.data[i:end])
	for k, l := range n.limits {
		if l != nil && !limits[k].holds(d, l.decimal) {
			ok = e.telling() && e.fail(i, "", "expected ", limits[k].words, l.text)
		}
	}
	return end, ok
}

// string evaluates maxLength, minLength and pattern: Validation 6.3. A lone surrogate is one character.
func (e *evaluation) string(n *node, i int) (end int, ok bool) {
	end = skipText(e.data, i)
	text := e.unescaped(i, end)
	ok = true
	if len(text) > n.length.max || len(text)/4 < n.length.min {
		length := 0
		for _, c := range text {
			if c&0xC0 != 0x80 {
				length++
			}
		}
		ok = e.within(n.length, length, "character", nil)
	}
	if n.pattern != nil && !n.pattern.matches(text) {
		ok = e.telling() && e.fail(i, "", "expected a match of ", n.pattern.source)
	}
	return end, ok
}

// within evaluates a pair such as maxItems and minItems: Validation 6.3.1 and 2, 6.4.1, 2, 4 and 5, 6.5.1 and 2.
func (e *evaluation) within(x extent, count int, unit string, contained *node) bool {
	if x.min <= count && count <= x.max {
		return true
	}
	words, limit := "expected at least ", x.min
	if count > x.max {
		words, limit = "expected at most ", x.max
	}
	if limit != 1 {
		unit += "s"
	}
	if !e.telling() {
		return false
	}
	if contained != nil {
		unit += " to be " + contained.describe()
	}
	return e.fail(-1, "", words, strconv.Itoa(limit), " ", unit, ", got ", strconv.Itoa(count))
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
func (e *evaluation) array(n *node, i int) (end int, ok bool) {
	start, count, contained := i, 0, 0
	ok = true
	for i = skipSpace(e.data, i+1); e.data[i] != ']'; i = nextItem(e.data, i) {
		end = -1
		if e.goesOn(ok, start) {
			e.enter(step{index: count, rank: rankOther + int64(count)})
			if schema := n.item(count); schema != nil {
				var good bool
				if end, good = e.value(schema, i); !good {
					ok = false
					e.missed(start, wrongMember)
				}
				e.mark(count)
			}
			if n.contains != nil { // Core 10.3.1.3
				var good bool
				if end, good = e.try((*evaluation).value, n.contains, i); good {
					contained++
					e.mark(count)
				}
			}
			e.leave()
		}
		if end < 0 {
			end = e.skip(i)
		}
		i = end
		count++
	}
	if e.goesOn(ok, start) {
		ok = e.within(n.elements, count, "item", nil) && ok
		ok = (n.contains == nil || e.within(n.contained, contained, "item", n.contains)) && ok
		ok = (!n.uniqueItems || e.uniqueItems(start)) && ok
	}
	return i + 1, ok
}

// item gives the schema for an element by prefixItems and items: Core 10.3.1.1 and 10.3.1.2.
func (n *node) item(i int) *node {
	if i < len(n.prefixItems) {
		return n.prefixItems[i]
	}
	return n.items
}

// uniqueItems: Validation 6.4.3. What finds duplicate names finds duplicate canonical texts.
func (e *evaluation) uniqueItems(i int) bool {
	e.canonical, e.items = e.canonical[:0], e.items[:0]
	for i = skipSpace(e.data, i+1); e.data[i] != ']'; i = nextItem(e.data, i) {
		from := len(e.canonical)
		e.canonical, i = e.appendCanonical(e.canonical, i)
		e.items = append(e.items, name{span: span{from, len(e.canonical)}})
	}
	e.scanner.data = e.canonical
	dup := e.scanner.duplicate(e.items)
	if dup < 0 {
		return true
	}
	second := slices.IndexFunc(e.items, func(n name) bool { return n.from == dup })
	first := slices.IndexFunc(e.items, func(n name) bool { return e.scanner.same(n, e.items[second]) })
	return e.telling() && e.fail(-1, "", "expected items that all differ, got the same at ", strconv.Itoa(first), " and ",
		strconv.Itoa(second))
}

// object evaluates the keywords for objects: Core 10.3.2, Validation 6.5.
func (e *evaluation) object(n *node, i int) (end int, ok bool) {
	start, count, seen := i, 0, len(e.seen)
	ok = true
	for range (len(n.known) + 63) / 64 {
		e.seen = append(e.seen, 0)
	}
	for i = skipSpace(e.data, i+1); e.data[i] != '}'; i = nextItem(e.data, i) {
		after := skipText(e.data, i)
		from := memberValue(e.data, after)
		if e.goesOn(ok, start) {
			var good bool
			i, good = e.member(n, start, i, after, from, count, seen)
			ok = ok && good
		} else {
			i = e.skip(from)
		}
		count++
	}
	if e.goesOn(ok, start) {
		ok = e.required(n, start, seen) && ok
		ok = e.within(n.members, count, "member", nil) && ok
		ok = e.dependencies(n, start, seen) && ok
	}
	e.seen = e.seen[:seen]
	return i + 1, ok
}

// member evaluates a member with its name at quote and its value at from.
func (e *evaluation) member(n *node, start, quote, after, from, count, seen int) (end int, ok bool) {
	s := step{quote: quote, rank: rankOther + int64(count)}
	name := e.unescaped(quote, after)
	k, known := count, count < len(n.known) && n.known[count].name == string(name) // members often come in this order
	if !known {
		k, known = n.index[string(name)]
	}
	if known {
		e.seen[seen+k/64] |= 1 << (k % 64)
		if n.known[k].schema != nil {
			s.rank = rankMember + int64(n.known[k].order)
		}
	}
	e.enter(s)
	e.optional = known && !n.known[k].required
	end, ok = -1, true
	evaluated, distance, good := false, wrongMember, true
	if known && n.known[k].schema != nil { // properties: Core 10.3.2.1
		end, ok = e.value(n.known[k].schema, from)
		if evaluated = true; !ok && n.known[k].schema.tag() {
			distance = wrongTag
		}
	}
	for p := range n.patternProperties { // Core 10.3.2.2
		if n.patternProperties[p].matches(e.unescaped(quote, after)) {
			end, good = e.value(n.patternProperties[p].schema, from)
			evaluated, ok = true, ok && good
		}
	}
	if !evaluated && n.additionalProperties != nil { // Core 10.3.2.3
		end, ok = e.unexpected(n.additionalProperties, n, from)
		evaluated = true
	}
	if n.propertyNames != nil { // Core 10.3.2.4: a name is a string like any other
		_, good = e.value(n.propertyNames, quote)
		ok = ok && good
	}
	e.leave()
	if evaluated {
		e.mark(count)
	}
	if end < 0 {
		end = e.skip(from)
	}
	if !ok {
		e.missed(start, distance)
	}
	return end, ok
}

// unexpected evaluates a member or element that is left to a schema because no other keyword knows it.
func (e *evaluation) unexpected(schema, n *node, i int) (end int, ok bool) {
	if !schema.never || !e.collecting {
		return e.value(schema, i)
	}
	e.path[len(e.path)-1].rank += rankUnexpected - rankOther
	return -1, e.telling() && e.fail(-1, "", "not expected", n.others)
}

// has reports whether the member known[k] was seen.
func (e *evaluation) has(seen, k int) bool { return e.seen[seen+k/64]>>(k%64)&1 != 0 }

// required: Validation 6.5.3.
func (e *evaluation) required(n *node, start, seen int) bool {
	ok := true
	for order, k := range n.required {
		if !e.has(seen, k) {
			ok = e.missing(n, k, order, start, "")
		}
	}
	return ok
}

// dependentRequired, Validation 6.5.4, and dependentSchemas, Core 10.2.2.4.
func (e *evaluation) dependencies(n *node, start, seen int) bool {
	ok := true
	for _, d := range n.dependentRequired {
		for _, k := range d.needs {
			if e.has(seen, d.on) && !e.has(seen, k) {
				ok = e.missing(n, k, len(n.required), start, " where there is "+brief(n.known[d.on].name))
			}
		}
	}
	for _, d := range n.dependentSchemas {
		if e.has(seen, d.on) && e.goesOn(ok, start) {
			_, good := e.apply(d.schema, start)
			ok = ok && good
		}
	}
	return ok
}

func (e *evaluation) missing(n *node, k, order, start int, where string) bool {
	e.missed(start, wrongMember)
	e.enter(step{name: n.known[k].name, quote: -1, rank: int64(order)})
	defer e.leave()
	if !e.telling() {
		return false
	}
	if schema := n.known[k].schema; schema != nil {
		return e.fail(-1, schema.describe(), "missing, but required", where, ": expected ")
	}
	return e.fail(-1, "", "missing, but required", where)
}

// applicators evaluates the subschemas in place.
func (e *evaluation) applicators(n *node, i, end int) (int, bool) {
	ok, good := true, true
	if n.ref != nil { // Core 8.2.3.1
		end, ok = e.apply(n.ref, i)
	}
	for _, s := range n.allOf { // Core 10.2.1.1
		if e.goesOn(ok, i) {
			end, good = e.apply(s, i)
			ok = ok && good
		}
	}
	if n.anyOf != nil && e.goesOn(ok, i) {
		ok = e.anyOf(n.anyOf, i) && ok
	}
	if n.oneOf != nil && e.goesOn(ok, i) {
		ok = e.oneOf(n.oneOf, i) && ok
	}
	if n.not != nil && e.goesOn(ok, i) { // Core 10.2.1.4
		if _, good = e.try((*evaluation).apply, n.not, i); good {
			ok = e.telling() && e.fail(i, "", "expected anything but ", n.not.describe())
		}
	}
	if n.ifs != nil && e.goesOn(ok, i) { // Core 10.2.2
		then := n.otherwise
		if _, good = e.try((*evaluation).apply, n.ifs, i); good {
			then = n.then
		}
		if then != nil {
			_, good = e.apply(then, i)
			ok = ok && good
		}
	}
	return end, ok
}

// try evaluates a schema for the verdict alone. If it fails it leaves no marks: Core 7.7.1.
func (e *evaluation) try(evaluate func(*evaluation, *node, int) (int, bool), n *node, i int) (end int, ok bool) {
	collecting, trial, marks := e.collecting, e.trial, len(e.marks)
	e.collecting, e.trial = false, -1
	if end, ok = evaluate(e, n, i); !ok {
		e.marks = e.marks[:marks]
	}
	e.collecting, e.trial = collecting, trial
	return end, ok
}

// anyOf: Core 10.2.1.2. Where marks are wanted, all branches have a say.
func (e *evaluation) anyOf(branches []*node, i int) (ok bool) {
	for _, s := range branches {
		if _, good := e.try((*evaluation).apply, s, i); good {
			if ok = true; !e.marking {
				break
			}
		}
	}
	return ok || e.collecting && e.explain(branches, i)
}

// oneOf: Core 10.2.1.3.
func (e *evaluation) oneOf(branches []*node, i int) bool {
	var first, second int
	for k, s := range branches {
		if _, good := e.try((*evaluation).apply, s, i); good {
			first, second = k+1, first
		}
		if second > 0 {
			return e.telling() && e.fail(-1, "", "fits alternatives ", strconv.Itoa(second), " and ", strconv.Itoa(first),
				", but may fit only one")
		}
	}
	return first > 0 || e.collecting && e.explain(branches, i)
}

// mark notes that an element or member, by its number, is evaluated, if an unevaluated keyword will ask. The marks of
// a value are those on top of the stack since that keyword's schema began.
func (e *evaluation) mark(i int) {
	if e.marking {
		e.marks = append(e.marks, i)
	}
}

// unevaluated evaluates unevaluatedItems or unevaluatedProperties, Core 11, for what has no mark.
func (e *evaluation) unevaluated(n *node, i, marks int) (int, bool) {
	ok, start, schema, object := true, i, n.unevaluatedItems, e.data[i] == '{'
	if object {
		schema = n.unevaluatedProperties
	}
	marked := e.marks[marks:]
	slices.Sort(marked)
	i = skipSpace(e.data, i+1)
	for count := 0; e.data[i] != '}' && e.data[i] != ']'; count++ {
		s := step{index: count, rank: rankOther + int64(count)}
		if object {
			s.quote, i = i, memberValue(e.data, skipText(e.data, i))
		}
		for len(marked) > 0 && marked[0] < count {
			marked = marked[1:]
		}
		end, good := -1, true
		if e.goesOn(ok, start) && (len(marked) == 0 || marked[0] != count) {
			e.enter(s)
			end, good = e.unexpected(schema, n, i)
			e.leave()
			e.mark(count)
			ok = ok && good
		}
		if end < 0 {
			end = e.skip(i)
		}
		i = nextItem(e.data, end)
	}
	return i + 1, ok
}

// How far a value is from a branch of anyOf or oneOf: how many members are missing or wrong; beyond that, that a member
// which has to have a certain value has another, and beyond that, that the value itself is of another kind.
const (
	wrongMember int64 = 1
	wrongTag    int64 = 1 << 32
	wrongKind   int64 = 1 << 40
)

// missed adds to the distance, if the value at i is the one whose branches are compared.
func (e *evaluation) missed(i int, distance int64) {
	if e.trial == i {
		e.distance += distance
	}
}

// explain tells what to do about a value that fits no branch: the problems of the branch that it clearly comes closest
// to, or else what those branches ask for that it comes closest to.
func (e *evaluation) explain(branches []*node, i int) bool {
	trial, before, marking := e.trial, e.distance, e.marking
	least := int64(math.MaxInt64)
	var closest []*node
	for _, s := range branches {
		e.trial, e.distance, e.collecting, e.marking = i, 0, false, false
		e.apply(s, i)
		if e.distance >= wrongKind { // how often does not matter
			e.distance = wrongKind
		} else if e.distance >= wrongTag {
			e.distance = wrongTag
		}
		if e.distance < least {
			least, closest = e.distance, nil
		}
		if e.distance == least {
			closest = append(closest, s)
		}
	}
	e.trial, e.distance, e.collecting, e.marking = trial, before, true, marking
	var all []string
	for _, s := range closest {
		if text := s.describe(); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	if len(all) == 1 && least < wrongTag {
		e.apply(closest[0], i)
		return false
	}
	return e.telling() && e.fail(i, "", "expected ", join(all, " or "))
}

// describe says in a few words what a schema asks for.
func (n *node) describe() string {
	for range maxSchemaLevels {
		if n.ref != nil && n.types == 0 {
			n = n.ref
		}
	}
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
	case n.types == 0:
		return "something else"
	}
	return n.types.String()
}

// tag reports whether a schema allows certain values only.
func (n *node) tag() bool {
	return n.constant != nil || n.enum != nil || n.ref != nil && (n.ref.constant != nil || n.ref.enum != nil)
}

// A Problem is one thing that is wrong with data.
type Problem struct {
	Pointer string // JSON Pointer to the value, or to the member that is missing; "" is the whole; a long one is abridged
	Message string // one line: what was expected, what came, and the cure if there is a usual one
}

// A ValidationError says what is wrong with data. For each object first the members that are missing, then those that
// fail, in the order of properties, then others in the order of the data, then those that are not expected, and last
// what concerns it as a whole.
type ValidationError struct {
	Problems []Problem // at most 100, and 16 kB of text
	More     int       // that were found besides
}

// Error gives the problems, one a line, and how many more there are.
func (v *ValidationError) Error() string {
	size := len("\nand 4194304 more")
	for _, p := range v.Problems {
		size += len(place(p.Pointer)) + len(p.Message) + len(": \n")
	}
	var text strings.Builder
	text.Grow(size)
	for i, p := range v.Problems {
		if i > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(place(p.Pointer))
		text.WriteString(": ")
		text.WriteString(p.Message)
	}
	if v.More > 0 {
		fmt.Fprintf(&text, "\nand %d more", v.More)
	}
	return text.String()
}

// A report is what an evaluation collects. The order of problems is that of the ranks on the way to them.
type report struct {
	collecting bool // problems, not only the verdict
	optional   bool // the value is a member that may be left out
	path       []step
	problems   []problem // at most twice maxProblems, of which the first maxProblems are sorted once there are as many
	more       int       // that come after those
	keys       []int64   // room for key
	line       []byte    // room for a problem's text
}

type step struct {
	name  string // of a missing member; or else
	quote int    // where a member's name begins in the data; or else
	index int    // the number of an element
	rank  int64  // among the problems of its object or array
}

// Ranks; to each is added an order.
const (
	rankMissing int64 = iota << 32
	rankMember
	rankOther
	rankUnexpected
)

type problem struct {
	Problem
	key []int64 // the ranks
}

// before puts the problems of a value before those that concern it as a whole.
func (p problem) before(q problem) int {
	for i := range min(len(p.key), len(q.key)) {
		if c := cmp.Compare(p.key[i], q.key[i]); c != 0 {
			return c
		}
	}
	return len(q.key) - len(p.key)
}

// repeats reports whether two problems are one, found by way of two schemas. An abridged pointer alone does not tell.
func (p problem) repeats(q problem) bool {
	return p.Problem == q.Problem && (!strings.Contains(p.Pointer, "…") || slices.Equal(p.key, q.key))
}

func (e *evaluation) enter(s step) {
	if e.collecting {
		e.path = append(e.path, s)
		e.optional = false
	}
}

func (e *evaluation) leave() {
	if e.collecting {
		e.path = e.path[:len(e.path)-1]
	}
}

// telling reports whether a problem of the value is to be told, and counts it if there is no room.
func (e *evaluation) telling() bool {
	if !e.collecting {
		return false
	}
	if len(e.problems) >= maxProblems && !e.precedes(e.problems[maxProblems-1].key) {
		e.more++
		return false
	}
	from := len(e.keys)
	for _, s := range e.path {
		e.keys = append(e.keys, s.rank)
	}
	e.problems = append(e.problems, problem{key: e.keys[from:]})
	return true
}

// precedes reports whether a problem here comes before one with a key.
func (e *evaluation) precedes(key []int64) bool {
	for i := range min(len(e.path), len(key)) {
		if e.path[i].rank != key[i] {
			return e.path[i].rank < key[i]
		}
	}
	return len(e.path) > len(key)
}

// fail gives the problem just added its text: the parts, what came if i is its place, and a cure. It is always false.
func (e *evaluation) fail(i int, cure string, parts ...string) bool {
	line := e.line[:0]
	for k, s := range e.path {
		switch {
		case k >= maxSteps/2 && k < len(e.path)-maxSteps/2:
			if k == maxSteps/2 {
				line = append(line, "/…"...)
			}
		case s.quote < 0:
			line = append(append(line, '/'), escapePointer.Replace(brief(s.name))...)
		case s.quote == 0:
			line = strconv.AppendInt(append(line, '/'), int64(s.index), 10)
		default:
			line = appendName(append(line, '/'), e.data[s.quote:skipText(e.data, s.quote)])
		}
	}
	pointer := len(line)
	for _, part := range parts {
		line = append(line, part...)
	}
	if i >= 0 {
		line = appendShown(append(line, ", got "...), e.data[i:])
	}
	e.line = append(line, cure...)
	text := string(e.line)
	p := &e.problems[len(e.problems)-1]
	p.Pointer, p.Message = text[:pointer], text[pointer:]
	if n := len(e.problems); n == maxProblems || n == 2*maxProblems {
		e.arrange()
	}
	return false
}

// arrange sorts the problems and drops those that are too many.
func (e *evaluation) arrange() {
	if !slices.IsSortedFunc(e.problems, problem.before) {
		slices.SortStableFunc(e.problems, problem.before)
	}
	if over := len(e.problems) - maxProblems; over > 0 {
		e.more += over
		e.problems = e.problems[:maxProblems]
	}
}

// finish makes the error. What two schemas say alike of one place is told once.
func (e *evaluation) finish() *ValidationError {
	e.arrange()
	v := &ValidationError{Problems: make([]Problem, 0, len(e.problems)), More: e.more}
	size := 0
	for k, p := range e.problems {
		if slices.ContainsFunc(e.problems[:k], p.repeats) {
			continue
		}
		if size += len(place(p.Pointer)) + len(p.Message) + 3; size > maxProblemText {
			v.More++
			continue
		}
		v.Problems = append(v.Problems, p.Problem)
	}
	clear(e.problems)
	e.problems = e.problems[:0]
	return v
}

// cure says what to do about a value of the wrong type, where that is clear.
func (e *evaluation) cure(want, t types, i int) string {
	if t == typeNull && e.optional {
		return "; leave it out"
	}
	if t&(typeNumber|typeBoolean) != 0 && want == typeString {
		return "; send it in quotes"
	}
	if inner := skipSpace(e.data, i+1); t == typeString && want&t == 0 {
		if inside := typeOf[e.data[inner]]; want&inside != 0 || inside == typeNumber && want&typeInteger != 0 {
			if checkJSON([]byte(unquote(e.data[i:skipText(e.data, i)]))) == nil {
				return "; send it as JSON, not in a string"
			}
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
