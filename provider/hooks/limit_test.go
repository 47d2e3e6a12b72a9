package hooks

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// TestRateLimit has an Application that gets many hooks, and one that gets one.
func TestRateLimit(t *testing.T) {
	l, now := newRateLimit(), clock()
	shop := types.NamespacedName{Namespace: "team-a", Name: "shop"}
	count := func(key types.NamespacedName, tries int) int {
		n := 0
		for range tries {
			if l.allowHook(key, now) {
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
	free := 0
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		free += count(types.NamespacedName{Namespace: "team-b", Name: name}, 1)
	}
	if free < 4 {
		t.Errorf("%d of 5 other Applications get a hook", free)
	}
}
