package cluster

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
)

// TestRefresh annotates the objects that a user created, and nothing else.
func TestRefresh(t *testing.T) {
	c, s := serveSample(t, samples.Verified())
	create(t, s, workloadCluster())
	for name, resource := range map[string]schema.GroupVersionResource{"shop": claimsInGroup("intentplane.dev"), "prod": clustersInGroup("intentplane.dev")} {
		found, err := c.Subject(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Refresh(t.Context(), found, "now"); err != nil {
			t.Fatalf("Refresh(%s): %v", name, err)
		}
		o, err := s.Resource(resource).Namespace("team-a").Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{meta.AnnotationKeyReconcileRequestedAt: "now"}, o.GetAnnotations()); diff != "" {
			t.Errorf("Refresh(%s): -want, +got:\n%s", name, diff)
		}
	}
	deny(s, "intentdeployments", kerrors.NewForbidden(schema.GroupResource{Resource: "intentdeployments"}, "", nil))
	found, err := (reader{Source: c.api, namespace: "team-a"}).readAllSubjects(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found.Deployments = append(found.Deployments, samples.Verified().Facts())
	if err := c.Refresh(t.Context(), found, "later"); err == nil {
		t.Error("Refresh(...): a user who may not patch a deployment gets no error")
	}
}
