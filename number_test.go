package mcp

import (
	"slices"
	"strings"
	"testing"
)

// TestDecimalCompare has groups of numbers in ascending order; those of one group are equal, and so are their
// canonical texts.
func TestDecimalCompare(t *testing.T) {
	groups := [][]string{
		{"-1e99999999999999999999", "-10e99999999999999999998"},
		{"-1e401"}, {"-1e400"},
		{"-9007199254740993"}, {"-9007199254740992"},
		{"-1.01"}, {"-1", "-1.0", "-10e-1", "-0.001e3"},
		{"-1e-400"}, {"-1e-99999999999999999999"},
		{"0", "-0", "0.0", "0e9", "-0.00E-99999999999999999999"},
		{"1e-99999999999999999999", "0.01e-99999999999999999997"},
		{"1e-999999999999999999"}, {"1e-400"},
		{"0.1", "1e-1", "0.10"}, {"0.3"},
		{"1", "1.0", "10e-1", "0.001E+3", "1e0", "1e-0"}, {"1.0000000000000000000001"},
		{"9007199254740992"}, {"9007199254740993", "9007199254740.993e3"},
		{"123456789012345678901234567890", "1.2345678901234567890123456789e29"},
		{"1e400", "10e399"}, {"1e401"},
		{"1e999999999999999999", "10e999999999999999998", "0.1e1000000000000000000"},
		{"1e1000000000000000000", "10e999999999999999999"},
		{"1e1000000000000000018"}, {"1e1000000000000000019", "1000000000e1000000000000000010"},
		{"1e9223372036854775808", "10e9223372036854775807"}, {"10e9223372036854775808"},
		{"1e99999999999999999999", "10e99999999999999999998", "0.001e100000000000000000002"},
		{"2e99999999999999999999"},
		{"1e100000000000000000000"},
	}
	for i, group := range groups {
		for j, other := range groups {
			for _, a := range group {
				for _, b := range other {
					d, e := parseDecimal([]byte(a)), parseDecimal([]byte(b))
					if got, want := d.compare(e), sign(i-j); got != want {
						t.Errorf("%s compares with %s as %d, want %d", a, b, got, want)
					}
					if x, y := string(d.appendTo(nil)), string(e.appendTo(nil)); (x == y) != (i == j) {
						t.Errorf("the canonical texts of %s and %s are %s and %s", a, b, x, y)
					}
				}
			}
		}
	}
}

func sign(n int) int { return max(-1, min(1, n)) }

func TestDecimalInteger(t *testing.T) {
	for number, want := range map[string]bool{
		"0": true, "-0.0": true, "1": true, "1.0": true, "1.5": false, "1.5e1": true, "15e-1": false, "10e-1": true, "0.1": false,
		"1e400": true, "1e-400": false, "1.5e99999999999999999999": true, "1e-99999999999999999999": false,
		"100e-2": true, "100e-3": false, "123.4560e3": true, "123.4567e3": false,
	} {
		if got := parseDecimal([]byte(number)).integer(); got != want {
			t.Errorf("integer of %s is %v", number, got)
		}
	}
}

func TestDecimalMultipleOf(t *testing.T) {
	for _, test := range []struct {
		number, of string
		want       bool
	}{
		{"0", "7", true}, {"14", "7", true}, {"-14", "7", true}, {"15", "7", false},
		{"0.3", "0.1", true}, {"0.35", "0.1", false}, {"1.1", "0.01", true}, {"19.99", "0.01", true}, {"0.0075", "0.0001", true},
		{"1e308", "0.01", true}, {"1e-400", "0.01", false}, {"1e999999999", "0.01", true}, {"1", "1e-999999999", true},
		{"1e99999999999999999999", "3", false}, {"3e99999999999999999999", "3", true}, {"1e99999999999999999999", "256", true},
		{"1e-99999999999999999999", "3", false}, {"7.5", "2.5", true}, {"100", "1e3", false}, {"1e3", "1e2", true},
		{"999999999999999999999999999999", "999999999999999999", false}, {"999999999999999999000000000000000000", "999999999999999999", true},
		{"1.00001e999999999999999999", "1e99999999999999998", true}, {"1.00001e99999999999999999", "1e99999999999999998", false},
		{"1e-1000000000000000000", "1e-99999999999999999", false}, {"3e288230376151711744", "576460752303423488", true},
		{"1e59", "576460752303423488", true}, {"1e58", "576460752303423488", false}, {"1e76", "576460752303423488", true},
		{"1" + strings.Repeat("0", 1000), "7", false}, {"7" + strings.Repeat("0", 1000), "7", true},
	} {
		m := parseDecimal([]byte(test.of))
		if !m.divisor() {
			t.Errorf("%s is no divisor", test.of)
		} else if got := parseDecimal([]byte(test.number)).multipleOf(m); got != test.want {
			t.Errorf("%s a multiple of %s: %v", test.number, test.of, got)
		}
	}
}

// TestDecimalDivisor tests what can be divided by at its edge: 18 digits, and one past it; and exponents below
// 10^17, on both sides.
func TestDecimalDivisor(t *testing.T) {
	for number, want := range map[string]bool{
		"1": true, "0.1": true, "123456789012345678": true, "1234567890123456789": false, "1234567890123456780": true,
		"0": false, "-1": false, "1e999999999": true, "1e99999999999999999999": false,
		"1e99999999999999998": true, "1e99999999999999999": false, "1e-99999999999999998": true, "1e-100000000000000001": false,
	} {
		if got := parseDecimal([]byte(number)).divisor(); got != want {
			t.Errorf("divisor of %s is %v", number, got)
		}
	}
}

// TestDecimalKeepsText shows that no exponent is ever expanded: a value is as long as its text.
func TestDecimalKeepsText(t *testing.T) {
	numbers := []string{"1e999999999", "1e-999999999", "1e" + strings.Repeat("9", 100)}
	for _, number := range numbers {
		if text := parseDecimal([]byte(number)).appendTo(nil); len(text) > len(number)+2 {
			t.Errorf("%s became %d bytes", number, len(text))
		}
	}
	if !slices.IsSortedFunc(numbers[1:], func(a, b string) int { return parseDecimal([]byte(a)).compare(parseDecimal([]byte(b))) }) {
		t.Error("1e-999999999 is above 1e999...")
	}
}
