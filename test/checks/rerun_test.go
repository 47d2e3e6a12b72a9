package checks

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestRunEndsLeftProcesses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sites")
	writeFiles(t, dir, map[string]string{"gotestsum": leavingGotestsum})
	network, err := filepath.Abs("../e2e/own-network.sh")
	if err != nil {
		t.Fatal(err)
	}
	ownNetwork := readLink(t, exec.CommandContext(t.Context(), "readlink", "/proc/self/ns/net"))
	want := "LEFT sites: sleep 321 \n"
	if runNetwork := readLink(t, exec.CommandContext(t.Context(), network, "readlink", "/proc/self/ns/net")); runNetwork == ownNetwork {
		want = "" // Where no network can be made, a suite has none of its own.
	}
	cmd := exec.CommandContext(t.Context(), "../e2e/run.sh")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GOTESTSUM=" + filepath.Join(dir, "gotestsum"), "SUITES=./p", "LIMIT=1m", "NETWORK=" + network}
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != want {
		t.Errorf("run.sh: %v, printed %q, want %q", err, out, want)
	}
	if exec.CommandContext(t.Context(), "pgrep", "-f", "^sleep 321$").Run() == nil && want != "" {
		t.Error("the process that the suite left behind still runs")
	}
}

func TestRerunOfSuites(t *testing.T) {
	cases := map[string]struct {
		reason         string
		report, status string
		want           string
		fails          bool
	}{
		"Passed": {
			reason: "A run without a failed test has no report, and passes.",
			status: "0",
		},
		"Flake": {
			reason: "A test that failed once of two runs is a flake, and does not fail the run.",
			report: `p/e2e/sites.TestProof: 2 runs, 1 failures\n`, status: "0",
			want: "FLAKE p/e2e/sites.TestProof",
		},
		"FailedTwice": {
			reason: "A test that failed in both runs fails the run.",
			report: `p/e2e/sites.TestProof: 2 runs, 2 failures\n`, status: "1",
			want: "--- FAIL: twice: p/e2e/sites.TestProof", fails: true,
		},
		"NoTestFailed": {
			reason: "A suite whose control plane did not start, or ended, fails the run, although gotestsum calls the second run without tests a success.",
			report: `p/e2e/sites.: 0 runs, 0 failures\n`, status: "0",
			want: "FAIL\tp/e2e/sites\tno test failed, but its control plane did", fails: true,
		},
		"OtherSubtests": {
			reason: "A story fails the run if other subtests fail when it runs alone, and none of its subtests is a flake.",
			report: `p/e2e/sites.TestProof: 2 runs, 2 failures\np/e2e/sites.TestProof/claims: 2 runs, 1 failures\n` +
				`p/e2e/sites.TestProof/namespaced: 2 runs, 1 failures\n`, status: "1",
			want: "--- FAIL: twice: p/e2e/sites.TestProof", fails: true,
		},
		"NotRepeated": {
			reason: "A story that did not run alone fails the run.",
			report: `p/e2e/sites.TestProof: 1 runs, 1 failures\n`, status: "0",
			want: "--- FAIL: twice: p/e2e/sites.TestProof", fails: true,
		},
		"TooMany": {
			reason: "A run with so many failed tests that none was repeated fails without a report.",
			status: "1", fails: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeFiles(t, dir, map[string]string{"gotestsum": fakeGotestsum})
			cmd := exec.CommandContext(t.Context(), "../e2e/run.sh", "-run", "^TestProof$")
			cmd.Env = []string{
				"PATH=" + os.Getenv("PATH"), "GOTESTSUM=" + filepath.Join(dir, "gotestsum"), "SUITES=./p", "LIMIT=1m", "REPORT=" + tc.report, "STATUS=" + tc.status,
			}
			out, err := cmd.CombinedOutput()
			if (err != nil) != tc.fails || strings.TrimSuffix(string(out), "\n") != tc.want {
				t.Errorf("\n%s\nrun.sh: %v, want a failure: %t\nprinted %q, want %q", tc.reason, err, tc.fails, out, tc.want)
			}
		})
	}
}
