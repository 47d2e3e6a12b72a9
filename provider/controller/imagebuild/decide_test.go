package imagebuild

import (
	"testing"
	"time"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/provider/kpack"
)

// TestConfigurationAfterFailure has a configuration that names another builder, or another service account, after a failed Build, which kpack ignores. What the
// Application asks for is the same.
func TestConfigurationAfterFailure(t *testing.T) {
	cases := map[string]struct {
		reason string
		edit   func(*configv1alpha1.Build)
		asked  bool
	}{
		"Builder": {reason: "A failed Build is made again with another builder.", edit: func(c *configv1alpha1.Build) { c.Builder.Name = "fixed" }, asked: true},
		"Account": {reason: "A failed Build is made again with another service account.", edit: func(c *configv1alpha1.Build) { c.ServiceAccountName = "fixed" }, asked: true},
		"Hosts":   {reason: "A failed Build is not made again for a host that its source may be at.", edit: func(c *configv1alpha1.Build) { c.SourceHosts = []string{"127.0.0.1"} }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.T = t
			w.reconcile()
			w.fails(1, "prepare", "analyze", "detect", "restore", "build")
			w.expect("A step export that fails is tried again", "Retrying")
			w.wait(30 * time.Second)
			w.reconcile()
			w.fails(2, "prepare", "analyze", "detect", "restore", "build")
			w.expect("No retry is left", "BuildFailed")
			w.wait(time.Minute)
			w.editConfig(func(c *configv1alpha1.ProviderConfigSpec) { tc.edit(c.Build) })
			w.reconcile()
			w.fails(2, "prepare", "analyze", "detect", "restore", "build")
			w.reconcileShown()
			if kpack.IsAskedAgain(w.build(2)) != tc.asked {
				t.Fatalf("\n%s\n%v", tc.reason, w.get().GetCondition("Ready"))
			}
			if !tc.asked {
				return
			}
			w.fails(3, "prepare", "analyze", "detect", "restore", "build")
			w.expect("The failures with the builder before are no attempts of this one", "Retrying")
			w.fails(4, "prepare", "analyze", "detect", "restore")
			w.expect("What fails in the end has failed", "BuildFailed")
			w.wait(time.Hour)
			if w.reconcile(); kpack.IsAskedAgain(w.build(4)) {
				t.Error("kpack is asked again although the builder is the one that is wanted")
			}
		})
	}
}
