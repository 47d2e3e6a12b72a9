package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

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
		"Absent": {reason: "A check need not name a server.", check: asks("")},
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
