package sitesync

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
)

const isLiveNow = "Live | Live"

func TestEngineIsAskedOnce(t *testing.T) {
	w := newWorld(t)
	w.flux(w.deliver("old"), false)
	w.deliver("new")
	w.askFor(1)
	requestToken := func() string {
		g, err := w.cluster.Resource(repositories()).Namespace("flux").Get(t.Context(), "g", metav1.GetOptions{})
		w.must(err)
		return g.GetAnnotations()[requestedAt]
	}
	w.until("Syncing | Syncing | OtherTree")
	first := requestToken()
	if !strings.HasPrefix(first, "intentplane-") {
		t.Fatalf("the source was not asked: %q", first)
	}
	patches := func() int {
		n := 0
		for _, a := range w.cluster.Actions() {
			if a.GetVerb() == "patch" {
				n++
			}
		}
		return n
	}
	for range 3 {
		w.clock = w.clock.Add(time.Minute)
		w.reconcile()
	}
	if n := patches(); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
	// Several claims share a source. Each asks once, and does not insist when another claim asked after it.
	_, err := w.cluster.Resource(repositories()).Namespace("flux").Patch(t.Context(), "g", types.MergePatchType,
		[]byte(`{"metadata":{"annotations":{"`+requestedAt+`":"another's"}}}`), metav1.PatchOptions{})
	w.must(err)
	w.seesAsked("another's")
	w.reconcile()
	if n := patches(); n != 2 {
		t.Errorf("it was asked again, although it was asked once: %d patches", n)
	}
	w.askFor(2)
	w.reconcile()
	second := requestToken()
	if second == first || patches() != 3 {
		t.Errorf("another position asks again: %q, %d patches", second, patches())
	}
	// Another provider sees that it was asked.
	w.seesAsked(second)
	w.c.memory = newNoteMemory()
	w.reconcile()
	if n := patches(); n != 3 {
		t.Errorf("another provider asked again: %d patches", n)
	}
}

// TestEngineIsAskedAfterTimeout gives a Site no time: it took too long before its engine can be read for the first time.
func TestEngineIsAskedAfterTimeout(t *testing.T) {
	w := newWorld(t)
	w.flux(w.deliver("old"), false)
	w.deliver("new")
	w.askFor(1)
	s := w.get()
	s.Spec.ForProvider.SyncWaitTimeout = "0s"
	w.must(w.kube.Update(t.Context(), s))
	w.until("TimedOut | TimedOut | OtherTree")
	g, err := w.cluster.Resource(repositories()).Namespace("flux").Get(t.Context(), "g", metav1.GetOptions{})
	w.must(err)
	if token := g.GetAnnotations()[requestedAt]; !strings.HasPrefix(token, "intentplane-") {
		t.Errorf("the source was not asked, and waits for its interval: %q", token)
	}
}

// A logbook records log lines.
type logbook struct {
	logging.Logger

	lines *[]string
}

// Info records a line, without the object and the error.
func (l logbook) Info(message string, values ...any) {
	for i := 0; i+1 < len(values); i += 2 {
		if values[i] != "object" && values[i] != "error" {
			message += fmt.Sprintf(" %v=%v", values[i], values[i+1])
		}
	}
	*l.lines = append(*l.lines, message)
}

// TestEngineCannotBeAsked lets the cluster of a Site refuse that its engine is asked. The line in the log says for whom.
func TestEngineCannotBeAsked(t *testing.T) {
	w := newWorld(t)
	lines := []string{}
	w.c.log = logbook{Logger: logging.NewNopLogger(), lines: &lines}
	w.cluster.PrependReactor("patch", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("forbidden") })
	w.flux(w.deliver("old"), false)
	w.deliver("new")
	w.askFor(1)
	request, p := ledger.Request{Intent: "sha256:1"}, w.get().Spec.ForProvider
	d := &v1alpha1.GitDelivery{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web"}}
	d.Spec.ForProvider = v1alpha1.GitDeliveryParameters{ClaimRef: p.ClaimRef}
	d.Status.AtProvider.Ledger = &ledger.State{Head: ledger.Head{Epoch: p.Position.Epoch, Seq: 1}, Current: &ledger.Revision{Number: 1, Request: request}}
	w.must(w.kube.Create(t.Context(), d))
	w.until("Syncing | Syncing | OtherTree")
	want := []string{"Cannot ask engine to look now claim=team-a/web group=claims.intentplane.dev revision=1 step=0 request=" + request.Digest() + " site=edge1"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("log: -want, +got:\n%s", diff)
	}
}

func TestDeliveredFirst(t *testing.T) {
	w := newWorld(t)
	w.flux(w.deliver("old"), false)
	w.deliver("new")
	w.askFor(1)
	d := &v1alpha1.GitDelivery{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web"}}
	p := w.get().Spec.ForProvider
	d.Spec.ForProvider = v1alpha1.GitDeliveryParameters{ClaimRef: p.ClaimRef, Position: p.Position, Trees: []v1alpha1.Tree{{Site: "edge1", Path: webAtE1}}}
	w.must(w.kube.Create(t.Context(), d))
	w.reconcile()
	w.expect("before it is in Git", "Waiting | Pending | NotDelivered")
	if w.dialled != 0 {
		t.Error("the provider dialled a cluster for a tree that is not in Git")
	}
	w.clock = w.clock.Add(time.Hour)
	d.Status.AtProvider.Record = &v1alpha1.LedgerRecord{Position: *p.Position}
	w.must(w.kube.Update(t.Context(), d))
	began := w.clock
	w.reconcile()
	w.clock = w.clock.Add(progressQuietTime)
	w.reconcile()
	w.expect("after", "Syncing | Syncing | OtherTree")
	if got := w.get().Status.AtProvider.Sites[0].StartedAt; !got.Equal(&metav1.Time{Time: began}) {
		t.Errorf("the wait began at %s, and the status reports %s", began, got)
	}
}

func TestNotForThisNamespace(t *testing.T) {
	kubeconfig := func(s *catalogv1alpha1.Site) {
		s.Spec.Cluster = catalogv1alpha1.SiteCluster{KubeconfigSecretRef: &catalogv1alpha1.NamespacedSecretKeySelector{Namespace: "admin", Name: "edge1-kubeconfig"}}
	}
	cases := map[string]struct {
		reason string
		site   func(*catalogv1alpha1.Site)
		config func(*configv1alpha1.ClusterProviderConfig)
		change func(*v1alpha1.SiteSyncParameters)
		secret string
		want   string
	}{
		"SiteOfOthers": {
			reason: "A Site names the namespaces that may use it.",
			site:   func(s *catalogv1alpha1.Site) { s.Spec.AllowedNamespaces = []string{"team-b"} }, want: "PolicyDenied | Pending | PolicyDenied",
		},
		"NoSite": {
			reason: "A missing Site allows no namespace.",
			change: func(p *v1alpha1.SiteSyncParameters) { p.Sites[0].Name = "edge9" }, want: "PolicyDenied | Pending | PolicyDenied",
		},
		"ConfigOfOthers": {
			reason: "A configuration that allows other namespaces denies the Site.",
			config: func(c *configv1alpha1.ClusterProviderConfig) { c.Spec.Policy.AllowedNamespaces = []string{"team-b"} },
			want:   "PolicyDenied | Pending | PolicyDenied",
		},
		"NoConfig": {
			reason: "A missing configuration denies the Site.",
			change: func(p *v1alpha1.SiteSyncParameters) { p.Sites[0].RepositoryRef.Name = "other" }, want: "PolicyDenied | Pending | PolicyDenied",
		},
		"OtherPath": {
			reason: "The directory of another claim proves nothing about the claim.",
			change: func(p *v1alpha1.SiteSyncParameters) { p.Sites[0].Path = "clusters/edge1/team-a/shop" },
			want:   "PolicyDenied | Pending | PolicyDenied",
		},
		"OtherClaim": {
			reason: "A claim of another namespace is denied before anything is read.",
			change: func(p *v1alpha1.SiteSyncParameters) { p.ClaimRef.Namespace = "team-b" }, want: "PolicyDenied",
		},
		"NoSecret": {reason: "A Site without its kubeconfig Secret is not observed.", site: kubeconfig, want: "Syncing | Syncing | KubeconfigGone"},
		"BadKubeconfig": {
			reason: "A kubeconfig that runs a program is refused.",
			site:   kubeconfig, secret: "users: [{name: u, user: {exec: {}}}]", want: "Syncing | Syncing | KubeconfigRefused",
		},
		"WrongKind": {reason: "The provider does not read a Secret as an engine.", site: func(s *catalogv1alpha1.Site) {
			s.Spec.Engine.ObjectRef.APIVersion, s.Spec.Engine.ObjectRef.Kind = "v1", "Secret"
		}, want: "Syncing | Syncing | EngineNotProvable"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.flux(w.deliver("new"), false)
			w.askFor(1)
			s, c, y := site("edge1"), w.config(), w.get()
			if tc.site != nil {
				w.must(w.kube.Get(t.Context(), keyOf("edge1"), s))
				tc.site(s)
				w.must(w.kube.Update(t.Context(), s))
			}
			if tc.config != nil {
				w.must(w.kube.Get(t.Context(), keyOf("default"), c))
				tc.config(c)
				w.must(w.kube.Update(t.Context(), c))
			}
			if tc.change != nil {
				tc.change(&y.Spec.ForProvider)
				w.must(w.kube.Update(t.Context(), y))
			}
			if tc.secret != "" {
				w.must(w.kube.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "admin", Name: "edge1-kubeconfig"}, Data: map[string][]byte{"value": []byte(tc.secret)}}))
			}
			w.reconcile()
			w.expect(tc.reason, tc.want)
			if links, watches := w.c.pool.Size(); links+watches != 0 {
				t.Errorf("\n%s\n%d connections, %d watches", tc.reason, links, watches)
			}
		})
	}
}

// TestMissingEngineObject has Sites whose engine cannot be observed until a user creates or names an object: the status names the object and the action.
func TestMissingEngineObject(t *testing.T) {
	cases := map[string]struct {
		reason  string
		change  func(*world)
		want    string
		message string
	}{
		"Object": {
			reason: "The engine's object may be created, or the Site may name another object.", change: func(*world) {}, want: "EngineObjectMissing",
			message: "Kustomization flux/team-a-web-edge1 does not exist: create it, or name another object in spec.engine.objectRef of the Site",
		},
		"Source": {
			reason: "The source of the engine's object may be created, or the object may name another source.",
			change: func(w *world) {
				w.flux(w.deliver("new"), false)
				w.must(w.cluster.Resource(repositories()).Namespace("flux").Delete(w.Context(), "g", metav1.DeleteOptions{}))
			},
			want:    "EngineObjectMissing",
			message: "its source, GitRepository flux/g, does not exist: create it, or name another source in spec.sourceRef",
		},
		"Reference": {
			reason: "A Site that names no object of its engine may name an object.", change: func(w *world) {
				s := site("edge1")
				w.must(w.kube.Get(w.Context(), keyOf("edge1"), s))
				s.Spec.Engine.ObjectRef = nil
				w.must(w.kube.Update(w.Context(), s))
			},
			want: "EngineNotProvable", message: "the Site names no object of its engine: set spec.engine.objectRef",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.deliver("old")
			tc.change(w)
			w.askFor(1)
			w.until("Syncing | Syncing | " + tc.want)
			if diff := cmp.Diff(tc.message, w.get().Status.AtProvider.Sites[0].Message); diff != "" {
				t.Errorf("\n%s\nmessage of the Site: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestForgotten(t *testing.T) {
	w := newWorld(t)
	w.flux(w.deliver("new"), false)
	w.askFor(1)
	w.until(isLiveNow)
	w.must(w.kube.Delete(t.Context(), w.get()))
	w.reconcile()
	if links, watches := w.c.pool.Size(); links+watches+w.c.memory.Size() != 0 {
		t.Errorf("%d connections, %d watches and %d notes are left", links, watches, w.c.memory.Size())
	}
}
