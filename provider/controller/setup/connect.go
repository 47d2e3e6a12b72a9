package setup

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters"
)

// Why a Site counts as serving although its workload is not seen.
const (
	// CountsAsHealthy begins the message of a Site that counts by the health of its engine.
	CountsAsHealthy = "the engine of the Site reports its objects as healthy; "

	// CountsAsLive begins the message of a Site without an engine that counts as live.
	CountsAsLive = "engine.unobservedIsLive of the Site lets a delivered tree count as live; "
)

// IsElsewhere reports whether a workload that is not in the control plane's cluster may run in an unknown cluster: the Site has no engine,
// counts as live all the same, and names no other cluster.
func IsElsewhere(site *catalogv1alpha1.Site) bool {
	return site.Spec.Cluster.ControlPlane != nil && ptr.Deref(site.Spec.Engine.UnobservedIsLive, false)
}

// ConnectSite returns the cluster that the objects of a Site are in. It returns a clusters.Error if the Site's kubeconfig is missing or refused, which is
// the Site's problem, and another error if our own API server does not answer.
func ConnectSite(ctx context.Context, kube client.Reader, look *clusters.Look, site *catalogv1alpha1.Site) (*clusters.Cluster, error) {
	ref, access := clusters.KubeconfigOf(site)
	if ref == nil {
		return look.Home()
	}
	s := &corev1.Secret{}
	err := kube.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, s)
	if client.IgnoreNotFound(err) != nil {
		return nil, errors.Wrapf(err, "cannot get Secret of Site %q", site.GetName())
	}
	if kerrors.IsNotFound(err) || len(s.Data[ref.Key]) == 0 {
		// Only readers of the Site may see the place of the Secret.
		return nil, &clusters.Error{Reason: deliveryv1alpha1.SiteReasonKubeconfigGone, Detail: "the Secret with the kubeconfig, or its key, does not exist"}
	}
	c, err := look.Remote(s.Data[ref.Key], access)
	if err != nil {
		return nil, &clusters.Error{Reason: deliveryv1alpha1.SiteReasonKubeconfigRefused, Detail: err.Error()}
	}
	return c, nil
}
