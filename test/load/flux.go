package load

import (
	"context"
	"fmt"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
)

const (
	secret    = "edge-kubeconfig"
	secretKey = "value"
)

// Kustomization describes a GitRepository and a Kustomization of Flux, of one name, that read a directory of a repository once an hour only,
// unless an annotation asks them to. Nothing waits for the health of applied objects.
func Kustomization(name, url, path string) []byte {
	return fmt.Appendf(nil, fluxObjects, name, url, path)
}

const fluxObjects = `
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: %[1]s, namespace: flux-system}
spec: {interval: 1h, url: "%[2]s", ref: {branch: main}}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %[1]s, namespace: flux-system}
spec: {interval: 1h, retryInterval: 5s, prune: true, path: "./%[3]s", sourceRef: {kind: GitRepository, name: %[1]s}}
`

// FluxEngine says that a Kustomization of the claim's namespace brings the repository to a Site.
func FluxEngine() catalogv1alpha1.SiteEngine {
	return catalogv1alpha1.SiteEngine{Type: catalogv1alpha1.EngineFlux, ObjectRef: &catalogv1alpha1.ObjectReference{
		APIVersion: "kustomize.toolkit.fluxcd.io/v1", Kind: "Kustomization", Namespace: kubernetes.FluxNamespace, Name: "{claimNamespace}",
	}}
}

// FluxPlace makes a place like Place, whose Site is in another cluster, to which real Flux brings the repository, and returns that cluster. It returns an
// error if something cannot be made, or Flux does not start.
func (l *Load) FluxPlace(ctx context.Context, name, interval string) (*kubernetes.Cluster, error) {
	if err := l.cp.Git.CreateRepo(ctx, name, map[string]string{siteDirectory(name) + "/placeholder": "An empty directory is none.\n"}); err != nil {
		return nil, err
	}
	edge, err := l.cp.StartCluster(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := edge.StartFlux(ctx); err != nil {
		return nil, err
	}
	if err := edge.Client.Create(ctx, newNamespace(name)); err != nil {
		return nil, errors.Wrap(err, "cannot create namespace at the Site")
	}
	if err := edge.ApplyYAML(ctx, Kustomization(name, l.cp.Git.URL(name), siteDirectory(name))); err != nil {
		return nil, err
	}
	kubeconfig, err := os.ReadFile(edge.Kubeconfig)
	if err != nil {
		return nil, errors.Wrap(err, "cannot read kubeconfig")
	}
	siteCluster := catalogv1alpha1.SiteCluster{KubeconfigSecretRef: &catalogv1alpha1.NamespacedSecretKeySelector{Namespace: name, Name: secret, Key: secretKey}}
	return edge, l.createObjects(ctx, newNamespace(name), l.newProviderConfig(name, interval), newPlaceSite(name, siteCluster, FluxEngine()),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: secret}, Data: map[string][]byte{secretKey: kubeconfig}})
}

// Order makes a GitDelivery and a SiteSync ask for a revision, one more than before. It returns an error if they refuse.
func (l *Load) Order(ctx context.Context, key types.NamespacedName, revision int64) error {
	d, err := newDelivery(key, revision)
	if err != nil {
		return err
	}
	s := newSiteSync(key, revision)
	if revision == 1 {
		return l.createObjects(ctx, s, d)
	}
	previous, err := newDelivery(key, revision-1)
	if err != nil {
		return err
	}
	if err := l.kube.Patch(ctx, s, client.MergeFrom(newSiteSync(key, revision-1))); err != nil {
		return errors.Wrap(err, "cannot change SiteSync")
	}
	return errors.Wrap(l.kube.Patch(ctx, d, client.MergeFrom(previous)), "cannot change GitDelivery")
}

// newSiteSync returns a SiteSync that observes a revision of one web service at the Site of a place.
func newSiteSync(key types.NamespacedName, revision int64) *deliveryv1alpha1.SiteSync {
	s := &deliveryv1alpha1.SiteSync{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	s.Spec.ForProvider = deliveryv1alpha1.SiteSyncParameters{
		ClaimRef: claimReference(key), Position: new(Position(revision)), Sites: []deliveryv1alpha1.SiteTree{newSiteTree(key, revision)},
	}
	return s
}

func newSiteTree(key types.NamespacedName, revision int64) deliveryv1alpha1.SiteTree {
	return deliveryv1alpha1.SiteTree{
		Name: key.Namespace, Path: deliveryPath(key), Tree: tree.ID(webServiceFiles(key, revision)),
		RepositoryRef: deliveryv1alpha1.RepositoryReference{Kind: policy.KindProviderConfig, Name: Config},
	}
}

// Proven waits until a SiteSync is Ready with a revision. It returns an error if that cannot be read.
func (l *Load) Proven(ctx context.Context, key types.NamespacedName, revision int64) error {
	last := deliveryv1alpha1.SiteSyncObservation{}
	err := l.followObjects(ctx, &deliveryv1alpha1.SiteSyncList{}, key.Namespace, func(o client.Object) bool {
		s, ok := o.(*deliveryv1alpha1.SiteSync)
		if !ok || s.GetName() != key.Name {
			return false
		}
		last = s.Status.AtProvider
		c := s.GetCondition(xpv2.TypeReady)
		return c.Status == corev1.ConditionTrue && c.ObservedGeneration == s.GetGeneration() && last.ObservedPosition().Revision == revision
	})
	return errors.Wrapf(err, "revision %d of SiteSync %s is not proven: %+v", revision, key, last.Sites)
}
