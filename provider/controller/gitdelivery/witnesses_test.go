package gitdelivery

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/state"
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
			p := delivery("web", wish{}).Spec.ForProvider
			p.Later = []v1alpha1.LaterTree{{Tree: desired(t, "edge1", webAtE1, "b"), Revision: 2, Step: 1}}
			sites := map[string]*catalogv1alpha1.Site{}
			if tc.change != nil {
				sites["edge1"] = site("edge1")
				tc.change(sites["edge1"])
			}
			if diff := cmp.Diff(tc.want, closedSites(p, tc.matchLabels, sites)); diff != "" {
				t.Errorf("\n%s\nclosedSites(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDeliveredByPath has a repository with the directory of the present step, that of a later step, and another one.
func TestDeliveredByPath(t *testing.T) {
	at := func(path string) v1alpha1.Tree { return v1alpha1.Tree{Branch: "main", Path: path} }
	f := facts{spec: v1alpha1.GitDeliveryParameters{Trees: []v1alpha1.Tree{at("first")}, Later: []v1alpha1.LaterTree{{Tree: at("second")}, {Tree: at("third")}}}}
	for _, path := range []string{"first", "second", "other"} {
		f.delivered = append(f.delivered, state.Tree{Branch: "main", DeliveredTree: v1alpha1.DeliveredTree{Path: path, Tree: "tree of " + path}})
	}
	want := map[string]v1alpha1.DeliveredTree{"first": {Path: "first", Tree: "tree of first"}, "second": {Path: "second", Tree: "tree of second"}}
	if diff := cmp.Diff(want, f.deliveredByPath()); diff != "" {
		t.Errorf("\nThe directories of all steps are known where they were delivered.\ndeliveredByPath(): -want, +got:\n%s", diff)
	}
}
