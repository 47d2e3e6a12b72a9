package v1alpha1_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
)

// mandate is one for the third revision of a deployment in tracks.
func mandate() *v1alpha1.Mandate {
	return &v1alpha1.Mandate{
		Rules: step.Rules, Ledger: strings.Repeat("a", 32), Epoch: 2, Revision: 3, May: []step.Kind{step.KindReject, step.KindRollBack},
		Rollback: v1alpha1.MandatedRollback{AutoRollback: true, MaxRetries: 3, MaxPerHour: 3, AttemptTimeout: "5m"},
		Drain:    "30s", Spec: "sha256:" + strings.Repeat("0", 64),
	}
}

// manySites returns the names of Sites, each as long as a name may be.
func manySites(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%063d", i)
	}
	return out
}

// manyLabels returns labels of a selector.
func manyLabels(n int) map[string]string {
	out := map[string]string{}
	for i := range n {
		out[fmt.Sprintf("label%d", i)] = "value"
	}
	return out
}

// TestMandateFields checks which mandates the API server takes.
func TestMandateFields(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(p *v1alpha1.GitDeliveryParameters)
		want   string
	}{
		"Home": {reason: "The home gets a mandate.", change: func(*v1alpha1.GitDeliveryParameters) {}},
		"UnknownKind": {
			reason: "An older provider keeps a kind that it does not know, and leaves it out.",
			change: func(p *v1alpha1.GitDeliveryParameters) { p.Mandate.May = append(p.Mandate.May, "Prune") },
		},
		"LaterRules": {
			reason: "An older provider keeps a mandate by later rules, and does nothing by it.",
			change: func(p *v1alpha1.GitDeliveryParameters) { p.Mandate.Rules = 99 },
		},
		"ManySites": {
			reason: "A mandate leaves out as many Sites as a delivery can have.",
			change: func(p *v1alpha1.GitDeliveryParameters) { p.Mandate.Without = manySites(500) },
		},
		"Labels": {
			reason: "A mandate has as many labels as a selector may have.",
			change: func(p *v1alpha1.GitDeliveryParameters) { p.Mandate.MatchLabels = manyLabels(16) },
		},
		"TooManyLabels": {
			reason: "No selector has more than 16 labels.", want: "mandate.matchLabels",
			change: func(p *v1alpha1.GitDeliveryParameters) { p.Mandate.MatchLabels = manyLabels(17) },
		},
		"NoTracks": {reason: "A deployment without tracks has no time to drain.", change: func(p *v1alpha1.GitDeliveryParameters) { p.Mandate.Drain = "" }},
		"Follower": {reason: "A follower records nothing.", want: "mandate goes with ledger", change: func(p *v1alpha1.GitDeliveryParameters) {
			p.Ledger, p.Copy = nil, &ledger.State{Head: ledger.Head{Ledger: "l", Epoch: 1, Seq: 1, ID: "1"}, Home: "platform"}
		}},
		"NoRules":    {reason: "Rules are counted from 1.", want: "mandate.rules", change: func(p *v1alpha1.GitDeliveryParameters) { p.Mandate.Rules = 0 }},
		"NoLedger":   {reason: "A mandate is for one ledger.", want: "mandate.ledger", change: func(p *v1alpha1.GitDeliveryParameters) { p.Mandate.Ledger = "" }},
		"NoEpoch":    {reason: "Epochs are counted from 1.", want: "mandate.epoch", change: func(p *v1alpha1.GitDeliveryParameters) { p.Mandate.Epoch = 0 }},
		"NoRevision": {reason: "Revisions are counted from 1.", want: "mandate.revision", change: func(p *v1alpha1.GitDeliveryParameters) { p.Mandate.Revision = 0 }},
		"NoKind": {
			reason: "A mandate names at least one kind of event.",
			want:   "mandate.may", change: func(p *v1alpha1.GitDeliveryParameters) { p.Mandate.May = []step.Kind{} },
		},
		"EmptyKind": {
			reason: "Events without a kind are in no mandate.",
			want:   "mandate.may[0]", change: func(p *v1alpha1.GitDeliveryParameters) { p.Mandate.May = []step.Kind{""} },
		},
		"KindTwice": {
			reason: "Each kind is listed once.",
			want:   "mandate.may[1]", change: func(p *v1alpha1.GitDeliveryParameters) { p.Mandate.May = []step.Kind{"Reject", "Reject"} },
		},
		"TooManyKinds": {reason: "The number of kinds is limited.", want: "must have at most 8 items", change: func(p *v1alpha1.GitDeliveryParameters) {
			p.Mandate.May = []step.Kind{"a", "b", "c", "d", "e", "f", "g", "h", "i"}
		}},
		"RetriesBelow": {
			reason: "The number of attempts is not negative.",
			want:   "maxRetries", change: func(p *v1alpha1.GitDeliveryParameters) { p.Mandate.Rollback.MaxRetries = -1 },
		},
		"RetriesAbove": {
			reason: "A rollback has 10 attempts at most.",
			want:   "maxRetries", change: func(p *v1alpha1.GitDeliveryParameters) { p.Mandate.Rollback.MaxRetries = 11 },
		},
		"TooPerHour": {
			reason: "No more rejections are counted than the ledger remembers.",
			want:   "maxPerHour", change: func(p *v1alpha1.GitDeliveryParameters) { p.Mandate.Rollback.MaxPerHour = 10 },
		},
		"NoTimeout": {
			reason: "An attempt has a time to end in.",
			want:   "attemptTimeout", change: func(p *v1alpha1.GitDeliveryParameters) { p.Mandate.Rollback.AttemptTimeout = "" },
		},
		"NoUnit": {
			reason: "A duration has a unit.",
			want:   "attemptTimeout", change: func(p *v1alpha1.GitDeliveryParameters) { p.Mandate.Rollback.AttemptTimeout = "5" },
		},
		"Negative": {
			reason: "A duration is not negative.",
			want:   "attemptTimeout", change: func(p *v1alpha1.GitDeliveryParameters) { p.Mandate.Rollback.AttemptTimeout = "-1m" },
		},
		"TooLong": {
			reason: "An attempt ends within a day.",
			want:   "attemptTimeout", change: func(p *v1alpha1.GitDeliveryParameters) { p.Mandate.Rollback.AttemptTimeout = "9999h" },
		},
		"LongDrain": {
			reason: "A track drains within ten minutes.",
			want:   "mandate.drain", change: func(p *v1alpha1.GitDeliveryParameters) { p.Mandate.Drain = "11m" },
		},
		"TooManySites": {
			reason: "No more Sites are left out than a delivery can have.",
			want:   "must have at most 500 items", change: func(p *v1alpha1.GitDeliveryParameters) { p.Mandate.Without = manySites(501) },
		},
		"LongSite": {
			reason: "The name of a Site has 63 characters at most.",
			want:   "mandate.without[0]", change: func(p *v1alpha1.GitDeliveryParameters) { p.Mandate.Without = []string{strings.Repeat("a", 64)} },
		},
		"NoSpec": {reason: "A mandate follows from a spec.", want: "mandate.spec", change: func(p *v1alpha1.GitDeliveryParameters) { p.Mandate.Spec = "" }},
	}
	server := newServer(t, "gitdeliveries")
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := homeDelivery()
			d.Spec.ForProvider.Mandate = mandate()
			tc.change(&d.Spec.ForProvider)
			got := problemsOf(t, server, d)
			if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("\n%s\nCheck(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// TestCovers asks a mandate of revision 3 about ledgers.
func TestCovers(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(m *v1alpha1.Mandate, s *ledger.State)
		isNone bool
		want   bool
	}{
		"Same":    {reason: "A mandate is for the revision that it names.", change: func(*v1alpha1.Mandate, *ledger.State) {}, want: true},
		"None":    {reason: "The provider records no event without a mandate.", change: func(*v1alpha1.Mandate, *ledger.State) {}, isNone: true},
		"Later":   {reason: "A mandate of the previous revision is void.", change: func(_ *v1alpha1.Mandate, s *ledger.State) { s.Current.Number++ }},
		"Earlier": {reason: "A mandate of a later revision is void.", change: func(_ *v1alpha1.Mandate, s *ledger.State) { s.Current.Number-- }},
		"Withdrawn": {
			reason: "A revision by which a user rolls another revision back continues by the mandate of that revision.",
			change: func(_ *v1alpha1.Mandate, s *ledger.State) { s.Current.Number, s.Withdraws = 4, 3 }, want: true,
		},
		"WithdrawnTwice": {
			reason: "A revision by which a user rolls another rollback back is not covered by the mandate of the first revision.",
			change: func(_ *v1alpha1.Mandate, s *ledger.State) { s.Current.Number, s.Withdraws = 5, 4 },
		},
		"Recovered":   {reason: "A mandate from before the recovery of a ledger is void.", change: func(_ *v1alpha1.Mandate, s *ledger.State) { s.Epoch++ }},
		"OtherLedger": {reason: "A mandate of a former ledger is void.", change: func(_ *v1alpha1.Mandate, s *ledger.State) { s.Ledger = "other" }},
		"Moved": {
			reason: "The provider records no event in a ledger that moved to another repository.",
			change: func(_ *v1alpha1.Mandate, s *ledger.State) { s.Successor = "other" },
		},
		"Closed": {
			reason: "The provider records no event in the ledger of a deleted deployment.",
			change: func(_ *v1alpha1.Mandate, s *ledger.State) { s.IsClosed = true },
		},
		"Empty": {reason: "The provider records no event in a ledger without a revision.", change: func(_ *v1alpha1.Mandate, s *ledger.State) { s.Current = nil }},
		"ZeroValue": {
			reason: "A mandate without a revision does not cover a state that withdraws none.",
			change: func(m *v1alpha1.Mandate, _ *ledger.State) { m.Revision = 0 },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := mandate()
			s := ledger.State{Head: ledger.Head{Ledger: m.Ledger, Epoch: m.Epoch, Seq: 9}, Current: &ledger.Revision{Number: m.Revision}}
			tc.change(m, &s)
			if tc.isNone {
				m = nil
			}
			if got := m.Covers(s); got != tc.want {
				t.Errorf("\n%s\nCovers(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestMandateBytes measures the size of a mandate in an object.
func TestMandateBytes(t *testing.T) {
	cases := map[string]struct {
		reason  string
		without []string
		want    int
	}{
		"Usual":     {reason: "A mandate of all Sites is small.", want: 600},
		"ManySites": {reason: "A mandate that leaves out as many Sites as it may fits beside the trees of a delivery.", without: manySites(500), want: 34 << 10},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := mandate()
			m.Without = tc.without
			b, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if len(b) > tc.want {
				t.Errorf("\n%s\njson.Marshal(...): want at most %d bytes, got %d", tc.reason, tc.want, len(b))
			}
		})
	}
}
