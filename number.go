// number.go: JSON numbers as the exact decimals that they write, whatever their size.
//
// Ids are compared by value (mcp.go) and so are the numbers of schemas (schema.go); a float64 would take 2^53+1 for
// 2^53 and 1e400 for infinity. Here no exponent is ever expanded: the cost grows with the length of the text alone.
// Read after json.go, or on the way to whoever compares numbers.

package mcp

import (
	"bytes"
	"cmp"
	"math"
	"math/bits"
	"strconv"
)

// A decimal is the value of a JSON number, taken apart: 0.d1d2d3... times ten to the power of point, where d1, d2, d3
// are the significant digits, without zeros before the first or after the last. Zero has no digits.
type decimal struct {
	negative bool
	digits   []byte // a slice of the number's text, maybe with the decimal point still in it
	count    int    // of digits, the decimal point left out
	point    int64  // the exponent, where it fits
	wide     []byte // the exponent as text, where it has more than pointDigits digits
}

// pointDigits is how long an exponent may be to be kept as an int64, with room to add a number of digits to it.
const pointDigits = 18

// parseDecimal takes apart the text of a number that is known to be JSON.
func parseDecimal(text []byte) decimal {
	var d decimal
	if text[0] == '-' {
		d.negative, text = true, text[1:]
	}
	mantissa, exponent := text, []byte(nil)
	for i, c := range text {
		if c == 'e' || c == 'E' {
			mantissa, exponent = text[:i], text[i+1:]
			break
		}
	}
	whole := bytes.IndexByte(mantissa, '.') // digits before the decimal point
	if whole < 0 {
		whole = len(mantissa)
	}
	first, last := 0, len(mantissa)
	for first < last && (mantissa[first] == '0' || mantissa[first] == '.') {
		first++
	}
	for last > first && (mantissa[last-1] == '0' || mantissa[last-1] == '.') {
		last--
	}
	if first == last {
		return decimal{} // zero, also -0 and 0e9: all one value
	}
	d.digits, d.count = mantissa[first:last], last-first
	d.point = int64(whole - first)
	if first > whole {
		d.point++ // the decimal point itself is no digit
	}
	if first < whole && whole < last {
		d.count--
	}
	d.addExponent(exponent)
	return d
}

// addExponent adds the exponent of a number, as written after its e, to the point.
func (d *decimal) addExponent(text []byte) {
	if len(text) == 0 {
		return
	}
	down := text[0] == '-'
	if down || text[0] == '+' {
		text = text[1:]
	}
	text = bytes.TrimLeft(text, "0")
	if len(text) > pointDigits {
		d.wide = addWide(down, text, d.point)
		if text = bytes.TrimLeft(d.wide, "-"); len(text) > pointDigits {
			return
		}
		d.point, d.wide = 0, nil // the sum is shorter: one value, one form
	}
	n, _ := strconv.ParseInt(string(text), 10, 64) // at most 18 digits; "" gives 0
	if down {
		n = -n
	}
	if d.point += n; d.point >= 1e18 || d.point <= -1e18 {
		d.wide = strconv.AppendInt(nil, d.point, 10)
	}
}

// addWide is the sum of n and of an integer of more than pointDigits digits, as text with a '-' where it is
// negative. |n| is far below the integer, so that the sign stays.
func addWide(negative bool, digits []byte, n int64) []byte {
	if negative {
		n = -n
	}
	sum := make([]byte, len(digits)+2)
	i := len(sum)
	for j := len(digits) - 1; j >= 0 || n > 0; j-- {
		if j >= 0 {
			n += int64(digits[j] - '0')
		}
		digit := n % 10
		n /= 10
		if digit < 0 { // borrow
			digit, n = digit+10, n-1
		}
		i--
		sum[i] = byte('0' + digit)
	}
	sum = bytes.TrimLeft(sum[i:], "0")
	if negative {
		return append([]byte{'-'}, sum...)
	}
	return sum
}

// isDigits reports whether a number is written with digits alone, as most are.
func isDigits(text []byte) bool {
	for _, c := range text {
		if !isDigit(c) {
			return false
		}
	}
	return true
}

// integer reports whether d has no fraction: 1.0 and 1e2 are integers, 0.5 is not.
func (d decimal) integer() bool {
	if d.wide != nil {
		return d.wideSign() > 0
	}
	return d.point >= int64(d.count)
}

// sign is -1, 0 or +1.
func (d decimal) sign() int {
	switch {
	case len(d.digits) == 0:
		return 0
	case d.negative:
		return -1
	}
	return 1
}

// compare gives -1, 0 or +1 as d is less than, equal to or greater than e.
func (d decimal) compare(e decimal) int {
	if d.sign() != e.sign() {
		return cmp.Compare(d.sign(), e.sign())
	}
	c := comparePoints(d, e)
	if c == 0 {
		c = compareDigits(d.digits, e.digits)
	}
	return d.sign() * c
}

// comparePoints compares two exponents; a wide one is beyond all that are not.
func comparePoints(d, e decimal) int {
	switch side := d.wideSign(); {
	case side != e.wideSign():
		return cmp.Compare(side, e.wideSign())
	case side == 0:
		return cmp.Compare(d.point, e.point)
	case len(d.wide) != len(e.wide):
		return side * cmp.Compare(len(d.wide), len(e.wide))
	default:
		return side * bytes.Compare(d.wide, e.wide)
	}
}

// wideSign is the sign of a wide exponent, or 0.
func (d decimal) wideSign() int {
	switch {
	case d.wide == nil:
		return 0
	case d.wide[0] == '-':
		return -1
	}
	return 1
}

// compareDigits compares two runs of significant digits as fractions, passing over decimal points.
func compareDigits(a, b []byte) int {
	i, j := 0, 0
	for {
		if i < len(a) && a[i] == '.' {
			i++
		}
		if j < len(b) && b[j] == '.' {
			j++
		}
		switch {
		case i == len(a) && j == len(b):
			return 0
		case i == len(a):
			return -1 // what is left of b does not end in 0
		case j == len(b):
			return 1
		case a[i] != b[j]:
			return cmp.Compare(a[i], b[j])
		}
		i, j = i+1, j+1
	}
}

// appendTo appends the one text that all numbers of this value share.
func (d decimal) appendTo(dst []byte) []byte {
	if d.sign() == 0 {
		return append(dst, '0')
	}
	if d.negative {
		dst = append(dst, '-')
	}
	for _, c := range d.digits {
		if c != '.' {
			dst = append(dst, c)
		}
	}
	dst = append(dst, 'e')
	if d.wide != nil {
		return append(dst, d.wide...)
	}
	return strconv.AppendInt(dst, d.point, 10)
}

// maxDivisorDigits bounds the significant digits of a divisor, so that the arithmetic below stays within 64 bits.
const maxDivisorDigits = 18

// appendPlain appends an integer in digits alone, for one that is known to be short.
func (d decimal) appendPlain(dst []byte) []byte {
	if d.sign() == 0 {
		return append(dst, '0')
	}
	if d.negative {
		dst = append(dst, '-')
	}
	dst = append(dst, bytes.ReplaceAll(d.digits, []byte("."), nil)...)
	return append(dst, bytes.Repeat([]byte("0"), int(d.point)-d.count)...)
}

// divisor reports whether multipleOf takes d for m.
func (d decimal) divisor() bool {
	return d.sign() > 0 && d.wide == nil && d.count <= maxDivisorDigits
}

// multipleOf reports whether d is an integer times m, for an m that is a divisor.
//
// With D and M the digits of the two as integers, d/m is D/M times a power of ten. Where that power is negative the
// answer is no, because D does not end in 0. Else D times the power has to be divisible by M: a remainder, taken digit
// by digit, first those of D, then those of the power.
func (d decimal) multipleOf(m decimal) bool {
	if d.sign() == 0 {
		return true
	}
	last := m.point - int64(m.count) + int64(d.count)
	power := strconv.AppendInt(nil, d.point-last, 10)
	if d.wide != nil {
		power = addWide(d.wideSign() < 0, bytes.TrimLeft(d.wide, "-"), -last)
	}
	if power[0] == '-' {
		return false
	}
	modulus := digitsModulo(m.digits, math.MaxUint64)
	return multiplyModulo(digitsModulo(d.digits, modulus), powerOfTen(power, modulus), modulus) == 0
}

// digitsModulo is the remainder of a run of digits by m, which is at most 10^18 or larger than the digits.
func digitsModulo(digits []byte, m uint64) (rest uint64) {
	for _, c := range digits {
		if c != '.' {
			rest = (rest*10 + uint64(c-'0')) % m
		}
	}
	return rest
}

// powerOfTen is the remainder of 10^exponent by m; the exponent is text, read digit by digit: 10^(10a+b) is
// (10^a)^10 times 10^b.
func powerOfTen(exponent []byte, m uint64) uint64 {
	power := 1 % m
	for _, c := range exponent {
		tenth, once := power, power
		for range 9 {
			tenth = multiplyModulo(tenth, once, m)
		}
		power = tenth
		for range c - '0' {
			power = multiplyModulo(power, 10, m)
		}
	}
	return power
}

// multiplyModulo is the remainder of a times b by m.
func multiplyModulo(a, b, m uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return bits.Rem64(high, low, m)
}
