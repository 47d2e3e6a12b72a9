package deployment

import (
	"strings"
	"testing"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// rests lets everybody work until all is done, and remembers the last answer.
func (w *walk) rests() {
	w.works()
	w.last = w.playRound()
}

// loseOther loses the delivery to a repository as it is, and the spec cannot be compiled by then.
func (w *walk) loseOther() {
	delete(w.deliveries, w.deliveryTo("other"))
	w.say("{")
}

// TestEnded checks the accepted ends and the violations of scenarios.
func TestEnded(t *testing.T) {
	cases := map[string]struct {
		reason string
		play   func(*walk)
		// want is how the violation begins. Empty means that nothing is wrong.
		want string
	}{
		"GateLost": {reason: "A revision whose Gate is lost has to wait for a spec that defines the measurements of the Gate.", play: func(w *walk) {
			w.works()
			w.prometheusDown = true
			w.wish(3)
			w.round()
			w.round()
			clear(w.gates)
			w.say("{")
			w.rests()
		}},
		"NeverJudged": {reason: "A revision with a Gate that is there has to come to a verdict.", want: "revision 2 comes to no verdict", play: func(w *walk) {
			w.works()
			w.prometheusDown = true
			w.wish(3)
			w.round()
			w.round()
			w.say("{")
			w.last = w.playRound()
		}},
		"PartLost": {reason: "The target of a rollback is unknown while the place of a lost delivery is unknown.", play: func(w *walk) {
			w.works()
			w.set("Site", "edge3", "clusters/edge3x", "spec", "repository", "path")
			w.works()
			w.loseOther()
			w.require(rolloutv1alpha1.RolloutRequestSpec{Action: rolloutv1alpha1.ActionRollbackTo, Revision: 2, ToRevision: new(int64(1))})
			w.rests()
		}},
		"NeverKnown": {reason: "The target of a rollback is known once a lost delivery can be composed again.", want: "the target of a rollback is never known", play: func(w *walk) {
			w.works()
			w.set("Site", "edge3", "clusters/edge3x", "spec", "repository", "path")
			w.works()
			w.loseOther()
			w.require(rolloutv1alpha1.RolloutRequestSpec{Action: rolloutv1alpha1.ActionRollbackTo, Revision: 2, ToRevision: new(int64(1))})
			w.rests()
			w.wish(3)
		}},
		"BroughtAgain": {reason: "A delivery that a late call composes again brings its directories a second time.", play: func(w *walk) {
			w.works()
			name := w.deliveryTo("other")
			late := w.deliveries[name]
			w.remove(name, false)
			w.put(name, late)
			w.rests()
		}},
		"CommittedTwice": {reason: "An attempt changes a repository in one commit.", want: "2 commits for {epoch:1 revision:1 step:0 attempt:0} in other", play: func(w *walk) {
			w.works()
			clear(w.repos["other"].dirs)
			w.rests()
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWalk(t, versions(), 2)
			w.in.Spec.DeliveryConfig.Waves = nil
			w.in.Spec.GatesConfig.SLOThresholds = map[string]deploymentv1alpha1.Threshold{"latency_p99": "< 500ms"}
			tc.play(w)
			w.ended(w.last)
			got := strings.Join(w.truth.violations, "\n")
			if !strings.HasPrefix(got, tc.want) || tc.want == "" && got != "" {
				t.Errorf("\n%s\nended(...): want %q, got %q\n%s", tc.reason, tc.want, got, strings.Join(w.trace, "\n"))
			}
		})
	}
}

// TestAbortedStep gives a revision up that changes one Site, after the step of that was recorded and before its repository was asked for it. That serves a Site
// of the first step, too.
func TestAbortedStep(t *testing.T) {
	w := newWalk(t, versions(), 2)
	w.in.Spec.GatesConfig.SLOThresholds = nil
	w.in.Spec.DeliveryConfig.LedgerConfigRef = &deploymentv1alpha1.ConfigReference{Kind: clusterConfigKind, Name: "other"}
	w.in.Spec.DeliveryConfig.Waves = []deploymentv1alpha1.Wave{{Name: "first", Sites: []deploymentv1alpha1.SiteName{"edge1", "edge2"}}}
	w.works()
	w.set("Site", "edge3", map[string]any{"p": "later"}, "spec", "parameters")
	for w.round(); w.ledger().Cursor.Step == 0 || w.ledger().Current.Number == 1; w.round() {
		if w.rounds++; w.rounds > 20 {
			t.Fatal("second step of revision 2: want it recorded")
		}
	}
	w.require(rolloutv1alpha1.RolloutRequestSpec{Action: rolloutv1alpha1.ActionAbort, Revision: 2})
	w.rests()
	if got := conditionOf(w.last.Output, deploymentv1alpha1.TypeRolledBack).Reason; got != string(rolloutv1alpha1.ResultNothingToRestore) {
		t.Errorf("\nA revision that changed no directory yet has nothing to restore.\nRolledBack: want NothingToRestore, got %s: %s; %s", got, w.last.Status.Message, w.brief(w.last))
	}
	for _, v := range w.truth.violations {
		t.Errorf("violation: %s", v)
	}
}
