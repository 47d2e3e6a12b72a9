// Package sites shows, on a real control plane and a second cluster with real Flux in it, the reports of SiteSyncs, and the progress of
// deployments.
//
// The edges of the machine of phases, and who goes along them:
//
//	Pending → Compiling → Rendering → Delivering → Validating → Succeeded   TestRollbackOfRevision, TestEditedInEachPhase
//	Compiling → Failed, Rendering → Failed                                  TestBrokenEditLosesNothing of package claims
//	Delivering → Failed: a Site takes too long                              TestRejectedRevision, TestEditedInEachPhase/Failed
//	Validating → Failed: a Gate                                             TestRollbackOfRevision, TestRetryAfterRejection
//	Failed → RollingBack → Succeeded                                        TestRollbackOfRevision, TestRollbackOfWaves
//	RollingBack → Failed: all attempts spent                                TestAttemptsSpent, TestRollbackInTwoRepositories
//	Failed, and no rollback target                                          TestObjectiveInClaim
//	Validating → Succeeded without Gates                                    TestObjectiveInClaim
//	any → Pending: another spec                                             TestEditedInEachPhase
//	any → gone: deleted                                                     TestDeletedInEachPhase
//	any → nowhere: the management cluster is lost                           TestLossAfterRejection
package sites

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/load"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// cp is the control plane of all tests of this package.
var cp *controlplane.ControlPlane

// edge is the other cluster, with Flux in it.
var edge = sync.OnceValues(func() (*kubernetes.Cluster, error) {
	ctx := context.Background()
	k, err := cp.StartCluster(ctx, "edge")
	if err != nil {
		return nil, err
	}
	return k, k.StartFlux(ctx)
})

// hub is Flux in the control plane's own cluster.
var hub = sync.OnceValue(func() error { return cp.StartFlux(context.Background()) })

const (
	claim  = "shop"
	secret = "edge1-kubeconfig"

	placeholder = "An empty directory is none.\n"

	requestedAt = "reconcile.fluxcd.io/requestedAt"
)

// A stage is a scene whose one Site is in another cluster, to which real Flux applies the repository.
type stage struct {
	*scene.Scene

	edge *kubernetes.Cluster
	path string
}

// newSiteStage makes a Site whose Kustomization reads a directory of the repository. Flux reconciles only once an hour.
func newSiteStage(t *testing.T, dir func(s *scene.Scene) string) *stage {
	t.Helper()
	k, err := edge()
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{Scene: scene.New(t, cp), edge: k}
	s.path = dir(s.Scene)
	s.createKubeconfig()
	s.Apply(s.describeFluxSite())
	s.commitUnmanaged(map[string]string{s.path + "/placeholder": placeholder})
	s.Must(k.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}))
	s.Must(k.ApplyYAML(t.Context(), load.Kustomization(s.Namespace, s.Git.URL(s.Namespace), s.path)))
	return s
}

// describeFluxSite describes the Site.
func (s *stage) describeFluxSite() *unstructured.Unstructured {
	s.T.Helper()
	site := s.Set(s.NewSite("edge1"), map[string]any{"kubeconfigSecretRef": map[string]any{"namespace": s.Namespace, "name": secret}}, "spec", "cluster")
	return s.Set(site, map[string]any{"type": "Flux", "objectRef": map[string]any{
		"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "namespace": kubernetes.FluxNamespace, "name": "{claimNamespace}",
	}}, "spec", "engine")
}

func (s *stage) createKubeconfig() {
	s.T.Helper()
	b, err := os.ReadFile(s.edge.Kubeconfig)
	s.Must(err)
	s.Must(s.Client.Create(s.T.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: secret}, Data: map[string][]byte{"value": b}}))
}

// commitUnmanaged makes a commit without a trailer of ours.
func (s *stage) commitUnmanaged(files map[string]string) string {
	s.T.Helper()
	id, err := s.Git.Commit(s.T.Context(), s.Namespace, "main", files, "An unmanaged commit")
	s.Must(err)
	return id
}

func (s *stage) filesOfRepository(says string) tree.Files {
	return tree.Files{
		"a.yaml":             fmt.Appendf(nil, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: %s}\ndata: {says: %s}\n", s.Namespace, says),
		"kustomization.yaml": []byte("resources: [a.yaml]\n"),
	}
}

func (s *stage) claimReference() rolloutv1alpha1.ClaimReference {
	return rolloutv1alpha1.ClaimReference{APIGroup: "intentplane.dev", Kind: "IntentDeployment", Namespace: s.Namespace, Name: claim}
}

// deliverRevision delivers a revision with a text, with a GitDelivery by hand.
func (s *stage) deliverRevision(revision int64, says string) {
	s.T.Helper()
	yes, files := true, s.filesOfRepository(says)
	encoded, err := tree.Encode(files)
	s.Must(err)
	d := &deliveryv1alpha1.GitDelivery{}
	d.SetName(claim)
	d.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: scene.Config}
	d.Spec.ForProvider = deliveryv1alpha1.GitDeliveryParameters{
		ClaimRef: s.claimReference(), Copy: load.Copy(revision), Position: new(load.Position(revision)), DriftPolicy: deliveryv1alpha1.DriftReport, Adopt: &yes,
		Trees: []deliveryv1alpha1.Tree{{
			Site: s.Site("edge1"), Branch: "main", Path: s.Directory("edge1", claim), Action: deliveryv1alpha1.ActionDesired, Tree: tree.ID(files), Files: encoded,
		}},
	}
	s.Apply(s.NewDelivery(d))
}

// awaitDelivered waits until a revision was delivered, and returns its commit.
func (s *stage) awaitDelivered(revision int64) string {
	s.T.Helper()
	return s.AwaitDelivery("delivered", func(d *deliveryv1alpha1.GitDelivery) bool {
		observation := d.Status.AtProvider
		return observation.AppliedPosition().Revision == revision && observation.Remote != nil
	}).Status.AtProvider.Remote.Commit
}

// describeSync describes the SiteSync of a revision with a text.
func (s *stage) describeSync(revision int64, says string) *unstructured.Unstructured {
	s.T.Helper()
	y := &deliveryv1alpha1.SiteSync{}
	y.Spec.ForProvider = deliveryv1alpha1.SiteSyncParameters{
		ClaimRef: s.claimReference(), Position: new(load.Position(revision)), SyncWaitTimeout: "10m",
		Sites: []deliveryv1alpha1.SiteTree{{
			Name: s.Site("edge1"), Path: s.Directory("edge1", claim), Tree: tree.ID(s.filesOfRepository(says)),
			RepositoryRef: deliveryv1alpha1.RepositoryReference{Kind: "ProviderConfig", Name: scene.Config},
		}},
	}
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(y)
	s.Must(err)
	o := &unstructured.Unstructured{Object: map[string]any{"spec": m["spec"]}}
	o.SetGroupVersionKind(deliveryv1alpha1.GroupVersion.WithKind("SiteSync"))
	o.SetNamespace(s.Namespace)
	o.SetName(claim)
	return o
}

// siteMessage is the reason of Ready with the message of the Site, for a revision. It is empty while the status describes another spec.
func siteMessage(u *unstructured.Unstructured) string {
	y := &deliveryv1alpha1.SiteSync{}
	if runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, y) != nil || y.Status.AtProvider.ObservedPosition().Revision == 0 {
		return ""
	}
	ready := y.GetCondition(xpv2.TypeReady)
	if ready.ObservedGeneration != y.GetGeneration() || y.GetCondition(xpv2.TypeSynced).Status != corev1.ConditionTrue {
		return ""
	}
	out := []string{fmt.Sprint(y.Status.AtProvider.ObservedPosition().Revision), string(ready.Status), string(ready.Reason)}
	for _, site := range y.Status.AtProvider.Sites {
		out = append(out, string(site.State), site.Reason)
	}
	return strings.TrimSuffix(strings.Join(out, " | "), " | ")
}

// expectSiteSync expects a reason of the SiteSync soon, and returns the time that it took.
func (s *stage) expectSiteSync(o *unstructured.Unstructured, want string) time.Duration {
	s.T.Helper()
	began := time.Now()
	s.Await(o, want, func(u *unstructured.Unstructured) bool { return siteMessage(u) == want })
	return time.Since(began)
}

// lookAndExpect makes a SiteSync write its status at once, and expects a reason soon, with this message of the engine: progress is written late, so that it
// costs little, but who changes the spec gets an answer.
func (s *stage) lookAndExpect(o *unstructured.Unstructured, want string, words ...string) {
	s.T.Helper()
	minutes, last := 10, ""
	defer func() {
		if s.T.Failed() {
			s.T.Logf("the SiteSync said %s", last)
		}
	}()
	s.Until("the SiteSync says "+want+" "+strings.Join(words, " "), patience.Limit, func() bool {
		minutes++
		s.Patch(o, fmt.Sprintf(`{"spec":{"forProvider":{"syncWaitTimeout":"%dm"}}}`, minutes))
		u := s.Await(o, "an answer", func(u *unstructured.Unstructured) bool { return siteMessage(u) != "" })
		last = siteMessage(u) + ": " + engineMessage(u)
		return siteMessage(u) == want && strings.Contains(engineMessage(u), strings.Join(words, " "))
	})
}

// engineMessage is the message of the engine of the first Site in the SiteSync.
func engineMessage(u *unstructured.Unstructured) string {
	sites, _, _ := unstructured.NestedSlice(u.Object, "status", "atProvider", "sites")
	for _, site := range sites {
		if site, ok := site.(map[string]any); ok {
			message, _ := site["message"].(string)
			return message
		}
	}
	return ""
}

// kustomizationAtSite is the Kustomization at the Site, and sourceAtSite its GitRepository.
func (s *stage) kustomizationAtSite() *unstructured.Unstructured {
	return newFluxObject("kustomize.toolkit.fluxcd.io/v1", "Kustomization", s.Namespace)
}

func (s *stage) sourceAtSite() *unstructured.Unstructured {
	return newFluxObject("source.toolkit.fluxcd.io/v1", "GitRepository", s.Namespace)
}

func newFluxObject(apiVersion, kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(kubernetes.FluxNamespace)
	o.SetName(name)
	return o
}

// patchAtSite patches an object at the Site.
func (s *stage) patchAtSite(o *unstructured.Unstructured, patch string) {
	s.T.Helper()
	s.Must(s.edge.Client.Patch(s.T.Context(), o, client.RawPatch(types.MergePatchType, []byte(patch))))
}

// awaitApplied waits until Flux applied a commit. Another step makes it look.
func (s *stage) awaitApplied(commit string) {
	s.T.Helper()
	s.patchAtSite(s.sourceAtSite(), fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, requestedAt, commit))
	s.Until("Flux applies "+commit, patience.Limit, func() bool { return s.hasFluxApplied(commit) })
}

// hasFluxApplied reports whether Flux applied a commit last.
func (s *stage) hasFluxApplied(commit string) bool {
	s.T.Helper()
	k := s.kustomizationAtSite()
	s.Must(s.edge.Client.Get(s.T.Context(), client.ObjectKeyFromObject(k), k))
	return scene.Field(k, "status", "lastAppliedRevision") == "main@sha1:"+commit
}

// configAtSite is the value in the ConfigMap at the Site.
func (s *stage) configAtSite() string {
	s.T.Helper()
	cm := &corev1.ConfigMap{}
	err := s.edge.Client.Get(s.T.Context(), client.ObjectKey{Namespace: s.Namespace, Name: "a"}, cm)
	s.Must(client.IgnoreNotFound(err))
	return cm.Data["says"]
}
