package bundles

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/bundles/state"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
)

// killProviderAt kills the provider when the next push arrives in the repository of the stage, and returns a channel that is closed then.
func (s *stage) killProviderAt(at func(repository string, fn func())) <-chan struct{} {
	killed := make(chan struct{})
	at(s.Namespace, func() {
		at(s.Namespace, nil)
		cp.KillProvider()
		close(killed)
	})
	return killed
}

// TestKilledInRemoval kills the provider when the push arrives that removes the files of a package, and is lost or carried out. The next provider goes on
// with the removal, in its order, and leaves nothing.
func TestKilledInRemoval(t *testing.T) { //nolint:paralleltest // It ends the one provider of all tests.
	pushes := map[string]struct {
		reason string
		at     func(repository string, fn func())
	}{
		"BeforePush": {reason: "A removal that was lost with the provider is made by the next one.", at: cp.Git.DropPush},
		"AfterPush":  {reason: "A removal that was carried out is not made again, and the next one follows it.", at: cp.Git.AfterPush},
	}
	removals := map[string]struct {
		remove, finish func(s *stage, o *unstructured.Unstructured)
	}{
		"Deleted":  {remove: func(s *stage, o *unstructured.Unstructured) { s.Delete(o) }, finish: finishDeletion},
		"Disabled": {remove: disablePackages, finish: finishDisabled},
		"Pruned":   {remove: leavePackages, finish: finishPrune},
	}
	for how, removal := range removals {
		for when, push := range pushes {
			t.Run(how+"/"+when, func(t *testing.T) {
				s := newStage(t)
				o := s.bundle(claims, "platform", "1", s.pkg("front", "1.0", 1, "base"), s.pkg("base", "1.0", 1), s.pkg("own", "1.0", 1))
				s.reaches(o, "Succeeded")
				killed := s.killProviderAt(push.at)
				removal.remove(s, o)
				<-killed
				if !s.isThere("base") || !s.hasFiles("base") {
					t.Errorf("\n%s\nThe package is gone that the other one depends on.", push.reason)
				}
				s.must(cp.StartProvider(t.Context(), controlplane.Program{}))
				removal.finish(s, o)
				for _, name := range []string{"front", "base"} {
					if s.isThere(name) || s.hasFiles(name) {
						t.Errorf("\n%s\nPackage %s is left behind.", push.reason, name)
					}
				}
			})
		}
	}
}

// disablePackages takes two packages of a Bundle away, and leaves the third one.
func disablePackages(s *stage, o *unstructured.Unstructured) {
	s.Apply(s.bundle(o.GetAPIVersion(), "platform", "2",
		with(s.pkg("front", "1.0", 1, "base"), "enabled", false), with(s.pkg("base", "1.0", 1), "enabled", false), s.pkg("own", "1.0", 1)))
}

// leavePackages leaves two packages out of a Bundle that prunes what left it, and leaves the third one.
func leavePackages(s *stage, o *unstructured.Unstructured) {
	less := s.bundle(o.GetAPIVersion(), "platform", "2", s.pkg("own", "1.0", 1))
	s.Apply(s.Set(s.Set(less, "AfterSuccess", "spec", "prune"), "0s", "spec", "pruneMinAge"))
}

func finishDeletion(s *stage, o *unstructured.Unstructured) {
	s.deleted(o)
	s.noRecord("platform")
}

func finishDisabled(s *stage, o *unstructured.Unstructured) {
	s.says(o, "front", "removed Disabled")
	s.says(o, "base", "removed Disabled")
	s.recorded("platform", state.Success, "base removed", "own success 1.0", "front removed")
	s.wantOwn()
}

func finishPrune(s *stage, _ *unstructured.Unstructured) {
	s.Until("what left is gone", scene.Patience, func() bool { return !s.isThere("front") && !s.isThere("base") })
	s.recorded("platform", state.Success, "own success 1.0")
	s.wantOwn()
}

// wantOwn says what is wrong if the package is gone that the Bundle keeps.
func (s *stage) wantOwn() {
	s.T.Helper()
	if !s.isThere("own") || !s.hasFiles("own") {
		s.T.Error("The package is gone that stays in the Bundle.")
	}
}
