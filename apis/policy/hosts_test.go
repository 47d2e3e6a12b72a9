package policy

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

func TestCheckHosts(t *testing.T) {
	const (
		http    = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: shop}\nspec: "
		ingress = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: shop}\nspec: "
		older   = "apiVersion: extensions/v1beta1\nkind: Ingress\nmetadata: {name: shop}\nspec: "
	)
	ofTeam := []catalogv1alpha1.RouteHosts{
		{Namespaces: []string{"team-a"}, Hosts: []string{"shop.example.org", "*.team-a.example.org"}},
		{Namespaces: []string{"team-b"}, Hosts: []string{"*.team-b.example.org"}},
	}
	cases := map[string]struct {
		reason string
		hosts  []catalogv1alpha1.RouteHosts
		object string
		want   string
	}{
		"Unlimited": {reason: "A Site without routeHosts leaves each host to each namespace.", object: http + "{hostnames: [other.example.org]}"},
		"Own": {
			reason: "A namespace may route its hosts, and names below its domain.",
			hosts:  ofTeam, object: http + "{hostnames: [shop.example.org, api.v2.team-a.example.org]}",
		},
		"Case":     {reason: "Hosts are the same in capitals.", hosts: ofTeam, object: http + "{hostnames: [Shop.Example.org]}"},
		"Wildcard": {reason: "A namespace may route all names below its domain.", hosts: ofTeam, object: http + `{hostnames: ["*.team-a.example.org"]}`},
		"Wider": {
			reason: "A wildcard that stands for more is refused.",
			hosts:  ofTeam, object: http + `{hostnames: ["*.example.org"]}`, want: `host "*.example.org"`,
		},
		"Foreign": {
			reason: "A host of another namespace is refused, and the message says which are left.",
			hosts:  ofTeam, object: http + "{hostnames: [shop.example.org, web.team-b.example.org]}",
			want: `host "web.team-b.example.org": spec.routeHosts of Site "edge1" leaves namespace "team-a" shop.example.org, *.team-a.example.org`,
		},
		"Domain": {
			reason: "The domain itself is not below itself.",
			hosts:  ofTeam, object: http + "{hostnames: [team-a.example.org]}", want: `host "team-a.example.org"`,
		},
		"Suffix": {
			reason: "A name that merely ends like the domain is refused.",
			hosts:  ofTeam, object: http + "{hostnames: [xteam-a.example.org]}", want: `host "xteam-a.example.org"`,
		},
		"Each": {reason: "A route without a host takes each one.", hosts: ofTeam, object: http + "{}", want: "it takes requests to each host"},
		"Strange": {
			reason: "A value that is not a list of hosts counts as none.",
			hosts:  ofTeam, object: http + "{hostnames: {a: b}}", want: "it takes requests to each host",
		},
		"Star": {
			reason: "A namespace may be left all hosts.",
			hosts:  []catalogv1alpha1.RouteHosts{{Namespaces: []string{"*"}, Hosts: []string{"*"}}}, object: http + "{}",
		},
		"None": {
			reason: "A namespace that is not named gets no host.",
			hosts:  ofTeam[1:], object: http + "{hostnames: [shop.example.org]}", want: `leaves namespace "team-a" no host`,
		},
		"Ingress": {
			reason: "The hosts of an Ingress are in its rules.",
			hosts:  ofTeam, object: ingress + "{rules: [{host: shop.example.org}, {host: b.example.org}]}", want: `host "b.example.org"`,
		},
		"IngressOwn": {reason: "An Ingress with hosts of the namespace is taken.", hosts: ofTeam, object: ingress + "{rules: [{host: shop.example.org}]}"},
		"IngressRule": {
			reason: "A rule without a host takes each one.",
			hosts:  ofTeam, object: ingress + "{rules: [{http: {}}]}", want: "it takes requests to each host",
		},
		"IngressRest": {
			reason: "A default backend takes each host.",
			hosts:  ofTeam, object: ingress + "{defaultBackend: {}, rules: [{host: shop.example.org}]}", want: "it takes requests to each host",
		},
		"IngressOlder": {
			reason: "An Ingress of the group of older clusters routes requests as well.",
			hosts:  ofTeam, object: older + "{rules: [{host: shop.example.org}, {host: b.example.org}]}", want: `host "b.example.org"`,
		},
		"IngressOlderOwn": {
			reason: "An Ingress of that group with hosts of the namespace is taken.",
			hosts:  ofTeam, object: older + "{rules: [{host: shop.example.org}]}",
		},
		"IngressOlderRest": {
			reason: "The default backend of version v1beta1 takes each host.",
			hosts:  ofTeam, object: older + "{backend: {serviceName: shop}, rules: [{host: shop.example.org}]}", want: "it takes requests to each host",
		},
		"Service": {reason: "An object without routes has no host.", hosts: ofTeam, object: "apiVersion: v1\nkind: Service\nmetadata: {name: shop}\nspec: {}"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			site := &catalogv1alpha1.Site{Spec: catalogv1alpha1.SiteSpec{RouteHosts: tc.hosts}}
			site.SetName("edge1")
			o := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(tc.object), &o.Object); err != nil {
				t.Fatal(err)
			}
			err := checkRouteHosts(Input{Site: site, Claim: rolloutv1alpha1.ClaimReference{Namespace: "team-a"}}, o)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("\n%s\ncheckHosts(...): want %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// TestCheckHostsWithoutNamespace has a route that names no namespace, at a Site that takes such objects: whether it is in one is for its definition to say, and its
// host is checked in any case.
func TestCheckHostsWithoutNamespace(t *testing.T) {
	site := &catalogv1alpha1.Site{Spec: catalogv1alpha1.SiteSpec{
		RouteHosts:       []catalogv1alpha1.RouteHosts{{Namespaces: []string{"team-b"}, Hosts: []string{"shop.example.org"}}},
		TargetNamespaces: catalogv1alpha1.TargetNamespaces{ClusterScoped: catalogv1alpha1.ClusterScopedAllow},
	}}
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte("apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: shop}\nspec: {hostnames: [shop.example.org]}"), &o.Object); err != nil {
		t.Fatal(err)
	}
	config := &configv1alpha1.ProviderConfigSpec{}
	config.Policy.AllowedKinds = []configv1alpha1.KindSet{{Group: "gateway.networking.k8s.io", Kinds: []string{"HTTPRoute"}}}
	err := checkLimits(Input{Site: site, ConfigKind: KindClusterProviderConfig, Config: config, Claim: rolloutv1alpha1.ClaimReference{Namespace: "team-a"}}, o)
	if err == nil || !strings.Contains(err.Error(), "spec.routeHosts") {
		t.Errorf("checkLimits(...): want an error about spec.routeHosts, got %v", err)
	}
}
