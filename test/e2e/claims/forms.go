package claims

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// formsOfIntent are the forms of one intent, by the name of a claim with that form. The empty form is the claim's structured expectation.
func formsOfIntent(site string) map[string]string {
	return map[string]string{
		"service-json":  fmt.Sprintf(`{"service": "shop", "site": %q, "qos": {"latencyMs": 20}}`, site),
		"service-yaml":  fmt.Sprintf("qos:\n  latencyMs: 20.0\nsites:\n- %s\nservice: shop\n", site),
		"expectation":   "",
		"tmf921":        fmt.Sprintf(`{"intentId": "a", "service": {"name": "shop", "type": "generic"}, "targetSite": %q, "qos": {"latency_ms": 20}}`, site),
		"ts28312-flat":  expectation(`"intentExpectationObject": {"objectType": "Service", "objectInstance": "shop"}`, site),
		"ts28312-list":  listObjects(site),
		"plain-english": fmt.Sprintf("Deploy shop on %s, latency under 0.02 s", site),
	}
}

// expectation is one of TS 28.312 in its flat form.
func expectation(object, site string) string {
	return fmt.Sprintf(`{"intentExpectationId": "a", "intentExpectationType": "ServicePerformance", %s,
		"intentExpectationContext": {"contextAttribute": "site", "contextCondition": "EQUAL", "contextValueRange": [%q]},
		"intentExpectationTarget": {"targetAttribute": "latency", "targetCondition": "LESS_THAN", "targetValue": "20ms"}}`, object, site)
}

func listObjects(site string) string {
	return fmt.Sprintf(`{"intentExpectations": [
		{"intentType": "ServiceIntentExpectation", "targets": [{"name": "shop"}], "context": [{"contextType": "SiteContext", "sites": [%q]}]},
		%s]}`, site, expectation(`"intentExpectationObject": {"objectType": "Service", "objectInstance": "shop"}`, site))
}

// setIntentForm puts one form of an intent into a claim.
func setIntentForm(s *scene.Scene, claim *unstructured.Unstructured, text, site string) *unstructured.Unstructured {
	s.T.Helper()
	unstructured.RemoveNestedField(claim.Object, "spec", "intent")
	unstructured.RemoveNestedField(claim.Object, "spec", "expectation")
	if text != "" {
		return s.Set(claim, text, "spec", "intent")
	}
	return s.Set(claim, map[string]any{"service": "shop", "sites": []any{site}, "qos": map[string]any{"latencyMs": "20"}}, "spec", "expectation")
}

// measuredBlueprint is the scene's Blueprint with an annotation that has the latency of the intent.
func measuredBlueprint(s *scene.Scene) *unstructured.Unstructured {
	s.T.Helper()
	const replacement = `- source: {kind: ConfigMap, name: intent, fieldPath: data.qos-latency-ms}
  targets:
  - select: {kind: Deployment, name: web}
    fieldPaths: ["metadata.annotations.[example.org/latency-ms]"]
    options: {create: true}
`
	b := s.Blueprint("1.1.0", "stable")
	files, _, err := unstructured.NestedStringMap(b.Object, "spec", "files")
	s.Must(err)
	s.Set(b, replacement+files["replacements.yaml"], "spec", "files", "replacements.yaml")
	return s.Set(b, files["intent.yaml"]+"  qos-latency-ms: \"100\"\n", "spec", "files", "intent.yaml")
}

// filesAtSite returns the files of a claim at the Site of its name, but for the claim's own name.
func filesAtSite(s *scene.Scene, name string) map[string]string {
	s.T.Helper()
	out := map[string]string{}
	for file, content := range s.FilesBelow(s.Directory(name, name)) {
		if file != ".intentplane" {
			out[file] = strings.ReplaceAll(content, "intentplane.dev/claim: "+name, "intentplane.dev/claim: CLAIM")
		}
	}
	return out
}

// setEachForm sets the intent of one claim in all forms, one after another: nothing is delivered again.
func setEachForm(s *scene.Scene, all map[string]string, site string) {
	s.T.Helper()
	commits := len(s.Commits())
	for name, text := range all {
		observed := s.Succeed(setIntentForm(s, s.Claim("tmf921", ""), text, site))
		s.WantEqual(fmt.Sprintf("%s is another revision", name), int64(1), scene.Number(observed, "status", "revision"))
	}
	s.AwaitCommits(commits)
}
