package bundles

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/controlplane"
)

// TestKilledInRemoval kills the provider when the push arrives that removes the files of a package, and is lost or carried out. The next provider continues
// with the removal, in its order, and leaves nothing.
func TestKilledInRemoval(t *testing.T) { //nolint:paralleltest // It ends the one provider of all tests.
	pushes := map[string]struct {
		reason string
		at     func(repository string, fn func())
	}{
		"BeforePush": {reason: "A removal that was lost with the provider is made by the next provider.", at: cp.Git.DropPush},
		"AfterPush":  {reason: "A removal that was carried out is not made again, and the next one follows it.", at: cp.Git.AfterPush},
	}
	removals := map[string]struct {
		remove, finish func(s *stage, o *unstructured.Unstructured)
	}{
		"Deleted":  {remove: func(s *stage, o *unstructured.Unstructured) { s.Delete(o) }, finish: finishDeletion},
		"Disabled": {remove: disablePackages, finish: finishDisabled},
		"Pruned":   {remove: leavePackages, finish: finishPrune},
	}
	for kind, removal := range removals {
		for moment, push := range pushes {
			t.Run(kind+"/"+moment, func(t *testing.T) {
				s := newBundleStage(t)
				o := s.describeBundle(claims, "platform", "1", s.describePackage("front", "1.0", 1, "base"), s.describePackage("base", "1.0", 1), s.describePackage("own", "1.0", 1))
				s.applyAndAwaitPhase(o, "Succeeded")
				killed := s.killProviderAt(push.at)
				removal.remove(s, o)
				<-killed
				if !s.objectExists("base") || !s.hasPackageFiles("base") {
					t.Errorf("\n%s\nThe dependency of the remaining package was deleted.", push.reason)
				}
				s.Must(cp.StartProvider(t.Context(), controlplane.Program{}))
				removal.finish(s, o)
				for _, name := range []string{"front", "base"} {
					if s.objectExists(name) || s.hasPackageFiles(name) {
						t.Errorf("\n%s\nPackage %s is left behind.", push.reason, name)
					}
				}
			})
		}
	}
}
