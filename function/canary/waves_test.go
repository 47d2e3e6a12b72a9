package canary

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
)

// TestPlanWithoutSteps brings a revision to Sites in waves.
func TestPlanWithoutSteps(t *testing.T) {
	place := func(name, region string) catalog.Place {
		p := catalog.Place{}
		p.Site.SetName(name)
		p.Site.SetLabels(map[string]string{"region": region})
		return p
	}
	places := []catalog.Place{place("a", "north"), place("b", "south"), place("c", "south")}
	named := func(name string, sites ...deploymentv1alpha1.SiteName) deploymentv1alpha1.Wave {
		return deploymentv1alpha1.Wave{Name: name, Sites: sites}
	}
	labelled := func(name, region string) deploymentv1alpha1.Wave {
		return deploymentv1alpha1.Wave{Name: name, MatchLabels: map[string]deploymentv1alpha1.LabelValue{"region": deploymentv1alpha1.LabelValue(region)}}
	}
	cases := map[string]struct {
		reason string
		waves  []deploymentv1alpha1.Wave
		want   [][]string
		err    string
	}{
		"None": {reason: "All at once.", want: [][]string{{"a", "b", "c"}}},
		"Named": {
			reason: "Those in no wave come last.",
			waves:  []deploymentv1alpha1.Wave{named("first", "c"), named("second", "a")}, want: [][]string{{"c"}, {"a"}, {"b"}},
		},
		"Labels": {
			reason: "A wave selects by labels too.",
			waves:  []deploymentv1alpha1.Wave{labelled("first", "south"), named("second", "a")}, want: [][]string{{"b", "c"}, {"a"}},
		},
		"Empty": {
			reason: "A wave without Sites adds no step.",
			waves:  []deploymentv1alpha1.Wave{labelled("first", "west"), labelled("second", "south")}, want: [][]string{{"b", "c"}, {"a"}},
		},
		"Twice": {
			reason: "A Site goes once.",
			waves:  []deploymentv1alpha1.Wave{named("first", "b"), labelled("second", "south")},
			err:    `spec.deliveryConfig.waves[1]: Site "b" is in wave "first" too`,
		},
		"Typo": {
			reason: "A Site that was not chosen is a mistake.",
			waves:  []deploymentv1alpha1.Wave{named("first", "z")}, err: `spec.deliveryConfig.waves[0]: Site "z" is not a Site of the deployment`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			plan, err := PlanWithoutSteps(tc.waves, places)
			var got [][]string
			for _, s := range plan {
				got = append(got, s.Sites)
			}
			if diff := cmp.Diff([]any{tc.want, tc.err}, []any{got, message(err)}); diff != "" {
				t.Errorf("\n%s\nPlanWithoutSteps(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
