package claims

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

func TestSiteSelections(t *testing.T) {
	t.Parallel()
	const anywhere = `{"service": "shop", "replicas": 1}`
	cases := map[string]struct {
		reason string
		sites  []string
		intent string
		target map[string]any
		want   []string
	}{
		"TargetSite": {
			reason: "A target Site is chosen by its name.",
			sites:  []string{"edge1", "edge2"}, intent: anywhere, target: map[string]any{"targetSite": "SCENE-edge2"}, want: []string{"edge2"},
		},
		"Both": {
			reason: "The target both selects the two Sites that the namespace may use.",
			sites:  []string{"edge1", "edge2"}, intent: anywhere, target: map[string]any{"targetSite": "both"}, want: []string{"edge1", "edge2"},
		},
		"All": {
			reason: "The target all selects each Site that the namespace may use, and no other.",
			sites:  []string{"edge1", "edge2", "edge3"}, intent: anywhere, target: map[string]any{"targetSite": "all"}, want: []string{"edge1", "edge2", "edge3"},
		},
		"BothInIntent": {
			reason: "The site both in the intent selects the same two Sites.", sites: []string{"edge1", "edge2"}, intent: `{"service": "shop", "site": "both"}`,
			want: []string{"edge1", "edge2"},
		},
		"AllInIntent": {
			reason: "The site all in the intent selects the same Sites.", sites: []string{"edge1", "edge2", "edge3"}, intent: `{"service": "shop", "site": "all"}`,
			want: []string{"edge1", "edge2", "edge3"},
		},
		"Labels": {
			reason: "Labels select the Sites with all of them, apart from the Sites of another namespace.", sites: []string{"edge1", "edge2", "edge3"}, intent: anywhere,
			target: map[string]any{"siteSelector": map[string]any{"matchLabels": map[string]any{"scene": "SCENE", "region": "north"}}}, want: []string{"edge1", "edge3"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scene.New(t, cp)
			regions := map[string]string{"edge1": "north", "edge2": "south", "edge3": "north", "theirs": "north"}
			for _, site := range append(tc.sites, "theirs") {
				o := s.Set(s.NewSite(site), map[string]any{"scene": s.Namespace, "region": regions[site]}, "metadata", "labels")
				if site == "theirs" {
					s.Set(o, []any{"somebody-else"}, "spec", "allowedNamespaces")
				}
				s.Apply(o)
			}
			claim := s.Claim("shop", tc.intent)
			for field, value := range tc.target {
				s.Set(claim, withSceneName(value, s.Namespace), "spec", "deliveryConfig", field)
			}
			observed := s.Succeed(claim)
			s.AwaitCommits(1)
			want, got := map[string]any{}, map[string]any{}
			for _, site := range tc.want {
				want[s.Site(site)] = "Delivered"
				if len(s.FilesBelow(s.Directory(site, "shop"))) == 0 {
					t.Errorf("\n%s\nfiles for %s are missing", tc.reason, site)
				}
			}
			sites, _, _ := unstructured.NestedMap(observed.Object, "status", "delivery", "sites")
			for site := range sites {
				got[site], _, _ = unstructured.NestedString(sites, site, "state")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\nstatus.delivery.sites: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
