package sitesync

import (
	"context"
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
	"github.com/intentplane/intentplane/test/patience"
)

func definitions() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
}

func capiClusters() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "cluster.x-k8s.io", Version: "v1beta2", Resource: "clusters"}
}

func secrets() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
}

// Ask is an API server that answers.
func (w *world) Ask(context.Context, []byte) (readiness.Answer, time.Time) {
	return readiness.Answer{Asked: true, Version: "v1.34.2"}, w.clock.Add(time.Hour)
}

func (w *world) put(gvr schema.GroupVersionResource, text string) {
	w.Helper()
	u := &unstructured.Unstructured{}
	w.must(yaml.Unmarshal([]byte(text), &u.Object))
	resourceClient := w.cluster.Resource(gvr).Namespace(u.GetNamespace())
	_, err := resourceClient.Update(w.Context(), u, metav1.UpdateOptions{})
	if kerrors.IsNotFound(err) {
		_, err = resourceClient.Create(w.Context(), u, metav1.CreateOptions{})
	}
	w.must(err)
}

// capi writes the status of the Cluster as Cluster API's core does.
func (w *world) capi(uid string, initialized bool) {
	w.Helper()
	w.capiAs(uid, initialized, "c1")
}

// capiAs does so with a host of the endpoint, which may be none.
func (w *world) capiAs(uid string, initialized bool, host string) {
	w.Helper()
	w.put(definitions(), `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusters.cluster.x-k8s.io}
spec: {versions: [{name: v1beta2, served: true}]}`)
	w.put(capiClusters(), fmt.Sprintf(`
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {namespace: infra, name: c1, uid: %s}
spec: {controlPlaneEndpoint: {host: %q, port: 6443}}
status: {initialization: {infrastructureProvisioned: true, controlPlaneInitialized: %t}}`, uid, host, initialized))
}

const goodKubeconfig = `{"apiVersion":"v1","kind":"Config","current-context":"a","clusters":[{"name":"c","cluster":{"server":"https://c1"}}],"contexts":[{"name":"a","context":{"cluster":"c","user":"u"}}],"users":[{"name":"u","user":{"token":"t"}}]}`

// kubeconfig writes the kubeconfig Secret of the cluster, as Cluster API does, to both doubles of the API server.
func (w *world) kubeconfig() {
	w.Helper()
	w.kubeconfigOf(goodKubeconfig)
}

func (w *world) kubeconfigOf(text string) {
	w.Helper()
	w.inCluster(text)
	w.must(w.kube.Create(w.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: "c1-kubeconfig"}, Data: map[string][]byte{"value": []byte(text)}}))
}

// inCluster puts a kubeconfig where Cluster API has it.
func (w *world) inCluster(text string) {
	w.Helper()
	w.put(secrets(), fmt.Sprintf(`
apiVersion: v1
kind: Secret
metadata: {namespace: infra, name: c1-kubeconfig, labels: {cluster.x-k8s.io/cluster-name: c1}}
type: cluster.x-k8s.io/secret
data: {value: %s}`, base64.StdEncoding.EncodeToString([]byte(text))))
}

// clusterSite makes the Site one of a Cluster API cluster.
func (w *world) clusterSite() {
	w.Helper()
	s := &catalogv1alpha1.Site{}
	w.must(w.kube.Get(w.Context(), keyOf("edge1"), s))
	s.Spec.Cluster = catalogv1alpha1.SiteCluster{ClusterRef: &catalogv1alpha1.ObjectReference{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Cluster", Namespace: "infra", Name: "c1"}}
	w.must(w.kube.Update(w.Context(), s))
}

// delivery is the claim's GitDelivery, which came to the position and brought a tree.
func (w *world) delivery(tree string) {
	w.Helper()
	p := w.get().Spec.ForProvider
	d := &v1alpha1.GitDelivery{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web"}}
	err := w.kube.Get(w.Context(), client.ObjectKeyFromObject(d), d)
	d.Spec.ForProvider = v1alpha1.GitDeliveryParameters{ClaimRef: p.ClaimRef, Position: p.Position, Trees: []v1alpha1.Tree{{Site: "edge1", Path: webAtE1, Action: v1alpha1.ActionKeep}}}
	d.Status.AtProvider.Record = &v1alpha1.LedgerRecord{Position: *p.Position}
	d.Status.AtProvider.Trees = []v1alpha1.DeliveredTree{{Path: webAtE1, Tree: tree}}
	if kerrors.IsNotFound(err) {
		err = w.kube.Create(w.Context(), d)
		w.must(err)
		return
	}
	w.must(w.kube.Update(w.Context(), d))
}

func TestSiteOfACluster(t *testing.T) {
	w := newWorld(t)
	w.clusterSite()
	w.flux(w.deliver("new"), false)
	w.askFor(1)
	w.delivery("")
	w.until("Waiting | WaitingForCluster | KindMissing")
	w.capi("u1", false)
	w.later("Waiting | WaitingForCluster | NotInitialized")
	w.capi("u1", true)
	w.later("Waiting | WaitingForCluster | KubeconfigMissing")
	// Secrets are not watched here: in the provider, a controller that watches Secrets wakes the SiteSync.
	w.kubeconfig()
	w.reconcile()
	if left := w.result.RequeueAfter; left != readiness.Stabilization {
		t.Errorf("it is looked at again when the cluster counts as ready: in %s", left)
	}
	w.clock = w.clock.Add(readiness.Stabilization)
	w.reconcile()
	w.expect("once the cluster is ready, the Site waits for its delivery", "Waiting | Pending | NotDelivered")
	passed := w.get().Status.AtProvider.Sites[0].Cluster
	if passed.PassedAt == nil || !passed.PassedAt.Time.Equal(w.clock) || passed.UID != "u1" {
		t.Errorf("the cluster: %+v", passed)
	}
	w.delivery(w.tree)
	w.until(isLiveNow)
	// Its engine was asked by its own kubeconfig.
	if w.dialledWith != goodKubeconfig || w.origin != "infra" {
		t.Errorf("its cluster was reached with %q of origin %q", w.dialledWith, w.origin)
	}
	// The condition of the cluster comes and goes, and the delivered revision stays.
	w.capi("u1", false)
	w.later(isLiveNow)
	w.latched()
}

// later reconciles when progress may be written.
func (w *world) later(want string) {
	w.Helper()
	w.reconcile()
	for w.says() != want {
		select {
		case <-w.woken:
		case <-time.After(patience.Limit):
			w.Fatalf("want %q, got %q, and no SiteSync is woken", want, w.says())
		}
		w.reconcile()
		w.clock = w.clock.Add(maxProgressDelay)
		w.reconcile()
	}
}

// latched shows that CAPT may say later that a control plane is not initialized, and that another Cluster has to show it again.
func (w *world) latched() {
	w.Helper()
	if c := w.get().Status.AtProvider.Sites[0].Cluster; c.Reason != "" || !*c.Ready {
		w.Errorf("the latched condition did not stay set: %+v", c)
	}
	w.capi("u2", false)
	w.later("Waiting | WaitingForCluster | NotInitialized")
}

func TestClusterReference(t *testing.T) {
	good := catalogv1alpha1.ObjectReference{APIVersion: "cluster.x-k8s.io/v1beta1", Kind: "Cluster", Namespace: "infra", Name: "c1"}
	cases := map[string]struct {
		reason string
		change func(*catalogv1alpha1.ObjectReference)
		bad    bool
	}{
		"Good": {reason: "A reference to a Cluster may name any version.", change: func(*catalogv1alpha1.ObjectReference) {}},
		"OtherGroup": {
			reason: "A reference to a Cluster of another API group is refused.",
			change: func(r *catalogv1alpha1.ObjectReference) { r.APIVersion = "management.cattle.io/v3" }, bad: true,
		},
		"OtherKind": {
			reason: "A reference to another kind than Cluster is refused.",
			change: func(r *catalogv1alpha1.ObjectReference) { r.Kind = "Machine" }, bad: true,
		},
		"NoNamespace": {reason: "A reference without a namespace is refused.", change: func(r *catalogv1alpha1.ObjectReference) { r.Namespace = "" }, bad: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ref := good
			tc.change(&ref)
			if got := explainForeignRef(ref); (got != "") != tc.bad {
				t.Errorf("\n%s\nnotOurs(): %q", tc.reason, got)
			}
		})
	}
}
