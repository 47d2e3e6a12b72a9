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
	w.install()
	w.create(captSpec())
	w.until("Provisioning")
	w.clock = w.clock.Add(15 * time.Minute)
	w.until("InfrastructureTimedOut")
	w.did = nil
	// Nobody ever says that it is initialized: that would be remembered.
	w.yaml("CAPTCluster", "status: {ready: true}")
	w.yaml("CAPTControlPlane", "status: {ready: false, initialized: false}")
	w.yaml("Cluster", "status: {initialization: {infrastructureProvisioned: true}}")
	w.until("NotInitialized")
	w.clock = w.clock.Add(30 * time.Minute)
	w.until("ControlPlaneTimedOut")
	w.built()
	w.until(ready)
	if len(w.did) > 0 {
		t.Errorf("a timeout writes: %q", w.did)
	}
}

// TestPauseIsNoDelay takes no time from what is waited for, where who builds the cluster waits too.
func TestPauseIsNoDelay(t *testing.T) {
	w := newWorld(t)
	w.install()
	w.create(topologySpec())
	w.until("NotReferenced")
	pause := func(paused bool) {
		w.yaml("Cluster", fmt.Sprintf("spec: {paused: %t}", paused))
		for rounds := 0; (w.get().GetCondition(v1alpha1.TypePaused).Status == corev1.ConditionTrue) != paused; rounds++ {
			if rounds > maxRounds {
				t.Fatalf("it is not seen: %+v", w.get().Status.Conditions)
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
	w.until("InfrastructureTimedOut")
	w.yaml("Cluster", "status: {initialization: {infrastructureProvisioned: true}}")
	w.until("NotInitialized")
	pause(true)
	stays("NotInitialized", time.Hour)
	pause(false)
	stays("NotInitialized", 29*time.Minute)
	w.until("ControlPlaneTimedOut")
}

// TestIgnoredPause is one that CAPT knows nothing of: it goes on, and may take too long.
func TestIgnoredPause(t *testing.T) {
	w := newWorld(t)
	w.install()
	w.create(captSpec())
	w.until("Provisioning")
	w.yaml("Cluster", "spec: {paused: true}")
	w.clock = w.clock.Add(15 * time.Minute)
	if c := w.until("InfrastructureTimedOut").GetCondition(v1alpha1.TypePaused); c.Reason != readiness.ReasonPausedIgnored {
		t.Errorf("%+v", c)
	}
}

func TestSays(t *testing.T) {
	live := map[string]any{
		"a": int64(1), "b": []any{map[string]any{"x": "y", "defaulted": true}}, "others": "too",
		"named": []any{map[string]any{"name": "theirs", "value": "v"}, map[string]any{"name": "ours", "value": "v"}},
	}
	cases := map[string]struct {
		reason string
		want   any
		is     bool
	}{
		"Part":       {reason: "What others added does not matter", want: map[string]any{"a": float64(1)}, is: true},
		"List":       {reason: "Nor in elements", want: map[string]any{"b": []any{map[string]any{"x": "y"}}}, is: true},
		"Other":      {reason: "Another value does", want: map[string]any{"a": int64(2)}},
		"False":      {reason: "What is false may be left out", want: map[string]any{"c": false}, is: true},
		"True":       {reason: "What is true may not", want: map[string]any{"c": true}},
		"Absent":     {reason: "So does none", want: map[string]any{"c": "d"}},
		"ListLonger": {reason: "An element more", want: map[string]any{"b": []any{map[string]any{"x": "y"}, "z"}}},
		"Named":      {reason: "Others have theirs in the same list", want: map[string]any{"named": []any{map[string]any{"name": "ours", "value": "v"}}}, is: true},
		"NamedOther": {reason: "Ours is compared with the one of its name", want: map[string]any{"named": []any{map[string]any{"name": "ours", "value": "w"}}}},
		"NamedNone":  {reason: "Ours is not there", want: map[string]any{"named": []any{map[string]any{"name": "new", "value": "v"}}}},
		"Empty":      {reason: "A list that should be empty", want: map[string]any{"named": []any{}}},
		"OtherForm":  {reason: "Another form", want: map[string]any{"others": map[string]any{}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := says(live, tc.want); got != tc.is {
				t.Errorf("\n%s\nsays(): %t", tc.reason, got)
			}
		})
	}
}

// TestToldAtOnce says why nothing is made as soon as that is known, though nothing ever happens after that.
func TestToldAtOnce(t *testing.T) {
	w := newWorld(t)
	p := captSpec()
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
