package clusters

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/account"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/shares"
)

// inTime is the limit of an operation that is not meant to wait.
const inTime = time.Minute

// An apiServer is as much of one as a watch of Kustomizations needs.
type apiServer struct {
	*httptest.Server

	mu      sync.Mutex
	status  int
	version int
	objects map[string]string
	// sent are the events so far: the version of an object is the number of its event.
	sent    []string
	watches map[chan string]bool
	lists   int
	patched string
	ended   chan struct{}
}

func newAPIServer(t *testing.T) *apiServer {
	t.Helper()
	s := &apiServer{objects: map[string]string{}, watches: map[chan string]bool{}, ended: make(chan struct{}, 100)}
	s.Server = httptest.NewTLSServer(s)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	status := s.status
	s.mu.Unlock()
	switch {
	case r.Header.Get("Authorization") != "Bearer "+canary:
		http.Error(w, "", http.StatusUnauthorized)
	case status == http.StatusFound && r.URL.Query().Get("redirected") == "":
		http.Redirect(w, r, r.URL.String()+"&redirected=1", status)
	case status == http.StatusFound:
		s.list(w)
	case status != 0:
		http.Error(w, "", status)
	case r.Method == http.MethodPatch:
		b, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.patched = r.URL.String() + " " + string(b)
		s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, s.object("edge1", "patched"))
	case r.URL.Query().Get("watch") != "":
		s.watch(w, r)
	default:
		s.list(w)
	}
}

func (s *apiServer) object(name, says string) string {
	return fmt.Sprintf(`{"apiVersion":"kustomize.toolkit.fluxcd.io/v1","kind":"Kustomization","metadata":{"name":%q,"namespace":"flux","resourceVersion":"%d","managedFields":[{}]},"spec":{"path":%q},"status":{"history":{}}}`,
		name, s.version, says)
}

func (s *apiServer) list(w http.ResponseWriter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists++
	items := []string{}
	for _, o := range s.objects {
		items = append(items, o)
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"apiVersion":"kustomize.toolkit.fluxcd.io/v1","kind":"KustomizationList","metadata":{"resourceVersion":"%d"},"items":[%s]}`, s.version, strings.Join(items, ","))
}

func (s *apiServer) watch(w http.ResponseWriter, r *http.Request) {
	events := make(chan string, 1000)
	s.mu.Lock()
	version, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	for _, e := range s.sent[version:] {
		events <- e
	}
	s.watches[events] = true
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.(http.Flusher).Flush()
	for {
		select {
		case e := <-events:
			fmt.Fprintln(w, e)
			w.(http.Flusher).Flush()
		case <-r.Context().Done():
			s.mu.Lock()
			delete(s.watches, events)
			s.mu.Unlock()
			s.ended <- struct{}{}
			return
		}
	}
}

// put an object, and send the event to the watches.
func (s *apiServer) put(name, says string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	verb := "MODIFIED"
	if s.objects[name] == "" {
		verb = "ADDED"
	}
	s.objects[name] = s.object(name, says)
	event := fmt.Sprintf(`{"type":%q,"object":%s}`, verb, s.objects[name])
	s.sent = append(s.sent, event)
	for c := range s.watches {
		c <- event
	}
}

func (s *apiServer) set(fn func()) {
	s.mu.Lock()
	fn()
	s.mu.Unlock()
	s.CloseClientConnections()
}

func (s *apiServer) kubeconfig(token string) []byte {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	b, err := json.Marshal(map[string]any{
		"current-context": "a",
		"clusters": []any{
			map[string]any{
				"name": "c", "cluster": map[string]any{"server": s.URL, "certificate-authority-data": base64.StdEncoding.EncodeToString(ca)},
			},
		},
		"contexts": []any{map[string]any{"name": "a", "context": map[string]any{"cluster": "c", "user": "u"}}},
		"users":    []any{map[string]any{"name": "u", "user": map[string]any{"token": token}}},
	})
	if err != nil {
		panic(err)
	}
	return b
}

func ref(name string) engines.Ref {
	gvr := schema.GroupVersionResource{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Resource: "kustomizations"}
	return engines.Ref{Resource: gvr, Kind: "Kustomization", Namespace: "flux", Name: name}
}

func owner(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "team-a", Name: name}
}

// A pool whose wakings can be waited for.
type pool struct {
	*Pool

	t     *testing.T
	woken chan types.NamespacedName
}

func newPool(t *testing.T) *pool {
	t.Helper()
	woken := make(chan types.NamespacedName, 100)
	p := &pool{Pool: NewPool(Dialer(&rest.Config{}, Limits{}), account.New(account.Bounds{}), func(o types.NamespacedName) { woken <- o }), t: t, woken: woken}
	p.patience = inTime
	t.Cleanup(func() {
		for _, name := range []string{"a", "b"} {
			p.Forget(owner(name))
		}
	})
	return p
}

// read an object as one pass of an owner, and return its path, or the reason of the error.
func (p *pool) read(reader string, kubeconfig []byte, names ...string) string {
	p.t.Helper()
	l := p.Look(owner(reader))
	defer l.Done()
	out := []string{}
	for _, name := range names {
		c, err := l.Remote(kubeconfig, Access{})
		if err != nil {
			p.t.Fatal(err)
		}
		o, err := c.Get(p.t.Context(), ref(name))
		var failure *Error
		switch {
		case errors.As(err, &failure):
			out = append(out, failure.Reason)
		case o == nil:
			out = append(out, "nothing")
		default:
			if o.GetManagedFields() != nil || o.Object["status"].(map[string]any)["history"] != nil {
				p.t.Error("the cache keeps unread fields")
			}
			out = append(out, o.Object["spec"].(map[string]any)["path"].(string))
		}
	}
	return strings.Join(out, " ")
}

func (p *pool) expect(description, want, got string) {
	p.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		p.t.Fatalf("%s: -want, +got:\n%s", description, diff)
	}
}

// until reads until the result is the wanted text, each time a reader is woken.
func (p *pool) until(description, want string, read func() string) {
	p.t.Helper()
	for got := read(); got != want; got = read() {
		select {
		case <-p.woken:
		case <-time.After(inTime):
			p.t.Fatalf("%s: want %q, got %q, and no reader is woken", description, want, got)
		}
	}
}

func (p *pool) sizes(links, watches int) {
	p.t.Helper()
	if l, w := p.Size(); l != links || w != watches {
		p.t.Fatalf("want %d connections and %d watches, got %d and %d", links, watches, l, w)
	}
}

// TestSlowKubeconfigDelaysNoOther has a kubeconfig of one tenant that takes long to read, and a connection of another tenant.
func TestSlowKubeconfigDelaysNoOther(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan struct{})
	defer close(ended)
	p := NewPool(func(k []byte, _ Origin) (dynamic.Interface, func(), error) {
		if string(k) == "slow" {
			close(begun)
			<-ended
		}
		return nil, func() {}, nil
	}, account.New(account.Bounds{}), func(types.NamespacedName) {})
	connect := func(kubeconfig, tenant string) {
		_, _ = p.Look(owner(tenant)).Remote([]byte(kubeconfig), Access{Origin: Origin(tenant), Tenant: tenant})
	}
	go connect("slow", "team-a")
	<-begun
	if free, ok := p.dials.TryAcquire(shares.Place{Namespace: "team-a"}); ok {
		free()
		t.Error("A tenant reads one kubeconfig at a time: TryAcquire(...): want false")
	}
	connected := make(chan struct{})
	go func() {
		connect("quick", "team-b")
		close(connected)
	}()
	select {
	case <-connected:
	case <-time.After(inTime):
		t.Errorf("A tenant waits for no kubeconfig of another tenant: Remote(...): no answer in %s", inTime)
	}
}

func TestSharedWatch(t *testing.T) {
	s := newAPIServer(t)
	s.put("edge1", "one")
	p, k := newPool(t), s.kubeconfig(canary)
	p.expect("a", "one nothing", p.read("a", k, "edge1", "edge2"))
	<-p.woken // The object came while it was read.
	p.expect("b", "one", p.read("b", k, "edge1"))
	p.sizes(1, 1)
	if s.lists != 1 {
		t.Errorf("two owners of one cluster listed %d times", s.lists)
	}
	// A change wakes the readers of the object, and no others.
	for range 3 {
		s.put("edge2", "two")
	}
	p.expect("woken reader", "a", (<-p.woken).Name)
	s.put("edge1", "one")
	woken := map[string]bool{}
	for len(woken) < 2 {
		woken[(<-p.woken).Name] = true
	}
	p.until("after the change", "one two", func() string { return p.read("a", k, "edge1", "edge2") })
	// A watch without readers ends.
	p.read("a", k)
	p.sizes(1, 1)
	p.Forget(owner("b"))
	p.sizes(0, 0)
	select {
	case <-s.ended:
	case <-time.After(inTime):
		t.Error("the cluster is still watched")
	}
}

// TestSelect wakes a reader that selects objects for each matching object, before a change or after it, and for no other
// object.
func TestSelect(t *testing.T) {
	s := newAPIServer(t)
	s.put("edge1", "one")
	s.put("edge2", "two")
	p, k := newPool(t), s.kubeconfig(canary)
	selectOnes := func() string {
		l := p.Look(owner("a"))
		defer l.Done()
		c, err := l.Remote(k, Access{})
		if err != nil {
			t.Fatal(err)
		}
		found, err := c.Select(t.Context(), ref(""), func(u *unstructured.Unstructured) bool {
			path, _, _ := unstructured.NestedString(u.Object, "spec", "path")
			return path == "one"
		})
		if err != nil {
			t.Fatal(err)
		}
		names := []string{}
		for _, u := range found {
			names = append(names, u.GetName())
		}
		return strings.Join(names, " ")
	}
	p.expect("what matches", "edge1", selectOnes())
	<-p.woken // The object came while it was read.
	p.expect("b", "two", p.read("b", k, "edge2"))
	s.put("edge2", "three")
	p.expect("the object without a match wakes its reader", "b", (<-p.woken).Name)
	s.put("edge1", "four")
	p.until("the object that matches no longer", "", selectOnes)
	s.put("edge2", "one")
	p.until("the object that matches now", "edge2", selectOnes)
}

func TestRotation(t *testing.T) {
	s := newAPIServer(t)
	s.put("edge1", "one")
	p := newPool(t)
	p.expect("a wrong token", v1alpha1.SiteReasonKubeconfigDenied, p.read("a", s.kubeconfig("other"), "edge1"))
	p.expect("the right one", "one", p.read("a", s.kubeconfig(canary), "edge1"))
	p.sizes(1, 1)
}

func TestFailures(t *testing.T) {
	cases := map[string]struct {
		reason string
		status int
		want   string
	}{
		"NotInstalled": {
			reason: "An answer that the kind does not exist means that the engine is not installed.",
			status: http.StatusNotFound, want: v1alpha1.SiteReasonEngineNotInstalled,
		},
		"Forbidden": {
			reason: "An answer that reading is forbidden means that access is denied.",
			status: http.StatusForbidden, want: v1alpha1.SiteReasonAccessDenied,
		},
		"Broken": {
			reason: "An API server with an internal error is not reachable.",
			status: http.StatusInternalServerError, want: v1alpha1.SiteReasonClusterUnreachable,
		},
		"Redirect": {reason: "An API server that redirects is not followed.", status: http.StatusFound, want: v1alpha1.SiteReasonClusterUnreachable},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newAPIServer(t)
			s.put("edge1", "one")
			s.set(func() { s.status = tc.status })
			p, k := newPool(t), s.kubeconfig(canary)
			p.expect(tc.reason, tc.want, p.read("a", k, "edge1"))
			// The provider looks for the object again without a request.
			s.set(func() { s.status = 0 })
			p.until("after it came", "one", func() string { return p.read("a", k, "edge1") })
			s.set(func() { s.status = tc.status })
			p.until("after it went", tc.want, func() string { return p.read("a", k, "edge1") })
		})
	}
}

// TestTenant reads from where a tenant says: not from the provider's own machine, also when an administrator's Site leads there.
func TestTenant(t *testing.T) {
	s := newAPIServer(t)
	s.put("edge1", "one")
	cases := map[string]struct {
		reason string
		origin Origin
		limits Limits
		want   string
	}{
		"Administrator": {reason: "An administrator may name any address of a cluster.", origin: Administrator, want: "nothing is wrong"},
		"Tenant": {
			reason: "A tenant may not name a loopback address: a server may listen there beside the provider.",
			origin: "team-a", want: v1alpha1.SiteReasonKubeconfigRefused,
		},
		"Allowed": {reason: "The provider's own flag allows a loopback address.", origin: "team-a", limits: Limits{Loopback: true}, want: "nothing is wrong"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := newPool(t)
			p.dial = Dialer(&rest.Config{}, tc.limits)
			// A connection of an administrator does not serve a tenant.
			p.expect("an administrator's", "one", p.read("b", s.kubeconfig(canary), "edge1"))
			l := p.Look(owner("a"))
			defer l.Done()
			c, err := l.Remote(s.kubeconfig(canary), Access{Origin: tc.origin})
			if err != nil {
				t.Fatal(err)
			}
			got := "nothing is wrong"
			var failure *Error
			if _, err := c.Get(t.Context(), ref("edge1")); errors.As(err, &failure) {
				got = failure.Reason
			}
			p.expect(tc.reason, tc.want, got)
		})
	}
}

func TestAnnotate(t *testing.T) {
	s := newAPIServer(t)
	l := newPool(t).Look(owner("a"))
	c, err := l.Remote(s.kubeconfig(canary), Access{})
	if err != nil {
		t.Fatal(err)
	}
	a := engines.Annotation{On: ref("edge1"), Key: "k", Value: "v"}
	if err := c.Annotate(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	want := `/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/flux/kustomizations/edge1?fieldManager=intentplane-sitesync {"metadata":{"annotations":{"k":"v"}}}`
	if diff := cmp.Diff(want, s.patched); diff != "" {
		t.Errorf("patch: -want, +got:\n%s", diff)
	}
	s.set(func() { s.status = http.StatusForbidden })
	if err := c.Annotate(t.Context(), a); err == nil {
		t.Error("a refusal returns no error")
	}
}
