package offline

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/test/cli"
)

const canaryClaims = "../../../examples/delivery/canary.yaml"

// TestPlanIsPrinted validates the claims of the examples, whose two shapes have the same plan.
func TestPlanIsPrinted(t *testing.T) {
	args := append([]string{"validate", canaryClaims}, cli.CanaryCatalog(t, examples, blueprints)...)
	out, problems, code := runIntent("", args...)
	const plan = `team-a/shop-canary wave first (edge1) has 4 steps: 1: 0 %, 2: 5 % (gate, pause 10m), 3: 20 % (gate, until a user promotes it), 4: 100 % (gate)
team-a/shop-canary wave rest (edge2) has 3 steps: 5: 0 %, 6: 50 % (gate, pause 5m), 7: 100 % (gate)
team-a/shop-canary goes out in 7 steps of at most 20
`
	plans := plan + strings.ReplaceAll(plan, "shop-canary", "shop-canary-claim")
	if diff := cmp.Diff(plans+"2 objects, 0 mistakes\n", out); diff != "" || code != 0 {
		t.Errorf("run(%q): exit code %d: -want, +got:\n%s%s", args, code, diff, problems)
	}
	out, _, _ = runIntent("", append(args, "-o", "json")...)
	got := ValidationReport{}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	want := StepReport{Step: 6, Weight: 50, Ahead: 100, Gate: true, Pause: "5m"}
	if len(got.Plans) != 2 || len(got.Plans[1].Waves) != 2 || got.Plans[1].Waves[1].Steps[1] != want {
		t.Errorf("run(-o json): want two plans, with %+v, got %+v", want, got.Plans)
	}
}

// TestRenderedStep renders a claim in steps of its canary.
func TestRenderedStep(t *testing.T) {
	b, err := os.ReadFile(canaryClaims)
	if err != nil {
		t.Fatal(err)
	}
	claim, _, _ := strings.Cut(string(b), "---\n")
	cases := map[string]struct {
		reason  string
		args    []string
		code    int
		want    []string
		without string
	}{
		"Prepare": {
			reason: "The pods for the first weight start, and get no requests.",
			args:   []string{"--step=1"}, want: []string{"weight: 0", "weight: 100", "replicas: 1\n"}, without: "edge2",
		},
		"Weight": {
			reason: "The route gives the revision its weight, and the number of pods fits the next weight.",
			args:   []string{"--step=3"}, want: []string{"weight: 20", "weight: 80", "replicas: 4\n"}, without: "edge2",
		},
		"NextWave": {
			reason: "A finished wave keeps its weights when the next wave begins.",
			args:   []string{"--step=6"}, want: []string{"edge1", "edge2", "weight: 0", "weight: 100", "weight: 50"}, without: "/kustomization.yaml",
		},
		"NoStep": {
			reason: "A step that the plan does not have is refused.",
			args:   []string{"--step=8"}, code: terminal.ExitInvalid,
			want: []string{"the deployment goes out in 7 steps, counted from 1: step 8 does not exist"},
		},
		"Zero": {
			reason: "Steps count from 1, as the status does.",
			args:   []string{"--step=0"}, code: terminal.ExitInvalid,
			want: []string{"the deployment goes out in 7 steps, counted from 1: step 0 does not exist"},
		},
		"WithDiff": {
			reason: "A checkout has the track of the stable revision, which is not known here.",
			args:   []string{"--step=1", "--diff=."}, code: terminal.ExitUsage, want: []string{"can't be used together"},
		},
		"WithInput": {
			reason: "The input of kustomize has no steps.",
			args:   []string{"--step=1", "--inputs"}, code: terminal.ExitUsage, want: []string{"can't be used together"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, problems, code := runIntent(claim, append(append([]string{"render", "-"}, cli.CanaryCatalog(t, examples, blueprints)...), tc.args...)...)
			if code != tc.code || tc.without != "" && strings.Contains(out, tc.without) {
				t.Errorf("\n%s\nrun(render): want exit code %d and nothing of %q, got %d:\n%s%s", tc.reason, tc.code, tc.without, code, out, problems)
			}
			for _, want := range tc.want {
				if !strings.Contains(out+problems, want) {
					t.Errorf("\n%s\nrun(render): want %q in:\n%s%s", tc.reason, want, out, problems)
				}
			}
		})
	}
}
