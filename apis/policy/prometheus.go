package policy

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// CheckOwnQuery returns an error, which names the field of the check, when a check may not have a query that is not from a Blueprint. A server shows all of its
// series to each client, so that its owner may allow the metrics of Blueprints only. A server that the check itself names gets no credentials, so that every
// query is allowed there.
func CheckOwnQuery(site *catalogv1alpha1.Site, c *configv1alpha1.ProviderConfigSpec, p *deploymentv1alpha1.PrometheusCheck) error {
	if p.Address != "" && p.Address != PrometheusAddress(site, c) {
		return nil
	}
	if m := site.Spec.Metrics; m != nil && m.OwnQueries == catalogv1alpha1.OwnQueriesDeny {
		return errors.New("prometheus.query: spec.metrics.ownQueries of the Site lets it be asked by the metrics of Blueprints only")
	}
	if c.Policy.OwnQueries == configv1alpha1.OwnQueriesDeny {
		return errors.New("prometheus.query: spec.policy.ownQueries of the configuration lets servers be asked by the metrics of Blueprints only")
	}
	return nil
}

// PrometheusAddress returns the address of the Prometheus server of a Site, or else that of its configuration, or "".
func PrometheusAddress(site *catalogv1alpha1.Site, c *configv1alpha1.ProviderConfigSpec) string {
	if m := site.Spec.Metrics; m != nil && m.Prometheus != nil {
		return m.Prometheus.Address
	}
	if c.Metrics != nil && c.Metrics.Prometheus != nil {
		return c.Metrics.Prometheus.Address
	}
	return ""
}

// CheckPrometheus returns an error, which names the field of the check, when a check has no Prometheus server, or may not query it. A check may name another
// server if its host is among the webCheckHosts.
func CheckPrometheus(site *catalogv1alpha1.Site, configKind string, c *configv1alpha1.ProviderConfigSpec, p *deploymentv1alpha1.PrometheusCheck) error {
	allowed, address := PrometheusAddress(site, c), p.Address
	if address == "" && allowed == "" {
		return errors.Errorf("prometheus.address: no Prometheus server is configured: set spec.metrics.prometheus.address in Site %q, or in the %s of its repository",
			site.GetName(), configKind)
	}
	if address != "" && address != allowed {
		return errors.Wrap(CheckWebHost(configKind, c, address), "prometheus.address")
	}
	if configKind == KindClusterProviderConfig || site.Spec.Metrics != nil && site.Spec.Metrics.Prometheus != nil {
		return nil
	}
	return errors.Wrapf(checkMetricsHost(site, allowed), "%s: spec.metrics.prometheus.address", configKind)
}

// CheckMetricsServer returns an error, which names the field, when the address of a check's Prometheus server is a loopback address: the provider's own
// machine. A host name that resolves to one is refused by the provider when it connects.
func CheckMetricsServer(site *catalogv1alpha1.Site, configKind string, c *configv1alpha1.ProviderConfigSpec, p *deploymentv1alpha1.PrometheusCheck) error {
	field, address := "prometheus.address", p.Address
	if allowed := PrometheusAddress(site, c); address == "" || address == allowed {
		field, address = configKind+": spec.metrics.prometheus.address", allowed
		if m := site.Spec.Metrics; m != nil && m.Prometheus != nil {
			field = "spec.metrics.prometheus.address of the Site"
		}
	}
	u, err := url.Parse(address)
	if err != nil || !IsLoopbackHost(u.Hostname()) {
		return nil //nolint:nilerr // Another check refuses an unreadable value.
	}
	return errors.Errorf("%s: %q is a loopback address, which is the provider's own machine: name an address that the provider's Pod reaches", field, u.Host)
}

// IsLoopbackHost reports whether a host is the machine of the client itself. RFC 6761 reserves localhost, and the names below it, for that.
func IsLoopbackHost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.WithZone("").Unmap().IsLoopback()
}

// checkMetricsHost returns an error when the configuration of a namespace names a server that the Site does not list. The owner of the namespace
// writes that configuration, and could else direct the provider to any machine that it reaches.
func checkMetricsHost(site *catalogv1alpha1.Site, address string) error {
	const plain, schemePlain = "http://", "http"
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Scheme != "https" && u.Scheme != schemePlain {
		return errors.New("must be an address with a host, and without a user")
	}
	host := joinHostPort(u.Hostname(), u.Port())
	if u.Scheme == schemePlain && u.Port() == "" {
		host = joinHostPort(u.Hostname(), portHTTP)
	}
	for _, entry := range allowedMetricsHosts(site) {
		named, isPlain := strings.CutPrefix(entry, plain)
		listed := hostOfEntry(named)
		if _, _, err := net.SplitHostPort(named); isPlain && err != nil {
			listed = joinHostPort(strings.Trim(named, "[]"), portHTTP)
		}
		if isPlain == (u.Scheme == schemePlain) && host == listed {
			return nil
		}
	}
	return errors.Errorf("%q is not among the spec.metrics.allowedHosts of the Site", u.Scheme+"://"+u.Host)
}

func allowedMetricsHosts(site *catalogv1alpha1.Site) []string {
	if m := site.Spec.Metrics; m != nil {
		return m.AllowedHosts
	}
	return nil
}
