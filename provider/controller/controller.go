// Package controller sets up the provider's controllers.
package controller

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/customresourcesgate"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters"
	"github.com/intentplane/intentplane/provider/controller/blueprint"
	"github.com/intentplane/intentplane/provider/controller/bundlestate"
	"github.com/intentplane/intentplane/provider/controller/catalogview"
	"github.com/intentplane/intentplane/provider/controller/failure"
	"github.com/intentplane/intentplane/provider/controller/gate"
	"github.com/intentplane/intentplane/provider/controller/gitdelivery"
	"github.com/intentplane/intentplane/provider/controller/imagebuild"
	"github.com/intentplane/intentplane/provider/controller/imagebuild/webhook"
	"github.com/intentplane/intentplane/provider/controller/managedcluster"
	"github.com/intentplane/intentplane/provider/controller/notification"
	"github.com/intentplane/intentplane/provider/controller/providerconfig"
	"github.com/intentplane/intentplane/provider/controller/prunerequest"
	"github.com/intentplane/intentplane/provider/controller/rolloutrequest"
	"github.com/intentplane/intentplane/provider/controller/secret"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/controller/site"
	"github.com/intentplane/intentplane/provider/controller/sitehealth"
	"github.com/intentplane/intentplane/provider/controller/sitesync"
	"github.com/intentplane/intentplane/provider/controller/transition"
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/provider/telemetry"
	"github.com/intentplane/intentplane/provider/usage"
)

// requiredKinds are the kinds that have to be served before a controller starts. With safe-start they are served once an administrator
// activates them.
func requiredKinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		catalogv1alpha1.GroupVersion.WithKind("Site"),
		configv1alpha1.GroupVersion.WithKind("ProviderConfig"),
		configv1alpha1.GroupVersion.WithKind("ClusterProviderConfig"),
		configv1alpha1.GroupVersion.WithKind("ProviderConfigUsage"),
		deliveryv1alpha1.GroupVersion.WithKind("GitDelivery"),
		deliveryv1alpha1.GroupVersion.WithKind("SiteSync"),
	}
}

// Options of the controllers.
type Options struct {
	// Gate holds the options of the controller of Gates.
	Gate gate.Options

	// GitDelivery holds the options of the controller of GitDeliveries.
	GitDelivery gitdelivery.Options

	// ImageBuild holds the options of the controller of ImageBuilds.
	ImageBuild imagebuild.Options

	// SourceWebhook holds the options of the server of webhooks about sources.
	SourceWebhook webhook.Options

	// ManagedCluster holds the options of the controller of ManagedClusters.
	ManagedCluster managedcluster.Options

	// Notification holds the options of the controllers that post outcomes.
	Notification notification.Options

	// SiteHealth holds the options of the controller of SiteHealths.
	SiteHealth sitehealth.Options

	// SiteSync holds the options of the controller of SiteSyncs.
	SiteSync sitesync.Options

	// PruneRequest holds the options of the controller of PruneRequests.
	PruneRequest prunerequest.Options

	// Metrics of the provider.
	Metrics *telemetry.Metrics

	// Tracer exports traces of revisions. Nil exports none.
	Tracer transition.Tracer
}

// SetupGated starts the controllers as soon as the kinds that they need are served. It returns an error if the gate cannot be
// watched.
func SetupGated(mgr ctrl.Manager, o controller.Options, options Options) error {
	mgr = setup.NotingConflicts(mgr)
	o.Gate.Register(func() {
		if err := addControllers(mgr, o, options); err != nil {
			// The callback cannot return an error, and a provider without controllers must not look healthy.
			panic(err)
		}
	}, requiredKinds()...)
	// RolloutRequests are optional: without them deployments still deliver.
	o.Gate.Register(func() {
		if err := rolloutrequest.Setup(mgr, o); err != nil {
			panic(errors.Wrap(err, "cannot set up controller of RolloutRequests"))
		}
	}, rolloutrequest.Kind())
	o.Gate.Register(func() {
		if err := imagebuild.Setup(mgr, o, options.ImageBuild); err != nil {
			panic(errors.Wrap(err, "cannot set up controller of ImageBuilds"))
		}
	}, append(requiredKinds(), imagebuild.Kind())...)
	// The gate opens on the leader alone, and webhooks reach each replica.
	if err := webhook.Setup(mgr, o, options.SourceWebhook); err != nil {
		return err
	}
	countStates(mgr, o)
	return errors.Wrap(customresourcesgate.Setup(mgr, o), "cannot watch CustomResourceDefinitions")
}

func addControllers(mgr ctrl.Manager, o controller.Options, options Options) error {
	ctx, indexer := context.Background(), mgr.GetFieldIndexer()
	if err := errors.Join(usage.Index(ctx, indexer), listing.AddIndexes(ctx, indexer, clusters.SecretIndex())); err != nil {
		return err
	}
	if err := providerconfig.Setup(mgr, o); err != nil {
		return errors.Wrap(err, "cannot set up controllers of configurations")
	}
	if err := site.Setup(mgr, o); err != nil {
		return errors.Wrap(err, "cannot set up controller of Sites")
	}
	if err := blueprint.Setup(mgr, o); err != nil {
		return errors.Wrap(err, "cannot set up controller of Blueprints")
	}
	if err := catalogview.Setup(mgr, o); err != nil {
		return errors.Wrap(err, "cannot set up the published catalog")
	}
	if err := secret.Setup(mgr, o); err != nil {
		return errors.Wrap(err, "cannot set up controller of Secrets")
	}
	repositories, err := gitdelivery.Setup(mgr, o, options.GitDelivery)
	if err != nil {
		return errors.Wrap(err, "cannot set up controller of GitDeliveries")
	}
	options.SiteSync.Repositories, options.PruneRequest.Repositories = repositories, repositories
	if err := providerconfig.SetupReady(mgr, o, providerconfig.ReadyOptions{Repositories: repositories, Guard: options.GitDelivery.Guard}); err != nil {
		return errors.Wrap(err, "cannot set up controllers of condition Ready of configurations")
	}
	// PruneRequests are optional: without them nothing is pruned.
	o.Gate.Register(func() {
		if err := prunerequest.Setup(mgr, o, options.PruneRequest); err != nil {
			panic(errors.Wrap(err, "cannot set up controller of PruneRequests"))
		}
	}, prunerequest.Kinds()...)
	if err := sitesync.Setup(mgr, o, options.SiteSync); err != nil {
		return errors.Wrap(err, "cannot set up controller of SiteSyncs")
	}
	return addIndexReaders(mgr, o, options)
}

// addIndexReaders adds the controllers that read the indexes of usage.Index, and of which each also waits for kinds of its own. They are registered when these
// indexes exist: the gate calls back in any order. The controller of Gates adds the index of Gates itself: a trace that ends earlier has no spans of Gates.
func addIndexReaders(mgr ctrl.Manager, o controller.Options, options Options) error {
	transition.Setup(mgr, o, options.Metrics, options.Tracer)
	failure.Setup(mgr, o)
	if err := notification.Setup(mgr, o, options.Notification); err != nil {
		return errors.Wrap(err, "cannot set up controllers of notifications")
	}
	o.Gate.Register(func() {
		if err := managedcluster.Setup(mgr, o, options.ManagedCluster); err != nil {
			panic(errors.Wrap(err, "cannot set up controller of ManagedClusters"))
		}
	}, managedcluster.Kind())
	o.Gate.Register(func() {
		if err := sitehealth.Setup(mgr, o, options.SiteHealth); err != nil {
			panic(errors.Wrap(err, "cannot set up controller of SiteHealths"))
		}
	}, sitehealth.Kind())
	// BundleStates are optional: without them deployments and Applications still deliver.
	o.Gate.Register(func() {
		if err := bundlestate.Setup(mgr, o); err != nil {
			panic(errors.Wrap(err, "cannot set up controller of BundleStates"))
		}
	}, bundlestate.Kinds()...)
	o.Gate.Register(func() {
		if err := gate.Setup(mgr, o, options.Gate); err != nil {
			panic(errors.Wrap(err, "cannot set up controller of Gates"))
		}
	}, gate.Kinds()...)
	return nil
}
