package disruption

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/deployment"
	"github.com/intentplane/intentplane/function/render"
	"github.com/intentplane/intentplane/function/slot"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
	"github.com/intentplane/intentplane/test/scene"
)

// mark is the line that the next version of the function writes into each file.
const mark = "# By the next version.\n"

// far is the time until the slot of a deployment that must not begin while a test runs.
const far = time.Hour

// An edit of a source file.
type edit struct{ file, old, with string }

// laterVersion makes the function the n-th version after this one. Loud makes its files differ.
func laterVersion(n int32) edit {
	return edit{"function/render/render.go", fmt.Sprintf("const Version int32 = %d", render.Version), fmt.Sprintf("const Version int32 = %d", render.Version+n)}
}

func logVerbosely() edit {
	return edit{"function/render/output.go", "files[name] = b\n", fmt.Sprintf("files[name] = append([]byte(%q), b...)\n", mark)}
}

// buildFunction builds the function as it is but for some edits, and returns the path of the program.
func buildFunction(t *testing.T, name string, edits ...edit) string {
	t.Helper()
	root, err := toolbox.Root()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	overlay := map[string]map[string]string{"Replace": {}}
	for _, e := range edits {
		overlay["Replace"][filepath.Join(root, e.file)] = editedClaim(t, root, dir, e)
	}
	b, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	list, program := filepath.Join(dir, "overlay.json"), filepath.Join(dir, name)
	if err := os.WriteFile(list, b, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-gcflags=all=-dwarf=false", "-overlay="+list, "-o", program, ".")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

func editedClaim(t *testing.T, root, dir string, e edit) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, e.file))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(b), e.old) != 1 {
		t.Fatalf("%s does not have %q once", e.file, e.old)
	}
	copied := filepath.Join(dir, filepath.Base(e.file))
	if err := os.WriteFile(copied, []byte(strings.Replace(string(b), e.old, e.with, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return copied
}

// serveFunction serves another function, which Crossplane calls continuously. An empty path is the first function.
func serveFunction(t *testing.T, binary string, args ...string) {
	t.Helper()
	if err := cp.UpgradeFunction(t.Context(), binary, append(args, "--ttl="+ttl.String())...); err != nil {
		t.Fatal(err)
	}
}

// awaitUpdatePending waits until a deployment is Ready with a revision, a renderer and a pending renderer.
func awaitUpdatePending(s *scene.Scene, o *unstructured.Unstructured, revision int64, renderer, waits string) {
	s.T.Helper()
	s.Await(o, fmt.Sprintf("revision %d by renderer %s, %q waits", revision, renderer, waits), func(u *unstructured.Unstructured) bool {
		return scene.Number(u, "status", "revision") == revision && scene.Field(u, "status", "renderer") == renderer &&
			scene.Field(u, "status", "update", "renderer") == waits && scene.Field(u, "status", "phase") == "Succeeded" &&
			scene.Is(u, "Ready", corev1.ConditionTrue, "")
	})
}

// isDeliveredByNext reports whether the next version delivered a claim.
func isDeliveredByNext(s *scene.Scene, claim string) bool {
	s.T.Helper()
	files := s.FilesBelow(s.Directory("edge1", claim))
	if len(files) == 0 {
		s.T.Fatalf("%s has no files", claim)
	}
	for path, content := range files {
		if strings.HasPrefix(path, "deployment-") && strings.HasPrefix(content, mark) {
			return true
		}
	}
	return false
}

// nameWithLateTurn is the name of a claim whose time for the next renderer does not come soon.
func nameWithLateTurn(s *scene.Scene) string {
	s.T.Helper()
	for n := range 100 {
		name := fmt.Sprintf("auto-%d", n)
		ref := rolloutv1alpha1.ClaimReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Namespace: s.Namespace, Name: name}
		if slot.Of(ref, render.Version+2, deployment.RendererSpread).Wait(time.Now()) > far {
			return name
		}
	}
	s.T.Fatal("every deployment has its time now")
	return ""
}
