package canary

import (
	"fmt"
	"strings"
	"testing"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/gatewayapi"
)

// TestReasons compares the provider's reason for a route with the status that a real gateway writes on it.
func TestReasons(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		change func(s *shop, files tree.Files)
		// want is the beginning of the provider's answer, and message a part of it.
		want, message string
		// failing is true where requests fail although the gateway reports that all is well.
		failing bool
	}{
		"Proven": {reason: "A route that the gateway takes, and whose Services it finds, is proven.", change: func(*shop, tree.Files) {}},
		"OtherListener": {
			reason:  "A listener that the Gateway does not have takes no route.",
			change:  withRouteEdited("namespace: gateways", "namespace: gateways\n    sectionName: other"),
			want:    gatewayapi.ReasonRouteNotAccepted,
			message: "Gateway gateways/web, section other, by traefik.io/gateway-controller: Accepted is False: NoMatchingParent",
		},
		"RefusingGateway": {
			reason: "A Gateway may refuse routes of the namespace.",
			change: withRouteEdited("name: web\n    namespace: gateways", "name: refusing\n    namespace: gateways"),
			want:   gatewayapi.ReasonRouteNotAccepted, message: "Gateway gateways/refusing, by traefik.io/gateway-controller: Accepted is False: NotAllowedByListeners",
		},
		"MissingGateway": {
			reason:  "No controller reports on a route whose Gateway does not exist, and an earlier report does not count.",
			change:  withRouteEdited("name: web\n    namespace: gateways", "name: missing\n    namespace: gateways"),
			want:    gatewayapi.ReasonRouteNotAccepted,
			message: "Gateway gateways/missing: no controller reports on the route: create the Gateway, or run a controller that takes routes of it",
		},
		"OneGatewayMissing": {
			reason: "Traefik reports for each Gateway of a route the conditions of one of them.",
			change: withRouteEdited("  parentRefs:\n", "  parentRefs:\n  - name: missing\n    namespace: gateways\n"),
		},
		"NoService": {
			reason: "The share of a Service that is missing goes nowhere.",
			change: func(_ *shop, files tree.Files) {
				delete(files, "green/service-web-green.yaml")
				list := files["green/kustomization.yaml"]
				files["green/kustomization.yaml"] = []byte(strings.Replace(string(list), "- service-web-green.yaml\n", "", 1))
			},
			want: gatewayapi.ReasonRefsNotResolved, message: "ResolvedRefs is False: BackendNotFound", failing: true,
		},
		"NoPort": {
			reason: "The share of a port that the Service does not have goes nowhere.",
			change: withRouteEdited("name: web-green\n      port: 80\n", "name: web-green\n      port: 81\n"),
			want:   gatewayapi.ReasonRefsNotResolved, message: "ResolvedRefs is False: BackendNotFound", failing: true,
		},
		"OtherNamespace": {
			reason: "A Service of another namespace needs a grant.",
			change: withRouteEdited("name: web-green\n", "name: web-green\n      namespace: default\n"),
			want:   gatewayapi.ReasonRefsNotResolved, message: "ResolvedRefs is False: RefNotPermitted", failing: true,
		},
		"UnsupportedFilter": {
			reason: "Traefik accepts a route with a filter that it does not support, and fails each request: only a Gate finds that.",
			change: withRouteEdited(
				"  - backendRefs:\n",
				"  - filters:\n    - type: RequestMirror\n      requestMirror: {backendRef: {name: web, port: 80}}\n    backendRefs:\n",
			),
			failing: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServingShop(t)
			s.requireNoError(s.ApplyYAML(t.Context(), fmt.Appendf(nil, refusing, s.Gateway.Port)))
			files := s.filesInState(s.filesBeside(track.Blue, 1, 2, 20), track.State{Serving: track.Blue, Weight: 20, Ahead: 20})
			tc.change(s, files)
			s.commitFiles(files)
			got := ""
			t.Cleanup(func() { t.Logf("\n%s\nthe provider says: %s", tc.reason, got) })
			s.pollUntilTrue("the gateway reports the wanted conditions", func() bool {
				got = s.whyNotProven(files)
				return strings.HasPrefix(got, tc.want) && strings.Contains(got, tc.message) && (got == "") == (tc.want == "")
			})
			if tc.failing {
				s.pollUntilTrue("requests fail", func() bool { return len(s.target.Send(t.Context(), 20, 1).Failed()) > 0 })
			}
		})
	}
}

// TestStaleGeneration stops the gateway, so that nothing is reported on a route that changes. It runs before the tests that go side by side.
func TestStaleGeneration(t *testing.T) {
	s := newServingShop(t)
	s.awaitReached(s.filesBeside(track.Blue, 1, 2, 20))
	s.Gateway.Stop()
	want := s.patchWeights(track.Green)
	reason, message := gatewayapi.RouteReason(want, s.findHTTPRoute())
	if reason != gatewayapi.ReasonRouteNotAccepted || !strings.Contains(message, "Accepted is for generation") {
		t.Errorf("a Gateway that has not seen the current generation proves nothing: got %s: %s", reason, message)
	}
	s.requireNoError(s.Gateway.Start(t.Context()))
	s.pollUntilTrue("the gateway reports on the current generation", func() bool {
		reason, message = gatewayapi.RouteReason(want, s.findHTTPRoute())
		return reason == ""
	})
}
