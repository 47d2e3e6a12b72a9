package gate

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/credentials"
	"github.com/intentplane/intentplane/provider/gates/prometheus"
)

// Problems of a source, which a user may fix while the check runs.
const (
	problemNowhere = "neither the Site nor the configuration names a Prometheus server"
	problemAddress = "the address of the Prometheus server cannot be used"
	problemSecret  = "the Secret with the credentials of the Prometheus server, or a key of it, does not exist"
)

// A config is the configuration of a Gate.
type config struct {
	kind, namespace string
	spec            *configv1alpha1.ProviderConfigSpec
	// problem is why there is none, or none that this Gate may use.
	problem string
}

// configOf returns the configuration of a check, which is read once for all checks that have the same. It returns an error if the API server
// cannot be asked.
func (e *external) configOf(ctx context.Context, r *reconcileCache, c v1alpha1.GateCheck) (config, error) {
	ref := r.gate.ConfigOf(c)
	if ref == nil {
		return config{problem: "the Gate names no configuration"}, nil
	}
	if cached, ok := r.configs[*ref]; ok {
		return cached, nil
	}
	out, err := e.readConfig(ctx, r.gate, *ref)
	if err == nil {
		r.configs[*ref] = out
	}
	return out, err
}

// readConfig reads a configuration that a Gate may use. It returns an error if the API server cannot be asked.
func (e *external) readConfig(ctx context.Context, g *v1alpha1.Gate, ref xpv2.ProviderConfigReference) (config, error) {
	out := config{kind: policy.KindClusterProviderConfig}
	cluster := &configv1alpha1.ClusterProviderConfig{}
	var o client.Object = cluster
	out.spec = &cluster.Spec
	if ref.Kind == policy.KindProviderConfig {
		namespaced := &configv1alpha1.ProviderConfig{}
		o, out = namespaced, config{kind: ref.Kind, namespace: g.GetNamespace(), spec: &namespaced.Spec}
	}
	err := e.kube.Get(ctx, client.ObjectKey{Namespace: out.namespace, Name: ref.Name}, o)
	if kerrors.IsNotFound(err) {
		return config{problem: "the configuration does not exist"}, nil
	}
	if err != nil {
		return config{}, errors.Wrapf(err, "cannot get %s %q", out.kind, ref.Name)
	}
	if err := policy.CheckConfig(out.kind, out.spec, g.GetNamespace()); err != nil {
		return config{problem: err.Error()}, nil //nolint:nilerr // A refusal is an answer.
	}
	return out, nil
}

// deniedCheck returns why a check may not be made at a Site, or "".
func (c config) deniedCheck(site *catalogv1alpha1.Site, check v1alpha1.GateCheck) string {
	if c.problem != "" {
		return c.problem
	}
	k, err := kindOfCheck(check)
	if err == nil {
		err = k.allow(site, c, check)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// findServer returns the server that a Prometheus check is asked of: the check's own one, never with credentials; else the Site's; else the
// configuration's. It returns a problem if there is none, and an error if the API server cannot be asked.
func (e *external) findServer(ctx context.Context, c config, site *catalogv1alpha1.Site, address string) (answer, error) {
	if address != "" && address != policy.PrometheusAddress(site, c.spec) {
		u, err := prometheus.Base(address)
		if err != nil {
			return answer{problem: problemAddress}, nil //nolint:nilerr // It may hold a password.
		}
		return answer{server: prometheus.Server{Base: u}}, nil
	}
	if m := site.Spec.Metrics; m != nil && m.Prometheus != nil {
		return e.namedServer(ctx, siteConfig(), prometheusOf(m.Prometheus))
	}
	if m := c.spec.Metrics; m != nil && m.Prometheus != nil {
		return e.namedServer(ctx, c, *m.Prometheus)
	}
	return answer{problem: problemNowhere}, nil
}

// siteConfig is the configuration that a Site stands for, as trusted as a configuration of the cluster.
func siteConfig() config { return config{kind: policy.KindClusterProviderConfig} }

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

func (e *external) namedServer(ctx context.Context, c config, p configv1alpha1.Prometheus) (answer, error) {
	u, err := prometheus.Base(p.Address)
	if err != nil {
		return answer{problem: problemAddress}, nil //nolint:nilerr // It may hold a password.
	}
	k, err := credentials.ReadMetrics(ctx, e.kube, credentials.Config{Kind: c.kind, Namespace: c.namespace}, p)
	var (
		goneError *credentials.GoneError
		invalid   *credentials.InvalidError
	)
	switch {
	case errors.As(err, &goneError):
		return answer{problem: problemSecret + " (" + prometheus.Place(u) + ")", outage: true}, nil // Only readers of the Site may see the place.
	case errors.As(err, &invalid):
		return answer{problem: invalid.Error() + " (" + prometheus.Place(u) + ")", outage: true}, nil
	}
	return answer{server: prometheus.Server{Base: u, Credentials: k}}, err
}
