// Package load makes many GitDeliveries by hand, as a test or a measurement wants them, and reports their results.
package load

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/gitserver"
)

const (
	// Config is the name of each place's ProviderConfig.
	Config = "repo"

	// atOnce is how many objects are created at the same time.
	atOnce = 16
)

// A Load is many GitDeliveries on one control plane.
type Load struct {
	cp   *controlplane.ControlPlane
	kube client.WithWatch
}

// New returns a Load of nothing yet. It returns an error if the control plane cannot be spoken to.
func New(cp *controlplane.ControlPlane) (*Load, error) {
	s, err := newScheme()
	if err != nil {
		return nil, err
	}
	kube, err := client.NewWithWatch(cp.Config, client.Options{Scheme: s})
	return &Load{cp: cp, kube: kube}, errors.Wrap(err, "cannot make client")
}

func newScheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	kinds := runtime.NewSchemeBuilder(
		corev1.AddToScheme, catalogv1alpha1.AddToScheme, configv1alpha1.AddToScheme, deliveryv1alpha1.AddToScheme, rolloutv1alpha1.AddToScheme,
	)
	return s, errors.Wrap(kinds.AddToScheme(s), "cannot make scheme")
}

// Place makes a place to deliver to: a namespace, with a repository, a configuration and a Site of its own, without reports of an engine. The
// repository is looked at in this interval. It returns an error if one of them cannot be made.
func (l *Load) Place(ctx context.Context, name, interval string) error {
	if err := l.cp.Git.CreateRepo(ctx, name, map[string]string{"README.md": "What runs here.\n"}); err != nil {
		return err
	}
	siteCluster := catalogv1alpha1.SiteCluster{ControlPlane: &catalogv1alpha1.ControlPlaneCluster{}}
	return l.createObjects(ctx, newNamespace(name), l.newProviderConfig(name, interval), newPlaceSite(name, siteCluster, catalogv1alpha1.SiteEngine{Type: catalogv1alpha1.EngineNone}))
}

func (l *Load) createObjects(ctx context.Context, objects ...client.Object) error {
	for _, o := range objects {
		if err := l.kube.Create(ctx, o); err != nil {
			return errors.Wrapf(err, "cannot create %T %s", o, client.ObjectKeyFromObject(o))
		}
	}
	return nil
}

func newNamespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func (l *Load) newProviderConfig(place, interval string) *configv1alpha1.ProviderConfig {
	return &configv1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: place, Name: Config}, Spec: configv1alpha1.ProviderConfigSpec{
		ControlPlane: "load",
		Git:          configv1alpha1.GitRemote{URL: l.cp.Git.URL(place), Interval: interval},
	}}
}

func newPlaceSite(place string, c catalogv1alpha1.SiteCluster, e catalogv1alpha1.SiteEngine) *catalogv1alpha1.Site {
	return &catalogv1alpha1.Site{ObjectMeta: metav1.ObjectMeta{Name: place}, Spec: catalogv1alpha1.SiteSpec{
		Cluster: c, Engine: e,
		Repository:        catalogv1alpha1.SiteRepository{Path: siteDirectory(place)},
		AllowedNamespaces: []string{place},
	}}
}

func siteDirectory(place string) string { return "clusters/" + place }

// Deliver creates a GitDelivery, with five files that no other one has. It returns an error if it is refused.
func (l *Load) Deliver(ctx context.Context, key types.NamespacedName) error {
	d, err := newDelivery(key, 1)
	if err != nil {
		return err
	}
	return l.createObjects(ctx, d)
}

// DeliverAll creates GitDeliveries at once. It returns the first error.
func (l *Load) DeliverAll(ctx context.Context, keys []types.NamespacedName) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for _, key := range keys {
		g.Go(func() error { return l.Deliver(ctx, key) })
	}
	return g.Wait()
}

// Keys of so many GitDeliveries in some places, each place in its turn.
func Keys(n int, places ...string) []types.NamespacedName {
	out := make([]types.NamespacedName, n)
	for i := range out {
		out[i] = types.NamespacedName{Namespace: places[i%len(places)], Name: fmt.Sprintf("app-%d", i)}
	}
	return out
}

// Commits returns the commit with which each GitDelivery of a place was carried out. It returns an error if they cannot be listed.
func (l *Load) Commits(ctx context.Context, place string) (map[string]string, error) {
	all := &deliveryv1alpha1.GitDeliveryList{}
	if err := l.kube.List(ctx, all, client.InNamespace(place)); err != nil {
		return nil, errors.Wrap(err, "cannot list GitDeliveries")
	}
	out := map[string]string{}
	for _, d := range all.Items {
		if r := d.Status.AtProvider.Remote; r != nil {
			out[d.GetName()] = r.Commit
		}
	}
	return out, nil
}

// Branch is the branch of all deliveries.
const Branch = gitserver.Branch
