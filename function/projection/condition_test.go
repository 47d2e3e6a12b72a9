package projection

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFit(t *testing.T) {
	for name, tc := range map[string]struct{ reason, text, want string }{
		"Short": {reason: "A message within the bound is unchanged.", text: "äöü", want: "äöü"},
		"Long":  {reason: "Characters are counted, and not bytes.", text: "äöüß", want: "äö…"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Fit(tc.text, 3)); diff != "" {
				t.Errorf("\n%s\nFit(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
