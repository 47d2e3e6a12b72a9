package sitesync

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

func TestBringing(t *testing.T) {
	to := func(config, path string) v1alpha1.GitDelivery {
		d := v1alpha1.GitDelivery{}
		d.SetName(config + path)
		d.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: config}
		d.Spec.ForProvider.Trees = []v1alpha1.Tree{{Site: "edge1", Path: path}}
		return d
	}
	want := v1alpha1.SiteTree{Name: "edge1", Path: "/x", RepositoryRef: v1alpha1.RepositoryReference{Kind: "ProviderConfig", Name: "new"}}
	cases := map[string]struct {
		reason string
		ds     []v1alpha1.GitDelivery
		want   []string
	}{
		"None":    {reason: "A SiteSync that was made by hand has none", want: []string{}},
		"Other":   {reason: "Another directory is another matter", ds: []v1alpha1.GitDelivery{to("new", "/y")}, want: []string{}},
		"Moved":   {reason: "The repository that the Site left says nothing of the one that it moved to", ds: []v1alpha1.GitDelivery{to("old", "/x"), to("new", "/x")}, want: []string{"new/x"}},
		"Renamed": {reason: "One repository may have two configurations", ds: []v1alpha1.GitDelivery{to("old", "/x")}, want: []string{"old/x"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := []string{}
			for _, d := range deliveriesFor(tc.ds, want) {
				got = append(got, d.GetName())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nbringing(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
