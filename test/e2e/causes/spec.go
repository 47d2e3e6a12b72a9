package causes

import (
	"github.com/intentplane/intentplane/apis/advice"
)

// specStories are about objects that the spec names and the platform team has not given.
func specStories() map[string]story {
	return map[string]story{
		"BlueprintMissing": {
			reason: "A Blueprint that does not exist is the cause until the platform team creates it.",
			breaks: func(s *stage) func() {
				s.Apply(s.Set(s.deployment, "next", "spec", "blueprint", "channel"))
				return func() { s.Apply(s.Blueprint("2.0.0", "next")) }
			},
			want: answer{object: "IntentDeployment shop", reason: "BlueprintMissing", actor: advice.PlatformTeam, do: "Create the Blueprint"},
		},
		"SiteNotAllowed": {
			reason: "A Site that is not for the namespace is the cause until the platform team allows the namespace.",
			breaks: func(s *stage) func() {
				s.Apply(s.Set(s.NewSite("edge1"), []any{"another-team"}, "spec", "allowedNamespaces"))
				s.Apply(s.deployment)
				return func() { s.Apply(s.NewSite("edge1")) }
			},
			want: answer{object: "IntentDeployment shop", reason: "SiteMissing", actor: advice.PlatformTeam, do: "let it allow the namespace"},
		},
	}
}
