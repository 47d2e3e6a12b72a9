package policy

import (
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// Ports where a host is asked that is named without one.
const (
	portHTTPS = "443"
	portHTTP  = "80"
)

// CheckGateCheck returns an error, which names the field of the check, when a check may not be made at a Site, or cannot: for want of a
// server to ask, or of a place for its Job.
func CheckGateCheck(site *catalogv1alpha1.Site, configKind string, c *configv1alpha1.ProviderConfigSpec, check *deploymentv1alpha1.Check) error {
	switch {
	case check.Prometheus != nil:
		return checkPrometheus(site, configKind, c, check.Prometheus.Address)
	case check.Job != nil:
		return errors.Wrap(checkJob(site, check.Job), "job")
	case check.Web != nil:
		return errors.Wrap(CheckWebHost(configKind, c, check.Web.URL), "web.url")
	}
	return errors.New("type: one of prometheus, job and web must be set")
}

// CheckOwnQuery returns an error, which names the field of the check, when a check may not ask a query that is not a Blueprint's. A
// server shows all of its series to whoever asks, so that its owner may leave the metrics of Blueprints alone. A server of the check's
// own is asked without credentials, and is another matter.
func CheckOwnQuery(site *catalogv1alpha1.Site, c *configv1alpha1.ProviderConfigSpec, check *deploymentv1alpha1.Check) error {
	p := check.Prometheus
	if p == nil || p.Address != "" && p.Address != PrometheusAddress(site, c) {
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

// PrometheusAddress is where a Site's metrics are asked for, or none.
func PrometheusAddress(site *catalogv1alpha1.Site, c *configv1alpha1.ProviderConfigSpec) string {
	if m := site.Spec.Metrics; m != nil && m.Prometheus != nil {
		return m.Prometheus.Address
	}
	if c.Metrics != nil && c.Metrics.Prometheus != nil {
		return c.Metrics.Prometheus.Address
	}
	return ""
}

// checkPrometheus lets a check name a server of its own where it may ask that host anything.
func checkPrometheus(site *catalogv1alpha1.Site, configKind string, c *configv1alpha1.ProviderConfigSpec, address string) error {
	known := PrometheusAddress(site, c)
	if address == "" && known == "" {
		return errors.Errorf("prometheus.address: there is no server to ask: set spec.metrics.prometheus.address in Site %q, or in the %s of its repository",
			site.GetName(), configKind)
	}
	if address != "" && address != known {
		return errors.Wrap(CheckWebHost(configKind, c, address), "prometheus.address")
	}
	if configKind == KindClusterProviderConfig || site.Spec.Metrics != nil && site.Spec.Metrics.Prometheus != nil {
		return nil
	}
	return errors.Wrapf(checkMetricsHost(site, known), "%s: spec.metrics.prometheus.address", configKind)
}

// CheckMetricsServer returns an error, which names the field, when a check would ask a Prometheus server that is on the provider's own machine by
// its address. A name that leads there is found by the provider when it asks, and nothing is judged then.
func CheckMetricsServer(site *catalogv1alpha1.Site, configKind string, c *configv1alpha1.ProviderConfigSpec, check *deploymentv1alpha1.Check) error {
	if check.Prometheus == nil {
		return nil
	}
	field, address := "prometheus.address", check.Prometheus.Address
	if known := PrometheusAddress(site, c); address == "" || address == known {
		field, address = configKind+": spec.metrics.prometheus.address", known
		if m := site.Spec.Metrics; m != nil && m.Prometheus != nil {
			field = "spec.metrics.prometheus.address of the Site"
		}
	}
	u, err := url.Parse(address)
	if err != nil || !isLoopback(u.Hostname()) {
		return nil //nolint:nilerr // What cannot be read is refused by others.
	}
	return errors.Errorf("%s: %q is a loopback address, which is the provider's own machine: name one that the provider's Pod reaches", field, u.Host)
}

// isLoopback reports whether a host is the machine of whoever asks it. The name localhost, and those below it, are that by RFC 6761.
func isLoopback(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.WithZone("").Unmap().IsLoopback()
}

// checkMetricsHost lets the configuration of a namespace, which who owns the namespace may write, name the servers that a Site lists. Else it
// would lead to any machine that the provider can reach.
func checkMetricsHost(site *catalogv1alpha1.Site, address string) error {
	const plain, schemePlain = "http://", "http"
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Scheme != "https" && u.Scheme != schemePlain {
		return errors.New("must be an address with a host, and without a user")
	}
	host := withPort(u.Hostname(), u.Port())
	if u.Scheme == schemePlain && u.Port() == "" {
		host = withPort(u.Hostname(), portHTTP)
	}
	for _, entry := range hostsOf(site) {
		named, isPlain := strings.CutPrefix(entry, plain)
		listed := entryHost(named)
		if _, _, err := net.SplitHostPort(named); isPlain && err != nil {
			listed = withPort(strings.Trim(named, "[]"), portHTTP)
		}
		if isPlain == (u.Scheme == schemePlain) && host == listed {
			return nil
		}
	}
	return errors.Errorf("%q is not among the spec.metrics.allowedHosts of the Site", u.Scheme+"://"+u.Host)
}

func hostsOf(site *catalogv1alpha1.Site) []string {
	if m := site.Spec.Metrics; m != nil {
		return m.AllowedHosts
	}
	return nil
}

// CheckWebHost returns an error when a check may not ask an address. Only a ClusterProviderConfig says which ones may be asked: its
// webCheckHosts are names, for the port of HTTPS, or names with a port.
func CheckWebHost(configKind string, c *configv1alpha1.ProviderConfigSpec, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return errors.New("must be an https address with a host, and without a user")
	}
	host := withPort(u.Hostname(), u.Port())
	allowed := func(entry string) bool { return host == entryHost(entry) }
	if configKind != KindClusterProviderConfig || !slices.ContainsFunc(c.Policy.WebCheckHosts, allowed) {
		return errors.Errorf("host %q is not among the webCheckHosts of a ClusterProviderConfig", u.Host)
	}
	return nil
}

// entryHost is a host of the policy, with its port.
func entryHost(entry string) string {
	if host, port, err := net.SplitHostPort(entry); err == nil {
		return withPort(host, port)
	}
	return withPort(strings.Trim(entry, "[]"), "")
}

func withPort(host, port string) string {
	if port == "" {
		port = portHTTPS
	}
	return net.JoinHostPort(strings.ToLower(strings.TrimSuffix(host, ".")), port)
}

// checkJob takes images letter for letter, or all of them, and no service account but the Site's.
func checkJob(site *catalogv1alpha1.Site, job *deploymentv1alpha1.JobCheck) error {
	p := site.Spec.PostCheck
	switch {
	case p == nil:
		return errors.New("the Site has no spec.postCheck, so that no Job runs there")
	case !allows(p.AllowedImages, job.Image):
		return errors.Errorf("image: %q is not among the spec.postCheck.allowedImages of the Site", job.Image)
	case job.ServiceAccountName != "" && job.ServiceAccountName != p.ServiceAccountName:
		return errors.Errorf("serviceAccountName: must be absent, or %q as the Site says", p.ServiceAccountName)
	}
	return nil
}
