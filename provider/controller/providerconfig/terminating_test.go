package providerconfig

import (
	"fmt"
	"testing"

	xpevent "github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
)

// events lists the reasons of the recorded events.
type events []string

// Event records an event.
func (e *events) Event(_ runtime.Object, event xpevent.Event) { *e = append(*e, string(event.Reason)) }

// WithAnnotations ignores annotations.
func (e *events) WithAnnotations(...string) xpevent.Recorder { return e }

// TestDeletionReportsUse deletes a configuration that many deliveries use.
func TestDeletionReportsUse(t *testing.T) {
	deleted := metav1.Now()
	config := &configv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: "git", Finalizers: []string{configv1alpha1.Finalizer}, DeletionTimestamp: &deleted,
	}}
	objects := []client.Object{config}
	for i := range 5 {
		d := user("team-a", policy.KindProviderConfig, "git")
		d.SetName(fmt.Sprintf("web-%d", 5-i))
		objects = append(objects, d)
	}
	kube, recorded := build(t, objects...), events(nil)
	r := &Reconciler{kube: kube, kind: policy.KindProviderConfig, newConfig: configKinds()[policy.KindProviderConfig], recorder: &recorded}
	key, versions := client.ObjectKeyFromObject(config), []string{}
	look := func() {
		t.Helper()
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
			t.Fatal(err)
		}
		if err := kube.Get(t.Context(), key, config); err != nil {
			t.Fatal(err)
		}
		versions = append(versions, config.GetResourceVersion())
	}
	look()
	look()
	got := config.Status.GetCondition(configv1alpha1.TypeTerminating)
	const message = "the deletion waits, for the ProviderConfig is used by GitDelivery team-a/web-1, team-a/web-2, team-a/web-3 and others: " +
		"delete their deployments, or let them use another configuration"
	want := []string{string(corev1.ConditionTrue), string(configv1alpha1.ReasonInUse), message}
	if diff := cmp.Diff(want, []string{string(got.Status), string(got.Reason), got.Message}); diff != "" {
		t.Errorf("Terminating: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(versions[0], versions[1]); diff != "" {
		t.Errorf("An unchanged status is not written.\nresource version: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(events{"InUse"}, recorded); diff != "" {
		t.Errorf("A deletion that waits is reported once.\nevents: -want, +got:\n%s", diff)
	}
}
