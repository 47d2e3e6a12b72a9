package claims

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

func TestRefusedAtApply(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp)
	for name, shape := range shapesOfClaims() {
		for fieldName, tc := range refusedFields() {
			s.Case(name+fieldName, func(s *scene.Scene) {
				o := shape.describe(s, "shop", `{"service": "shop"}`)
				tc.change(s, o)
				got := s.Refused(o)
				for _, want := range tc.want {
					if !strings.Contains(got, want) {
						s.T.Errorf("\n%s\nthe refusal does not say %q: %s", tc.reason, want, got)
					}
				}
			})
		}
	}
}

func TestFailsAfterApply(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1", "edge2")
	cases := brokenIntents(s)
	describe := func(name string) *unstructured.Unstructured {
		o := s.Claim(strings.ToLower(name), cases[name].intent)
		if site := cases[name].site; site != "" {
			s.Set(o, site, "spec", "deliveryConfig", "targetSite")
		}
		return o
	}
	for name := range cases {
		s.Apply(describe(name))
	}
	for name, tc := range cases {
		s.Case(name, func(s *scene.Scene) {
			observed := s.Fail(describe(name))
			for _, text := range []string{scene.Field(observed, "status", "message"), scene.Condition(observed, "Valid").Message, scene.Condition(observed, "Stalled").Message} {
				if !strings.Contains(text, tc.want) {
					s.T.Errorf("\n%s\nthe message does not say %q: %q", tc.reason, tc.want, text)
				}
			}
			if !scene.Is(observed, "Valid", corev1.ConditionFalse, "") || !scene.Is(observed, "Reconciling", corev1.ConditionFalse, "") || scene.Field(observed, "status", "outcome") != "Failed" {
				s.T.Errorf("\n%s\nthe status does not say that it failed for good: %v", tc.reason, observed.Object["status"])
			}
			if _, found, _ := unstructured.NestedFieldNoCopy(observed.Object, "status", "observedGeneration"); found {
				s.T.Error("status.observedGeneration is there, and kstatus would wait for it for ever")
			}
		})
	}
	s.AwaitCommits(0)
}
