package kubernetes

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseYAML(t *testing.T) {
	cases := map[string]struct {
		reason  string
		stream  string
		want    []string
		wantErr bool
	}{
		"Empty":     {reason: "Nothing should be no object.", stream: ""},
		"Comments":  {reason: "A document of comments alone should be no object.", stream: "# one\n---\n# two\n"},
		"Several":   {reason: "Every document should be an object.", stream: "---\nkind: A\n---\nkind: B\n", want: []string{"A", "B"}},
		"Malformed": {reason: "A malformed stream should be refused.", stream: "a: [", wantErr: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			objects, err := ParseYAML([]byte(tc.stream))
			if diff := cmp.Diff(tc.wantErr, err != nil); diff != "" {
				t.Fatalf("\n%s\nParseYAML(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			var kinds []string
			for _, u := range objects {
				kinds = append(kinds, u.GetKind())
			}
			if diff := cmp.Diff(tc.want, kinds); diff != "" {
				t.Errorf("\n%s\nParseYAML(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
