package overview

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/clone"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
	"github.com/intentplane/intentplane/provider/state"
)

func TestRememberedRevisions(t *testing.T) {
	type seen struct {
		Number  int64
		Verdict string
		By      string
		IsLive  bool
	}
	cases := map[string]struct {
		reason string
		state  ledger.State
		want   []seen
	}{
		"RolledBack": {
			reason: "The target of a rollback that ended is live.",
			state:  samples.RolledBack().Input.State,
			want:   []seen{{7, "Rejected", "ann", false}, {6, "Withdrawn", originIntent, false}, {5, "Verified", "", true}},
		},
		"RollingBack": {
			reason: "As long as a rollback goes on, no revision is known to be live.",
			state:  samples.RollingBack().Input.State,
			want:   []seen{{7, "Rejected", "ann", false}, {6, "Withdrawn", originIntent, false}, {5, "Verified", "", false}},
		},
		"New": {
			reason: "A revision without a verdict comes before revisions that ended.",
			state:  samples.New().Input.State, want: []seen{{7, "", "ann", false}, {6, "Withdrawn", originIntent, false}, {5, "Verified", "", false}},
		},
		"Essentials": {
			reason: "A copy of the ledger has the verdict on the present revision, too.",
			state:  samples.RolledBack().Input.State.Essentials(), want: []seen{{7, "Rejected", "ann", false}, {5, "Verified", "", true}},
		},
		"Closed": {reason: "The record of a deleted deployment has no revisions.", state: ledger.State{IsClosed: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			requested := ledger.Revision{Number: 7, RequestRef: &ledger.RequestReference{Name: "shop-retry", By: "ann"}}
			m := clone.Memory{
				State: tc.state, Events: []state.LoggedEvent{{Event: ledger.Event{Ordered: &ledger.Ordered{Revision: requested}}}},
				Revisions: []deliveryv1alpha1.HistoryEntry{{Revision: 7, Commit: "8d21c0e4b0a1"}},
			}
			var got []seen
			for _, r := range RememberedRevisions(m) {
				got = append(got, seen{r.Number, r.Verdict, r.RequestedBy, r.IsLive})
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nRememberedRevisions(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
