package compose

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/ledger"
)

// settled is revision 2 after it was verified.
func settled() ledger.State {
	return ledger.State{
		Head: ledger.Head{Ledger: "l", Epoch: 1, Seq: 4, ID: "4"}, Current: &ledger.Revision{Number: 2}, Cursor: ledger.Cursor{Step: 1},
		Verdict: &ledger.Verdict{Result: ledger.VerdictVerified},
	}
}

// TestAskForPosition lets a repository have one directory that the delivery does not name any more.
func TestAskForPosition(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(s *ledger.State, observed *deliveryv1alpha1.GitDelivery)
		want   bool
	}{
		"Verified": {
			reason: "Directories that the Sites left are removed once the revision is verified.",
			change: func(*ledger.State, *deliveryv1alpha1.GitDelivery) {}, want: true,
		},
		"Unjudged": {
			reason: "Directories that the Sites left stay until the revision is verified.",
			change: func(s *ledger.State, _ *deliveryv1alpha1.GitDelivery) { s.Verdict = nil },
		},
		"Nothing": {
			reason: "A delivery without anything left does not change for a verdict.",
			change: func(_ *ledger.State, d *deliveryv1alpha1.GitDelivery) { d.Status.AtProvider.Trees = nil },
		},
		"Removed": {
			reason: "A delivery that removed left directories does not change once more.", want: true,
			change: func(s *ledger.State, d *deliveryv1alpha1.GitDelivery) {
				p := s.Position()
				d.Status.AtProvider.Trees, d.Spec.ForProvider.Settled, d.Spec.ForProvider.Position = nil, true, &p
			},
		},
		"Earlier": {
			reason: "Removals of an earlier revision prove nothing.",
			change: func(_ *ledger.State, d *deliveryv1alpha1.GitDelivery) {
				d.Status.AtProvider.Trees, d.Spec.ForProvider.Settled, d.Spec.ForProvider.Position = nil, true, &ledger.Position{Revision: 1}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, observed := settled(), asking(inWaves(1).Position(), "a")
			observed.Status.AtProvider.Trees = []deliveryv1alpha1.DeliveredTree{{Path: "a/x"}, {Path: "left/x"}}
			tc.change(&s, observed)
			desired := map[string]*deliveryv1alpha1.GitDelivery{"d": asking(inWaves(0).Position(), "a")}
			got := AskForPosition(desired, map[string]*deliveryv1alpha1.GitDelivery{"d": observed}, s, "home")["d"].Spec.ForProvider
			if diff := cmp.Diff(s.Position(), *got.Position) + cmp.Diff(tc.want, got.Settled); diff != "" {
				t.Errorf("\n%s\nAskForPosition(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestAskForPositionAtHome locates two deliveries, one of them to the home.
func TestAskForPositionAtHome(t *testing.T) {
	s := settled()
	ds := map[string]*deliveryv1alpha1.GitDelivery{"home": asking(ledger.Position{}, "a"), "other": asking(ledger.Position{}, "b")}
	ds["other"].Spec.ForProvider.Ledger, ds["other"].Spec.ForProvider.Mandate = &deliveryv1alpha1.LedgerUpdate{}, &deliveryv1alpha1.Mandate{}
	for name, d := range AskForPosition(ds, nil, s, "home") {
		p := d.Spec.ForProvider
		if isHome := name == "home"; (p.Ledger != nil) != isHome || p.Copy != nil || p.Mandate != nil || *p.Position != s.Position() {
			t.Errorf("\nEach delivery asks for the position, and the delivery to the home alone records, by a mandate that it gets with the events.\nAskForPosition(...): %s: got %+v", name, p)
		}
	}
}

func TestRecord(t *testing.T) {
	previous := ledger.Head{Ledger: "l", Epoch: 1, Seq: 3, ID: "3"}
	events := []ledger.Event{{Restored: &ledger.Restored{}}}
	id, err := ledger.NextID(previous.ID, events...)
	if err != nil {
		t.Fatal(err)
	}
	nextHead := ledger.Head{Ledger: "l", Epoch: 1, Seq: 4, ID: id}
	requested := &deliveryv1alpha1.LedgerUpdate{After: previous, Events: events}
	next := []ledger.Event{{Closed: &ledger.Closed{}}}
	followed, settledHead := ledger.Head{Ledger: "l", Epoch: 1, Seq: 5, ID: "5"}, settled().Head
	cases := map[string]struct {
		reason string
		asked  *deliveryv1alpha1.LedgerUpdate
		head   ledger.Head
		taken  *ledger.Head
		events []ledger.Event
		want   deliveryv1alpha1.LedgerUpdate
	}{
		"First":    {reason: "A home that is new is asked to record on top of nothing.", events: next, want: deliveryv1alpha1.LedgerUpdate{Events: next}},
		"Recorded": {reason: "A home that recorded its requested events is asked the same again.", asked: requested, head: nextHead, want: *requested},
		"Next": {
			reason: "New events replace events that are already recorded.",
			asked:  requested, head: nextHead, events: next, want: deliveryv1alpha1.LedgerUpdate{After: nextHead, Events: next},
		},
		"Followed": {
			reason: "A home whose requested events the provider continued is asked the same again.",
			asked:  requested, head: followed, taken: &nextHead, want: *requested,
		},
		"Seen": {
			reason: "New events after events that no spec contains follow the head of the latter.",
			asked:  requested, head: followed, taken: &nextHead, events: next, want: deliveryv1alpha1.LedgerUpdate{After: followed, Events: next},
		},
		"Unproven": {
			reason: "A home whose ledger went on without a sign of the requested events is asked for nothing on top of the head.",
			asked:  requested, head: followed, want: deliveryv1alpha1.LedgerUpdate{After: followed},
		},
		"Earlier": {
			reason: "A home that the provider went on from later events is asked for nothing on top of the head.",
			asked:  requested, head: followed, taken: &settledHead, want: deliveryv1alpha1.LedgerUpdate{After: followed},
		},
		"Other": {
			reason: "A home whose ledger has another head is asked for nothing on top of that.",
			asked:  requested, head: settled().Head, want: deliveryv1alpha1.LedgerUpdate{After: settled().Head},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			observed := asking(inWaves(1).Position(), "a")
			observed.Spec.ForProvider.Ledger = tc.asked
			observed.Status.AtProvider.Ledger, observed.Status.AtProvider.Taken = &ledger.State{Head: tc.head}, tc.taken
			got := Record(asking(inWaves(1).Position(), "a"), observed, tc.head, tc.events, nil)
			if diff := cmp.Diff(tc.want, *got.Spec.ForProvider.Ledger); diff != "" {
				t.Errorf("\n%s\nRecord(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFollow composes the delivery to a follower whose Sites are a, in the second step of revision 2, and b, in its first step.
func TestFollow(t *testing.T) {
	stateAt := func(step int32, verdict *ledger.Verdict) ledger.State {
		s := settled()
		s.Current.Plan, s.Cursor.Step, s.Verdict, s.Seq = inWaves(step).Current.Plan, step, verdict, int64(step)+3
		return s
	}
	previous := ledger.Position{Epoch: 1, Revision: 1, Step: 1}
	inPlace := func(d *deliveryv1alpha1.GitDelivery) {
		d.Status.AtProvider.Record = &deliveryv1alpha1.LedgerRecord{Position: *d.Spec.ForProvider.Position}
		for _, t := range d.Spec.ForProvider.Trees {
			d.Status.AtProvider.Trees = append(d.Status.AtProvider.Trees, deliveryv1alpha1.DeliveredTree{Path: t.Path, Tree: t.Tree})
		}
	}
	recordAt := func(recorded ledger.State, changed string) func(*deliveryv1alpha1.GitDelivery) {
		return func(d *deliveryv1alpha1.GitDelivery) {
			inPlace(d)
			d.Status.AtProvider.Record = &deliveryv1alpha1.LedgerRecord{Position: recorded.Position(), Copy: &recorded}
			d.Status.AtProvider.Trees[0].Tree += changed
		}
	}
	verified := &ledger.Verdict{Result: ledger.VerdictVerified}
	type follower struct {
		Position *ledger.Position
		Action   deliveryv1alpha1.TreeAction
		Copied   int64
	}
	cases := map[string]struct {
		reason   string
		recorded ledger.State
		site     string
		retains  bool
		was      *ledger.Position
		change   func(*deliveryv1alpha1.GitDelivery)
		want     follower
	}{
		"New": {
			reason:   "A new follower gets the position.",
			recorded: stateAt(0, nil), site: "b", want: follower{&ledger.Position{Epoch: 1, Revision: 2}, "Desired", 3},
		},
		"Unasked": {
			reason:   "A new follower whose Sites are not reached asks for no position.",
			recorded: stateAt(0, nil), site: "a", retains: true, want: follower{nil, "Keep", 3},
		},
		"Reached": {
			reason:   "A follower whose Site waits for its cluster gets the position.",
			recorded: stateAt(0, nil), site: "b", retains: true, want: follower{&ledger.Position{Epoch: 1, Revision: 2}, "Keep", 3},
		},
		"Verdict": {
			reason: "A verdict alone changes no follower.", recorded: stateAt(1, verified), site: "a", was: new(stateAt(1, nil).Position()),
			want: follower{&ledger.Position{Epoch: 1, Revision: 2, Step: 1}, "Desired", 1},
		},
		"Step": {
			reason: "A step elsewhere changes no follower.", recorded: stateAt(1, nil), site: "b", was: new(stateAt(0, nil).Position()),
			want: follower{&ledger.Position{Epoch: 1, Revision: 2}, "Desired", 1},
		},
		"OtherLedger": {
			reason: "A follower of another ledger gets the recorded position.", recorded: stateAt(1, nil), site: "b", was: new(stateAt(0, nil).Position()),
			change: func(d *deliveryv1alpha1.GitDelivery) { d.Spec.ForProvider.Copy.Ledger = "other" },
			want:   follower{&ledger.Position{Epoch: 1, Revision: 2, Step: 1}, "Desired", 4},
		},
		"Revision": {
			reason:   "The next revision changes a follower.",
			recorded: stateAt(1, nil), site: "a", was: &previous, want: follower{&ledger.Position{Epoch: 1, Revision: 2, Step: 1}, "Desired", 4},
		},
		"Trees": {
			reason: "Other trees at the same position change a follower.", recorded: stateAt(1, nil), site: "a", was: new(stateAt(0, nil).Position()),
			change: func(d *deliveryv1alpha1.GitDelivery) {
				d.Spec.ForProvider.Trees[0] = directories.Retain(d.Spec.ForProvider.Trees[0])
			},
			want: follower{&ledger.Position{Epoch: 1, Revision: 2, Step: 1}, "Desired", 4},
		},
		"FollowedHome": {
			reason: "A follower that the provider brought to the revision by the home stays at that position.", recorded: stateAt(1, nil), site: "b", was: &previous,
			change: recordAt(stateAt(0, nil), ""), want: follower{&ledger.Position{Epoch: 1, Revision: 2}, "Desired", 3},
		},
		"FollowedTooEarly": {
			reason: "A follower that was brought to a step before its own gets the position.", recorded: stateAt(1, nil), site: "a", was: &previous,
			change: recordAt(stateAt(0, nil), ""), want: follower{&ledger.Position{Epoch: 1, Revision: 2, Step: 1}, "Desired", 4},
		},
		"FollowedOtherTree": {
			reason: "A follower whose directory has another tree gets the position.", recorded: stateAt(1, nil), site: "b", was: &previous,
			change: recordAt(stateAt(0, nil), "changed"), want: follower{&ledger.Position{Epoch: 1, Revision: 2, Step: 1}, "Desired", 4},
		},
		"Unreached": {
			reason:   "A follower stays with the revision before until its step comes.",
			recorded: stateAt(0, nil), site: "a", retains: true, was: &previous, change: inPlace, want: follower{&previous, "Desired", 1},
		},
		"Unfinished": {
			reason: "Trees that the previous revision did not deliver yet are held back.", recorded: stateAt(0, nil), site: "a", retains: true, was: &previous,
			want: follower{&ledger.Position{Epoch: 1, Revision: 2}, "Keep", 3},
		},
		"Rejected": {
			reason:   "Trees that a rejected revision began to deliver are held back, at the position that the follower has.",
			recorded: stateAt(1, nil), site: "b", retains: true,
			was: new(stateAt(0, nil).Position()), change: inPlace, want: follower{&ledger.Position{Epoch: 1, Revision: 2}, "Keep", 1},
		},
		"RejectedLater": {
			reason:   "A follower whose Site was reached before the revision was rejected gets the position, so that it reports its trees.",
			recorded: stateAt(1, nil), site: "a", retains: true,
			was: new(stateAt(0, nil).Position()), change: inPlace, want: follower{&ledger.Position{Epoch: 1, Revision: 2, Step: 1}, "Keep", 4},
		},
		"Home": {
			reason: "A home that becomes a follower gets the recorded position.", recorded: stateAt(1, nil), site: "b", was: new(stateAt(1, nil).Position()),
			change: func(d *deliveryv1alpha1.GitDelivery) {
				d.Spec.ForProvider.Copy, d.Spec.ForProvider.Ledger = nil, &deliveryv1alpha1.LedgerUpdate{}
			},
			want: follower{&ledger.Position{Epoch: 1, Revision: 2, Step: 1}, "Desired", 4},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			desired, observed := asking(tc.recorded.Position(), tc.site), (*deliveryv1alpha1.GitDelivery)(nil)
			if tc.retains {
				desired.Spec.ForProvider.Trees[0] = directories.Retain(desired.Spec.ForProvider.Trees[0])
			}
			if tc.was != nil {
				observed = asking(*tc.was, tc.site)
				observed.Spec.ForProvider.Copy = &ledger.State{Head: ledger.Head{Ledger: tc.recorded.Ledger, Epoch: 1, Seq: 1}}
			}
			if tc.change != nil {
				tc.change(observed)
			}
			tc.recorded.Current.Parts = []ledger.Part{{Delivery: "d", Sites: []string{tc.site}}}
			p := Follow("d", desired, observed, tc.recorded).Spec.ForProvider
			if diff := cmp.Diff(tc.want, follower{p.Position, p.Trees[0].Action, p.Copy.Seq}); diff != "" {
				t.Errorf("\n%s\nFollow(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestWithdraw lets a home that asks for revision 2 record nothing any more.
func TestWithdraw(t *testing.T) {
	newest := settled()
	otherPosition := newest.Position()
	otherPosition.Revision = 3
	cases := map[string]struct {
		reason string
		was    *ledger.Position
		want   *ledger.Position
	}{
		"Same":  {reason: "A position that the newest state has stays.", was: new(newest.Position()), want: new(newest.Position())},
		"Other": {reason: "A position that was to be recorded first is not asked for.", was: &otherPosition},
		"None":  {reason: "A home without a position gets none."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := asking(otherPosition, "a")
			d.Spec.ForProvider.Position, d.Spec.ForProvider.Ledger, d.Spec.ForProvider.Mandate = tc.was, &deliveryv1alpha1.LedgerUpdate{}, &deliveryv1alpha1.Mandate{}
			p := Withdraw(d, deploymentv1alpha1.DeliveryConfig{}, newest).Spec.ForProvider
			if diff := cmp.Diff(tc.want, p.Position); diff != "" || p.Ledger != nil || p.Mandate != nil || p.Copy.Head != newest.Head || len(p.Trees) != 1 {
				t.Errorf("\n%s\nWithdraw(...): position: -want, +got:\n%s\nwant no ledger, no mandate and a copy of the newest state, got %+v", tc.reason, diff, p)
			}
		})
	}
}
