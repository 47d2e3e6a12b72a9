package document

import (
	"testing"

	"github.com/intentplane/intentplane/test/soak"
)

func FuzzFromYAML(f *testing.F) {
	for _, seed := range []string{
		"a: b\n", "a: [b, {c: d}]\n", "a: &x b\nc: *x\n", "? a\n: b\n", "--- !!map\na: b\n...\n", "a: |\n  b\n", "{a: \"\\x00\"}", "<<: {a: b}", "a: 1e9",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		defer soak.Input(t)()
		d, err := FromYAML(text)
		if (d == nil) == (err == nil) {
			t.Fatalf("FromYAML(%q): want a document or an error", text)
		}
	})
}

func member(name string, value any) Member {
	return Member{Name: name, Node: Node{Path: name, Value: value}}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
