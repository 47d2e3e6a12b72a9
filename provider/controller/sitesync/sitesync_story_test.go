package sitesync

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

const isLiveNow = "Live | Live"

func TestProof(t *testing.T) {
	w := newWorld(t)
	old := w.deliver("old")
	w.flux(old, false)
	w.deliver("new")
	w.askFor(1)
	w.until("Syncing | Syncing | OtherTree")
	// What is applied wakes it, and a complete step is shown at once.
	now := w.push(map[string]string{"elsewhere": "theirs"})
	w.flux(now, false)
	w.until(isLiveNow)
	if got := w.get().Status.AtProvider.Sites[0]; got.Commit != now || got.Tree != w.tree || got.Proof != v1alpha1.ProofExact {
		t.Errorf("what proves: %+v", got)
	}
	// Another position, for what runs: proven anew, at once.
	w.askFor(2)
	w.until(isLiveNow)
	if got := w.get().Status.AtProvider.Position.Revision; got != 2 {
		t.Errorf("the status speaks of revision %d", got)
	}
	if f := w.get().GetFinalizers(); len(f) > 0 {
		t.Errorf("finalizers: %v", f)
	}
}

func TestSteadyStateWritesNothing(t *testing.T) {
	w := newWorld(t)
	w.flux(w.deliver("new"), false)
	w.askFor(1)
	w.until(isLiveNow)
	// An update that changes nothing writes nothing in a real API server.
	before, requests := w.get().Status, w.git.Requests(repo)
	for range 5 {
		w.clock = w.clock.Add(time.Hour)
		w.reconcile()
	}
	if got := w.git.Requests(repo); got != requests {
		t.Errorf("the repository was asked %d times for what is known", got-requests)
	}
	// A stranger's commits on top change nothing that can be seen.
	for range 3 {
		w.flux(w.push(map[string]string{"elsewhere": w.clock.String()}), false)
		<-w.woken
		w.clock = w.clock.Add(time.Hour)
		w.until(isLiveNow)
	}
	if diff := cmp.Diff(before, w.get().Status); diff != "" {
		t.Errorf("the status was written: -before, +after:\n%s", diff)
	}
}

func TestProgressIsWrittenLater(t *testing.T) {
	w := newWorld(t)
	id := w.deliver("new")
	w.flux(id, false)
	w.askFor(1)
	w.until(isLiveNow)
	w.flux(id, true)
	w.seesSuspended()
	w.reconcile()
	w.expect("at once", isLiveNow)
	w.clock = w.clock.Add(still - time.Second)
	w.reconcile()
	w.expect("a little later", isLiveNow)
	if diff := cmp.Diff(time.Second, w.result.RequeueAfter); diff != "" {
		t.Errorf("it is looked again when it is due: -want, +got:\n%s", diff)
	}
	w.clock = w.clock.Add(time.Second)
	w.reconcile()
	w.expect("then", "Syncing | Syncing | Suspended")
	// The deadline is looked at when it comes, and what it brings is written at once.
	left := w.get().Status.AtProvider.Sites[0].StartedAt.Add(minutes5).Sub(w.clock)
	if diff := cmp.Diff(left, w.result.RequeueAfter); diff != "" {
		t.Errorf("the deadline: -want, +got:\n%s", diff)
	}
	w.clock = w.clock.Add(left)
	w.reconcile()
	w.expect("at the deadline", "TimedOut | TimedOut | Suspended")
}

// change the Site, such as which Secret holds its kubeconfig.
func (w *world) change(fn func(*catalogv1alpha1.Site)) {
	w.Helper()
	s := &catalogv1alpha1.Site{}
	w.must(w.kube.Get(w.Context(), keyOf("edge1"), s))
	fn(s)
	w.must(w.kube.Update(w.Context(), s))
}

func kubeconfigIn(secret string) func(*catalogv1alpha1.Site) {
	return func(s *catalogv1alpha1.Site) {
		s.Spec.Cluster = catalogv1alpha1.SiteCluster{KubeconfigSecretRef: &catalogv1alpha1.NamespacedSecretKeySelector{Namespace: "admin", Name: secret}}
	}
}

const gone, refused = "Syncing | Syncing | KubeconfigGone", "Syncing | Syncing | KubeconfigRefused"

// troubled is a world in which a Site was live, and where a kubeconfig is refused.
func troubled(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.flux(w.deliver("new"), false)
	w.askFor(1)
	w.until(isLiveNow)
	w.must(w.kube.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "admin", Name: "bad"}, Data: map[string][]byte{"value": []byte("{}")}}))
	return w
}

// TestFailureIsWrittenInTime lets the reason change again and again, with no proof in between.
func TestFailureIsWrittenInTime(t *testing.T) {
	w := troubled(t)
	steps := []struct {
		change func(*catalogv1alpha1.Site)
		want   string
	}{
		{change: kubeconfigIn("none"), want: gone},
		{change: kubeconfigIn("bad"), want: refused},
		{change: kubeconfigIn("none"), want: gone},
		{change: func(s *catalogv1alpha1.Site) { s.Spec.Engine.ObjectRef = nil }, want: "Syncing | Syncing | EngineNotProvable"},
	}
	for _, step := range steps {
		before := w.says()
		w.change(step.change)
		w.reconcile()
		w.clock = w.clock.Add(still - time.Second)
		w.reconcile()
		w.expect("just before it is due", before)
		w.clock = w.clock.Add(time.Second)
		w.reconcile()
		w.expect("when it is due", step.want)
	}
}

// TestChangingStatusIsDeferred lets something change before it was still for long enough, again and again.
func TestChangingStatusIsDeferred(t *testing.T) {
	w := troubled(t)
	began := w.clock
	for i := 0; w.clock.Before(began.Add(longest)); i++ {
		w.change(kubeconfigIn([]string{"none", "bad"}[i%2]))
		w.reconcile()
		w.expect("before it is due", isLiveNow)
		due := min(still, began.Add(longest).Sub(w.clock))
		if diff := cmp.Diff(due, w.result.RequeueAfter); diff != "" {
			t.Fatalf("when it is due: -want, +got:\n%s", diff)
		}
		w.clock = w.clock.Add(min(still-time.Second, due))
	}
	w.reconcile()
	w.expect("at last", gone)
	if got := w.get().Status.AtProvider.Sites[0].StartedAt; !got.Equal(&metav1.Time{Time: began}) {
		t.Errorf("the wait began at %s, and is said to have begun at %s", began, got)
	}
}

func TestEngineIsAskedOnce(t *testing.T) {
	w := newWorld(t)
	w.flux(w.deliver("old"), false)
	w.deliver("new")
	w.askFor(1)
	asked := func() string {
		g, err := w.cluster.Resource(repositories()).Namespace("flux").Get(t.Context(), "g", metav1.GetOptions{})
		w.must(err)
		return g.GetAnnotations()[requestedAt]
	}
	w.until("Syncing | Syncing | OtherTree")
	first := asked()
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
	// Several claims share a source. Each asks once, and does not insist when another one did after it.
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
	second := asked()
	if second == first || patches() != 3 {
		t.Errorf("another position asks again: %q, %d patches", second, patches())
	}
	// Another provider sees that it was asked.
	w.seesAsked(second)
	w.c.memory = newMemory()
	w.reconcile()
	if n := patches(); n != 3 {
		t.Errorf("another provider asked again: %d patches", n)
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
		t.Error("a cluster was looked at for what is not in Git")
	}
	w.clock = w.clock.Add(time.Hour)
	d.Status.AtProvider.Record = &v1alpha1.LedgerRecord{Position: *p.Position}
	w.must(w.kube.Update(t.Context(), d))
	began := w.clock
	w.reconcile()
	w.clock = w.clock.Add(still)
	w.reconcile()
	w.expect("after", "Syncing | Syncing | OtherTree")
	if got := w.get().Status.AtProvider.Sites[0].StartedAt; !got.Equal(&metav1.Time{Time: began}) {
		t.Errorf("the wait began at %s, and is said to have begun at %s", began, got)
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
		"SiteOfOthers":   {reason: "A Site says who may use it", site: func(s *catalogv1alpha1.Site) { s.Spec.AllowedNamespaces = []string{"team-b"} }, want: "PolicyDenied | Pending | PolicyDenied"},
		"NoSite":         {reason: "One that is not there allows nobody", change: func(p *v1alpha1.SiteSyncParameters) { p.Sites[0].Name = "edge9" }, want: "PolicyDenied | Pending | PolicyDenied"},
		"ConfigOfOthers": {reason: "A configuration that allows other namespaces denies the Site.", config: func(c *configv1alpha1.ClusterProviderConfig) { c.Spec.Policy.AllowedNamespaces = []string{"team-b"} }, want: "PolicyDenied | Pending | PolicyDenied"},
		"NoConfig":       {reason: "The same", change: func(p *v1alpha1.SiteSyncParameters) { p.Sites[0].RepositoryRef.Name = "other" }, want: "PolicyDenied | Pending | PolicyDenied"},
		"OtherPath":      {reason: "The directory of another claim proves nothing about this one", change: func(p *v1alpha1.SiteSyncParameters) { p.Sites[0].Path = "clusters/edge1/team-a/shop" }, want: "PolicyDenied | Pending | PolicyDenied"},
		"OtherClaim":     {reason: "A claim of another namespace is denied before anything is read.", change: func(p *v1alpha1.SiteSyncParameters) { p.ClaimRef.Namespace = "team-b" }, want: "PolicyDenied"},
		"NoSecret":       {reason: "The kubeconfig is not there", site: kubeconfig, want: "Syncing | Syncing | KubeconfigGone"},
		"BadKubeconfig":  {reason: "A kubeconfig that runs a program is refused.", site: kubeconfig, secret: "users: [{name: u, user: {exec: {}}}]", want: "Syncing | Syncing | KubeconfigRefused"},
		"WrongKind": {reason: "No Secret is read as an engine", site: func(s *catalogv1alpha1.Site) {
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

func TestUnknownProof(t *testing.T) {
	w := newWorld(t)
	w.flux(w.deliver("new"), false)
	w.askFor(1)
	w.git.Fail(repo, 503)
	w.until("Syncing | Syncing | ProofUnknown")
	if w.result.RequeueAfter != retryInterval {
		t.Errorf("it is tried again after %s", w.result.RequeueAfter)
	}
	w.git.Fail(repo, 0)
	w.clock = w.clock.Add(retryInterval)
	w.until(isLiveNow)
}

func TestOverlay(t *testing.T) {
	cases := map[string]struct {
		reason string
		files  map[string]string
		root   string
		want   bool
	}{
		"None":       {reason: "Nothing is above", root: "clusters/edge1"},
		"Site":       {reason: "The engine reads this one", files: map[string]string{"clusters/edge1/kustomization.yaml": "a"}, root: "clusters/edge1", want: true},
		"Between":    {reason: "A file between the root and the directory overlays it.", files: map[string]string{"clusters/edge1/team-a/Kustomization": "a"}, root: "clusters/edge1", want: true},
		"AboveRoot":  {reason: "A file above the root of the engine does not overlay the directory.", files: map[string]string{"clusters/edge1/kustomization.yaml": "a"}, root: webAtE1},
		"Ours":       {reason: "The claim's own is part of the tree", files: map[string]string{webAtE1 + "/kustomization.yaml": "a"}, root: webAtE1},
		"Ignore":     {reason: "What a source leaves out is said anywhere", files: map[string]string{".sourceignore": "a"}, root: webAtE1, want: true},
		"SimilarDir": {reason: "edge10 is not in edge1", files: map[string]string{"clusters/kustomization.yml": "a"}, root: "clusters/edge"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.deliver("new")
			id := w.push(map[string]string{"x": "y"})
			if tc.files != nil {
				id = w.push(tc.files)
			}
			repo, why, err := repositoryOf(t.Context(), w.kube, v1alpha1.RepositoryReference{Name: "default"}, "team-a")
			if err != nil || why != "" {
				t.Fatal(why, err)
			}
			got := w.c.prover.readSubtree(t.Context(), repo, id, tc.root, webAtE1)
			if got.overlaid != tc.want || got.unknown != "" {
				t.Errorf("\n%s\nsubtree(): want %t, got %+v", tc.reason, tc.want, got)
			}
		})
	}
}

func TestAnswersAreRemembered(t *testing.T) {
	w := newWorld(t)
	w.deliver("new")
	repo, _, err := repositoryOf(t.Context(), w.kube, v1alpha1.RepositoryReference{Name: "default"}, "team-a")
	w.must(err)
	commits := []string{}
	for i := range 8 {
		commits = append(commits, w.push(map[string]string{"x": strings.Repeat("x", i)}))
	}
	ask := func() {
		for _, id := range commits {
			if got := w.c.prover.readSubtree(t.Context(), repo, id, "", webAtE1); got.id != w.tree {
				t.Fatalf("commit %s: %+v", id, got)
			}
		}
	}
	ask()
	before := w.git.Requests("fleet")
	ask()
	if n := w.git.Requests("fleet") - before; n != 0 {
		t.Errorf("%d requests for what is known", n)
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
