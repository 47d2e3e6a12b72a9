package disruption

import (
	"context"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
	"github.com/intentplane/intentplane/test/soak"
)

// ttl makes Crossplane call the function again and again, although nothing changed.
const ttl = time.Second

func TestSteadyStateIsFree(t *testing.T) {
	s := scene.New(t, cp, "edge1", "edge2")
	if err := cp.RestartFunction(t.Context(), "--ttl="+ttl.String()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cp.RestartFunction(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	claim := s.Succeed(s.Claim("shop", intent(s, 2, "edge1", "edge2")))
	composite := s.Succeed(s.Composite("other", intentFor(s, "other", 1, "edge1")))
	wantCommits(s, 2)

	// Each deployment is steady once the function is asked the same about it again and again.
	awaitCalls(s, len(functionLog(t)), 3)
	before := versions(s, claim, composite)
	calls := awaitCalls(s, len(functionLog(t)), soak.Rounds(t, 50, 300))
	if diff := cmp.Diff(before, versions(s, claim, composite)); diff != "" {
		t.Errorf("resource versions after %v calls: -want, +got:\n%s", calls, diff)
	}
	wantCommits(s, 2)
	t.Logf("calls of the function, for each deployment: %v", calls)
}

// awaitCalls waits until the function was asked the same question so often, for each of the two deployments, since a mark in its log. It
// returns how often.
func awaitCalls(s *scene.Scene, mark, want int) []int {
	s.T.Helper()
	var calls []int
	s.Until("calls of the function", scene.Patience+time.Duration(want)*ttl, func() bool {
		calls = questions(functionLog(s.T)[mark:], want)
		return len(calls) >= 2
	})
	return calls
}

// questions returns how often the function was asked each question that it was asked often enough. Crossplane tags a question with a
// digest of all that it says.
func questions(log []byte, enough int) []int {
	byTag := map[string]int{}
	for _, m := range regexp.MustCompile(`"tag": "([0-9a-f]+)"`).FindAllSubmatch(log, -1) {
		byTag[string(m[1])]++
	}
	var out []int
	for _, n := range byTag {
		if n >= enough {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

func functionLog(t *testing.T) []byte {
	t.Helper()
	b, err := os.ReadFile(cp.LogFile("function"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// versions are those of all objects of two deployments, by kind and name.
func versions(s *scene.Scene, claim, composite *unstructured.Unstructured) map[string]string {
	s.T.Helper()
	out := map[string]string{}
	for _, o := range []*unstructured.Unstructured{s.Now(claim), s.XR(claim), s.Now(composite)} {
		out[o.GetKind()+"/"+o.GetName()] = o.GetResourceVersion()
	}
	for _, d := range s.Deliveries() {
		out["GitDelivery/"+d.GetName()] = d.GetResourceVersion()
	}
	return out
}
