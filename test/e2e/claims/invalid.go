package claims

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

type refusal struct {
	reason string
	change func(s *scene.Scene, o *unstructured.Unstructured)
	want   []string
}

// fieldChange returns a change that gives a field a value.
func fieldChange(value any, fields ...string) func(*scene.Scene, *unstructured.Unstructured) {
	return func(s *scene.Scene, o *unstructured.Unstructured) { s.Set(o, value, fields...) }
}

func refusedFields() map[string]refusal {
	return map[string]refusal{
		"Both": {
			reason: "Two intents leave open which one is meant.",
			change: fieldChange(map[string]any{"service": "shop"}, "spec", "expectation"),
			want:   []string{"spec", "exactly one of intent and expectation must be set"},
		},
		"Neither": {
			reason: "Without an intent there is nothing to do.",
			change: func(_ *scene.Scene, o *unstructured.Unstructured) {
				unstructured.RemoveNestedField(o.Object, "spec", "intent")
			},
			want: []string{"spec", "exactly one of intent and expectation must be set"},
		},
		"NegativeDuration": {
			reason: "Nothing ends before it begins.",
			change: fieldChange("-5s", "spec", "deliveryConfig", "syncWaitTimeout"),
			want:   []string{"spec.deliveryConfig.syncWaitTimeout", "must be a duration above zero, such as 30s"},
		},
		"LongTimeout": {
			reason: "Crossplane ends a reconcile after two minutes.",
			change: fieldChange("61s", "spec", "compileConfig", "renderTimeout"),
			want:   []string{"spec.compileConfig.renderTimeout", "at most 60s"},
		},
		"LongName": {
			reason: "A name that cannot be a label is refused.",
			change: fieldChange(strings.Repeat("a", 64), "metadata", "name"),
			want:   []string{"metadata.name", "63"},
		},
		"PathAsSite": {
			reason: "A Site is a name, not a way to somewhere.",
			change: fieldChange("../edge1", "spec", "deliveryConfig", "targetSite"),
			want:   []string{"spec.deliveryConfig.targetSite", "must be the name of a Site"},
		},
		"PathAsBlueprint": {
			reason: "A Blueprint is a name too.",
			change: fieldChange("../web", "spec", "blueprint", "name"),
			want:   []string{"spec.blueprint.name", "must consist of lower-case letters"},
		},
		"PathAsRepository": {
			reason: "A configuration with an invalid field is refused.",
			change: fieldChange("../repo", "spec", "deliveryConfig", "gitOpsRepo", "name"),
			want:   []string{"spec.deliveryConfig.gitOpsRepo.name", "must be the name of an object"},
		},
		"UnknownField": {
			reason: "A typing error changes nothing in silence.",
			change: fieldChange("edge1", "spec", "deliveryConfig", "targetsite"),
			want:   []string{"spec.deliveryConfig.targetsite", "field not declared in schema"},
		},
		"TwoSelections": {
			reason: "Two selections leave open which one is meant.",
			change: func(s *scene.Scene, o *unstructured.Unstructured) {
				s.Set(o, "edge1", "spec", "deliveryConfig", "targetSite")
				s.Set(o, map[string]any{"matchLabels": map[string]any{"a": "b"}}, "spec", "deliveryConfig", "siteSelector")
			},
			want: []string{"spec.deliveryConfig", "targetSite and siteSelector exclude each other"},
		},
	}
}

type failure struct {
	reason string
	intent string
	site   string
	want   string
}

func brokenIntents(s *scene.Scene) map[string]failure {
	firstSite, secondSite := s.Site("edge1"), s.Site("edge2")
	return map[string]failure{
		"NotJSON": {
			reason: "The message names the place of the error.",
			intent: "{\"service\": \"shop\",\n  \"replicas\": 2,,\n}",
			want:   "spec.intent: line 2, column 17: is not JSON",
		},
		"UnknownField": {
			reason: "A typing error changes nothing in silence.",
			intent: `{"service": "shop", "replica": 2}`,
			want:   "spec.intent: line 1, column 32: replica: is not a field of a service intent",
		},
		"PlainLanguage": {
			reason: "The meaning of an unknown word is not guessed.",
			intent: "Run the shop at the edge, twice.",
			want:   `spec.intent: "the" cannot be a name`,
		},
		"PathAsSite": {
			reason: "A Site is a name, not a way to somewhere.",
			intent: `{"service": "shop", "site": "../../edge1"}`,
			want:   "spec.intent: line 1, column 29: site: must be the name of a Site",
		},
		"TwoOpinions": {
			reason: "The message names both fields that name Sites.",
			intent: fmt.Sprintf(`{"service": "shop", "site": %q}`, firstSite),
			site:   secondSite,
			want:   "spec.deliveryConfig.targetSite and the sites of spec.intent name different Sites",
		},
		"UnknownParameter": {
			reason: "A Blueprint declares its parameters.",
			intent: fmt.Sprintf(`{"service": "shop", "site": %q, "parameters": {"greting": "Hi"}}`, firstSite),
			want:   "parameters.greting is a forbidden property",
		},
		"UnreadValue": {
			reason: "A value that the Blueprint does not read is refused, and not dropped.",
			intent: fmt.Sprintf(`{"service": "shop", "site": %q, "priority": "high", "endpoints": [{"name": "http", "port": 8080}]}`, firstSite),
			want:   "spec.intent: endpoints[http].port, priority: Blueprint ",
		},
		"ReplicasElsewhere": {
			reason: "Replicas at a Site that was not chosen would be lost in silence.",
			intent: fmt.Sprintf(`{"service": "shop", "replicas": {%q: 2, %q: 3}}`, firstSite, secondSite),
			site:   firstSite,
			want:   fmt.Sprintf("spec.intent: replicas: Site %q is not a Site of the deployment", secondSite),
		},
	}
}
