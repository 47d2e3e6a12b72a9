package policy

import (
	"net/url"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// CheckNotificationHost returns an error when a notification may not be posted to an address. The administrator who writes a ClusterProviderConfig decides
// on its hosts. Hosts of ProviderConfigs have to be allowed: names, or *. and a domain for all names below it, for the port of HTTPS, or with another port.
func CheckNotificationHost(configKind string, allowed []string, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return errors.New("must be an https address with a host, and without a user")
	}
	host := joinHostPort(u.Hostname(), u.Port())
	matches := func(entry string) bool { return matchesHost(hostOfEntry(entry), host) }
	if configKind != KindClusterProviderConfig && !slices.ContainsFunc(allowed, matches) {
		return errors.Errorf("host %q is not one to which the administrator lets notifications of ProviderConfigs be posted (--notification-hosts of the provider)", u.Host)
	}
	return nil
}
