// Package docs types the commands of the documentation, on a real control plane on which Crossplane makes Deployments.
package docs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
	"github.com/intentplane/intentplane/test/typed"
)

// pageLimit is the time that all blocks of a page may take together.
const pageLimit = 20 * time.Minute

// A reader types pages in a folder with the content of a clone of the repository, with the programs that the pages name.
type reader struct {
	cp     *controlplane.ControlPlane
	root   string
	dir    string
	home   string
	values map[string]string
}

// newPageReader returns a reader on a control plane, who replaces values of the pages by their own. A user has logged in to the registry.
func newPageReader(t *testing.T, cp *controlplane.ControlPlane, values map[string]string, user, password string) *reader {
	t.Helper()
	root, err := toolbox.Root()
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{cp: cp, root: root, dir: t.TempDir(), home: t.TempDir(), values: values}
	for _, folder := range []string{"examples", "docs"} {
		if err := os.CopyFS(filepath.Join(r.dir, folder), os.DirFS(filepath.Join(root, folder))); err != nil {
			t.Fatal(err)
		}
	}
	// A reader has a claim, which the pages call claim.yaml.
	if err := os.Symlink(filepath.Join("examples", "quickstart", "40-claim.yaml"), filepath.Join(r.dir, "claim.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(root, "_output"), filepath.Join(r.dir, "_output")); err != nil {
		t.Fatal(err)
	}
	r.installPrograms(t)
	r.logInToRegistry(t, user, password)
	return r
}

// installPrograms puts kubectl, its plugin and Crossplane's command line into a folder of the reader's PATH.
func (r *reader) installPrograms(t *testing.T) {
	t.Helper()
	cli, err := toolbox.Path(t.Context(), "CROSSPLANE_CLI")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(r.home, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"kubectl": r.cp.KubectlPath(), "crossplane": cli, "kubectl-intent": filepath.Join(r.root, "_output", "bin", "kubectl-intent"),
	} {
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// logInToRegistry has the same effect as "docker login".
func (r *reader) logInToRegistry(t *testing.T, user, password string) {
	t.Helper()
	if user == "" {
		return
	}
	config, err := json.Marshal(map[string]any{"auths": map[string]any{r.cp.Registry(): map[string]string{"username": user, "password": password}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(r.home, ".docker"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.home, ".docker", "config.json"), config, 0o600); err != nil {
		t.Fatal(err)
	}
}

// sectionInstalling is the name of a section with the commands that install the kinds of its page.
const sectionInstalling = "Installing"

// blocksOfPage returns the code blocks of a page, of these sections alone if some are named. The blocks of section Installing come first: a page begins with an
// example.
func (r *reader) blocksOfPage(t *testing.T, path string, sections ...string) []typed.Block {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(r.root, path))
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := typed.Blocks(path, string(b))
	if err != nil {
		t.Fatal(err)
	}
	if len(sections) == 0 {
		isInstalling := func(b typed.Block) bool { return b.Section == sectionInstalling }
		return slices.Concat(selectBlocks(blocks, isInstalling), slices.DeleteFunc(blocks, isInstalling))
	}
	return selectBlocks(blocks, func(b typed.Block) bool { return slices.Contains(sections, b.Section) })
}

func selectBlocks(blocks []typed.Block, isSelected func(typed.Block) bool) []typed.Block {
	return slices.DeleteFunc(slices.Clone(blocks), func(b typed.Block) bool { return !isSelected(b) })
}

// typeAllBlocks types blocks in order, and returns the output. It fails the test at the first failure.
func (r *reader) typeAllBlocks(t *testing.T, name string, blocks []typed.Block) string {
	t.Helper()
	s := typed.NewScript(blocks, r.values)
	began := time.Now()
	out, err := r.runScript(t.Context(), s)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	t.Logf("%s: typed %d blocks in %s; %d are marked as not typed", name, s.Typed, time.Since(began).Round(time.Second), s.Skipped)
	if s.Typed == 0 {
		t.Errorf("%s: no block was typed", name)
	}
	return out
}

// runScript runs a script, and returns its output. Its error names the block that failed, with the output.
func (r *reader) runScript(ctx context.Context, s typed.Script) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, pageLimit)
	defer cancel()
	// All examples are one script, which is too long for an argument.
	file := filepath.Join(r.home, fmt.Sprintf("script-%x", sha256.Sum256([]byte(s.Text))))
	if err := os.WriteFile(file, []byte(s.Text), 0o600); err != nil {
		return "", fmt.Errorf("cannot write the script: %w", err)
	}
	cmd := exec.CommandContext(ctx, "bash", file)
	cmd.Dir = r.dir
	cmd.Env = []string{
		"HOME=" + r.home, "KUBECONFIG=" + r.cp.Kubeconfig,
		"PATH=" + filepath.Join(r.home, "bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("the block at %s failed: %w\n%s", typed.Last(out.String()), err, out.String())
	}
	return out.String(), nil
}
