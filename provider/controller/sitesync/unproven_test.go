package sitesync

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	workerFile = `apiVersion: v1
kind: Service
metadata: {name: web, namespace: team-a}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: worker, namespace: team-a}
`
	skipWorker = `, annotations: {kustomize.toolkit.fluxcd.io/reconcile: disabled}`
)

// takeStock writes the inventory of Flux.
func (w *world) takeStock(ids []string) {
	w.Helper()
	entries := []string{}
	for _, id := range ids {
		entries = append(entries, `{"id":"`+id+`","v":"v1"}`)
	}
	_, err := w.cluster.Resource(kustomizations()).Namespace("flux").Patch(w.Context(), "team-a-web-edge1", types.MergePatchType,
		[]byte(`{"status":{"inventory":{"entries":[`+strings.Join(entries, ",")+`]}}}`), metav1.PatchOptions{})
	w.must(err)
}

func TestUnproven(t *testing.T) {
	cases := map[string]struct {
		reason    string
		file      string
		inventory []string
		says      string
		unproven  []string
		message   string
	}{
		"Applied": {
			reason: "Each object is in the inventory of Flux.", file: workerFile,
			inventory: []string{"team-a_web__Service", "team-a_worker_apps_Deployment"}, says: isLiveNow,
		},
		"LeftAlone": {
			reason: "A Site where Flux skipped an object is not live.", file: workerFile, inventory: []string{"team-a_web__Service"},
			says: "Syncing | Syncing | NotApplied", message: "the engine does not report that it applied Deployment team-a/worker",
		},
		"Declared": {
			reason:    "An object that is left alone on purpose does not take part in the proof, and the status names it.",
			file:      strings.Replace(workerFile, "{name: worker, namespace: team-a", "{name: worker, namespace: team-a"+skipWorker, 1),
			inventory: []string{"team-a_web__Service"},
			says:      isLiveNow, unproven: []string{"Deployment team-a/worker: annotation kustomize.toolkit.fluxcd.io/reconcile: disabled"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.flux(w.deliver(tc.file), false)
			w.takeStock(tc.inventory)
			w.askFor(1)
			w.until(tc.says)
			site := w.get().Status.AtProvider.Sites[0]
			if diff := cmp.Diff(tc.unproven, site.Unproven); diff != "" {
				t.Errorf("\n%s\nunproven: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.message, site.Message); diff != "" {
				t.Errorf("\n%s\nmessage: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
