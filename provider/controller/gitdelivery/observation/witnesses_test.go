package observation

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// TestClosedSites changes the Site of a later tree.
func TestClosedSites(t *testing.T) {
	north := map[string]string{"region": "north"}
	cases := map[string]struct {
		reason      string
		matchLabels map[string]string
		change      func(s *catalogv1alpha1.Site)
		want        map[string]bool
	}{
		"Same": {reason: "A Site gets its later tree.", change: func(*catalogv1alpha1.Site) {}, want: map[string]bool{}},
		"Labels": {
			reason: "A Site with the labels of the selector gets its later tree, whatever other labels it has.", matchLabels: north,
			change: func(s *catalogv1alpha1.Site) { s.Labels = map[string]string{"region": "north", "tier": "a"} }, want: map[string]bool{},
		},
		"LostLabel": {
			reason: "A Site that lost a label of the selector gets no later tree.", matchLabels: north,
			change: func(s *catalogv1alpha1.Site) { s.Labels = map[string]string{"tier": "a"} }, want: map[string]bool{"edge1": true},
		},
		"OtherLabel": {
			reason: "A Site with another value of a label gets no later tree.", matchLabels: north,
			change: func(s *catalogv1alpha1.Site) { s.Labels = map[string]string{"region": "south"} }, want: map[string]bool{"edge1": true},
		},
		"Moved": {
			reason: "A Site with another directory gets no later tree.",
			change: func(s *catalogv1alpha1.Site) { s.Spec.Repository.Path = "clusters/moved" }, want: map[string]bool{"edge1": true},
		},
		"Layout": {
			reason: "A Site with another layout gets no later tree.",
			change: func(s *catalogv1alpha1.Site) { s.Spec.Repository.Layout = catalogv1alpha1.LayoutManifests }, want: map[string]bool{"edge1": true},
		},
		"Forbidden": {
			reason: "A Site that the namespace may not use gets no later tree.",
			change: func(s *catalogv1alpha1.Site) { s.Spec.AllowedNamespaces = nil }, want: map[string]bool{"edge1": true},
		},
		"Missing": {reason: "A Site that is missing gets no later tree.", want: map[string]bool{"edge1": true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			later := v1alpha1.Tree{Site: "edge1", Path: webAtE1, Layout: catalogv1alpha1.LayoutKustomization}
			p := v1alpha1.GitDeliveryParameters{
				ClaimRef: rolloutv1alpha1.ClaimReference{Namespace: "team-a", Name: "web"}, Later: []v1alpha1.LaterTree{{Tree: later, Revision: 2, Step: 1}},
			}
			sites := map[string]*catalogv1alpha1.Site{}
			if tc.change != nil {
				sites["edge1"] = &catalogv1alpha1.Site{Spec: catalogv1alpha1.SiteSpec{
					Repository:        catalogv1alpha1.SiteRepository{Path: "clusters/edge1", Layout: catalogv1alpha1.LayoutKustomization},
					AllowedNamespaces: []string{"team-a"},
				}}
				tc.change(sites["edge1"])
			}
			if diff := cmp.Diff(tc.want, closedSites(p, tc.matchLabels, sites)); diff != "" {
				t.Errorf("\n%s\nclosedSites(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
