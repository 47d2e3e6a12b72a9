package policy

import (
	"net"
	"net/url"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
)

// CheckWeb returns an error unless the users of a configuration may let a server be asked whose address is their own. An entry of
// webCheckHosts is a host, which stands for the port that belongs to the scheme, or host:port. They count in a ClusterProviderConfig only.
func CheckWeb(kind string, c *configv1alpha1.ProviderConfigSpec, u *url.URL) error {
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	port := u.Port()
	if port == "" {
		port = defaultPort(u.Scheme)
	}
	if kind == KindClusterProviderConfig && host != "" {
		for _, entry := range c.Policy.WebCheckHosts {
			if entry = strings.ToLower(entry); entry == net.JoinHostPort(host, port) || strings.Trim(entry, "[]") == host && port == defaultPort(u.Scheme) {
				return nil
			}
		}
	}
	return errors.New("spec.policy.webCheckHosts: the configuration does not allow checks to ask this host")
}
