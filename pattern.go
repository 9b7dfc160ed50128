// pattern.go: the regular expressions of JSON Schema, said in the syntax of Go's regexp, which takes linear time.
//
// "pattern" and "patternProperties" hold ECMA-262 expressions, read with the flag u (JSON Schema 2020-12 Core 6.4). The
// two syntaxes look alike and differ in what many characters mean, so everything is translated, nothing is passed on by
// accident, and what cannot be said is refused. An expression is found anywhere in a text. Read after schema.go.

package mcp

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// What the translation does, by what stands in the expression:
//
//	a é ^ $ | ( ) (?: ) * + ? {n,m} and their lazy forms, \b \B \d \D \w \W   the same in both
//	.  \s  \S  []  [^]                                                        a class with ECMA-262's members
//	\t \n \v \f \r \0 \cX \xHH \uHHHH \u{H} \/ and other punctuation          the character
//	(?<name> )                                                                a plain group: nothing refers back to it
//	\p{L} \p{Letter} \p{gc=L} \p{Script=Greek} \p{Any} \p{ASCII}, also \P     \p, where Go knows the name
//	(?= (?! (?<= (?<! \1 \k<name>                                             refused: not in linear time
//	(?i (?P< \A \z \Q \a \pL, a lone { } ]                                    refused: not ECMA-262 with the flag u
//	repeats over 1000, other properties, lone surrogates                      refused: Go cannot say it
const (
	notLineEnd = `[^\n\r\x{2028}\x{2029}]`
	whiteSpace = `\t-\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}`
	notSpace   = `\x{0}-\x{8}\x{E}-\x{1F}!-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027}\x{202A}-\x{202E}` +
		`\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{FEFE}\x{FF00}-\x{10FFFF}`
	wholeRange = `\x{0}-\x{10FFFF}`
)

// standIn takes the place of a lone surrogate in a text, because regexp reads UTF-8 and UTF-8 cannot hold one. Both are
// one character, of no script and never assigned; an expression that tells them apart is refused.
const standIn = '\uFFFF'

var errSurrogate = errors.New("an expression that tells lone surrogates from other characters is not supported")

// compilePattern translates and compiles an ECMA-262 expression.
func compilePattern(source string) (*regexp.Regexp, error) {
	t := rewriter{in: source}
	t.expression()
	if t.err != nil {
		return nil, t.err
	}
	tree, err := syntax.Parse(t.out.String(), syntax.Perl)
	if err == nil && (!utf8.ValidString(source) || !uniform(tree)) {
		return nil, errSurrogate
	}
	re, err := regexp.Compile(t.out.String())
	if e, ok := err.(*syntax.Error); ok { // without the translation, which the schema's author has never seen
		err = errors.New(e.Code.String() + ", or more than Go's regexp takes")
	}
	return re, err
}

// uniform reports whether an expression treats all surrogates and their stand-in alike.
func uniform(e *syntax.Regexp) bool {
	for _, r := range e.Rune { // of a literal, or where the ranges of a class begin and end
		inside := utf16.IsSurrogate(r) && (e.Op == syntax.OpLiteral || r != 0xD800 && r != 0xDFFF)
		if inside || e.Op == syntax.OpLiteral && r == standIn {
			return false
		}
	}
	if e.Op == syntax.OpCharClass {
		if in := holds(e.Rune, standIn); holds(e.Rune, 0xD800) != in || holds(e.Rune, 0xDFFF) != in {
			return false
		}
	}
	for _, sub := range e.Sub {
		if !uniform(sub) {
			return false
		}
	}
	return true
}

func holds(class []rune, r rune) bool {
	for i := 0; i < len(class); i += 2 {
		if class[i] <= r && r <= class[i+1] {
			return true
		}
	}
	return false
}

// A rewriter goes through an expression once, from left to right. The numbers in the comments are ECMA-262's.
type rewriter struct {
	names []string // of groups
	in    string   // what is left
	out   strings.Builder
	err   error
}

// fail notes the first thing that is wrong, and ends the reading.
func (t *rewriter) fail(format string, args ...any) rune {
	if t.err == nil {
		t.err = fmt.Errorf(format, args...)
	}
	t.in = ""
	return 0
}

// accept goes past the first of some pieces of text that is next, and gives it.
func (t *rewriter) accept(texts ...string) string {
	for _, text := range texts {
		if strings.HasPrefix(t.in, text) {
			t.in = t.in[len(text):]
			return text
		}
	}
	return ""
}

// until takes the text up to an end, which it goes past; ok is false where there is none.
func (t *rewriter) until(end string) (text string, ok bool) {
	text, t.in, ok = strings.Cut(t.in, end)
	return text, ok && text != ""
}

func (t *rewriter) next() rune {
	r, size := utf8.DecodeRuneInString(t.in)
	t.in = t.in[size:]
	return r
}

// literal writes a character that stands for itself.
func (t *rewriter) literal(r rune) { fmt.Fprintf(&t.out, `\x{%X}`, r) }

// expression reads Disjunction, 22.2.1. That brackets come in pairs is left to Go's parser.
func (t *rewriter) expression() {
	atom := false // whether what was read last can be repeated
	for t.in != "" {
		was := atom
		atom = true
		switch r := t.next(); r {
		case '^', '$', '|':
			t.out.WriteRune(r)
			atom = false
		case '(':
			t.group()
			atom = false
		case '*', '+', '?', '{':
			t.quantifier(r, was)
			atom = false
		case ')':
			t.out.WriteByte(')')
		case '.':
			t.out.WriteString(notLineEnd)
		case '[':
			t.class()
		case '\\':
			if same := t.accept("b", "B"); same != "" {
				t.out.WriteString(`\` + same)
				atom = false
			} else if t.in != "" && ('1' <= t.in[0] && t.in[0] <= '9' || t.in[0] == 'k') {
				t.fail(`a back reference, \%c, cannot be matched in linear time`, t.in[0])
			} else if !t.set("[", "]") {
				t.literal(t.character())
			}
		case '}', ']':
			t.fail(`a %c that stands for itself is written \%[1]c`, r)
		default:
			t.literal(r)
		}
	}
}

// group reads what follows an opening bracket.
func (t *rewriter) group() {
	if look := t.accept("?=", "?!", "?<=", "?<!"); look != "" {
		t.fail("look-around, (%s, cannot be matched in linear time", look)
	} else if t.accept("?<") != "" {
		name, ok := t.until(">")
		if strings.ContainsAny(name, "-.") || !isAnchor(name) || !ok {
			t.fail("a group's name is written (?<name>, with ASCII letters, digits and _")
		} else if slices.Contains(t.names, name) {
			t.fail("two groups have the name %s", brief(name))
		}
		t.names = append(t.names, name)
	} else if t.accept("?:") == "" && strings.HasPrefix(t.in, "?") {
		t.fail("a group that begins with (%.2s is not supported", t.in)
	}
	t.out.WriteString("(?:")
}

// quantifier reads Quantifier, 22.2.1. Go would take a count with leading zeros, or one without an end, literally.
func (t *rewriter) quantifier(r rune, atom bool) {
	count := string(r)
	if r == '{' {
		text, ok := t.until("}")
		low, high, bounded := strings.Cut(text, ",")
		n, err := strconv.ParseUint(low, 10, 32)
		count = fmt.Sprint("{", n)
		if bounded {
			count += ","
		}
		if high != "" && err == nil {
			n, err = strconv.ParseUint(high, 10, 32)
			count += fmt.Sprint(n)
		}
		if count += "}"; !ok || err != nil {
			t.fail(`a { that begins no count is written \{`)
		}
	}
	if !atom {
		t.fail("%s has nothing before it to repeat", count)
	}
	t.out.WriteString(count + t.accept("?"))
}

// set reads CharacterClassEscape, 22.2.1, after its backslash, if one is there. Outside a class it becomes one.
func (t *rewriter) set(open, end string) bool {
	text := ""
	switch c := t.accept("d", "D", "w", "W", "s", "S", "p{", "P{"); c {
	case "":
		return false
	case "s":
		text = whiteSpace
	case "S":
		text = notSpace
	case "p{", "P{":
		source, ok := t.until("}")
		name := propertyOf(source)
		if !ok || name == "" {
			t.fail(`\%s}: not a general category or a script that Go knows`, c+source)
		}
		text = `\` + c + name + "}"
	default:
		text = `\` + c
	}
	t.out.WriteString(open + text + end)
	return true
}

// propertyOf gives Go's name for a property of Unicode, or "" where it has none: 22.2.1, tables 65 to 68.
func propertyOf(text string) string {
	key, value, found := strings.Cut(text, "=")
	if !found {
		key, value = "gc", text
	}
	switch {
	case text == "Any" || text == "ASCII" || text == "Assigned":
		return text
	case (key == "Script" || key == "sc") && unicode.Scripts[value] != nil,
		(key == "General_Category" || key == "gc") && unicode.Categories[value] != nil:
		return value
	case key == "General_Category" || key == "gc":
		return unicode.CategoryAliases[value]
	}
	return ""
}

// character reads CharacterEscape, 22.2.1, after its backslash. Punctuation stands for itself, also such as cannot be
// escaped with the flag u: it has no other meaning without.
func (t *rewriter) character() rune {
	if t.in == "" {
		return t.fail(`\ has nothing after it`)
	}
	switch r := t.next(); {
	case strings.ContainsRune("tnvfr", r):
		return rune("\t\n\v\f\r"[strings.IndexRune("tnvfr", r)])
	case r == '0' && (t.in == "" || !isDigit(t.in[0])):
		return 0
	case r == 'c' && t.in != "" && 'a' <= t.in[0]|0x20 && t.in[0]|0x20 <= 'z':
		return t.next() & 0x1F
	case r == 'x' && len(t.in) >= 2:
		return t.hex(2)
	case r == 'u' && t.accept("{") != "":
		text, _ := t.until("}")
		t.in = text + "}" + t.in
		r = t.hex(len(text))
		t.accept("}")
		return r
	case r == 'u' && len(t.in) >= 4:
		r = t.hex(4)
		if utf16.IsSurrogate(r) && len(t.in) >= 6 && t.accept(`\u`) != "" {
			if r = utf16.DecodeRune(r, t.hex(4)); r == utf8.RuneError {
				r = 0xD800 // the two are no pair: see uniform
			}
		}
		return r
	case r < utf8.RuneSelf && (unicode.IsPunct(r) || unicode.IsSymbol(r)):
		return r
	default:
		return t.fail(`\%c is not ECMA-262 with the flag u`, r)
	}
}

// hex reads n hexadecimal digits.
func (t *rewriter) hex(n int) rune {
	v, err := strconv.ParseUint(t.in[:n], 16, 32)
	if err != nil || v > unicode.MaxRune {
		return t.fail(`\x or \u with %q is no character`, t.in[:n])
	}
	t.in = t.in[n:]
	return rune(v)
}

// class reads CharacterClass, 22.2.1, after its bracket.
func (t *rewriter) class() {
	t.out.WriteByte('[')
	switch t.accept("^]", "]", "^") {
	case "^]":
		t.out.WriteString(wholeRange + "]")
		return
	case "]":
		t.out.WriteString("^" + wholeRange + "]")
		return
	case "^":
		t.out.WriteByte('^')
	}
	for t.accept("]") == "" {
		if t.in == "" {
			t.fail("a class, [, has no end")
			return
		}
		low, single := t.classAtom()
		if strings.HasPrefix(t.in, "-") && !strings.HasPrefix(t.in, "-]") {
			t.out.WriteString(t.accept("-"))
			if high, also := t.classAtom(); !single || !also || high < low {
				t.fail(`a range in a class goes from one character up to another; a - that stands for itself is written \-`)
			}
		}
	}
	t.out.WriteByte(']')
}

// classAtom reads ClassAtom, 22.2.1: one character, or a set.
func (t *rewriter) classAtom() (r rune, single bool) {
	switch {
	case t.accept(`\b`) != "":
		r = '\b'
	case t.accept(`\`) == "":
		r = t.next()
	case t.set("", ""):
		return 0, false
	default:
		r = t.character()
	}
	t.literal(r)
	return r, true
}
