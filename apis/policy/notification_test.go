package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCheckNotificationHost(t *testing.T) {
	const shape = "must be an https address with a host, and without a user"
	refused := func(host string) string {
		return `host "` + host + `" is not one to which the administrator lets notifications of ProviderConfigs be posted (--notification-hosts of the provider)`
	}
	cases := map[string]struct {
		reason  string
		kind    string
		allowed []string
		address string
		want    string
	}{
		"Administrator": {
			reason: "The administrator's own configuration posts to the host that it names.",
			kind:   KindClusterProviderConfig, address: "https://hooks.example.org/a",
		},
		"NoneAllowed": {
			reason: "No host is allowed by default.",
			kind:   KindProviderConfig, address: "https://hooks.example.org/a", want: refused("hooks.example.org"),
		},
		"Allowed": {
			reason: "A host is allowed by its name, whatever the letters' case.",
			kind:   KindProviderConfig, allowed: []string{"Hooks.example.org"}, address: "https://hooks.example.org./a",
		},
		"Below": {
			reason: "A pattern allows the names below a domain.",
			kind:   KindProviderConfig, allowed: []string{"*.example.org"}, address: "https://a.b.example.org/a",
		},
		"NotBelow": {
			reason: "A name that ends like the domain is not below it.",
			kind:   KindProviderConfig, allowed: []string{"*.example.org"}, address: "https://bexample.org/a", want: refused("bexample.org"),
		},
		"Domain": {
			reason: "A pattern does not allow the domain itself.",
			kind:   KindProviderConfig, allowed: []string{"*.example.org"}, address: "https://example.org/a", want: refused("example.org"),
		},
		"OtherPort": {
			reason: "A host is allowed for the port of HTTPS alone.",
			kind:   KindProviderConfig, allowed: []string{"hooks.example.org"}, address: "https://hooks.example.org:8443/a",
			want: refused("hooks.example.org:8443"),
		},
		"Port": {
			reason: "A host is allowed with its port.",
			kind:   KindProviderConfig, allowed: []string{"hooks.example.org:8443"}, address: "https://hooks.example.org:8443/a",
		},
		"Plain": {reason: "A notification is not posted in clear.", kind: KindClusterProviderConfig, address: "http://hooks.example.org/a", want: shape},
		"User": {
			reason: "An address with a user may look like another host.",
			kind:   KindClusterProviderConfig, address: "https://hooks.example.org@evil.example.com/a", want: shape,
		},
		"NoHost":     {reason: "An address without a host is refused.", kind: KindClusterProviderConfig, address: "https:///a", want: shape},
		"Unreadable": {reason: "An address that cannot be parsed is refused.", kind: KindClusterProviderConfig, address: "https://a b", want: shape},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := CheckNotificationHost(tc.kind, tc.allowed, tc.address); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCheckNotificationHost(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
