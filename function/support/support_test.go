package support

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
)

func TestSelection(t *testing.T) {
	place := func(name string) catalog.Place {
		p := catalog.Place{ConfigRef: catalog.ConfigRef{Kind: "ClusterProviderConfig", Name: "default"}}
		p.Site.SetName(name)
		p.Site.Spec.Engine.Type = catalogv1alpha1.EngineNone
		p.Config.Git.DivergencePolicy, p.Config.Git.State.Form = "Stop", configv1alpha1.StateProbe
		return p
	}
	cases := map[string]struct {
		reason string
		change func(*catalog.Selection)
		want   []string
	}{
		"Plain":  {reason: "A Site without an engine is supported.", change: func(*catalog.Selection) {}},
		"Engine": {reason: "Engines are asked.", change: func(s *catalog.Selection) { s.Places[1].Site.Spec.Engine.Type = catalogv1alpha1.EngineFlux }},
		"Cluster": {
			reason: "Clusters that are made are waited for.", change: func(s *catalog.Selection) {
				s.Places[1].Site.Spec.Cluster.ClusterRef = &catalogv1alpha1.ObjectReference{Name: "c"}
			},
		},
		"Config": {
			reason: "A configuration of two Sites is named once, for the fields that do nothing.",
			change: func(s *catalog.Selection) {
				for i := range s.Places {
					s.Places[i].Config.Git.DivergencePolicy = configv1alpha1.DivergenceReapply
					s.Places[i].Config.Policy.WebCheckHosts = []string{"example.org"}
					s.Places[i].Config.Notifications = []configv1alpha1.Notification{{URL: "https://example.org"}}
				}
			},
			want: []string{"ClusterProviderConfig default: spec.notifications"},
		},
		"StateForm": {
			reason: "Every form of the state works.",
			change: func(s *catalog.Selection) { s.Places[0].Config.Git.State.Form = configv1alpha1.StateBranch },
		},
		"Blueprint": {
			reason: "Metrics are measured, and what cannot be undone is asked for.",
			change: func(s *catalog.Selection) {
				s.Blueprint.Spec.Metrics = []catalogv1alpha1.BlueprintMetric{{Name: "a"}}
				s.Blueprint.Spec.Irreversible = []catalogv1alpha1.IrreversibleKind{{Kind: "PersistentVolumeClaim"}}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &catalog.Selection{Places: []catalog.Place{place("a"), place("b")}}
			s.Blueprint.SetName("web-1.0.0")
			tc.change(s)
			got, err := Selection(s)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got, equateEmpty()); diff != "" {
				t.Errorf("\n%s\nSelection(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// equateEmpty makes an empty list and an absent one the same.
func equateEmpty() cmp.Option {
	return cmp.FilterValues(func(a, b []string) bool { return len(a) == 0 && len(b) == 0 }, cmp.Ignore())
}
