// json.go: strict JSON, read in one pass over the bytes.
//
// A scanner checks a text against RFC 8259 and UTF-8, and notes on its way where the members lie that its caller asked for.
// encoding/json cannot be that reader: it folds the case of names, keeps the last of two duplicates and mends bad UTF-8. The
// second half walks over, compares and writes JSON. Pages: basic/transports (UTF-8). Read after mcp.go; next is meta.go.

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
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxDepth is how many brackets may be open at once, the outermost included (a limit that RFC 8259, section 9, allows).
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

// A span is a stretch of bytes: from its first to the one after its last. The zero span says that there is nothing.
type span struct{ from, to int }

// A name is a member's name between its quotes.
type name struct {
	span
	escaped bool // it has escapes
}

// A field is a member that the caller of a scanner asks for.
type field struct {
	name   string
	slot   int     // where its value is noted
	within []field // members asked for inside its value, if that is an object
}

// A scanner reads JSON texts one after the other and keeps its room for the next. It is not safe for concurrent use.
type scanner struct {
	data  []byte
	found []span     // by slot: the value of each field that was asked for and is there
	twice uint64     // by slot: the field was there more than once
	err   *JSONError // the first byte that is wrong
	good  []byte     // a _meta that has been read before, see checkMeta; it need not be read again
	names []name     // of the objects that are open, outermost first
	table []int32    // see duplicate
	seed  maphash.Seed
	spare [2][]byte // for names with escapes
	dup   int       // offset of a duplicate name, or -1
}

// scan reads one text. found has a place for each slot in want; the text may be changed once the answer is used.
// A duplicate name is no error of the text: it is left in dup, because the caller may still want to know the rest.
func (s *scanner) scan(data []byte, want []field, found []span) *JSONError {
	clear(found)
	s.data, s.found, s.twice, s.err, s.names, s.dup = data, found, 0, nil, s.names[:0], -1
	if end := s.value(skipSpace(data, 0), 0, want); end >= 0 {
		if end = skipSpace(data, end); end < len(data) {
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
	} else if s.dup >= 0 {
		return &JSONError{s.dup, "", ErrDuplicate}
	}
	return nil
}

// fail notes the first error and returns the position that means there was one.
func (s *scanner) fail(at int, err error, want string) int {
	s.err = &JSONError{at, want, err}
	return -1
}

// peek is the byte at i, or 0, which never fits, where there is none.
func (s *scanner) peek(i int) byte {
	if uint(i) < uint(len(s.data)) {
		return s.data[i]
	}
	return 0
}

// value reads the value that begins at i, inside depth open brackets, and returns the position after it, or -1.
func (s *scanner) value(i, depth int, want []field) int {
	switch c := s.peek(i); {
	case c == '"':
		end, _ := s.text(i)
		return end
	case c == '{' || c == '[':
		if depth == MaxDepth {
			return s.fail(i, ErrDepth, "")
		}
		return s.list(i, depth+1, want)
	case c == '-' || isDigit(c):
		return s.number(i)
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if bytes.HasPrefix(s.data[i:], []byte(word)) {
			return i + len(word)
		}
	}
	return s.fail(i, ErrSyntax, "a value")
}

// list reads an array or an object from its bracket on.
func (s *scanner) list(i, depth int, want []field) int {
	outer, kind, last := len(s.names), "array", s.data[i]+2 // ASCII has each pair of brackets two apart
	if last == '}' {
		kind = "object"
	}
	if first := skipSpace(s.data, i+1); s.peek(first) == last {
		return first + 1
	}
	for {
		if i = skipSpace(s.data, i+1); last == '}' {
			i = s.member(i, depth, want)
		} else {
			i = s.value(i, depth, nil)
		}
		if i < 0 {
			return -1
		}
		i = skipSpace(s.data, i)
		if c := s.peek(i); c == last {
			break
		} else if c != ',' {
			return s.fail(i, ErrSyntax, "a comma or the end of the "+kind)
		}
	}
	if s.dup < 0 {
		s.dup = s.duplicate(s.names[outer:])
	}
	s.names = s.names[:outer]
	return i + 1
}

// member reads a name, its colon and its value, and notes the value where it was asked for.
func (s *scanner) member(i, depth int, want []field) int {
	if s.peek(i) != '"' {
		return s.fail(i, ErrSyntax, "a member name in quotes")
	}
	end, escaped := s.text(i)
	if end < 0 {
		return -1
	}
	n := name{span{i + 1, end - 1}, escaped}
	s.names = append(s.names, n)
	if i = skipSpace(s.data, end); s.peek(i) != ':' {
		return s.fail(i, ErrSyntax, "a colon after the member name")
	}
	i = skipSpace(s.data, i+1)
	text := s.unescaped(n, 0) // compared exactly, with its case
	for k := range want {
		if f := &want[k]; f.name == string(text) {
			if f.slot == slotMeta && len(s.good) > 0 && bytes.HasPrefix(s.data[i:], s.good) {
				end = i + len(s.good)
			} else {
				end = s.value(i, depth, f.within)
			}
			if s.found[f.slot].to > 0 {
				s.twice |= 1 << f.slot
			}
			s.found[f.slot] = span{i, end}
			return end
		}
	}
	return s.value(i, depth, nil)
}

// plain has the bytes that stand for themselves inside a string; those from 0x80 on begin a longer sequence.
var plain = func() (p [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		p[c] = c != '"' && c != '\\'
	}
	return p
}()

// odd finds which of eight bytes are not plain, at the price of one: the first of them ends up with its top bit set, because
// that was set, or subtracting 0x20 borrows, or the byte equals a quote or a backslash. No byte before it does.
func odd(eight uint64) uint64 {
	const each, top = 0x0101010101010101, 0x8080808080808080
	return (eight | (eight - each*' ') | ((eight ^ each*'"') - each) | ((eight ^ each*'\\') - each)) & top
}

// text reads a string from its quote on, and reports whether it has escapes.
func (s *scanner) text(i int) (end int, escaped bool) {
	for i++; i < len(s.data); {
		for len(s.data)-i >= 8 {
			if first := odd(binary.LittleEndian.Uint64(s.data[i:])); first != 0 {
				i += bits.TrailingZeros64(first) / 8
				break
			}
			i += 8
		}
		switch c := s.peek(i); {
		case c == '"':
			return i + 1, escaped
		case plain[c] || i == len(s.data):
			i++
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
	return s.fail(len(s.data), ErrSyntax, "the closing quote of a string"), escaped
}

// escapeLetters are what may stand after a backslash, but for u; escapeBytes are what they mean.
const escapeLetters, escapeBytes = `"\/bfnrt`, "\"\\/\b\f\n\r\t"

// escape reads an escape from its backslash on. That \u escapes come in pairs is not demanded (RFC 8259, section 8.2).
func (s *scanner) escape(i int) int {
	if c := s.peek(i + 1); c != 'u' {
		if strings.IndexByte(escapeLetters, c) < 0 {
			return s.fail(i+1, ErrSyntax, `one of " \ / b f n r t u after a backslash`)
		}
		return i + 2
	}
	for j := i + 2; j < i+6; j++ {
		if strings.IndexByte("0123456789abcdefABCDEF", s.peek(j)) < 0 {
			return s.fail(j, ErrSyntax, `four hexadecimal digits after \u`)
		}
	}
	return i + 6
}

// number reads a number: no leading zeros, and a digit on each side of the decimal point.
func (s *scanner) number(i int) int {
	if s.data[i] == '-' {
		i++
	}
	if s.peek(i) != '0' {
		i = s.digits(i)
	} else {
		i++
	}
	if s.peek(i) == '.' { // not at -1: no byte is there
		i = s.digits(i + 1)
	}
	if s.peek(i)|0x20 == 'e' {
		if i++; s.peek(i) == '+' || s.peek(i) == '-' {
			i++
		}
		i = s.digits(i)
	}
	return i
}

func (s *scanner) digits(i int) int {
	if !isDigit(s.peek(i)) {
		return s.fail(i, ErrSyntax, "a digit")
	}
	for isDigit(s.peek(i)) {
		i++
	}
	return i
}

// duplicate gives the offset of the first name that equals one before it, or -1. The hash is seeded at random, so that
// nobody can choose names that collide, and the time is linear in the length of the names.
func (s *scanner) duplicate(names []name) int {
	if len(names) <= 12 { // each with each is faster than a hash table
		for i := range names {
			for j := range i {
				if s.same(names[i], names[j]) {
					return names[i].from
				}
			}
		}
		return -1
	}
	if s.table == nil {
		s.seed = maphash.MakeSeed()
	}
	size := 2 << bits.Len(uint(len(names)-1))
	s.table = slices.Grow(s.table[:0], size)[:size] // of indexes into names, plus one
	clear(s.table)
	for i, n := range names {
		at := int(maphash.Bytes(s.seed, s.unescaped(n, 0))) & (size - 1)
		for ; s.table[at] != 0; at = (at + 1) & (size - 1) {
			if s.same(n, names[s.table[at]-1]) {
				return n.from
			}
		}
		s.table[at] = int32(i + 1)
	}
	return -1
}

// same compares two names after undoing their escapes, without which most differ in length.
func (s *scanner) same(a, b name) bool {
	return (a.to-a.from == b.to-b.from || a.escaped || b.escaped) && string(s.unescaped(a, 0)) == string(s.unescaped(b, 1))
}

// unescaped gives a name without its escapes, in spare room of the given number where it has any.
func (s *scanner) unescaped(n name, room int) []byte {
	if n.escaped {
		s.spare[room] = appendUnescaped(s.spare[room][:0], s.data[n.from:n.to])
		return s.spare[room]
	}
	return s.data[n.from:n.to]
}

// maxKept is the most room, in entries, that a scanner keeps for the next text.
const maxKept = 1 << 12

// trim gives back the room that an unusual text has needed.
func (s *scanner) trim() {
	if cap(s.names) > maxKept || cap(s.table) > maxKept || cap(s.spare[0])+cap(s.spare[1]) > maxKept {
		s.names, s.table, s.spare = nil, nil, [2][]byte{}
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isSpace(c byte) bool { return c <= ' ' && (c == ' ' || c == '\n' || c == '\r' || c == '\t') }

// skipSpace gives the position of the first byte from i on that is no white space.
func skipSpace(data []byte, i int) int {
	for i < len(data) && isSpace(data[i]) {
		i++
	}
	return i
}

// trimSpace is data without the white space of JSON at its ends.
func trimSpace(data []byte) []byte { return bytes.Trim(data, " \t\r\n") }

// isObject, isText and so on look at the first byte of a value, which tells its kind. From here on the JSON is known to
// be good: a scanner has read it.
func isObject(value []byte) bool  { return len(value) > 0 && value[0] == '{' }
func isArray(value []byte) bool   { return len(value) > 0 && value[0] == '[' }
func isText(value []byte) bool    { return len(value) > 0 && value[0] == '"' }
func isNumber(value []byte) bool  { return len(value) > 0 && (value[0] == '-' || isDigit(value[0])) }
func isInteger(value []byte) bool { return isNumber(value) && parseDecimal(value).integer() }

// skip gives the position after the value that begins at i.
func skip(data []byte, i int) int {
	if c := data[i]; c != '"' && c != '{' && c != '[' {
		for i < len(data) && data[i] > ' ' && data[i] != ',' && data[i] != ']' && data[i] != '}' {
			i++
		}
		return i
	}
	for depth := 0; ; i++ {
		switch data[i] {
		case '"':
			i = skipText(data, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth == 0 {
			return i + 1
		}
	}
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

// nextItem goes from the end of an item to the start of the next, or to the closing bracket; and from a name's to its value.
func nextItem(data []byte, i int) int {
	for isSpace(data[i]) || data[i] == ',' || data[i] == ':' {
		i++
	}
	return i
}

// members goes through the members of an object, the names between their quotes, as written, and the values; or through
// the elements of an array, which have no names.
func members(list []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for i := skipSpace(list, 1); list[i] != list[0]+2; i = nextItem(list, i) {
			var name []byte
			if list[0] == '{' {
				end := skipText(list, i)
				name, i = list[i+1:end-1], nextItem(list, end)
			}
			from := i
			if i = skip(list, from); !yield(name, list[from:i]) {
				return
			}
		}
	}
}

// memberOf is the value of a member of an object, or nil; also where value is no object.
func memberOf(value []byte, name string) []byte {
	if value = trimSpace(value); isObject(value) {
		for n, v := range members(value) {
			if string(n) == name || bytes.IndexByte(n, '\\') >= 0 && string(appendUnescaped(nil, n)) == name {
				return v
			}
		}
	}
	return nil
}

// unquote gives the Go string of a JSON string. What UTF-8 cannot hold, a lone surrogate, is in it as three bytes that
// UTF-8 does not allow (the encoding known as WTF-8), so that two strings are equal exactly when their JSON is.
func unquote(text []byte) string { return string(appendUnescaped(nil, text[1:len(text)-1])) }

// appendUnescaped appends what stands between the quotes of a string, without its escapes; see unquote.
func appendUnescaped(dst, text []byte) []byte {
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:i]...)
		if c := text[i+1]; c != 'u' {
			dst = append(dst, escapeBytes[strings.IndexByte(escapeLetters, c)])
			text = text[i+2:]
			continue
		}
		r := hexRune(text[i:])
		text = text[i+6:]
		if pair := utf16.DecodeRune(r, hexRune(text)); pair != utf8.RuneError {
			r, text = pair, text[6:]
		}
		if utf16.IsSurrogate(r) {
			dst = append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
		} else {
			dst = utf8.AppendRune(dst, r)
		}
	}
}

// hexRune is the UTF-16 code unit of a \u escape at the start of text, or -1 where none is there.
func hexRune(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	n, _ := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(n)
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
		escape := ""
		if letter := strings.IndexByte(escapeBytes, s[i]); letter >= 0 {
			escape = `\` + escapeLetters[letter:letter+1]
		} else if r < ' ' || r == '\u2028' || r == '\u2029' {
			escape = fmt.Sprintf(`\u%04x`, r)
		} else if r == utf8.RuneError {
			escape = "\uFFFD"
		}
		if escape != "" {
			dst = append(append(dst, s[from:i]...), escape...)
			from = i + size
		}
		i += size
	}
	return append(append(dst, s[from:]...), '"')
}

// appendCompact appends a JSON value without the white space between its tokens, and with U+2028 and U+2029, which only
// strings can have, as escapes; else as it is, digit by digit and escape by escape.
func appendCompact(dst, value []byte) []byte {
	return appendTokens(dst, escapeSeparators(value), false)
}

func escapeSeparators(value []byte) []byte {
	if bytes.Contains(value, []byte("\u2028"[:2])) {
		value = bytes.ReplaceAll(value, []byte("\u2028"), []byte(`\u2028`))
		value = bytes.ReplaceAll(value, []byte("\u2029"), []byte(`\u2029`))
	}
	return value
}

// appendPlainIntegers appends a JSON value with its integers written in digits alone, up to the largest that Go has a type
// for. JSON Schema takes 3.0 and 3e0 for integers (Validation 6.1.1), encoding/json does not.
func appendPlainIntegers(dst, value []byte) []byte { return appendTokens(dst, value, true) }

func appendTokens(dst, value []byte, plainIntegers bool) []byte {
	for i := skipSpace(value, 0); i < len(value); i = skipSpace(value, i) {
		from := i
		if i++; value[from] == '"' || isNumber(value[from:]) { // else a bracket, a comma or a letter
			i = skip(value, from)
		}
		token := value[from:i]
		if plainIntegers && isInteger(token) {
			if d := parseDecimal(token); d.sign() == 0 {
				token = []byte("0")
			} else if d.point <= 20 { // the digits of a uint64
				token = append(d.appendDigits(nil), bytes.Repeat([]byte("0"), int(d.point)-d.count)...)
			}
		}
		dst = append(dst, token...)
	}
	return dst
}

// appendCanonical appends the one text that all ways to write a JSON value share: without white space and escapes, numbers
// by their value, members in one order. Two values are equal, as JSON Schema and this package see it, exactly when these
// texts are. The value begins at data[i]; end is the position after it, so that every byte is read once.
func appendCanonical(dst, data []byte, i int) (text []byte, end int) {
	return (&canonical{data: data}).append(dst, i)
}

// A canonical makes canonical texts. If it has a map, it notes those of long arrays and objects, and reads none twice.
type canonical struct {
	data  []byte
	known map[int]known // by where they begin
	work  int           // grows with the bytes read
}

type known struct {
	text string
	end  int
}

// maxPlain is the longest canonical array or object that stands for itself; a longer one is replaced by its SHA-256, so
// that no byte is moved or kept once more for every bracket around it.
const maxPlain = 64

func (c *canonical) append(dst []byte, i int) (text []byte, end int) {
	start, from, first := len(dst), i, c.data[i]
	if k, found := c.known[i]; found {
		return append(dst, k.text...), k.end
	}
	if first != '{' && first != '[' {
		end = skip(c.data, i)
		c.work += (end-i)/4 + 1
		return appendCanonicalScalar(dst, c.data[i:end]), end
	}
	dst = append(dst, first)
	var sorted []span
	for i = skipSpace(c.data, i+1); c.data[i] != first+2; i = nextItem(c.data, i) {
		item := len(dst)
		if first == '{' {
			end = skipText(c.data, i)
			dst = appendCanonicalScalar(dst, c.data[i:end])
			i = nextItem(c.data, end)
		}
		dst, i = c.append(dst, i)
		if dst = append(dst, ','); first == '{' {
			sorted = append(sorted, span{item, len(dst)})
		}
	}
	order := func(a, b span) int { return bytes.Compare(dst[a.from:a.to], dst[b.from:b.to]) }
	if !slices.IsSortedFunc(sorted, order) {
		slices.SortFunc(sorted, order)
		written := slices.Clone(dst[start:]) // no more than the object: what is before it may be long
		dst = dst[:start+1]
		for _, m := range sorted {
			dst = append(dst, written[m.from-start:m.to-start]...)
		}
	}
	dst = append(dst, first+2)
	if len(dst)-start > maxPlain {
		sum := sha256.Sum256(dst[start:])
		dst = append(append(dst[:start], '#'), sum[:]...)
		if c.known != nil && len(c.known) < maxRemembered {
			c.known[from] = known{string(dst[start:]), i + 1}
		}
	}
	return dst, i + 1
}

// appendCanonicalScalar appends a string by its length, so that nothing in it needs an escape, and a number by its value.
func appendCanonicalScalar(dst, value []byte) []byte {
	if isNumber(value) {
		return parseDecimal(value).appendTo(dst)
	} else if !isText(value) {
		return append(dst, value...)
	}
	if value = value[1 : len(value)-1]; bytes.IndexByte(value, '\\') >= 0 {
		value = appendUnescaped(nil, value)
	}
	return append(append(strconv.AppendInt(append(dst, '"'), int64(len(value)), 10), ':'), value...)
}

// maxClientText is how many bytes of a client's text are sent back in an error.
const maxClientText = 64

// clip cuts a text to maxClientText bytes, at the start of a rune, and says so with an ellipsis.
func clip(s string) string {
	if len(s) <= maxClientText {
		return s
	}
	end := maxClientText - len("…")
	for !utf8.RuneStart(s[end]) && end > 0 {
		end--
	}
	return s[:end] + "…"
}

// appendClientText appends a client's JSON string, clipped, as it was written where that is not too long.
func appendClientText(dst, text []byte) []byte {
	if len(text) <= maxClientText+2 {
		return appendCompact(dst, text)
	}
	return appendText(dst, clientText(text))
}

// clientText gives a JSON string for use in an error: clipped, and with lone surrogates, of three bytes, as escapes.
func clientText(text []byte) string {
	s := clip(unquote(text))
	for i := 0; i < len(s); i++ {
		if s[i] == 0xED && s[i+1] >= 0xA0 {
			s = fmt.Sprintf(`%s\u%x%s`, s[:i], 0xD000|int(s[i+1]&0x3F)<<6|int(s[i+2]&0x3F), s[i+3:])
		}
	}
	return clip(s)
}

// An encoder writes an object member by member, and keeps the first error.
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

// member begins a member, whose name needs no escapes, and gives what its value is appended to.
func (e *encoder) member(name string) []byte {
	e.item(`"`)
	return append(append(e.buf, name...), `":`...)
}

func (e *encoder) open(name string, bracket byte) { e.buf = append(e.member(name), bracket) }
func (e *encoder) close(bracket byte)             { e.buf = append(e.buf, bracket) }
func (e *encoder) text(name, text string)         { e.buf = appendText(e.member(name), text) }
func (e *encoder) json(name string, value []byte) { e.buf = append(e.member(name), value...) }

// option writes a text unless it is empty.
func (e *encoder) option(name, text string) {
	if text != "" {
		e.text(name, text)
	}
}

// raw writes JSON that comes from a tool, unless there is none, after a check, also of its type.
func (e *encoder) raw(name string, value []byte, want types) {
	if len(value) == 0 {
		return
	}
	value = mendUTF8(value)
	err := checkJSON(value)
	if value = trimSpace(value); err != nil {
		e.fail(fmt.Errorf("%s: %w", name, err))
	} else if typeOf[value[0]]&want == 0 {
		e.fail(fmt.Errorf("%s: expected %v, got %s", name, want, appendShown(nil, value)))
	} else {
		e.buf = appendCompact(e.member(name), value)
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
