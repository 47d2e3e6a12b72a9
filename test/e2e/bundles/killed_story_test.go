package bundles

import (
	"testing"

	"github.com/intentplane/intentplane/test/controlplane"
)

// TestKilledInRemoval kills the provider when the push arrives that removes the files of a package, and is lost or carried out. The next provider goes on
// with the removal, in its order, and leaves nothing.
func TestKilledInRemoval(t *testing.T) { //nolint:paralleltest // It ends the one provider of all tests.
	cases := map[string]struct {
		reason string
		at     func(repository string, fn func())
	}{
		"BeforePush": {reason: "A removal that was lost with the provider is made by the next one.", at: cp.Git.DropPush},
		"AfterPush":  {reason: "A removal that was carried out is not made again, and the next one follows it.", at: cp.Git.AfterPush},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			o := s.bundle(claims, "platform", "1", s.pkg("front", "1.0", 1, "base"), s.pkg("base", "1.0", 1))
			s.reaches(o, "Succeeded")
			killed := make(chan struct{})
			tc.at(s.Namespace, func() {
				tc.at(s.Namespace, nil)
				cp.KillProvider()
				close(killed)
			})
			s.Delete(o)
			<-killed
			if !s.isThere("base") || !s.hasFiles("base") {
				t.Errorf("\n%s\nThe package is gone that the other one depends on.", tc.reason)
			}
			s.must(cp.StartProvider(t.Context(), controlplane.Program{}))
			s.deleted(o)
			for _, name := range []string{"front", "base"} {
				if s.isThere(name) || s.hasFiles(name) {
					t.Errorf("\n%s\nPackage %s is left behind.", tc.reason, name)
				}
			}
			s.noRecord("platform")
		})
	}
}
