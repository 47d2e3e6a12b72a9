package notification

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/notification"
	"github.com/intentplane/intentplane/test/cacheclient"
)

// TestReceiverFor posts for the configurations of an administrator and of a tenant.
func TestReceiverFor(t *testing.T) {
	hook := &configv1alpha1.SecretReference{Name: "hook"}
	cases := map[string]struct {
		reason  string
		change  func(*configv1alpha1.Notification)
		allowed []string
		data    map[string]string
		want    string
		err     string
	}{
		"Allowed": {reason: "A tenant posts to a host that the administrator allows.", want: "https://a.example.org/x"},
		"NotAllowed": {
			reason: "A tenant posts to no other host.",
			change: func(n *configv1alpha1.Notification) { n.URL = "https://c.example.org/x" },
			err:    `spec.notifications.url: host "c.example.org" is not one to which the administrator lets notifications of ProviderConfigs be posted (--notification-hosts of the provider)`,
		},
		"NoSecret": {
			reason: "A Secret that does not exist is named.",
			change: func(n *configv1alpha1.Notification) { n.SecretRef = hook },
			err:    "spec.notifications.secretRef: Secret team-a/hook does not exist",
		},
		"NoKey": {
			reason: "A Secret without a key that is read is named.",
			change: func(n *configv1alpha1.Notification) { n.SecretRef = hook }, data: map[string]string{"password": "x"},
			err: "spec.notifications.secretRef: Secret team-a/hook has no key token or address",
		},
		"Address": {
			reason: "The Secret has the address whose path is secret.",
			change: func(n *configv1alpha1.Notification) { n.SecretRef = hook },
			data:   map[string]string{"address": "https://a.example.org/services/T/B\n"}, want: "https://a.example.org/services/T/B",
		},
		"OtherHost": {
			reason: "The Secret does not lead to another host.",
			change: func(n *configv1alpha1.Notification) { n.SecretRef = hook }, data: map[string]string{"address": "https://b.example.org/x"},
			err: "spec.notifications.secretRef: key address of the Secret must be an https address with the host of spec.notifications.url",
		},
		"OtherSecret": {reason: "A tenant's configuration reads no Secret of another namespace.", change: func(n *configv1alpha1.Notification) {
			n.SecretRef = &configv1alpha1.SecretReference{Namespace: "crossplane-system", Name: "hook"}
		}, err: "spec.notifications.secretRef.namespace: a ProviderConfig reads Secrets of its own namespace only"},
		"NoBundle": {reason: "Certificates that do not exist are named.", change: func(n *configv1alpha1.Notification) {
			n.CABundleSecretRef = &configv1alpha1.SecretKeyReference{SecretReference: *hook, Key: "ca.crt"}
		}, data: map[string]string{"token": "x"}, err: "spec.notifications.caBundleSecretRef: Secret team-a/hook has no key ca.crt"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, n := newTestEnv(t), to("https://a.example.org/x", succeeded)
			if tc.change != nil {
				tc.change(&n)
			}
			if tc.data != nil {
				w.must(w.kube.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "hook"}, Data: bytesOf(tc.data)}))
			}
			turn := &turn{receiver: &n, config: notification.Config{Kind: "ProviderConfig", Namespace: "team-a", Name: "own"}}
			got, _, err := w.r.receiverFor(t.Context(), turn)
			text, address := "", ""
			if err != nil {
				text = err.Error()
			}
			if got != nil {
				address = got.URL.String()
			}
			if diff := cmp.Diff([]string{tc.want, tc.err}, []string{address, text}); diff != "" {
				t.Errorf("\n%s\nreceiverFor(...): -want, +got:\n%s", tc.reason, diff)
			}
			if err != nil && !isReceiverFailure(err) {
				t.Errorf("\n%s\nisFailure(%v): want true, since only an edit ends it", tc.reason, err)
			}
		})
	}
}

func bytesOf(in map[string]string) map[string][]byte {
	out := map[string][]byte{}
	for k, v := range in {
		out[k] = []byte(v)
	}
	return out
}

// TestForbiddenNamespace posts nothing for a namespace that may not use the configuration.
func TestForbiddenNamespace(t *testing.T) {
	w := newTestEnv(t, to("https://a.example.org/x", succeeded))
	w.config.Spec.Policy.AllowedNamespaces = []string{"team-b"}
	w.must(w.kube.Update(t.Context(), w.config))
	w.moveTo(1, verified()...)
	w.mustReconcile()
	if w.receiver.posts > 0 {
		t.Errorf("%d posts were made", w.receiver.posts)
	}
}

// TestHasReceivers finds the configurations of both kinds that deployments of a namespace may name.
func TestHasReceivers(t *testing.T) {
	receiver := to("https://a.example.org/x", succeeded)
	cases := map[string]struct {
		reason    string
		shared    []configv1alpha1.Notification
		namespace string
		want      bool
	}{
		"None":   {reason: "Without receivers no deployment is read."},
		"Shared": {reason: "A ClusterProviderConfig is for all namespaces.", shared: []configv1alpha1.Notification{receiver}, want: true},
		"Own":    {reason: "A ProviderConfig is for its namespace.", namespace: "team-a", want: true},
		"Other":  {reason: "Configurations of other namespaces cost a namespace nothing.", namespace: "team-b"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newTestEnv(t, tc.shared...)
			if tc.namespace != "" {
				c := &configv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: tc.namespace, Name: "own"}}
				c.Spec.Notifications = []configv1alpha1.Notification{receiver}
				w.must(w.kube.Create(t.Context(), c))
			}
			got, err := w.r.hasReceivers(t.Context(), "team-a")
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("\n%s\nhasReceivers(...): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

// TestEventReadsOwnObjects reconciles a deployment, its change and its deletion, in a namespace with a hundred other deployments, deliveries and configurations.
func TestEventReadsOwnObjects(t *testing.T) {
	w := newTestEnv(t, to("https://a.example.org/x", succeeded))
	for i := range 100 {
		name := fmt.Sprintf("other-%d", i)
		d, u := &deliveryv1alpha1.GitDelivery{}, w.deployment()
		d.SetNamespace("team-a")
		d.SetName(name)
		d.Spec.ForProvider.ClaimRef.Name = name
		u.SetName(name)
		u.SetUID(types.UID(name))
		c := &configv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}}
		for _, o := range []client.Object{d, u, c} {
			w.must(w.kube.Create(t.Context(), o))
		}
	}
	counter := &cacheclient.Counter{Client: w.kube}
	w.r.kube = counter
	events := []struct {
		reason string
		happen func()
		limit  int
	}{
		{
			reason: "An outcome reads one configuration with receivers, and the delivery of its deployment.",
			happen: func() { w.moveTo(1, verified()...) }, limit: 4,
		},
		{
			reason: "A deployment that was created again drops its earlier marks alone.",
			happen: func() { w.uid = "u2"; w.writeConfigMap() }, limit: 4,
		},
		{
			reason: "A deleted deployment drops its own marks alone.",
			happen: func() { w.must(w.kube.Delete(t.Context(), w.deployment())) }, limit: 2,
		},
	}
	for _, event := range events {
		event.happen()
		counter.Listed = 0
		w.mustReconcile()
		if counter.Listed == 0 || counter.Listed > event.limit {
			t.Errorf("\n%s\nReconcile(...): want at most %d objects, got %d", event.reason, event.limit, counter.Listed)
		}
	}
	w.config.Spec.Notifications = nil
	w.must(w.kube.Update(t.Context(), w.config))
	counter.Listed = 0
	if wanted, err := w.r.hasReceivers(t.Context(), "team-a"); err != nil || wanted || counter.Listed > 0 {
		t.Errorf("\nConfigurations without receivers are not read.\nhasReceivers(...): %t, %v after %d objects", wanted, err, counter.Listed)
	}
}

// TestConfigEventsShareOneRequest changes ProviderConfigs of a tenant with a hundred deployments: an event costs one request for the namespace, and the reconcile
// of all of them wakes each deployment once.
func TestConfigEventsShareOneRequest(t *testing.T) {
	w := newTestEnv(t)
	for i := range 100 {
		u := w.deployment()
		u.SetName(fmt.Sprintf("shop-%d", i))
		w.must(w.kube.Create(t.Context(), u))
	}
	counter := &cacheclient.Counter{Client: w.kube}
	w.r.kube = counter
	book := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "team-a"}}
	for range 100 {
		config := &configv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "own"}}
		if diff := cmp.Diff([]reconcile.Request{book}, w.r.requestsForTenant(t.Context(), config)); diff != "" || counter.Listed > 0 {
			t.Fatalf("requestsForTenant(...): %d objects were read; -want, +got:\n%s", counter.Listed, diff)
		}
	}
	w.woken = nil
	for range 2 {
		_, err := w.r.Reconcile(t.Context(), book)
		w.must(err)
	}
	if len(w.woken) != 100 {
		t.Errorf("The deployments of the namespace are woken once: want 100 requests, got %d", len(w.woken))
	}
}

// TestFullBookListsNothing has a deployment with a receiver for which a full book has no place: its events list no receivers.
func TestFullBookListsNothing(t *testing.T) {
	w := newTestEnv(t, to("https://a.example.org/x", succeeded))
	b, err := w.r.books.openNamespaceBook(t.Context(), "")
	w.must(err)
	present := make([]notification.ReceiverID, 3000)
	for i := range present {
		present[i] = notification.ReceiverID(fmt.Sprintf("ClusterProviderConfig/earlier-%d/a", i))
	}
	b.editContent(func(content *notification.Book) bool {
		content.Receivers = nil
		content.See(present, w.now)
		return true
	})
	counter := &cacheclient.Counter{Client: w.kube}
	w.r.kube = counter
	start, wait, err := w.r.receiverStartTime(t.Context(), &turn{id: "ClusterProviderConfig/default/a", config: notification.Config{Kind: "ClusterProviderConfig", Name: "default"}})
	w.must(err)
	if !start.IsZero() || wait != notification.Absence || counter.Listed > 0 {
		t.Errorf("firstSeen(...): %s, and the next try in %s after %d objects", start, wait, counter.Listed)
	}
}
