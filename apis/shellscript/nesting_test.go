package shellscript

import (
	"runtime"
	"strings"
	"testing"
)

// TestDeepScript reads scripts of the largest size that nest as deeply as they can: the stack of the parser stays small.
func TestDeepScript(t *testing.T) {
	const scriptBytes, stackBytes = 128 << 10, 16 << 20
	cases := map[string]struct{ reason, start, part string }{
		"Subshell":    {reason: "A subshell within a subshell is a level.", part: "( "},
		"Block":       {reason: "A block within a block is a level.", part: "{ "},
		"Output":      {reason: "The output of a command within a command is a level.", part: "$("},
		"Default":     {reason: "A default within a default is a level.", start: "echo ", part: "${A:-"},
		"Choice":      {reason: "A choice within a condition is a level.", part: "if "},
		"Loop":        {reason: "A loop within a condition is a level.", part: "while "},
		"Wait":        {reason: "A wait within a condition is a level.", part: "until "},
		"Repetition":  {reason: "A repetition within a repetition is a level.", part: "for i in a; do "},
		"Case":        {reason: "A case within a case is a level.", part: "case a in a) "},
		"Function":    {reason: "A function within a function is a level.", part: "f() { "},
		"Pipe":        {reason: "Each command of a pipe is a level.", start: "a", part: "|a"},
		"And":         {reason: "Each command of a chain is a level.", start: "a", part: "&&a"},
		"Parenthesis": {reason: "A parenthesis within a computation is a level.", start: "echo $((", part: "("},
		"Negation":    {reason: "A negation within a computation is a level.", start: "echo $((", part: "!"},
		"Assignment":  {reason: "An assignment within a computation is a level.", start: "echo $((", part: "a="},
		"Condition":   {reason: "A condition within a computation is a level.", start: "echo $((", part: "1?"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			script := tc.start + strings.Repeat(tc.part, scriptBytes/len(tc.part))
			var baseline, final runtime.MemStats
			runtime.ReadMemStats(&baseline)
			canFail := CanFail(script)
			runtime.ReadMemStats(&final)
			if !canFail {
				t.Errorf("\n%s\nA script that nests too deeply may fail: CanFail(...): want true", tc.reason)
			}
			if final.StackInuse > baseline.StackInuse+stackBytes {
				t.Errorf("\n%s\nCanFail(...): the stack grew from %d to %d bytes", tc.reason, baseline.StackInuse, final.StackInuse)
			}
		})
	}
}

func TestMayNestDeeply(t *testing.T) {
	cases := map[string]struct {
		reason, text string
		want         bool
	}{
		"Long":     {reason: "A long script without nesting is parsed.", text: strings.Repeat("curl -sf --max-time=5 http://shop/a-b?c:d\n", 3000)},
		"Deep":     {reason: "A script with a few levels is parsed.", text: strings.Repeat("{ ", maxNesting)},
		"Deeper":   {reason: "A script with more levels is not parsed.", text: strings.Repeat("{ ", maxNesting+1), want: true},
		"Computed": {reason: "Signs of a computation count beside one.", text: "echo $((1))" + strings.Repeat(" -a", maxNesting), want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := mayNestDeeply(tc.text); got != tc.want {
				t.Errorf("\n%s\nmayNestDeeply(...): want %v, got %v", tc.reason, tc.want, got)
			}
		})
	}
}
