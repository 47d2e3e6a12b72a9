package gate

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/gates/endpoint"
)

func TestDeniedCheck(t *testing.T) {
	w := newWorld(t, quick("errors"))
	cases := map[string]struct {
		reason  string
		address string
		allow   []string
		want    string
	}{
		"Site": {reason: "The server of the Site is allowed."},
		"Own":  {reason: "A tenant's own server is allowed by its host.", address: "https://mine.example.org/p", allow: []string{"mine.example.org"}},
		"OwnDenied": {
			reason:  "A tenant's own server is not asked unless it is allowed.",
			address: "https://mine.example.org", allow: []string{"example.org"},
			want: `prometheus.address: host "mine.example.org" is not among the webCheckHosts of a ClusterProviderConfig`,
		},
		"OwnWithUser": {
			reason:  "An address with a user does not hide its host.",
			address: "https://mine.example.org@evil.example.org", allow: []string{"mine.example.org"},
			want: "prometheus.address: must be an https address with a host, and without a user",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := endpoint.ReadConfig(t.Context(), w.kube, *w.get().Spec.ProviderConfigReference, "team-a")
			w.must(err)
			c.Spec.Policy.WebCheckHosts = tc.allow
			own := quick("errors")
			own.Prometheus.Address = tc.address
			if diff := cmp.Diff(tc.want, deniedCheck(c, w.site(), own)); diff != "" {
				t.Errorf("%s\ndeniedCheck(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestConfigOfCheck has two checks of Sites with different repositories: each is under its own configuration.
func TestConfigOfCheck(t *testing.T) {
	missing := quick("latency")
	missing.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: "gone"}
	missing.ConsecutiveErrorLimit = new(int32(0))
	w := newWorld(t, quick("errors"), missing)
	w.reconcile()
	w.judged()
	if got := w.get().Status.AtProvider.Checks[1].Message; got != "the configuration does not exist" {
		t.Errorf("why the check of the other configuration did not pass: %q", got)
	}
}
