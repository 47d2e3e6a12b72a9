package hooks

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

// TestRateLimit has an Application that gets many hooks, and an Application that gets a single hook.
func TestRateLimit(t *testing.T) {
	l, now := newRateLimit(), clock()
	shop := types.NamespacedName{Namespace: "team-a", Name: "shop"}
	count := func(key types.NamespacedName, tries int) int {
		n := 0
		for range tries {
			if l.tryAllowHook(sender{application: key, network: "203.0.113.7"}, now) {
				n++
			}
		}
		return n
	}
	if got := count(shop, 1000); got != hookBurst {
		t.Errorf("%d hooks at once are verified, want %d", got, hookBurst)
	}
	now = now.Add(time.Second)
	if got := count(shop, 1000); got != int(time.Second/hookSpacing) {
		t.Errorf("%d hooks are verified a second later, want %d", got, time.Second/hookSpacing)
	}
	if got := l.tryAllowHook(sender{application: shop, network: "198.51.100.4"}, now) || l.tryAllowHook(sender{application: shop, network: "198.51.100.5"}, now); !got {
		t.Error("an address that sends many hooks takes the rate of others")
	}
	free := 0
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		free += count(types.NamespacedName{Namespace: "team-b", Name: name}, 1)
	}
	if free < 4 {
		t.Errorf("%d of 5 other Applications get a hook", free)
	}
}

// TestNamespaceLimit has a namespace with many Applications, whose hooks come at once and then again and again, and a namespace with a
// single Application.
func TestNamespaceLimit(t *testing.T) {
	l, now := newNamespaceLimit(), clock()
	count := func(namespace string, tries int) int {
		n := 0
		for range tries {
			if l.tryAllowHook(namespace, now) {
				n++
			}
		}
		return n
	}
	if diff := cmp.Diff([]int{namespaceBurst, 1}, []int{count("team-a", 500), count("team-b", 1)}); diff != "" {
		t.Errorf("Hooks at once of two namespaces: -want, +got:\n%s", diff)
	}
	now = now.Add(time.Second)
	if got := count("team-a", 500); got != namespaceRate {
		t.Errorf("%d hooks are recorded a second after refused hooks, want %d", got, namespaceRate)
	}
	now = now.Add(time.Minute)
	if got := count("team-b", 1); got != 1 || len(l.limiters) != 1 {
		t.Errorf("%d limiters are kept after a minute in which one namespace sent a hook, want 1", len(l.limiters))
	}
}

// TestReadPlaces has a network that sends all of its hooks slowly.
func TestReadPlaces(t *testing.T) {
	p, now, ended := newReadPlaces(), clock(), 0
	take := func(network string, tries int) []*readPlace {
		var out []*readPlace
		for range tries {
			if place := p.takeReadPlace(network, now, func() { ended++ }); place != nil {
				out = append(out, place)
			}
		}
		return out
	}
	slow := take("203.0.113.7", maxAtOnce)
	if len(slow) != maxOfNetwork {
		t.Errorf("A network has its places.\ntakePlace(...): want %d, got %d", maxOfNetwork, len(slow))
	}
	otherPlaces := take("198.51.100.4", 1)
	if len(otherPlaces) != 1 || ended > 0 {
		t.Errorf("Another network has places beside a network that took all of its own.\ntakePlace(...): got %d, and %d hooks end", len(otherPlaces), ended)
	}
	now = now.Add(slowRead)
	if next := take("203.0.113.7", 1); len(next) != 1 || ended != 1 {
		t.Errorf("A hook that comes slowly gives its place to the next one.\ntakePlace(...): got %d, and %d hooks end", len(next), ended)
	}
	p.freeReadPlace(slow[0]) // Another hook has its place.
	if got := len(p.taken); got != maxOfNetwork+1 {
		t.Errorf("A place that another hook has is not given back.\nplaces: want %d, got %d", maxOfNetwork+1, got)
	}
	for _, place := range append(slow[1:], otherPlaces...) {
		p.freeReadPlace(place)
	}
	for _, network := range []string{"a", "b", "c", "d", "e"} {
		take(network, maxOfNetwork)
	}
	if got := len(p.taken); got != maxAtOnce {
		t.Errorf("All networks together have their places.\nplaces: want %d, got %d", maxAtOnce, got)
	}
	if got := take("f", 1); len(got) > 0 {
		t.Error("A hook that is read for a short time keeps its place.\ntakePlace(...): want none")
	}
	now = now.Add(slowRead)
	if got := take("f", 1); len(got) != 1 {
		t.Error("Where all places are taken, a slow hook of any network gives its place up.\ntakePlace(...): want one")
	}
}

func TestNetworkOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		remote string
		want   string
	}{
		"IPv4":   {reason: "An IPv4 address is its own network.", remote: "203.0.113.7:4711", want: "203.0.113.7"},
		"IPv6":   {reason: "The addresses of an IPv6 network are a single sender.", remote: "[2001:db8:1:2:3:4:5:6]:4711", want: "2001:db8:1:2::/64"},
		"Zone":   {reason: "The zone of an address does not belong to its network.", remote: "[fe80::1%eth0]:4711", want: "fe80::/64"},
		"Mapped": {reason: "An IPv4 address in IPv6 notation counts as an IPv4 address.", remote: "[::ffff:203.0.113.7]:4711", want: "203.0.113.7"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, networkOfAddress(tc.remote)); diff != "" {
				t.Errorf("%s\nnetworkOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
