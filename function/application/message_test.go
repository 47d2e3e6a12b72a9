package application

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

func TestRouteMessage(t *testing.T) {
	cases := map[string]struct {
		reason string
		site   deliveryv1alpha1.SiteHealthState
		route  *deliveryv1alpha1.RouteHealth
		want   string
	}{
		"Accepted": {reason: "A route that is accepted needs no message.", route: &deliveryv1alpha1.RouteHealth{Accepted: true}},
		"Unseen":   {reason: "A route that was not observed is named with its Site.", want: "Site edge1: the route was not observed yet."},
		"Unreachable": {
			reason: "A route of a Site that cannot be observed is not waited for, and the message says why.", site: unreachable("edge1", true),
			want: "Site edge1: it is not known whether its route is accepted: no answer.",
		},
		"Missing": {
			reason: "The reason stands alone without a message.",
			route:  &deliveryv1alpha1.RouteHealth{Reason: "RouteMissing"}, want: "Site edge1: RouteMissing.",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := running()
			if tc.site.Name != "" {
				f.Health.Sites[0] = tc.site
			}
			f.URL, f.Health.Sites[0].Route = "http://shop.example.org", tc.route
			if diff := cmp.Diff(tc.want, f.routeMessage()); diff != "" {
				t.Errorf("\n%s\nrouteMessage(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
