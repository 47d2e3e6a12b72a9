package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
)

func TestCheckWebHost(t *testing.T) {
	const form = "must be an https address with a host, and without a user"
	refused := func(host string) string {
		return `host "` + host + `" is not among the webCheckHosts of a ClusterProviderConfig`
	}
	c := &configv1alpha1.ProviderConfigSpec{Policy: configv1alpha1.Policy{
		WebCheckHosts: []string{"Status.example.org", "other.example.org:8443", "::1", "[fd00::1]:9000"},
	}}
	cases := map[string]struct {
		reason  string
		kind    string
		address string
		want    string
	}{
		"Named":     {reason: "A host that is named is asked.", address: "https://status.example.org/x?y=z"},
		"Case":      {reason: "Names of hosts have no case, and may end in a dot.", address: "https://STATUS.example.org./x"},
		"ItsPort":   {reason: "The port of HTTPS may be said.", address: "https://status.example.org:443/x"},
		"OtherPort": {reason: "A server at another port is another server.", address: "https://status.example.org:8443/x", want: refused("status.example.org:8443")},
		"NamedPort": {reason: "A port may be named.", address: "https://other.example.org:8443/x"},
		"NoPort": {
			reason:  "A host that is listed with a port may not be asked at the default port.",
			address: "https://other.example.org/x", want: refused("other.example.org"),
		},
		"IPv6":     {reason: "An IPv6 address of the list may be asked.", address: "https://[::1]/x"},
		"IPv6Port": {reason: "An IPv6 address of the list with a port may be asked at that port.", address: "https://[fd00::1]:9000/x"},
		"Below":    {reason: "A host below it is another one.", address: "https://a.status.example.org/x", want: refused("a.status.example.org")},
		"Behind": {
			reason:  "A host that only begins so is another one.",
			address: "https://status.example.org.evil.example/x", want: refused("status.example.org.evil.example"),
		},
		"User":       {reason: "A text before the host is easily taken for it.", address: "https://status.example.org@evil.example/x", want: form},
		"Plain":      {reason: "A server without TLS gets no request.", address: "http://status.example.org/x", want: form},
		"NoHost":     {reason: "An address without a host is refused.", address: "https:///x", want: form},
		"Unreadable": {reason: "A malformed address gets no request.", address: "https://[::1/x", want: form},
		"Namespaced": {
			reason: "A tenant does not say which hosts are asked.",
			kind:   KindProviderConfig, address: "https://status.example.org/x", want: refused("status.example.org"),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kind := KindClusterProviderConfig
			if tc.kind != "" {
				kind = tc.kind
			}
			got := ""
			if err := CheckWebHost(kind, c, tc.address); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCheckWebHost(%q): -want error, +got error:\n%s", tc.reason, tc.address, diff)
			}
		})
	}
}
