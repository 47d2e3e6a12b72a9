package application

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/projection"
)

func delivering(f *Facts) {
	f.Deployment.Phase, f.Deployment.Outcome = deploymentv1alpha1.PhaseDelivering, ""
}

// earlier has an observation of another image, and none of the desired image.
func earlier(sites ...deliveryv1alpha1.SiteHealthState) func(*Facts) {
	return func(f *Facts) { f.Health = Health{Earlier: sites} }
}

// TestDeployingConditions has a deployment that goes from step to step: the message of the status says so, and no condition changes until a user has to act.
func TestDeployingConditions(t *testing.T) {
	factsAt := func(message string, stalled bool) *Facts {
		return change(running(), delivering, func(f *Facts) { f.Deployment.Message, f.Deployment.Stalled = message, stalled })
	}
	first, second, stalled := factsAt("The commit is pushed.", false), factsAt("Site edge1 has it.", false), factsAt("The push is denied.", true)
	if diff := cmp.Diff(projectConditions(first), projectConditions(second)); diff != "" {
		t.Errorf("Conditions of one step and the next: -first, +second:\n%s", diff)
	}
	if a, b := first.firstMatchingRow().message(first), second.firstMatchingRow().message(second); a == b || !strings.HasSuffix(b, second.Deployment.Message) {
		t.Errorf("The message follows the deployment: %q, then %q", a, b)
	}
	for _, c := range []projection.Condition{deployedCondition(stalled), reconcilingCondition(stalled)} {
		if !strings.HasSuffix(c.Message, stalled.Deployment.Message) {
			t.Errorf("%s names no action for a stalled deployment: %q", c.Type, c.Message)
		}
	}
}

func TestAvailable(t *testing.T) {
	otherImage := site("edge1", deliveryv1alpha1.HealthOtherImage, 0)
	otherImage.Reason, otherImage.AvailableOther = "OtherImage", 2
	cases := map[string]struct {
		reason string
		facts  *Facts
		want   string
	}{
		"Serving": {reason: "An image with available pods at each Site serves.", facts: running(), want: "True/Serving"},
		"BeforeJudged": {
			reason: "An image serves as soon as its pods are available, before it is judged.",
			facts:  change(running(), delivering), want: "True/Serving",
		},
		"Zero": {
			reason: "An Application that is asked for no pods is available as it was asked for.",
			facts:  change(running(), withSites(site("edge1", deliveryv1alpha1.HealthScaledToZero, 0))), want: "True/ScaledToZero",
		},
		"Earlier": {
			reason: "Pods of the image before serve until the new one is there.",
			facts:  change(running(), withSites(otherImage), delivering), want: "True/EarlierImage",
		},
		"NotObserved": {
			reason: "Pods of the image before serve while the new one was not observed.",
			facts:  change(running(), earlier(site("edge1", deliveryv1alpha1.HealthAvailable, 2)), delivering), want: "True/EarlierImage",
		},
		"NoneBefore": {
			reason: "Without a pod of the image before it is not known which pods serve.",
			facts:  change(running(), earlier(site("edge1", deliveryv1alpha1.HealthMissing, 0)), delivering), want: "Unknown/NotObserved",
		},
		"Elsewhere": {
			reason: "Pods at another Site do not serve at this one.",
			facts:  change(running(), earlier(site("edge2", deliveryv1alpha1.HealthAvailable, 2)), delivering), want: "Unknown/NotObserved",
		},
		"Taken": {
			reason: "Once the image is deployed, pods of the image before count no more.",
			facts:  change(running(), earlier(site("edge1", deliveryv1alpha1.HealthAvailable, 2))), want: "Unknown/NotObserved",
		},
		"NewCommit": {
			reason: "Pods of the image that was handed over serve while another commit is built.",
			facts:  change(built(), func(f *Facts) { f.Build.State, f.Build.Wanted = BuildRunning, "c3" }), want: "True/EarlierImage",
		},
		"Changed": {
			reason: "A Deployment that another controller gave another image is not available.",
			facts:  change(running(), withSites(otherImage)), want: "False/OtherImage",
		},
		"First": {
			reason: "An image that is not delivered yet is not available.",
			facts:  change(running(), withSites(site("edge1", deliveryv1alpha1.HealthMissing, 0)), delivering), want: "False/NotDelivered",
		},
		"CrashLoop": {
			reason: "The condition has the reason of the pods.",
			facts:  change(running(), withSites(site("edge1", deliveryv1alpha1.HealthUnavailable, 0))), want: "False/CrashLoopBackOff",
		},
		"OldHealth": {
			reason: "An observation of another image proves nothing.",
			facts:  change(running(), func(f *Facts) { f.Health.Image = oldImage }), want: "Unknown/NotObserved",
		},
		"Counted": {
			reason: "A Site that cannot be looked at serves if its engine reports that.",
			facts:  change(running(), withSites(unreachable("edge1", true))), want: "True/Serving",
		},
		"CountedFirst": {
			reason: "An unreachable Site proves nothing before a revision was verified.",
			facts:  change(running(), withSites(unreachable("edge1", true)), delivering, func(f *Facts) { f.Deployment.Verified = 0 }),
			want:   "Unknown/NotObserved",
		},
		"CountedNext": {
			reason: "An unreachable Site counts for the previous image while the next one is delivered.",
			facts:  change(running(), withSites(unreachable("edge1", true)), delivering), want: "True/EarlierImage",
		},
		"OtherSite": {
			reason: "A Site that an edit added serves nothing before the deployment takes it up.",
			facts:  change(running(), func(f *Facts) { f.Deployment.Asked, f.Deployment.HasOtherSites = "sha256:newer", true }), want: "Unknown/NotObserved",
		},
		"Hidden": {
			reason: "A Site that cannot be looked at makes it unknown.",
			facts:  change(running(), withSites(site("edge1", deliveryv1alpha1.HealthNotObserved, 0))), want: "Unknown/NotObserved",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := availableCondition(tc.facts)
			if diff := cmp.Diff(tc.want, string(c.Status)+"/"+c.Reason); diff != "" {
				t.Errorf("\n%s\navailableCondition(...): -want, +got:\n%s\n%s", tc.reason, diff, c.Message)
			}
		})
	}
}

// TestRouted has routes whose acceptance is of the current spec, or of an earlier one.
func TestRouted(t *testing.T) {
	routed := func(accepted bool) func(*Facts) {
		return func(f *Facts) {
			f.URL = "http://new.example.org"
			f.Health.Sites[0].Route = &deliveryv1alpha1.RouteHealth{Accepted: accepted, Reason: "RouteNotAccepted"}
		}
	}
	readAt := func(revision int64) func(*Facts) {
		return func(f *Facts) { f.Deployment.Revision, f.Health.Sites[0].Route.Revision = 3, &revision }
	}
	edited := func(f *Facts) { f.Deployment.Asked = "sha256:newer" }
	cases := map[string]struct {
		reason string
		facts  *Facts
		want   string
	}{
		"None":     {reason: "An Application without a route needs none.", facts: running(), want: "True/NotRequired"},
		"Accepted": {reason: "A route of a verified spec that its Gateways accepted is in force.", facts: change(running(), routed(true)), want: "True/Accepted"},
		"Edited": {
			reason: "An accepted route is that of an earlier host until the deployment takes up the edit.",
			facts:  change(running(), routed(true), edited), want: "Unknown/NotDelivered",
		},
		"ReadAfterDelivery": {
			reason: "A route that was read since the Site runs the verified revision is of the present spec.",
			facts:  change(running(), routed(true), readAt(3)), want: "True/Accepted",
		},
		"ReadBeforeDelivery": {
			reason: "A route that was read before the Site ran the verified revision may be of an earlier spec.",
			facts:  change(running(), routed(true), readAt(2)), want: "Unknown/NotDelivered",
		},
		"ReadWithoutProof": {
			reason: "A route of a Site that is not proven to run a revision may be of an earlier spec.",
			facts:  change(running(), routed(true), readAt(0)), want: "Unknown/NotDelivered",
		},
		"ReadOfLaterRevision": {
			reason: "A route that was read at a later revision says nothing about the verified one.",
			facts:  change(running(), routed(true), readAt(4)), want: "Unknown/NotDelivered",
		},
		"EditedAfterRefusal": {
			reason: "A refusal of an earlier host says nothing about the present one.",
			facts:  change(running(), routed(false), edited), want: "Unknown/NotDelivered",
		},
		"Delivering": {
			reason: "An accepted route is that of an earlier host until the edit is proven at each Site.",
			facts:  change(running(), routed(true), delivering), want: "Unknown/NotDelivered",
		},
		"RefusedEarly": {
			reason: "A refusal is known while the deployment goes on.",
			facts:  change(running(), routed(false), delivering), want: "False/RouteNotAccepted",
		},
		"RolledBack": {
			reason: "A rollback restores the route of an earlier spec.",
			facts:  change(running(), routed(true), func(f *Facts) { f.Deployment.Outcome = deploymentv1alpha1.OutcomeRolledBack }),
			want:   "Unknown/NotDelivered",
		},
		"HeldBack": {
			reason: "A suspended deployment keeps the route of an earlier spec.",
			facts:  change(running(), routed(true), func(f *Facts) { f.Deployment.IsHeldBack = true }), want: "Unknown/NotDelivered",
		},
		"Building": {
			reason: "A route that an edit of the source did not change stays in force while the image is built.",
			facts:  change(built(), routed(true), func(f *Facts) { f.Build.State, f.Build.Wanted = BuildRunning, "c3" }), want: "True/Accepted",
		},
		"BuildFirst": {
			reason: "An edited route that waits for a build is not in force.",
			facts:  change(built(), routed(true), func(f *Facts) { f.RouteWaits = true }), want: "Unknown/NotDelivered",
		},
		"Invalid": {
			reason: "The route of a refused spec is not in force.",
			facts:  change(running(), routed(true), func(f *Facts) { f.Problem = "spec.port: it is wrong" }), want: "Unknown/NotDelivered",
		},
		"Unseen": {
			reason: "A route that was not observed is not known.",
			facts:  change(running(), func(f *Facts) { f.URL = "http://new.example.org" }), want: "Unknown/NotObserved",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := routedCondition(tc.facts)
			if diff := cmp.Diff(tc.want, string(c.Status)+"/"+c.Reason); diff != "" {
				t.Errorf("%s\nroutedCondition(...): -want, +got:\n%s\n%s", tc.reason, diff, c.Message)
			}
		})
	}
}

func TestReady(t *testing.T) {
	routed := func(accepted bool) func(*Facts) {
		return func(f *Facts) {
			f.URL = "http://shop.example.org"
			f.Health.Sites[0].Route = &deliveryv1alpha1.RouteHealth{Accepted: accepted, Reason: "RouteNotAccepted"}
		}
	}
	cases := map[string]struct {
		reason string
		facts  *Facts
		want   bool
	}{
		"Running":   {reason: "An Application that runs is Ready.", facts: running(), want: true},
		"Routed":    {reason: "An Application whose route is accepted is Ready.", facts: change(running(), routed(true)), want: true},
		"NotRouted": {reason: "An Application whose route is not accepted is not Ready.", facts: change(running(), routed(false))},
		"Unseen": {
			reason: "An Application whose route was not observed is not Ready.",
			facts:  change(running(), func(f *Facts) { f.URL = "http://shop.example.org" }),
		},
		"Inner":     {reason: "An Application is not Ready before its deployment is.", facts: change(running(), func(f *Facts) { f.Deployment.Ready = false })},
		"Hidden":    {reason: "An Application whose Site cannot be looked at is not Ready.", facts: change(running(), withSites(unreachable("edge1", false)))},
		"Deploying": {reason: "An Application that is being deployed is not Ready.", facts: change(running(), delivering)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := isApplicationReady(tc.facts); got != tc.want {
				t.Errorf("\n%s\nisReady(...): %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}
