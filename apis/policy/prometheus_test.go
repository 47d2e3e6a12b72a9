package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// TestMetricsHost is of the server that the configuration of a namespace names. Who owns the namespace may write that.
func TestMetricsHost(t *testing.T) {
	refused := func(host string) string {
		return `ProviderConfig: spec.metrics.prometheus.address: "` + host + `" is not among the spec.metrics.allowedHosts of the Site`
	}
	const form = "ProviderConfig: spec.metrics.prometheus.address: must be an address with a host, and without a user"
	listed := []string{"prom.example.org", "other.example.org:9090", "http://plain.example.org:9090", "http://bare.example.org", "http://[fd00::1]"}
	cases := map[string]struct {
		reason  string
		kind    string
		address string
		none    bool
		own     bool
		want    string
	}{
		"Listed": {reason: "A host that an administrator lists may be asked.", address: "https://prom.example.org/x"},
		"Port":   {reason: "A listed host with a port may be asked at that port.", address: "https://other.example.org:9090"},
		"OtherPort": {
			reason:  "A listed host with a port may not be asked at another port.",
			address: "https://other.example.org", want: refused("https://other.example.org"),
		},
		"Other": {
			reason:  "A host that is not listed may be any machine, and is refused.",
			address: "https://etcd.example.org:2379", want: refused("https://etcd.example.org:2379"),
		},
		"Plain":    {reason: "A server without TLS gets no query.", address: "http://prom.example.org:443", want: refused("http://prom.example.org:443")},
		"PlainToo": {reason: "An address with plain HTTP is accepted where the list names it.", address: "http://plain.example.org:9090/x"},
		"PlainOnly": {
			reason:  "A host that is listed for plain HTTP may not be asked by HTTPS.",
			address: "https://plain.example.org:9090", want: refused("https://plain.example.org:9090"),
		},
		"PlainPort":  {reason: "Plain HTTP has a port of its own.", address: "http://bare.example.org"},
		"PlainOther": {reason: "Which is not that of HTTPS.", address: "http://bare.example.org:443", want: refused("http://bare.example.org:443")},
		"PlainIPv6":  {reason: "An IPv6 address of the list may be asked.", address: "http://[fd00::1]:80"},
		"User":       {reason: "A text before the host is easily taken for it.", address: "https://prom.example.org@evil.example", want: form},
		"Scheme":     {reason: "An address with another scheme than HTTP is refused.", address: "ftp://prom.example.org", want: form},
		"None": {
			reason:  "Without a list of addresses, none may be asked.",
			address: "https://prom.example.org", none: true, want: refused("https://prom.example.org"),
		},
		"OwnServer": {reason: "Where the Site has a server, it is asked.", address: "https://evil.example", own: true},
		"Clusters":  {reason: "An administrator's configuration needs no list.", kind: KindClusterProviderConfig, address: "http://any.example.org"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			site := &catalogv1alpha1.Site{}
			if !tc.none {
				site.Spec.Metrics = &catalogv1alpha1.SiteMetrics{AllowedHosts: listed}
			}
			if tc.own {
				site.Spec.Metrics.Prometheus = &catalogv1alpha1.PrometheusEndpoint{Address: "http://site"}
			}
			kind := KindProviderConfig
			if tc.kind != "" {
				kind = tc.kind
			}
			c := &configv1alpha1.ProviderConfigSpec{Metrics: &configv1alpha1.Metrics{Prometheus: &configv1alpha1.Prometheus{Address: tc.address}}}
			for _, named := range []string{"", tc.address} {
				if tc.own {
					named = ""
				}
				got := ""
				check := &deploymentv1alpha1.PrometheusCheck{Address: named}
				if err := CheckPrometheus(site, kind, c, check); err != nil {
					got = err.Error()
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("\n%s\nCheckPrometheus(%q, named as %q): -want error, +got error:\n%s", tc.reason, tc.address, named, diff)
				}
			}
		})
	}
}

func TestCheckMetricsServer(t *testing.T) {
	const refused = " is a loopback address, which is the provider's own machine: name an address that the provider's Pod reaches"
	cases := map[string]struct {
		reason            string
		site, config, own string
		want              string
	}{
		"Elsewhere": {reason: "A server on another machine is asked.", site: "http://prometheus.monitoring.svc:9090"},
		"Private":   {reason: "A private network is where Prometheus is.", site: "http://10.0.0.1:9090"},
		"Site": {
			reason: "The Site's field is named.",
			site:   "http://127.0.0.1:9090", want: `spec.metrics.prometheus.address of the Site: "127.0.0.1:9090"` + refused,
		},
		"Name": {
			reason: "The name localhost is a loopback address, in any case and below any name.",
			site:   "https://Prom.LocalHost./x", want: `spec.metrics.prometheus.address of the Site: "Prom.LocalHost."` + refused,
		},
		"IPv6": {
			reason: "The loopback address of IPv6 is refused.",
			site:   "http://[::1]:9090", want: `spec.metrics.prometheus.address of the Site: "[::1]:9090"` + refused,
		},
		"Mapped": {
			reason: "A loopback address of IPv4 that is mapped into IPv6 is refused.",
			site:   "http://[::ffff:127.0.0.2]", want: `spec.metrics.prometheus.address of the Site: "[::ffff:127.0.0.2]"` + refused,
		},
		"Config": {
			reason: "Without a server of the Site the field of the configuration is named.",
			config: "http://localhost:9090", want: `ClusterProviderConfig: spec.metrics.prometheus.address: "localhost:9090"` + refused,
		},
		"Overridden": {reason: "The server of a configuration that the Site overrides is not asked.", site: "http://prometheus", config: "http://localhost:9090"},
		"Own": {
			reason: "The check's own field is named.",
			site:   "http://prometheus", own: "https://localhost", want: `prometheus.address: "localhost"` + refused,
		},
		"Said": {
			reason: "A check that repeats the Site's address means that server.",
			site:   "http://localhost", own: "http://localhost", want: `spec.metrics.prometheus.address of the Site: "localhost"` + refused,
		},
		"Unreadable": {reason: "An address that cannot be read is refused elsewhere.", site: "http://[::1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			site, c := &catalogv1alpha1.Site{}, &configv1alpha1.ProviderConfigSpec{}
			if tc.site != "" {
				site.Spec.Metrics = &catalogv1alpha1.SiteMetrics{Prometheus: &catalogv1alpha1.PrometheusEndpoint{Address: tc.site}}
			}
			if tc.config != "" {
				c.Metrics = &configv1alpha1.Metrics{Prometheus: &configv1alpha1.Prometheus{Address: tc.config}}
			}
			check := &deploymentv1alpha1.PrometheusCheck{Address: tc.own}
			got := ""
			if err := CheckMetricsServer(site, KindClusterProviderConfig, c, check); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nCheckMetricsServer(...): -want error, +got error:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCheckPrometheus(t *testing.T) {
	site := &catalogv1alpha1.Site{}
	site.Spec.Metrics = &catalogv1alpha1.SiteMetrics{Prometheus: &catalogv1alpha1.PrometheusEndpoint{Address: "http://site"}}
	c := &configv1alpha1.ProviderConfigSpec{Metrics: &configv1alpha1.Metrics{Prometheus: &configv1alpha1.Prometheus{Address: "http://config"}}}
	cases := map[string]struct {
		reason  string
		address string
		want    string
	}{
		"Site":   {reason: "A check may name the server of its Site.", address: "http://site"},
		"Absent": {reason: "A check need not name a server.", address: ""},
		"Config": {
			reason: "A check may not name the server of the configuration where the Site has another one.", address: "http://config",
			want: "prometheus.address: must be an https address with a host, and without a user",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := CheckPrometheus(site, KindClusterProviderConfig, c, &deploymentv1alpha1.PrometheusCheck{Address: tc.address}); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCheckPrometheus(...): -want error, +got error:\n%s", tc.reason, diff)
			}
		})
	}
}
