package engines

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/statusmessage"
)

// A recording has the writes of an engine's controllers, step by step: each step is a merge patch on the previous step.
type recording struct {
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

// readRecordings returns the recordings in testdata, by the names of their files.
func readRecordings(t *testing.T) map[string]recording {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in testdata: %v", err)
	}
	out := map[string]recording{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := recording{}
		if err := json.Unmarshal(b, &s); err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(file), ".json")] = s
	}
	return out
}

func TestRecordings(t *testing.T) {
	for name, s := range readRecordings(t) {
		t.Run(name, s.replay)
	}
}

func (s recording) replay(t *testing.T) {
	t.Helper()
	main, second := s.Main, s.Second
	for _, step := range s.Steps {
		main, second = applyPatch(t, main, step.Main), applyPatch(t, second, step.Second)
		if step.NoSecond {
			second = nil
		}
		got := observeEngine(s.Engine, s.Want, decodeJSONObject(t, main), decodeJSONObject(t, second))
		got.Message = statusmessage.Sanitize(got.Message)
		if diff := cmp.Diff(step.Expect, got, cmpopts.IgnoreFields(Observation{}, "Report", "URL")); diff != "" {
			t.Errorf("\n%s\n%s: observeEngine(): -want, +got:\n%s", s.Reason, step.Name, diff)
		}
	}
}

func applyPatch(t *testing.T, doc, patch json.RawMessage) json.RawMessage {
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

func decodeJSONObject(t *testing.T, doc json.RawMessage) *unstructured.Unstructured {
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

// replaceText replaces the text with an index among all texts of a JSON value. The returned index is negative if the value has so many texts.
func replaceText(v any, index int, text string) (replaced any, rest int) {
	switch v := v.(type) {
	case string:
		if index == 0 {
			return text, -1
		}
		return v, index - 1
	case []any:
		for i := range v {
			v[i], index = replaceText(v[i], index, text)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			v[key], index = replaceText(v[key], index, text)
		}
	}
	return v, index
}

// TestLongTextsAreCut replaces each text of the objects of engines by a long one, as a hostile cluster may send it: the API server refuses a status with it.
func TestLongTextsAreCut(t *testing.T) {
	for name, s := range readRecordings(t) {
		t.Run(name, func(t *testing.T) {
			main, second := s.Main, s.Second
			for _, step := range s.Steps {
				if main, second = applyPatch(t, main, step.Main), applyPatch(t, second, step.Second); step.NoSecond {
					second = nil
				}
			}
			for index, rest := 0, -1; rest < 0; index++ {
				mainObject, secondObject := decodeJSONObject(t, main), decodeJSONObject(t, second)
				texts := []any{mainObject.Object}
				if secondObject != nil {
					texts = append(texts, secondObject.Object)
				}
				_, rest = replaceText(texts, index, strings.Repeat("x", 2000))
				checkTextLengths(t, Observe(s.Engine, s.Want, mainObject, secondObject))
			}
		})
	}
}

// checkTextLengths fails for an observation with a text that is longer than its field in the status of a Site.
func checkTextLengths(t *testing.T, o Observation) {
	t.Helper()
	for field, c := range map[string]struct {
		text  string
		limit int
	}{
		"kind": {text: o.Kind, limit: 63}, "health": {text: o.Health, limit: 64}, "url": {text: o.URL, limit: 512}, "target": {text: o.Target, limit: 16},
		"reason": {text: o.Reason, limit: 64}, "message": {text: o.Message, limit: 1024}, "commit": {text: o.Commit, limit: 64},
	} {
		if len(c.text) > c.limit {
			t.Errorf("The status of a Site has at most %d characters in its field %s: Observe(...): got %d", c.limit, field, len(c.text))
		}
	}
}

func TestPrimaryRef(t *testing.T) {
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
			reason: "Any version of a Kustomization is read.", engine: catalogv1alpha1.EngineFlux, ref: ref("kustomize.toolkit.fluxcd.io/v1beta2", "Kustomization"),
			want: "kustomize.toolkit.fluxcd.io/v1beta2, Resource=kustomizations Kustomization ns/x",
		},
		"RepoSync": {
			reason: "A RepoSync is read as a RootSync is.", engine: catalogv1alpha1.EngineConfigSync, ref: ref("configsync.gke.io/v1beta1", "RepoSync"),
			want: "configsync.gke.io/v1beta1, Resource=reposyncs RepoSync ns/x",
		},
		"HelmRelease": {
			reason: "A HelmRelease is refused: its status names no commit.",
			engine: catalogv1alpha1.EngineFlux, ref: ref("helm.toolkit.fluxcd.io/v2", "HelmRelease"), err: true,
		},
		"Secret": {reason: "A Site cannot make the provider read a Secret.", engine: catalogv1alpha1.EngineFlux, ref: ref("v1", "Secret"), err: true},
		"OtherEngine": {
			reason: "A kind of another engine is refused.",
			engine: catalogv1alpha1.EngineArgoCD, ref: ref("kustomize.toolkit.fluxcd.io/v1", "Kustomization"), err: true,
		},
		"Malformed": {reason: "An apiVersion with two slashes is refused.", engine: catalogv1alpha1.EngineFlux, ref: ref("a/b/c", "Kustomization"), err: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := PrimaryRef(tc.engine, tc.ref)
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

func TestRefreshAnnotation(t *testing.T) {
	k := `{"apiVersion":"kustomize.toolkit.fluxcd.io/v1","kind":"Kustomization","metadata":{"name":"a","namespace":"ns"},"spec":{"sourceRef":{"kind":"GitRepository","name":"g","namespace":"src"}}}`
	g := `{"apiVersion":"source.toolkit.fluxcd.io/v1","kind":"GitRepository","metadata":{"name":"g","namespace":"src"}}`
	requested := strings.Replace(g, `"src"}`, `"src","annotations":{"reconcile.fluxcd.io/requestedAt":"order-1"}}`, 1)
	app := `{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"name":"a","namespace":"argocd"}}`
	waiting := strings.Replace(app, `"argocd"}`, `"argocd","annotations":{"argocd.argoproj.io/refresh":"hard"}}`, 1)
	cases := map[string]struct {
		reason       string
		engine       catalogv1alpha1.EngineType
		main, second string
		want         string
	}{
		"Flux": {
			reason: "A Flux source is annotated, because its new artifact wakes the Kustomization.",
			engine: catalogv1alpha1.EngineFlux, main: k, second: g, want: "GitRepository src/g reconcile.fluxcd.io/requestedAt=order-1",
		},
		"FluxAsked":    {reason: "A source that has this request already is not annotated again.", engine: catalogv1alpha1.EngineFlux, main: k, second: requested},
		"FluxNoSource": {reason: "A Kustomization whose source does not exist is not annotated.", engine: catalogv1alpha1.EngineFlux, main: k},
		"ArgoCD": {
			reason: "An Application of Argo CD is annotated itself.",
			engine: catalogv1alpha1.EngineArgoCD, main: app, want: "Application argocd/a argocd.argoproj.io/refresh=normal",
		},
		"ArgoCDWaiting": {reason: "An Application with an open refresh request is not annotated again.", engine: catalogv1alpha1.EngineArgoCD, main: waiting},
		"ConfigSync":    {reason: "Config Sync has no annotation that makes it reconcile.", engine: catalogv1alpha1.EngineConfigSync, main: app},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a, ok := RefreshAnnotation(tc.engine, decodeJSONObject(t, json.RawMessage(tc.main)), decodeJSONObject(t, json.RawMessage(tc.second)), "order-1")
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

// TestMessageOfSharedObjectIsHidden checks that the text of an engine is shown only to the claim whose directory its object reads alone: an object
// that reads all of a Site reports on other claims too.
func TestMessageOfSharedObjectIsHidden(t *testing.T) {
	const secret = "Deployment/team-b/billing: quota exceeded"
	const repo = `"url": "https://git.example.org/fleet.git"`
	conditions := `"conditions": [{"type": "Ready", "status": "False", "reason": "BuildFailed", "message": "` + secret + `", "observedGeneration": 1, "lastTransitionTime": "2026-11-01T12:00:00Z"}]`
	cases := map[string]struct {
		engine       catalogv1alpha1.EngineType
		main, second string
		reason       string
		// word is shown to the users of every claim.
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
		for dir, isShown := range map[string]bool{"clusters/edge1": false, "clusters/edge1/team-a/web": true} {
			t.Run(name+"/"+dir, func(t *testing.T) {
				w := Want{URL: "https://git.example.org/fleet.git", Branch: "main", SiteDir: "clusters/edge1", ClaimDir: "clusters/edge1/team-a/web"}
				got := Observe(tc.engine, w, decodeJSONObject(t, json.RawMessage(strings.ReplaceAll(tc.main, "DIR", dir))), decodeJSONObject(t, json.RawMessage(tc.second)))
				if got.Reason != tc.reason || !strings.Contains(got.Message, tc.word) || strings.Contains(got.Message, secret) != isShown || !isShown && !strings.Contains(got.Message, " n/o reads more than") {
					t.Errorf("Observe(...): want reason %s, the engine's words %t, got %s: %s", tc.reason, isShown, got.Reason, got.Message)
				}
			})
		}
	}
}

// TestParseCommitID checks that only a whole commit id is one: a short id, another hash or a branch proves nothing.
func TestParseCommitID(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef01234567"
	cases := map[string]struct {
		reason string
		text   string
		want   string
	}{
		"Whole":     {reason: "An id of 40 hexadecimal digits is a commit.", text: id, want: id},
		"Short":     {reason: "An abbreviated id could match several commits.", text: id[:39]},
		"Long":      {reason: "An id with a digit too many is not cut to a commit.", text: id + "8"},
		"SHA256":    {reason: "A digest of 64 digits is not an id of a commit.", text: id + id[:24]},
		"UpperCase": {reason: "Git writes ids in lower case, so an id in upper case is refused.", text: strings.ToUpper(id)},
		"NotHex":    {reason: "A text of 40 characters that are not hexadecimal is not an id.", text: "z" + id[1:]},
		"Branch":    {reason: "The name of a branch is not an id.", text: "main"},
		"Empty":     {reason: "An empty text is not an id.", text: ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, parseCommitID(tc.text)); diff != "" {
				t.Errorf("\n%s\nparseCommitID(%q): -want, +got:\n%s", tc.reason, tc.text, diff)
			}
		})
	}
}

func TestIsHealthy(t *testing.T) {
	cases := map[string]struct {
		reason string
		health string
		want   bool
	}{
		"Healthy":     {reason: "Argo CD and Flux report healthy objects as Healthy.", health: "Healthy", want: true},
		"Current":     {reason: "Config Sync reports healthy objects as Current.", health: "Current", want: true},
		"NotLooked":   {reason: "An engine that looks at no health proves none.", health: ""},
		"Progressing": {reason: "An object that an engine still waits for is not healthy yet.", health: "Progressing"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := IsHealthy(tc.health); got != tc.want {
				t.Errorf("\n%s\nIsHealthy(%q): got %t, want %t", tc.reason, tc.health, got, tc.want)
			}
		})
	}
}

func TestIsUnhealthy(t *testing.T) {
	cases := map[string]struct {
		reason string
		health string
		want   bool
	}{
		"Degraded":    {reason: "Argo CD reports a failing object as Degraded.", health: "Degraded", want: true},
		"Progressing": {reason: "An object that an engine still waits for is not working yet.", health: "Progressing", want: true},
		"Healthy":     {reason: "A working object is not unhealthy.", health: "Healthy"},
		"NotLooked":   {reason: "An engine that checks no health reports no fault.", health: ""},
		"Unknown":     {reason: "An engine that is about to check reports no fault.", health: "Unknown"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := IsUnhealthy(tc.health); got != tc.want {
				t.Errorf("\n%s\nIsUnhealthy(%q): got %t, want %t", tc.reason, tc.health, got, tc.want)
			}
		})
	}
}

// TestTargetOf has an engine's object whose identity or destination changes.
func TestTargetOf(t *testing.T) {
	const same = `{"uid": "u1", "generation": 1}, "spec": {"destination": {"name": "edge1"}}`
	cases := map[string]struct {
		reason, object string
		want           bool
	}{
		"Generation": {
			reason: "Another generation is the same object.",
			object: `{"uid": "u1", "generation": 2}, "spec": {"destination": {"name": "edge1"}}`, want: true,
		},
		"UID": {
			reason: "An object of the same name in another cluster has another UID.",
			object: `{"uid": "u2"}, "spec": {"destination": {"name": "edge1"}}`,
		},
		"Destination": {reason: "An Application may apply to another cluster.", object: `{"uid": "u1"}, "spec": {"destination": {"name": "edge2"}}`},
		"KubeConfig": {
			reason: "A Kustomization may apply to another cluster.",
			object: `{"uid": "u1"}, "spec": {"kubeConfig": {"secretRef": {"name": "edge2"}}}`,
		},
	}
	target := func(text string) string {
		return targetDigest(decodeJSONObject(t, json.RawMessage(`{"kind": "Application", "metadata": `+text+`}`)))
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			want, got := target(same), target(tc.object)
			if want == "" || got == "" || (want == got) != tc.want {
				t.Errorf("\n%s\ntargetOf(...): want an equal digest %t, got %q and %q", tc.reason, tc.want, want, got)
			}
		})
	}
	if got := target(`{}, "spec": {"destination": {"name": "edge1"}}`); got != "" {
		t.Errorf("\nAn object without a UID has no identity.\ntargetOf(...): got %q", got)
	}
}
