package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
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
		"Named":      {reason: "A host that is named is asked.", address: "https://status.example.org/x?y=z"},
		"Case":       {reason: "Names of hosts have no case, and may end in a dot.", address: "https://STATUS.example.org./x"},
		"ItsPort":    {reason: "The port of HTTPS may be said.", address: "https://status.example.org:443/x"},
		"OtherPort":  {reason: "What listens elsewhere is something else.", address: "https://status.example.org:8443/x", want: refused("status.example.org:8443")},
		"NamedPort":  {reason: "A port may be named.", address: "https://other.example.org:8443/x"},
		"NoPort":     {reason: "Then it is that one alone.", address: "https://other.example.org/x", want: refused("other.example.org")},
		"IPv6":       {reason: "Addresses have colons.", address: "https://[::1]/x"},
		"IPv6Port":   {reason: "And ports.", address: "https://[fd00::1]:9000/x"},
		"Below":      {reason: "A host below it is another one.", address: "https://a.status.example.org/x", want: refused("a.status.example.org")},
		"Behind":     {reason: "A host that only begins so is another one.", address: "https://status.example.org.evil.example/x", want: refused("status.example.org.evil.example")},
		"User":       {reason: "What stands before the host is easily taken for it.", address: "https://status.example.org@evil.example/x", want: form},
		"Plain":      {reason: "What anybody could answer is not asked.", address: "http://status.example.org/x", want: form},
		"NoHost":     {reason: "Nobody is no host.", address: "https:///x", want: form},
		"Unreadable": {reason: "What cannot be read is not asked.", address: "https://[::1/x", want: form},
		"Namespaced": {reason: "A tenant does not say which hosts are asked.", kind: KindProviderConfig, address: "https://status.example.org/x", want: refused("status.example.org")},
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

func TestCheckGateCheck(t *testing.T) {
	site := &catalogv1alpha1.Site{}
	site.Spec.Metrics = &catalogv1alpha1.SiteMetrics{Prometheus: &catalogv1alpha1.PrometheusEndpoint{Address: "http://site"}}
	site.Spec.PostCheck = &catalogv1alpha1.SitePostCheck{ServiceAccountName: "checker", AllowedImages: []string{"*"}}
	c := &configv1alpha1.ProviderConfigSpec{Metrics: &configv1alpha1.Metrics{Prometheus: &configv1alpha1.Prometheus{Address: "http://config"}}}
	asks := func(address string) deploymentv1alpha1.Check {
		return deploymentv1alpha1.Check{Prometheus: &deploymentv1alpha1.PrometheusCheck{Address: address}}
	}
	cases := map[string]struct {
		reason string
		check  deploymentv1alpha1.Check
		want   string
	}{
		"Sites":  {reason: "The Site's own server may be named.", check: asks("http://site")},
		"Absent": {reason: "It need not be.", check: asks("")},
		"Configs": {
			reason: "Where a Site has a server, that of the configuration knows nothing of it.", check: asks("http://config"),
			want: "prometheus.address: must be an https address with a host, and without a user",
		},
		"AnyImage":  {reason: "A Site may run all images.", check: deploymentv1alpha1.Check{Job: &deploymentv1alpha1.JobCheck{Image: "x"}}},
		"SiteOwner": {reason: "Its account may be named.", check: deploymentv1alpha1.Check{Job: &deploymentv1alpha1.JobCheck{ServiceAccountName: "checker"}}},
		"Nothing":   {reason: "Not everything passed through a schema.", want: "type: one of prometheus, job and web must be set"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := CheckGateCheck(site, KindClusterProviderConfig, c, &tc.check); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCheckGateCheck(...): -want error, +got error:\n%s", tc.reason, diff)
			}
		})
	}
}

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
		"Listed":     {reason: "An administrator lists it.", address: "https://prom.example.org/x"},
		"Port":       {reason: "With its port.", address: "https://other.example.org:9090"},
		"OtherPort":  {reason: "And no other.", address: "https://other.example.org", want: refused("https://other.example.org")},
		"Other":      {reason: "What nobody lists may be any machine.", address: "https://etcd.example.org:2379", want: refused("https://etcd.example.org:2379")},
		"Plain":      {reason: "What anybody could answer is not asked.", address: "http://prom.example.org:443", want: refused("http://prom.example.org:443")},
		"PlainToo":   {reason: "Unless the list says so.", address: "http://plain.example.org:9090/x"},
		"PlainOnly":  {reason: "Then it speaks of nothing else.", address: "https://plain.example.org:9090", want: refused("https://plain.example.org:9090")},
		"PlainPort":  {reason: "Plain HTTP has a port of its own.", address: "http://bare.example.org"},
		"PlainOther": {reason: "Which is not that of HTTPS.", address: "http://bare.example.org:443", want: refused("http://bare.example.org:443")},
		"PlainIPv6":  {reason: "Addresses have colons.", address: "http://[fd00::1]:80"},
		"User":       {reason: "What stands before the host is easily taken for it.", address: "https://prom.example.org@evil.example", want: form},
		"Scheme":     {reason: "Nothing else is asked.", address: "ftp://prom.example.org", want: form},
		"None":       {reason: "Without a list nothing is.", address: "https://prom.example.org", none: true, want: refused("https://prom.example.org")},
		"OwnServer":  {reason: "Where the Site has a server, it is asked.", address: "https://evil.example", own: true},
		"Clusters":   {reason: "An administrator's configuration needs no list.", kind: KindClusterProviderConfig, address: "http://any.example.org"},
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
				check := &deploymentv1alpha1.Check{Prometheus: &deploymentv1alpha1.PrometheusCheck{Address: named}}
				if err := CheckGateCheck(site, kind, c, check); err != nil {
					got = err.Error()
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("\n%s\nCheckGateCheck(%q, named as %q): -want error, +got error:\n%s", tc.reason, tc.address, named, diff)
				}
			}
		})
	}
}

func TestCheckMetricsServer(t *testing.T) {
	const refused = " is a loopback address, which is the provider's own machine: name one that the provider's Pod reaches"
	cases := map[string]struct {
		reason            string
		site, config, own string
		withoutPrometheus bool
		want              string
	}{
		"Elsewhere":  {reason: "A server on another machine is asked.", site: "http://prometheus.monitoring.svc:9090"},
		"Private":    {reason: "A private network is where Prometheus is.", site: "http://10.0.0.1:9090"},
		"Site":       {reason: "The Site's field is named.", site: "http://127.0.0.1:9090", want: `spec.metrics.prometheus.address of the Site: "127.0.0.1:9090"` + refused},
		"Name":       {reason: "The name localhost is a loopback address, in any case and below any name.", site: "https://Prom.LocalHost./x", want: `spec.metrics.prometheus.address of the Site: "Prom.LocalHost."` + refused},
		"IPv6":       {reason: "So is the one of IPv6.", site: "http://[::1]:9090", want: `spec.metrics.prometheus.address of the Site: "[::1]:9090"` + refused},
		"Mapped":     {reason: "So is one of IPv4 in one of IPv6.", site: "http://[::ffff:127.0.0.2]", want: `spec.metrics.prometheus.address of the Site: "[::ffff:127.0.0.2]"` + refused},
		"Config":     {reason: "Without a server of the Site the field of the configuration is named.", config: "http://localhost:9090", want: `ClusterProviderConfig: spec.metrics.prometheus.address: "localhost:9090"` + refused},
		"Overridden": {reason: "The server of a configuration that the Site overrides is not asked.", site: "http://prometheus", config: "http://localhost:9090"},
		"Own":        {reason: "The check's own field is named.", site: "http://prometheus", own: "https://localhost", want: `prometheus.address: "localhost"` + refused},
		"Said":       {reason: "A check that repeats the Site's address means that server.", site: "http://localhost", own: "http://localhost", want: `spec.metrics.prometheus.address of the Site: "localhost"` + refused},
		"Web":        {reason: "A check without Prometheus asks none.", site: "http://localhost", withoutPrometheus: true},
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
			check := &deploymentv1alpha1.Check{Prometheus: &deploymentv1alpha1.PrometheusCheck{Address: tc.own}}
			if tc.withoutPrometheus {
				check.Prometheus = nil
			}
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
