package mandate

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
)

// TestStatus reads a mandate for revision 2 of a ledger, in epoch 1.
func TestStatus(t *testing.T) {
	kinds := []step.Kind{step.KindReject, step.KindRollBack}
	cases := map[string]struct {
		reason string
		change func(m *v1alpha1.Mandate, s *ledger.State)
		want   []step.Kind
	}{
		"Covered": {
			reason: "A mandate for the current revision lets the provider reject it and roll it back.",
			change: func(*v1alpha1.Mandate, *ledger.State) {}, want: kinds,
		},
		"LaterRules": {reason: "A provider does nothing by rules that it does not know.", change: func(m *v1alpha1.Mandate, _ *ledger.State) { m.Rules = 99 }},
		"NoRules":    {reason: "A mandate that names no rules lets nothing be recorded.", change: func(m *v1alpha1.Mandate, _ *ledger.State) { m.Rules = 0 }},
		"Ledger":     {reason: "A mandate for another ledger is void.", change: func(m *v1alpha1.Mandate, _ *ledger.State) { m.Ledger = "other" }},
		"NoEpoch":    {reason: "A mandate without an epoch is void.", change: func(m *v1alpha1.Mandate, _ *ledger.State) { m.Epoch = 0 }},
		"Recovered": {
			reason: "A mandate is void once the ledger was recovered in a later epoch.",
			change: func(_ *v1alpha1.Mandate, s *ledger.State) { s.Epoch = 2 },
		},
		"Before": {reason: "A mandate for the revision before the current one is void.", change: func(m *v1alpha1.Mandate, _ *ledger.State) { m.Revision = 1 }},
		"After":  {reason: "A mandate for the revision after the current one is void.", change: func(m *v1alpha1.Mandate, _ *ledger.State) { m.Revision = 3 }},
		"Withdrawn": {
			reason: "A mandate covers the revision by which a user rolls its revision back.",
			change: func(_ *v1alpha1.Mandate, s *ledger.State) { s.Current.Number, s.Withdraws = 3, 2 }, want: kinds,
		},
		"Moved": {
			reason: "A mandate is void once the ledger goes on in another repository.",
			change: func(_ *v1alpha1.Mandate, s *ledger.State) { s.Successor = "other" },
		},
		"Closed":  {reason: "A mandate is void once the ledger was closed.", change: func(_ *v1alpha1.Mandate, s *ledger.State) { s.IsClosed = true }},
		"Nothing": {reason: "A mandate that lists no kind lets nothing be recorded.", change: func(m *v1alpha1.Mandate, _ *ledger.State) { m.May = nil }},
		"Later": {reason: "A kind that this version does not record is left out.", change: func(m *v1alpha1.Mandate, _ *ledger.State) {
			m.May = append(m.May, "Later")
		}, want: kinds},
		"Forward": {
			reason: "The provider takes the waves of a revision without tracks, and verifies it.",
			change: func(m *v1alpha1.Mandate, _ *ledger.State) { m.May = append(m.May, step.KindAdvance, step.KindVerify) },
			want:   append(slices.Clone(kinds), step.KindAdvance, step.KindVerify),
		},
		"Canary": {
			reason: "The provider takes the steps of a revision that shares requests.",
			change: func(m *v1alpha1.Mandate, s *ledger.State) {
				m.May = append(m.May, step.KindAdvance, step.KindVerify)
				s.Current.Track, s.Current.Plan[0].Weight = ledger.TrackBlue, new(int32(20))
			},
			want: append(slices.Clone(kinds), step.KindAdvance, step.KindVerify),
		},
		"Waves": {
			reason: "The waves of a revision in a track that shares no requests need files of the function.",
			change: func(m *v1alpha1.Mandate, s *ledger.State) {
				m.May, s.Current.Track = append(m.May, step.KindAdvance), ledger.TrackBlue
			},
			want: kinds,
		},
		"Move": {
			reason: "A move from no track into one is left to the function.",
			change: func(m *v1alpha1.Mandate, s *ledger.State) {
				m.May = append(m.May, step.KindAdvance, step.KindVerify)
				s.Current.Track, s.Current.Stable, s.Current.Plan[0].Weight = ledger.TrackBlue, 1, new(int32(20))
			},
			want: kinds,
		},
		"Left": {
			reason: "Nothing goes forward where the deployment has left a Site.",
			change: func(m *v1alpha1.Mandate, _ *ledger.State) {
				m.May, m.Without = append(m.May, step.KindVerify), []string{"edge1"}
			},
			want: kinds,
		},
		"Requests": {reason: "A mandate may let requests of users be recorded.", change: func(m *v1alpha1.Mandate, _ *ledger.State) {
			m.May = append(m.May, step.KindRequest)
		}, want: append(slices.Clone(kinds), step.KindRequest)},
		"Unknown": {
			reason: "A mandate for unknown kinds alone lets nothing be recorded.",
			change: func(m *v1alpha1.Mandate, _ *ledger.State) { m.May = []step.Kind{"Later"} },
		},
		"One": {
			reason: "A mandate for one kind lets that one be recorded.",
			change: func(m *v1alpha1.Mandate, _ *ledger.State) { m.May = []step.Kind{step.KindReject} }, want: kinds[:1],
		},
		"Withdraws": {reason: "A request about the revision by which a user rolls back is left to the function.", change: func(m *v1alpha1.Mandate, s *ledger.State) {
			m.May = append(m.May, step.KindRequest)
			s.Withdraws, s.Current.Number = s.Current.Number, s.Current.Number+1
		}, want: kinds},
		"Two": {reason: "A mandate is for a revision in all of its repositories.", change: func(_ *v1alpha1.Mandate, s *ledger.State) {
			s.Current.Parts = append(s.Current.Parts, ledger.Part{Delivery: "other", ConfigRef: "other", Sites: []string{"edge3"}})
		}, want: kinds},
		"Elsewhere": {
			reason: "A mandate is for a revision that brings nothing to the home of the ledger.",
			change: func(_ *v1alpha1.Mandate, s *ledger.State) { s.Current.Parts[0].ConfigRef = "other" }, want: kinds,
		},
		"Tracks": {
			reason: "A mandate covers a revision in a track.",
			change: func(_ *v1alpha1.Mandate, s *ledger.State) { s.Current.Track = ledger.TrackBlue }, want: kinds,
		},
		"Shares": {
			reason: "A mandate covers a revision that shares requests.",
			change: func(_ *v1alpha1.Mandate, s *ledger.State) { s.Current.Plan[0].Weight = new(int32(20)) }, want: kinds,
		},
		"Target": {
			reason: "A mandate covers a revision whose rollback leads to one in a track.",
			change: func(_ *v1alpha1.Mandate, s *ledger.State) { s.History[0].Track = ledger.TrackGreen }, want: kinds,
		},
		"TwoInTracks": {reason: "A mandate covers a revision in tracks of several repositories.", change: func(_ *v1alpha1.Mandate, s *ledger.State) {
			s.Current.Track = ledger.TrackBlue
			addRepository(s)
		}, want: kinds},
		"TracksElsewhere": {reason: "A mandate covers a revision in tracks in another repository than the home.", change: func(_ *v1alpha1.Mandate, s *ledger.State) {
			s.Current.Track, s.Current.Parts[0].ConfigRef = ledger.TrackBlue, "other"
		}, want: kinds},
		"TwoInMove": {reason: "A move to tracks in several repositories is left to the function.", change: func(_ *v1alpha1.Mandate, s *ledger.State) {
			s.Current.Track, s.Current.Stable, s.Current.Plan[0].Weight = ledger.TrackBlue, 1, new(int32(20))
			addRepository(s)
		}},
		"TwoFromTracks": {reason: "A revision of several repositories without tracks, whose rollback has some, is left to the function.", change: func(_ *v1alpha1.Mandate, s *ledger.State) {
			s.History[0].Track = ledger.TrackGreen
			addRepository(s)
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newScene(t)
			m, s := c.Home.Spec.ForProvider.Mandate, *c.recorded.DeepCopy()
			tc.change(m, &s)
			var want *v1alpha1.MandateStatus
			if tc.want != nil {
				want = &v1alpha1.MandateStatus{Rules: m.Rules, Revision: s.Current.Number, May: tc.want}
			}
			if diff := cmp.Diff(want, Status(m, s)); diff != "" {
				t.Errorf("\n%s\nStatus(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if got := Status(nil, newScene(t).recorded); got != nil {
		t.Errorf("\nWithout a mandate nothing is recorded.\nStatus(nil, ...): want nil, got %v", got)
	}
}

// TestPosition shows a home whose spec is at revision 2, attempt 0, and whose ledger went on to attempt 1.
func TestPosition(t *testing.T) {
	cases := map[string]struct {
		reason      string
		change      func(d *v1alpha1.GitDelivery)
		wantAttempt int32
		wantTimeout time.Duration
	}{
		"Ahead": {
			reason: "The desired position of the repository is the attempt by the mandate, with the timeout of the mandate.",
			change: func(*v1alpha1.GitDelivery) {}, wantAttempt: 1, wantTimeout: 2 * time.Minute,
		},
		"Honoured": {
			reason: "A provider that does not act by the mandate brings the repository to the position of the spec.",
			change: func(d *v1alpha1.GitDelivery) { d.Status.AtProvider.Mandate = nil },
		},
		"Unknown": {reason: "A ledger that is not known says no position.", change: func(d *v1alpha1.GitDelivery) { d.Status.AtProvider.Ledger = nil }},
		"Gone":    {reason: "Without a mandate the position is that of the spec.", change: func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Mandate = nil }},
		"Asked": {
			reason: "A spec that names the attempt has its own timeout.",
			change: func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Position.Attempt = 1 }, wantAttempt: 1,
		},
		"Invalid": {
			reason: "An invalid timeout is the default.",
			change: func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Mandate.Rollback.AttemptTimeout = "-1m" }, wantAttempt: 1,
			wantTimeout: 5 * time.Minute,
		},
		"Empty": {
			reason: "Without a timeout the default counts.",
			change: func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Mandate.Rollback.AttemptTimeout = "" }, wantAttempt: 1,
			wantTimeout: 5 * time.Minute,
		},
		"NoUnit": {
			reason: "A timeout without a unit is the default.",
			change: func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Mandate.Rollback.AttemptTimeout = "5" }, wantAttempt: 1,
			wantTimeout: 5 * time.Minute,
		},
		"TooLong": {
			reason: "A timeout above its bound is the default.",
			change: func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Mandate.Rollback.AttemptTimeout = "9999h" }, wantAttempt: 1,
			wantTimeout: 5 * time.Minute,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newScene(t)
			d := c.Home
			s := record(t, c.recorded, rejected("GateFailed"), rolledBack(1))
			d.Status.AtProvider.Ledger, d.Status.AtProvider.Mandate = &s, Status(d.Spec.ForProvider.Mandate, s)
			tc.change(d)
			want := c.recorded.Position()
			want.Attempt = tc.wantAttempt
			if diff := cmp.Diff(want, Position(d)); diff != "" {
				t.Errorf("\n%s\nPosition(...): -want, +got:\n%s", tc.reason, diff)
			}
			if got := AttemptTimeout(d); got != tc.wantTimeout {
				t.Errorf("\n%s\nAttemptTimeout(...): want %s, got %s", tc.reason, tc.wantTimeout, got)
			}
		})
	}
}

// TestIsDue shows a home whose status refuses the trees of attempt 1.
func TestIsDue(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(d *v1alpha1.GitDelivery)
		want   bool
	}{
		"Failed": {reason: "The attempt after a refused attempt is due.", change: func(*v1alpha1.GitDelivery) {}, want: true},
		"Spent":  {reason: "Nothing is due after the last attempt.", change: func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Mandate.Rollback.MaxRetries = 1 }},
		"Off": {
			reason: "Nothing is due where the policy rolls nothing back.",
			change: func(d *v1alpha1.GitDelivery) { d.Spec.ForProvider.Mandate.Rollback.AutoRollback = false },
		},
		"Honoured": {
			reason: "Nothing is due for a provider that does not act by the mandate.",
			change: func(d *v1alpha1.GitDelivery) { d.Status.AtProvider.Mandate = nil },
		},
		"Delivered": {reason: "Nothing is due while the Sites are to be proven.", change: func(d *v1alpha1.GitDelivery) {
			d.Status.AtProvider.Waiting = nil
			d.Status.Conditions = readyCondition(corev1.ConditionTrue, v1alpha1.ReasonDelivered, d.Generation)
		}},
		"Unread": {
			reason: "Nothing is due for a home that was not read.",
			change: func(d *v1alpha1.GitDelivery) { d.Status.AtProvider = v1alpha1.GitDeliveryObservation{} },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newScene(t)
			d := c.Home
			s := record(t, c.recorded, rejected("GateFailed"), rolledBack(1))
			d.Status.AtProvider.Ledger, d.Status.AtProvider.Mandate = &s, Status(d.Spec.ForProvider.Mandate, s)
			refuse(d, s.Position())
			tc.change(d)
			if got := IsDue(d, noon); got != tc.want {
				t.Errorf("\n%s\nIsDue(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
