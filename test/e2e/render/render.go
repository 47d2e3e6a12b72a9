// Package render shows that Crossplane's own commands, which need no cluster, agree with us: "crossplane render" renders the examples as the
// files beside them, and "crossplane beta validate" accepts them.
package render

import (
	"bytes"
	"flag"
	"net"
	"os"
	"os/exec"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/patience"
)

// update replaces the wanted files: go test ./test/e2e/render -update.
var update = flag.Bool("update", false, "write the rendered files into the examples")

// crossplaneCLI is the path of the crossplane command.
func crossplaneCLI(t *testing.T) string {
	t.Helper()
	cli := os.Getenv("CROSSPLANE_CLI")
	if cli == "" {
		t.Fatal("CROSSPLANE_CLI names no program: run make test-e2e, or see tools/tools.sh env")
	}
	return cli
}

func runCrossplane(t *testing.T, cli string, args ...string) []byte {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), cli, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return out
}

func compareTexts(t *testing.T, reason, file string, got []byte) {
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

// withoutTimes replaces the times of transitions, which are the time of the call, by the time that Crossplane gives to conditions.
func withoutTimes(out []byte) []byte {
	return regexp.MustCompile(`(?m)^(  - at: ).+$`).ReplaceAll(bytes.TrimPrefix(out, []byte("---\n")), []byte(`$1"2024-01-01T00:00:00Z"`))
}

// serveFunction starts the function without TLS, and returns where it listens.
func serveFunction(t *testing.T, binary string) string {
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
	tick, end := time.NewTicker(50*time.Millisecond), time.After(patience.Limit)
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
