package intent

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/soak"
)

func FuzzFromText(f *testing.F) {
	for _, s := range golden(f) {
		f.Add(s.Text)
	}
	for _, seed := range []string{
		`{"service": "shop", "image": "a/b:c@sha256:` + strings.Repeat("0", 64) + `", "parameters": {"a.b": "\n\t\u2028"}}`,
		`{"a": [[[[]]]], "a": {"b": null}}`, "{", "[]", "\"", "{\"\\ud800\": 1}", "a: {b: [c, &d e]}", "? a\n: b", "a: !!binary aGk=",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		defer soak.Input(t)()
		i, err := FromText(text)
		if err != nil {
			checkMessage(t, text, err)
			return
		}
		again, err := FromText(string(i.Canonical()))
		if err != nil {
			t.Fatalf("FromText(Canonical()) of %q: %v", text, err)
		}
		if diff := cmp.Diff(i, again); diff != "" {
			t.Errorf("FromText(Canonical()) of %q: -want, +got:\n%s", text, diff)
		}
	})
}

// checkMessage wants a message that a condition can carry, and a terminal can show.
func checkMessage(t *testing.T, text string, err error) {
	t.Helper()
	m := err.Error()
	if len(m) > 24<<10 || !utf8.ValidString(m) || !strings.HasPrefix(m, "spec.intent: ") {
		t.Errorf("FromText(%q): the message has %d bytes: %q", text, len(m), m)
	}
	if i := strings.IndexFunc(m, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x200b && r <= 0x202e }); i >= 0 {
		t.Errorf("FromText(%q): the message has a character that hides something: %q", text, m)
	}
}
