package mcp

import (
	"strings"
	"testing"
)

// TestPatterns shows what the expressions of ECMA-262 match, in Go's words. Matches and others are separated by spaces;
// \u0020 stands for a space.
func TestPatterns(t *testing.T) {
	for _, test := range []struct {
		rule, pattern string
		matches       []string
		others        []string
	}{
		{"an expression is found anywhere", `b`, []string{"abc"}, []string{"ac", ""}},
		{"an empty one everywhere", ``, []string{"", "a"}, nil},
		{"^ and $ are the ends of the text, not of lines", `^a$`, []string{"a"}, []string{"a\n", "b\na"}},
		{". is anything but the end of a line", `^.$`, []string{"a", "é", "😀", "\u0085", "\v"}, []string{"\n", "\r", "\u2028", "\u2029", "ab"}},
		{`\d is ASCII`, `^\d$`, []string{"0"}, []string{"߀", "a"}},
		{`\D is not`, `^\D$`, []string{"߀", "a"}, []string{"0"}},
		{`\w is ASCII`, `^\w$`, []string{"a", "_"}, []string{"é", "-", "ſ"}},
		{`\s is Unicode`, `^\s$`, []string{" ", "\t", "\v", "\u00a0", "\ufeff", "\u2003", "\u2029", "\u3000"}, []string{"a", "\u0085", "\u200b", "\u180e"}},
		{`\S is the rest`, `^\S$`, []string{"a", "\u0085", "\u200b", "😀"}, []string{" ", "\v", "\ufeff"}},
		{`\s in a class`, `^[\s\d]$`, []string{"\ufeff", "1"}, []string{"a"}},
		{`\S in a class that is turned round`, `^[^\S]$`, []string{" "}, []string{"a"}},
		{`\D in a class`, `^[\D5]$`, []string{"a", "5"}, []string{"4"}},
		{`\b is a border of words`, `\bcat\b`, []string{"a cat."}, []string{"cats"}},
		{`\b in a class is a backspace`, `^[\b]$`, []string{"\b"}, []string{"b"}},
		{"characters by number", `^\x41\u0042\u{43}\u{1F600}\ud83d\ude00$`, []string{"ABC😀😀"}, nil},
		{"control characters", `^\t\n\v\f\r\0\cA\ca$`, []string{"\t\n\v\f\r\x00\x01\x01"}, nil},
		{"escaped punctuation", `^\/\.\*\+\?\(\)\[\]\{\}\|\^\$\\\-\@$`, []string{`/.*+?()[]{}|^$\-@`}, nil},
		{"groups, also named", `^(a)(?:b)(?<x>c)+$`, []string{"abcc"}, []string{"ab"}},
		{"counts", `^a{2}b{1,}c{0,2}d{02}$`, []string{"aabdd", "aabbccdd"}, []string{"abdd", "aabcccdd"}},
		{"lazy repeats", `^a+?b*?c??d{1,2}?$`, []string{"aabcd", "add"}, []string{"b"}},
		{"alternatives", `^(a|b|)$`, []string{"a", "b", ""}, []string{"c"}},
		{"an empty class is nothing, [^] is anything", `^[^]$|[]`, []string{"\n", "a"}, []string{"", "ab"}},
		{"brackets mean nothing inside a class", `^[[:a]$`, []string{"[", ":", "a"}, []string{"l"}},
		{"a - at the end of a class", `^[a-c-]$`, []string{"b", "-"}, []string{"d"}},
		{"general categories", `^\p{L}\p{Lu}\p{Letter}\p{gc=Nd}\p{General_Category=digit}$`, []string{"éÉa৪2"}, []string{"1Éa৪2"}},
		{"scripts", `^\p{Script=Greek}\p{sc=Latin}\P{Script=Greek}$`, []string{"αaa"}, []string{"aaa"}},
		{"a property in a class", `^[\p{Lu}\d]+$`, []string{"É1"}, []string{"é"}},
		{"all and ASCII", `^\p{ASCII}\p{Any}$`, []string{"aé"}, []string{"éa"}},
		{"what Go would read as flags or quotes does not come up", `^[\^\-a]$`, []string{"^", "-", "a"}, []string{"b"}},
	} {
		t.Run(test.rule, func(t *testing.T) {
			re, err := compilePattern(test.pattern)
			if err != nil {
				t.Fatalf("%s: %v", test.pattern, err)
			}
			for _, text := range test.matches {
				if !re.Match(standIns([]byte(text))) {
					t.Errorf("%s does not match %q", test.pattern, text)
				}
			}
			for _, text := range test.others {
				if re.Match(standIns([]byte(text))) {
					t.Errorf("%s matches %q", test.pattern, text)
				}
			}
		})
	}
}

func TestPatternRefusals(t *testing.T) {
	linear := "cannot be matched in linear time"
	for _, test := range []struct{ rule, pattern, want string }{
		{"look-ahead", `(?=a)`, linear}, {"look-ahead, turned round", `(?!a)`, linear},
		{"look-behind", `(?<=a)`, linear}, {"look-behind, turned round", `(?<!a)`, linear},
		{"back reference", `(a)\1`, linear}, {"back reference by name", `(?<x>a)\k<x>`, linear},
		{"flags", `(?i)a`, "not supported"}, {"flags of a group", `(?i:a)`, "not supported"}, {"a name of RE2", `(?P<x>a)`, "not supported"},
		{`\A`, `\Aa`, "not ECMA-262"}, {`\z`, `a\z`, "not ECMA-262"}, {`\Q`, `\Qa\E`, "not ECMA-262"}, {`\a`, `\a`, "not ECMA-262"},
		{`\p of one letter`, `\pL`, "not ECMA-262"}, {"an unknown property", `\p{Emoji}`, "that Go knows"}, {"a script alone", `\p{Greek}`, "that Go knows"},
		{"a lone {", `a{`, "begins no count"}, {"a count without its start", `a{,2}`, "begins no count"}, {"a lone }", `}`, "is written"}, {"a lone ]", `]`, "is written"},
		{"nothing to repeat", `*a`, "nothing before it"}, {"repeated border", `\b+`, "nothing before it"}, {"repeated twice", `a**`, "nothing before it"},
		{"more than 1000 repeats", `a{1001}`, "more than Go's regexp takes"}, {"the same by nesting", `((a{100}){100}){100}`, "more than Go's regexp takes"},
		{"a range with a set", `[\w-a]`, "a range in a class"}, {"a range that goes down", `[b-a]`, "class range"}, {"a range to a set", `[a-\s]`, "a range in a class"},
		{"an open class", `[a`, "has no end"}, {"an open group", `(a`, "missing closing"}, {"a group closed too often", `a)`, "unexpected )"},
		{"nothing after a backslash", `a\`, "has nothing after it"}, {"half a number", `\x4`, "not ECMA-262"}, {"too high a number", `\u{110000}`, "invalid escape"},
		{"an octal escape", `\01`, "not ECMA-262"}, {"a script by the wrong key", `\p{gc=Greek}`, "that Go knows"}, {"an unknown key", `\p{scx=Greek}`, "that Go knows"},
		{"a backslash before a number", `\\ud83d\ude00`, "lone surrogates"},
		{"a group whose name is a number", `(?<1>a)`, "a group's name"}, {"one without a name", `(?<>a)`, "a group's name"}, {"two of one name", `(?<x>a)(?<x>b)`, "two groups"},
		{"a lone surrogate", `\ud800`, "lone surrogates"}, {"two that are no pair", `\ud800\u0041`, "lone surrogates"},
		{"a class that tells surrogates apart", `[\ud800-\udbff]`, "lone surrogates"}, {"their category", `\p{Cs}`, "lone surrogates"},
		{"a class with their stand-in alone", `[\uE000-\uFFFF]`, "lone surrogates"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			if _, err := compilePattern(test.pattern); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v, want %s", test.pattern, err, test.want)
			}
		})
	}
}
