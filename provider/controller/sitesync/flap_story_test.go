package sitesync

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/provider/clusters/readiness"
	"github.com/intentplane/intentplane/provider/engines"
)

// fetched is how often the kubeconfig of the cluster was read from the API server.
func (w *world) fetched() int {
	n := 0
	for _, a := range w.cluster.Actions() {
		if a.GetVerb() == "get" && a.GetResource().Resource == "secrets" {
			n++
		}
	}
	return n
}

// flap once in each second.
func (w *world) flap(times int) {
	w.Helper()
	for i := range times {
		host := []string{"", "c1"}[i%2]
		w.capiAs("u1", true, host)
		w.seesHost(host)
		w.clock = w.clock.Add(time.Second)
		w.reconcile()
	}
}

// TestFlap has a cluster that comes and goes told once, and then cost neither a request, nor a write, nor a turn of those who wait for
// one.
func TestFlap(t *testing.T) {
	w := newWorld(t)
	w.clusterSite()
	w.runs()
	fetched, thorough := w.fetched(), w.thorough
	w.flap(int(still/time.Second) + 2)
	if c := w.get().Status.AtProvider.Sites[0].Cluster; c.Reason != readiness.ReasonEndpointUnknown || c.Message != "Cluster c1: its control plane endpoint is not set" {
		t.Errorf("it is not told: %+v", c)
	}
	before := w.get().Status
	w.flap(40)
	if got := w.fetched() - fetched; got != 0 {
		t.Errorf("the kubeconfig was read %d times for what is known", got)
	}
	if got := w.thorough - thorough; got != 1 {
		t.Errorf("%d times it took somebody's turn", got)
	}
	if diff := cmp.Diff(before, w.get().Status); diff != "" {
		t.Errorf("status: -before, +after:\n%s", diff)
	}
	w.inCluster(goodKubeconfig + " ")
	w.reconcile()
	if got := w.fetched() - fetched; got != 1 {
		t.Errorf("another kubeconfig was read %d times", got)
	}
}

// seesHost returns when the watch has told where the API server is.
func (w *world) seesHost(want string) {
	w.Helper()
	ref := engines.Ref{Resource: capiClusters(), Kind: "Cluster", Namespace: "infra", Name: "c1"}
	w.sees("host "+want, ref, func(o *unstructured.Unstructured) bool {
		got, _, _ := unstructured.NestedString(o.Object, "spec", "controlPlaneEndpoint", "host")
		return got == want
	})
}
