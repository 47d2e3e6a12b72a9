package deployment

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// moveSites lets all Sites be in a repository.
func (w *walk) moveSites(target string) {
	for site := range w.sites {
		w.set("Site", site, map[string]any{"kind": clusterConfigKind, "name": target}, "spec", "repository", "providerConfigRef")
	}
}

// reconcilesTo lets the provider reconcile the delivery to a repository.
func (w *walk) reconcilesTo(repository string) { w.provide(w.deliveryTo(repository), false) }

// asksToRecord is true for a repository whose delivery asks to record events.
func (w *walk) asksToRecord(repository string) bool {
	l := w.deliveries[w.deliveryTo(repository)].Spec.ForProvider.Ledger
	return l != nil && len(l.Events) > 0
}

// TestForcedMove plays homes that are gone before they record events.
func TestForcedMove(t *testing.T) {
	cases := map[string]struct {
		reason string
		play   func(*testing.T, *walk)
		// want is the home of the ledger at the end, and revision the current one.
		want     string
		revision int64
	}{
		"Withdrawn": {
			reason: "A home that the ledger is forced away from is asked to record nothing before another home is.", want: "other", revision: 2,
			play: func(t *testing.T, w *walk) {
				t.Helper()
				w.wish(3)
				w.calls()
				w.repos["default"].gone = true
				w.requestMove("other", true)
				for range 2 {
					if w.calls(); w.asksToRecord("default") {
						t.Error("the home that is gone: want it asked to record nothing")
					}
				}
				if !w.asksToRecord("other") {
					t.Error("the next home: want it asked to record the ledger")
				}
				w.reconcilesTo("other")
				w.repos["default"].gone = false
				w.reconcilesTo("default")
			},
		},
		"LateCall": {
			reason: "A home that a late call asks to record again records nothing once another home is known to have the ledger.", want: "other", revision: 2,
			play: func(t *testing.T, w *walk) {
				t.Helper()
				w.wish(3)
				w.calls()
				home := w.deliveryTo("default")
				late := w.deliveries[home]
				head := w.ledger().Head
				w.repos["default"].gone = true
				w.requestMove("other", true)
				w.calls()
				w.calls()
				w.reconcilesTo("other")
				w.repos["default"].gone = false
				w.put(home, late)
				w.reconcilesTo("default")
				if diff := cmp.Diff(head, w.repos["default"].memory.ledger.Head); diff != "" {
					t.Errorf("ledger of the home that was left: -want, +got:\n%s", diff)
				}
			},
		},
		"OnlyOtherLost": {
			reason: "A ledger whose home is gone is forced to the repository that the spec delivers to, although no delivery goes there any more.",
			want:   "other", revision: 2,
			play: func(_ *testing.T, w *walk) {
				w.repos["default"].gone = true
				delete(w.deliveries, w.deliveryTo("other"))
				w.wiped = true
				w.moveSites("other")
				w.requestMove("other", true)
			},
		},
		"NotCompiled": {
			reason: "A request to move the ledger waits while the spec cannot be compiled, since that says which repositories there are.", want: "other", revision: 2,
			play: func(t *testing.T, w *walk) {
				t.Helper()
				w.repos["default"].gone = true
				delete(w.deliveries, w.deliveryTo("other"))
				w.wiped = true
				w.moveSites("other")
				intent := *w.in.Spec.Intent
				w.say("{")
				w.requestMove("other", true)
				if out := w.calls(); out.Status.Requests[0].Result != "Waiting" {
					t.Errorf("result of the request: want Waiting, got %s", out.Status.Requests[0].Result)
				}
				w.say(intent)
			},
		},
		"OtherParts": {
			reason: "A revision that continues in another home differs from a revision that delivers to other repositories.", want: "other", revision: 2,
			play: func(_ *testing.T, w *walk) {
				w.repos["default"].gone = true
				w.moveSites("other")
				w.deliveries, w.sync, w.wiped = map[string]*deliveryv1alpha1.GitDelivery{}, nil, true
				w.requestMove("other", true)
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWalk(t, versions(), 2)
			w.in.Spec.DeliveryConfig.Waves = nil
			w.works()
			tc.play(t, w)
			w.works()
			s := w.ledger()
			if s.Home != tc.want || s.Current.Number != tc.revision || !s.IsVerified() {
				t.Errorf("\n%s\nledger: want revision %d verified in %s, got %d in %s, verdict %+v", tc.reason, tc.revision, tc.want, s.Current.Number, s.Home, s.Verdict)
			}
			if got := w.repos["default"]; !got.gone && got.memory.ledger.Seq > 0 {
				t.Errorf("\n%s\nledger of the home that was left: want none, got event %d of epoch %d", tc.reason, got.memory.ledger.Seq, got.memory.ledger.Epoch)
			}
			for _, v := range w.truth.violations {
				t.Errorf("\n%s\nviolation: %s", tc.reason, v)
			}
		})
	}
}

// TestSuccessorLost loses the delivery to the repository that the ledger moved to, while the spec cannot be compiled.
func TestSuccessorLost(t *testing.T) {
	w := newWalk(t, versions(), 2)
	w.in.Spec.DeliveryConfig.Waves = nil
	w.works()
	previous := slices.Sorted(maps.Keys(w.deliveries))
	w.requestMove("other", false)
	for range 2 {
		w.calls()
		w.reconcilesTo("default")
	}
	if got := w.repos["default"].memory.ledger.Successor; got != "other" {
		t.Fatalf("successor of the home: want other, got %q", got)
	}
	delete(w.deliveries, w.deliveryTo("other"))
	w.wiped = true
	w.say("{")
	w.calls()
	if diff := cmp.Diff(previous, slices.Sorted(maps.Keys(w.deliveries))); diff != "" {
		t.Errorf("\nA repository has one delivery, under the name by which it takes part in the revision.\ndeliveries: -want, +got:\n%s", diff)
	}
}
