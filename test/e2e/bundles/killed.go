package bundles

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/bundles/state"
	"github.com/intentplane/intentplane/test/patience"
)

// killProviderAt kills the provider when the next push arrives in the repository of the stage, and returns a channel that is closed then.
func (s *stage) killProviderAt(hook func(repository string, fn func())) <-chan struct{} {
	killed := make(chan struct{})
	hook(s.Namespace, func() {
		hook(s.Namespace, nil)
		cp.KillProvider()
		close(killed)
	})
	return killed
}

// disablePackages takes two packages of a Bundle away, and leaves the third one.
func disablePackages(s *stage, o *unstructured.Unstructured) {
	s.Apply(s.describeBundle(o.GetAPIVersion(), "platform", "2",
		withPackageField(s.describePackage("front", "1.0", 1, "base"), "enabled", false), withPackageField(s.describePackage("base", "1.0", 1), "enabled", false), s.describePackage("own", "1.0", 1)))
}

// leavePackages leaves two packages out of a Bundle that prunes left packages, and keeps the third one.
func leavePackages(s *stage, o *unstructured.Unstructured) {
	smaller := s.describeBundle(o.GetAPIVersion(), "platform", "2", s.describePackage("own", "1.0", 1))
	s.Apply(s.Set(s.Set(smaller, "AfterSuccess", "spec", "prune"), "0s", "spec", "pruneMinAge"))
}

func finishDeletion(s *stage, o *unstructured.Unstructured) {
	s.awaitDeleted(o)
	s.awaitNoRecord("platform")
}

func finishDisabled(s *stage, o *unstructured.Unstructured) {
	s.awaitMessage(o, "front", "removed Disabled")
	s.awaitMessage(o, "base", "removed Disabled")
	s.awaitRecorded("platform", state.Success, "base removed", "own success 1.0", "front removed")
	s.wantKeptPackage()
}

func finishPrune(s *stage, _ *unstructured.Unstructured) {
	s.Until("the packages that left are gone", patience.Limit, func() bool { return !s.objectExists("front") && !s.objectExists("base") })
	s.awaitRecorded("platform", state.Success, "own success 1.0")
	s.wantKeptPackage()
}

// wantKeptPackage fails the test if the retained package of the Bundle was deleted.
func (s *stage) wantKeptPackage() {
	s.T.Helper()
	if !s.objectExists("own") || !s.hasPackageFiles("own") {
		s.T.Error("The retained package of the Bundle was deleted.")
	}
}
