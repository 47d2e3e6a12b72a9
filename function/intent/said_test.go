package intent

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

func TestSaid(t *testing.T) {
	all := Said{Type: true, Replicas: true, Priority: true}
	cases := map[string]struct {
		reason string
		text   string
		want   Said
	}{
		"Nothing":      {reason: "Who says nothing gets defaults.", text: `{"service": "a"}`},
		"Defaults":     {reason: "Saying a default is saying something.", text: `{"service": "a", "type": "web", "replicas": 1, "priority": "medium"}`, want: all},
		"Others":       {reason: "So is saying something else.", text: `{"service": "a", "type": "batch", "replicas": 0, "priority": "high"}`, want: all},
		"Otherwise":    {reason: "Whatever it is.", text: `{"service": "a", "type": "otherwise", "replicas": 2, "priority": "low"}`, want: all},
		"YAML":         {reason: "In every form.", text: "service: a\nreplicas: 1\n", want: Said{Replicas: true}},
		"SiteReplicas": {reason: "Replicas of one Site are not those of all.", text: `{"service": "a", "sites": ["b"], "replicas": {"b": 1}}`},
		"Sentence":     {reason: "In plain language too.", text: "Deploy shop with 1 replica, medium priority", want: Said{Replicas: true, Priority: true}},
		"TMF921":       {reason: "TMF921 has a type always.", text: `{"intentId": "a", "service": {"name": "a", "type": "generic"}, "targetSite": "b"}`, want: Said{Type: true}},
		"Class":        {reason: "A class is a type. What it brings was not said.", text: "eMBB slice on edge1", want: Said{Type: true}},
		"ClassAndMore": {reason: "What its class would bring too can be said.", text: `{"service": "a", "type": "urllc", "slice": {"sst": 2}, "qos": {"latencyMs": 10}}`, want: Said{Type: true, SST: true, Latency: true}},
		"Refused":      {reason: "What is refused says nothing.", text: "{"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, SaidInText(tc.text)); diff != "" {
				t.Errorf("\n%s\nSaidInText(%q): -want, +got:\n%s", tc.reason, tc.text, diff)
			}
		})
	}
	one := deploymentv1alpha1.Replicas(1)
	if diff := cmp.Diff(Said{Replicas: true}, SaidInExpectation(&deploymentv1alpha1.Expectation{Service: "a", Replicas: &one})); diff != "" {
		t.Errorf("SaidInExpectation(...): -want, +got:\n%s", diff)
	}
}
