package controlplane

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOwnNetwork runs programs as "make test" runs the end-to-end suites.
func TestOwnNetwork(t *testing.T) {
	const script = "../e2e/own-network.sh"
	here, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Logf("There are no network namespaces here: %v", err)
	}
	separate := here != "" && exec.CommandContext(t.Context(), "unshare", "--net", "ip", "link", "add", "v0", "type", "veth").Run() == nil
	cases := map[string]struct {
		reason  string
		program string
		args    []string
		want    string
		code    int
	}{
		"Passes":  {reason: "The program gets its arguments as they are, and its exit code is that of the script.", program: `echo "$1"; exit 3`, args: []string{"a  b"}, want: "a  b\n", code: 3},
		"Network": {reason: "Where a network can be made the program has one of its own; elsewhere it has ours.", program: `[[ $(readlink /proc/self/ns/net) == "$1" ]] || echo separate`, args: []string{here}, want: map[bool]string{true: "separate\n"}[separate]},
		"Default": {reason: "A network that was made has a loopback and a default route.", program: `[[ $(readlink /proc/self/ns/net) == "$1" ]] || { ip route get 192.0.2.1 && ip route get 127.0.0.1; } | grep -o 'dev [a-z0-9]*'`, args: []string{here}, want: map[bool]string{true: "dev v0\ndev lo\n"}[separate]},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), script, append([]string{"bash", "-c", tc.program, "bash"}, tc.args...)...)
			problems := &bytes.Buffer{}
			cmd.Stderr = problems
			out, err := cmd.Output()
			if diff := cmp.Diff(tc.want, string(out)); diff != "" || cmd.ProcessState.ExitCode() != tc.code {
				t.Errorf("\n%s\n%s %s: %v: %s: -want, +got:\n%s", tc.reason, script, tc.program, err, problems, diff)
			}
		})
	}
}

func TestNetworkID(t *testing.T) {
	id := networkID()
	if strings.ContainsAny(id, "/[]:") {
		t.Errorf("\nThe name of a network is a part of a file's name.\nnetworkID(): got %q", id)
	}
}
