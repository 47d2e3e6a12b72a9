package deployment

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/compose"
)

// cluster sets the state that the SiteSync observes of the cluster of edge2, and of the Site.
func (w *world) cluster(state, reason string, passed, ready bool) {
	w.t.Helper()
	w.sync("Waiting", state)
	o := w.in.Observed[compose.SyncName]
	sites, _, _ := unstructured.NestedSlice(o.Object, "status", "atProvider", "sites")
	for _, s := range sites {
		m, ok := s.(map[string]any)
		if !ok || m["name"] != "edge2" {
			continue
		}
		c := map[string]any{"uid": "u1", "ready": ready}
		if passed {
			c["passedAt"] = "2031-12-17T13:14:15Z"
		}
		if reason != "" {
			c["reason"], c["message"] = reason, "DockerCluster c: no quota"
		}
		m["cluster"] = c
		if state == "WaitingForCluster" {
			m["reason"], m["message"] = reason, "DockerCluster c: no quota"
		}
	}
	if err := unstructured.SetNestedSlice(o.Object, sites, "status", "atProvider", "sites"); err != nil {
		w.t.Fatal(err)
	}
}

// live lets the SiteSync say that all is live, whatever it says of clusters.
func (w *world) live() {
	w.t.Helper()
	o := w.in.Observed[compose.SyncName]
	o.Object["status"].(map[string]any)["conditions"] = []any{condition("Ready", "True", "Live", o), condition("Synced", "True", "ReconcileSuccess", o)}
}

func (w *world) withCluster(engine bool) {
	w.t.Helper()
	w.set("Site", "edge2", map[string]any{"clusterRef": map[string]any{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "namespace": "infra", "name": "c"}}, "spec", "cluster")
	if engine {
		w.observe("edge2")
	}
}

func TestWaitForCluster(t *testing.T) {
	for name, engine := range map[string]bool{"WithEngine": true, "Unobserved": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.withCluster(engine)
			waiting := view{Phase: deploymentv1alpha1.PhaseDelivering, Revision: 1, Sites: "1/2", Trees: []string{"1 edge1 Desired", "1 edge2 Keep"}}
			out := w.settle()
			w.want("A Site receives nothing before its cluster is ready.", out, waiting)
			w.wantCondition("Nothing is unsupported.", out, deploymentv1alpha1.TypeSupported, corev1.ConditionTrue, deploymentv1alpha1.ReasonSupported)
			w.wantCondition("It says so.", out, deploymentv1alpha1.TypeDelivered, corev1.ConditionFalse, deploymentv1alpha1.ReasonWaitingForCluster)
			w.cluster("WaitingForCluster", "Provisioning", false, false)
			out = w.settle()
			w.want("Still not.", out, waiting)
			want := `Site "edge2" waits for its cluster: Provisioning: DockerCluster c: no quota`
			if diff := cmp.Diff(want, out.Status.Message); diff != "" {
				t.Errorf("which Site, and why: -want, +got:\n%s", diff)
			}
			w.cluster("Pending", "", true, true)
			served := view{Phase: deploymentv1alpha1.PhaseSucceeded, Ready: true, Revision: 1, Sites: "2/2", Trees: bothFirst}
			w.succeed(engine)
			w.want("Then it receives, as part of the same revision.", w.settle(), served)
			// It comes and goes, and nothing is rolled back.
			w.cluster("Live", "NotReady", true, false)
			w.live()
			out = w.settle()
			w.want("The delivered trees stay.", out, served)
			if got := out.Status.Delivery.Sites["edge2"].Message; engine && got != "The Site's cluster is degraded: NotReady: DockerCluster c: no quota" {
				t.Errorf("the Site does not say so: %q", got)
			}
			if want := `The cluster of Site "edge2" is degraded: NotReady: DockerCluster c: no quota.`; !strings.Contains(out.Status.Message, want) {
				t.Errorf("the deployment does not say so: %q", out.Status.Message)
			}
			// A lost SiteSync does not hold the Site back again.
			delete(w.in.Observed, compose.SyncName)
			if got := w.view(w.call()).Trees; !cmp.Equal(got, bothFirst) {
				t.Errorf("without the SiteSync: %q", got)
			}
			w.settle()
			w.cluster("Live", "", true, true)
			w.succeed(engine)
			w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
			w.want("The next revision waits again.", w.settle(), view{
				Phase: deploymentv1alpha1.PhaseDelivering, Revision: 2, Sites: "1/2", Trees: []string{"2 edge1 Desired", "2 edge2 Keep"},
			})
		})
	}
}

// succeed lets the Sites run the delivered trees.
func (w *world) succeed(engine bool) {
	w.t.Helper()
	w.apply(w.call())
	w.deliver()
	state := "Unobserved"
	if engine {
		state = "Live"
	}
	w.cluster(state, "", true, true)
	w.live()
}

// TestUpgradeWhileWaiting replaces the function by a version that makes other trees, which a user has to approve.
func TestUpgradeWhileWaiting(t *testing.T) {
	for name, waits := range map[string]bool{"Waits": true, "Ready": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.manual()
			w.withCluster(true)
			w.settle()
			want := view{Phase: deploymentv1alpha1.PhaseDelivering, Revision: 2, Sites: "1/2", Trees: []string{"2 edge1 Desired", "2 edge2 Keep"}}
			if !waits {
				w.cluster("Pending", "", true, true)
				w.succeed(true)
				w.settle()
				want = view{Phase: deploymentv1alpha1.PhaseSucceeded, Ready: true, Revision: 1, Sites: "2/2", Trees: bothFirst}
			}
			w.upgrade("# new\n")
			w.want("The tree that a Site waits for cannot be rendered any more.", w.settle(), want)
		})
	}
}

func TestClusterTakesTooLong(t *testing.T) {
	w := newWorld(t)
	w.withCluster(true)
	w.settle()
	w.sync("ClusterTimedOut", "TimedOut")
	out := w.settle()
	w.wantCondition("It is rejected, and why.", out, deploymentv1alpha1.TypeDelivered, corev1.ConditionFalse, rolloutv1alpha1.RejectedClusterTimedOut)
	if out.Status.Phase != deploymentv1alpha1.PhaseFailed {
		t.Errorf("phase %s", out.Status.Phase)
	}
}
