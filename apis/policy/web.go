package policy

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// Ports of hosts that are named without a port.
const (
	portHTTPS = "443"
	portHTTP  = "80"
)

// CheckWebHost returns an error when a check may not send requests to an address. Only a ClusterProviderConfig allows addresses: its
// webCheckHosts are names, for the port of HTTPS, or names with a port.
func CheckWebHost(configKind string, c *configv1alpha1.ProviderConfigSpec, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return errors.New("must be an https address with a host, and without a user")
	}
	host := joinHostPort(u.Hostname(), u.Port())
	allowed := func(entry string) bool { return host == hostOfEntry(entry) }
	if configKind != KindClusterProviderConfig || !slices.ContainsFunc(c.Policy.WebCheckHosts, allowed) {
		return errors.Errorf("host %q is not among the webCheckHosts of a ClusterProviderConfig", u.Host)
	}
	return nil
}

// hostOfEntry is a host of the policy, with its port.
func hostOfEntry(entry string) string {
	if host, port, err := net.SplitHostPort(entry); err == nil {
		return joinHostPort(host, port)
	}
	return joinHostPort(strings.Trim(entry, "[]"), "")
}

func joinHostPort(host, port string) string {
	if port == "" {
		port = portHTTPS
	}
	return net.JoinHostPort(strings.ToLower(strings.TrimSuffix(host, ".")), port)
}

// CheckWeb returns an error, which names the field of the check, when a check may not send requests to its web server.
func CheckWeb(configKind string, c *configv1alpha1.ProviderConfigSpec, w *deploymentv1alpha1.WebCheck) error {
	return errors.Wrap(CheckWebHost(configKind, c, w.URL), "web.url")
}
