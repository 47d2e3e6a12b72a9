package imagebuild

import (
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/provider/kpack"
)

// TestRegistryMoved has a configuration that names another registry.
func TestRegistryMoved(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.succeeds(1)
	w.reconcile()
	previousUID := w.image().GetUID()
	w.editConfig(func(c *configv1alpha1.ProviderConfigSpec) { c.Build.Registry = "other.example.org/apps" })
	w.wait(time.Second)
	w.expect("The previous image stays until the next image is built", "Built")
	if i := w.image(); i == nil || i.GetUID() == previousUID || kpack.TagOf(i) != "other.example.org/apps/team-a/shop" {
		t.Errorf("The Image is made again, since kpack does not let its tag change: %v", i)
	}
}

// TestLost has an Image that was deleted by hand.
func TestLost(t *testing.T) {
	w := newWorld(t)
	w.reconcile()
	w.succeeds(1)
	w.expect("The first commit is built", "Built")
	w.must(w.kube.Delete(t.Context(), w.image()))
	w.reconcile()
	if observation := w.get().Status.AtProvider; w.image() == nil || observation.WantedImage() == nil {
		t.Errorf("The Image is created again, and the previous image stays: %+v", observation)
	}
}

// TestRights has a provider that may not write Images: the status of the Image stays.
func TestRights(t *testing.T) {
	w := newWorld(t)
	w.refuses = kerrors.NewForbidden(schema.GroupResource{Group: "kpack.io", Resource: "images"}, "shop", errors.New("no rights"))
	w.reconcileOnce()
	w.wait(beginDelay)
	w.reconcileOnce()
	b := w.get()
	if ready, synced := b.GetCondition(xpv2.TypeReady), b.GetCondition(xpv2.TypeSynced); ready.Reason != "Queued" || synced.Status != corev1.ConditionFalse {
		t.Errorf("The write is retried: Ready %s, Synced %s", ready.Reason, synced.Status)
	}
}
