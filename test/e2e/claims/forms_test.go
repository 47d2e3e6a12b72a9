package claims

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/scene"
)

func TestFormsAgree(t *testing.T) {
	t.Parallel()
	names := slices.Sorted(maps.Keys(formsOfIntent("")))
	s := scene.New(t, cp, names...)
	s.Apply(s.Blueprint("1.0.0", "before"))
	s.Apply(measuredBlueprint(s))
	for _, name := range names {
		s.Apply(setIntentForm(s, s.Claim(name, ""), formsOfIntent(s.Site(name))[name], s.Site(name)))
	}
	got := map[string]map[string]string{}
	for _, name := range names {
		s.Succeed(setIntentForm(s, s.Claim(name, ""), formsOfIntent(s.Site(name))[name], s.Site(name)))
		got[name] = filesAtSite(s, name)
	}
	want := got["service-json"]
	if text := want["deployment-shop.yaml"]; len(want) != 4 || !strings.Contains(text, "intentplane.dev/claim: CLAIM") || !strings.Contains(text, `example.org/latency-ms: "20"`) {
		t.Fatalf("the first form came to %+v", want)
	}
	for _, name := range names {
		if diff := cmp.Diff(want, got[name]); diff != "" {
			t.Errorf("%s says the same as service-json: -want, +got:\n%s", name, diff)
		}
	}
	setEachForm(s, formsOfIntent(s.Site("tmf921")), s.Site("tmf921"))
}
