package policy

import (
	"testing"

	"sigs.k8s.io/yaml"
)

func TestEvidentlyOne(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   bool
	}{
		"Mapping":        {reason: "A rendered document is read as one mapping.", text: "apiVersion: v1\nrules:\n- a\n# ---\nb: --- ... %\n", want: true},
		"NoLine":         {reason: "A document without a line end at its end is accepted.", text: "a: b", want: true},
		"Nothing":        {reason: "An empty file is not a mapping.", text: ""},
		"Flow":           {reason: "A mapping in braces ends with them.", text: "{a: b}"},
		"Quoted":         {reason: "A document that does not begin with a-z is left to the parser.", text: "'a': b"},
		"Comment":        {reason: "A mapping after a comment is left to the parser.", text: "# a\n{a: b}"},
		"Dashes":         {reason: "Three dashes at the start of a line begin another document.", text: "a: b\n---\nc: d"},
		"DashesAndMore":  {reason: "A document begins, with a tag.", text: "a: b\n--- !!map\nc: d"},
		"Dots":           {reason: "Three dots at the start of a line end a document.", text: "a: b\n...\nc: d"},
		"Directive":      {reason: "A directive of YAML, which ends a document, is refused.", text: "a: b\n%YAML 1.1\n"},
		"CarriageReturn": {reason: "A carriage return begins a line for YAML, so three dashes after it are found.", text: "a: b\r---\rc: d"},
		"NextLine":       {reason: "There are other ends of lines.", text: "a: b\u0085---\u0085c: d"},
		"LineSeparator":  {reason: "A Unicode line separator may end a line for some parsers.", text: "a: b\u2028---\u2028c: d"},
		"Wide":           {reason: "Bytes of another encoding are left to the parser.", text: "a\x00:\x00 \x00b\x00"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := isEvidentlySingleDocument([]byte(tc.text)); got != tc.want {
				t.Errorf("\n%s\nevidentlyOne(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// FuzzEvidentlyOne checks that a text which counts as one document without parsing is one document for the parser, too.
func FuzzEvidentlyOne(f *testing.F) {
	for _, s := range []string{"a: b\nc: [d]\n", "a: |\n  ---\n  b\n", "a: 'b\n  ...'\n", "a\n: b", "a: b\n- c", "a: {b: c}\nd: e # f", "a: &b c\nd: *b", "a b: >-\n c\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var m map[string]any
		if !isEvidentlySingleDocument([]byte(text)) || yaml.UnmarshalStrict([]byte(text), &m) != nil {
			return
		}
		if err := checkSingleDocument([]byte(text)); err != nil {
			t.Errorf("checkOne(%q): want one document, got %v", text, err)
		}
	})
}
