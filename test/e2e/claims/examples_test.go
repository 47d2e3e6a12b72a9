package claims

import (
	"path/filepath"
	"testing"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
)

// TestExamplesApply applies the examples as they are: only the URL of the repository is ours, and the Sites have no engine, since none runs here.
func TestExamplesApply(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp)
	if err := cp.Git.CreateRepo(t.Context(), fleet, map[string]string{"README.md": "Not ours.\n"}); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"quickstart", "namespaced", "rollout", "clusters"} {
		for _, o := range readExamples(s, folder) {
			switch o.GetKind() {
			case "ClusterProviderConfig":
				s.Apply(s.Set(o, cp.Git.URL(fleet), "spec", "git", "url"))
			case "Site":
				s.Must(controlplane.RemoveEngine(o))
				s.Apply(o)
			case "IntentDeployment":
				s.Succeed(o)
			case "WorkloadCluster":
				s.Apply(o)
				s.AwaitPhase(o, "Provisioning") // No provider builds clusters here.
			case "RolloutRequest":
				s.Apply(o)
				awaitAnswer(s, o)
			default:
				s.Apply(o)
			}
		}
	}
	files, err := cp.Git.Files(t.Context(), fleet, "main")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"shop", "bank"} {
		for _, site := range []string{"edge1", "edge2"} {
			file := filepath.Join("clusters", site, "team-a", name, "deployment-"+name+".yaml")
			if files[file] == "" {
				t.Errorf("%s is not in the repository", file)
			}
		}
	}
}
