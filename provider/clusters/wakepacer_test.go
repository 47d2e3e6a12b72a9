package clusters

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/provider/clusters/account"
)

// TestWakesArePaced wakes an owner at most once a second, whatever a cluster sends, and never loses the last change.
func TestWakesArePaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		mu, got := sync.Mutex{}, map[string][]time.Duration{}
		p := NewPool(nil, account.New(account.Bounds{}), func(o types.NamespacedName) {
			mu.Lock()
			defer mu.Unlock()
			got[o.Name] = append(got[o.Name], time.Since(began))
		})
		for range 3_000 {
			p.wakeOwnerSoon(owner("busy"))
			<-time.After(time.Millisecond)
		}
		p.wakeOwnerSoon(owner("calm"))
		<-time.After(time.Minute)
		p.wakeOwnerSoon(owner("busy"))
		want := map[string][]time.Duration{
			"busy": {0, time.Second, 2 * time.Second, 3 * time.Second, 63 * time.Second}, "calm": {3 * time.Second},
		}
		mu.Lock()
		diff := cmp.Diff(want, got)
		mu.Unlock()
		if diff != "" {
			t.Errorf("wakes: -want, +got:\n%s", diff)
		}
		p.wakeOwnerSoon(owner("calm"))
		if n := len(p.pacer.woken); n > 2 {
			t.Errorf("%d owners are remembered", n)
		}
	})
}
