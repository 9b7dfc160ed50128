// pattern.go: the regular expressions of JSON Schema, said in the syntax of Go's regexp, which takes linear time.
//
// "pattern" and "patternProperties" hold ECMA-262 expressions, read with the flag u (JSON Schema 2020-12 Core 6.4). The
// two syntaxes look alike and differ in what many characters mean, so everything is translated, nothing is passed on by
// accident, and what cannot be said is refused. An expression is found anywhere in a text. Read after schema.go;
// next is number.go.

package mcp

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	notLineEnd = `[^\n\r\x{2028}\x{2029}]`
	whiteSpace = `\t-\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}`
	notSpace   = `\x{0}-\x{8}\x{E}-\x{1F}!-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027}\x{202A}-\x{202E}` +
		`\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{FEFE}\x{FF00}-\x{10FFFF}`
	noLinear = ` cannot be matched in linear time`
	notECMA  = `$0 is not ECMA-262 with the flag u`
)

// A rule says what a piece of an expression becomes, or why it is refused; $1 is what its first brackets hold.
type rule struct {
	piece   *regexp.Regexp // at the start of what is left
	is      kindOfPiece
	becomes string
}

type kindOfPiece int

const (
	character  kindOfPiece = iota
	set                    // of characters: the inside of a class
	namedSet               // a set by its name, which has to be known
	class                  // the start of one
	atom                   // something else that can be repeated
	edge                   // something that cannot
	quantifier             // what repeats
	forbidden
)

// The numbers are ECMA-262's; the first rule that fits counts, and any other character stands for itself. That brackets
// come in pairs and ranges go up is left to Go's parser, which would take some counts literally.
var rules = sync.OnceValue(func() (r struct{ outside, inClass []rule }) {
	on := func(piece string, is kindOfPiece, becomes string) rule {
		return rule{regexp.MustCompile(`^(?s:` + piece + `)`), is, becomes}
	}
	escapes := []rule{ // CharacterEscape and CharacterClassEscape, 22.2.1; all punctuation may be escaped
		on(`\\(?:[tnvfr]|x[[:xdigit:]]{2}|[[:punct:]])`, character, `$0`),
		on(`\\0[0-9]`, forbidden, notECMA), on(`\\0`, character, `\x00`),
		on(`\\u(?:\{([[:xdigit:]]+)\}|([[:xdigit:]]{4}))`, character, `\x{$1$2}`),
		on(`\\[dDwW]`, set, `$0`), on(`\\s`, set, whiteSpace), on(`\\S`, set, notSpace),
		on(`\\([pP])\{(?:(\w+)=)?(\w*)\}`, namedSet, `\$1{$3}`),
		on(`\\$`, forbidden, `$0 has nothing after it`), on(`\\.`, forbidden, notECMA),
	}
	r.inClass = append([]rule{on(`\\b`, character, `\x08`)}, escapes...)
	r.outside = append([]rule{
		on(`\\[bB]|[\^$|]`, edge, `$0`), on(`\\[1-9k]`, forbidden, `a back reference, $0,`+noLinear),
		on(`\(\?<?[=!]`, forbidden, `look-around, $0,`+noLinear), // Assertion and Atom
		on(`\(\?<([A-Za-z_]\w*)>`, edge, `(?P<$1>`),
		on(`\(\?<`, forbidden, `a group's name is written (?<name>, with ASCII letters, digits and _`),
		on(`\(\?[^:]`, forbidden, `a group that begins with $0 is not supported`), on(`\((?:\?:)?`, edge, `(?:`),
		on(`\)`, atom, `)`), on(`\.`, atom, notLineEnd),
		on(`\[\]`, atom, `[^\x{0}-\x{10FFFF}]`), on(`\[\^\]`, atom, `[\x{0}-\x{10FFFF}]`), on(`\[\^?`, class, `$0`),
		on(`[*+?]\??`, quantifier, `$0`), on(`\{0*(\d+)\}(\??)`, quantifier, `{$1}$2`), // Quantifier
		on(`\{0*(\d+),\}(\??)`, quantifier, `{$1,}$2`), on(`\{0*(\d+),0*(\d+)\}(\??)`, quantifier, `{$1,$2}$3`),
		on(`\{`, forbidden, `a { that begins no count is written \{`),
		on(`[}\]]`, forbidden, `a $0 that stands for itself is written \$0`),
	}, escapes...)
	return r
})

// nextPiece gives the piece that an expression begins with, in Go's syntax, and what is left.
func nextPiece(list []rule, in string) (is kindOfPiece, text, rest string, err error) {
	if window := in[:min(len(in), 256)]; in != "" && strings.IndexByte(`\^$.*+?()[]{}|`, in[0]) >= 0 {
		for _, r := range list {
			if m := r.piece.FindStringSubmatchIndex(window); m != nil {
				text = string(r.piece.ExpandString(nil, r.becomes, window, m))
				if r.is == forbidden {
					err = errors.New(text)
				} else if r.is == namedSet && !hasProperty(r.piece.FindStringSubmatch(window)) {
					err = fmt.Errorf("%s: not a general category or a script that Go knows", window[:m[1]])
				}
				return r.is, text, in[m[1]:], err
			}
		}
	}
	r, size := utf8.DecodeRuneInString(in)
	return character, fmt.Sprintf(`\x{%X}`, r), in[size:], nil
}

// hasProperty reports whether Go knows a property of Unicode, m[2]=m[3]: 22.2.1, tables 65 to 68.
func hasProperty(m []string) bool {
	if key, value := m[2], m[3]; key == "Script" || key == "sc" {
		return unicode.Scripts[value] != nil
	} else if key == "" || key == "General_Category" || key == "gc" {
		return unicode.Categories[value] != nil || unicode.CategoryAliases[value] != "" ||
			key == "" && slices.Contains([]string{"Any", "ASCII", "Assigned"}, value)
	}
	return false
}

// coded are the escapes whose characters have to be computed, and all others, so that no backslash is taken for another's.
var coded = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\\c[A-Za-z]|\\u[dD][89abAB][[:xdigit:]]{2}\\u[dD][c-fC-F][[:xdigit:]]{2}|(?s:\\.)`)
})

func compute(escape string) string {
	if escape[1] == 'c' && len(escape) == len(`\cX`) {
		return fmt.Sprintf(`\x%02x`, escape[2]&0x1F)
	} else if len(escape) == len(`\uD83D\uDE00`) {
		return fmt.Sprintf(`\u{%x}`, utf16.DecodeRune(hexRune([]byte(escape)), hexRune([]byte(escape[6:]))))
	}
	return escape
}

// rewrite says an expression in Go's syntax.
func rewrite(source string) (string, error) {
	var out strings.Builder
	for last, in := edge, coded().ReplaceAllStringFunc(source, compute); in != ""; {
		is, text, rest, err := nextPiece(rules().outside, in)
		if is == quantifier && (last == edge || last == quantifier) {
			err = fmt.Errorf("%s has nothing before it to repeat", text)
		} else if is == class {
			rest, err = rewriteClass(&out, text, rest)
			text = "]"
		} else if is == set || is == namedSet {
			text = "[" + text + "]"
		}
		if err != nil {
			return "", err
		}
		out.WriteString(text)
		last, in = is, rest
	}
	return out.String(), nil
}

// rewriteClass reads CharacterClass, 22.2.1, after its bracket.
func rewriteClass(out *strings.Builder, open, in string) (rest string, err error) {
	out.WriteString(open)
	for !strings.HasPrefix(in, "]") {
		if in == "" {
			return "", errors.New("a class, [, has no end")
		}
		is, text, rest, err := nextPiece(rules().inClass, in)
		if high, found := strings.CutPrefix(rest, "-"); found && err == nil && !strings.HasPrefix(high, "]") {
			also, end, after, wrong := nextPiece(rules().inClass, high)
			if err = wrong; err == nil && (is != character || also != character) {
				err = errors.New(`a range in a class goes from one character to another; a - that stands for itself is written \-`)
			}
			text, rest = text+"-"+end, after
		}
		if err != nil {
			return "", err
		}
		out.WriteString(text)
		in = rest
	}
	return in[1:], nil
}

// compilePattern translates and compiles an ECMA-262 expression.
func compilePattern(source string) (*regexp.Regexp, error) {
	text, err := rewrite(source)
	if err != nil {
		return nil, err
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err == nil && (!utf8.ValidString(source) || !uniform(tree)) {
		return nil, errors.New("an expression that tells lone surrogates from other characters is not supported")
	} else if err == nil {
		if names := slices.Sorted(slices.Values(tree.CapNames())); len(slices.Compact(names)) <= tree.MaxCap() {
			return nil, errors.New("two groups have one name")
		}
	}
	re, err := regexp.Compile(text)
	if e, ok := err.(*syntax.Error); ok { // without the translation, which the schema's author has never seen
		err = errors.New(e.Code.String() + ", or more than Go's regexp takes")
	}
	return re, err
}

// standIn takes the place of a lone surrogate in a text, because regexp reads UTF-8 and UTF-8 cannot hold one. Both are
// one character, of no script and never assigned; an expression that tells them apart is refused.
const standIn = '\uFFFF'

// uniform reports whether an expression treats all surrogates and their stand-in alike: each class has all or none.
func uniform(e *syntax.Regexp) bool {
	ranges, count := e.Rune, rune(0)
	if e.Op == syntax.OpLiteral {
		ranges = slices.Sorted(slices.Values(append(e.Rune, e.Rune...))) // each from itself to itself
	}
	for r := range slices.Chunk(ranges, 2) {
		count += max(0, min(r[1], 0xDFFF)-max(r[0], 0xD800)+1)
		if r[0] <= standIn && standIn <= r[1] {
			count++
		}
	}
	every := e.Op == syntax.OpCharClass && count == 0xDFFF-0xD800+2
	return (count == 0 || every) && !slices.ContainsFunc(e.Sub, func(sub *syntax.Regexp) bool { return !uniform(sub) })
}
