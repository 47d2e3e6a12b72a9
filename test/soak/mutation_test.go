package soak

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A mutation takes one rule of the function away. The story with the seed goes wrong without it.
type mutation struct {
	reason string
	file   string
	old    string
	new    string
	seed   uint64
}

func mutations() map[string]mutation {
	return map[string]mutation{
		"Hold": {
			reason: "A rejected revision is held until the intent changes.", file: "rollout/order.go",
			old: "if current.Rejected() && current.Intent == w.Request.Intent {", new: "if false {", seed: 4992970188115753511,
		},
		"GateFirst": {
			reason: "What has a Gate waits for its verdict.", file: "rollout/judge.go",
			old: "!p.Live || Gated(o) && !p.Passed || paused(o)", new: "!p.Live || paused(o)", seed: 6500587889403840581,
		},
		"LiveFirst": {
			reason: "What is not proven to run is not verified.", file: "phase/proof.go",
			old: "return f.Sync == nil || f.watched() && rollout.Live(f.ObservedSync, *f.Order)", new: "return true", seed: 3932766500995672396,
		},
		"ProvenBack": {
			reason: "What is taken back is proven to run.", file: "rollout/back.go",
			old: "case r.Proof.Live:\n", new: "case true:\n", seed: 4665578744567781730,
		},
		"Recorded": {
			reason: "Good news waits for the record.", file: "phase/proof.go",
			old: "return f.atLastStep() && f.Order.Verified() && f.recorded() }", new: "return f.atLastStep() && f.Order.Verified() }", seed: 6500587889403840581,
		},
		"Verdict": {
			reason: "A verdict never changes.", file: "rollout/judge.go",
			old: "case o.Verdict != nil:\n		return o\n	case p.Failure", new: "case o.Rejected():\n		return o\n	case p.Failure", seed: 4500664256484299131,
		},
	}
}

// source of a mutation, with the rule and without it.
func (m mutation) source(t *testing.T) (path, without string) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "function", m.file))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), m.old); n != 1 {
		t.Fatalf("%s holds the rule %d times: %s", m.file, n, m.old)
	}
	return path, strings.Replace(string(b), m.old, m.new, 1)
}

// TestMutations takes one rule of the function away at a time, and tells the story that shows why it is there. In the short form it only finds the rules.
func TestMutations(t *testing.T) {
	for name, m := range mutations() {
		t.Run(name, func(t *testing.T) {
			path, without := m.source(t)
			if !Long() {
				return
			}
			dir := t.TempDir()
			mutant, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
			replace, err := json.Marshal(map[string]any{"Replace": map[string]string{path: mutant}})
			if err != nil {
				t.Fatal(err)
			}
			for file, content := range map[string][]byte{mutant: []byte(without), overlay: replace} {
				if err := os.WriteFile(file, content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-overlay", overlay, "-run", "^TestWalk$", "github.com/intentplane/intentplane/function")
			cmd.Env = append(os.Environ(), "INTENTPLANE_WALK="+strconv.FormatUint(m.seed, 10), variable+"=")
			out, err := cmd.CombinedOutput()
			// One that does not build, or panics, shows nothing.
			told := strings.Contains(string(out), "--- FAIL: TestWalk") && !strings.Contains(string(out), "panic: ")
			if err == nil || !told {
				t.Errorf("\n%s\nstory %d does not miss the rule:\n%s", m.reason, m.seed, out)
			}
		})
	}
}
