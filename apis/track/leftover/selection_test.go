package leftover

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestServiceNames has objects with the name of the Service, which says nothing about a workload.
func TestServiceNames(t *testing.T) {
	const leads = "leads to Service shop/web, which has the pods of one track at a time"
	cases := map[string]struct {
		reason, apiVersion, kind, name string
		want                           []string
	}{
		"ServiceExport": {
			reason:     "A ServiceExport has the name of its Service.",
			apiVersion: "multicluster.x-k8s.io/v1alpha1", kind: "ServiceExport", name: "web", want: []string{"ServiceExport shop/web: metadata.name: " + leads},
		},
		"ServiceDefaults": {
			reason:     "The defaults of Consul have the name of their Service.",
			apiVersion: "consul.hashicorp.com/v1alpha1", kind: "ServiceDefaults", name: "web", want: []string{"ServiceDefaults shop/web: metadata.name: " + leads},
		},
		"ServiceSplitter": {
			reason:     "A split of Consul has the name of the Service whose requests it divides.",
			apiVersion: "consul.hashicorp.com/v1alpha1", kind: "ServiceSplitter", name: "web", want: []string{"ServiceSplitter shop/web: metadata.name: " + leads},
		},
		"ServiceProfile": {
			reason:     "A ServiceProfile of Linkerd has the DNS name of its Service.",
			apiVersion: "linkerd.io/v1alpha2", kind: "ServiceProfile", name: "web.shop.svc.cluster.local",
			want: []string{"ServiceProfile shop/web.shop.svc.cluster.local: metadata.name: " + leads},
		},
		"OtherProfile": {
			reason:     "The DNS name of another Service leads elsewhere.",
			apiVersion: "linkerd.io/v1alpha2", kind: "ServiceProfile", name: "web.other.svc.cluster.local", want: []string{},
		},
		"ConfigMap": {reason: "A ConfigMap may have the name of a Service.", apiVersion: "v1", kind: "ConfigMap", name: "web", want: []string{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := leftoversOf(t, map[string]string{"x.yaml": manifest(tc.apiVersion, tc.kind, tc.name, "")}, nil)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nLeftovers: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestMirror has the route of the tracks mirror requests.
func TestMirror(t *testing.T) {
	filter := "    filters: [{type: RequestMirror, requestMirror: {backendRef: {name: web, port: 80}}}]\n"
	cases := map[string]struct {
		reason, route string
		want          []string
	}{
		"Service": {
			reason: "Mirrored requests have no weights, and go to the pods of one track.", route: webRoute + filter,
			want: []string{
				"HTTPRoute shop/web: spec.rules[0].filters[0].requestMirror.backendRef.name: leads to Service shop/web, which has the pods of one track at a time",
			},
		},
		"Other": {
			reason: "Another Service may get the mirrored requests.",
			route:  webRoute + strings.Replace(filter, "name: web", "name: shadow", 1), want: []string{},
		},
		"Plain": {reason: "A route without a mirror has weights alone.", route: webRoute, want: []string{}},
		"Mesh": {
			reason: "The route of a mesh belongs to the Service whose requests it divides.",
			route:  strings.Replace(webRoute, "spec:\n", "spec:\n  parentRefs: [{kind: Service, group: '', name: web}]\n", 1), want: []string{},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := leftoversOf(t, map[string]string{"httproute-web.yaml": tc.route, "service-web.yaml": webWithLabels}, nil)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nLeftovers: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
