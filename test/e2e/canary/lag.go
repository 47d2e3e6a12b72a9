package canary

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/provider/gatewayapi"
)

const (
	// moves is how often each lag is measured.
	moves = 5

	// defaultDrain is how long a track stays after it lost its requests, unless a deployment asks for another time.
	defaultDrain = 30 * time.Second
)

// measureRouteLag sends all requests to a track, as a commit would, and returns how long after the gateway accepted that the other track got the last one.
func (s *shop) measureRouteLag(targetTrack string) time.Duration {
	s.Helper()
	users := s.target.Start(s.Context(), perSecond)
	want := s.patchWeights(targetTrack)
	s.pollUntilTrue("the gateway accepts the weights", func() bool {
		reason, _ := gatewayapi.RouteReason(want, s.findHTTPRoute())
		return reason == ""
	})
	accepted := time.Now()
	s.pollUntilTrue("all requests go to track "+targetTrack, func() bool { return s.target.Send(s.Context(), 20, 1).Share(targetTrack) == 100 })
	last := accepted
	for _, a := range users.Stop() {
		if a.Track != targetTrack && a.Sent.After(last) {
			last = a.Sent
		}
	}
	return last.Sub(accepted)
}

// keepFluxOut lets Flux leave the route as it is: it would bring the weights of Git back whenever it looks.
func (s *shop) keepFluxOut() {
	s.Helper()
	const disabled = `{"metadata":{"annotations":{"kustomize.toolkit.fluxcd.io/reconcile":"disabled"}}}`
	s.requireNoError(s.Client.Patch(s.Context(), s.findHTTPRoute(), client.RawPatch(types.MergePatchType, []byte(disabled))))
}

// patchWeights sends all requests to a track, and returns the route that the provider would expect.
func (s *shop) patchWeights(targetTrack string) track.Route {
	s.Helper()
	refs := fmt.Sprintf(`{"name":"web-%s","port":80,"weight":100},{"name":"web-%s","port":80,"weight":0}`, targetTrack, track.Other(targetTrack))
	s.requireNoError(s.Client.Patch(s.Context(), s.findHTTPRoute(), client.RawPatch(types.JSONPatchType, fmt.Appendf(nil, `[{"op":"replace","path":"/spec/rules/0/backendRefs","value":[%s]}]`, refs))))
	return track.Route{Kind: "HTTPRoute", Namespace: s.namespace, Name: "web", Backends: []track.Backend{
		{Service: "web-" + targetTrack, Weight: 100}, {Service: "web-" + track.Other(targetTrack), Weight: 0},
	}}
}

func (s *shop) findHTTPRoute() *unstructured.Unstructured {
	s.Helper()
	return s.findSiteObject(schema.GroupVersionKind{Group: track.GatewayGroup, Version: "v1", Kind: "HTTPRoute"}, s.namespace, "web")
}
