package causes

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/scene"
)

// TestEngineCauses breaks the engine of a Site before the first revision comes.
func TestEngineCauses(t *testing.T) {
	t.Parallel()
	playRemoteStories(t, engineStories())
}

// TestClusterCauses breaks the connection to the cluster of a Site.
func TestClusterCauses(t *testing.T) {
	t.Parallel()
	playRemoteStories(t, clusterStories())
}

// TestRefreshDeployment requests a reconcile while nothing changes. The command ends when the SiteSync and the Gate are reconciled, too, and not from their earlier
// reports.
func TestRefreshDeployment(t *testing.T) {
	t.Parallel()
	s := newRemoteStage(t, (*scene.Scene).Composite)
	s.measureSite().Set(scene.ErrorRatio, scene.GoodRatio)
	s.awaitSucceeded(1)
	s.runPlugin(editor, "refresh", "shop")
	token := s.Now(s.deployment).GetAnnotations()[meta.AnnotationKeyReconcileRequestedAt]
	if token == "" {
		t.Fatal("refresh asks for no reconcile")
	}
	for _, kind := range []schema.GroupVersionKind{deliveryv1alpha1.GroupVersion.WithKind("SiteSyncList"), rolloutv1alpha1.GroupVersion.WithKind("GateList")} {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(kind)
		s.Must(s.Client.List(t.Context(), l, client.InNamespace(s.Namespace)))
		if len(l.Items) != 1 || scene.Field(&l.Items[0], "status", "lastHandledReconcileAt") != token {
			t.Errorf("%s: want an object that answered %s, got %+v", kind.Kind, token, l.Items)
		}
	}
}
