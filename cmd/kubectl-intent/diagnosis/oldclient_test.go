package diagnosis

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestOldClientWarning(t *testing.T) {
	const warning = " is too old for Provider a, which is v1.3.0: it may not know all fields and reasons. Install kubectl-intent v1.3."
	cases := map[string]struct {
		reason string
		client string
		image  string
		want   string
	}{
		"Equal":    {reason: "A program of the provider's version is current.", client: "v1.3.0", image: "r/a:v1.3.0"},
		"OneMinor": {reason: "A program may be one minor version behind.", client: "v1.2.9", image: "r/a:v1.3.0"},
		"TwoMinor": {reason: "A program that is two minor versions behind is too old.", client: "v1.1.9", image: "r/a:v1.3.0", want: "kubectl-intent v1.1.9" + warning},
		"Major":    {reason: "A program of an earlier major version is too old.", client: "v0.9.0", image: "r/a:v1.3.0", want: "kubectl-intent v0.9.0" + warning},
		"Newer":    {reason: "A newer program knows the older provider.", client: "v2.0.0", image: "r/a:v1.3.0"},
		"Dev":      {reason: "A program without a released version is not compared.", client: "dev", image: "r/a:v1.3.0"},
		"Digest":   {reason: "A provider that is named by its digest is not compared.", client: "v0.1.0", image: "r/a@sha256:0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := Package{TypeMeta: metav1.TypeMeta{Kind: "Provider"}, Metadata: metav1.ObjectMeta{Name: "a"}}
			p.Spec.Package = tc.image
			if diff := cmp.Diff(tc.want, OldClientWarning(tc.client, []Package{p})); diff != "" {
				t.Errorf("\n%s\nOldClientWarning(%q, %q): -want, +got:\n%s", tc.reason, tc.client, tc.image, diff)
			}
		})
	}
}
