package controlplane

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRaceFlag asks the script that "make test" asks for the flag of the race detector.
func TestRaceFlag(t *testing.T) {
	const without = "tools: tests run WITHOUT the race detector: it needs cgo and a C compiler"
	compiler, err := exec.LookPath("true")
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		env    []string
		want   string
		says   string
	}{
		"Compiler":   {reason: "A machine with a C compiler runs tests with the race detector.", env: []string{"CGO_ENABLED=1", "CC=" + compiler}, want: "-race\n"},
		"NoCompiler": {reason: "A machine without a C compiler runs tests without the race detector, and says so.", env: []string{"CGO_ENABLED=1", "CC=/nowhere/gcc"}, says: without},
		"NoCgo":      {reason: "Where cgo is switched off tests run without the race detector, which is said.", env: []string{"CGO_ENABLED=0", "CC=" + compiler}, says: without},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "../../tools/tools.sh", "race")
			cmd.Env = append(os.Environ(), tc.env...)
			problems := &bytes.Buffer{}
			cmd.Stderr = problems
			out, err := cmd.Output()
			if diff := cmp.Diff(tc.want, string(out)); diff != "" || err != nil || !strings.HasPrefix(problems.String(), tc.says) || tc.says == "" && problems.Len() > 0 {
				t.Errorf("\n%s\ntools.sh race: %v: %s: -want, +got:\n%s", tc.reason, err, problems, diff)
			}
		})
	}
}
