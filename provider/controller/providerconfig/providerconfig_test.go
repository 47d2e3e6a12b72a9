package providerconfig

import (
	"testing"
	"time"

	xpevent "github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/policy"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/usage"
	"github.com/intentplane/intentplane/test/cacheclient"
)

func build(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, configv1alpha1.AddToScheme, deliveryv1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	b := cacheclient.Indexer{ClientBuilder: fake.NewClientBuilder().WithScheme(s).WithObjects(objects...).WithStatusSubresource(objects...)}
	if err := usage.Index(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return b.Build()
}

func user(namespace, kind, name string) *deliveryv1alpha1.GitDelivery {
	d := &deliveryv1alpha1.GitDelivery{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
	d.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: kind, Name: name}
	return d
}

func TestReconcile(t *testing.T) {
	otherFinalizer := "example.org/other"
	now := metav1.NewTime(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC))
	cluster := func(deleted bool, finalizers ...string) *configv1alpha1.ClusterProviderConfig {
		c := &configv1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default", Finalizers: finalizers}}
		if deleted {
			c.DeletionTimestamp = &now
		}
		return c
	}
	namespaced := &configv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: "default", DeletionTimestamp: &now, Finalizers: []string{configv1alpha1.Finalizer, otherFinalizer},
	}}

	withOther := func(namespace string) *configv1alpha1.ClusterProviderConfig {
		c := cluster(true, configv1alpha1.Finalizer, otherFinalizer)
		c.Spec.Policy.AllowedNamespaces = []string{namespace}
		return c
	}
	deliveryWith := func(fn func(d *deliveryv1alpha1.GitDelivery)) *deliveryv1alpha1.GitDelivery {
		d := user("team-a", policy.KindClusterProviderConfig, "default")
		fn(d)
		return d
	}

	cases := map[string]struct {
		reason string
		kind   string
		config client.Object
		user   *deliveryv1alpha1.GitDelivery
		want   []string
	}{
		"Hold": {
			reason: "A configuration gets the finalizer before a managed resource can name it.",
			kind:   policy.KindClusterProviderConfig, config: cluster(false), user: user("team-a", "ProviderConfig", "x"),
			want: []string{configv1alpha1.Finalizer},
		},
		"InUse": {
			reason: "A configuration that a GitDelivery names is not deleted.",
			kind:   policy.KindClusterProviderConfig, config: cluster(true, configv1alpha1.Finalizer, otherFinalizer),
			user: user("team-a", policy.KindClusterProviderConfig, "default"),
			want: []string{configv1alpha1.Finalizer, otherFinalizer},
		},
		"Free": {
			reason: "A configuration that no GitDelivery names is deleted.",
			kind:   policy.KindClusterProviderConfig, config: cluster(true, configv1alpha1.Finalizer, otherFinalizer),
			user: user("team-a", policy.KindClusterProviderConfig, "another"),
			want: []string{otherFinalizer},
		},
		"SameNameOtherKind": {
			reason: "A ProviderConfig of the same name is another configuration.",
			kind:   policy.KindClusterProviderConfig, config: cluster(true, configv1alpha1.Finalizer, otherFinalizer),
			user: user("team-a", policy.KindProviderConfig, "default"),
			want: []string{otherFinalizer},
		},
		"OtherNamespace": {
			reason: "A ProviderConfig is used only from its own namespace.",
			kind:   policy.KindProviderConfig, config: namespaced, user: user("team-b", policy.KindProviderConfig, "default"),
			want: []string{otherFinalizer},
		},
		"OwnNamespace": {
			reason: "A ProviderConfig that a GitDelivery names is not deleted.",
			kind:   policy.KindProviderConfig, config: namespaced, user: user("team-a", policy.KindProviderConfig, "default"),
			want: []string{configv1alpha1.Finalizer, otherFinalizer},
		},
		"Refused": {
			reason: "A GitDelivery that may not use a configuration does not keep it.",
			kind:   policy.KindClusterProviderConfig, config: withOther("team-b"),
			user: user("team-a", policy.KindClusterProviderConfig, "default"),
			want: []string{otherFinalizer},
		},
		"RefusedWithFinalizer": {
			reason: "A finalizer that a user wrote into a GitDelivery does not keep a configuration.",
			kind:   policy.KindClusterProviderConfig, config: withOther("team-b"),
			user: deliveryWith(func(d *deliveryv1alpha1.GitDelivery) { d.Finalizers = []string{managed.FinalizerName} }),
			want: []string{otherFinalizer},
		},
		"RefusedAfterRecord": {
			reason: "A GitDelivery whose repository has a record keeps the objects that its cleanup needs.",
			kind:   policy.KindClusterProviderConfig, config: withOther("team-b"),
			user: deliveryWith(func(d *deliveryv1alpha1.GitDelivery) {
				d.Finalizers = []string{managed.FinalizerName}
				d.Status.AtProvider.Record = &deliveryv1alpha1.LedgerRecord{Head: ledger.Head{Epoch: 1, Seq: 2}}
			}),
			want: []string{configv1alpha1.Finalizer, otherFinalizer},
		},
		"RefusedAfterLedger": {
			reason: "A GitDelivery whose repository holds a ledger keeps the objects that its cleanup needs.",
			kind:   policy.KindClusterProviderConfig, config: withOther("team-b"),
			user: deliveryWith(func(d *deliveryv1alpha1.GitDelivery) {
				d.Finalizers = []string{managed.FinalizerName}
				d.Status.AtProvider.Ledger = &ledger.State{Head: ledger.Head{Epoch: 1, Seq: 2}}
			}),
			want: []string{configv1alpha1.Finalizer, otherFinalizer},
		},
		"RefusedWithoutLedger": {
			reason: "A repository that is known to hold no ledger keeps nothing.",
			kind:   policy.KindClusterProviderConfig, config: withOther("team-b"),
			user: deliveryWith(func(d *deliveryv1alpha1.GitDelivery) {
				d.Finalizers = []string{managed.FinalizerName}
				d.Status.AtProvider.Ledger = &ledger.State{}
			}),
			want: []string{otherFinalizer},
		},
		"RefusedDuringAttempt": {
			reason: "A GitDelivery that began an attempt may have pushed and keeps the configuration.",
			kind:   policy.KindClusterProviderConfig, config: withOther("team-b"),
			user: deliveryWith(func(d *deliveryv1alpha1.GitDelivery) {
				d.Finalizers = []string{managed.FinalizerName}
				d.Status.AtProvider.Attempt = &rolloutv1alpha1.Attempt{Revision: 1}
			}),
			want: []string{configv1alpha1.Finalizer, otherFinalizer},
		},
		"RefusedWithoutFinalizer": {
			reason: "A GitDelivery without a finalizer is not cleaned up and keeps nothing.",
			kind:   policy.KindClusterProviderConfig, config: withOther("team-b"),
			user: deliveryWith(func(d *deliveryv1alpha1.GitDelivery) {
				d.Status.AtProvider.Record = &deliveryv1alpha1.LedgerRecord{Head: ledger.Head{Epoch: 1, Seq: 2}}
			}),
			want: []string{otherFinalizer},
		},
		"Allowed": {
			reason: "A GitDelivery that may use a configuration keeps it before the first delivery, too.",
			kind:   policy.KindClusterProviderConfig, config: withOther("team-a"),
			user: user("team-a", policy.KindClusterProviderConfig, "default"),
			want: []string{configv1alpha1.Finalizer, otherFinalizer},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			config, ok := tc.config.DeepCopyObject().(client.Object)
			if !ok {
				t.Fatal("not an object")
			}
			kube := build(t, config, tc.user)
			r := &Reconciler{kube: kube, kind: tc.kind, newConfig: configKinds()[tc.kind], recorder: xpevent.NewNopRecorder()}
			key := client.ObjectKeyFromObject(config)
			if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
				t.Fatal(err)
			}
			if err := kube.Get(t.Context(), key, config); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, config.GetFinalizers()); diff != "" {
				t.Errorf("\n%s\nfinalizers: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReleasesConfig(t *testing.T) {
	a, b := user("team-a", "ProviderConfig", "a"), user("team-a", "ProviderConfig", "b")
	cases := map[string]struct {
		reason string
		event  event.UpdateEvent
		want   bool
	}{
		"Same": {reason: "A change of the status does not release a configuration.", event: event.UpdateEvent{ObjectOld: a, ObjectNew: a}},
		"Other": {
			reason: "A GitDelivery that names another configuration releases the first configuration.",
			event:  event.UpdateEvent{ObjectOld: a, ObjectNew: b}, want: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, releasesConfig().Update(tc.event)); diff != "" {
				t.Errorf("\n%s\nUpdate(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
