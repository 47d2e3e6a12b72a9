// Package endpoint finds the Prometheus server of a check, in the check itself, in its Site or in its configuration, and reads the credentials for the server.
package endpoint

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/credentials"
	"github.com/intentplane/intentplane/provider/gates/prometheus"
)

// Problems of an endpoint, which a user may fix while the check runs.
const (
	problemNowhere = "neither the Site nor the configuration names a Prometheus server"
	problemAddress = "the address of the Prometheus server cannot be used"
	problemSecret  = "the Secret with the credentials of the Prometheus server, or a key of it, does not exist"
)

// An Endpoint is a server with its credentials, or the reason why a check has none.
type Endpoint struct {
	// Server is the server of the check.
	Server prometheus.Server
	// Problem is the reason why the check has no server. Empty if it has one.
	Problem string
	// IsOutage is true for a problem of the server, and not of the check.
	IsOutage bool
}

// A Config is the configuration of a check.
type Config struct {
	// Kind and Namespace of the configuration. The namespace of a ClusterProviderConfig is empty.
	Kind, Namespace string
	// Spec of the configuration. Nil if it has a problem.
	Spec *configv1alpha1.ProviderConfigSpec
	// Problem is the reason why the check has no configuration that it may use. Empty if it has one.
	Problem string
}

// ReadConfig reads a configuration that a Gate of a namespace may use. It returns an error if the API server cannot be reached.
func ReadConfig(ctx context.Context, kube client.Reader, ref xpv2.ProviderConfigReference, namespace string) (Config, error) {
	out := Config{Kind: policy.KindClusterProviderConfig}
	cluster := &configv1alpha1.ClusterProviderConfig{}
	var o client.Object = cluster
	out.Spec = &cluster.Spec
	if ref.Kind == policy.KindProviderConfig {
		namespaced := &configv1alpha1.ProviderConfig{}
		o, out = namespaced, Config{Kind: ref.Kind, Namespace: namespace, Spec: &namespaced.Spec}
	}
	err := kube.Get(ctx, client.ObjectKey{Namespace: out.Namespace, Name: ref.Name}, o)
	if kerrors.IsNotFound(err) {
		return Config{Problem: "the configuration does not exist"}, nil
	}
	if err != nil {
		return Config{}, errors.Wrapf(err, "cannot get %s %q", out.Kind, ref.Name)
	}
	if err := policy.CheckConfig(out.Kind, out.Spec, namespace); err != nil {
		return Config{Problem: err.Error()}, nil //nolint:nilerr // A refusal is an answer.
	}
	return out, nil
}

// Find returns the server of a Prometheus check: the server at the check's own address, never with credentials, or else the Site's, or else the
// configuration's. A configuration with a problem gives the problem. It returns an error if the API server cannot be reached.
func Find(ctx context.Context, kube client.Reader, c Config, site *catalogv1alpha1.Site, address string) (Endpoint, error) {
	if c.Problem != "" {
		return Endpoint{Problem: c.Problem}, nil
	}
	if address != "" && address != policy.PrometheusAddress(site, c.Spec) {
		u, err := prometheus.Base(address)
		if err != nil {
			return Endpoint{Problem: problemAddress}, nil //nolint:nilerr // It may hold a password.
		}
		return Endpoint{Server: prometheus.Server{Base: u}}, nil
	}
	if m := site.Spec.Metrics; m != nil && m.Prometheus != nil {
		// A Site is as trusted as a configuration of the cluster.
		return readEndpoint(ctx, kube, Config{Kind: policy.KindClusterProviderConfig}, prometheusOf(m.Prometheus))
	}
	if m := c.Spec.Metrics; m != nil && m.Prometheus != nil {
		return readEndpoint(ctx, kube, c, *m.Prometheus)
	}
	return Endpoint{Problem: problemNowhere}, nil
}

// readEndpoint returns a server with its credentials.
func readEndpoint(ctx context.Context, kube client.Reader, c Config, p configv1alpha1.Prometheus) (Endpoint, error) {
	u, err := prometheus.Base(p.Address)
	if err != nil {
		return Endpoint{Problem: problemAddress}, nil //nolint:nilerr // It may hold a password.
	}
	k, err := credentials.ReadMetrics(ctx, kube, credentials.Config{Kind: c.Kind, Namespace: c.Namespace}, p)
	var (
		goneError *credentials.GoneError
		invalid   *credentials.InvalidError
	)
	switch {
	case errors.As(err, &goneError):
		return Endpoint{Problem: problemSecret + " (" + prometheus.Place(u) + ")", IsOutage: true}, nil // Only readers of the Site may see the place.
	case errors.As(err, &invalid):
		return Endpoint{Problem: invalid.Error() + " (" + prometheus.Place(u) + ")", IsOutage: true}, nil
	}
	return Endpoint{Server: prometheus.Server{Base: u, Credentials: k}}, err
}

// Secrets returns the Secrets that a Site names for its Prometheus server, whether they exist or not.
func Secrets(site *catalogv1alpha1.Site) []client.ObjectKey {
	m := site.Spec.Metrics
	if m == nil || m.Prometheus == nil {
		return nil
	}
	return credentials.MetricsSecrets(credentials.Config{Kind: policy.KindClusterProviderConfig}, prometheusOf(m.Prometheus))
}

// prometheusOf returns the Prometheus server of a Site, as a configuration names one.
func prometheusOf(e *catalogv1alpha1.PrometheusEndpoint) configv1alpha1.Prometheus {
	out := configv1alpha1.Prometheus{Address: e.Address}
	if s := e.SecretRef; s != nil {
		out.SecretRef = &configv1alpha1.SecretReference{Namespace: s.Namespace, Name: s.Name}
	}
	if s := e.CABundleSecretRef; s != nil {
		in := configv1alpha1.SecretReference{Namespace: s.Namespace, Name: s.Name}
		out.CABundleSecretRef = &configv1alpha1.SecretKeyReference{SecretReference: in, Key: s.Key}
	}
	return out
}
