package deployment

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

func TestAutomaticFollowsTheChannel(t *testing.T) {
	w := newWorld(t)
	w.settle()
	w.release("1.1.0")
	w.wantUpdated("A new version in the channel is the next revision.", w.settle(), updated{Revision: 2, Ready: true, Blueprint: "web-1.1.0", Lines: "1.1.0"})
}

func TestManualWaitsForApproval(t *testing.T) {
	w := newWorld(t)
	w.manual()
	w.settle()
	w.release("1.1.0")
	waiting := updated{Revision: 1, Ready: true, Blueprint: "web-1.0.0", Update: deploymentv1alpha1.UpdateStatus{Blueprint: "web-1.1.0"}, Lines: "1.0.0"}
	out := w.settle()
	w.wantUpdated("The update is not applied, and the message names it.", out, waiting)
	if want := "An update waits: Blueprint web-1.1.0."; !strings.Contains(out.Status.Message, want) {
		t.Errorf("Run(...): want message with %q, got %q", want, out.Status.Message)
	}
	w.in.Status = deploymentv1alpha1.IntentDeploymentStatus{}
	w.wantUpdated("A lost status changes nothing.", w.call(), waiting)

	w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
	waiting.Revision = 2
	w.wantUpdated("A change of the intent goes out, with the Blueprint that it has.", w.settle(), waiting)
	w.set("Site", "edge1", "clusters/elsewhere", "spec", "repository", "path")
	waiting.Revision = 3
	w.wantUpdated("So does a change of a Site.", w.settle(), waiting)

	w.ask("early", 2)
	waiting.Results = "early=Stale"
	w.wantUpdated("Who saw another revision approves nothing.", w.settle(), waiting)
	w.remove("RolloutRequest", "early")
	w.ask("now", 3)
	out = w.call()
	w.wantUpdated("Who saw this one does.", out, updated{Revision: 4, Blueprint: "web-1.1.0", Lines: "1.1.0", Results: "now=Taken"})
	w.apply(out)
	w.wantUpdated("Asked again, it is the same.", w.call(), updated{Revision: 4, Blueprint: "web-1.1.0", Lines: "1.1.0", Results: "now=Taken"})
	w.wantUpdated("It ends.", w.settle(), updated{Revision: 4, Ready: true, Blueprint: "web-1.1.0", Lines: "1.1.0", Results: "now=Done"})
	want := &ledger.RequestReference{Name: "now", UID: "uid-of-request", By: "ann"}
	if diff := cmp.Diff(want, w.ledger().Current.RequestRef); diff != "" {
		t.Errorf("Run(...): requestRef: -want, +got:\n%s", diff)
	}
	w.remove("RolloutRequest", "now")
	w.wantUpdated("The next one waits again.", w.settle(), updated{Revision: 4, Ready: true, Blueprint: "web-1.1.0", Lines: "1.1.0"})
}

// TestRetryBesidePendingApproval approves an update that cannot be rendered in time, and then starts the rejected revision again.
func TestRetryBesidePendingApproval(t *testing.T) {
	w := newWorld(t)
	w.manual()
	w.settle()
	w.release("1.1.0")
	w.settle()
	w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
	w.call()
	w.ask("abort", 2, action("Abort"), uid("abort"))
	w.settle()
	w.remove("RolloutRequest", "abort")
	w.settle()
	w.slow("web-1.1.0")
	w.ask("first", 2, uid("first"), born(1))
	w.ask("second", 2, uid("second"), born(2))
	want := updated{Revision: 2, Blueprint: "web-1.0.0", Update: deploymentv1alpha1.UpdateStatus{Blueprint: "web-1.1.0"}, Lines: "Keep", Results: "first=Waiting second=Waiting"}
	out := w.settle()
	w.wantUpdated("Updates that take too long to render wait.", out, want)
	for _, r := range out.Status.Requests {
		if diff := cmp.Diff("late: ", r.Message); diff != "" {
			t.Errorf("Each request that waits for an update says why.\nRun(...): -want, +got:\n%s", diff)
		}
	}
	w.ask("again", 2, action("Retry"), uid("again"), madeIn(2032))
	want.Revision, want.Lines, want.Results, want.Ready = 3, "1.0.0", "first=Stale second=Stale again=Done", true
	w.wantUpdated("A request to start the revision again does not wait for them.", w.settle(), want)
}

func TestSpecOutrunsManual(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*world)
		want   updated
	}{
		"Version": {
			reason: "A version is taken at once.", change: func(w *world) { w.in.Spec.Blueprint.Name, w.in.Spec.Blueprint.Version = "web", "1.1.0" },
			want: updated{Revision: 2, Ready: true, Blueprint: "web-1.1.0", Lines: "1.1.0"},
		},
		"Policy": {
			reason: "An update that waited is delivered when it needs no approval any more.",
			change: func(w *world) { w.in.Spec.Blueprint.UpdatePolicy = deploymentv1alpha1.UpdateAutomatic },
			want:   updated{Revision: 2, Ready: true, Blueprint: "web-1.1.0", Lines: "1.1.0"},
		},
		"Channel": {
			reason: "Another channel of the spec is followed at once.",
			change: func(w *world) {
				w.object("Blueprint", "web-1.0.0").SetLabels(map[string]string{"blueprint": "web", "channel": "old"})
				w.in.Spec.Blueprint.Channel = "old"
			},
			want: updated{Revision: 2, Ready: true, Blueprint: "web-1.0.0", Lines: "1.0.0"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.manual()
			w.settle()
			w.release("1.1.0")
			w.settle()
			tc.change(w)
			w.wantUpdated(tc.reason, w.settle(), tc.want)
		})
	}
}

// TestPinnedGone: the Blueprint that a deployment stays with is not there any more.
func TestPinnedGone(t *testing.T) {
	cases := map[string]struct {
		reason string
		smash  func(*world)
		update string
		lines  string
	}{
		"Deleted": {
			reason: "A pinned Blueprint that was deleted is missing.", smash: func(w *world) { w.release("1.1.0"); w.remove("Blueprint", "web-1.0.0") },
			update: "web-1.1.0", lines: "1.1.0",
		},
		"Version": {
			reason: "There is another one under its version.",
			smash: func(w *world) {
				w.release("1.1.0")
				w.remove("Blueprint", "web-1.0.0")
				w.object("Blueprint", "web-1.1.0").SetName("web-1.0.0")
			},
			update: "web-1.0.0", lines: "1.1.0",
		},
		"MadeAnew": {
			reason: "There is another one under its name, in the channel.",
			smash: func(w *world) {
				w.release("1.1.0")
				w.remove("Blueprint", "web-1.0.0")
				w.object("Blueprint", "web-1.1.0").SetName("web-1.0.0")
			},
			update: "web-1.0.0", lines: "1.1.0",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.manual()
			if name == "Version" {
				w.in.Spec.Blueprint.Name, w.in.Spec.Blueprint.Version = "web", "1.0.0"
			}
			w.settle()
			tc.smash(w)
			out := w.call()
			w.wantFrozen(tc.reason, out)
			w.wantCondition(tc.reason, out, deploymentv1alpha1.TypeSitesFound, corev1.ConditionFalse, deploymentv1alpha1.ReasonBlueprintMissing)
			if diff := cmp.Diff(deploymentv1alpha1.UpdateStatus{Blueprint: tc.update}, out.Status.Update); diff != "" {
				t.Errorf("\n%s\nRun(...): update: -want, +got:\n%s", tc.reason, diff)
			}
			w.ask("mend", 1)
			w.wantUpdated("Approving the Blueprint in the channel repairs the deployment.", w.settle(), updated{Revision: 2, Ready: true, Blueprint: tc.update, Lines: tc.lines, Results: "mend=Done"})
		})
	}
}

// TestAmbiguousChannel puts a second Blueprint into the channel: it stops who follows the channel, and not who stays with a Blueprint.
func TestAmbiguousChannel(t *testing.T) {
	for name, manual := range map[string]bool{"Automatic": false, "Manual": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if manual {
				w.manual()
			}
			w.settle()
			w.release("1.1.0")
			w.object("Blueprint", "web-1.0.0").SetLabels(map[string]string{"blueprint": "web", "channel": "stable"})
			out := w.call()
			if manual {
				w.wantUpdated("A deployment that stays with its Blueprint goes on, and has no update to approve.", out, updated{Revision: 1, Ready: true, Blueprint: "web-1.0.0", Lines: "1.0.0"})
				return
			}
			w.wantFrozen("A deployment that follows the channel does not know which one is meant.", out)
			w.wantCondition("The reason says so.", out, deploymentv1alpha1.TypeSitesFound, corev1.ConditionFalse, deploymentv1alpha1.ReasonBlueprintAmbiguous)
			for _, name := range []string{"web-1.0.0", "web-1.1.0"} {
				if !strings.Contains(out.Status.Message, name) {
					t.Errorf("Run(...): want message with %q, got %q", name, out.Status.Message)
				}
			}
		})
	}
}

// TestStatusNamesWhatIsOrdered compares the status with the ordered revision while the spec requests another.
func TestStatusNamesWhatIsOrdered(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*world)
	}{
		"Suspended": {reason: "A suspended spec is not ordered.", change: func(w *world) { w.in.Spec.Suspend = new(true) }},
		"Frozen": {reason: "A problem of the spec orders nothing new.", change: func(w *world) {
			w.set("Blueprint", "web-1.1.0", "resources: [missing.yaml]", "spec", "files", "kustomization.yaml")
		}},
		"Outranked": {reason: "A newer version ordered it.", change: func(w *world) { w.core.version-- }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			out := w.settle()
			wantBlueprint, wantRenderer := out.Status.Blueprint, out.Status.Renderer
			w.release("1.1.0")
			tc.change(w)
			out = w.call()
			if diff := cmp.Diff(wantBlueprint, out.Status.Blueprint) + cmp.Diff(wantRenderer, out.Status.Renderer); diff != "" {
				t.Errorf("\n%s\nRun(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestGateCannotMeasure repairs the catalog while the Gate of a revision waits for metrics that may never come.
func TestGateCannotMeasure(t *testing.T) {
	changeQuery := func(w *walk) {
		w.release("1.1.0")
		metric := map[string]any{"name": "latency_p99", "query": `fixed{site="{{site}}"}`, "unit": "s", "direction": "AtMost"}
		w.set("Blueprint", "web-1.1.0", []any{metric}, "spec", "metrics")
	}
	changeTree := func(w *walk) { w.set("Site", "edge1", map[string]any{"p": "1"}, "spec", "parameters") }
	changeNothing := func(w *walk) { w.release("1.1.0") }
	cases := map[string]struct {
		reason       string
		unmeasurable xpv2.ConditionReason
		manual       bool
		change       func(*walk)
		want         string
	}{
		"NoData": {
			reason:       "A query that gives data is asked by the next revision.",
			unmeasurable: rolloutv1alpha1.ReasonNoData, change: changeQuery, want: "Succeeded/Succeeded 3",
		},
		"Held": {
			reason:       "A Gate that is held does not prevent a repaired query.",
			unmeasurable: rolloutv1alpha1.ReasonHeld, change: changeQuery, want: "Succeeded/Succeeded 3",
		},
		"Unavailable": {
			reason:       "A Gate whose backend does not answer does not prevent a repaired query.",
			unmeasurable: rolloutv1alpha1.ReasonMetricsUnavailable, change: changeQuery, want: "Succeeded/Succeeded 3",
		},
		"Tree": {
			reason:       "A changed tree does not wait for a Gate without data.",
			unmeasurable: rolloutv1alpha1.ReasonNoData, change: changeTree, want: "Succeeded/Succeeded 3",
		},
		"Measuring": {
			reason:       "A changed tree waits for a Gate that measures.",
			unmeasurable: rolloutv1alpha1.ReasonMeasuring, change: changeTree, want: "Validating/ 2",
		},
		"SameChecks": {
			reason:       "An unchanged Blueprint does not judge a revision again.",
			unmeasurable: rolloutv1alpha1.ReasonNoData, change: changeNothing, want: "Validating/ 2",
		},
		"Manual": {
			reason:       "A Blueprint that a person has to approve waits for that.",
			unmeasurable: rolloutv1alpha1.ReasonNoData, manual: true, change: changeQuery, want: "Validating/ 2",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := still(t, false)
			if tc.manual {
				w.manual()
			}
			w.unmeasurable = tc.unmeasurable
			w.wish(3)
			w.until("Validating/ 2")
			w.stays("The Gate waits.", "Validating/ 2")
			tc.change(w)
			if tc.want == "Validating/ 2" {
				w.stays(tc.reason, tc.want)
				return
			}
			w.until("Validating/ 3")
			w.unmeasurable = ""
			w.until(tc.want)
		})
	}
}
