package application

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

func delivering(f *Facts) {
	f.Deployment.Phase, f.Deployment.Outcome = deploymentv1alpha1.PhaseDelivering, ""
}

func TestAvailable(t *testing.T) {
	other := site("edge1", deliveryv1alpha1.HealthOtherImage, 0)
	other.Reason, other.AvailableOther = "OtherImage", 2
	cases := map[string]struct {
		reason string
		facts  *Facts
		want   string
	}{
		"Serving":      {reason: "An image with available pods at each Site serves.", facts: running(), want: "True/Serving"},
		"BeforeJudged": {reason: "An image serves as soon as its pods are available, before it is judged.", facts: change(running(), delivering), want: "True/Serving"},
		"Zero":         {reason: "An Application that is asked for no pods is available as it was asked for.", facts: change(running(), withSites(site("edge1", deliveryv1alpha1.HealthScaledToZero, 0))), want: "True/ScaledToZero"},
		"Earlier":      {reason: "Pods of the image before serve until the new one is there.", facts: change(running(), withSites(other), delivering), want: "True/EarlierImage"},
		"NewCommit":    {reason: "Pods of the image that was handed over serve while another commit is built.", facts: change(built(), func(f *Facts) { f.Build.State, f.Build.Wanted = BuildRunning, "c3" }), want: "True/EarlierImage"},
		"Changed":      {reason: "A Deployment that another controller gave another image is not available.", facts: change(running(), withSites(other)), want: "False/OtherImage"},
		"First":        {reason: "An image that is not delivered yet is not available.", facts: change(running(), withSites(site("edge1", deliveryv1alpha1.HealthMissing, 0)), delivering), want: "False/NotDelivered"},
		"CrashLoop":    {reason: "The condition has the reason of the pods.", facts: change(running(), withSites(site("edge1", deliveryv1alpha1.HealthUnavailable, 0))), want: "False/CrashLoopBackOff"},
		"OldHealth":    {reason: "What is known of another image says nothing.", facts: change(running(), func(f *Facts) { f.Health.Image = oldImage }), want: "Unknown/NotObserved"},
		"Hidden":       {reason: "A Site that cannot be looked at makes it unknown.", facts: change(running(), withSites(site("edge1", deliveryv1alpha1.HealthNotObserved, 0))), want: "Unknown/NotObserved"},
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
		"Unseen":    {reason: "An Application whose route was not observed is not Ready.", facts: change(running(), func(f *Facts) { f.URL = "http://shop.example.org" })},
		"Inner":     {reason: "An Application is not Ready before its deployment is.", facts: change(running(), func(f *Facts) { f.Deployment.Ready = false })},
		"Deploying": {reason: "An Application that is being deployed is not Ready.", facts: change(running(), delivering)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := isReady(tc.facts); got != tc.want {
				t.Errorf("\n%s\nisReady(...): %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}
