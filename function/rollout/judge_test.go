package rollout

import (
	"testing"

	"github.com/google/go-cmp/cmp"

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

func gated() rolloutv1alpha1.Order {
	return changed(order(2, "b"), func(o *rolloutv1alpha1.Order) {
		o.Steps, o.Plan = 2, []rolloutv1alpha1.Step{{Sites: []string{"a"}, Gate: new(true)}, {Sites: []string{"b"}}}
	})
}

// TestJudgeGated lets the next step wait for the Gate of the one before.
func TestJudgeGated(t *testing.T) {
	manual := changed(gated(), func(o *rolloutv1alpha1.Order) { o.Plan = []rolloutv1alpha1.Step{{Pause: PauseManual}, {}} })
	cases := map[string]struct {
		reason string
		order  rolloutv1alpha1.Order
		proof  Proof
		want   int32
	}{
		"Unjudged": {reason: "Live is not enough.", order: gated(), proof: Proof{Live: true}},
		"Passed":   {reason: "The Gate let it pass.", order: gated(), proof: Proof{Live: true, Passed: true}, want: 1},
		"Lost":     {reason: "What passed and does not run any more waits.", order: gated(), proof: Proof{Passed: true}},
		"Paused":   {reason: "A person has to release it.", order: manual, proof: Proof{Live: true}},
		"Promoted": {reason: "A person did.", order: changed(manual, func(o *rolloutv1alpha1.Order) { o.Promoted = 1 }), proof: Proof{Live: true}, want: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Judge(tc.order, tc.proof)
			if diff := cmp.Diff(tc.want, got.Step); diff != "" || got.Verdict != nil {
				t.Errorf("\n%s\nJudge(...): step: -want, +got:\n%s\nverdict %+v", tc.reason, diff, got.Verdict)
			}
		})
	}
}
