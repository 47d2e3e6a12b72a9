package checks

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestStagesRunAllAndNameFaults(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		// logs by stage. A stage whose log contains FAIL fails.
		logs map[string]string
		// want are lines of the output, and unwanted are texts that it must not have.
		want, unwanted []string
		fails          bool
	}{
		"AllPass": {
			reason: "Stages that pass end with a line that names them, and with the number of packages from the cache.",
			logs:   map[string]string{"check": "fine\n", "test-unit": "ok  \tp/a\t(cached)\nok  \tp/b\t3.2s\n"},
			want:   []string{"passed: check test-unit", "unit tests: 1 of 2 packages from the cache", "tools: built none, all from the cache"},
		},
		"EachFaultOnce": {
			reason: "A stage that fails does not hold back the next stage, and the end names each fault once, by its stage.",
			logs: map[string]string{
				"check":     "apis/a.go: not formatted: run gofmt -w FAIL\n",
				"test-unit": "--- FAIL: TestSum (0.00s)\n    a_test.go:3: sum\n--- FAIL: TestSum (0.00s)\nFAIL\tp/a\t0.1s\n",
			},
			want: []string{
				"FAILED: make check", "  apis/a.go: not formatted: run gofmt -w FAIL", "FAILED: make test-unit", "  --- FAIL: TestSum (0.00s)",
				"  FAIL\tp/a\t0.1s",
			},
			unwanted: []string{"passed:", "  --- FAIL: TestSum (0.00s)\n  --- FAIL: TestSum"},
			fails:    true,
		},
		"TestsOfPackages": {
			reason: "Tests of one name in two packages are two faults, and a vet error is a fault.",
			logs: map[string]string{
				"check":     "vet: ./fn.go:3:4: undefined: FAIL\n",
				"test-unit": "--- FAIL: TestSum (0.00s)\nFAIL\tp/a\t0.1s\n--- FAIL: TestSum (0.00s)\nFAIL\tp/b\t0.1s\nFAIL\tp/b\t0.2s\n",
			},
			want: []string{
				"  vet: ./fn.go:3:4: undefined: FAIL",
				"  --- FAIL: TestSum (0.00s)\n  FAIL\tp/a\t0.1s\n  --- FAIL: TestSum (0.00s)\n  FAIL\tp/b\t0.1s",
			},
			unwanted: []string{"  FAIL\tp/b\t0.2s"},
			fails:    true,
		},
		"Stories": {
			reason: "A story that failed twice is one fault, and a story that passed alone is none.",
			logs: map[string]string{
				"check": "fine\n",
				"test-unit": "FAIL\tp/e2e/sites\t9.1s\n=== FAIL: e2e/sites TestProof/claims (1.00s)\n    --- FAIL: TestProof/claims (1.00s)\n" +
					"=== FAIL: e2e/sites TestProof (1.00s)\n=== FAIL: e2e/sites TestWaves (2.00s)\n=== FAIL: e2e/prune TestProof (3.00s)\n" +
					"=== FAIL: e2e/sites TestWaves (re-run 1) (2.10s)\n=== FAIL: e2e/prune TestProof (re-run 1) (3.10s)\n" +
					"FLAKE p/e2e/sites.TestProof\n--- FAIL: twice: p/e2e/prune.TestProof\n--- FAIL: twice: p/e2e/sites.TestWaves\n",
			},
			want: []string{
				"FLAKE p/e2e/sites.TestProof\nFAILED: make test-unit\n  === FAIL: e2e/sites TestWaves (2.00s)\n  === FAIL: e2e/prune TestProof (3.00s)",
			},
			unwanted: []string{"  === FAIL: e2e/sites TestProof", "  === FAIL: e2e/sites TestWaves (re-run 1)", "\n  --- FAIL", "  FAIL\t"},
			fails:    true,
		},
		"UnknownFault": {
			reason: "A stage that fails without a line that the script knows is shown by the end of its log.",
			logs:   map[string]string{"check": "no space left on device FAIL\n", "test-unit": "ok  \tp/a\t(cached)\n"},
			want:   []string{"FAILED: make check", "  no space left on device FAIL"},
			fails:  true,
		},
		"Flake": {
			reason: "A test that passed when it ran once more does not fail the run, and the end names it.",
			logs:   map[string]string{"check": "fine\n", "test-unit": "FLAKE p/e2e/sites.TestProof\n"},
			want:   []string{"passed: check test-unit", "FLAKE p/e2e/sites.TestProof"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			// The script finds the folder of the logs by its own place.
			writeFiles(t, dir, map[string]string{"make": fakeMake, "tools/stages.sh": readFile(t, filepath.Join(root, "tools", "stages.sh"))})
			for stage, log := range tc.logs {
				writeFiles(t, dir, map[string]string{stage + ".log": log})
				if strings.Contains(log, "FAIL") {
					writeFiles(t, dir, map[string]string{stage + ".fails": ""})
				}
			}
			cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "tools", "stages.sh"), "check", "test-unit")
			cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
			out, err := cmd.CombinedOutput()
			if (err != nil) != tc.fails {
				t.Errorf("\n%s\nstages.sh: %v\n%s", tc.reason, err, out)
			}
			for _, line := range tc.want {
				if !strings.Contains("\n"+string(out), "\n"+line+"\n") {
					t.Errorf("\n%s\nstages.sh does not print %q:\n%s", tc.reason, line, out)
				}
			}
			for _, text := range tc.unwanted {
				if strings.Contains(string(out), text) {
					t.Errorf("\n%s\nstages.sh prints %q:\n%s", tc.reason, text, out)
				}
			}
		})
	}
}

// TestStagesEndLeftProcesses has a stage that leaves a process behind, as a test of the package provider/git.
func TestStagesEndLeftProcesses(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string]string{
		"make": fakeMake, "tools/stages.sh": readFile(t, "../../tools/stages.sh"), "test-unit.log": "", "test-unit.leaves": "", "provider/git/x.go": "",
	})
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "tools", "stages.sh"), "test-unit")
	cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	want := "LEFT provider/git: sleep 654 \npassed: test-unit"
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		want = "passed: test-unit" // This system does not tell who began a process.
	}
	if err != nil || !strings.Contains(string(out), want) {
		t.Errorf("stages.sh: %v, want %q at the end:\n%s", err, want, out)
	}
	if exec.CommandContext(t.Context(), "pgrep", "-f", "^sleep 654$").Run() == nil && want != "passed: test-unit" {
		t.Error("the process that the stage left behind still runs")
	}
}
