package setup

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters"
)

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
		// Where it should be is for those who may read the Site.
		return nil, &clusters.Error{Reason: deliveryv1alpha1.SiteReasonKubeconfigGone, Detail: "the Secret with the kubeconfig, or its key, does not exist"}
	}
	c, err := look.Remote(s.Data[ref.Key], access)
	if err != nil {
		return nil, &clusters.Error{Reason: deliveryv1alpha1.SiteReasonKubeconfigRefused, Detail: err.Error()}
	}
	return c, nil
}
