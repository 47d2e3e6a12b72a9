package repository

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
)

// TestForgetDelivery forgets one of two objects that failed in all ways, and in two repositories.
func TestForgetDelivery(t *testing.T) {
	s, p := serve(t, map[string]string{"README.md": "hello"}), pool(Options{})
	all := []*Repository{open(t, p, s), openURL(t, p, s.URL("team/other"))}
	for _, r := range all {
		for n := range 2 {
			key := web(n)
			r.failed[key], r.refused[key] = failedDelivery{err: errors.New("boom")}, &refusal{}
			r.waiters[key], r.askers[key] = struct{}{}, struct{}{}
		}
	}
	p.Forget(web(0))
	for _, r := range all {
		got := []int{len(r.failed), len(r.refused), len(r.waiters), len(r.askers)}
		if diff := cmp.Diff([]int{1, 1, 1, 1}, got); diff != "" {
			t.Errorf("\nNothing is remembered of a deleted object, and all of another object.\nForget(...): -want, +got:\n%s", diff)
		}
		if _, isThere := r.failed[web(1)]; !isThere {
			t.Errorf("\nForget(%s) forgot %s", web(0), web(1))
		}
	}
}
