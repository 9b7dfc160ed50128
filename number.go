// number.go: JSON numbers as the exact decimals that they write, whatever their size.
//
// Ids are compared by value (mcp.go), and so are the numbers of schemas (JSON Schema Core 4.2.2): a float64 would take
// 2^53+1 for 2^53. No exponent is ever expanded: the cost grows with the length of the text alone. Read
// after pattern.go; next is legacy.go.

package mcp

import (
	"bytes"
	"cmp"
	"strconv"
)

// A decimal is the value of a JSON number, taken apart: 0.d1d2d3... times ten to the power of point, where d1, d2, d3
// are the significant digits, without zeros before the first or after the last. Zero has no digits.
type decimal struct {
	negative bool
	digits   []byte // a slice of the number's text, maybe with the decimal point still in it
	count    int    // of digits, the decimal point left out
	point    int64  // the exponent; for all that are wide the same, farther out than any other
	wide     []byte // the exponent as text, without its sign, where it is 10^18 or more
}

const (
	beyond           = 1 << 62 // the point of longer ones above 0, with room to add counts of digits to it
	maxDivisorDigits = 18      // of a divisor in multipleOf, so that the arithmetic stays within 64 bits
)

// parseDecimal takes apart the text of a number that is known to be JSON.
func parseDecimal(text []byte) decimal {
	first, last, dot, end := -1, -1, len(text), len(text) // the outermost digits that are not 0, the decimal point, the e
	for i, c := range text {
		if '1' <= c && c <= '9' {
			if last = i; first < 0 {
				first = i
			}
		} else if c == '.' {
			dot = i
		} else if c|0x20 == 'e' {
			end, dot = i, min(dot, i)
			break
		}
	}
	if first < 0 {
		return decimal{} // zero, also -0 and 0e9: all one value
	}
	d := decimal{negative: text[0] == '-', digits: text[first : last+1], count: last + 1 - first, point: int64(dot - first)}
	if first > dot {
		d.point++ // the decimal point itself is no digit
	} else if last > dot {
		d.count--
	}
	if end < len(text) {
		d.scale(text[end+1:])
	}
	return d
}

// scale adds the exponent that a number is written with to the point.
func (d *decimal) scale(exponent []byte) {
	shift := d.point // a position in a text, so that it never changes the sign of a wide exponent
	n, err := strconv.ParseInt(string(exponent), 10, 64)
	if d.point += n; err == nil && -1e18 < d.point && d.point < 1e18 { // a sum that wraps around is not between
		return
	}
	d.point = beyond
	if exponent[0] == '-' {
		d.point, shift = -beyond, -shift
	}
	d.wide = append([]byte("0"), bytes.TrimLeft(exponent, "+-0")...)
	for i := len(d.wide) - 1; shift != 0; i-- {
		shift += int64(d.wide[i] - '0')
		digit := (shift%10 + 10) % 10
		d.wide[i], shift = byte('0'+digit), (shift-digit)/10
	}
	d.wide = bytes.TrimLeft(d.wide, "0")
}

// integer reports whether d has no fraction: 1.0 and 1e2 are integers, 0.5 is not.
func (d decimal) integer() bool { return d.point >= int64(d.count) }

// sign is -1, 0 or +1.
func (d decimal) sign() int {
	if d.negative {
		return -1
	}
	return min(1, len(d.digits))
}

// compare gives -1, 0 or +1 as d is less than, equal to or greater than e.
func (d decimal) compare(e decimal) int {
	sign := d.sign()
	if c := cmp.Compare(sign, e.sign()); c != 0 {
		return c
	} else if d.point != e.point {
		return sign * cmp.Compare(d.point, e.point)
	} else if c = cmp.Or(cmp.Compare(len(d.wide), len(e.wide)), bytes.Compare(d.wide, e.wide)); c != 0 {
		return sign * c * cmp.Compare(d.point, 0)
	}
	var left, right [32]byte // room for the digits of ordinary numbers
	return sign * bytes.Compare(d.appendDigits(left[:0]), e.appendDigits(right[:0]))
}

// appendDigits appends the significant digits, after a minus where the number is negative.
func (d decimal) appendDigits(dst []byte) []byte {
	if d.negative {
		dst = append(dst, '-')
	}
	whole, fraction, _ := bytes.Cut(d.digits, []byte("."))
	return append(append(dst, whole...), fraction...)
}

// appendTo appends the one text that all numbers of this value share.
func (d decimal) appendTo(dst []byte) []byte {
	dst = append(d.appendDigits(dst), 'e')
	if d.wide == nil {
		return strconv.AppendInt(dst, d.point, 10)
	}
	if d.point < 0 {
		dst = append(dst, '-')
	}
	return append(dst, d.wide...)
}

// divisor reports whether multipleOf takes d for m: one above 0, with an exponent that is not near the wide ones.
func (d decimal) divisor() bool {
	return d.sign() > 0 && d.count <= maxDivisorDigits && max(d.point, -d.point) < 1e17
}

// multipleOf reports whether d is an integer times m, for an m that is a divisor: with D and M the digits of the two as
// integers, whether D times a power of ten is one of M. Where that power is negative it is not, because D does not end in
// 0; and one above 60 is as good as 60, because M, below 2^60, has no more factors 2 or 5 than that.
func (d decimal) multipleOf(m decimal) bool {
	power := d.point - int64(d.count) - (m.point - int64(m.count))
	if d.sign() == 0 || power < 0 {
		return d.sign() == 0
	}
	modulus, _ := strconv.ParseUint(string(m.appendDigits(make([]byte, 0, maxDivisorDigits))), 10, 64)
	rest := uint64(0)
	for _, c := range d.digits {
		if c != '.' {
			rest = (rest*10 + uint64(c-'0')) % modulus
		}
	}
	for range min(power, 60) {
		rest = rest * 10 % modulus
	}
	return rest == 0
}
