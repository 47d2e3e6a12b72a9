package render

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/intentplane/intentplane/test/controlplane/toolbox"
)

func TestRender(t *testing.T) {
	root, err := toolbox.Root()
	if err != nil {
		t.Fatal(err)
	}
	v := newValidator(t)
	address := serveFunction(t, filepath.Join(root, "_output", "bin", "function"))
	cases := map[string]struct {
		reason string
		shape  string
		dir    string
		prefix string
	}{
		"Claim":        {reason: "A claim's composite should become deliveries to both Sites.", shape: "claims", dir: "claim"},
		"Namespaced":   {reason: "A composite without a claim should become a delivery.", shape: "namespaced", dir: "namespaced"},
		"UnknownSite":  {reason: "A missing Site should be awaited.", shape: "claims", dir: "unknown-site"},
		"BrokenIntent": {reason: "The status should have the error of an intent.", shape: "claims", dir: "broken-intent"},
		"Cluster":      {reason: "A WorkloadCluster should become a ManagedCluster.", shape: "claims", dir: "cluster", prefix: "workloadcluster-"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			composition := filepath.Join(root, "apis", "composition", tc.shape)
			examples := filepath.Join(root, "examples", "render")
			args := []string{
				"render",
				filepath.Join(examples, tc.dir, "composite.yaml"), filepath.Join(composition, tc.prefix+"composition.yaml"), filepath.Join(examples, "functions.yaml"),
				"--required-resources=" + filepath.Join(examples, "required"), "--xrd=" + filepath.Join(composition, tc.prefix+"definition.yaml"),
				"--function-annotations=render.crossplane.io/runtime-development-target=" + address,
			}
			compareTexts(t, tc.reason, filepath.Join(examples, tc.dir, "want.yaml"), withoutTimes(runCrossplane(t, v.cli, args...)))
			whole := runCrossplane(t, v.cli, append(args, "--include-full-xr")...)
			if out, err := v.runValidation(t, string(whole), "-"); err != nil || strings.Contains(out, "[!]") {
				t.Errorf("\n%s\ncrossplane beta validate refuses the rendered objects: %v\n%s", tc.reason, err, out)
			}
		})
	}
}
