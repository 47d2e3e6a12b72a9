package overlap

import (
	"fmt"
	"testing"

	"github.com/intentplane/intentplane/apis/policy"
)

// TestNamesAreBounded caches the names of wide directories of one namespace, as a hostile repository may have them.
func TestNamesAreBounded(t *testing.T) {
	named, wide := NewNames(), make([]string, 10_000)
	for n := range wide {
		wide[n] = fmt.Sprintf("configmap-%010d", n)
	}
	named.cacheFileStems("team-b", "good", []string{"configmap-shop"})
	named.cacheFileObjects("team-b", "good", []policy.Object{{Kind: "ConfigMap", Name: "shop"}})
	objects := make([]policy.Object, len(wide))
	for n := range 200 {
		named.cacheFileStems("team-a", fmt.Sprint(n), wide)
		named.cacheFileObjects("team-a", fmt.Sprint(n), objects)
	}
	retained := 0
	for n := range 200 {
		if _, ok := named.stems.Get(fmt.Sprint(n)); ok {
			retained++
		}
	}
	_, hasStems := named.stems.Get("good")
	_, hasObjects := named.objects.Get("good")
	if !hasStems || !hasObjects || retained > maxNamedBytes/(10_000*textOverhead) {
		t.Errorf("\nA namespace fills a bounded cache, and evicts its own names alone.\nput…(...): want the other names, got %t, %t, and %d", hasStems, hasObjects, retained)
	}
}
