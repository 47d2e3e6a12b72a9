package remote

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/credentials"
)

// refField is the field of a managed resource with the name of its configuration.
const refField = "spec.providerConfigRef"

// A Config is a configuration of a repository: a ProviderConfig of a namespace, or a ClusterProviderConfig.
type Config struct {
	Kind       string
	Namespace  string
	Generation int64
	Spec       *configv1alpha1.ProviderConfigSpec
}

// Interval returns the poll interval of the configuration, at most the given limit.
func (c Config) Interval(limit time.Duration) time.Duration {
	interval, err := time.ParseDuration(c.Spec.Git.Interval)
	if err != nil {
		return limit
	}
	return min(interval, limit)
}

// ReadConfig returns the configuration that a reference in a namespace names. It returns an error, for ReasonOf, if the reference is missing or not valid, or
// names a configuration that does not exist.
func ReadConfig(ctx context.Context, r client.Reader, ref *xpv2.ProviderConfigReference, namespace string) (Config, error) {
	if ref == nil {
		return Config{}, &credentials.InvalidError{Field: refField, Detail: "is required"}
	}
	switch ref.Kind {
	case policy.KindProviderConfig:
		o := &configv1alpha1.ProviderConfig{}
		err := r.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, o)
		return Config{Kind: ref.Kind, Namespace: namespace, Generation: o.GetGeneration(), Spec: &o.Spec}, goneOrError(err, ref.Kind, ref.Name)
	case policy.KindClusterProviderConfig:
		o := &configv1alpha1.ClusterProviderConfig{}
		err := r.Get(ctx, client.ObjectKey{Name: ref.Name}, o)
		return Config{Kind: ref.Kind, Generation: o.GetGeneration(), Spec: &o.Spec}, goneOrError(err, ref.Kind, ref.Name)
	}
	return Config{}, &credentials.InvalidError{Field: refField + ".kind", Detail: "must be ProviderConfig or ClusterProviderConfig"}
}

func goneOrError(err error, kind, name string) error {
	if kerrors.IsNotFound(err) {
		return &credentials.GoneError{Field: refField, Detail: kind + " " + name + " does not exist"}
	}
	return errors.Wrapf(err, "cannot get %s %q", kind, name)
}
