package managedcluster

import (
	"fmt"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
)

func TestTimeouts(t *testing.T) {
	w := newWorld(t)
	w.installClusterAPI()
	w.create(captParameters())
	w.reconcileUntil("Provisioning")
	w.clock = w.clock.Add(15 * time.Minute)
	w.reconcileUntil("InfrastructureTimedOut")
	w.writes = nil
	// Cluster API never reports that the control plane is initialized: that would be recorded.
	w.putYAML("CAPTCluster", "status: {ready: true}")
	w.putYAML("CAPTControlPlane", "status: {ready: false, initialized: false}")
	w.putYAML("Cluster", "status: {initialization: {infrastructureProvisioned: true}}")
	w.reconcileUntil("NotInitialized")
	w.clock = w.clock.Add(30 * time.Minute)
	w.reconcileUntil("ControlPlaneTimedOut")
	w.reportBuilt()
	w.reconcileUntil(ready)
	if len(w.writes) > 0 {
		t.Errorf("a timeout writes: %q", w.writes)
	}
}

// TestPauseStopsTimeouts checks that a pause takes no time from the step that is waited for.
func TestPauseStopsTimeouts(t *testing.T) {
	w := newWorld(t)
	w.installClusterAPI()
	w.create(topologyParameters())
	w.reconcileUntil("NotReferenced")
	pause := func(paused bool) {
		w.putYAML("Cluster", fmt.Sprintf("spec: {paused: %t}", paused))
		for rounds := 0; (w.get().GetCondition(v1alpha1.TypePaused).Status == corev1.ConditionTrue) != paused; rounds++ {
			if rounds > maxRounds {
				t.Fatalf("the pause is not observed: %+v", w.get().Status.Conditions)
			}
			w.clock = w.clock.Add(time.Minute)
			w.reconcile()
		}
	}
	stays := func(reason string, d time.Duration) {
		t.Helper()
		w.clock = w.clock.Add(d)
		w.reconcile()
		if c := w.get().GetCondition(xpv2.TypeReady); string(c.Reason) != reason {
			t.Fatalf("want %s, got %+v", reason, c)
		}
	}
	pause(true)
	stays("NotReferenced", time.Hour)
	pause(false)
	stays("NotReferenced", 14*time.Minute)
	w.reconcileUntil("InfrastructureTimedOut")
	w.putYAML("Cluster", "status: {initialization: {infrastructureProvisioned: true}}")
	w.reconcileUntil("NotInitialized")
	pause(true)
	stays("NotInitialized", time.Hour)
	pause(false)
	stays("NotInitialized", 29*time.Minute)
	w.reconcileUntil("ControlPlaneTimedOut")
}

// TestIgnoredPauseTimesOut checks that a cluster of CAPT, which ignores the pause of the Cluster, can time out while it is paused.
func TestIgnoredPauseTimesOut(t *testing.T) {
	w := newWorld(t)
	w.installClusterAPI()
	w.create(captParameters())
	w.reconcileUntil("Provisioning")
	w.putYAML("Cluster", "spec: {paused: true}")
	w.clock = w.clock.Add(15 * time.Minute)
	if c := w.reconcileUntil("InfrastructureTimedOut").GetCondition(v1alpha1.TypePaused); c.Reason != readiness.ReasonPausedIgnored {
		t.Errorf("%+v", c)
	}
}

// TestRefusalIsWrittenAtOnce checks that the reason why nothing is made is written with the first reconcile: there may be no later event.
func TestRefusalIsWrittenAtOnce(t *testing.T) {
	w := newWorld(t)
	p := captParameters()
	p.Cluster.Namespace = "team-b"
	w.create(p)
	w.reconcile()
	for range 3 {
		if w.result.RequeueAfter <= time.Second {
			w.reconcile()
		}
	}
	if c := w.get().GetCondition(xpv2.TypeReady); c.Reason != v1alpha1.ReasonPolicyDenied || w.result.RequeueAfter < time.Minute {
		t.Errorf("%+v, and it is looked at again after %s", c, w.result.RequeueAfter)
	}
}
