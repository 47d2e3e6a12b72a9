package document

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/soak"
)

// FuzzFromJSON also reads JSON as YAML: it has to mean the same there, or be refused.
func FuzzFromJSON(f *testing.F) {
	for _, seed := range []string{`{"a": "b"}`, `{"a": [1, -2.5, true, null, {}]}`, `{"a": {"a": 1, "a": 2}}`, `["\ud800", "\u0000"]`, `{"": 1}`, `[1e5]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		defer soak.Input(t)()
		d, err := FromJSON(text)
		if (d == nil) == (err == nil) {
			t.Fatalf("FromJSON(%q): want a document or an error", text)
		}
		if err != nil {
			return
		}
		if y, err := FromYAML(text); err == nil && !cmp.Equal(d.Root, y.Root) {
			t.Errorf("FromYAML(%q): -JSON, +YAML:\n%s", text, cmp.Diff(d.Root, y.Root))
		}
	})
}
