package intent

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

func TestExplicitInText(t *testing.T) {
	all := Explicit{Type: true, Replicas: true, Priority: true}
	cases := map[string]struct {
		reason string
		text   string
		want   Explicit
	}{
		"Nothing":  {reason: "An intent that gives no values leaves all of them to the defaults.", text: `{"service": "a"}`},
		"Defaults": {reason: "Saying a default is saying something.", text: `{"service": "a", "type": "web", "replicas": 1, "priority": "medium"}`, want: all},
		"Others": {
			reason: "Values that differ from the defaults are explicit.",
			text:   `{"service": "a", "type": "batch", "replicas": 0, "priority": "high"}`, want: all,
		},
		"Otherwise": {
			reason: "Values that equal the second set of defaults are explicit.",
			text:   `{"service": "a", "type": "otherwise", "replicas": 2, "priority": "low"}`, want: all,
		},
		"YAML":         {reason: "Values of a YAML document are explicit.", text: "service: a\nreplicas: 1\n", want: Explicit{Replicas: true}},
		"SiteReplicas": {reason: "Replicas of one Site are not replicas of all Sites.", text: `{"service": "a", "sites": ["b"], "replicas": {"b": 1}}`},
		"Sentence": {
			reason: "Values of a sentence are explicit.",
			text:   "Deploy shop with 1 replica, medium priority", want: Explicit{Replicas: true, Priority: true},
		},
		"TMF921": {
			reason: "An intent of TMF921 always gives a type.",
			text:   `{"intentId": "a", "service": {"name": "a", "type": "generic"}, "targetSite": "b"}`, want: Explicit{Type: true},
		},
		"Class": {reason: "A class is a type. Its defaults are not explicit.", text: "eMBB slice on edge1", want: Explicit{Type: true}},
		"ClassAndMore": {
			reason: "A value may be explicit although it equals a default of the class.",
			text:   `{"service": "a", "type": "urllc", "slice": {"sst": 2}, "qos": {"latencyMs": 10}}`,
			want:   Explicit{Type: true, SST: true, Latency: true},
		},
		"Refused": {reason: "A text that cannot be parsed gives no values.", text: "{"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ExplicitInText(tc.text)); diff != "" {
				t.Errorf("\n%s\nExplicitInText(%q): -want, +got:\n%s", tc.reason, tc.text, diff)
			}
		})
	}
	single := deploymentv1alpha1.Replicas(1)
	if diff := cmp.Diff(Explicit{Replicas: true}, ExplicitInExpectation(&deploymentv1alpha1.Expectation{Service: "a", Replicas: &single})); diff != "" {
		t.Errorf("ExplicitInExpectation(...): -want, +got:\n%s", diff)
	}
}
