package load

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// A Way is where a configuration of a hostile tenant leads.
type Way struct {
	// URL of the repository.
	URL string
	// Proxy that it is reached through. Empty is none.
	Proxy string
}

// HostilePlace makes a namespace, a Site, and a configuration for each way. It returns an error if one of them cannot be made.
func (l *Load) HostilePlace(ctx context.Context, name string, ways []Way) error {
	siteCluster := catalogv1alpha1.SiteCluster{ControlPlane: &catalogv1alpha1.ControlPlaneCluster{}}
	if err := l.createObjects(ctx, newNamespace(name), newPlaceSite(name, siteCluster, catalogv1alpha1.SiteEngine{Type: catalogv1alpha1.EngineNone})); err != nil {
		return err
	}
	for n, w := range ways {
		c := l.newProviderConfig(name, "10s")
		c.SetName(wayConfigName(n))
		c.Spec.ControlPlane = fmt.Sprint("load-", n)
		c.Spec.Git.URL = w.URL
		if w.Proxy != "" {
			c.Spec.Git.Proxy = &configv1alpha1.Proxy{URL: w.Proxy}
		}
		if err := l.createObjects(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func wayConfigName(n int) string { return fmt.Sprint("way-", n) }

// DeliverBy creates GitDeliveries at once, by the ways of a hostile place in turn. It returns the first error.
func (l *Load) DeliverBy(ctx context.Context, keys []types.NamespacedName, ways int) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for n, key := range keys {
		g.Go(func() error {
			d, err := newDelivery(key, 1)
			if err != nil {
				return err
			}
			d.Spec.ProviderConfigReference.Name = wayConfigName(n % ways)
			return l.createObjects(ctx, d)
		})
	}
	return g.Wait()
}

// ObserveSites makes a SiteSync that observes a revision of one web service at many Sites. It returns an error if it is refused.
func (l *Load) ObserveSites(ctx context.Context, key types.NamespacedName, sites []string) error {
	s := newSiteSync(key, 1)
	like := s.Spec.ForProvider.Sites[0]
	like.RepositoryRef.Name = wayConfigName(0)
	s.Spec.ForProvider.Sites = nil
	for _, name := range sites {
		like.Name = name
		s.Spec.ForProvider.Sites = append(s.Spec.ForProvider.Sites, like)
	}
	return l.createObjects(ctx, s)
}

// Judged waits until so many GitDeliveries of a place have a reason why they are not Ready. It returns an error if it cannot be read.
func (l *Load) Judged(ctx context.Context, place string, n int) error {
	judged, err := l.awaitReadyCount(ctx, &deliveryv1alpha1.GitDeliveryList{}, place, n, func(c xpv2.Condition) bool { return c.Reason != "" })
	return errors.Wrapf(err, "%d of %d GitDeliveries have a reason", judged, n)
}
