package gitdelivery

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/track"
)

// TestTracksOfRefused recreates the object of a canary as the function does while it knows nothing of the ledger, and restores one from a backup.
func TestTracksOfRefused(t *testing.T) {
	cases := map[string]struct {
		reason string
		lose   func(w *world, backup *v1alpha1.GitDelivery)
	}{
		"Recreated": {
			reason: "An object without a status shows which track gets requests together with the ledger, before anything is decided about it.",
			lose: func(w *world, backup *v1alpha1.GitDelivery) {
				w.lose("web")
				backup.Spec.ForProvider.Position, backup.Spec.ForProvider.Ledger = nil, &v1alpha1.LedgerUpdate{Events: []ledger.Event{openedEvent("other")}}
				backup.Spec.ForProvider.Trees = nil
				w.recreate(backup)
			},
		},
		"Backup": {
			reason: "An object with the status of an earlier step shows which track gets requests together with the ledger.",
			lose: func(w *world, backup *v1alpha1.GitDelivery) {
				status := backup.Status
				w.lose("web")
				w.recreate(backup)
				backup.Status = status
				w.must(w.kube.Status().Update(w.Context(), backup))
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			stable, canary := w.prepared()
			backup := w.get("web")
			w.propose([]v1alpha1.Tree{tracked(t, beside(t, canary, stable, 20, 100), shared(20), track.Blue)}, advanced(1, ledger.StageSteps))
			w.delivered()
			want := w.get("web").Status.AtProvider
			tc.lose(w, backup)
			w.restart()
			w.reconcile("web")
			w.expect("web", v1alpha1.ReasonOrderBehind)
			got := w.get("web").Status.AtProvider
			if diff := cmp.Diff(want.Record.Position, got.Record.Position); diff != "" {
				t.Fatalf("\n%s\nposition: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(want.Trees, got.Trees); diff != "" {
				t.Errorf("\n%s\ntrees: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestBackupInPosition moves requests twice in one position, and then restores the object as it was after the first time.
func TestBackupInPosition(t *testing.T) {
	w := newWorld(t)
	stable, canary := w.prepared()
	move := func(weight int32, previous string) *v1alpha1.GitDelivery {
		next := tracked(t, beside(t, canary, stable, int(weight), 100), shared(weight), track.Blue)
		next.After = previous
		w.propose([]v1alpha1.Tree{next})
		w.delivered()
		return w.get("web")
	}
	backup := move(20, w.get("web").Status.AtProvider.Trees[0].Tree)
	first, status := backup.Status.AtProvider.Trees[0].Tree, backup.Status
	want, commits := move(50, first).Status.AtProvider.Trees, w.commits()
	w.lose("web")
	w.recreate(backup)
	backup.Status = status
	w.must(w.kube.Status().Update(w.Context(), backup))
	w.restart()
	w.reconcile("web")
	w.expect("web", v1alpha1.ReasonOrderBehind)
	if diff := cmp.Diff(want, w.get("web").Status.AtProvider.Trees); diff != "" {
		t.Errorf("\nAn object from a backup shows the recorded trees of the directories, so that the next tree is requested after them.\ntrees: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(commits, w.commits()); diff != "" {
		t.Errorf("\nAn object from a backup does not restore an earlier tree of its position.\ncommits: -want, +got:\n%s", diff)
	}
	move(20, want[0].Tree)
}
