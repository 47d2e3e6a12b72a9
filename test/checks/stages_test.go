// Package checks tests how the project is checked: the tiers of its tests, and the scripts that run them.
package checks

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fakeMake plays the stages: it prints the log of a stage, and fails if the file STAGE.fails exists.
const fakeMake = `#!/usr/bin/env bash
stage=${@: -1}
cat "$(dirname "$0")/$stage.log"
[[ ! -e $(dirname "$0")/$stage.fails ]]
`

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

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// writeFiles writes files that can be run into a folder.
func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
