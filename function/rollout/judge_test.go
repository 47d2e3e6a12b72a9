package rollout

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
)

var (
	verified = &rolloutv1alpha1.Verdict{Result: rolloutv1alpha1.VerdictVerified}
	refusal  = &rolloutv1alpha1.Verdict{Result: rolloutv1alpha1.VerdictRejected, Reason: rolloutv1alpha1.RejectedDeliveryRefused}
	failure  = &rolloutv1alpha1.Verdict{Result: rolloutv1alpha1.VerdictRejected, Reason: rolloutv1alpha1.RejectedSyncFailed}
)

func at(step, steps int32, v *rolloutv1alpha1.Verdict) rolloutv1alpha1.Order {
	return changed(order(2, "b"), func(o *rolloutv1alpha1.Order) { o.Step, o.Steps, o.Verdict = step, steps, v })
}

func TestJudge(t *testing.T) {
	cases := map[string]struct {
		reason string
		order  rolloutv1alpha1.Order
		proof  Proof
		want   rolloutv1alpha1.Order
	}{
		"Nothing":  {reason: "Nothing is proven.", order: at(0, 1, nil), want: at(0, 1, nil)},
		"Verified": {reason: "It is live at its last step.", order: at(0, 1, nil), proof: Proof{Live: true}, want: at(0, 1, verified)},
		"Step":     {reason: "It is live at an earlier one.", order: at(0, 2, nil), proof: Proof{Live: true}, want: at(1, 2, nil)},
		"Last":     {reason: "One step at a time, to the last.", order: at(1, 2, nil), proof: Proof{Live: true}, want: at(1, 2, verified)},
		"Failed":   {reason: "The first step that fails is the last.", order: at(0, 2, nil), proof: Proof{Failure: failure}, want: at(0, 2, failure)},
		"Both":     {reason: "What failed is not live.", order: at(0, 1, nil), proof: Proof{Live: true, Failure: failure}, want: at(0, 1, failure)},
		"Late":     {reason: "A verdict never changes.", order: at(0, 1, failure), proof: Proof{Live: true}, want: at(0, 1, failure)},
		"Drift":    {reason: "Nor a good one.", order: at(0, 1, verified), proof: Proof{Failure: failure}, want: at(0, 1, verified)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Judge(tc.order, tc.proof)); diff != "" {
				t.Errorf("\n%s\nJudge(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRejectedIsHeld changes what is asked for after a rejection.
func TestRejectedIsHeld(t *testing.T) {
	cases := map[string]struct {
		reason  string
		verdict *rolloutv1alpha1.Verdict
		change  func(*Wish)
		want    int64
	}{
		"Same":      {reason: "Nothing changed.", verdict: failure, change: func(*Wish) {}, want: 2},
		"Catalog":   {reason: "A change of the catalog does not release it.", verdict: failure, change: func(w *Wish) { w.Request.Digest = "c" }, want: 2},
		"Intent":    {reason: "A change of the intent does.", verdict: failure, change: func(w *Wish) { w.Request.Digest, w.Request.Intent = "c", "intent-c" }, want: 3},
		"Approved":  {reason: "So does somebody who approves an update.", verdict: failure, change: func(w *Wish) { w.Approved = &rolloutv1alpha1.RequestReference{UID: "u"} }, want: 3},
		"Eased":     {reason: "Strangers' files may go, which is why it was refused.", verdict: refusal, change: func(w *Wish) { w.Eased = true }, want: 3},
		"EasedElse": {reason: "That is no answer to what failed.", verdict: failure, change: func(w *Wish) { w.Eased = true }, want: 2},
		"Verified":  {reason: "What was verified follows the catalog.", verdict: verified, change: func(w *Wish) { w.Request.Digest = "c" }, want: 3},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			current := at(0, 1, tc.verdict)
			w := Wish{Request: wishOf(current)}
			tc.change(&w)
			got, _ := Next(&current, false, w)
			if got.Revision != tc.want || got.Revision > 2 && got.Verdict != nil {
				t.Errorf("\n%s\nNext(...): want revision %d, got %d with verdict %v", tc.reason, tc.want, got.Revision, got.Verdict)
			}
		})
	}
}

func TestPlanOf(t *testing.T) {
	place := func(name, region string) catalog.Place {
		p := catalog.Place{}
		p.Site.SetName(name)
		p.Site.SetLabels(map[string]string{"region": region})
		return p
	}
	places := []catalog.Place{place("a", "north"), place("b", "south"), place("c", "south")}
	named := func(name string, sites ...deploymentv1alpha1.SiteName) deploymentv1alpha1.Wave {
		return deploymentv1alpha1.Wave{Name: name, Sites: sites}
	}
	labelled := func(name, region string) deploymentv1alpha1.Wave {
		return deploymentv1alpha1.Wave{Name: name, MatchLabels: map[string]deploymentv1alpha1.LabelValue{"region": deploymentv1alpha1.LabelValue(region)}}
	}
	cases := map[string]struct {
		reason string
		waves  []deploymentv1alpha1.Wave
		want   [][]string
		err    string
	}{
		"None":   {reason: "All at once.", want: [][]string{{"a", "b", "c"}}},
		"Named":  {reason: "Those in no wave come last.", waves: []deploymentv1alpha1.Wave{named("first", "c"), named("second", "a")}, want: [][]string{{"c"}, {"a"}, {"b"}}},
		"Labels": {reason: "A wave selects by labels too.", waves: []deploymentv1alpha1.Wave{labelled("first", "south"), named("second", "a")}, want: [][]string{{"b", "c"}, {"a"}}},
		"Empty":  {reason: "A wave without Sites is no step.", waves: []deploymentv1alpha1.Wave{labelled("first", "west"), labelled("second", "south")}, want: [][]string{{"b", "c"}, {"a"}}},
		"Twice":  {reason: "A Site goes once.", waves: []deploymentv1alpha1.Wave{named("first", "b"), labelled("second", "south")}, err: `spec.deliveryConfig.waves[1]: Site "b" is in wave "first" too`},
		"Typo":   {reason: "A Site that was not chosen is a mistake.", waves: []deploymentv1alpha1.Wave{named("first", "z")}, err: `spec.deliveryConfig.waves[0]: Site "z" is not among the chosen ones`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			plan, err := planOf(tc.waves, places)
			var got [][]string
			for _, s := range plan {
				got = append(got, s.Sites)
			}
			said := ""
			if err != nil {
				said = err.Error()
			}
			if diff := cmp.Diff([]any{tc.want, tc.err}, []any{got, said}); diff != "" {
				t.Errorf("\n%s\nplanOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLive changes one thing at a time about a SiteSync that proves an order.
func TestLive(t *testing.T) {
	o := order(2, "b")
	cases := map[string]struct {
		reason string
		change func(*deliveryv1alpha1.SiteSync)
		want   bool
	}{
		"Live":       {reason: "It proves it.", change: func(*deliveryv1alpha1.SiteSync) {}, want: true},
		"Asked":      {reason: "It is asked for another order.", change: func(s *deliveryv1alpha1.SiteSync) { s.Spec.ForProvider.Order.Revision = 1 }},
		"Seen":       {reason: "It speaks of another order.", change: func(s *deliveryv1alpha1.SiteSync) { s.Status.AtProvider.Order.Step = 1 }},
		"Nothing":    {reason: "It saw nothing.", change: func(s *deliveryv1alpha1.SiteSync) { s.Status.AtProvider.Order = nil }},
		"Generation": {reason: "It was changed since.", change: func(s *deliveryv1alpha1.SiteSync) { s.SetGeneration(5) }},
		"Unready":    {reason: "It is not Ready.", change: func(s *deliveryv1alpha1.SiteSync) { s.SetConditions(xpv2.Unavailable().WithObservedGeneration(4)) }},
		"Unsynced":   {reason: "It cannot look.", change: func(s *deliveryv1alpha1.SiteSync) { s.SetConditions(xpv2.ReconcilePaused()) }},
		"Verdict":    {reason: "A verdict changes nothing about what runs.", change: func(s *deliveryv1alpha1.SiteSync) { s.Spec.ForProvider.Order.Verdict = verified }, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &deliveryv1alpha1.SiteSync{}
			s.SetGeneration(4)
			s.Spec.ForProvider.Order = o
			s.Status.AtProvider.Order = o.DeepCopy()
			s.SetConditions(xpv2.Available().WithObservedGeneration(4), xpv2.ReconcileSuccess())
			tc.change(s)
			if got := Live(s, o); got != tc.want {
				t.Errorf("\n%s\nLive(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	o := order(2, "b")
	cases := map[string]struct {
		reason string
		why    xpv2.ConditionReason
		change func(*deliveryv1alpha1.GitDelivery)
		want   string
	}{
		"NotOwner":   {reason: "A refusal.", why: "NotOwner", want: "DeliveryRefused"},
		"Policy":     {reason: "A refusal.", why: "PolicyDenied", want: "DeliveryRefused"},
		"Elsewhere":  {reason: "A refusal.", why: "OwnedElsewhere", want: "DeliveryRefused"},
		"TooLarge":   {reason: "A refusal.", why: "TooLarge", want: "DeliveryRefused"},
		"TimedOut":   {reason: "It took too long.", why: "DeliveryTimedOut", want: "DeliveryTimedOut"},
		"Trouble":    {reason: "Trouble has its time.", why: "Unreachable"},
		"Missing":    {reason: "A Site that is missing is never a verdict.", why: "SiteMissing"},
		"Earlier":    {reason: "A refusal of another order.", why: "NotOwner", change: func(d *deliveryv1alpha1.GitDelivery) { d.Spec.ForProvider.Order.Revision = 1 }},
		"Generation": {reason: "A refusal of what was asked before.", why: "NotOwner", change: func(d *deliveryv1alpha1.GitDelivery) { d.SetGeneration(5) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := delivery(o, nil)
			d.SetName("d")
			d.SetGeneration(4)
			d.SetConditions(xpv2.Condition{Type: xpv2.TypeReady, Status: corev1.ConditionFalse, Reason: tc.why, Message: "Words.", ObservedGeneration: 4})
			if tc.change != nil {
				tc.change(d)
			}
			want := (*rolloutv1alpha1.Verdict)(nil)
			if tc.want != "" {
				want = &rolloutv1alpha1.Verdict{Result: "Rejected", Reason: tc.want, Message: "GitDelivery d: " + string(tc.why) + ": Words."}
			}
			if diff := cmp.Diff(want, Refused(d, o)); diff != "" {
				t.Errorf("\n%s\nRefused(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
