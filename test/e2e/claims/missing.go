package claims

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// awaitMissing applies a deployment and waits until it reports a missing object.
func awaitMissing(s *scene.Scene, o *unstructured.Unstructured, reason string) *unstructured.Unstructured {
	s.T.Helper()
	return s.Reach(o, "Pending for "+reason, func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == "Pending" && scene.Is(u, "SitesFound", corev1.ConditionFalse, reason) &&
			scene.Is(u, "Reconciling", corev1.ConditionTrue, reason) && scene.Is(u, "Stalled", corev1.ConditionFalse, "") &&
			scene.Is(u, "Ready", corev1.ConditionFalse, "")
	})
}

// awaitSucceededUnchanged waits until a deployment succeeded without a change of it.
func awaitSucceededUnchanged(s *scene.Scene, o *unstructured.Unstructured) {
	s.T.Helper()
	s.Await(o, "goes on", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == "Succeeded" && scene.Is(u, "Ready", corev1.ConditionTrue, "") &&
			scene.Is(u, "SitesFound", corev1.ConditionTrue, "Found")
	})
}

type absence struct {
	reason string
	change func(s *scene.Scene, o *unstructured.Unstructured)
	later  func(s *scene.Scene) *unstructured.Unstructured
	why    string
	want   string
}

func selectorsOfAbsentObjects() map[string]absence {
	return map[string]absence{
		"Site": {
			reason: "A Site may be made after its first claim.",
			change: func(s *scene.Scene, o *unstructured.Unstructured) {
				s.Set(o, intentWithReplicas(s, 2, "edge1", "later"), "spec", "intent")
			},
			later: func(s *scene.Scene) *unstructured.Unstructured { return s.NewSite("later") },
			why:   "SiteMissing",
			want:  `". The namespace may use the Sites "`,
		},
		"Blueprint": {
			reason: "A claim waits for a Blueprint that comes later.",
			change: func(s *scene.Scene, o *unstructured.Unstructured) { s.Set(o, "next", "spec", "blueprint", "channel") },
			later:  func(s *scene.Scene) *unstructured.Unstructured { return s.Blueprint("2.0.0", "next") },
			why:    "BlueprintMissing",
			want:   `-web in channel "next" does not exist. The namespace may use the channels of Blueprint "`,
		},
		"BlueprintVersion": {
			reason: "A claim waits for a version of its Blueprint that comes later.",
			change: func(s *scene.Scene, o *unstructured.Unstructured) { s.Set(o, "2.0.0", "spec", "blueprint", "version") },
			later:  func(s *scene.Scene) *unstructured.Unstructured { return s.Blueprint("2.0.0", "next") },
			why:    "BlueprintMissing",
			want:   `-web-2.0.0 does not exist: did you mean "1.0.0" instead of "2.0.0"? The namespace may use the versions of Blueprint "`,
		},
		"ProviderConfig": {
			reason: "A claim waits for the configuration of its repository.",
			change: func(s *scene.Scene, o *unstructured.Unstructured) {
				s.Set(o, "later", "spec", "deliveryConfig", "gitOpsRepo", "name")
			},
			later: func(s *scene.Scene) *unstructured.Unstructured {
				return s.Set(s.ProviderConfig(), "later", "metadata", "name")
			},
			why:  "ConfigMissing",
			want: `ProviderConfig "later" does not exist`,
		},
		"ForbiddenConfig": {
			reason: "A configuration that may not be used is as good as none, until it may.",
			change: func(s *scene.Scene, o *unstructured.Unstructured) {
				s.Apply(s.Set(s.ClusterProviderConfig(), []any{"somebody-else"}, "spec", "policy", "allowedNamespaces"))
				s.Set(o, map[string]any{"kind": "ClusterProviderConfig", "name": s.Namespace}, "spec", "deliveryConfig", "gitOpsRepo")
			},
			later: func(s *scene.Scene) *unstructured.Unstructured { return s.ClusterProviderConfig() },
			why:   "ConfigMissing",
			want:  "does not exist or may not be used from namespace",
		},
		"NoSite": {
			reason: "A claim waits for the first Site that its selector finds.",
			change: func(s *scene.Scene, o *unstructured.Unstructured) {
				s.Set(o, `{"service": "shop"}`, "spec", "intent")
				s.Set(o, map[string]any{"matchLabels": map[string]any{"scene": s.Namespace}}, "spec", "deliveryConfig", "siteSelector")
			},
			later: func(s *scene.Scene) *unstructured.Unstructured {
				return s.Set(s.NewSite("later"), map[string]any{"scene": s.Namespace}, "metadata", "labels")
			},
			why:  "NoSite",
			want: "no Site was chosen",
		},
	}
}
