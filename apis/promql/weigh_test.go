package promql

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// selector has as many matchers with a regular expression.
func selector(n int, regex string) string {
	out := make([]string, 0, n)
	for i := range n {
		out = append(out, fmt.Sprintf(`a%d=~"%s"`, i, regex))
	}
	return "max(x{" + strings.Join(out, ",") + "})"
}

func TestWeigh(t *testing.T) {
	const heavy, tooMany = "takes too long to compile", "has more than 64 regular expressions, or more than 2048 bytes of them"
	cases := map[string]struct {
		reason string
		query  string
		want   string
	}{
		"Usual": {
			reason: "A usual expression is light.",
			query:  `sum(rate(x{a=~"shop-[a-z0-9]+|web-.*",b!~"(GET|POST)_[45]..",c=~"(?i)err(or)?s?-[^ ]+"}[5m]))`,
		},
		"Many":       {reason: "Many usual regular expressions are accepted.", query: selector(60, "web-[0-9a-f]{5}")},
		"Long":       {reason: "A list of names may be long.", query: selector(1, strings.Repeat("some-name-of-a-pod|", 100)+"x")},
		"TooMany":    {reason: "A query with too many regular expressions is refused.", query: selector(65, "a.*"), want: tooMany},
		"TooLong":    {reason: "A query with too many bytes of regular expressions is refused.", query: selector(4, strings.Repeat("a|", 300)), want: tooMany},
		"Class":      {reason: "A large class that is repeated.", query: selector(1, `\\pL{900}`), want: heavy},
		"Folded":     {reason: "Large classes that ignore case are refused.", query: selector(150, `(?i)\\pL{900}`), want: heavy},
		"FoldedOnce": {reason: "One large class that ignores case is refused without any repetition.", query: selector(1, `(?i)\\pL\\PL[^a]`), want: heavy},
		"FoldedWide": {reason: "A class of large ranges that ignores case is refused.", query: selector(1, `(?s-U:(?is)[B-𞥂][C-𞥂])`), want: heavy},
		"Repeated": {
			reason: "The counts of nested repetitions are multiplied.",
			query:  selector(1, `(((abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz){9}){9}b){12}`), want: heavy,
		},
		"Optional": {reason: "Optional repetitions count like required repetitions.", query: selector(20, `(abc){0,999}`), want: heavy},
		"Empty":    {reason: "Repetitions of empty groups count too.", query: selector(1, `(`+strings.Repeat("()", 50)+`){900}`), want: heavy},
		"OpenEnd": {
			reason: "Repetitions without an upper bound count with their lower one.",
			query:  selector(1, `(abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz){900,}`), want: heavy,
		},
		"Apart":       {reason: "The weights of several regular expressions are added.", query: selector(20, `[a-z]{999}`), want: heavy},
		"Raw":         {reason: "A regular expression counts in every kind of quotes.", query: "max(x{a=~`\\pL{900}`,b!~'\\\\pL{900}'})", want: heavy},
		"Comment":     {reason: "A regular expression after a comment counts.", query: "max(x{a=~ # ~\n`\\pL{900}`})", want: heavy},
		"Name":        {reason: "A regular expression for the name of a metric counts.", query: `max({"__name__"=~"\\pL{900}"})`, want: heavy},
		"Disguised":   {reason: "A class that looks like flags does not hide the weight.", query: selector(2, `(?i)[(?i-k]\\pL{900}`), want: heavy},
		"BeforeError": {reason: "Regular expressions before a syntax error count, since the parser compiles them.", query: `max(x{a=~"\\pL{900}"} !! )`, want: heavy},
		"Equal":       {reason: "A text that is compared for equality is not a regular expression.", query: `max(x{a="\\pL{900}"})`},
		"Literal":     {reason: "A quoted part of an expression is text.", query: selector(1, `\\Q(?i)\\E[(?i]+`)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for readerName, read := range map[string]func(string) error{
				"Parse":   func(s string) error { _, err := Parse(s); return err },
				"ReachOf": func(s string) error { _, err := ReachOf(s); return err },
			} {
				err := read(tc.query)
				if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
					t.Errorf("%s\n%s(%.80q): want error %q, got %v", tc.reason, readerName, tc.query, tc.want, err)
				}
			}
		})
	}
}

// TestLightIsLight reads as much as is let through.
func TestLightIsLight(t *testing.T) {
	for _, regex := range []string{`(?i)\\pL`, `(?i)[B-𞥂]`, `\\pL`, `[a-z]{99}`, `(a?){99}`, `(((a{9}){9}){9})`, `(?i)[^a]`, `(ab|cd){0,99}`, `\\PL{3}`, `(abc|cde){0,499}`} {
		longest := 0
		for n := range maxExpressions {
			if _, err := weighExpressions(selector(n, regex)); err == nil {
				longest = n
			}
		}
		var baseline, final runtime.MemStats
		runtime.ReadMemStats(&baseline)
		if _, err := Parse(selector(longest, regex)); err != nil {
			t.Error(err)
		}
		runtime.ReadMemStats(&final)
		if mib := (final.TotalAlloc - baseline.TotalAlloc) >> 20; mib > 30 {
			t.Errorf("%d of %s take %d MiB", longest, regex, mib)
		}
	}
}
