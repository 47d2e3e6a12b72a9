package digest

import (
	"testing"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// TestBuildRequest edits the inputs of an image, field by field.
func TestBuildRequest(t *testing.T) {
	base := func() *buildv1alpha1.ImageBuildParameters {
		return &buildv1alpha1.ImageBuildParameters{Source: buildv1alpha1.Source{Git: &buildv1alpha1.GitSource{URL: "https://git.example.org/shop.git", Revision: "main"}}}
	}
	sum := func(p *buildv1alpha1.ImageBuildParameters) string {
		out, err := BuildRequest(p)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	cases := map[string]struct {
		reason string
		edit   func(*buildv1alpha1.ImageBuildParameters)
		same   bool
	}{
		"Defaults": {reason: "Defaults that the schema fills in change nothing.", edit: func(p *buildv1alpha1.ImageBuildParameters) { p.Default() }, same: true},
		"Webhook": {reason: "Who may ask for a look makes no other image.", edit: func(p *buildv1alpha1.ImageBuildParameters) {
			p.Source.Webhook = &buildv1alpha1.Webhook{SecretRef: buildv1alpha1.SecretKey{Name: "hook"}}
		}, same: true},
		"Interval": {
			reason: "How often the repository is looked at makes no other image.",
			edit:   func(p *buildv1alpha1.ImageBuildParameters) { p.Source.Interval = "1m" }, same: true,
		},
		"Retries": {
			reason: "How often a build is tried makes no other image.",
			edit:   func(p *buildv1alpha1.ImageBuildParameters) { p.Retries = new(int32(3)) }, same: true,
		},
		"Claim": {reason: "For whom it is makes no other image.", edit: func(p *buildv1alpha1.ImageBuildParameters) { p.ClaimRef.Name = "x" }, same: true},
		"Secret": {reason: "With which Secret the repository is read makes no other image.", edit: func(p *buildv1alpha1.ImageBuildParameters) {
			p.Source.Git.SecretRef = &deploymentv1alpha1.ObjectReference{Name: "x"}
		}, same: true},
		"Revision": {reason: "Another revision makes another image.", edit: func(p *buildv1alpha1.ImageBuildParameters) { p.Source.Git.Revision = "next" }},
		"SubPath":  {reason: "Another directory makes another image.", edit: func(p *buildv1alpha1.ImageBuildParameters) { p.Source.Git.SubPath = "web" }},
		"Trigger":  {reason: "A trigger asks for another image.", edit: func(p *buildv1alpha1.ImageBuildParameters) { p.Source.Trigger = "2" }},
		"Env": {
			reason: "Another variable makes another image.",
			edit:   func(p *buildv1alpha1.ImageBuildParameters) { p.Env = []buildv1alpha1.Variable{{Name: "A", Value: "1"}} },
		},
		"Builder": {
			reason: "Another builder makes another image.",
			edit:   func(p *buildv1alpha1.ImageBuildParameters) { p.Builder = &buildv1alpha1.BuilderReference{Name: "b"} },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := base()
			tc.edit(p)
			if isEqual := sum(p) == sum(base()); isEqual != tc.same {
				t.Errorf("\n%s\nBuildRequest(...): same is %t", tc.reason, isEqual)
			}
		})
	}
	first, err := BuildSource(&base().Source)
	second, err2 := BuildSource(&buildv1alpha1.Source{Git: &buildv1alpha1.GitSource{URL: "https://git.example.org/shop.git", Revision: "main", SubPath: "x"}, Trigger: "2"})
	if err != nil || err2 != nil || first != second {
		t.Errorf("The same revision has the same commit: %v, %v", err, err2)
	}
}
