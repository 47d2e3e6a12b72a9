// Package render shows that Crossplane's own commands, which need no cluster, agree with us: "crossplane render" makes of the examples what
// stands beside them, and "crossplane beta validate" accepts them.
package render

import (
	"bytes"
	"flag"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/controlplane"
)

// update writes what is wanted anew: go test ./test/e2e/render -update.
var update = flag.Bool("update", false, "write what is rendered into the examples")

// patience is how long the function may take to start.
const patience = 20 * time.Second

func TestRender(t *testing.T) {
	root, err := controlplane.Root()
	if err != nil {
		t.Fatal(err)
	}
	v := newValidator(t)
	address := serve(t, filepath.Join(root, "_output", "bin", "function"))
	cases := map[string]struct {
		reason string
		shape  string
		dir    string
		prefix string
	}{
		"Claim":        {reason: "A claim's composite should become deliveries to both Sites.", shape: "claims", dir: "claim"},
		"Namespaced":   {reason: "A composite without a claim should become a delivery.", shape: "namespaced", dir: "namespaced"},
		"UnknownSite":  {reason: "A Site that is not there should be waited for.", shape: "claims", dir: "unknown-site"},
		"BrokenIntent": {reason: "What is wrong should stand in the status.", shape: "claims", dir: "broken-intent"},
		"Cluster":      {reason: "A WorkloadCluster should become a ManagedCluster.", shape: "claims", dir: "cluster", prefix: "workloadcluster-"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			composition := filepath.Join(root, "apis", "composition", tc.shape)
			examples := filepath.Join(root, "examples", "render")
			args := []string{
				"render",
				filepath.Join(examples, tc.dir, "composite.yaml"), filepath.Join(composition, tc.prefix+"composition.yaml"), filepath.Join(examples, "functions.yaml"),
				"--required-resources=" + filepath.Join(examples, "required"), "--xrd=" + filepath.Join(composition, tc.prefix+"definition.yaml"),
				"--function-annotations=render.crossplane.io/runtime-development-target=" + address,
			}
			compare(t, tc.reason, filepath.Join(examples, tc.dir, "want.yaml"), withoutTimes(crossplane(t, v.cli, args...)))
			whole := crossplane(t, v.cli, append(args, "--include-full-xr")...)
			if out, err := v.run(t, string(whole), "-"); err != nil || strings.Contains(out, "[!]") {
				t.Errorf("\n%s\ncrossplane beta validate refuses what was rendered: %v\n%s", tc.reason, err, out)
			}
		})
	}
}

// crossplaneCLI is the path of the crossplane command.
func crossplaneCLI(t *testing.T) string {
	t.Helper()
	cli := os.Getenv("CROSSPLANE_CLI")
	if cli == "" {
		t.Fatal("CROSSPLANE_CLI names no program: run make test-e2e, or see tools/tools.sh env")
	}
	return cli
}

func crossplane(t *testing.T, cli string, args ...string) []byte {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), cli, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return out
}

func compare(t *testing.T, reason, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("\n%s\ncrossplane render: -want, +got:\n%s", reason, diff)
	}
}

// withoutTimes replaces the times of transitions, which are those of the call, by the time that Crossplane gives to conditions.
func withoutTimes(out []byte) []byte {
	return regexp.MustCompile(`(?m)^(  - at: ).+$`).ReplaceAll(bytes.TrimPrefix(out, []byte("---\n")), []byte(`$1"2024-01-01T00:00:00Z"`))
}

// serve starts the function without TLS, and returns where it listens.
func serve(t *testing.T, binary string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	log := &bytes.Buffer{}
	cmd := exec.CommandContext(t.Context(), binary, "--insecure", "--address="+address, "--metrics-address=")
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // The context of the test kills it before.
	tick, end := time.NewTicker(50*time.Millisecond), time.After(patience)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if conn, err := net.Dial("tcp", address); err == nil {
				_ = conn.Close()
				return address
			}
		case <-end:
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			t.Fatalf("the function does not listen: %s", log)
		}
	}
}
