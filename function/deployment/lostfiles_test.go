package deployment

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// recreatesDelivery loses the object of a Site, which a call makes again for the ledger alone, and lets its repository answer that.
func (w *world) recreatesDelivery(site string) {
	w.t.Helper()
	w.loseDelivery(site)
	w.apply(w.call())
	w.deliver()
}

// TestLostInCanary loses objects in the moment in which a user acts, while a canary gets requests. These go back before its pods go.
func TestLostInCanary(t *testing.T) {
	cases := map[string]struct {
		reason string
		// isInWaves is true if edge2 comes in a later wave, and has a repository of its own.
		isInWaves bool
		act       func(w *world)
		want      []string
	}{
		"AbortWithoutFiles": {
			reason: "A rollback takes the tracks' shared objects from the spec if no object has them, and so the requests leave the canary before its pods.",
			act:    func(w *world) { w.ask("a", 2, action(rolloutv1alpha1.ActionAbort)); w.loseDeliveries() },
			want:   []string{"blue 1: 80, green 2: 20", "blue 1: 100, green 2: 0", "blue 1: 100"},
		},
		"AbortWithoutDirectories": {
			reason: "A revision that is rejected while the object of its home names no directory is rolled back.", isInWaves: true,
			act:  func(w *world) { w.recreatesDelivery("edge1"); w.ask("a", 2, action(rolloutv1alpha1.ActionAbort)) },
			want: []string{"blue 1: 80, green 2: 20", "blue 1: 100, green 2: 0", "blue 1: 100"},
		},
		"EditAfterLoss": {
			reason: "A revision that begins when an object was made again takes the requests back first.",
			act:    func(w *world) { w.recreatesDelivery("edge1"); w.twoSites("three") },
			want: []string{
				"blue 1: 80, green 2: 20", "blue 1: 100, green 2: 0", "blue 1: 100, green 3: 0", "blue 1: 80, green 3: 20", "blue 1: 0, green 3: 100",
				"green 3: 100",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newCanaryWorld(t, weightStep(20))
			if tc.isInWaves {
				w.splitRepositories()
				w.in.Spec.DeliveryConfig.Waves = []deploymentv1alpha1.Wave{{Name: "first", Sites: []deploymentv1alpha1.SiteName{"edge1"}}}
			}
			w.twoSites("one")
			w.story("edge1", cluster{})
			w.twoSites("two")
			w.until("edge1", "blue 1: 80, green 2: 20", cluster{})
			tc.act(w)
			story, out := w.story("edge1", cluster{})
			if story[0] != tc.want[0] {
				story = append(tc.want[:1:1], story...)
			}
			if diff := cmp.Diff(tc.want, story); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s\n%s: %s", tc.reason, diff, out.Status.Phase, out.Status.Message)
			}
		})
	}
}
