package sitesync

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/track"
)

// theFolder is the folder of track green in Git.
const theFolder = "1111111111111111111111111111111111111111"

// deploymentWith is Deployment web-green with four pods, of which some are available.
func deploymentWith(available int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web-green", "namespace": "team-a", "generation": int64(1)},
		"spec": map[string]any{"replicas": int64(4)},
		"status": map[string]any{
			"observedGeneration": int64(1), "replicas": int64(4), "updatedReplicas": int64(4), "availableReplicas": available,
		},
	}}
}

// TestPodsAreReadAgain has a watch of Deployments behind: it has the pods of an earlier folder, and the API server the pods of the folder that Flux
// applied.
func TestPodsAreReadAgain(t *testing.T) {
	w := newWorld(t)
	commit := w.deliver("green")
	w.askFor(1)
	s := w.get()
	s.Spec.ForProvider.Sites[0].Traffic = &v1alpha1.SiteTraffic{Drain: "30s", Tracks: []v1alpha1.TrackTraffic{{
		Name: track.Green, Tree: theFolder, Awaited: true, Workloads: []v1alpha1.TrafficWorkload{{Namespace: "team-a", Name: "web-green"}},
	}}}
	w.must(w.kube.Update(w.Context(), s))
	_, err := w.cluster.Resource(deployments()).Namespace("team-a").Create(w.Context(), deploymentWith(4), metav1.CreateOptions{})
	w.must(err)
	live, reads := deploymentWith(3), 0
	w.cluster.PrependReactor("get", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
		reads++
		return true, live, nil
	})
	w.flux(commit, false)
	w.until("Syncing | Syncing | CanaryNotAvailable")
	if green := evidence.TrackOf(w.get().Status.AtProvider.Sites[0], track.Green); green.AvailableTree != "" {
		t.Errorf("pods that the watch has from before prove a folder: %+v", green)
	}
	live = deploymentWith(4)
	w.reconcile()
	w.expect("the API server has the pods of the folder", "Live | Live")
	if green := evidence.TrackOf(w.get().Status.AtProvider.Sites[0], track.Green); green.AvailableTree != theFolder {
		t.Errorf("the pods that the API server has prove the folder: %+v", green)
	}
	baseline := reads
	w.reconcile()
	if reads != baseline {
		t.Errorf("a folder whose pods are proven is read again %d times", reads-baseline)
	}
}
