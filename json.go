// json.go: strict JSON, read in one pass over the bytes.
//
// A scanner checks a text against RFC 8259 and UTF-8, refuses a member name that occurs twice in its object and brackets
// nested too deep, and notes on its way where the members lie that its caller asked for. It builds no maps and no trees.
// encoding/json cannot be that reader: it folds the case of names, keeps the last of two duplicates and mends bad UTF-8.
// The second half of the file walks over, compares and copies JSON that a scanner has accepted.
//
// Pages: basic/transports (UTF-8), and RFC 8259. Read after mcp.go; next is meta.go.

package mcp

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is how many brackets may be open at once in a JSON text, the outermost included (RFC 8259, section 9, lets
// a parser set a limit).
const MaxDepth = 512

// What can be wrong with a JSON text; a [JSONError] wraps one of them.
var (
	ErrSyntax    = errors.New("not JSON")
	ErrUTF8      = errors.New("not UTF-8")
	ErrDepth     = errors.New("nested more than 512 deep")
	ErrDuplicate = errors.New("a member name twice in one object")
)

// A JSONError says where a text stops being JSON of the strict kind.
type JSONError struct {
	Offset int    // of the first byte that is wrong, counted from 0
	Want   string // what would be right there; "" where that is no help
	Err    error  // ErrSyntax, ErrUTF8, ErrDepth or ErrDuplicate
}

// Error gives what is wrong, the byte, and what would be right.
func (e *JSONError) Error() string {
	if e.Want == "" {
		return fmt.Sprintf("%v, at byte %d", e.Err, e.Offset)
	}
	return fmt.Sprintf("%v, at byte %d: want %s", e.Err, e.Offset, e.Want)
}

// Unwrap gives the sentinel error.
func (e *JSONError) Unwrap() error { return e.Err }

// A span is a stretch of the bytes that are read: from its first byte to the one after its last. The zero span says
// that there is nothing.
type span struct{ from, to int }

// A field is a member that the caller of a scanner asks for.
type field struct {
	name   string
	slot   int     // where its value is noted
	within []field // members asked for inside its value, if that is an object
}

// A scanner reads JSON texts one after the other and keeps its room from one to the next. It is not safe for
// concurrent use.
type scanner struct {
	data  []byte
	found []span     // by slot: the value of each field that was asked for and is there
	twice uint64     // by slot: the field was there more than once
	err   *JSONError // the first byte that is wrong
	names []name     // of the objects that are open, outermost first
	table []int32    // see duplicate
	seed  maphash.Seed
	spare [2][]byte // for names with escapes
	dup   int       // offset of a duplicate name, or -1
}

// A name is a member's name between its quotes.
type name struct {
	span
	escaped bool
}

// scan reads one text. found has a place for each slot in want; the text may be changed once the answer is used.
// A duplicate name is no error of the text: it is left in dup, because the caller may still want to know the rest.
func (s *scanner) scan(data []byte, want []field, found []span) *JSONError {
	clear(found)
	s.data, s.found, s.twice, s.err, s.names, s.dup = data, found, 0, nil, s.names[:0], -1
	end := s.value(s.space(0), 0, want)
	if end >= 0 {
		if end = s.space(end); end < len(data) {
			s.fail(end, ErrSyntax, "nothing after the first value")
		}
	}
	return s.err
}

// checkJSON is scan for a text of which nothing is asked; a duplicate name is an error.
func checkJSON(data []byte) error {
	var s scanner
	if err := s.scan(data, nil, nil); err != nil {
		return err
	}
	if s.dup >= 0 {
		return &JSONError{s.dup, "", ErrDuplicate}
	}
	return nil
}

// fail notes the first error and returns the position that means there was one.
func (s *scanner) fail(at int, err error, want string) int {
	s.err = &JSONError{at, want, err}
	return -1
}

func (s *scanner) space(i int) int {
	for i < len(s.data) && isSpace(s.data[i]) {
		i++
	}
	return i
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// value reads the value that begins at i, inside depth open brackets, and returns the position after it, or -1.
func (s *scanner) value(i, depth int, want []field) int {
	if i >= len(s.data) {
		return s.fail(i, ErrSyntax, "a value")
	}
	switch c := s.data[i]; {
	case c == '"':
		end, _ := s.text(i)
		return end
	case c == '{' || c == '[':
		if depth == MaxDepth {
			return s.fail(i, ErrDepth, "")
		}
		if c == '[' {
			return s.array(i, depth+1)
		}
		return s.object(i, depth+1, want)
	case c == '-' || isDigit(c):
		return s.number(i)
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if len(s.data)-i >= len(word) && string(s.data[i:i+len(word)]) == word {
			return i + len(word)
		}
	}
	return s.fail(i, ErrSyntax, "a value")
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// array reads the rest of an array from its bracket on.
func (s *scanner) array(i, depth int) int {
	if i = s.space(i + 1); i < len(s.data) && s.data[i] == ']' {
		return i + 1
	}
	for {
		if i = s.value(i, depth, nil); i < 0 {
			return -1
		}
		switch i = s.space(i); {
		case i < len(s.data) && s.data[i] == ',':
			i = s.space(i + 1)
		case i < len(s.data) && s.data[i] == ']':
			return i + 1
		default:
			return s.fail(i, ErrSyntax, "a comma or the end of the array")
		}
	}
}

// object reads the rest of an object from its bracket on.
func (s *scanner) object(i, depth int, want []field) int {
	outer := len(s.names)
	if i = s.space(i + 1); i < len(s.data) && s.data[i] == '}' {
		return i + 1
	}
	for {
		if i = s.member(i, depth, want); i < 0 {
			return -1
		}
		switch i = s.space(i); {
		case i < len(s.data) && s.data[i] == ',':
			i = s.space(i + 1)
		case i < len(s.data) && s.data[i] == '}':
			if s.dup < 0 {
				s.dup = s.duplicate(s.names[outer:])
			}
			s.names = s.names[:outer]
			return i + 1
		default:
			return s.fail(i, ErrSyntax, "a comma or the end of the object")
		}
	}
}

// member reads a name, its colon and its value, and notes the value where it was asked for.
func (s *scanner) member(i, depth int, want []field) int {
	if i >= len(s.data) || s.data[i] != '"' {
		return s.fail(i, ErrSyntax, "a member name in quotes")
	}
	end, escaped := s.text(i)
	if end < 0 {
		return -1
	}
	n := name{span{i + 1, end - 1}, escaped}
	s.names = append(s.names, n)
	if i = s.space(end); i >= len(s.data) || s.data[i] != ':' {
		return s.fail(i, ErrSyntax, "a colon after the member name")
	}
	i = s.space(i + 1)
	f := s.asked(n, want)
	if f == nil {
		return s.value(i, depth, nil)
	}
	end = s.value(i, depth, f.within)
	if s.found[f.slot].to > 0 {
		s.twice |= 1 << f.slot
	}
	s.found[f.slot] = span{i, end}
	return end
}

// asked finds the field of a name, which is compared exactly, with its case, and after undoing escapes.
func (s *scanner) asked(n name, want []field) *field {
	if len(want) == 0 {
		return nil
	}
	text := s.data[n.from:n.to]
	if n.escaped {
		s.spare[0] = appendUnescaped(s.spare[0][:0], text)
		text = s.spare[0]
	}
	for i := range want {
		if want[i].name == string(text) {
			return &want[i]
		}
	}
	return nil
}

// plain has the bytes that stand for themselves inside a string; of the others, those from 0x80 on begin a longer
// sequence.
var plain = func() (p [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		p[c] = c != '"' && c != '\\'
	}
	return p
}()

// plain8 reports whether eight bytes are all plain, at the price of one: the top bit of a byte ends up set where it was
// set, where subtracting 0x20 borrows, or where the byte equals a quote or a backslash.
func plain8(eight uint64) bool {
	const each, top = 0x0101010101010101, 0x8080808080808080
	return (eight|(eight-each*' ')|((eight^each*'"')-each)|((eight^each*'\\')-each))&top == 0
}

// text reads a string from its quote on, and reports whether it has escapes.
func (s *scanner) text(i int) (end int, escaped bool) {
	for i++; i < len(s.data); {
		for len(s.data)-i >= 8 && plain8(binary.LittleEndian.Uint64(s.data[i:])) {
			i += 8
		}
		if i == len(s.data) {
			break
		}
		c := s.data[i]
		switch {
		case plain[c]:
			i++
		case c == '"':
			return i + 1, escaped
		case c == '\\':
			if i = s.escape(i); i < 0 {
				return -1, true
			}
			escaped = true
		case c < ' ':
			return s.fail(i, ErrSyntax, "an escape, not a control character"), escaped
		default:
			r, size := utf8.DecodeRune(s.data[i:])
			if r == utf8.RuneError && size == 1 {
				return s.fail(i, ErrUTF8, ""), escaped
			}
			i += size
		}
	}
	return s.fail(i, ErrSyntax, "the closing quote of a string"), escaped
}

// escape reads an escape from its backslash on. That \u escapes come in pairs is not demanded (RFC 8259, section 8.2).
func (s *scanner) escape(i int) int {
	if i+1 < len(s.data) {
		switch s.data[i+1] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			return i + 2
		case 'u':
			for j := i + 2; j < i+6; j++ {
				if j >= len(s.data) || hexDigit(s.data[j]) < 0 {
					return s.fail(j, ErrSyntax, `four hexadecimal digits after \u`)
				}
			}
			return i + 6
		}
	}
	return s.fail(i+1, ErrSyntax, `one of " \ / b f n r t u after a backslash`)
}

func hexDigit(c byte) rune {
	switch {
	case isDigit(c):
		return rune(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10
	}
	return -1
}

// number reads a number: no leading zeros, and a digit on each side of the decimal point.
func (s *scanner) number(i int) int {
	if s.data[i] == '-' {
		i++
	}
	if i < len(s.data) && s.data[i] == '0' {
		i++
	} else if i = s.digits(i); i < 0 {
		return -1
	}
	if i < len(s.data) && s.data[i] == '.' {
		if i = s.digits(i + 1); i < 0 {
			return -1
		}
	}
	if i < len(s.data) && s.data[i]|0x20 == 'e' {
		if i++; i < len(s.data) && (s.data[i] == '+' || s.data[i] == '-') {
			i++
		}
		return s.digits(i)
	}
	return i
}

func (s *scanner) digits(i int) int {
	if i >= len(s.data) || !isDigit(s.data[i]) {
		return s.fail(i, ErrSyntax, "a digit")
	}
	for i < len(s.data) && isDigit(s.data[i]) {
		i++
	}
	return i
}

// fewNames is how many names are compared each with each; more go through a hash table.
const fewNames = 12

// duplicate gives the offset of the first name that equals one before it, or -1. The hash is seeded at random, so that
// nobody can choose names that collide, and the time is linear in the length of the names.
func (s *scanner) duplicate(names []name) int {
	if len(names) <= fewNames {
		for i := range names {
			for j := range i {
				if s.same(names[i], names[j]) {
					return names[i].from
				}
			}
		}
		return -1
	}
	if s.seed == (maphash.Seed{}) {
		s.seed = maphash.MakeSeed()
	}
	size := 1
	for size < 2*len(names) {
		size *= 2
	}
	s.table = slices.Grow(s.table[:0], size)[:size] // of indexes into names, plus one
	clear(s.table)
	for i := range names {
		at := int(maphash.Bytes(s.seed, s.unescaped(names[i], 0))) & (size - 1)
		for ; s.table[at] != 0; at = (at + 1) & (size - 1) {
			if s.same(names[i], names[s.table[at]-1]) {
				return names[i].from
			}
		}
		s.table[at] = int32(i + 1)
	}
	return -1
}

// same compares two names after undoing their escapes.
func (s *scanner) same(a, b name) bool {
	if a.escaped || b.escaped {
		return bytes.Equal(s.unescaped(a, 0), s.unescaped(b, 1))
	}
	return string(s.data[a.from:a.to]) == string(s.data[b.from:b.to])
}

// unescaped gives a name without its escapes, in spare room of the given number where it has any.
func (s *scanner) unescaped(n name, room int) []byte {
	if !n.escaped {
		return s.data[n.from:n.to]
	}
	s.spare[room] = appendUnescaped(s.spare[room][:0], s.data[n.from:n.to])
	return s.spare[room]
}

// maxKept is the most room, in entries, that a scanner keeps for the next text.
const maxKept = 1 << 12

// trim gives back the room that an unusual text has needed.
func (s *scanner) trim() {
	if cap(s.names) > maxKept || cap(s.table) > maxKept || cap(s.spare[0])+cap(s.spare[1]) > maxKept {
		s.names, s.table, s.spare = nil, nil, [2][]byte{}
	}
}

// From here on the JSON is known to be good: a scanner has read it.

// skip gives the position after the value that begins at i.
func skip(data []byte, i int) int {
	switch data[i] {
	case '"':
		return skipText(data, i)
	case '{', '[':
		for depth := 0; ; {
			switch data[i] {
			case '"':
				i = skipText(data, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
	}
	for i < len(data) && !isSpace(data[i]) && data[i] != ',' && data[i] != ']' && data[i] != '}' {
		i++
	}
	return i
}

// skipText gives the position after the string that begins at i.
func skipText(data []byte, i int) int {
	for i++; ; i++ {
		i += bytes.IndexByte(data[i:], '"')
		back := i
		for data[back-1] == '\\' {
			back--
		}
		if (i-back)%2 == 0 {
			return i + 1
		}
	}
}

func skipSpace(data []byte, i int) int {
	for i < len(data) && isSpace(data[i]) {
		i++
	}
	return i
}

// trimSpace is data without the white space of JSON at its ends.
func trimSpace(data []byte) []byte {
	for len(data) > 0 && isSpace(data[len(data)-1]) {
		data = data[:len(data)-1]
	}
	return data[skipSpace(data, 0):]
}

// nextItem goes from the end of an element or member to the start of the next, or to the closing bracket.
func nextItem(data []byte, i int) int {
	if i = skipSpace(data, i); data[i] == ',' {
		return skipSpace(data, i+1)
	}
	return i
}

// memberValue goes from the end of a member's name to its value.
func memberValue(data []byte, i int) int {
	return skipSpace(data, skipSpace(data, i)+1)
}

// members goes through the members of an object: the names between their quotes, as written, and the values.
func members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for i := skipSpace(object, 1); object[i] != '}'; i = nextItem(object, i) {
			end := skipText(object, i)
			from := memberValue(object, end)
			name := object[i+1 : end-1]
			i = skip(object, from)
			if !yield(name, object[from:i]) {
				return
			}
		}
	}
}

// memberOf is the value of a member of an object, or nil; also where value is no object.
func memberOf(value []byte, name string) []byte {
	if value = trimSpace(value); !isObject(value) {
		return nil
	}
	for n, v := range members(value) {
		if string(n) == name || bytes.IndexByte(n, '\\') >= 0 && string(appendUnescaped(nil, n)) == name {
			return v
		}
	}
	return nil
}

// elements goes through the elements of an array.
func elements(array []byte) iter.Seq[[]byte] {
	return func(yield func(value []byte) bool) {
		for i := skipSpace(array, 1); array[i] != ']'; i = nextItem(array, i) {
			from := i
			i = skip(array, from)
			if !yield(array[from:i]) {
				return
			}
		}
	}
}

// isObject, isText and so on look at the first byte of a value, which tells its kind.
func isObject(value []byte) bool { return len(value) > 0 && value[0] == '{' }
func isArray(value []byte) bool  { return len(value) > 0 && value[0] == '[' }
func isText(value []byte) bool   { return len(value) > 0 && value[0] == '"' }
func isNumber(value []byte) bool {
	return len(value) > 0 && (value[0] == '-' || isDigit(value[0]))
}
func isInteger(value []byte) bool {
	return isNumber(value) && parseDecimal(value).integer()
}

// unquote gives the Go string of a JSON string. What UTF-8 cannot hold, a lone surrogate, is in it as three bytes that
// UTF-8 does not allow (the encoding known as WTF-8), so that two strings are equal exactly when their JSON is.
func unquote(text []byte) string {
	return string(appendUnescaped(nil, text[1:len(text)-1]))
}

// appendUnescaped appends what stands between the quotes of a string, without its escapes; see unquote.
func appendUnescaped(dst, text []byte) []byte {
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:i]...)
		switch c := text[i+1]; c {
		case 'u':
			r := hexRune(text[i:])
			if utf16.IsSurrogate(r) {
				if pair := utf16.DecodeRune(r, hexRune(text[i+6:])); pair != utf8.RuneError {
					r, i = pair, i+6
				}
			}
			dst = appendRune(dst, r)
			i += 4
		default:
			if at := bytes.IndexByte([]byte("bfnrt"), c); at >= 0 {
				c = "\b\f\n\r\t"[at]
			}
			dst = append(dst, c)
		}
		text = text[i+2:]
	}
}

// hexRune is the UTF-16 code unit of a \u escape at the start of text, or -1 where none is there.
func hexRune(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	return hexDigit(text[2])<<12 | hexDigit(text[3])<<8 | hexDigit(text[4])<<4 | hexDigit(text[5])
}

// appendRune appends r as UTF-8 does, also where r is a surrogate.
func appendRune(dst []byte, r rune) []byte {
	if utf16.IsSurrogate(r) {
		return append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
	}
	return utf8.AppendRune(dst, r)
}

// appendText appends s as a JSON string. Bytes that are not UTF-8 leave as U+FFFD; U+2028 and U+2029, which end a line
// for some readers, leave as escapes.
func appendText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		if plain[s[i]] {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r >= utf8.RuneSelf && !isLineSeparator(r) && (r != utf8.RuneError || size > 1) {
			i += size
			continue
		}
		dst = append(append(dst, s[from:i]...), escapeOf(r)...)
		i += size
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}

func isLineSeparator(r rune) bool { return r == '\u2028' || r == '\u2029' }

// escapeOf is how a rune that cannot stand for itself is written.
func escapeOf(r rune) string {
	switch r {
	case '"':
		return `\"`
	case '\\':
		return `\\`
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	case utf8.RuneError:
		return "\uFFFD"
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// appendCompact appends a JSON value without the white space between its tokens, and with U+2028 and U+2029 as
// escapes; else as it is, digit by digit and escape by escape.
func appendCompact(dst, value []byte) []byte {
	for i := 0; i < len(value); {
		switch c := value[i]; {
		case isSpace(c):
			i++
		case c == '"':
			end := skipText(value, i)
			dst = appendSeparators(dst, value[i:end])
			i = end
		default:
			dst = append(dst, c)
			i++
		}
	}
	return dst
}

// appendPlainIntegers appends a JSON value with its integers written in digits alone, up to the largest that Go has a type
// for. JSON Schema takes 3.0 and 3e0 for integers (Validation 6.1.1), encoding/json does not.
func appendPlainIntegers(dst, value []byte) []byte {
	const most = 20 // digits of a uint64
	for i := 0; i < len(value); {
		end := i + 1
		if c := value[i]; c == '"' || c == '-' || isDigit(c) {
			end = skip(value, i)
		}
		if text := value[i:end]; isNumber(text) {
			if d := parseDecimal(text); d.integer() && d.point <= most {
				zeros := int(d.point) - d.count
				if d.sign() == 0 {
					zeros = 1
				}
				dst = append(d.appendDigits(dst), bytes.Repeat([]byte("0"), zeros)...)
				i = end
				continue
			}
		}
		dst = append(dst, value[i:end]...)
		i = end
	}
	return dst
}

// appendSeparators appends a string of JSON with U+2028 and U+2029, E2 80 A8 and E2 80 A9 in UTF-8, as escapes.
func appendSeparators(dst, text []byte) []byte {
	for {
		i := bytes.Index(text, []byte("\u2028"[:2]))
		switch {
		case i < 0:
			return append(dst, text...)
		case text[i+2] == 0xA8:
			dst = append(append(dst, text[:i]...), `\u2028`...)
		case text[i+2] == 0xA9:
			dst = append(append(dst, text[:i]...), `\u2029`...)
		default:
			dst = append(dst, text[:i+3]...)
		}
		text = text[i+3:]
	}
}

// appendCanonical appends the one text that all ways to write a JSON value share: no white space, no escapes but for
// quotes and backslashes, numbers by their value, members in the order of their names. Two values are equal, as JSON
// Schema and this package see it, exactly when these texts are. The value begins at data[i]; end is the position after
// it, so that every byte is read once however deep it lies.
func appendCanonical(dst, data []byte, i int) (text []byte, end int) {
	c := canonical{data: data}
	return c.append(dst, i)
}

// A canonical makes canonical texts. If it has a map for the long arrays and objects, it notes their texts there, and
// does not read one twice.
type canonical struct {
	data  []byte
	known map[int]known // by where they begin
	work  int           // grows with the bytes read
}

type known struct {
	text string
	end  int
}

func (c *canonical) append(dst []byte, i int) (text []byte, end int) {
	start, from, data := len(dst), i, c.data
	if k, found := c.known[i]; found {
		return append(dst, k.text...), k.end
	}
	switch data[i] {
	case '[':
		dst = append(dst, '[')
		for i = skipSpace(data, i+1); data[i] != ']'; i = nextItem(data, i) {
			dst, i = c.append(dst, i)
			dst = append(dst, ',')
		}
		dst = append(dst, ']')
	case '{':
		dst, i = c.object(dst, i)
	default:
		end = skip(data, i)
		c.work += (end-i)/4 + 1
		switch data[i] {
		case '"':
			return appendCanonicalText(dst, data[i+1:end-1]), end
		case 't', 'f', 'n':
			return append(dst, data[i:end]...), end
		}
		return parseDecimal(data[i:end]).appendTo(dst), end
	}
	if len(dst)-start > maxPlain {
		sum := sha256.Sum256(dst[start:])
		dst = append(append(dst[:start], '#'), sum[:]...)
		if c.known != nil {
			c.known[from] = known{string(dst[start:]), i + 1}
		}
	}
	return dst, i + 1
}

func appendCanonicalText(dst, text []byte) []byte {
	dst = append(dst, '"')
	if bytes.IndexByte(text, '\\') < 0 {
		return append(append(dst, text...), '"')
	}
	for _, c := range appendUnescaped(nil, text) {
		if c == '"' || c == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}

// maxPlain is the longest canonical array or object that stands for itself; a longer one is replaced by its SHA-256, so
// that no byte is moved or kept once more for every bracket around it.
const maxPlain = 64

// object appends the members of an object, sorted, and gives where its closing bracket is.
func (c *canonical) object(dst []byte, i int) (text []byte, last int) {
	start, data := len(dst), c.data
	dst = append(dst, '{')
	var sorted []span
	for i = skipSpace(data, i+1); data[i] != '}'; i = nextItem(data, i) {
		from := len(dst)
		end := skipText(data, i)
		dst = append(appendCanonicalText(dst, data[i+1:end-1]), ':')
		dst, i = c.append(dst, memberValue(data, end))
		dst = append(dst, ',')
		sorted = append(sorted, span{from, len(dst)})
	}
	order := func(a, b span) int { return bytes.Compare(dst[a.from:a.to], dst[b.from:b.to]) }
	if !slices.IsSortedFunc(sorted, order) {
		slices.SortFunc(sorted, order)
		written := slices.Clone(dst[start:])
		dst = append(dst[:start], '{')
		for _, m := range sorted {
			dst = append(dst, written[m.from-start:m.to-start]...)
		}
	}
	return append(dst, '}'), i
}

// maxClientText is how many bytes of a client's text are sent back in an error.
const maxClientText = 64

// clip cuts a text to maxClientText bytes, at the start of a rune, and says so with an ellipsis.
func clip(s string) string {
	if len(s) <= maxClientText {
		return s
	}
	cut := maxClientText - len("…")
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// appendClientText appends a client's JSON string, clipped, as it was written where that is not too long.
func appendClientText(dst, text []byte) []byte {
	if len(text) <= maxClientText+2 {
		return appendSeparators(dst, text)
	}
	return appendText(dst, clientText(text))
}

// clientText gives a JSON string for use in an error: clipped, and with lone surrogates shown by their escapes.
func clientText(text []byte) string {
	s := clip(unquote(text))
	if utf8.ValidString(s) {
		return s
	}
	var shown []byte
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 { // the three bytes of a surrogate
			shown = append(shown, `\u`+strconv.FormatInt(int64(s[i]&0xF)<<12|int64(s[i+1]&0x3F)<<6|int64(s[i+2]&0x3F), 16)...)
			size = 3
		} else {
			shown = append(shown, s[i:i+size]...)
		}
		i += size
	}
	return clip(string(shown))
}

// An encoder writes an object member by member, and keeps the first error. A value's kind is checked by one of isObject
// and its like.
type encoder struct {
	buf []byte
	err error
}

func (e *encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// item writes an element, or a member that is JSON with its name; or the bracket that begins one.
func (e *encoder) item(text string) {
	if last := e.buf[len(e.buf)-1]; last != '{' && last != '[' {
		e.buf = append(e.buf, ',')
	}
	e.buf = append(e.buf, text...)
}

// member begins a member. The name needs no escapes.
func (e *encoder) member(name string) {
	e.item(`"`)
	e.buf = append(append(e.buf, name...), `":`...)
}

func (e *encoder) open(name string, bracket byte) {
	e.member(name)
	e.buf = append(e.buf, bracket)
}

func (e *encoder) close(bracket byte) { e.buf = append(e.buf, bracket) }

func (e *encoder) text(name, text string) {
	e.member(name)
	e.buf = appendText(e.buf, text)
}

// option writes a text unless it is empty.
func (e *encoder) option(name, text string) {
	if text != "" {
		e.text(name, text)
	}
}

func (e *encoder) boolean(name string, value bool) {
	e.member(name)
	e.buf = strconv.AppendBool(e.buf, value)
}

// data writes bytes in base64.
func (e *encoder) data(name string, data []byte) {
	e.member(name)
	e.buf = append(base64.StdEncoding.AppendEncode(append(e.buf, '"'), data), '"')
}

// json writes JSON that is known to be good, as it is.
func (e *encoder) json(name string, value []byte) {
	e.member(name)
	e.buf = append(e.buf, value...)
}

// raw writes JSON that comes from a tool, unless there is none, after a check.
func (e *encoder) raw(name string, value []byte, kind func([]byte) bool) {
	if len(value) == 0 {
		return
	}
	err := checkJSON(value)
	if errors.Is(err, ErrUTF8) {
		value = mendUTF8(value)
		err = checkJSON(value)
	}
	if value = trimSpace(value); err != nil {
		e.fail(fmt.Errorf("%s: %w", name, err))
	} else if kind != nil && !kind(value) {
		e.fail(fmt.Errorf("%s is of the wrong kind", name))
	} else {
		e.member(name)
		e.buf = appendCompact(e.buf, value)
	}
}

// decode64 decodes what base64.RawURLEncoding has encoded, and nothing else: the package passes over line ends.
func decode64(text string) ([]byte, bool) {
	data, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return data, err == nil && !strings.ContainsAny(text, "\r\n")
}

// mendUTF8 puts U+FFFD in the place of bytes that are not UTF-8.
func mendUTF8(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	return bytes.ToValidUTF8(text, []byte("\uFFFD"))
}
