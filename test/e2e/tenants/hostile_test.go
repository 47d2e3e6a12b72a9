package tenants

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/figure"
	"github.com/intentplane/intentplane/test/hostile"
	"github.com/intentplane/intentplane/test/scene"
)

// TestHostileTenant has a tenant whose clusters send without end, and whose Git servers hang or send large or broken answers, beside a tenant who
// delivers. The conditions of the hostile tenant name each fault. The good tenant delivers, and the ratio of its times with and without the hostile
// tenant is a figure.
func TestHostileTenant(t *testing.T) {
	t.Parallel()
	bad, good := &stage{scene.New(t, cp)}, &stage{scene.New(t, cp, "edge1")}
	good.Succeed(good.Claim("first", good.describeIntent("first", 1, "edge1"))) // The first delivery of all starts the shared components.
	baseline := good.slowestDelivery("before")
	clusters := map[string]struct {
		server *hostile.Cluster
		want   string
	}{
		"list": {
			server: hostile.New(hostile.EndlessList, nil),
			want:   "ClusterUnreachable: Kustomization flux-system/edge: the cluster sends more than 8 MiB for a page of a list",
		},
		"zipped": {
			server: hostile.New(hostile.EndlessZippedList, nil),
			want: "ClusterUnreachable: Kustomization flux-system/edge: the cluster sends an answer that takes more than 48 MiB of memory for a " +
				"page of a list",
		},
		"event": {
			server: hostile.New(nil, hostile.EndlessEvent),
			want:   "ClusterUnreachable: Kustomization flux-system/edge: the cluster sends more than 2 MiB for an event of a watch",
		},
		"events": {server: hostile.New(nil, hostile.EndlessEvents), want: "EngineObjectMissing: Kustomization flux-system/edge does not exist"},
	}
	claims := map[string]*unstructured.Unstructured{}
	for name, c := range clusters {
		bad.addHostileSite(name, c.server)
		claims[name] = bad.Claim(name, bad.describeIntent(name, 1, name))
		bad.Apply(claims[name])
	}
	for name, c := range clusters {
		bad.awaitBlamed(claims[name], name, c.want)
	}
	gits, free := bad.startHostileGits()
	bad.AddSite("plain")
	for name, g := range gits {
		bad.deliverToRepository(name, g)
	}
	for name, g := range gits {
		bad.awaitUnready(name, g.want)
	}

	beside := good.slowestDelivery("beside")
	for name, c := range clusters {
		bad.awaitBlamed(claims[name], name, c.want)
	}
	for name, g := range gits {
		bad.awaitUnready(name, g.want)
	}
	free()
	for _, c := range clusters {
		c.server.Stop()
	}
	// A machine that has other work too makes both slower.
	undisturbed := max(baseline, good.slowestDelivery("after"))
	figure.Check(t, "slowest_delivery_beside_hostile_tenant", beside.Seconds()/undisturbed.Seconds(), tolerance)
}
