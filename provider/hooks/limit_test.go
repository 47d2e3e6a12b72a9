package hooks

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

// TestRateLimit has an Application that gets many hooks, and one that gets one.
func TestRateLimit(t *testing.T) {
	l, now := newRateLimit(), clock()
	shop := types.NamespacedName{Namespace: "team-a", Name: "shop"}
	count := func(key types.NamespacedName, tries int) int {
		n := 0
		for range tries {
			if l.allowHook(sender{application: key, source: "203.0.113.7"}, now) {
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
	if got := l.allowHook(sender{application: shop, source: "198.51.100.4"}, now) || l.allowHook(sender{application: shop, source: "198.51.100.5"}, now); !got {
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

// TestNamespaceLimit has a namespace with many Applications, whose hooks come at once and then again and again, and a namespace with one.
func TestNamespaceLimit(t *testing.T) {
	l, now := newNamespaceLimit(), clock()
	count := func(namespace string, tries int) int {
		n := 0
		for range tries {
			if l.allowHook(namespace, now) {
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

// TestReadPlaces has an address that sends all of its hooks slowly.
func TestReadPlaces(t *testing.T) {
	p := newReadPlaces()
	take := func(source string, tries int) int {
		n := 0
		for range tries {
			if p.takePlace(source) {
				n++
			}
		}
		return n
	}
	if got := take("203.0.113.7", maxAtOnce); got != maxOfSource {
		t.Errorf("one address has %d places, want %d", got, maxOfSource)
	}
	if !p.takePlace("198.51.100.4") {
		t.Error("another address has no place beside one that took all of its own")
	}
	p.freePlace("198.51.100.4")
	for _, source := range []string{"a", "b", "c", "d"} {
		take(source, maxOfSource)
	}
	if p.taken != maxAtOnce {
		t.Errorf("%d hooks are read at once, want %d", p.taken, maxAtOnce)
	}
	p.freePlace("203.0.113.7")
	if got := take("203.0.113.7", 2); got != 1 {
		t.Errorf("%d places are taken where one was given back", got)
	}
}
