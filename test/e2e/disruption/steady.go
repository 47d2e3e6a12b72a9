package disruption

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// ttl makes Crossplane call the function again and again, although nothing changed.
const ttl = time.Second

// awaitFunctionCalls waits until the function got the same request so often, for each of the two deployments, since a mark in its log. It returns that number.
func awaitFunctionCalls(s *scene.Scene, mark, want int) []int {
	s.T.Helper()
	var calls []int
	s.Until("calls of the function", patience.Limit+time.Duration(want)*ttl, func() bool {
		calls = repeatedCallCounts(functionLog(s.T)[mark:], want)
		return len(calls) >= 2
	})
	return calls
}

// repeatedCallCounts returns the number of calls for each request with enough calls. Crossplane tags a request with a digest of its content.
func repeatedCallCounts(log []byte, enough int) []int {
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

// providerLines returns the number of lines that the provider has logged about this namespace, without the lines that only --debug prints.
func providerLines(s *scene.Scene) int {
	s.T.Helper()
	b, err := os.ReadFile(cp.LogFile("provider"))
	s.Must(err)
	n := 0
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, s.Namespace) && !strings.Contains(line, "\tDEBUG\t") {
			n++
		}
	}
	return n
}

// objectVersions are the versions of all objects of two deployments, by kind and name.
func objectVersions(s *scene.Scene, claim, composite *unstructured.Unstructured) map[string]string {
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
