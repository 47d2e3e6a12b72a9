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
		got := Observe(s.Engine, s.Want, object(t, main), object(t, second))
		if diff := cmp.Diff(step.Expect, got); diff != "" {
			t.Errorf("\n%s\n%s: Observe(): -want, +got:\n%s", s.Reason, step.Name, diff)
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
