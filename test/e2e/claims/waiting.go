package claims

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/test/controlplane/toolbox"
	"github.com/intentplane/intentplane/test/scene"
)

// edits is the number of edits of a deployment while a test records conditions. More of them at once would open the circuit breaker of Crossplane.
const edits = 2

// A shell types commands of the documentation, in a directory of its own, as a user of the scene's namespace.
type shell struct {
	*scene.Scene

	dir, group string
}

func newDocShell(s *scene.Scene, group string) *shell {
	s.T.Helper()
	sh := &shell{Scene: s, dir: s.T.TempDir(), group: group}
	for name, program := range map[string]string{"kubectl": s.Tool("KUBECTL"), "kubectl-intent": s.Built("kubectl-intent")} {
		s.Must(os.Symlink(program, filepath.Join(sh.dir, name)))
	}
	return sh
}

// writeClaimFile puts a deployment into the file that the documentation applies.
func (sh *shell) writeClaimFile(o *unstructured.Unstructured) {
	sh.T.Helper()
	b, err := yaml.Marshal(o.Object)
	sh.Must(err)
	sh.Must(os.WriteFile(filepath.Join(sh.dir, "claim.yaml"), b, 0o600))
}

// runDocBlock runs a block of the documentation, and returns its output and its error.
func (sh *shell) runDocBlock(block string) (string, error) {
	sh.T.Helper()
	block = strings.NewReplacer("team-a", sh.Namespace, "claims.intentplane.dev", sh.group).Replace(block)
	ctx, cancel := sh.Context()
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euc", block)
	cmd.Dir, cmd.Env = sh.dir, append(os.Environ(), "KUBECONFIG="+sh.Kubeconfig, "PATH="+sh.dir+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// waitingBlocks are the blocks of commands that scripts wait with, after the documentation.
func waitingBlocks(t *testing.T) []string {
	t.Helper()
	root, err := toolbox.Root()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(root, "docs", "operations", "waiting.md"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, block := range regexp.MustCompile("(?s)\n```sh\n(.*?)\n```").FindAllStringSubmatch(string(b), -1) {
		out = append(out, block[1])
	}
	if len(out) != 2 {
		t.Fatalf("the documentation has %d ways to wait, want 2", len(out))
	}
	return out
}

// A recorder keeps each turn of the conditions of an object.
type recorder struct {
	mu    sync.Mutex
	turns map[string][]string
}

// recordConditions follows an object until the test ends.
func recordConditions(s *scene.Scene, o *unstructured.Unstructured, types ...string) *recorder {
	s.T.Helper()
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion(o.GetAPIVersion())
	l.SetKind(o.GetKind() + "List")
	w, err := s.Client.Watch(s.T.Context(), l, client.InNamespace(o.GetNamespace()), client.MatchingFieldsSelector{
		Selector: fields.OneTermEqualSelector("metadata.name", o.GetName()),
	})
	s.Must(err)
	s.T.Cleanup(w.Stop)
	r := &recorder{turns: map[string][]string{}}
	go func() {
		for e := range w.ResultChan() {
			if observed, ok := e.Object.(*unstructured.Unstructured); ok {
				r.recordTurns(observed, types)
			}
		}
	}()
	return r
}

func (r *recorder) recordTurns(observed *unstructured.Unstructured, types []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, typ := range types {
		now := string(scene.Condition(observed, typ).Status)
		if recorded := r.turns[typ]; len(recorded) == 0 || recorded[len(recorded)-1] != now {
			r.turns[typ] = append(recorded, now)
		}
	}
}

// turnsOfCondition returns the turns of one condition so far, in one line.
func (r *recorder) turnsOfCondition(typ string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.turns[typ], " ")
}

// compositeOf is the composite of a claim, or nil for a namespaced one.
func compositeOf(s *scene.Scene, o *unstructured.Unstructured) *unstructured.Unstructured {
	s.T.Helper()
	name := scene.Field(s.Now(o), "spec", "resourceRef", "name")
	if name == "" {
		return nil
	}
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(o.GetAPIVersion())
	u.SetKind("XIntentDeployment")
	u.SetName(name)
	return u
}
