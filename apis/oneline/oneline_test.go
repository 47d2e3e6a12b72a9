package oneline

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClean(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		most   int
		want   string
	}{
		"Plain":     {reason: "A line without anything odd stays.", text: "ready for Monday: see #12", most: 40, want: "ready for Monday: see #12"},
		"Lines":     {reason: "Each kind of line break becomes a space.", text: "a\nb\r\nc\u0085d\u2028e\u2029f\vg", want: "a b c d e f g"},
		"Controls":  {reason: "Characters that hide a text become spaces.", text: "a\x1b[2Jb\u202ec\x00d\u200be", want: "a [2Jb c d e"},
		"NotUTF8":   {reason: "Bytes that are not valid UTF-8 become spaces.", text: "a\xff\xfeb", want: "a b"},
		"Spaces":    {reason: "Spaces at the ends and between words are one or none.", text: "  a \t  b ", want: "a b"},
		"Exact":     {reason: "A text that just fits stays.", text: "äöü", most: 3, want: "äöü"},
		"Long":      {reason: "A text that is too long says that there was more.", text: strings.Repeat("ä", 300), most: 256, want: strings.Repeat("ä", 255) + "…"},
		"CutAtWord": {reason: "No space stands before the mark of a cut.", text: "abc def", most: 5, want: "abc…"},
		"Empty":     {reason: "A text of spaces becomes empty.", text: " \n ", most: 5, want: ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Clean(tc.text, tc.most)); diff != "" {
				t.Errorf("\n%s\nClean(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCut(t *testing.T) {
	cases := map[string]struct {
		reason, text, want string
	}{
		"Short": {reason: "A text with room stays as it is.", text: "äöü", want: "äöü"},
		"Long":  {reason: "A longer text is cut after a whole character.", text: strings.Repeat("ä", 4), want: "äää"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Cut(tc.text, 3)); diff != "" {
				t.Errorf("%s\nCut(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
