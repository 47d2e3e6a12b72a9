package applications

import (
	"testing"
)

// TestBundle deploys an Application as a package of a Bundle, which Flux brings to its Site, and a deployment behind it: that goes out once pods of the
// Application serve.
func TestBundle(t *testing.T) {
	t.Parallel()
	s := newAppStage(t, namespaced)
	s.Apply(s.NewSite("edge2"))
	o := s.describeBundle(1)
	s.Apply(o.DeepCopy())
	s.awaitDeployed(1) // No pod is available.
	s.awaitPackage(o, "after", "not_deployed AwaitingDependency")
	if s.objectExists(dependentPackage(s)) {
		t.Error("A package goes out before pods of the Application serve that it depends on.")
	}
	s.reportPodsReady(1)
	s.awaitBundle(o, "Succeeded", "1")
	s.Apply(s.describeBundle(2))
	s.awaitDeployed(2)
	s.reportPodsReady(2)
	s.awaitBundle(o, "Succeeded", "2")
	s.reportPodsUnready(2)
	s.awaitBundle(o, "Degraded", "2")
	s.reportPodsReady(2)
	s.awaitBundle(o, "Succeeded", "2")
	s.Delete(o)
	s.Gone(o)
	s.Gone(s.app)
	s.Gone(dependentPackage(s))
}
