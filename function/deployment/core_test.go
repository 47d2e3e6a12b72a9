package deployment

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/test/soak"
)

var (
	bothFirst  = []string{"1 edge1 Desired", "1 edge2 Desired"}
	bothSecond = []string{"2 edge1 Desired", "2 edge2 Desired"}
)

func TestDeliver(t *testing.T) {
	w := newWorld(t)
	out := w.run()
	w.want("The first call asks.", out, view{Phase: deploymentv1alpha1.PhasePending})
	if len(out.Needs) != 5 {
		t.Errorf("Run(...): want needs for two Sites, the Blueprint, the configuration and RolloutRequests, got %v", out.Needs)
	}
	out = w.call()
	w.want("Answered, it composes.", out, view{Phase: deploymentv1alpha1.PhaseDelivering, Revision: 1, Sites: "0/2", Trees: bothFirst})
	w.apply(out)
	w.want("Nothing is delivered yet.", w.call(), view{Phase: deploymentv1alpha1.PhaseDelivering, Revision: 1, Sites: "0/2", Trees: bothFirst})
	w.deliver()
	out = w.call()
	w.want("Delivered is live here, and is to be remembered.", out, view{Phase: deploymentv1alpha1.PhaseValidating, Revision: 1, Sites: "2/2", Trees: bothFirst})
	w.wantCondition("It is not recorded.", out, deploymentv1alpha1.TypeRecorded, corev1.ConditionFalse, deploymentv1alpha1.ReasonNotRecorded)
	w.apply(out)
	w.want("Until then it has not succeeded.", w.call(), view{Phase: deploymentv1alpha1.PhaseValidating, Revision: 1, Sites: "2/2", Trees: bothFirst})
	w.deliver()
	out = w.call()
	w.want("Delivered and recorded.", out, view{Phase: deploymentv1alpha1.PhaseSucceeded, Ready: true, Revision: 1, Sites: "2/2", Trees: bothFirst})
	w.wantCondition("It is in the repository.", out, deploymentv1alpha1.TypeDelivered, corev1.ConditionTrue, deploymentv1alpha1.ReasonDelivered)
	w.wantCondition("No engine reports the running trees.", out, deploymentv1alpha1.TypeAvailable, corev1.ConditionTrue, deploymentv1alpha1.ReasonSyncNotObserved)
	if out.Status.Delivery.ShortCommit != "0123456" || out.Status.Blueprint.Name != "web-1.0.0" || out.Status.LiveRevision != 1 {
		t.Errorf("Run(...): got status %+v", out.Status)
	}
	var phases []string
	for _, tr := range out.Status.Transitions {
		phases = append(phases, string(tr.To))
	}
	if diff := cmp.Diff("Pending Compiling Rendering Delivering Validating Succeeded", strings.Join(phases, " ")); diff != "" {
		t.Errorf("Run(...): transitions: -want, +got:\n%s", diff)
	}
	w.apply(out)
	if diff := cmp.Diff(out, w.call()); diff != "" {
		t.Errorf("Run(...): nothing changed, and the answer did: -want, +got:\n%s", diff)
	}
}

func TestChange(t *testing.T) {
	w := newWorld(t)
	w.settle()
	w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
	out := w.call()
	w.want("Another intent is revision 2, and the delivered trees are not the desired trees.", out, view{Phase: deploymentv1alpha1.PhaseDelivering, Revision: 2, Sites: "0/2", Trees: bothSecond})
	w.apply(out)
	w.want("An earlier delivery proves nothing.", w.call(), view{Phase: deploymentv1alpha1.PhaseDelivering, Revision: 2, Sites: "0/2", Trees: bothSecond})
	w.want("Delivered.", w.settle(), view{Phase: deploymentv1alpha1.PhaseSucceeded, Ready: true, Revision: 2, Sites: "2/2", Trees: bothSecond})
}

// TestFreeze breaks a delivered deployment in every way, and repairs it.
func TestFreeze(t *testing.T) {
	cases := map[string]struct {
		reason string
		smash  func(*world)
		phase  deploymentv1alpha1.Phase
		typ    string
		status corev1.ConditionStatus
		why    string
		// message is a part of the condition's message.
		message string
	}{
		"InvalidJSON": {
			reason: "A malformed intent freezes the deployment.",
			smash:  func(w *world) { w.say(`{"service": `) }, phase: deploymentv1alpha1.PhaseFailed, typ: "Valid", status: corev1.ConditionFalse,
			why: deploymentv1alpha1.ReasonInvalidIntent,
		},
		"UnknownField": {
			reason: "An unknown field of the intent freezes the deployment.",
			smash:  func(w *world) { w.say(`{"service": "shop", "site": "edge1", "replica": 1}`) }, phase: deploymentv1alpha1.PhaseFailed,
			typ: "Valid", status: corev1.ConditionFalse, why: deploymentv1alpha1.ReasonInvalidIntent, message: "replica",
		},
		"Both": {
			reason: "Both of intent and expectation.", smash: func(w *world) { w.in.Spec.Expectation = &deploymentv1alpha1.Expectation{Service: "shop"} },
			phase: deploymentv1alpha1.PhaseFailed, typ: "Valid", status: corev1.ConditionFalse, why: deploymentv1alpha1.ReasonInvalidIntent,
			message: "exactly one of intent and expectation",
		},
		"Conflict": {
			reason: "Two fields that name different Sites.", smash: func(w *world) { w.in.Spec.DeliveryConfig.TargetSite = "edge1" },
			phase: deploymentv1alpha1.PhaseFailed, typ: "Valid", status: corev1.ConditionFalse, why: deploymentv1alpha1.ReasonInvalidSpec,
			message: "spec.deliveryConfig.targetSite",
		},
		"BadParameter": {
			reason: "A parameter that the Blueprint does not take.",
			smash:  func(w *world) { w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "parameters": {"x": "1"}}`) },
			phase:  deploymentv1alpha1.PhaseFailed, typ: "Valid", status: corev1.ConditionFalse, why: deploymentv1alpha1.ReasonRenderFailed,
		},
		"BadQuery": {
			reason: "A Blueprint with a query that a value could change.", smash: func(w *world) {
				w.set("Blueprint", "web-1.0.0", []any{map[string]any{"name": "up", "query": "up{a={{service}}}", "direction": "AtLeast"}}, "spec", "metrics")
			},
			phase: deploymentv1alpha1.PhaseFailed, typ: "Valid", status: corev1.ConditionFalse, why: deploymentv1alpha1.ReasonInvalidSpec,
			message: `Blueprint web-1.0.0: spec.metrics[0].query: "{{service}}" stands where no placeholder may`,
		},
		"Policy": {
			reason: "A limit that was narrowed.", smash: func(w *world) { w.set("ClusterProviderConfig", "default", int64(1), "spec", "policy", "maxSites") },
			phase: deploymentv1alpha1.PhaseFailed, typ: "Valid", status: corev1.ConditionFalse, why: deploymentv1alpha1.ReasonPolicyDenied, message: "maxSites",
		},
		"SiteMissing": {
			reason: "A Site that is gone.", smash: func(w *world) { w.remove("Site", "edge2") },
			phase: deploymentv1alpha1.PhasePending, typ: "SitesFound", status: corev1.ConditionFalse, why: deploymentv1alpha1.ReasonSiteMissing, message: `"edge2"`,
		},
		"UnknownSiteInSentence": {
			reason: "A Site that a sentence names for the first time, and that does not exist, is refused.",
			smash:  func(w *world) { w.say("Deploy shop on edge1 and edge9, 2 replicas") },
			phase:  deploymentv1alpha1.PhaseFailed, typ: "Valid", status: corev1.ConditionFalse, why: deploymentv1alpha1.ReasonInvalidSpec,
			message: `did you mean "edge2" instead of "edge9"?`,
		},
		"UnknownSiteInQuotes": {
			reason: "A Site that a sentence names in quotes is waited for.", smash: func(w *world) { w.say(`Deploy shop on edge1 and "edge9", 2 replicas`) },
			phase: deploymentv1alpha1.PhasePending, typ: "SitesFound", status: corev1.ConditionFalse, why: deploymentv1alpha1.ReasonSiteMissing,
			message: `did you mean "edge2" instead of "edge9"?`,
		},
		"DeliveredSiteInSentence": {
			reason: "A Site that the deployment was delivered to is waited for after it was deleted, also if a sentence names it.",
			smash:  func(w *world) { w.say("Deploy shop on edge1 and edge2, 2 replicas"); w.remove("Site", "edge2") },
			phase:  deploymentv1alpha1.PhasePending, typ: "SitesFound", status: corev1.ConditionFalse, why: deploymentv1alpha1.ReasonSiteMissing, message: `"edge2"`,
		},
		"BlueprintMissing": {
			reason: "A Blueprint that is gone.", smash: func(w *world) { w.remove("Blueprint", "web-1.0.0") },
			phase: deploymentv1alpha1.PhasePending, typ: "SitesFound", status: corev1.ConditionFalse, why: deploymentv1alpha1.ReasonBlueprintMissing,
		},
		"ConfigMissing": {
			reason: "A configuration that is gone.", smash: func(w *world) { w.remove("ClusterProviderConfig", "default") },
			phase: deploymentv1alpha1.PhasePending, typ: "SitesFound", status: corev1.ConditionFalse, why: deploymentv1alpha1.ReasonConfigMissing,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.settle()
			spec, objects := *w.in.Spec.DeepCopy(), slices.Clone(w.objects)
			for i := range objects {
				objects[i] = objects[i].DeepCopy()
			}
			tc.smash(w)
			out := w.call()
			w.wantFrozen(tc.reason, out)
			w.wantCondition(tc.reason, out, tc.typ, tc.status, tc.why)
			if c := conditionOf(out, tc.typ); !strings.Contains(c.Message, tc.message) {
				t.Errorf("\n%s\nRun(...): %q does not say %s", tc.reason, c.Message, tc.message)
			}
			if out.Status.Phase != tc.phase || out.Ready || out.Status.Revision != 1 {
				t.Errorf("\n%s\nRun(...): got phase %s, ready %t, revision %d", tc.reason, out.Status.Phase, out.Ready, out.Status.Revision)
			}
			w.apply(out)
			if repeated := w.call(); !cmp.Equal(out.Status, repeated.Status) {
				t.Errorf("\n%s\nRun(...): nothing changed, and the status did: %s", tc.reason, cmp.Diff(out.Status, repeated.Status))
			}
			w.in.Spec, w.objects = spec, objects
			w.want("A repaired deployment returns to its earlier state.", w.call(), view{Phase: deploymentv1alpha1.PhaseSucceeded, Ready: true, Revision: 1, Sites: "2/2", Trees: bothFirst})
		})
	}
}

func TestShrink(t *testing.T) {
	w := newWorld(t)
	w.settle()
	w.say(`{"service": "shop", "sites": ["edge2"], "replicas": 2}`)
	w.want("A Site that the intent no longer names leaves the delivery.", w.settle(), view{Phase: deploymentv1alpha1.PhaseSucceeded, Ready: true, Revision: 2, Sites: "1/1", Trees: []string{"2 edge2 Desired"}})
}

// TestMove moves both Sites to another repository, which another configuration names.
func TestMove(t *testing.T) {
	w := newWorld(t)
	previous := w.settle()
	o := w.object("ClusterProviderConfig", "default").DeepCopy()
	o.SetName("other")
	w.objects = append(w.objects, o)
	w.set("ClusterProviderConfig", "other", "https://git.example.org/other.git", "spec", "git", "url")
	w.in.Spec.DeliveryConfig.GitOpsRepo.Name = "other"
	out := w.call()
	w.want("The home records the revision first.", out, view{Phase: deploymentv1alpha1.PhaseDelivering, Revision: 2, Sites: "0/2"})
	home := slices.Collect(maps.Keys(previous.Resources))[0]
	w.apply(out)
	w.deliver()
	out = w.call()
	w.want("Then the other repository gets it.", out, view{Phase: deploymentv1alpha1.PhaseDelivering, Revision: 2, Sites: "0/2", Trees: bothSecond})
	if w.deliveries(out)[home].Spec.ForProvider.Settled {
		t.Error("Run(...): the old directories go before the new ones are there")
	}
	out = w.settle()
	w.want("Delivered, the home stays without Sites.", out, view{Phase: deploymentv1alpha1.PhaseSucceeded, Ready: true, Revision: 2, Sites: "2/2", Trees: bothSecond})
	if d := w.deliveries(out)[home]; d == nil || !d.Spec.ForProvider.Settled {
		t.Error("Run(...): the home is gone, or its old directories stay")
	}
}

// TestMoveBehindConfig moves the repository behind a configuration: the old repository cannot be reached any longer, and a second
// delivery with the same configuration would remove the files of the first delivery from the new repository.
func TestMoveBehindConfig(t *testing.T) {
	w := newWorld(t)
	previous := w.settle()
	w.set("ClusterProviderConfig", "default", "https://git.example.org/other.git", "spec", "git", "url")
	w.wantFrozen("The revision is in the old repository until the provider reaches the new one.", w.call())
	w.deliver()
	out := w.call()
	w.want("The provider reached the new repository, so the next revision begins: proofs were of the old repository.", out, view{Phase: deploymentv1alpha1.PhaseDelivering, Revision: 2, Sites: "0/2", Trees: bothSecond})
	names := func(out *Output) []string { return slices.Sorted(maps.Keys(out.Resources)) }
	if diff := cmp.Diff(names(previous), names(out)); diff != "" {
		t.Errorf("Run(...): names: -want, +got:\n%s", diff)
	}
	out = w.settle()
	w.want("Delivered.", out, view{Phase: deploymentv1alpha1.PhaseSucceeded, Ready: true, Revision: 2, Sites: "2/2", Trees: bothSecond})
	w.apply(out)
	if diff := cmp.Diff(out, w.call()); diff != "" {
		t.Errorf("Run(...): nothing changed, and the answer did: -want, +got:\n%s", diff)
	}
}

func TestSuspend(t *testing.T) {
	w := newWorld(t)
	w.in.Spec.Suspend = new(true)
	w.want("Nothing is ordered.", w.call(), view{Phase: deploymentv1alpha1.PhasePending})
	w.in.Spec.Suspend = nil
	w.settle()
	w.in.Spec.Suspend = new(true)
	w.want("The delivered revision stays, and counts.", w.call(), view{Phase: deploymentv1alpha1.PhaseSucceeded, Ready: true, Revision: 1, Sites: "2/2", Trees: bothFirst})
	w.say(`{"service": "shop", "sites": ["edge1"]}`)
	out := w.call()
	w.wantFrozen("A change is held back.", out)
	w.want("The delivered revision is outdated.", out, view{Phase: deploymentv1alpha1.PhaseSucceeded, Revision: 1, Sites: "2/2", Trees: bothFirst})
	w.wantCondition("It says so.", out, deploymentv1alpha1.TypeReconciling, corev1.ConditionFalse, deploymentv1alpha1.ReasonSuspended)
	w.in.Spec.Suspend = new(false)
	w.want("Then it goes on.", w.settle(), view{Phase: deploymentv1alpha1.PhaseSucceeded, Ready: true, Revision: 2, Sites: "1/1", Trees: []string{"2 edge1 Desired"}})
}

// TestNewer leaves a revision of a newer version of the function alone, in every field.
func TestNewer(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*ledger.Request)
		ready  bool
	}{
		"Renderer": {reason: "A newer renderer made the trees of the same intent.", change: func(r *ledger.Request) { r.Renderer = 99 }, ready: true},
		"Scheme": {
			reason: "Digests of a newer scheme do not say whether the intent is the same.",
			change: func(r *ledger.Request) { r.Scheme = digest.Scheme + 1 },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.settle()
			newer := w.ledger().Current.Request
			tc.change(&newer)
			for _, o := range w.in.Observed {
				d := w.decode(o)
				update := deliveryv1alpha1.LedgerUpdate{After: w.ledger().Head, Events: []ledger.Event{{Rebased: &ledger.Rebased{Request: newer}}}}
				d.Spec.ForProvider.Ledger = &update
				object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(d)
				if err != nil {
					t.Fatal(err)
				}
				o.Object["spec"] = object["spec"]
			}
			w.deliver()
			out := w.call()
			w.wantFrozen(tc.reason, out)
			if out.Ready != tc.ready {
				t.Errorf("\n%s\nRun(...): ready: -want, +got:\n%s", tc.reason, cmp.Diff(tc.ready, out.Ready))
			}
			w.say(`{"service": "shop", "sites": ["edge1"]}`)
			out = w.call()
			w.wantFrozen(tc.reason, out)
			if out.Ready {
				t.Errorf("\n%s\nRun(...): ready for an intent that is not delivered", tc.reason)
			}
		})
	}
}

// TestLost: the object is gone without a trace, and Git remembers.
func TestLost(t *testing.T) {
	w := newWorld(t)
	w.settle()
	w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3}`)
	w.settle()
	name := slices.Collect(maps.Keys(w.in.Observed))[0]
	delete(w.in.Observed, name)
	w.apply(w.call())
	w.deliver()
	out := w.call()
	w.want("It goes on with the revision that Git remembers.", out, view{Phase: deploymentv1alpha1.PhaseSucceeded, Revision: 2, Sites: "2/2", Trees: bothSecond})
	w.apply(out)
	w.deliver()
	w.want("And is there.", w.call(), view{Phase: deploymentv1alpha1.PhaseSucceeded, Ready: true, Revision: 2, Sites: "2/2", Trees: bothSecond})
}

func TestPure(t *testing.T) {
	w := newWorld(t)
	w.settle()
	want := w.run()
	for range soak.Rounds(t, 20, 1000) {
		if diff := cmp.Diff(want, w.run()); diff != "" {
			t.Fatalf("Run(...): the same input, another output: -want, +got:\n%s", diff)
		}
	}
}

func TestRunDoesNotChangeItsInput(t *testing.T) {
	w := newWorld(t)
	w.settle()
	text := w.in.Spec.Intent
	w.in.Spec.Intent, w.in.Spec.Expectation = nil, &deploymentv1alpha1.Expectation{Service: "shop", Sites: []deploymentv1alpha1.SiteName{"edge1", "edge2"}, Replicas: new(deploymentv1alpha1.Replicas(2))}
	original := *w.in.Spec.DeepCopy()
	observed := map[string]*unstructured.Unstructured{}
	for name, o := range w.in.Observed {
		observed[name] = o.DeepCopy()
	}
	w.want("The same intent in another form is the same revision.", w.call(), view{Phase: deploymentv1alpha1.PhaseSucceeded, Ready: true, Revision: 1, Sites: "2/2", Trees: bothFirst})
	if diff := cmp.Diff(original, w.in.Spec) + cmp.Diff(observed, w.in.Observed); diff != "" {
		t.Errorf("Run(...): changed its input: -want, +got:\n%s", diff)
	}
	w.in.Spec.Intent = text
}

// TestAtOnce: one Core serves many composites.
func TestAtOnce(t *testing.T) {
	w := newWorld(t)
	w.settle()
	want := w.run()
	done := make(chan string)
	for range 8 {
		go func() {
			out, err := w.core.Run(t.Context(), w.in)
			if err != nil {
				done <- err.Error()
				return
			}
			done <- cmp.Diff(want, out)
		}()
	}
	for range 8 {
		if diff := <-done; diff != "" {
			t.Errorf("Run(...): -want, +got:\n%s", diff)
		}
	}
}

// TestUnanswered: Crossplane may forget answers, and a call without them must lose nothing.
func TestUnanswered(t *testing.T) {
	w := newWorld(t)
	w.settle()
	w.in.Answers = catalog.Answers{}
	w.wantFrozen("A call without answers changes nothing.", w.run())
}

// TestLabelTypo: a selector that finds no Site, and a Site that lost its label, by mistake.
func TestLabelTypo(t *testing.T) {
	w := newWorld(t)
	w.say(`{"service": "shop", "replicas": 2}`)
	choose := func(region string) {
		w.in.Spec.DeliveryConfig.SiteSelector = &deploymentv1alpha1.SiteSelector{MatchLabels: map[string]deploymentv1alpha1.LabelValue{"region": deploymentv1alpha1.LabelValue(region)}}
	}
	choose("north")
	oneSite := view{Phase: deploymentv1alpha1.PhaseSucceeded, Ready: true, Revision: 1, Sites: "1/1", Trees: []string{"1 edge1 Desired"}}
	w.want("One Site is in the north.", w.settle(), oneSite)
	choose("nroth")
	out := w.call()
	w.wantFrozen("A selector that finds nothing removes nothing.", out)
	w.wantCondition("It is told.", out, deploymentv1alpha1.TypeSitesFound, corev1.ConditionFalse, deploymentv1alpha1.ReasonNoSite)
	choose("north")
	w.want("A repaired selector makes no revision.", w.call(), oneSite)
	w.set("Site", "edge1", map[string]any{"region": "nroth"}, "metadata", "labels")
	out = w.call()
	w.wantFrozen("Nor does a Site that lost its label, where it was the only one.", out)
	w.wantCondition("It is told.", out, deploymentv1alpha1.TypeSitesFound, corev1.ConditionFalse, deploymentv1alpha1.ReasonNoSite)
}
