package engines

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// A story is what an engine's controllers write, one step after the other: each is a merge patch on what was there before.
type story struct {
	Reason string                     `json:"reason"`
	Engine catalogv1alpha1.EngineType `json:"engine"`
	Want   Want                       `json:"want"`
	Main   json.RawMessage            `json:"main"`
	Second json.RawMessage            `json:"second"`
	Steps  []struct {
		Name     string          `json:"name"`
		Main     json.RawMessage `json:"main"`
		Second   json.RawMessage `json:"second"`
		NoSecond bool            `json:"noSecond"`
		Expect   Observation     `json:"expect"`
	} `json:"steps"`
}

func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := story{}
			if err := json.Unmarshal(b, &s); err != nil {
				t.Fatal(err)
			}
			s.tell(t)
		})
	}
}

func (s story) tell(t *testing.T) {
	t.Helper()
	main, second := s.Main, s.Second
	for _, step := range s.Steps {
		main, second = patched(t, main, step.Main), patched(t, second, step.Second)
		if step.NoSecond {
			second = nil
		}
		got := observeEngine(s.Engine, s.Want, object(t, main), object(t, second))
		got.Message = Clean(got.Message)
		if diff := cmp.Diff(step.Expect, got); diff != "" {
			t.Errorf("\n%s\n%s: observeEngine(): -want, +got:\n%s", s.Reason, step.Name, diff)
		}
	}
}

func patched(t *testing.T, doc, patch json.RawMessage) json.RawMessage {
	t.Helper()
	if len(patch) == 0 {
		return doc
	}
	out, err := jsonpatch.MergePatch(doc, patch)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func object(t *testing.T, doc json.RawMessage) *unstructured.Unstructured {
	t.Helper()
	if len(doc) == 0 {
		return nil
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(doc); err != nil {
		t.Fatal(err)
	}
	return u
}

func TestMainObject(t *testing.T) {
	ref := func(apiVersion, kind string) catalogv1alpha1.ObjectReference {
		return catalogv1alpha1.ObjectReference{APIVersion: apiVersion, Kind: kind, Namespace: "ns", Name: "x"}
	}
	cases := map[string]struct {
		reason string
		engine catalogv1alpha1.EngineType
		ref    catalogv1alpha1.ObjectReference
		want   string
		err    bool
	}{
		"Kustomization": {
			reason: "Any version of it", engine: catalogv1alpha1.EngineFlux, ref: ref("kustomize.toolkit.fluxcd.io/v1beta2", "Kustomization"),
			want: "kustomize.toolkit.fluxcd.io/v1beta2, Resource=kustomizations Kustomization ns/x",
		},
		"RepoSync": {
			reason: "Both kinds of Config Sync", engine: catalogv1alpha1.EngineConfigSync, ref: ref("configsync.gke.io/v1beta1", "RepoSync"),
			want: "configsync.gke.io/v1beta1, Resource=reposyncs RepoSync ns/x",
		},
		"HelmRelease": {reason: "It names no commit", engine: catalogv1alpha1.EngineFlux, ref: ref("helm.toolkit.fluxcd.io/v2", "HelmRelease"), err: true},
		"Secret":      {reason: "A Site reads nothing that is no engine's", engine: catalogv1alpha1.EngineFlux, ref: ref("v1", "Secret"), err: true},
		"OtherEngine": {reason: "The kind must be the engine's", engine: catalogv1alpha1.EngineArgoCD, ref: ref("kustomize.toolkit.fluxcd.io/v1", "Kustomization"), err: true},
		"Malformed":   {reason: "No group has two slashes", engine: catalogv1alpha1.EngineFlux, ref: ref("a/b/c", "Kustomization"), err: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Main(tc.engine, tc.ref)
			if (err != nil) != tc.err {
				t.Fatalf("\n%s\nMain(): error %v", tc.reason, err)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(tc.want, got.Resource.String()+" "+got.String()); diff != "" {
				t.Errorf("\n%s\nMain(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSameRepository(t *testing.T) {
	const ours = "https://git.example.org/org/fleet.git"
	cases := map[string]struct {
		reason string
		url    string
		want   bool
	}{
		"Same":       {reason: "As it is", url: ours, want: true},
		"Spelling":   {reason: "Case of the host, the scheme's port, .git and slashes say nothing", url: "HTTPS://Git.Example.org:443/org/fleet/", want: true},
		"SSH":        {reason: "The engine may read over SSH", url: "ssh://git@git.example.org/org/fleet", want: true},
		"Scp":        {reason: "Also in its short form", url: "git@git.example.org:org/fleet.git", want: true},
		"OtherHost":  {reason: "Another host", url: "https://git.example.com/org/fleet"},
		"OtherPath":  {reason: "Another repository", url: "https://git.example.org/org/fleet2"},
		"OtherPort":  {reason: "Who knows what listens there", url: "https://git.example.org:8443/org/fleet"},
		"CaseOfPath": {reason: "A path has a case", url: "https://git.example.org/Org/fleet"},
		"Empty":      {reason: "Nothing is not ours", url: ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := sameRepository(tc.url, ours); got != tc.want {
				t.Errorf("\n%s\nsameRepository(%q): want %t, got %t", tc.reason, tc.url, tc.want, got)
			}
		})
	}
}

func TestClean(t *testing.T) {
	if diff := cmp.Diff("a b c?", Clean(" a\n\tb\u200b  c\xff ")); diff != "" {
		t.Errorf("Clean(): -want, +got:\n%s", diff)
	}
	if got := Clean(strings.Repeat("ä", maxMessage)); len(got) > maxMessage+len("…") || !strings.HasSuffix(got, "ä…") {
		t.Errorf("Clean(): a long text is not cut well: %d bytes", len(got))
	}
}

func TestAsk(t *testing.T) {
	k := `{"apiVersion":"kustomize.toolkit.fluxcd.io/v1","kind":"Kustomization","metadata":{"name":"a","namespace":"ns"},"spec":{"sourceRef":{"kind":"GitRepository","name":"g","namespace":"src"}}}`
	g := `{"apiVersion":"source.toolkit.fluxcd.io/v1","kind":"GitRepository","metadata":{"name":"g","namespace":"src"}}`
	asked := strings.Replace(g, `"src"}`, `"src","annotations":{"reconcile.fluxcd.io/requestedAt":"order-1"}}`, 1)
	app := `{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"a","namespace":"argocd"}}`
	waiting := strings.Replace(app, `"argocd"}`, `"argocd","annotations":{"argocd.argoproj.io/refresh":"hard"}}`, 1)
	cases := map[string]struct {
		reason       string
		engine       catalogv1alpha1.EngineType
		main, second string
		want         string
	}{
		"Flux":          {reason: "The source looks, and wakes the Kustomization", engine: catalogv1alpha1.EngineFlux, main: k, second: g, want: "GitRepository src/g reconcile.fluxcd.io/requestedAt=order-1"},
		"FluxAsked":     {reason: "Once is enough", engine: catalogv1alpha1.EngineFlux, main: k, second: asked},
		"FluxNoSource":  {reason: "Nobody to ask", engine: catalogv1alpha1.EngineFlux, main: k},
		"ArgoCD":        {reason: "The Application compares", engine: catalogv1alpha1.EngineArgoCD, main: app, want: "Application argocd/a argocd.argoproj.io/refresh=normal"},
		"ArgoCDWaiting": {reason: "It was asked, and has not done it", engine: catalogv1alpha1.EngineArgoCD, main: waiting},
		"ConfigSync":    {reason: "It has no such thing", engine: catalogv1alpha1.EngineConfigSync, main: app},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a, ok := Ask(tc.engine, object(t, json.RawMessage(tc.main)), object(t, json.RawMessage(tc.second)), "order-1")
			got := ""
			if ok {
				got = a.On.String() + " " + a.Key + "=" + a.Value
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nAsk(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestMessageIsForTheClaim shows what an engine says to those whose directory it reads alone: an object that reads all of a Site speaks of what
// others deliver there.
func TestMessageIsForTheClaim(t *testing.T) {
	const secret = "Deployment/team-b/billing: quota exceeded"
	const repo = `"url": "https://git.example.org/fleet.git"`
	conditions := `"conditions": [{"type": "Ready", "status": "False", "reason": "BuildFailed", "message": "` + secret + `", "observedGeneration": 1, "lastTransitionTime": "2026-11-01T12:00:00Z"}]`
	cases := map[string]struct {
		engine       catalogv1alpha1.EngineType
		main, second string
		reason       string
		// word is what is shown to everybody.
		word string
	}{
		"Flux": {
			engine: catalogv1alpha1.EngineFlux, reason: v1alpha1.SiteReasonEngineFailed, word: "BuildFailed: ",
			main: `{"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": {"name": "o", "namespace": "n", "generation": 1},
				"spec": {"path": "DIR", "sourceRef": {"kind": "GitRepository", "name": "fleet"}}, "status": {"observedGeneration": 1, ` + conditions + `}}`,
			second: `{"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository", "metadata": {"name": "fleet"}, "spec": {` + repo + `, "ref": {"branch": "main"}}}`,
		},
		"ArgoCD": {
			engine: catalogv1alpha1.EngineArgoCD, reason: v1alpha1.SiteReasonEngineFailed, word: "ComparisonError: ",
			main: `{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "o", "namespace": "n", "generation": 1},
				"spec": {"destination": {"name": "in-cluster"}, "source": {"repoURL": "https://git.example.org/fleet.git", "targetRevision": "main", "path": "DIR"}},
				"status": {"conditions": [{"type": "ComparisonError", "message": "` + secret + `"}]}}`,
		},
		"ConfigSync": {
			engine: catalogv1alpha1.EngineConfigSync, reason: v1alpha1.SiteReasonEngineFailed, word: "KNV2009: ",
			main: `{"apiVersion": "configsync.gke.io/v1beta1", "kind": "RootSync", "metadata": {"name": "o", "namespace": "n", "generation": 1},
				"spec": {"git": {"repo": "https://git.example.org/fleet.git", "branch": "main", "dir": "DIR"}},
				"status": {"observedGeneration": 1, "sync": {"errors": [{"code": "2009", "errorMessage": "` + secret + `"}], "errorSummary": {"totalCount": 1}}}}`,
		},
	}
	for name, tc := range cases {
		for dir, shown := range map[string]bool{"clusters/edge1": false, "clusters/edge1/team-a/web": true} {
			t.Run(name+"/"+dir, func(t *testing.T) {
				w := Want{URL: "https://git.example.org/fleet.git", Branch: "main", SiteDir: "clusters/edge1", ClaimDir: "clusters/edge1/team-a/web"}
				got := Observe(tc.engine, w, object(t, json.RawMessage(strings.ReplaceAll(tc.main, "DIR", dir))), object(t, json.RawMessage(tc.second)))
				if got.Reason != tc.reason || !strings.Contains(got.Message, tc.word) || strings.Contains(got.Message, secret) != shown || !shown && !strings.Contains(got.Message, " n/o reads more than") {
					t.Errorf("Observe(...): want reason %s, the engine's words %t, got %s: %s", tc.reason, shown, got.Reason, got.Message)
				}
			})
		}
	}
}
