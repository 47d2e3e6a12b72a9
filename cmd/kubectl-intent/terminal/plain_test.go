package terminal

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlain(t *testing.T) {
	cases := map[string]struct {
		reason                   string
		text                     string
		plain, begin, plainLines string
	}{
		"Text":     {reason: "Text without control characters stays as it is.", text: "Größe: 3 µs, 中文 \"a\" 'b' \\n", plain: "Größe: 3 µs, 中文 \"a\" 'b' \\n"},
		"Escape":   {reason: "Escape sequences do not steer the terminal.", text: "a\x1b[31mb\u009bc\x7f", plain: `a\x1b[31mb\u009bc\x7f`},
		"Lines":    {reason: "A line break in a text forges no line.", text: "a\n::error ::b\r\tc", plain: `a\n::error ::b\r\tc`, plainLines: "a\n::error ::b\\r\tc"},
		"Bidi":     {reason: "The direction of text is not turned.", text: "a\u202eb\u2028c", plain: `a\u202eb\u2028c`},
		"NoText":   {reason: "Bytes that are not text are printed as escapes.", text: "a\xff\x01\ufffd", plain: `a\xff\x01` + "\ufffd"},
		"Command":  {reason: "A printed line does not become a command of a CI.", text: " ::error ::b", plain: " ::error ::b", begin: ` \::error ::b`},
		"Commands": {reason: "A command of a CI in the older form is quoted.", text: "##[error]b", plain: "##[error]b", begin: `\##[error]b`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.begin == "" {
				tc.begin = tc.plain
			}
			if tc.plainLines == "" {
				tc.plainLines = tc.plain
			}
			want, got := []string{tc.plain, tc.begin, tc.plainLines}, []string{QuoteInvisible(tc.text), QuoteLine(tc.text), QuoteInvisibleInText(tc.text)}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\nplain(%q), begin(...), plainText(...): -want, +got:\n%s", tc.reason, tc.text, diff)
			}
		})
	}
}

func TestPlainMessage(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   string
	}{
		"One": {reason: "A message of one line is printed as it is.", text: "spec.intent: is empty", want: "spec.intent: is empty"},
		"Several": {
			reason: "Each line of a message is printed on a line of its own.",
			text:   "unknown verb\n  deplyo shop\n  ^^^^^^", want: "unknown verb\n    deplyo shop\n    ^^^^^^",
		},
		"Last": {reason: "A line end at the end of a message adds no line.", text: "failed\n", want: "failed"},
		"Forged": {
			reason: "A further line of a message does not read as a message, or as a command of a CI.",
			text:   "a\nb.yaml:1: c\n::error ::d\r", want: "a\n  b.yaml:1: c\n  \\::error ::d\\r",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, PlainMessage(tc.text)); diff != "" {
				t.Errorf("\n%s\nplainMessage(%q): -want, +got:\n%s", tc.reason, tc.text, diff)
			}
		})
	}
}
