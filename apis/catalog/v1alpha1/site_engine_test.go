package v1alpha1

import "testing"

func TestHasEngine(t *testing.T) {
	cases := map[string]struct {
		reason string
		site   *Site
		want   bool
	}{
		"Flux":    {reason: "A Site has the engine that its spec names.", site: &Site{Spec: SiteSpec{Engine: SiteEngine{Type: EngineFlux}}}, want: true},
		"None":    {reason: "The type None means that no engine reads the Site.", site: &Site{Spec: SiteSpec{Engine: SiteEngine{Type: EngineNone}}}},
		"Unset":   {reason: "A Site without a type has no engine.", site: &Site{}},
		"Missing": {reason: "A missing Site has no engine."},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.site.HasEngine(); got != tc.want {
				t.Errorf("\n%s\nHasEngine(): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
