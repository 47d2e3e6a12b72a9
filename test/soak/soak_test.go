package soak

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestQuick(t *testing.T) {
	cases := map[string]struct {
		reason    string
		variables map[string]string
		want      int
	}{
		"Test": {reason: "A test plays few rounds by default.", want: 3},
		"All":  {reason: "A test plays all rounds under make test-all.", variables: map[string]string{wholeVariable: "1"}, want: 12},
		"Soak": {reason: "A test plays all rounds under make soak.", variables: map[string]string{variable: "1"}, want: 12},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, v := range []string{variable, wholeVariable} {
				t.Setenv(v, tc.variables[v])
			}
			if diff := cmp.Diff(tc.want, Quick(3, 12)); diff != "" {
				t.Errorf("\n%s\nQuick(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
