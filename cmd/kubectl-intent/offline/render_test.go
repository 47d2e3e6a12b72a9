package offline

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

func TestRender(t *testing.T) {
	cases := map[string]struct {
		reason string
		file   string
		args   []string
		want   []string
	}{
		"Claim": {
			reason: "Each Site has a folder.",
			file:   examples + "40-claim.yaml",
			want: []string{
				"edge1/configmap-shop.yaml", "edge1/deployment-shop.yaml", "edge1/kustomization.yaml", "edge1/service-shop.yaml",
				"edge2/configmap-shop.yaml", "edge2/deployment-shop.yaml", "edge2/kustomization.yaml", "edge2/service-shop.yaml",
			},
		},
		"Inputs": {
			reason: "The input of kustomize can be printed.",
			file:   "../../../examples/namespaced/deployment.yaml",
			args:   []string{"--inputs"},
			want: slices.Concat(
				under("edge1/", "blueprint/configmap.yaml", "blueprint/deployment.yaml", "blueprint/intent.yaml", "blueprint/kustomization.yaml",
					"blueprint/replacements.yaml", "blueprint/service.yaml", "kustomization.yaml", "namespace.yaml"),
				under("edge2/", "blueprint/configmap.yaml", "blueprint/deployment.yaml", "blueprint/intent.yaml", "blueprint/kustomization.yaml",
					"blueprint/replacements.yaml", "blueprint/service.yaml", "kustomization.yaml", "namespace.yaml"),
			),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			args := append([]string{"render", tc.file, "--site", trialSites, "--blueprint", examples + "20-blueprint.yaml", "--to", dir}, tc.args...)
			out, problems, code := runIntent("", args...)
			if want := dir + "/edge1\n" + dir + "/edge2\n"; code != 0 || out != want {
				t.Fatalf("\n%s\nrun(...): want %q, got exit code %d:\n%s%s", tc.reason, want, code, out, problems)
			}
			if diff := cmp.Diff(tc.want, filesIn(t, dir)); diff != "" {
				t.Errorf("\n%s\nRun(...): -want, +got:\n%s", tc.reason, diff)
			}
			if _, problems, _ := runIntent("", args...); !strings.Contains(problems, dir+" is not empty") {
				t.Errorf("\nA folder with files is left alone.\nrun(...): got %s", problems)
			}
		})
	}
}

func under(folder string, names ...string) []string {
	out := make([]string, 0, len(names))
	for _, n := range names {
		out = append(out, folder+n)
	}
	return out
}

func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	out := []string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRenderDiff(t *testing.T) {
	checkout, args := t.TempDir(), []string{"render", examples + "40-claim.yaml", "--site", trialSites, "--blueprint", examples + "20-blueprint.yaml"}
	diff := append(slices.Clone(args), "--path-prefix", "fleet", "--diff", checkout)
	out, problems, code := runIntent("", diff...)
	if code != terminal.ExitInvalid || !strings.Contains(out, "+++ b/fleet/clusters/edge2/team-a/shop/deployment-shop.yaml\n") {
		t.Fatalf("Nothing is there yet: exit code %d:\n%s%s", code, out, problems)
	}
	rendered := filepath.Join(t.TempDir(), "out")
	if _, problems, code := runIntent("", append(args, "--to", rendered)...); code != 0 {
		t.Fatalf("run(...): exit code %d: %s", code, problems)
	}
	for _, site := range []string{"edge1", "edge2"} {
		target := filepath.Join(checkout, "fleet/clusters", site, "team-a/shop")
		if err := os.CopyFS(target, os.DirFS(filepath.Join(rendered, site))); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(target, ".intentplane"), []byte("marker"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, problems, code := runIntent("", diff...); code != 0 || out != "" {
		t.Errorf("The branch has all files: exit code %d:\n%s%s", code, out, problems)
	}
	secret := filepath.Join(checkout, "fleet/clusters/edge1/team-a/shop/old.yaml")
	if err := os.WriteFile(secret, []byte("apiVersion: v1\nkind: Secret\nstringData: {a: hunter2}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _, code = runIntent("", diff...)
	if code != terminal.ExitInvalid || !strings.Contains(out, "A Secret differs") || strings.Contains(out, "hunter2") {
		t.Errorf("Objects to remove are shown, Secrets are not: exit code %d:\n%s", code, out)
	}
}
