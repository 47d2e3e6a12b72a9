package port

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOwnNetwork runs programs as "make test" runs the end-to-end suites.
func TestOwnNetwork(t *testing.T) {
	const script = "../../e2e/own-network.sh"
	ownNetwork, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Logf("This machine has no network namespaces: %v", err)
	}
	separate := ownNetwork != "" && exec.CommandContext(t.Context(), "unshare", "--net", "ip", "link", "add", "v0", "type", "veth").Run() == nil
	cases := map[string]struct {
		reason  string
		program string
		args    []string
		want    string
		code    int
	}{
		"Passes":  {reason: "The program gets its arguments as they are, and its exit code is that of the script.", program: `echo "$1"; exit 3`, args: []string{"a  b"}, want: "a  b\n", code: 3},
		"Network": {reason: "Where a network can be made the program has one of its own; elsewhere it has ours.", program: `[[ $(readlink /proc/self/ns/net) == "$1" ]] || echo separate`, args: []string{ownNetwork}, want: map[bool]string{true: "separate\n"}[separate]},
		"Default": {reason: "A network that was made has a loopback and a default route.", program: `[[ $(readlink /proc/self/ns/net) == "$1" ]] || { ip route get 192.0.2.1 && ip route get 127.0.0.1; } | grep -o 'dev [a-z0-9]*'`, args: []string{ownNetwork}, want: map[bool]string{true: "dev v0\ndev lo\n"}[separate]},
		"Names": {
			reason:  "A network that was made reaches no name server, so that a lookup of a name fails at once.",
			program: `[[ $(readlink /proc/self/ns/net) == "$1" ]] || for s in $(awk '$1 == "nameserver" && $2 !~ /^127|:/ { print $2 }' /etc/resolv.conf); do ! ip route get "$s" 2>/dev/null; done`,
			args:    []string{ownNetwork},
		},
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
	id := networkSuffix()
	if strings.ContainsAny(id, "/[]:") {
		t.Errorf("\nThe name of a network is a part of a file's name.\nnetworkID(): got %q", id)
	}
}

// TestFree reserves ports from many goroutines at once.
func TestFree(t *testing.T) {
	const callers, portCount = 20, 30
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: nextListenPort() + 1})
	if err == nil {
		defer func() { _ = listener.Close() }()
	}
	found := make(chan []int, callers)
	for range callers {
		go func() {
			ports, err := Free(portCount)
			if err != nil {
				t.Errorf("Free(%d): %v", portCount, err)
			}
			found <- ports
		}()
	}
	reserved := map[int]bool{}
	for range callers {
		for _, port := range <-found {
			if reserved[port] || port < firstListenPort || port > lastListenPort || !isLoopbackPortFree(port) {
				t.Errorf("Free(%d): got %d, which was given before, has a listener or may be the port of an outgoing connection", portCount, port)
			}
			reserved[port] = true
		}
	}
	if len(reserved) != callers*portCount {
		t.Errorf("Free(%d): %d callers got %d ports", portCount, callers, len(reserved))
	}
}

// TestAcquire prints the reason for a wait, before it continues.
func TestAcquire(t *testing.T) {
	type world struct {
		port int
		path string
		// free ends the obstacle.
		free func()
	}
	listen := func(t *testing.T, w *world) {
		t.Helper()
		l, err := net.ListenTCP("tcp", &net.TCPAddr{Port: w.port})
		if err != nil {
			t.Fatal(err)
		}
		w.port = l.Addr().(*net.TCPAddr).Port
		w.free = func() { _ = l.Close() }
	}
	lock := func(t *testing.T, w *world) {
		t.Helper()
		l, err := tryLockingFile(w.path)
		if err != nil || l == nil {
			t.Fatalf("tryLock(...): %v, %v", l, err)
		}
		w.free = func() { _ = l.Close() }
	}
	cases := map[string]struct {
		reason string
		block  func(*testing.T, *world)
		want   string
	}{
		"Free":     {reason: "A free port causes no line about a wait."},
		"Locked":   {reason: "A wait for another control plane is printed.", block: lock, want: "waiting until another control plane of this machine ends"},
		"Occupied": {reason: "A wait for another program is printed.", block: listen, want: "waiting up to 10s until port"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := &world{path: filepath.Join(t.TempDir(), "lock")}
			if tc.block != nil {
				tc.block(t, w)
			}
			messages := []string{}
			l, err := acquireLock(t.Context(), w.port, w.path, func(message string) {
				messages = append(messages, message)
				w.free()
			})
			if err != nil {
				t.Fatalf("acquire(...): %v", err)
			}
			if err := l.Release(); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(messages, "\n"); !strings.HasPrefix(got, tc.want) || (got == "") != (tc.want == "") || len(messages) > 1 {
				t.Errorf("\n%s\nacquire(...): want %q, said %q", tc.reason, tc.want, messages)
			}
		})
	}
}
