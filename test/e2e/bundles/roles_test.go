package bundles

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
)

// TestRolesOnBundles reviews the rights of each role on Bundles and their packages.
func TestRolesOnBundles(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp)
	s.Run("create", "rolebinding", "edit", "-n", s.Namespace, "--clusterrole=edit", "--user="+s.Namespace+"-edit")
	editor, provider := s.Namespace+"-edit", "system:serviceaccount:"+controlplane.Namespace+":"+controlplane.ProviderServiceAccount
	cases := map[string]struct {
		reason string
		as     string
		args   []string
		want   string
	}{
		"EditorMakesBundles": {
			reason: "An editor may create Bundles, since an editor may create deployments.",
			as:     editor, args: []string{"create", "bundles.intentplane.dev"}, want: "yes",
		},
		"EditorLeavesStates": {
			reason: "An editor may not change the composed objects of a Bundle.",
			as:     editor, args: []string{"update", "bundlestates.state.intentplane.dev"}, want: "no",
		},
		"ProviderRemovesPackages": {
			reason: "The provider removes Applications that were packages of Bundles.",
			as:     provider, args: []string{"delete", "applications.intentplane.dev"}, want: "yes",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := s.Kubectl(t.Context(), append([]string{"auth", "can-i", "-n", s.Namespace, "--as=" + tc.as}, tc.args...)...)
			if diff := cmp.Diff(tc.want, strings.TrimSpace(out)); diff != "" {
				t.Errorf("\n%s\nkubectl auth can-i %v: %v: -want, +got:\n%s", tc.reason, tc.args, err, diff)
			}
		})
	}
}
