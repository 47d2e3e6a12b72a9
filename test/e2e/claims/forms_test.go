package claims

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// forms are the ways to say one intent, by the name of a claim that says it so. The empty one is the claim's structured expectation.
func forms(site string) map[string]string {
	return map[string]string{
		"service-json":  fmt.Sprintf(`{"service": "shop", "site": %q, "qos": {"latencyMs": 20}}`, site),
		"service-yaml":  fmt.Sprintf("qos:\n  latencyMs: 20.0\nsites:\n- %s\nservice: shop\n", site),
		"expectation":   "",
		"tmf921":        fmt.Sprintf(`{"intentId": "a", "service": {"name": "shop", "type": "generic"}, "targetSite": %q, "qos": {"latency_ms": 20}}`, site),
		"ts28312-flat":  expectation(`"intentExpectationObject": {"objectType": "Service", "objectInstance": "shop"}`, site),
		"ts28312-list":  list(site),
		"plain-english": fmt.Sprintf("Deploy shop on %s, latency under 0.02 s", site),
	}
}

// expectation is one of TS 28.312 in its flat form.
func expectation(object, site string) string {
	return fmt.Sprintf(`{"intentExpectationId": "a", "intentExpectationType": "ServicePerformance", %s,
		"intentExpectationContext": {"contextAttribute": "site", "contextCondition": "EQUAL", "contextValueRange": [%q]},
		"intentExpectationTarget": {"targetAttribute": "latency", "targetCondition": "LESS_THAN", "targetValue": "20ms"}}`, object, site)
}

func list(site string) string {
	return fmt.Sprintf(`{"intentExpectations": [
		{"intentType": "ServiceIntentExpectation", "targets": [{"name": "shop"}], "context": [{"contextType": "SiteContext", "sites": [%q]}]},
		%s]}`, site, expectation(`"intentExpectationObject": {"objectType": "Service", "objectInstance": "shop"}`, site))
}

// say puts one form of an intent into a claim.
func say(s *scene.Scene, claim *unstructured.Unstructured, text, site string) *unstructured.Unstructured {
	s.T.Helper()
	unstructured.RemoveNestedField(claim.Object, "spec", "intent")
	unstructured.RemoveNestedField(claim.Object, "spec", "expectation")
	if text != "" {
		return s.Set(claim, text, "spec", "intent")
	}
	return s.Set(claim, map[string]any{"service": "shop", "sites": []any{site}, "qos": map[string]any{"latencyMs": "20"}}, "spec", "expectation")
}

// said is what came of a form: the digest of the intent that was ordered, and the files, but for the claim's own name.
type said struct {
	Intent string
	Files  map[string]string
}

func TestFormsAgree(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	site := s.Site("edge1")
	all := forms(site)
	for name, text := range all {
		s.Apply(say(s, s.Claim(name, ""), text, site))
	}
	got := map[string]said{}
	for name, text := range all {
		got[name] = cameOf(s, s.Succeed(say(s, s.Claim(name, ""), text, site)))
	}
	want := got["service-json"]
	if want.Intent == "" || len(want.Files) != 4 || !strings.Contains(want.Files["deployment-shop.yaml"], "intentplane.dev/claim: CLAIM") {
		t.Fatalf("the first form came to %+v", want)
	}
	for name := range all {
		if diff := cmp.Diff(want, got[name]); diff != "" {
			t.Errorf("%s says the same as service-json: -want, +got:\n%s", name, diff)
		}
	}
	sayAgain(s, all, site)
}

// cameOf a claim that succeeded.
func cameOf(s *scene.Scene, claim *unstructured.Unstructured) said {
	s.T.Helper()
	out := said{Files: map[string]string{}}
	for _, d := range s.Deliveries() {
		if d.Spec.ForProvider.ClaimRef.Name == claim.GetName() {
			out.Intent = d.Spec.ForProvider.Order.Intent
		}
	}
	for name, content := range s.FilesBelow(s.Directory("edge1", claim.GetName())) {
		if name != ".intentplane" {
			out.Files[name] = strings.ReplaceAll(content, "intentplane.dev/claim: "+claim.GetName(), "intentplane.dev/claim: CLAIM")
		}
	}
	return out
}

// sayAgain says the intent of one claim in all forms, one after another: nothing is delivered again.
func sayAgain(s *scene.Scene, all map[string]string, site string) {
	s.T.Helper()
	commits := len(s.Commits())
	for name, text := range all {
		seen := s.Succeed(say(s, s.Claim("tmf921", ""), text, site))
		if diff := cmp.Diff(int64(1), scene.Number(seen, "status", "revision")); diff != "" {
			s.T.Errorf("%s is another revision: -want, +got:\n%s", name, diff)
		}
	}
	s.AwaitCommits(commits)
}
