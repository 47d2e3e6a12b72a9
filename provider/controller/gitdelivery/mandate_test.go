package gitdelivery

import (
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/state"
)

// deliveredInTracks is a delivered directory whose tracks share the requests.
var deliveredInTracks = []state.Tree{{Branch: "main", DeliveredTree: v1alpha1.DeliveredTree{
	Site: "edge1", Path: webAtE1, Tracks: []v1alpha1.DeliveredTrack{{Name: "blue", Weight: 80}, {Name: "green", Weight: 20}},
}}}

// TestActsByMandate has a home with a mandate.
func TestActsByMandate(t *testing.T) {
	cases := map[string]struct {
		reason    string
		isRefused bool
		change    func(d *v1alpha1.GitDelivery, f *facts)
		want      bool
	}{
		"Home": {reason: "A home that may be written is acted for.", change: func(*v1alpha1.GitDelivery, *facts) {}, want: true},
		"Updated": {reason: "A home that may be updated is acted for.", change: func(d *v1alpha1.GitDelivery, _ *facts) {
			d.Spec.ManagementPolicies = xpv2.ManagementPolicies{"Observe", "Update"}
		}, want: true},
		"Refused": {reason: "A provider that does not honour mandates acts for none.", isRefused: true, change: func(*v1alpha1.GitDelivery, *facts) {}},
		"Observed": {reason: "A home that may only be observed is left.", change: func(d *v1alpha1.GitDelivery, _ *facts) {
			d.Spec.ManagementPolicies = xpv2.ManagementPolicies{"Observe"}
		}},
		"Unmanaged": {reason: "A home that is not managed is left.", change: func(d *v1alpha1.GitDelivery, _ *facts) { d.Spec.ManagementPolicies = nil }},
		"Deleted": {
			reason: "A home that is being deleted is left.",
			change: func(d *v1alpha1.GitDelivery, _ *facts) { d.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} },
		},
		"Follower": {reason: "A repository without the ledger has nothing to record.", change: func(_ *v1alpha1.GitDelivery, f *facts) { f.spec.Ledger = nil }},
		"Tracks": {
			reason: "A home with the files that its tracks share is acted for.",
			change: func(_ *v1alpha1.GitDelivery, f *facts) { f.delivered = deliveredInTracks }, want: true,
		},
		"NoFiles": {reason: "A home without the files that its tracks share is left to the function.", change: func(_ *v1alpha1.GitDelivery, f *facts) {
			f.delivered, f.spec.Trees[0].Files = deliveredInTracks, nil
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHome("web", desired(t, "edge1", webAtE1, "a"))
			f := facts{spec: *d.Spec.ForProvider.DeepCopy()}
			tc.change(d, &f)
			e := &external{connector: &connector{honoursMandates: !tc.isRefused}}
			if got := e.actsByMandate(d, f); got != tc.want {
				t.Errorf("\n%s\nactsByMandate(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestMayFollowHome has a delivery to another repository than the home.
func TestMayFollowHome(t *testing.T) {
	cases := map[string]struct {
		reason    string
		isRefused bool
		change    func(d *v1alpha1.GitDelivery, f *facts)
		want      bool
	}{
		"Follower": {reason: "A repository that may be written goes by the home.", change: func(*v1alpha1.GitDelivery, *facts) {}, want: true},
		"Refused": {
			reason:    "A provider that does not honour mandates lets no repository go by the home.",
			isRefused: true, change: func(*v1alpha1.GitDelivery, *facts) {},
		},
		"Observed": {reason: "A repository that may only be observed is left.", change: func(d *v1alpha1.GitDelivery, _ *facts) {
			d.Spec.ManagementPolicies = xpv2.ManagementPolicies{"Observe"}
		}},
		"Deleted": {
			reason: "A delivery that is being deleted is left.",
			change: func(d *v1alpha1.GitDelivery, _ *facts) { d.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} },
		},
		"Home": {reason: "A home goes by its own ledger.", change: func(_ *v1alpha1.GitDelivery, f *facts) { f.spec.Ledger = &v1alpha1.LedgerUpdate{} }},
		"Read": {reason: "A repository that is asked for no position is read only.", change: func(_ *v1alpha1.GitDelivery, f *facts) { f.spec.Position = nil }},
		"Tracks": {
			reason: "A repository goes by the home with the files that its tracks share.",
			change: func(_ *v1alpha1.GitDelivery, f *facts) { f.delivered = deliveredInTracks }, want: true,
		},
		"NoFiles": {reason: "A repository without the files that its tracks share is left to the function.", change: func(_ *v1alpha1.GitDelivery, f *facts) {
			f.delivered, f.spec.Trees[0].Files = deliveredInTracks, nil
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHome("web", desired(t, "edge1", webAtE1, "a"))
			d.Spec.ForProvider.Ledger, d.Spec.ForProvider.Copy, d.Spec.ForProvider.Position = nil, &ledger.State{}, &ledger.Position{Revision: 1}
			f := facts{spec: *d.Spec.ForProvider.DeepCopy()}
			tc.change(d, &f)
			e := &external{connector: &connector{honoursMandates: !tc.isRefused}}
			if got := e.mayFollowHome(d, f); got != tc.want {
				t.Errorf("\n%s\nmayFollowHome(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestMandatedSince has a ledger whose events 3 and 4 were recorded by a mandate.
func TestMandatedSince(t *testing.T) {
	head := func(name string, seq int64) *ledger.State {
		return &ledger.State{Head: ledger.Head{Ledger: name, Epoch: 1, Seq: seq}}
	}
	cases := map[string]struct {
		reason string
		shown  *ledger.State
		want   int
	}{
		"Before":  {reason: "Events by the mandate are new to a status with the events of the spec.", shown: head("l", 2), want: 2},
		"Earlier": {reason: "Events of specs are left out.", shown: head("l", 1), want: 2},
		"One":     {reason: "An event in the status is not reported again.", shown: head("l", 3), want: 1},
		"All":     {reason: "Nothing is new to a status that shows the head.", shown: head("l", 4)},
		"Lost":    {reason: "A lost status does not show the reported events.", shown: nil},
		"None":    {reason: "A status without a ledger does not show the reported events.", shown: head("", 0)},
		"Other":   {reason: "A status with another ledger does not show the reported events.", shown: head("m", 2)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			file := &state.LedgerFile{State: *head("l", 4)}
			for seq := range int64(4) {
				e := state.LoggedEvent{Seq: seq + 1}
				if e.Seq > 2 {
					e.By = state.RecorderMandate
				}
				file.Events = append(file.Events, e)
			}
			f := facts{ledger: ledgerFacts{file: file, recorded: file.State}}
			if got := len(f.mandatedSince(tc.shown)); got != tc.want {
				t.Errorf("\n%s\nmandatedSince(...): want %d events, got %d", tc.reason, tc.want, got)
			}
		})
	}
	if got := (facts{}).mandatedSince(head("l", 1)); got != nil {
		t.Errorf("\nA repository without a ledger has no events.\nmandatedSince(...): want none, got %v", got)
	}
}

// TestVersionByMandate compares pushes of one spec.
func TestVersionByMandate(t *testing.T) {
	rejected := ledger.State{Head: ledger.Head{Ledger: "l", Epoch: 1, Seq: 4, ID: "four"}, Current: &ledger.Revision{Number: 2}}
	back := rejected
	back.Seq, back.ID, back.Cursor.Attempt = 5, "five", 1
	versionOf := func(s ledger.State, isAhead bool, events ...ledger.Event) string {
		return facts{isAhead: isAhead, recording: recording{next: s, applied: s, mandated: events}}.versionByMandate()
	}
	if got := versionOf(rejected, false); got != "" {
		t.Errorf("\nWithout anything by a mandate the spec alone makes the version.\nversionByMandate(): want none, got %q", got)
	}
	if refused, rollback := versionOf(rejected, true), versionOf(back, true); refused == rollback || rollback == "" {
		t.Errorf("\nA refused revision does not hold back its rollback.\nversionByMandate(): want two versions, got %q and %q", refused, rollback)
	}
	if refused, rollback := versionOf(back, false, rolledBackEvent(1)), versionOf(back, true); refused != rollback {
		t.Errorf("\nA push that was refused is waited out whether its events were recorded meanwhile or not.\nversionByMandate(): want one version, got %q and %q", refused, rollback)
	}
}
