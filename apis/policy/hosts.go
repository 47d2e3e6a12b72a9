package policy

import (
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

// wildcard is the prefix of a host that stands for all names below it, as in routes of the Gateway API and in Ingresses.
const wildcard = "*."

// checkRouteHosts returns an error for a route with a host that the Site does not leave to the namespace. A Site without routeHosts leaves all to each.
func checkRouteHosts(in Input, o *unstructured.Unstructured) error {
	if len(in.Site.Spec.RouteHosts) == 0 {
		return nil
	}
	hosts, isRoute := hostsOfRoute(o)
	if !isRoute {
		return nil
	}
	allowed := allowedHosts(in.Site.Spec.RouteHosts, in.Claim.Namespace)
	for _, host := range hosts {
		if !slices.ContainsFunc(allowed, func(pattern string) bool { return includesHost(pattern, host) }) {
			return errors.Errorf("%s %q: %s: spec.routeHosts of Site %q leaves namespace %q %s",
				o.GroupVersionKind().GroupKind(), o.GetName(), describeHost(host), in.Site.GetName(), in.Claim.Namespace, describeHosts(allowed))
		}
	}
	return nil
}

// hostsOfRoute returns the hosts of an object that routes requests, and whether it does. A route without a host matches each host, and has the host "".
func hostsOfRoute(o *unstructured.Unstructured) (hosts []string, isRoute bool) {
	switch o.GroupVersionKind().GroupKind() {
	case schema.GroupKind{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute"}, schema.GroupKind{Group: "gateway.networking.k8s.io", Kind: "GRPCRoute"},
		schema.GroupKind{Group: "gateway.networking.k8s.io", Kind: "TLSRoute"}:
		return hostsInFields(o.Object, "spec", "hostnames"), true
	case schema.GroupKind{Group: "networking.k8s.io", Kind: "Ingress"}, schema.GroupKind{Group: "extensions", Kind: "Ingress"}:
		return hostsOfIngress(o), true
	}
	return nil, false
}

// hostsInFields returns a list of hosts. A value that is not a list of texts counts as the empty host, which matches each host.
func hostsInFields(object map[string]any, fields ...string) []string {
	hosts, _, err := unstructured.NestedStringSlice(object, fields...)
	if err != nil || len(hosts) == 0 {
		return []string{""}
	}
	return hosts
}

// hostsOfIngress returns the hosts of an Ingress of any version. Its default backend, which takes each host, is spec.backend in v1beta1.
func hostsOfIngress(o *unstructured.Unstructured) []string {
	var out []string
	for _, field := range []string{"defaultBackend", "backend"} {
		if _, isThere, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", field); isThere {
			out = append(out, "")
		}
	}
	rules, _, err := unstructured.NestedSlice(o.Object, "spec", "rules")
	if err != nil || len(rules) == 0 {
		return append(out, "")
	}
	for _, r := range rules {
		rule, _ := r.(map[string]any)
		host, _ := rule["host"].(string)
		out = append(out, host)
	}
	return out
}

// allowedHosts returns the hosts that a Site leaves to a namespace.
func allowedHosts(all []catalogv1alpha1.RouteHosts, namespace string) []string {
	var out []string
	for _, rule := range all {
		if containsOrStar(rule.Namespaces, namespace) {
			out = append(out, rule.Hosts...)
		}
	}
	return out
}

// includesHost reports whether a pattern stands for a host, or for all that a wildcard stands for.
func includesHost(pattern, host string) bool {
	pattern, host = strings.ToLower(pattern), strings.ToLower(host)
	switch {
	case pattern == every, pattern == host && host != "":
		return true
	case strings.HasPrefix(pattern, wildcard):
		return strings.HasSuffix(host, pattern[1:])
	}
	return false
}

func describeHost(host string) string {
	if host == "" {
		return "it takes requests to each host"
	}
	return "host \"" + host + "\""
}

func describeHosts(allowed []string) string {
	if len(allowed) == 0 {
		return "no host"
	}
	return strings.Join(allowed, ", ")
}
