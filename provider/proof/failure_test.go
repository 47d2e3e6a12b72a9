package proof

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/gatewayapi"
	"github.com/intentplane/intentplane/provider/workload"
)

// declares lets the cluster of a Site declare a failure final, some seconds after noon. A negative number stands for an unknown time.
func declares(seconds int, change ...func(*workload.FinalFailure)) func(*SiteFacts) {
	failure := &workload.FinalFailure{Reason: gatewayapi.ReasonObjectFailed, Message: "m"}
	if seconds >= 0 {
		failure.DeclaredAt = noon().Add(time.Duration(seconds) * time.Second)
	}
	for _, fn := range change {
		fn(failure)
	}
	return func(s *SiteFacts) { s.Failure = failure }
}

// TestJudgeFailure looks at Sites a minute after the step was first seen, at noon.
func TestJudgeFailure(t *testing.T) {
	inSteps := func(f *Facts) { f.Spec.Position.Stage = ledger.StageSteps }
	began := func(f *Facts) { f.Last = before(f.Spec.Position, v1alpha1.SiteSyncing) }
	wasLive := func(f *Facts) { f.Last = before(f.Spec.Position, v1alpha1.SiteLive) }
	settles := func(seconds int) func(*workload.FinalFailure) {
		return func(failure *workload.FinalFailure) {
			failure.SettlesAt = noon().Add(time.Duration(seconds) * time.Second)
		}
	}
	withFailure := func(s SiteFacts, fn func(*SiteFacts)) SiteFacts { fn(&s); return s }
	unhealthy := func(change func(*SiteFacts)) SiteFacts { return says(v1alpha1.SiteReasonUnhealthy, change) }
	stalled := func(seconds int, change ...func(*SiteFacts)) SiteFacts {
		sinceNoon := func(s *SiteFacts) {
			s.Applied.ID, s.Engine.FinalFailure = otherTree(), true
			s.StalledSince = noon().Add(time.Duration(seconds) * time.Second)
		}
		return says(v1alpha1.SiteReasonStalled, append([]func(*SiteFacts){sinceNoon}, change...)...)
	}
	canary := func(seconds int, change ...func(*workload.FinalFailure)) SiteFacts {
		return withFailure(routed(withoutPods), declares(seconds, change...))
	}
	cases := map[string]struct {
		reason string
		facts  Facts
		state  v1alpha1.SiteState
		want   string
	}{
		"Canary": {
			reason: "A canary without a Gate does not wait for pods that the cluster has given up.",
			facts:  testFacts(canary(30), splitAt(20), inSteps, began), state: v1alpha1.SiteFailed, want: gatewayapi.ReasonObjectFailed,
		},
		"CanaryWasLive": {
			reason: "A canary that was live in its step ends once the cluster gives its pods up.",
			facts:  testFacts(canary(30), splitAt(20), inSteps, wasLive), state: v1alpha1.SiteFailed, want: gatewayapi.ReasonObjectFailed,
		},
		"Undated": {
			reason: "A failure without a time is about the present.",
			facts:  testFacts(canary(-1), splitAt(20), inSteps, began), state: v1alpha1.SiteFailed, want: gatewayapi.ReasonObjectFailed,
		},
		"Earlier": {
			reason: "A failure from before the step is about the earlier pods of the Deployment.",
			facts:  testFacts(canary(30), splitAt(20), inSteps), state: v1alpha1.SiteSyncing, want: gatewayapi.ReasonCanaryNotAvailable,
		},
		"BeforeSteps": {
			reason: "Pods that fail while requests move back were brought by another revision.",
			facts:  testFacts(canary(30), splitAt(20), began), state: v1alpha1.SiteSyncing, want: gatewayapi.ReasonCanaryNotAvailable,
		},
		"Unsettled": {
			reason: "A refusal has to last for a moment.",
			facts:  testFacts(canary(-1, settles(61)), splitAt(20), inSteps, began), state: v1alpha1.SiteSyncing, want: gatewayapi.ReasonCanaryNotAvailable,
		},
		"Settled": {
			reason: "A refusal that has lasted for a moment counts.",
			facts:  testFacts(canary(-1, settles(60)), splitAt(20), inSteps, began), state: v1alpha1.SiteFailed, want: gatewayapi.ReasonObjectFailed,
		},
		"Live": {
			reason: "A Site that runs its tree is live, whatever else failed.",
			facts:  testFacts(withFailure(routed(), declares(30)), splitAt(20), inSteps, began), state: v1alpha1.SiteLive,
		},
		"OtherTree": {
			reason: "A failure at a Site whose engine has not come to the tree is about another tree.",
			facts:  testFacts(canary(30), splitAt(20), inSteps, began, func(f *Facts) { f.Sites[0].Applied.ID = otherTree() }),
			state:  v1alpha1.SiteSyncing, want: v1alpha1.SiteReasonOtherTree,
		},
		"Behind": {
			reason: "A failure at a Site whose engine has still to pass another tree may be about that.",
			facts:  testFacts(canary(30), splitAt(20), inSteps, began, func(f *Facts) { f.Sites[0].Gap.IsBehind = true }),
			state:  v1alpha1.SiteSyncing, want: v1alpha1.SiteReasonOtherTree,
		},
		"Uncompared": {
			reason: "A failure at a Site whose engine has prepared the tree and not compared it is about the earlier pods.",
			facts:  testFacts(canary(30), splitAt(20), inSteps, began, func(f *Facts) { f.Sites[0].Engine.IsUncompared = true }),
			state:  v1alpha1.SiteSyncing, want: gatewayapi.ReasonCanaryNotAvailable,
		},
		"Unhealthy": {
			reason: "A Site without tracks does not wait if its engine reports unhealthy objects and the cluster has given up an object.",
			facts:  testFacts(unhealthy(declares(30)), began), state: v1alpha1.SiteFailed, want: gatewayapi.ReasonObjectFailed,
		},
		"UnhealthyYet": {
			reason: "A Site without tracks waits while its objects are unhealthy, and the cluster has given none up.",
			facts:  testFacts(unhealthy(func(*SiteFacts) {}), began), state: v1alpha1.SiteSyncing, want: v1alpha1.SiteReasonUnhealthy,
		},
		"Stalled": {
			reason: "An engine that stalls while its Site waits tries the tree no more, so that no wait helps.",
			facts:  testFacts(stalled(30), began), state: v1alpha1.SiteFailed, want: v1alpha1.SiteReasonStalled,
		},
		"StalledUnsettled": {
			reason: "An engine has to be stalled for a moment.",
			facts:  testFacts(stalled(51), began), state: v1alpha1.SiteSyncing, want: v1alpha1.SiteReasonStalled,
		},
		"StalledEarlier": {
			reason: "An engine that was stalled before the wait began gives no reason about the revision.",
			facts:  testFacts(stalled(-30), began), state: v1alpha1.SiteSyncing, want: v1alpha1.SiteReasonStalled,
		},
		"StalledBeforeDelivery": {
			reason: "An engine that stalled before the Site could wait for it gives no reason about the revision.",
			facts: testFacts(stalled(30), func(f *Facts) {
				f.Last = before(f.Spec.Position, v1alpha1.SitePending)
				f.Last.Sites[0].StartedAt = nil
			}), state: v1alpha1.SiteSyncing, want: v1alpha1.SiteReasonStalled,
		},
		"StalledWasLive": {
			reason: "An engine that stalls at a Site which was live ends no step: its object was changed meanwhile.",
			facts:  testFacts(stalled(30), wasLive), state: v1alpha1.SiteSyncing, want: v1alpha1.SiteReasonStalled,
		},
		"StalledWasLiveLater": {
			reason: "A Site that was live waits for a stalled engine until the timeout.",
			facts: testFacts(stalled(30), began, func(f *Facts) {
				f.Last.Sites[0].StartedAt = &metav1.Time{Time: noon().Add(31 * time.Second)}
			}), state: v1alpha1.SiteSyncing, want: v1alpha1.SiteReasonStalled,
		},
		"StalledShared": {
			reason: "An engine that reads more than the directory may be stalled by others.",
			facts:  testFacts(stalled(30, func(s *SiteFacts) { s.Engine.Root = "clusters/edge1" }), began),
			state:  v1alpha1.SiteSyncing, want: v1alpha1.SiteReasonStalled,
		},
		"StalledForAWhile": {
			reason: "An engine whose stall ends without a change, as that of Config Sync, is waited for although it tried the tree.",
			facts:  testFacts(stalled(30, func(s *SiteFacts) { s.Attempted, s.StalledSince = Subtree{ID: wantedTree()}, time.Time{} }), began),
			state:  v1alpha1.SiteSyncing, want: v1alpha1.SiteReasonStalled,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Decide(tc.facts).Next.Sites[0]
			if got.State != tc.state || got.Reason != tc.want {
				t.Errorf("\n%s\nwant %s %q, got %s %q", tc.reason, tc.state, tc.want, got.State, got.Reason)
			}
		})
	}
	for name, unsettled := range map[string]Facts{
		"refusal": testFacts(canary(-1, settles(61)), splitAt(20), inSteps, began), "stall": testFacts(stalled(51), began),
	} {
		if recheck := Decide(unsettled).Recheck; !recheck.Equal(noon().Add(61 * time.Second)) {
			t.Errorf("\nA SiteSync looks again when a %s counts.\nwant 61 seconds after noon, got %s", name, recheck)
		}
	}
}

func TestExplainFailure(t *testing.T) {
	fails := func(reason string, state v1alpha1.SiteState) string {
		return explainSite(v1alpha1.SiteObservation{Name: "edge1", State: state, Reason: reason, Message: "Deployment team-a/web: no"})
	}
	cases := map[string]struct {
		reason string
		got    string
		want   string
	}{
		"Object": {
			reason: "The object that failed is named.",
			got:    fails(gatewayapi.ReasonObjectFailed, v1alpha1.SiteFailed), want: "Failed, ObjectFailed: Deployment team-a/web: no",
		},
		"Route": {
			reason: "The route that was refused is named.",
			got:    fails(gatewayapi.ReasonRouteNotAccepted, v1alpha1.SiteFailed), want: "Failed, RouteNotAccepted: Deployment team-a/web: no",
		},
		"LateRoute": {
			reason: "The route that ended the wait is named.",
			got:    fails(gatewayapi.ReasonRouteNotAccepted, v1alpha1.SiteTimedOut), want: "TimedOut, RouteNotAccepted: Deployment team-a/web: no",
		},
		"Engine": {
			reason: "The text of an engine stays in the status of its Site.",
			got:    fails(v1alpha1.SiteReasonEngineFailed, v1alpha1.SiteFailed), want: "Failed, EngineFailed",
		},
		"Waiting": {
			reason: "A wait that goes on has its reason alone.",
			got:    fails(gatewayapi.ReasonRouteNotAccepted, v1alpha1.SiteSyncing), want: "RouteNotAccepted",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("\n%s\nexplainSite(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
