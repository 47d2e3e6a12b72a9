package gatewayapi

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/apis/track"
)

// canaryRoute is accepted by one controller for each of its two parents.
const canaryRoute = `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop, generation: 3}
spec:
  parentRefs:
  - {name: outside, namespace: gateways, sectionName: https}
  - {group: "", kind: Service, name: mesh, port: 80}
  rules:
  - backendRefs:
    - {name: web-blue, port: 80, weight: 80}
    - {name: web-green, port: 80, weight: 20}
status:
  parents:
  - controllerName: example.org/a
    parentRef: {group: gateway.networking.k8s.io, kind: Gateway, name: outside, namespace: gateways, sectionName: https}
    conditions:
    - {type: Accepted, status: "True", observedGeneration: 3, reason: Accepted}
    - {type: ResolvedRefs, status: "True", observedGeneration: 3, reason: ResolvedRefs}
  - controllerName: example.org/b
    parentRef: {group: "", kind: Service, name: mesh, namespace: shop, port: 80}
    conditions:
    - {type: ResolvedRefs, status: "True", observedGeneration: 3, reason: ResolvedRefs}
    - {type: Accepted, status: "True", observedGeneration: 3, reason: Accepted}
`

func TestRouteReason(t *testing.T) {
	const (
		waitAdvice = ": wait for this controller; if it is gone, remove its entry from status.parents of the route"
		unreported = ": no controller reports on the route: create the Gateway, or run a controller that takes routes of it"
		outside    = "HTTPRoute shop/web: Gateway gateways/outside, section https"
		gateway    = outside + ", by example.org/a: "
		accepted   = `{type: Accepted, status: "True", observedGeneration: 3, reason: Accepted}`
		resolved   = `{type: ResolvedRefs, status: "True", observedGeneration: 3, reason: ResolvedRefs}`
	)
	replace := func(old, replacement string) string { return strings.Replace(canaryRoute, old, replacement, 1) }
	secondParent := func(conditions string) string {
		return canaryRoute + "  - controllerName: example.org/c\n    parentRef: {name: outside, namespace: gateways, sectionName: https}\n    conditions: [" + conditions + "]\n"
	}
	cases := map[string]struct {
		reason  string
		route   string
		want    string
		message string
	}{
		"Proven":  {reason: "A route whose parents all accept its current generation proves its weights.", route: canaryRoute},
		"Missing": {reason: "A route that does not exist sends no requests.", want: ReasonRouteMissing, message: "HTTPRoute shop/web does not exist"},
		"Deleted": {
			reason: "A route that is being deleted does not count.", route: replace("generation: 3}", "generation: 3, deletionTimestamp: 2026-01-01T00:00:00Z}"),
			want: ReasonRouteMissing, message: "HTTPRoute shop/web is being deleted",
		},
		"OtherWeight": {
			reason: "Weights that were changed in the cluster are found.", route: replace("weight: 20", "weight: 50"),
			want: ReasonTrafficDiffers, message: "HTTPRoute shop/web: spec.rules[0]: weight 20 of Service web-green in Git differs from its weight in the cluster",
		},
		"DefaultWeight": {
			reason: "A weight that is left out is 1.", route: replace(", weight: 20", ""),
			want: ReasonTrafficDiffers, message: "HTTPRoute shop/web: spec.rules[0]: weight 20 of Service web-green in Git differs from its weight in the cluster",
		},
		"OtherRule": {
			reason: "Equal weights in another rule are different weights.", route: replace("  rules:\n", "  rules:\n  - matches: []\n"),
			want: ReasonTrafficDiffers, message: "HTTPRoute shop/web: spec.rules[0]: weight 80 of Service web-blue in Git differs from its weight in the cluster",
		},
		"Added": {
			reason: "A Service that was added in the cluster takes requests away.",
			route:  replace("  rules:\n  - backendRefs:\n", "  rules:\n  - backendRefs:\n    - {name: spy}\n"),
			want:   ReasonTrafficDiffers, message: "HTTPRoute shop/web: spec.rules[0]: Service spy is not in Git",
		},
		"NoParentRefs": {
			reason: "A route without a Gateway gets no requests.",
			route:  strings.Split(canaryRoute, "  parentRefs")[0] + "  rules" + strings.Split(canaryRoute, "  rules")[1],
			want:   ReasonRouteNotAccepted, message: "HTTPRoute shop/web: spec.parentRefs: the route names no Gateway",
		},
		"NoParents": {
			reason: "A status without parents is not a yes.", route: strings.Split(canaryRoute, "status:")[0],
			want: ReasonRouteNotAccepted, message: outside + unreported,
		},
		"CoreGroup": {
			reason: "A service mesh may write core for the group of Services, which is empty.",
			route:  strings.Replace(canaryRoute, `group: "", kind: Service, name: mesh, port`, "group: core, kind: Service, name: mesh, port", 1),
		},
		"GoneController": {
			reason: "The entry of a deleted controller names the controller that is waited for, and the action to take.",
			route:  secondParent(strings.ReplaceAll(accepted+", "+resolved, "observedGeneration: 3", "observedGeneration: 2")),
			want:   ReasonRouteNotAccepted, message: outside + ", by example.org/c: Accepted is for generation 2, and the route has 3" + waitAdvice,
		},
		"OneParent": {
			reason: "Each parent has to report.", route: replace("name: mesh, namespace: shop, port: 80", "name: mesh, namespace: shop, port: 81"),
			want: ReasonRouteNotAccepted,
			message: "HTTPRoute shop/web: Service mesh, port 80: no controller reports on the route: create the Service, or run a controller " +
				"that takes routes of it",
		},
		"SectionName": {
			reason: "A report on another listener does not count.",
			route:  replace("namespace: gateways, sectionName: https}\n    conditions", "namespace: gateways, sectionName: http}\n    conditions"),
			want:   ReasonRouteNotAccepted, message: outside + unreported,
		},
		"ParentNamespace": {
			reason: "A parent without a namespace is in the namespace of the route.", route: replace("name: mesh, namespace: shop", "name: mesh"),
		},
		"OtherNamespace": {
			reason: "A report on a Gateway of another namespace does not count.",
			route: replace(
				"name: outside, namespace: gateways, sectionName: https}\n    conditions", "name: outside, sectionName: https}\n    conditions",
			),
			want: ReasonRouteNotAccepted, message: outside + unreported,
		},
		"NotAccepted": {
			reason: "A Gateway may refuse a route.",
			route: replace(
				accepted, `{type: Accepted, status: "False", observedGeneration: 3, reason: NotAllowedByListeners, message: "no\nroutes"}`,
			),
			want: ReasonRouteNotAccepted, message: gateway + "Accepted is False: NotAllowedByListeners: no routes",
		},
		"Unknown": {
			reason: "A Gateway that has not decided has not accepted.",
			route:  replace(accepted, `{type: Accepted, status: Unknown, observedGeneration: 3, reason: Pending, message: wait}`),
			want:   ReasonRouteNotAccepted, message: gateway + "Accepted is Unknown: Pending: wait",
		},
		"NoAccepted": {
			reason: "A condition that is not reported is not true.", route: replace(accepted, resolved),
			want: ReasonRouteNotAccepted, message: gateway + "Accepted is not reported" + waitAdvice,
		},
		"OldGeneration": {
			reason: "The acceptance of a previous generation does not count for the present route.", route: replace("observedGeneration: 3", "observedGeneration: 2"),
			want: ReasonRouteNotAccepted, message: gateway + "Accepted is for generation 2, and the route has 3" + waitAdvice,
		},
		"NoGeneration": {
			reason: "A Gateway that does not report the generation proves nothing.", route: replace("observedGeneration: 3, ", ""),
			want:    ReasonRouteNotAccepted,
			message: gateway + "Accepted has no observedGeneration, so it may be about a route before generation 3: run a version of the controller that sets it",
		},
		"NotResolved": {
			reason: "A Gateway that does not find a Service sends its share of the requests nowhere.",
			route:  replace(resolved, `{type: ResolvedRefs, status: "False", observedGeneration: 3, reason: BackendNotFound, message: web-green}`),
			want:   ReasonRefsNotResolved, message: gateway + "ResolvedRefs is False: BackendNotFound: web-green",
		},
		"OldRefs": {
			reason: "References of an earlier generation do not count.",
			route:  replace(resolved, `{type: ResolvedRefs, status: "True", observedGeneration: 2, reason: ResolvedRefs}`),
			want:   ReasonRefsNotResolved, message: gateway + "ResolvedRefs is for generation 2, and the route has 3" + waitAdvice,
		},
		"PartiallyInvalid": {
			reason: "A Gateway may accept a route and ignore some of its rules.",
			route:  replace(accepted, accepted+"\n    - {type: PartiallyInvalid, status: \"True\", reason: UnsupportedValue, message: rule 0}"),
			want:   ReasonRouteNotAccepted, message: gateway + "PartiallyInvalid is True: UnsupportedValue: rule 0",
		},
		"PartiallyInvalidFalse": {
			reason: "A Gateway may say that the route is whole.", route: replace(accepted, accepted+"\n    - {type: PartiallyInvalid, status: \"False\"}"),
		},
		"TwoControllers": {reason: "Two controllers of one parent may both accept.", route: secondParent(accepted + ", " + resolved)},
		"SecondRefuses": {
			reason: "Each controller of a parent has to accept.", route: secondParent(resolved),
			want: ReasonRouteNotAccepted, message: outside + ", by example.org/c: Accepted is not reported" + waitAdvice,
		},
		"NoRefs": {
			reason: "A Gateway that has not looked for the Services proves nothing.", route: replace(resolved, accepted),
			want: ReasonRefsNotResolved, message: gateway + "ResolvedRefs is not reported" + waitAdvice,
		},
		"TwinGateways": {
			reason:  "Two Gateways of one name are told apart by their namespaces.",
			route:   replace("sectionName: https}\n", "sectionName: https}\n  - {name: outside, namespace: other}\n"),
			want:    ReasonRouteNotAccepted,
			message: "HTTPRoute shop/web: Gateway other/outside" + unreported,
		},
		"OwnNamespace": {
			reason: "A Gateway in the namespace of the route is named without it.",
			route:  replace("namespace: gateways, sectionName: https", "namespace: shop"),
			want:   ReasonRouteNotAccepted, message: "HTTPRoute shop/web: Gateway outside" + unreported,
		},
		"BadType": {
			reason: "A field of another type proves nothing.", route: replace("port: 80}\n  rules", "port: https}\n  rules"),
			want: ReasonRouteNotAccepted, message: "cannot read HTTPRoute: a field has an unexpected type",
		},
	}
	want := track.Route{Kind: "HTTPRoute", Namespace: "shop", Name: "web", Backends: []track.Backend{{Service: "web-blue", Weight: 80}, {Service: "web-green", Weight: 20}}}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			reason, message := RouteReason(want, decodeManifest(t, tc.route))
			if diff := cmp.Diff([]string{tc.want, tc.message}, []string{reason, message}); diff != "" {
				t.Errorf("\n%s\nRouteReason(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// decodeManifest returns an object as a client of the API server does, or nil for an empty text.
func decodeManifest(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	if text == "" {
		return nil
	}
	b, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(b); err != nil {
		t.Fatal(err)
	}
	return u
}

func TestWeighedServices(t *testing.T) {
	git := func(blue, green int64) track.Route {
		return track.Route{Kind: "HTTPRoute", Namespace: "shop", Name: "web", Backends: []track.Backend{{Service: "web-blue", Weight: blue}, {Service: "web-green", Weight: green}}}
	}
	cases := map[string]struct {
		reason string
		git    track.Route
		route  string
		want   []string
	}{
		"Same":    {reason: "A Service with the weight in Git is not named.", git: git(80, 20), route: canaryRoute},
		"Other":   {reason: "A Service that is to get requests is not named, however many it gets.", git: git(95, 5), route: canaryRoute},
		"Weighed": {reason: "A Service that gets requests although Git gives it none is named.", git: git(100, 0), route: canaryRoute, want: []string{"web-green"}},
		"Gone":    {reason: "A route that does not exist gives no requests."},
		"Unclear": {
			reason: "A weight that is not a number names no Service.",
			git:    git(100, 0), route: strings.Replace(canaryRoute, "weight: 20", "weight: many", 1),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var found *unstructured.Unstructured
			if tc.route != "" {
				b, err := yaml.YAMLToJSON([]byte(tc.route))
				if err != nil {
					t.Fatal(err)
				}
				found = &unstructured.Unstructured{}
				if err := found.UnmarshalJSON(b); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tc.want, WeighedServices(tc.git, found)); diff != "" {
				t.Errorf("\n%s\nWeighedServices(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDeletedRouteIsNotAccepted looks at a route whose parents accepted it before it was deleted.
func TestDeletedRouteIsNotAccepted(t *testing.T) {
	route := decodeManifest(t, strings.Replace(canaryRoute, "generation: 3}", "generation: 3, deletionTimestamp: 2026-01-01T00:00:00Z}", 1))
	reason, message := RouteAcceptance(route)
	if diff := cmp.Diff([]string{ReasonRouteMissing, "HTTPRoute shop/web is being deleted"}, []string{reason, message}); diff != "" {
		t.Errorf("\nA route that is being deleted is not accepted any more, whatever its parents report.\nRouteAcceptance(...): -want, +got:\n%s", diff)
	}
}

// TestHostileRouteIsNotAccepted decodes a route with more parents than the Gateway API allows, each of which accepted it or refused it.
func TestHostileRouteIsNotAccepted(t *testing.T) {
	for _, field := range []string{"  parentRefs:\n", "  parents:\n"} {
		items := strings.Repeat("  - {}\n", maxParents)
		route := decodeManifest(t, strings.Replace(strings.Replace(canaryRoute, field, field+items, 1), `"True"`, `"False"`, 1))
		reason, message := RouteAcceptance(route)
		want := []string{ReasonRouteNotAccepted, "spec.parentRefs or status.parents of the route has more than 32 items"}
		if diff := cmp.Diff(want, []string{reason, message}); diff != "" || RouteRefusal(route) != nil {
			t.Errorf("\nParents are not compared with the reports on them where both are too many.\nRouteAcceptance(...): refusal %v, -want, +got:\n%s", RouteRefusal(route), diff)
		}
	}
}
