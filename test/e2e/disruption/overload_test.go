package disruption

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
	"github.com/intentplane/intentplane/test/soak"
)

// TestServerRefusesTooManyRequests edits one deployment and creates another deployment while the API server answers 429 to each write, and lets it
// accept them again.
func TestServerRefusesTooManyRequests(t *testing.T) {
	s := scene.New(t, cp, "edge1")
	edited, created := s.Composite("shop", intentOfService(s, "shop", 1, "edge1")), s.Claim("bank", intentOfService(s, "bank", 1, "edge1"))
	s.Succeed(edited)
	refused, admit := refuseWrites(s)
	defer admit()
	s.Apply(s.Set(edited, intentOfService(s, "shop", 2, "edge1"), "spec", "intent"))
	s.Apply(created)
	began := time.Now()
	s.Until("the API server refused writes", patience.Limit, func() bool {
		return refused.Load() >= refusedRequests && (!soak.Long() || time.Since(began) > refusedMinute)
	})
	wantCommits(s, 1)
	admit()
	for _, o := range []*unstructured.Unstructured{edited, created} {
		s.Succeed(o)
	}
	commits := map[string]int{}
	for _, c := range s.Commits() {
		commits[c.Trailers["Intentplane-Claim"]+" "+c.Trailers["Intentplane-Revision"]]++
	}
	want := map[string]int{
		"intentplane.dev/IntentDeployment " + s.Namespace + "/shop 1":        1,
		"intentplane.dev/IntentDeployment " + s.Namespace + "/shop 2":        1,
		"claims.intentplane.dev/IntentDeployment " + s.Namespace + "/bank 1": 1,
	}
	delete(commits, " ") // The commit that the repository began with.
	if diff := cmp.Diff(want, commits); diff != "" {
		t.Errorf("commits after the API server answered 429: -want, +got:\n%s", diff)
	}
}
