package sites

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestSecretsOfTheEngine has a claim with a variable that the Site's Flux would replace by a value of the platform's Secret. Nothing is replaced; and where the
// Site accepts objects that Flux transformed, the claim is refused.
func TestSecretsOfTheEngine(t *testing.T) {
	t.Parallel()
	s := newStage(t, siteDirectory)
	platform := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: kubernetes.FluxNamespace, Name: s.Namespace}, StringData: map[string]string{"TOKEN": "the-platforms"}}
	s.Must(s.edge.Client.Create(t.Context(), platform))
	s.patchAtSite(s.kustomizationAtSite(), fmt.Sprintf(`{"spec":{"postBuild":{"substituteFrom":[{"kind":"Secret","name":%q}]}}}`, s.Namespace))
	claim := s.Claim("shop", fmt.Sprintf(`{"service": "shop", "type": "web", "sites": [%q], "replicas": 1, "parameters": {"greeting": "is it ${TOKEN}"}}`, s.Site("edge1")))
	s.Apply(claim)
	served := func() string {
		m := &corev1.ConfigMapList{}
		s.Must(s.edge.Client.List(t.Context(), m, client.InNamespace(s.Namespace), client.MatchingLabels{"intentplane.dev/claim": "shop"}))
		for _, o := range m.Items {
			if text, ok := o.Data["index.html"]; ok {
				return text
			}
		}
		return ""
	}
	s.Until("Flux applies the claim", patience.Limit, func() bool { return served() != "" })
	if diff := cmp.Diff("is it ${TOKEN}", served()); diff != "" {
		t.Fatalf("text that a tenant reads at the Site: -want, +got:\n%s", diff)
	}

	s.Apply(s.Set(s.describeFluxSite(), "Transformed", "spec", "engine", "acceptProof"))
	s.Apply(s.Set(claim, strings.Replace(scene.Field(claim, "spec", "intent"), "is it", "or", 1), "spec", "intent"))
	want := fmt.Sprintf("spec.intent: parameters.greeting: contains ${, and the GitOps engine of Site %q may replace", s.Site("edge1"))
	s.Await(claim, "refused", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == "Failed" && strings.Contains(scene.Field(u, "status", "message"), want)
	})
	if diff := cmp.Diff("is it ${TOKEN}", served()); diff != "" {
		t.Errorf("text that a tenant reads at the Site: -want, +got:\n%s", diff)
	}
}
