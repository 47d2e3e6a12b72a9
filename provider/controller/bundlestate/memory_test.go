package bundlestate

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
)

// TestCreatedUID loses the status that a reconcile writes at its end, and gives the package another spec.
func TestCreatedUID(t *testing.T) {
	cases := map[string]struct {
		reason string
		lose   func(*walk, *v1alpha1.BundleState)
		want   string
	}{
		"Restart": {
			reason: "The UID is in the status before the reconcile ends.",
			lose:   func(w *walk, _ *v1alpha1.BundleState) { w.c.memory = newNoteMemory() }, want: v1alpha1.PackageReasonInProgress,
		},
		"Stale": {
			reason: "A reconcile that reads an earlier status goes on with the UID in memory.",
			lose:   func(_ *walk, bs *v1alpha1.BundleState) { bs.Status = v1alpha1.BundleStateStatus{} }, want: v1alpha1.PackageReasonInProgress,
		},
		"Both": {
			reason: "An object whose UID is lost gets no other spec.", want: v1alpha1.PackageReasonNameTaken,
			lose: func(w *walk, bs *v1alpha1.BundleState) {
				w.c.memory, bs.Status = newNoteMemory(), v1alpha1.BundleStateStatus{}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, ctx := newStage().newWalk(1, func(*facts) {}, func(*server) {}), context.Background()
			stored := &v1alpha1.BundleState{}
			stored.SetNamespace(w.s.namespace)
			stored.SetName("platform")
			stored.Spec.ForProvider = v1alpha1.BundleStateParameters{BundleRef: platform, Packages: []v1alpha1.BundlePackage{walkPackage("a", "v1")}}
			w.s.states["platform"] = stored
			e, bs := &external{connector: w.c, note: w.c.memory.NoteOf(stored)}, stored.DeepCopy()
			if _, err := e.Observe(ctx, bs); err != nil {
				t.Fatal(err)
			}
			if _, err := e.Update(ctx, bs); err != nil {
				t.Fatal(err)
			}

			tc.lose(w, stored)
			stored.Spec.ForProvider.Packages[0] = walkPackage("a", "v2")
			e, bs = &external{connector: w.c, note: w.c.memory.NoteOf(stored)}, stored.DeepCopy()
			if _, err := e.Observe(ctx, bs); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, e.decision.packages[0].Reason); diff != "" {
				t.Errorf("\n%s\nreason of the package: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
