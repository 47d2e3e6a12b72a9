package secret

import (
	"context"
	"testing"
	"time"

	xpevent "github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/usage"
	"github.com/intentplane/intentplane/test/cacheclient"
)

const (
	held  = configv1alpha1.Finalizer
	other = "example.org/other"
)

func build(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, configv1alpha1.AddToScheme, deliveryv1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	b := cacheclient.Indexer{ClientBuilder: fake.NewClientBuilder().WithScheme(s).WithObjects(objects...)}
	if err := usage.Index(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return b.Build()
}

// creds returns the Secret of team-a that these tests use.
func creds(deleted bool, finalizers ...string) *corev1.Secret {
	s := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "creds", Finalizers: finalizers},
		Data:       map[string][]byte{"token": []byte("t")},
	}
	if deleted {
		s.DeletionTimestamp = new(metav1.NewTime(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)))
	}
	return s
}

func remote(namespace, name string) configv1alpha1.ProviderConfigSpec {
	return configv1alpha1.ProviderConfigSpec{Git: configv1alpha1.GitRemote{Credentials: configv1alpha1.Credentials{
		Type: configv1alpha1.CredentialsBearer, SecretRef: &configv1alpha1.SecretReference{Namespace: namespace, Name: name},
	}}}
}

func own(namespace, name, secret string) *configv1alpha1.ProviderConfig {
	return &configv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: remote("", secret)}
}

func shared(name, namespace, secret string) *configv1alpha1.ClusterProviderConfig {
	return &configv1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: remote(namespace, secret)}
}

func trusting(c *configv1alpha1.ProviderConfig, secret string) *configv1alpha1.ProviderConfig {
	c.Spec.Git.CABundleSecretRef = &configv1alpha1.SecretKeyReference{SecretReference: configv1alpha1.SecretReference{Name: secret}, Key: "ca.crt"}
	return c
}

func user(namespace, name, kind, config string) *deliveryv1alpha1.GitDelivery {
	d := &deliveryv1alpha1.GitDelivery{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	d.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: kind, Name: config}
	return d
}

// closed makes a configuration that no namespace of these tests may use.
func closed(c *configv1alpha1.ClusterProviderConfig) *configv1alpha1.ClusterProviderConfig {
	c.Spec.Policy.AllowedNamespaces = []string{"platform"}
	return c
}

func delivered(d *deliveryv1alpha1.GitDelivery) *deliveryv1alpha1.GitDelivery {
	d.Finalizers = []string{managed.FinalizerName}
	d.Status.AtProvider.Record = &deliveryv1alpha1.LedgerRecord{Position: ledger.Position{Revision: 1}}
	return d
}

func reconciler(kube client.Client) *Reconciler {
	return &Reconciler{kube: kube, users: users{kube: kube}, recorder: xpevent.NewNopRecorder()}
}

func request() reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKeyFromObject(creds(false))}
}

// finalizers returns the finalizers of the Secret, or one word if it is gone.
func finalizers(t *testing.T, kube client.Client) []string {
	t.Helper()
	s := &corev1.Secret{}
	err := kube.Get(t.Context(), request().NamespacedName, s)
	if kerrors.IsNotFound(err) {
		return []string{"gone"}
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(creds(false).Data, s.Data); diff != "" {
		t.Errorf("The content of a Secret should stay: -want, +got:\n%s", diff)
	}
	return s.Finalizers
}

func TestReconcile(t *testing.T) {
	cases := map[string]struct {
		reason  string
		secret  *corev1.Secret
		objects []client.Object
		want    []string
	}{
		"Hold": {
			reason:  "A Secret that a delivery needs gets the finalizer beside the finalizers of other controllers.",
			secret:  creds(false, other),
			objects: []client.Object{own("team-a", "git", "creds"), user("team-a", "web", policy.KindProviderConfig, "git")},
			want:    []string{other, held},
		},
		"HoldOnce": {
			reason:  "A Secret that has the finalizer is not written again.",
			secret:  creds(false, held),
			objects: []client.Object{own("team-a", "git", "creds"), user("team-a", "web", policy.KindProviderConfig, "git")},
			want:    []string{held},
		},
		"HoldCABundle": {
			reason:  "A Secret with certificates is needed like a Secret with credentials.",
			secret:  creds(false),
			objects: []client.Object{trusting(own("team-a", "git", "another"), "creds"), user("team-a", "web", policy.KindProviderConfig, "git")},
			want:    []string{held},
		},
		"HoldShared": {
			reason:  "A Secret of a ClusterProviderConfig is needed from other namespaces.",
			secret:  creds(false),
			objects: []client.Object{shared("git", "team-a", "creds"), user("team-b", "web", policy.KindClusterProviderConfig, "git")},
			want:    []string{held},
		},
		"Refused": {
			reason:  "A GitDelivery that may not use a ClusterProviderConfig does not keep its Secret.",
			secret:  creds(false, held, other),
			objects: []client.Object{closed(shared("git", "team-a", "creds")), user("team-b", "web", policy.KindClusterProviderConfig, "git")},
			want:    []string{other},
		},
		"RefusedAfterDelivery": {
			reason:  "A GitDelivery that wrote before it was refused keeps the objects that its cleanup needs.",
			secret:  creds(true, held),
			objects: []client.Object{closed(shared("git", "team-a", "creds")), delivered(user("team-b", "web", policy.KindClusterProviderConfig, "git"))},
			want:    []string{held},
		},
		"DeletedInUse": {
			reason:  "A Secret that is being deleted stays while a delivery needs it.",
			secret:  creds(true, held, other),
			objects: []client.Object{own("team-a", "git", "creds"), user("team-a", "web", policy.KindProviderConfig, "git")},
			want:    []string{held, other},
		},
		"DeletedTooEarly": {
			reason:  "A Secret that is already being deleted gets no finalizer.",
			secret:  creds(true, other),
			objects: []client.Object{own("team-a", "git", "creds"), user("team-a", "web", policy.KindProviderConfig, "git")},
			want:    []string{other},
		},
		"DeletedAndFree": {
			reason:  "A Secret that is being deleted loses the finalizer when no delivery needs it.",
			secret:  creds(true, held),
			objects: []client.Object{own("team-a", "git", "creds")},
			want:    []string{"gone"},
		},
		"Release": {
			reason:  "A Secret whose configuration is not used loses our finalizer and keeps the others.",
			secret:  creds(false, held, other),
			objects: []client.Object{own("team-a", "git", "creds"), user("team-a", "web", policy.KindProviderConfig, "another")},
			want:    []string{other},
		},
		"ReleaseWithoutConfig": {
			reason:  "A Secret that no configuration names loses the finalizer.",
			secret:  creds(false, held, other),
			objects: []client.Object{own("team-a", "git", "another"), user("team-a", "web", policy.KindProviderConfig, "git")},
			want:    []string{other},
		},
		"OtherNamespace": {
			reason:  "A tenant's configuration does not keep a Secret of another tenant.",
			secret:  creds(false),
			objects: []client.Object{own("team-b", "git", "creds"), user("team-b", "web", policy.KindProviderConfig, "git")},
		},
		"ForeignNamespace": {
			reason: "A tenant's configuration does not keep a Secret of another tenant that it names.",
			secret: creds(false),
			objects: []client.Object{
				&configv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "team-b", Name: "git"}, Spec: remote("team-a", "creds")},
				user("team-b", "web", policy.KindProviderConfig, "git"),
			},
		},
		"SameNameOtherKind": {
			reason:  "A ClusterProviderConfig of the same name is another configuration.",
			secret:  creds(false),
			objects: []client.Object{own("team-a", "git", "creds"), user("team-a", "web", policy.KindClusterProviderConfig, "git")},
		},
		"TwoConfigs": {
			reason:  "A Secret of two configurations keeps the finalizer while one of them is in use.",
			secret:  creds(true, held),
			objects: []client.Object{own("team-a", "git", "creds"), shared("git", "team-a", "creds"), user("team-b", "web", policy.KindClusterProviderConfig, "git")},
			want:    []string{held},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kube := build(t, append(tc.objects, tc.secret)...)
			if _, err := reconciler(kube).Reconcile(t.Context(), request()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, finalizers(t, kube)); diff != "" {
				t.Errorf("\n%s\nfinalizers: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDeletionWaitsForUsers deletes everything at once: the Secret is deleted after its last user.
func TestDeletionWaitsForUsers(t *testing.T) {
	first, last := user("team-a", "first", policy.KindProviderConfig, "git"), user("team-b", "last", policy.KindClusterProviderConfig, "git")
	config := own("team-a", "git", "creds")
	kube := build(t, creds(false), config, shared("git", "team-a", "creds"), first, last)
	steps := []struct {
		reason string
		object client.Object
		want   []string
	}{
		{reason: "A Secret in use has the finalizer.", want: []string{held}},
		{reason: "The deletion of a Secret in use waits.", object: creds(false), want: []string{held}},
		{reason: "A Secret stays while one of two users is left.", object: first, want: []string{held}},
		{reason: "A Secret stays while it is in use through another configuration.", object: config, want: []string{held}},
		{reason: "A Secret is deleted when no user is left.", object: last, want: []string{"gone"}},
	}
	for _, s := range steps {
		if s.object != nil {
			if err := kube.Delete(t.Context(), s.object); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := reconciler(kube).Reconcile(t.Context(), request()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s.want, finalizers(t, kube)); diff != "" {
			t.Errorf("\n%s\nfinalizers: -want, +got:\n%s", s.reason, diff)
		}
	}
	if _, err := reconciler(kube).Reconcile(t.Context(), request()); err != nil {
		t.Errorf("\nA missing Secret is not an error\nReconcile(...): %v", err)
	}
}

// TestRace lets another client write between the read and the write.
func TestRace(t *testing.T) {
	kube := build(t, creds(false), own("team-a", "git", "creds"), user("team-a", "web", policy.KindProviderConfig, "git"))
	racing := interceptor.NewClient(kube, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			s := &corev1.Secret{}
			if err := c.Get(ctx, request().NamespacedName, s); err != nil {
				return err
			}
			s.SetFinalizers([]string{other})
			if err := c.Update(ctx, s); err != nil {
				return err
			}
			return c.Patch(ctx, o, p, opts...)
		},
	})
	if _, err := reconciler(racing).Reconcile(t.Context(), request()); !kerrors.IsConflict(err) {
		t.Errorf("\nA Secret that has changed since is not patched\nReconcile(...): want conflict, got %v", err)
	}
	if diff := cmp.Diff([]string{other}, finalizers(t, kube)); diff != "" {
		t.Errorf("\nThe finalizers of others stay\nfinalizers: -want, +got:\n%s", diff)
	}
}

// TestUnknown lets lists fail: a Secret whose users are unknown keeps its finalizer.
func TestUnknown(t *testing.T) {
	for name, list := range map[string]client.ObjectList{
		"ProviderConfigs":        &configv1alpha1.ProviderConfigList{},
		"ClusterProviderConfigs": &configv1alpha1.ClusterProviderConfigList{},
		"GitDeliveries":          &deliveryv1alpha1.GitDeliveryList{},
	} {
		t.Run(name, func(t *testing.T) {
			kube := build(t, creds(true, held), own("team-a", "git", "creds"))
			broken := interceptor.NewClient(kube, interceptor.Funcs{
				List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
					if cmp.Equal(l, list) {
						return kerrors.NewInternalError(context.DeadlineExceeded)
					}
					return c.List(ctx, l, opts...)
				},
			})
			if _, err := reconciler(broken).Reconcile(t.Context(), request()); err == nil {
				t.Error("\nA failed list is retried\nReconcile(...): no error")
			}
			if diff := cmp.Diff([]string{held}, finalizers(t, kube)); diff != "" {
				t.Errorf("\nA failed list frees no Secret\nfinalizers: -want, +got:\n%s", diff)
			}
			if diff := cmp.Diff([]reconcile.Request{request()}, (users{kube: broken}).requestsForSecret(t.Context(), creds(true, held))); diff != "" {
				t.Errorf("\nA failed list enqueues the Secret\nofSecret(...): -want, +got:\n%s", diff)
			}
		})
	}
}

func TestRequests(t *testing.T) {
	u := users{kube: build(t,
		own("team-a", "git", "creds"), shared("git", "platform", "token"), trusting(own("team-b", "git", "creds"), "ca"),
		user("team-a", "web", policy.KindProviderConfig, "git"),
	)}
	idle := creds(false)
	idle.Name = "idle"
	cases := map[string]struct {
		reason string
		fn     func(context.Context, client.Object) []reconcile.Request
		object client.Object
		want   []string
	}{
		"NotHeld": {
			reason: "A Secret that is needed without the finalizer is requeued.",
			fn:     u.requestsForSecret, object: creds(false), want: []string{"team-a/creds"},
		},
		"Held": {reason: "A Secret that is needed and has the finalizer is not requeued.", fn: u.requestsForSecret, object: creds(false, held)},
		"HeldAndDeleted": {
			reason: "A Secret whose deletion waits is requeued to report that.",
			fn:     u.requestsForSecret, object: creds(true, held), want: []string{"team-a/creds"},
		},
		"Idle": {reason: "A Secret that is not needed and has no finalizer is not requeued.", fn: u.requestsForSecret, object: idle},
		"Left": {
			reason: "A Secret that has the finalizer and is not needed is requeued.",
			fn:     u.requestsForSecret,
			object: &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "idle", Finalizers: []string{held}}},
			want:   []string{"team-a/idle"},
		},
		"Own": {
			reason: "A delivery requeues the Secret of its configuration.",
			fn:     u.requestsForDelivery, object: user("team-a", "web", policy.KindProviderConfig, "git"), want: []string{"team-a/creds"},
		},
		"Both": {
			reason: "A delivery requeues all Secrets of its configuration.",
			fn:     u.requestsForDelivery, object: user("team-b", "web", policy.KindProviderConfig, "git"), want: []string{"team-b/creds", "team-b/ca"},
		},
		"Shared": {
			reason: "A delivery requeues the Secret in the namespace that a ClusterProviderConfig names.",
			fn:     u.requestsForDelivery, object: user("team-a", "web", policy.KindClusterProviderConfig, "git"), want: []string{"platform/token"},
		},
		"NoConfig": {
			reason: "A delivery whose configuration does not exist requeues nothing.",
			fn:     u.requestsForDelivery, object: user("team-a", "web", policy.KindProviderConfig, "none"),
		},
		"NoReference": {reason: "A delivery without a configuration requeues nothing.", fn: u.requestsForDelivery, object: &deliveryv1alpha1.GitDelivery{}},
		"ProviderConfig": {
			reason: "A ProviderConfig requeues its Secret, also when it is deleted.",
			fn:     requestsForConfig, object: own("team-c", "git", "creds"), want: []string{"team-c/creds"},
		},
		"ClusterConfig": {
			reason: "A ClusterProviderConfig requeues its Secret, also when it is deleted.",
			fn:     requestsForConfig, object: shared("any", "platform", "token"), want: []string{"platform/token"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range tc.fn(t.Context(), tc.object) {
				got = append(got, r.String())
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nwoken: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// events lists the recorded events, as their reasons and messages.
type events []string

// Event records an event.
func (e *events) Event(_ runtime.Object, event xpevent.Event) {
	*e = append(*e, string(event.Reason)+": "+event.Message)
}

// WithAnnotations ignores annotations.
func (e *events) WithAnnotations(...string) xpevent.Recorder { return e }

func TestReportUse(t *testing.T) {
	cases := map[string]struct {
		reason string
		secret *corev1.Secret
		// woken is the number of requests that a change of the Secret makes.
		woken int
		want  events
	}{
		"Held": {
			reason: "The event on a Secret whose deletion waits names the objects that use it.",
			secret: creds(true, held),
			woken:  1,
			want: events{
				"InUse: the deletion waits, for the Secret is used by GitDelivery team-a/web: delete their deployments, or let them use another " +
					"configuration",
			},
		},
		"NotHeld":    {reason: "A deletion that waits for other controllers has no event.", secret: creds(true, other), woken: 1},
		"NotDeleted": {reason: "A Secret that is not being deleted has no event.", secret: creds(false, held)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kube := build(t, tc.secret, own("team-a", "git", "creds"), user("team-a", "web", policy.KindProviderConfig, "git"))
			r, recorded := reconciler(kube), events(nil)
			r.recorder = &recorded
			woken := r.users.requestsForSecret(t.Context(), tc.secret)
			if diff := cmp.Diff(tc.woken, len(woken)); diff != "" {
				t.Errorf("\n%s\nofSecret(...): Secrets to reconcile: -want, +got:\n%s", tc.reason, diff)
			}
			if _, err := r.Reconcile(t.Context(), request()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, recorded); diff != "" {
				t.Errorf("\n%s\nevents: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
