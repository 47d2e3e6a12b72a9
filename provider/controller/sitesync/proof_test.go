package sitesync

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/engines/coverage"
	"github.com/intentplane/intentplane/provider/git"
	"github.com/intentplane/intentplane/provider/manifest"
	"github.com/intentplane/intentplane/provider/proof"
	"github.com/intentplane/intentplane/provider/tenantcache"
)

// TestProofClock shows a GitHub App's key at the time that the clock says, and not at that of the machine.
func TestProofClock(t *testing.T) {
	var issuedAt time.Time
	s := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		claims := jwt.RegisteredClaims{}
		if _, _, err := jwt.NewParser().ParseUnverified(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), &claims); err == nil {
			issuedAt = claims.IssuedAt.Time
		}
		rw.WriteHeader(http.StatusUnauthorized)
	}))
	defer s.Close()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.must(w.kube.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "admin", Name: "app"}, Data: map[string][]byte{
		"githubAppID": []byte("7"), "githubAppInstallationID": []byte("42"), "githubAppBaseURL": []byte(s.URL),
		"githubAppPrivateKey": pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
		"ca.crt":              pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}),
	}}))
	app := configv1alpha1.SecretReference{Namespace: "admin", Name: "app"}
	c := w.config()
	c.Spec.Git.URL = s.URL + "/fleet.git"
	c.Spec.Git.Credentials = configv1alpha1.Credentials{Type: configv1alpha1.CredentialsGitHubApp, SecretRef: &app}
	c.Spec.Git.CABundleSecretRef = &configv1alpha1.SecretKeyReference{SecretReference: app, Key: "ca.crt"}
	w.clock = w.clock.AddDate(1, 0, 0)
	_, err = w.c.prover.fetchCommit(t.Context(), repository{kind: policy.KindClusterProviderConfig, spec: &c.Spec}, strings.Repeat("a", 40))
	if left := w.clock.Sub(issuedAt); err == nil || left < 0 || left > time.Hour {
		t.Errorf("fetch(...): the App was shown as of %s, at %s: %v", issuedAt, w.clock, err)
	}
}

// TestProofFailsOnce asks for proofs of a repository that does not answer, and of a commit that it does not have.
func TestProofFailsOnce(t *testing.T) {
	w := newWorld(t)
	id := w.deliver("new")
	opened, _, err := repositoryOf(t.Context(), w.kube, v1alpha1.RepositoryReference{Name: "default"}, "team-a")
	w.must(err)
	requests := func(commit string) int {
		baseline := w.git.Requests(repo)
		for range 3 {
			if got := w.c.prover.readSubtree(t.Context(), opened, commit, "", webAtE1); got.Unknown == "" {
				t.Errorf("subtree(%s): want an unknown tree, got %+v", commit, got)
			}
		}
		return w.git.Requests(repo) - baseline
	}
	missingCommit := strings.Repeat("a", 40)
	first := requests(missingCommit)
	w.clock = w.clock.Add(time.Hour)
	if repeated := requests(missingCommit); first == 0 || repeated != first {
		t.Errorf("A commit that is nowhere is asked for once, and once more after a while.\nsubtree(...): %d requests, and %d", first, repeated)
	}
	w.git.Fail(repo, http.StatusInternalServerError)
	if n := requests(id); n != 1 {
		t.Errorf("A server that fails is asked once.\nsubtree(...): %d requests", n)
	}
	w.git.Fail(repo, 0)
	w.clock = w.clock.Add(time.Hour)
	if got := w.c.prover.readSubtree(t.Context(), opened, id, "", webAtE1); got.ID != w.tree {
		t.Errorf("A proof that failed is made once the server answers.\nsubtree(...): want tree %s, got %+v", w.tree, got)
	}
}

func TestProofOfTree(t *testing.T) {
	w := newWorld(t)
	old := w.deliver("old")
	w.flux(old, false)
	w.deliver("new")
	w.askFor(1)
	w.until("Syncing | Syncing | OtherTree")
	// The applied commit wakes the SiteSync, and a complete step is shown at once.
	now := w.push(map[string]string{"elsewhere": "theirs"})
	w.flux(now, false)
	w.until(isLiveNow)
	if got := w.get().Status.AtProvider.Sites[0]; got.Commit != now || got.Tree != w.tree || got.Proof != v1alpha1.ProofExact {
		t.Errorf("proof of the Site: %+v", got)
	}
	// Another position with the running tree is proven again at once.
	w.askFor(2)
	w.until(isLiveNow)
	if got := w.get().Status.AtProvider.Position.Revision; got != 2 {
		t.Errorf("the status speaks of revision %d", got)
	}
	if f := w.get().GetFinalizers(); len(f) > 0 {
		t.Errorf("finalizers: %v", f)
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
		"None": {reason: "A repository without a file above the directory overlays nothing.", root: "clusters/edge1"},
		"Site": {
			reason: "The engine reads a kustomization at its root.",
			files:  map[string]string{"clusters/edge1/kustomization.yaml": "a"}, root: "clusters/edge1", want: true,
		},
		"Between": {
			reason: "A file between the root and the directory overlays it.",
			files:  map[string]string{"clusters/edge1/team-a/Kustomization": "a"}, root: "clusters/edge1", want: true,
		},
		"AboveRoot": {
			reason: "A file above the root of the engine does not overlay the directory.",
			files:  map[string]string{"clusters/edge1/kustomization.yaml": "a"}, root: webAtE1,
		},
		"Ours": {
			reason: "A kustomization in the claim's directory belongs to the tree.",
			files:  map[string]string{webAtE1 + "/kustomization.yaml": "a"}, root: webAtE1,
		},
		"Ignore": {reason: "A .sourceignore file counts at any place.", files: map[string]string{".sourceignore": "a"}, root: webAtE1, want: true},
		"Override": {
			reason: "Argo CD overrides the parameters of a source by a file in its path.",
			files:  map[string]string{"clusters/edge1/.argocd-source.yaml": "a"}, root: "clusters/edge1", want: true,
		},
		"OverrideOfOne": {
			reason: "Argo CD overrides the parameters of one Application by a file with its name.",
			files:  map[string]string{"clusters/edge1/.argocd-source-shop.yaml": "a"}, root: "clusters/edge1", want: true,
		},
		"OverrideBelow": {
			reason: "Argo CD reads no override below the path of the source.",
			files:  map[string]string{"clusters/edge1/team-a/.argocd-source.yaml": "a"}, root: "clusters/edge1",
		},
		"OverrideAbove": {
			reason: "Argo CD reads no override above the path of the source.",
			files:  map[string]string{"clusters/.argocd-source.yaml": "a"}, root: "clusters/edge1",
		},
		"SimilarDir": {
			reason: "A directory whose name begins alike is not below the root.",
			files:  map[string]string{"clusters/kustomization.yml": "a"}, root: "clusters/edge",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.deliver("new")
			id := w.push(map[string]string{"x": "y"})
			if tc.files != nil {
				id = w.push(tc.files)
			}
			repo, denial, err := repositoryOf(t.Context(), w.kube, v1alpha1.RepositoryReference{Name: "default"}, "team-a")
			if err != nil || denial != "" {
				t.Fatal(denial, err)
			}
			got := w.c.prover.readSubtree(t.Context(), repo, id, tc.root, webAtE1)
			if got.Overlaid != tc.want || got.Unknown != "" {
				t.Errorf("\n%s\nreadSubtree(): want %t, got %+v", tc.reason, tc.want, got)
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
			if got := w.c.prover.readSubtree(t.Context(), repo, id, "", webAtE1); got.ID != w.tree {
				t.Fatalf("commit %s: %+v", id, got)
			}
		}
	}
	ask()
	baseline := w.git.Requests("fleet")
	ask()
	if n := w.git.Requests("fleet") - baseline; n != 0 {
		t.Errorf("%d requests for a cached answer", n)
	}
}

// TestCoverageWithoutGit observes a live Site while the repository does not answer, after the memory lost the commit.
func TestCoverageWithoutGit(t *testing.T) {
	w := newWorld(t)
	w.flux(w.deliver(workerFile), false)
	w.askFor(1)
	w.until(isLiveNow)
	w.git.Fail(repo, http.StatusServiceUnavailable)
	w.c.prover.commits = tenantcache.New[*git.Commit](0)
	for range 2 {
		w.clock = w.clock.Add(maxProgressDelay)
		w.reconcile()
	}
	w.expect("A Site whose tree was read before needs no repository to stay live", isLiveNow)
}

func TestCoverageBelowKustomization(t *testing.T) {
	files := tree.Files{"a.yaml": []byte(workerFile)}
	archive, err := tree.Encode(files)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason  string
		renamed bool
		report  coverage.Report
		want    coverage.Coverage
	}{
		"Alone": {
			reason: "Where no kustomization above may rename objects, each has to be in the inventory.",
			want:   coverage.Coverage{Missing: "the engine does not report that it applied Service team-a/web"},
		},
		"Below": {
			reason: "A kustomization above the directory may rename objects, so no object is compared, and the status reports it.", renamed: true,
			want: coverage.Coverage{Unproven: []string{
				"all objects: the engine reads a kustomization.yaml or an .argocd-source.yaml above the directory, so its inventory is not compared",
			}},
		},
		"BelowPatches": {
			reason:  "The field of the engine's object is named before a kustomization above.",
			renamed: true, report: coverage.Report{Uncompared: "Kustomization flux/edge has spec.patches"},
			want: coverage.Coverage{Unproven: []string{"all objects: Kustomization flux/edge has spec.patches, so its inventory is not compared"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			site := &catalogv1alpha1.Site{}
			site.Spec.Engine.Type = catalogv1alpha1.EngineFlux
			s := &proof.SiteFacts{Site: site, Engine: engines.Observation{Report: tc.report}, Applied: proof.Subtree{Renamed: tc.renamed}}
			p := &prover{manifests: manifest.NewReader()}
			got := p.readCoverage(t.Context(), repository{}, v1alpha1.SiteTree{Tree: tree.ID(files)}, s, [][]byte{archive})
			if diff := cmp.Diff(tc.want, got.Coverage); diff != "" {
				t.Errorf("\n%s\nreadCoverage(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestMirror lets Flux read the repository by another URL.
func TestMirror(t *testing.T) {
	const mirror = "https://mirror.example.com/fleet.git"
	cases := map[string]struct {
		reason string
		commit string
		says   string
		words  string
	}{
		"SameCommit":  {reason: "A mirror that has the commit runs the same files, and the status names its URL.", says: isLiveNow},
		"OtherCommit": {reason: "A commit that the repository does not have proves nothing, and the message names the URL.", commit: strings.Repeat("a", 40), says: "Syncing | Syncing | ProofUnknown", words: "; the engine reads " + mirror},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			commit := w.deliver("new")
			if tc.commit != "" {
				commit = tc.commit
			}
			w.flux(commit, false)
			_, err := w.cluster.Resource(repositories()).Namespace("flux").Patch(t.Context(), "g", types.MergePatchType, []byte(`{"spec":{"url":"`+mirror+`"}}`), metav1.PatchOptions{})
			w.must(err)
			w.askFor(1)
			w.until(tc.says)
			site := w.get().Status.AtProvider.Sites[0]
			if diff := cmp.Diff(mirror, site.Engine.URL); diff != "" {
				t.Errorf("\n%s\nurl: -want, +got:\n%s", tc.reason, diff)
			}
			if !strings.HasSuffix(site.Message, tc.words) {
				t.Errorf("\n%s\nmessage: want %q at its end, got %q", tc.reason, tc.words, site.Message)
			}
		})
	}
}
