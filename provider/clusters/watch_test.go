package clusters

import (
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/account"
	"github.com/intentplane/intentplane/test/apiserver"
)

func TestNarrow(t *testing.T) {
	if got := (watchKey{name: "c1"}).narrowOptions(metav1.ListOptions{}).FieldSelector; got != "metadata.name=c1" {
		t.Errorf("one object alone: %q", got)
	}
	if got := (watchKey{}).narrowOptions(metav1.ListOptions{}).FieldSelector; got != "" {
		t.Errorf("all: %q", got)
	}
}

func TestStripKind(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{
		"kind": "CustomResourceDefinition",
		"spec": map[string]any{"versions": []any{map[string]any{"name": "v1", "schema": map[string]any{"a": "b"}}, "junk"}},
	}}
	stripUnreadFields(u)
	want := map[string]any{"versions": []any{map[string]any{"name": "v1"}, "junk"}}
	if diff := cmp.Diff(want, u.Object["spec"]); diff != "" {
		t.Errorf("a definition: -want, +got:\n%s", diff)
	}
	u = &unstructured.Unstructured{Object: map[string]any{"kind": "Workspace", "spec": map[string]any{"forProvider": map[string]any{"module": "large"}}}}
	if stripUnreadFields(u); len(u.Object["spec"].(map[string]any)) > 0 {
		t.Errorf("a Workspace: %v", u.Object)
	}
	container := map[string]any{"name": "shop", "image": "shop:1", "env": []any{map[string]any{"name": "A", "value": "secret"}}}
	for _, kind := range []string{"Deployment", "ReplicaSet"} {
		u = &unstructured.Unstructured{Object: map[string]any{"kind": kind, "spec": map[string]any{
			"replicas": int64(2),
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"a": "b"}},
				"spec":     map[string]any{"containers": []any{container, "junk"}, "volumes": []any{}},
			},
		}}}
		stripUnreadFields(u)
		containers := []any{map[string]any{"name": "shop", "image": "shop:1"}, map[string]any{"name": "", "image": ""}}
		want := map[string]any{"replicas": int64(2), "template": map[string]any{"spec": map[string]any{"containers": containers}}}
		if diff := cmp.Diff(want, u.Object["spec"]); diff != "" {
			t.Errorf("a %s keeps the images of its pods, and nothing else of them: -want, +got:\n%s", kind, diff)
		}
	}
	u = &unstructured.Unstructured{Object: map[string]any{"kind": "Deployment", "spec": "junk"}}
	if stripUnreadFields(u); u.Object["spec"] != "junk" {
		t.Errorf("a Deployment that is malformed: %v", u.Object)
	}
}

// A held server has one object, and answers a list when it is let.
type held struct {
	*apiserver.Server

	free chan error
}

func newHeld(t *testing.T) *held {
	t.Helper()
	h := &held{Server: apiserver.New(map[string]schema.GroupVersionResource{"Kustomization": ref("").Resource}), free: make(chan error, 1)}
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"path": "one"}}}
	o.SetAPIVersion("kustomize.toolkit.fluxcd.io/v1")
	o.SetKind("Kustomization")
	o.SetNamespace("flux")
	o.SetName("edge1")
	if err := h.Tracker().Create(ref("").Resource, o, "flux"); err != nil {
		t.Fatal(err)
	}
	h.PrependReactor("list", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		err := <-h.free
		return err != nil, nil, err
	})
	return h
}

// answer is the result of a read, and its duration.
type answer struct {
	says string
	took time.Duration
}

// read an object of a cluster, on the clock of the test.
func read(t *testing.T, p *Pool, reader, cluster string) <-chan answer {
	t.Helper()
	out, began := make(chan answer, 1), time.Now()
	l := p.Look(owner(reader))
	c, err := l.Remote([]byte(cluster), Access{})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		o, err := c.Get(t.Context(), ref("edge1"))
		took := time.Since(began)
		l.Done() // A reader of the answer may forget the owner, and nothing may be registered for the owner after that.
		var failure *Error
		switch {
		case errors.As(err, &failure):
			out <- answer{says: failure.Reason, took: took}
		case o != nil:
			says, _, _ := unstructured.NestedString(o.Object, "spec", "path")
			out <- answer{says: says, took: took}
		}
	}()
	return out
}

// TestWaitUntilSettled waits for the result of a cluster, and not a moment longer.
func TestWaitUntilSettled(t *testing.T) {
	cases := map[string]struct {
		reason string
		after  time.Duration
		err    error
		want   answer
	}{
		"Synced": {reason: "A list is returned as soon as it has come.", after: 1234567, want: answer{says: "one", took: 1234567}},
		"Failed": {
			reason: "A refused list is reported at once.", after: 1234567, err: kerrors.NewForbidden(schema.GroupResource{}, "", nil),
			want: answer{says: v1alpha1.SiteReasonAccessDenied, took: 1234567},
		},
		"Silent": {
			reason: "A cluster that does not answer is waited for once, for the patience.",
			after:  2 * patience, want: answer{says: v1alpha1.SiteReasonClusterUnreachable, took: patience},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHeld(t)
				p := NewPool(func([]byte, Origin) (dynamic.Interface, func(), error) { return h, func() {}, nil }, account.New(account.Bounds{}), func(types.NamespacedName) {})
				got := read(t, p, "a", "c")
				<-time.After(tc.after)
				h.free <- tc.err
				if a := <-got; a != tc.want {
					t.Errorf("\n%s\nGet(...): want %+v, got %+v", tc.reason, tc.want, a)
				}
				p.Forget(owner("a"))
			})
		})
	}
}

// TestUnreachableClusterDelaysNoOther reads from one cluster while another cluster hangs.
func TestUnreachableClusterDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers := map[string]*held{"dead": newHeld(t), "alive": newHeld(t)}
		p := NewPool(func(k []byte, _ Origin) (dynamic.Interface, func(), error) { return servers[string(k)], func() {}, nil }, account.New(account.Bounds{}), func(types.NamespacedName) {})
		dead := read(t, p, "a", "dead")
		servers["alive"].free <- nil
		if got, want := <-read(t, p, "b", "alive"), (answer{says: "one"}); got != want {
			t.Errorf("the cluster that answers: want %+v, got %+v", want, got)
		}
		if got, want := <-dead, (answer{says: v1alpha1.SiteReasonClusterUnreachable, took: patience}); got != want {
			t.Errorf("the cluster that hangs: want %+v, got %+v", want, got)
		}
		servers["dead"].free <- nil
		p.Forget(owner("a"))
		p.Forget(owner("b"))
	})
}

// TestTryAgain has a cluster that refused a list, and would be asked again after a while.
func TestTryAgain(t *testing.T) {
	cases := map[string]struct {
		reason string
		// asks says that a reader asks for another try, which the cluster answers after a moment with this error.
		asks bool
		err  error
		want answer
	}{
		"NotAsked": {reason: "A refused list is not repeated at once.", want: answer{says: v1alpha1.SiteReasonAccessDenied}},
		"Mended": {
			reason: "A caller that asks for another try reads the current answer of the cluster.",
			asks:   true, want: answer{says: "one", took: time.Millisecond},
		},
		"NotMended": {
			reason: "A caller that asks for another try gets the present refusal of the cluster, too.",
			asks:   true, err: kerrors.NewUnauthorized("no"), want: answer{says: v1alpha1.SiteReasonKubeconfigDenied, took: time.Millisecond},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHeld(t)
				p := NewPool(func([]byte, Origin) (dynamic.Interface, func(), error) { return h, func() {}, nil }, account.New(account.Bounds{}), func(types.NamespacedName) {})
				h.free <- kerrors.NewForbidden(schema.GroupResource{}, "", nil)
				<-read(t, p, "a", "c")
				synctest.Wait()
				if tc.asks {
					p.TryAgain(owner("a"))
				}
				got := read(t, p, "a", "c")
				<-time.After(time.Millisecond)
				h.free <- tc.err
				if a := <-got; a != tc.want {
					t.Errorf("\n%s\nGet(...): want %+v, got %+v", tc.reason, tc.want, a)
				}
				p.Forget(owner("a"))
			})
		})
	}
}

// TestCutConnection has the connection to a healthy cluster end in the middle of a list, as it does when an API server restarts.
func TestCutConnection(t *testing.T) {
	s, lists := newAPIServer(t), &atomic.Int32{}
	healthy := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") == "" && lists.Add(1) == 1 {
			w.Header().Set("Content-Type", "application/json")
			closeInTheMiddle(w, r)
			return
		}
		healthy.ServeHTTP(w, r)
	})
	p, k := newPool(t), s.kubeconfig(canary)
	p.dial = Dialer(&rest.Config{}, Limits{})
	penalties := &atomic.Int32{}
	p.after = func(wait time.Duration, callback func()) {
		if wait >= firstPenalty {
			penalties.Add(1)
		}
		time.AfterFunc(wait, callback) // Wakes that are spaced out come through here too.
	}
	p.until("The cluster is asked again, and answers.", "nothing", func() string { return p.explain(k) })
	if penalties.Load() > 0 {
		t.Errorf("\nA fault of a healthy cluster is not punished.\nafter(...): called %d times", penalties.Load())
	}
	p.Forget(owner("a"))
	p.sizes(0, 0)
}

// TestEndpointThatCloses has an endpoint take connections and close them at once, as a load balancer does that has no API server behind it.
func TestEndpointThatCloses(t *testing.T) {
	s, isDown := newAPIServer(t), &atomic.Bool{}
	healthy := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isDown.Load() {
			panic(http.ErrAbortHandler)
		}
		healthy.ServeHTTP(w, r)
	})
	p, k := newPool(t), s.kubeconfig(canary)
	p.dial = Dialer(&rest.Config{}, Limits{})
	p.until("The cluster answers.", "nothing", func() string { return p.explain(k) })
	isDown.Store(true)
	s.CloseClientConnections()
	p.until("A cluster that closes each connection is not reachable.", v1alpha1.SiteReasonClusterUnreachable+": the cluster does not answer", func() string { return p.explain(k) })
	p.Forget(owner("a"))
	p.sizes(0, 0)
}
