package sites

import (
	"io"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// A wire is a way to a cluster that can be cut. Connections are refused then, as where nobody listens.
type wire struct {
	address, to string
	// reserved is a socket that has the address while the wire is cut, so that no other program gets it. Zero means none.
	reserved int

	mu       sync.Mutex
	listener net.Listener
	open     []net.Conn
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	w := &wire{address: "127.0.0.1:0", to: to}
	w.mend(t)
	t.Cleanup(w.end)
	return w
}

// mend lets those who come through, at the same address as before.
func (w *wire) mend(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	l, err := w.listen(t)
	if err != nil {
		t.Fatal(err)
	}
	w.listener, w.address = l, l.Addr().String()
	go w.serve(l)
}

func (w *wire) listen(t *testing.T) (net.Listener, error) {
	t.Helper()
	if w.reserved == 0 {
		return (&net.ListenConfig{}).Listen(t.Context(), "tcp", w.address)
	}
	f := os.NewFile(uintptr(w.reserved), "wire")
	defer f.Close()
	w.reserved = 0
	if err := syscall.Listen(int(f.Fd()), syscall.SOMAXCONN); err != nil {
		return nil, err
	}
	return net.FileListener(f)
}

// reserve takes the address without listening.
func (w *wire) reserve(t *testing.T) {
	t.Helper()
	at, err := netip.ParseAddrPort(w.address)
	if err != nil {
		t.Fatal(err)
	}
	if w.reserved, err = syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0); err != nil {
		t.Fatal(err)
	}
	if err := syscall.SetsockoptInt(w.reserved, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Bind(w.reserved, &syscall.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}); err != nil {
		t.Fatal(err)
	}
}

func (w *wire) serve(l net.Listener) {
	for {
		from, err := l.Accept()
		if err != nil {
			return
		}
		to, err := (&net.Dialer{}).Dial("tcp", w.to)
		if err != nil {
			_ = from.Close()
			continue
		}
		w.mu.Lock()
		w.open = append(w.open, from, to)
		w.mu.Unlock()
		go pipe(from, to)
		go pipe(to, from)
	}
}

func pipe(from, to net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
}

// cut ends all connections, and lets nobody through until the wire is mended.
func (w *wire) cut(t *testing.T) {
	t.Helper()
	w.end()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reserve(t)
}

// end all connections.
func (w *wire) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.listener.Close()
	for _, c := range w.open {
		_ = c.Close()
	}
	w.open = nil
}

// behind makes a Site reachable by a wire only.
func (s *stage) behind(site string) *wire {
	s.T.Helper()
	host, err := url.Parse(s.edge.Config.Host)
	s.must(err)
	w := newWire(s.T, host.Host)
	b, err := os.ReadFile(s.edge.Kubeconfig)
	s.must(err)
	data := map[string][]byte{"value": []byte(strings.ReplaceAll(string(b), host.Host, w.address))}
	name := site + "-kubeconfig"
	s.must(s.Client.Create(s.T.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name + "-far"}, Data: data}))
	s.Patch(s.NewSite(site), `{"spec":{"cluster":{"kubeconfigSecretRef":{"name":"`+name+`-far"}}}}`)
	return w
}

// TestUnreachable cuts the wire to one of two clusters. Nothing else may suffer.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	s := manySites(t, "near", "far")
	far := s.behind("far")
	s.suspend("near", false)
	s.suspend("far", false)
	both := s.Claim("both", s.intentFor("both", 1, "near", "far"))
	near := s.Claim("near", s.intentFor("near", 1, "near"))
	alone := s.Claim("alone", s.intentFor("alone", 1, "far"))
	for _, c := range []*unstructured.Unstructured{both, near, alone} {
		s.Apply(c)
	}
	for _, c := range []*unstructured.Unstructured{both, near, alone} {
		s.Succeed(c)
	}
	commits, before := len(s.Commits()), s.Now(near)

	far.cut(t)
	unreachable := func(u *unstructured.Unstructured) bool {
		return s.stateOf(u, "far") == "Syncing" && strings.Contains(scene.Field(u, "status", "delivery", "sites", s.Site("far"), "message"), "ClusterUnreachable") &&
			scene.Field(u, "status", "phase") == "Succeeded" && scene.Is(u, "Reconciling", corev1.ConditionTrue, "Drifted") && scene.Is(u, "Ready", corev1.ConditionFalse, "")
	}
	s.Await(alone, "nobody knows what runs", unreachable)
	seen := s.Await(both, "nobody knows what runs at one Site", unreachable)
	if s.stateOf(seen, "near") != "Live" {
		t.Errorf("the Site that can be reached is %s", s.stateOf(seen, "near"))
	}
	after := s.Now(near)
	if !scene.Is(after, "Ready", corev1.ConditionTrue, "") {
		t.Errorf("a claim that does not go there is not Ready: %v", scene.Condition(after, "Ready"))
	}
	for _, o := range []*unstructured.Unstructured{before, after} {
		unstructured.RemoveNestedField(o.Object, "status", "conditions") // Crossplane moves their times.
	}
	if diff := cmp.Diff(before.Object["status"], after.Object["status"]); diff != "" {
		t.Errorf("a claim that does not go there has another status: -before, +after:\n%s", diff)
	}
	if got := len(s.Commits()); got != commits {
		t.Errorf("want %d commits, got %d", commits, got)
	}

	// The others go on.
	began := time.Now()
	s.Succeed(s.Set(near, s.intentFor("near", 2, "near"), "spec", "intent"))
	t.Logf("a claim that does not go there succeeded after %s", time.Since(began))
	s.Reach(s.Set(both, s.intentFor("both", 2, "near", "far"), "spec", "intent"), "live where it can be", func(u *unstructured.Unstructured) bool {
		return s.stateOf(u, "near") == "Live" && s.stateOf(u, "far") == "Syncing" && scene.Field(u, "status", "phase") == "Delivering"
	})

	far.mend(t)
	s.Succeed(both)
	s.Succeed(alone)
}
