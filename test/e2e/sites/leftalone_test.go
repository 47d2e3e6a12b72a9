package sites

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLeftAlone sets an annotation for Flux in the Site's cluster to leave an object alone. Flux goes to each commit and calls it applied, and the
// Site is not live before Flux applies the object again.
func TestLeftAlone(t *testing.T) {
	t.Parallel()
	s := newStage(t, claimDirectory)
	y := s.describeSync(1, "one")
	s.Apply(y)
	s.deliverRevision(1, "one")
	s.expectSiteSync(y, "1"+isLive)

	s.annotateConfigAtSite(`"disabled"`)
	y = s.describeSync(2, "two")
	s.Apply(y)
	s.deliverRevision(2, "two")
	s.lookAndExpect(y, "2 | False | Syncing | Syncing | NotApplied", "ConfigMap "+s.Namespace+"/a")
	if diff := cmp.Diff("one", s.configAtSite()); diff != "" {
		t.Errorf("running config: -want, +got:\n%s", diff)
	}

	s.annotateConfigAtSite("null")
	s.patchAtSite(s.kustomizationAtSite(), `{"metadata":{"annotations":{"`+requestedAt+`":"again"}}}`)
	s.lookAndExpect(y, "2"+isLive)
	if diff := cmp.Diff("two", s.configAtSite()); diff != "" {
		t.Errorf("running config: -want, +got:\n%s", diff)
	}
}

// annotateConfigAtSite sets the annotation in the Site's cluster that makes Flux skip the ConfigMap.
func (s *stage) annotateConfigAtSite(value string) {
	s.T.Helper()
	config := withName("v1", "ConfigMap", "a")
	config.SetNamespace(s.Namespace)
	s.patchAtSite(config, `{"metadata":{"annotations":{"kustomize.toolkit.fluxcd.io/reconcile":`+value+`}}}`)
}
