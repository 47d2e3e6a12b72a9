package claims

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

func TestNothingIsIgnoredInSilence(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		change func(s *scene.Scene, o *unstructured.Unstructured)
		want   []string
	}{
		"Configuration": {
			reason: "Notifications are refused, since this version posts none.",
			change: func(s *scene.Scene, o *unstructured.Unstructured) {
				s.Apply(s.Set(s.ClusterProviderConfig(), []any{map[string]any{"url": "https://example.org", "events": []any{"Failed"}}}, "spec", "notifications"))
				s.Set(o, map[string]any{"kind": "ClusterProviderConfig", "name": s.Namespace}, "spec", "deliveryConfig", "gitOpsRepo")
			},
			want: []string{"ClusterProviderConfig SCENE: spec.notifications"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := scene.New(t, cp, "edge1")
			claim := s.Claim("shop", runIntent(s, 2, "edge1"))
			tc.change(s, claim)
			// It works all the same.
			seen := s.Succeed(claim)
			s.AwaitCommits(1)
			if !scene.Is(seen, "Supported", corev1.ConditionFalse, "NotYetSupported") {
				t.Errorf("\n%s\nSupported is %v", tc.reason, scene.Condition(seen, "Supported"))
			}
			for _, want := range tc.want {
				want = strings.ReplaceAll(want, "SCENE", s.Namespace)
				if got := scene.Condition(seen, "Supported").Message; !strings.Contains(got, want) {
					t.Errorf("\n%s\nthe message does not name %s: %q", tc.reason, want, got)
				}
			}
		})
	}
}

func TestAllSupported(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	seen := s.Succeed(s.Claim("shop", runIntent(s, 2, "edge1")))
	if !scene.Is(seen, "Supported", corev1.ConditionTrue, "Supported") {
		t.Errorf("Supported of a plain claim is %v", scene.Condition(seen, "Supported"))
	}
}
