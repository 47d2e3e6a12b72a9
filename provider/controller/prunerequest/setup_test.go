package prunerequest

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	xpevent "github.com/crossplane/crossplane-runtime/v2/pkg/event"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/git/budget"
	"github.com/intentplane/intentplane/provider/listing"
	"github.com/intentplane/intentplane/provider/marker"
	"github.com/intentplane/intentplane/provider/remote"
	"github.com/intentplane/intentplane/provider/repository"
	"github.com/intentplane/intentplane/provider/state"
	"github.com/intentplane/intentplane/test/apiserver"
	"github.com/intentplane/intentplane/test/cacheclient"
	"github.com/intentplane/intentplane/test/gitserver"
)

const (
	repo     = "fleet"
	stateRef = "refs/intentplane/prod/state"
	cluster  = "cluster-1"
	team     = "team-a"
	asked    = "one"

	// young is the number of the only directory that was delivered half an hour before noon.
	young = 7
)

// noon is when the world begins, and delivered when its directories were.
var (
	noon      = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	delivered = noon.Add(-2 * time.Hour)
)

// A world is a Git server, a double of an API server, and the real reconciler between them.
type world struct {
	testing.TB

	git  *gitserver.Server
	kube client.WithWatch
	now  time.Time

	reconciler *Reconciler
	events     []string
	counted    map[string]int
}

// Event records an event.
func (w *world) Event(_ runtime.Object, e xpevent.Event) {
	w.events = append(w.events, string(e.Reason)+": "+e.Message)
}

// WithAnnotations is never called.
func (w *world) WithAnnotations(...string) xpevent.Recorder { return w }

// Pruned counts an item.
func (w *world) Pruned(verdict, reason string) { w.counted[verdict+" "+reason]++ }

// newWorld has so many directories of team-a, none of which an object names, and such objects.
func newWorld(tb testing.TB, directories int, objects ...client.Object) *world {
	tb.Helper()
	w := &world{TB: tb, now: noon, counted: map[string]int{}}
	var err error
	w.git, err = gitserver.New(context.Background(), tb.TempDir())
	w.must(err)
	tb.Cleanup(w.git.Close)
	w.must(w.git.CreateRepo(context.Background(), repo, w.branchFiles(directories)))
	w.must(w.pushState(directories))
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, catalogv1alpha1.AddToScheme, configv1alpha1.AddToScheme, deliveryv1alpha1.AddToScheme,
		v1alpha1.AddToScheme, metav1.AddMetaToScheme,
	} {
		w.must(add(s))
	}
	for _, kind := range deploymentKinds() {
		s.AddKnownTypeWithName(kind, &metav1.PartialObjectMetadata{})
		s.AddKnownTypeWithName(kind.GroupVersion().WithKind(kind.Kind+"List"), &metav1.PartialObjectMetadataList{})
	}
	b := kubefake.NewClientBuilder().WithScheme(s).WithObjectTracker(apiserver.NewTracker(s)).WithStatusSubresource(&v1alpha1.PruneRequest{}, &v1alpha1.PruneApproval{}).WithObjects(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system", UID: cluster}},
		&catalogv1alpha1.Site{
			ObjectMeta: metav1.ObjectMeta{Name: "edge1"},
			Spec:       catalogv1alpha1.SiteSpec{Engine: catalogv1alpha1.SiteEngine{Type: catalogv1alpha1.EngineFlux}},
		},
		&configv1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: configv1alpha1.ProviderConfigSpec{
			ControlPlane: "prod",
			Git: configv1alpha1.GitRemote{
				URL: w.git.URL(repo), Branch: gitserver.Branch, Author: configv1alpha1.Author{Name: "Intentplane", Email: "intentplane@localhost"},
			},
		}},
	).WithObjects(objects...)
	w.must(listing.AddIndexes(context.Background(), cacheclient.Indexer{ClientBuilder: b}, waitingIndex()))
	w.kube = b.Build()
	w.restart()
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// restart the provider, which remembers nothing.
func (w *world) restart() {
	now := func() time.Time { return w.now }
	pool := repository.NewPool(repository.Options{
		Now: now, Pause: func() time.Duration { return 0 }, Wake: func(types.NamespacedName) {}, Patience: 5 * time.Minute,
	})
	pool.WakeWith(keyPrefix, func(types.NamespacedName) {})
	w.reconciler = &Reconciler{
		kube: w.kube, live: w.kube, namespace: "crossplane-system", count: w, now: now, recorder: w,
		opener: remote.Opener{Kube: w.kube, Pool: pool, Now: now},
	}
}

func claimOf(n int) rolloutv1alpha1.ClaimReference {
	return rolloutv1alpha1.ClaimReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Namespace: team, Name: fmt.Sprintf("app-%d", n)}
}

func pathOf(n int) string { return "clusters/edge1/" + team + "/" + claimOf(n).Name }

// filesOf returns the files of a directory, each with a unique name.
func filesOf(n int) tree.Files {
	return tree.Files{
		"kustomization.yaml":   []byte("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [configmap-app.yaml]\n"),
		"configmap-app.yaml":   fmt.Appendf(nil, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app-%d, namespace: team-a}\n", n),
		"deployment-main.yaml": fmt.Appendf(nil, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: app-%d, namespace: team-a}\n", n),
	}
}

// branchFiles returns the files of the branch, and a file of a user.
func (w *world) branchFiles(directories int) map[string]string {
	w.Helper()
	out := map[string]string{"README.md": "hello\n"}
	for n := range directories {
		for name, content := range filesOf(n) {
			out[pathOf(n)+"/"+name] = string(content)
		}
		content, err := marker.Marker{Claim: claimOf(n), ControlPlane: "prod", ClusterUID: cluster}.Encode()
		w.must(err)
		out[pathOf(n)+"/"+tree.Marker] = string(content)
	}
	return out
}

// pushState writes the state of the directories.
func (w *world) pushState(directories int) error {
	c, err := git.NewClient(git.Remote{URL: w.git.URL(repo), Branch: gitserver.Branch, StateRef: stateRef}, budget.New())
	if err != nil {
		return err
	}
	s, err := c.Look(context.Background(), nil)
	if err != nil {
		return err
	}
	owner, err := state.EncodeOwner(cluster)
	change := git.Change{
		State: map[string][]byte{state.OwnerPath: owner}, Retain: map[string]git.Trees{}, Message: "state", When: delivered,
		Author: git.Author{Name: "Intentplane", Email: "intentplane@localhost"},
	}
	for n := range directories {
		maps.Copy(change.State, w.stateFilesOf(n, s.Tip()))
		change.Retain[state.TreesPath(claimOf(n))] = git.Trees{tree.ID(filesOf(n)): filesOf(n)}
	}
	p, planErr := git.Plan(w.Context(), s, change)
	if err != nil || planErr != nil {
		return planErr
	}
	_, err = c.Push(context.Background(), p)
	return err
}

// record of a claim whose first revision was delivered.
func (w *world) record(n int, commit string) state.RecordFile {
	timestamp := metav1.NewTime(delivered)
	if n == young {
		timestamp = metav1.NewTime(noon.Add(-30 * time.Minute))
	}
	r := state.RecordFile{Commit: commit, CommitTime: &timestamp, Trees: []state.Tree{{
		Branch: gitserver.Branch, DeliveredTree: deliveryv1alpha1.DeliveredTree{Site: "edge1", Path: pathOf(n), Tree: tree.ID(filesOf(n)), Revision: 1},
	}}}
	r.Claim, r.ClusterUID, r.Home = claimOf(n), cluster, "default"
	return r
}

// stateFilesOf are the record and the ledger of a claim whose first revision was delivered.
func (w *world) stateFilesOf(n int, commit string) map[string][]byte {
	w.Helper()
	home := ledger.State{}
	for _, e := range []ledger.Event{
		{Opened: &ledger.Opened{Ledger: fmt.Sprintf("uid-%d", n), Home: "default"}},
	} {
		next, err := ledger.Append(home, delivered, e)
		w.must(err)
		home = next
	}
	file := state.LedgerFile{State: home}
	file.Claim, file.ClusterUID = claimOf(n), cluster
	encoded, err := file.Encode()
	w.must(err)
	r := w.record(n, commit)
	r.Home, r.Head = home.Home, home.Head
	record, err := r.Encode()
	w.must(err)
	return map[string][]byte{state.LedgerPath(claimOf(n)): encoded, state.RecordPath(claimOf(n)): record}
}

// ask makes a request in a namespace.
func (w *world) ask(namespace string, change ...func(*v1alpha1.PruneRequestSpec)) {
	w.Helper()
	pr := &v1alpha1.PruneRequest{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: asked, UID: "request-1"}}
	pr.Spec = v1alpha1.PruneRequestSpec{
		Scope: v1alpha1.ScopeDirectories, ProviderConfigRef: &rolloutv1alpha1.ConfigReference{Kind: "ClusterProviderConfig", Name: "default"},
		MinAge: &metav1.Duration{Duration: time.Hour}, AllowMost: true,
	}
	for _, fn := range change {
		fn(&pr.Spec)
	}
	w.must(w.kube.Create(context.Background(), pr))
}

// step reconciles the request once, and returns it.
func (w *world) step(namespace string) *v1alpha1.PruneRequest {
	w.Helper()
	key := types.NamespacedName{Namespace: namespace, Name: asked}
	_, err := w.reconciler.Reconcile(context.Background(), reconcile.Request{NamespacedName: key})
	w.must(err)
	pr := &v1alpha1.PruneRequest{}
	w.must(w.kube.Get(context.Background(), key, pr))
	return pr
}

// approve the plan that a request shows.
func (w *world) approve(pr *v1alpha1.PruneRequest) {
	w.Helper()
	a := &v1alpha1.PruneApproval{ObjectMeta: metav1.ObjectMeta{Namespace: pr.GetNamespace(), Name: asked}, Spec: v1alpha1.PruneApprovalSpec{
		RequestRef: v1alpha1.PruneRequestReference{Name: pr.GetName(), UID: string(pr.GetUID())}, Plan: pr.Status.Plan.Digest, ApprovedBy: "ann\nx: y",
	}}
	w.must(w.kube.Create(context.Background(), a))
}

// commits of the branch, the newest first.
func (w *world) commits() []gitserver.Commit {
	w.Helper()
	all, err := w.git.Log(context.Background(), repo, gitserver.Branch)
	w.must(err)
	return all
}

func (w *world) files() map[string]string {
	w.Helper()
	all, err := w.git.Files(context.Background(), repo, gitserver.Branch)
	w.must(err)
	return all
}
