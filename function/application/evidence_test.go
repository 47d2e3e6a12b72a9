package application

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

func healthParameters() deliveryv1alpha1.SiteHealthParameters {
	return deliveryv1alpha1.SiteHealthParameters{Image: newImage, Route: true, Sites: []deliveryv1alpha1.HealthTarget{{Name: "edge1"}}}
}

// observedHealth returns a SiteHealth that was observed for its current generation.
func observedHealth() *deliveryv1alpha1.SiteHealth {
	h := &deliveryv1alpha1.SiteHealth{Spec: deliveryv1alpha1.SiteHealthSpec{ForProvider: healthParameters()}}
	h.Generation = 4
	h.Status.AtProvider = deliveryv1alpha1.SiteHealthObservation{Image: newImage, SitesServing: 1, Sites: []deliveryv1alpha1.SiteHealthState{site("edge1", deliveryv1alpha1.HealthAvailable, 2)}}
	h.SetConditions(xpv2.Condition{Type: xpv2.TypeReady, Status: "True", Reason: "Serving"}.WithObservedGeneration(4))
	return h
}

func TestObserveHealth(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*deliveryv1alpha1.SiteHealth)
		want   bool
	}{
		"Current": {reason: "A SiteHealth that was observed for the desired spec is evidence.", change: func(*deliveryv1alpha1.SiteHealth) {}, want: true},
		"NotReady": {
			reason: "A SiteHealth that is not Ready is evidence, too.",
			change: func(h *deliveryv1alpha1.SiteHealth) { setReady(h, "False", 4) }, want: true,
		},
		"OtherSpec": {
			reason: "A SiteHealth with another spec than the desired spec proves nothing.",
			change: func(h *deliveryv1alpha1.SiteHealth) { h.Spec.ForProvider.Sites[0].Name = "edge2" },
		},
		"OldGeneration": {reason: "A condition about an earlier generation proves nothing.", change: func(h *deliveryv1alpha1.SiteHealth) { h.Generation = 5 }},
		"NotYetObserved": {
			reason: "A SiteHealth without condition Ready proves nothing.",
			change: func(h *deliveryv1alpha1.SiteHealth) { h.Status.Conditions = nil },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := observedHealth()
			tc.change(h)
			want := Health{}
			if tc.want {
				want = Health{Image: newImage, Sites: h.Status.AtProvider.Sites}
			}
			if diff := cmp.Diff(want, ObserveHealth(h, healthParameters())); diff != "" {
				t.Errorf("\n%s\nObserveHealth(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	h := observedHealth()
	h.Status.AtProvider.Image = oldImage
	if diff := cmp.Diff(Health{Earlier: h.Status.AtProvider.Sites}, ObserveHealth(h, healthParameters())); diff != "" {
		t.Errorf("A status about another image says which pods serve, and nothing about the image: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(Health{}, ObserveHealth(nil, healthParameters())); diff != "" {
		t.Errorf("evidence without a SiteHealth: -want, +got:\n%s", diff)
	}
}

func setReady(h *deliveryv1alpha1.SiteHealth, status string, generation int64) {
	c := xpv2.Condition{Type: xpv2.TypeReady, Reason: "CrashLoopBackOff"}
	if status == "False" {
		c.Status = "False"
	}
	h.SetConditions(c.WithObservedGeneration(generation))
}

func TestObserveDeployment(t *testing.T) {
	s := deploymentv1alpha1.IntentDeploymentStatus{
		Phase: "Succeeded", Outcome: "Succeeded", Message: "It runs", IntentDigest: "sha256:new", Revision: 3, VerifiedRevision: 2,
		Delivery: deploymentv1alpha1.DeliveryStatus{Sites: map[string]deploymentv1alpha1.SiteStatus{"edge2": {}, "edge1": {}}},
	}
	want := Deployment{
		Name: "shop", Asked: "sha256:new", Reported: "sha256:new", Phase: "Succeeded", Outcome: "Succeeded", Message: "It runs", Revision: 3, Verified: 2,
		Sites: []string{"edge1", "edge2"}, Ready: true,
	}
	if diff := cmp.Diff(want, ObserveDeployment("shop", "sha256:new", s, true)); diff != "" {
		t.Errorf("ObserveDeployment(...): -want, +got:\n%s", diff)
	}
}

func TestShortImage(t *testing.T) {
	cases := map[string]struct{ reason, image, want string }{
		"Digest": {reason: "A digest is cut to its first characters.", image: newImage, want: "111111111111"},
		"Tag":    {reason: "An image with a tag is called by the end of its name.", image: "registry.example.org:5000/team-a/shop:1.4", want: "shop:1.4"},
		"Short":  {reason: "A digest that is too short is not cut.", image: "shop@sha256:12", want: "12"},
		"None":   {reason: "No image has no name.", image: "", want: ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, shortImageName(tc.image)); diff != "" {
				t.Errorf("\n%s\nshortImage(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
