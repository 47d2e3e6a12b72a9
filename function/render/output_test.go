package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

func TestBuildObjects(t *testing.T) {
	type want struct {
		files []string
		err   string
	}
	cases := map[string]struct {
		reason  string
		objects string
		want    want
	}{
		"Namespaces": {
			reason:  "Only an object without a namespace gets the claim's, and cluster-scoped ones get none.",
			objects: object("v1", "ConfigMap", "{name: a}") + object("v1", "ConfigMap", "{name: b, namespace: other}") + object("v1", "Namespace", "{name: c}"),
			want:    want{files: []string{"configmap-a.yaml team-a", "configmap-b.yaml other", "namespace-c.yaml "}},
		},
		"Collision": {
			reason:  "Objects with the same kind and name get file names with a digest.",
			objects: object("v1", "ConfigMap", "{name: a, namespace: b}") + object("v1", "ConfigMap", "{name: a, namespace: c}"),
			want:    want{files: []string{"configmap-a_8c7c32b728.yaml b", "configmap-a_b50f529827.yaml c"}},
		},
		"OddName": {
			reason:  "A name that cannot be a file name gets a file name with a digest.",
			objects: object("rbac.authorization.k8s.io/v1", "Role", `{name: "a:B"}`),
			want:    want{files: []string{"role-a-b_80b63e980c.yaml team-a"}},
		},
		"Duplicate": {
			reason:  "An object may be there once.",
			objects: object("v1", "ConfigMap", "{name: a}") + object("v1", "ConfigMap", "{name: a, namespace: team-a}"),
			want:    want{err: "namespace transformation produces ID conflict"},
		},
		"OtherVersion": {
			reason:  "Two versions of an object are one object.",
			objects: object("x.org/v1", "Thing", "{name: a}") + object("x.org/v2", "Thing", "{name: a}"),
			want:    want{err: "Thing team-a/a: was rendered twice"},
		},
		"List": {
			reason:  "A list hides how many objects there are.",
			objects: "apiVersion: v1\nkind: List\nitems: []\n---\n",
			want:    want{err: "objects.yaml: is a list: write each object as a separate document"},
		},
		"GenerateName": {
			reason:  "A name that the API server makes up cannot be delivered again.",
			objects: object("v1", "ConfigMap", "{generateName: a}"),
			want: want{
				err: "objects.yaml: object 1: metadata.generateName: ConfigMap needs metadata.name: the API server would generate another name at " +
					"each delivery",
			},
		},
		"GenerateNameLater": {
			reason:  "The number of the object leads to the one without a name.",
			objects: object("v1", "ConfigMap", "{name: a}") + object("batch/v1", "Job", "{generateName: migrate-}"),
			want:    want{err: "objects.yaml: object 2: metadata.generateName: Job needs metadata.name"},
		},
		"GenerateNameBeside": {
			reason:  "The API server ignores generateName beside a name.",
			objects: object("v1", "ConfigMap", "{name: a, generateName: b}"),
			want:    want{files: []string{"configmap-a.yaml team-a"}},
		},
		"NoName": {
			reason:  "An object without any name is refused by kustomize.",
			objects: object("v1", "ConfigMap", "{labels: {a: b}}"),
			want:    want{err: "missing metadata.name"},
		},
		"UTF16": {
			reason:  "A file of Windows PowerShell says which encoding it has.",
			objects: "\xff\xfea\x00",
			want:    want{err: "spec.files: objects.yaml: is in UTF-16: save it in UTF-8"},
		},
		"PathName": {
			reason:  "A name is never a path.",
			objects: object("v1", "ConfigMap", "{name: ../a}"),
			want:    want{err: "ConfigMap team-a/../a: name is not valid"},
		},
		"NoKind": {
			reason:  "An object without a kind is refused.",
			objects: "apiVersion: v1\nmetadata: {name: a}\n",
			want:    want{err: "missing kind"},
		},
		"BadKind": {
			reason:  "A kind is a word.",
			objects: object("v1", "../Config", "{name: a}"),
			want:    want{err: "kind is not valid"},
		},
		"BadVersion": {
			reason:  "An API version is a group and a version.",
			objects: object("a/b/v1", "ConfigMap", "{name: a}"),
			want:    want{err: `apiVersion "a/b/v1" is not valid`},
		},
		"Nothing": {
			reason:  "A Blueprint that renders no objects is refused.",
			objects: "# nothing\n",
			want:    want{err: "0 objects were rendered"},
		},
		"TooMany": {
			reason:  "The number of objects is bounded.",
			objects: strings.Repeat(object("v1", "ConfigMap", "{name: a}"), 501),
			want:    want{err: "502 objects are read, more than 500"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := filesInput(map[string]string{
				"kustomization.yaml": "resources: [intent.yaml, objects.yaml]",
				"objects.yaml":       tc.objects,
			})
			in.Site.Layout = catalogv1alpha1.LayoutManifests
			got, err := NewRenderer().Build(t.Context(), in)
			if !contains(err, tc.want.err) {
				t.Errorf("\n%s\nBuild(...): want error %q, got %v", tc.reason, tc.want.err, err)
			}
			if diff := cmp.Diff(tc.want.files, namespaces(t, got)); diff != "" {
				t.Errorf("\n%s\nBuild(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestInstructions(t *testing.T) {
	const skip = "annotations: {kustomize.toolkit.fluxcd.io/reconcile: disabled}"
	cases := map[string]struct {
		reason        string
		kustomization string
		objects       string
		engine        catalogv1alpha1.EngineType
		unproven      []catalogv1alpha1.RenderedObject
		files         []string
		err           string
	}{
		"Object": {
			reason:  "An annotation of an object is refused, with its name.",
			objects: object("v1", "ConfigMap", "{name: a, "+skip+"}"),
			err:     "ConfigMap team-a/a: annotation kustomize.toolkit.fluxcd.io/reconcile: disabled: Flux does not apply it",
		},
		"Label": {
			reason:        "A label that all objects get is refused.",
			kustomization: "labels: [{pairs: {kustomize.toolkit.fluxcd.io/prune: disabled}}]\n", objects: object("v1", "ConfigMap", "{name: a}"),
			err: "ConfigMap team-a/a: label kustomize.toolkit.fluxcd.io/prune: disabled: Flux may keep it",
		},
		"Patch": {
			reason: "An annotation that a patch adds is refused.",
			kustomization: "patches: [{target: {kind: ConfigMap}, patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: " +
				"{argocd.argoproj.io/hook: PreSync}}}'}]\n",
			objects: object("v1", "ConfigMap", "{name: a}"),
			err:     "ConfigMap team-a/a: annotation argocd.argoproj.io/hook: PreSync: ArgoCD runs it as a hook",
		},
		"Generator": {
			reason: "An annotation of a generated object is refused.",
			kustomization: "configMapGenerator: [{name: b, literals: [x=y], options: {disableNameSuffixHash: true, annotations: " +
				"{configmanagement.gke.io/managed: disabled}}}]\n",
			objects: object("v1", "ConfigMap", "{name: a}"),
			err:     "ConfigMap team-a/b: annotation configmanagement.gke.io/managed: disabled: ConfigSync does not apply it",
		},
		"Text": {
			reason:  "A text because of which Argo CD skips the file is refused, wherever it stands.",
			objects: object("v1", "ConfigMap", "{name: a, annotations: {note: see +argocd:skip-file-rendering}}"),
			err:     "ConfigMap team-a/a: text +argocd:skip-file-rendering: ArgoCD does not apply it",
		},
		"LocalConfig": {
			reason: "kustomize drops an object for local use.",
			objects: object("v1", "ConfigMap", "{name: a}") + object(
				"v1", "ConfigMap", "{name: b, annotations: {config.kubernetes.io/local-config: 'true'}}",
			),
			files: []string{"configmap-a.yaml team-a"},
		},
		"Declared": {
			reason:  "A declared object is rendered.",
			objects: object("v1", "ConfigMap", "{name: a, "+skip+"}"), unproven: []catalogv1alpha1.RenderedObject{{Kind: "ConfigMap", Name: "a"}},
			files: []string{"configmap-a.yaml team-a"},
		},
		"Kind": {
			reason:  "A kind that Argo CD excludes is refused at a Site with Argo CD.",
			objects: object("v1", "Endpoints", "{name: a}"), engine: catalogv1alpha1.EngineArgoCD,
			err: "Endpoints team-a/a: kind Endpoints: ArgoCD does not apply it",
		},
		"KindElsewhere": {
			reason:  "The same kind is applied by Flux.",
			objects: object("v1", "Endpoints", "{name: a}"), engine: catalogv1alpha1.EngineFlux, files: []string{"endpoints-a.yaml team-a"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := filesInput(map[string]string{"kustomization.yaml": "resources: [intent.yaml, objects.yaml]\n" + tc.kustomization, "objects.yaml": tc.objects})
			in.Site.Layout, in.Site.Engine, in.Blueprint.Spec.Unproven = catalogv1alpha1.LayoutManifests, tc.engine, tc.unproven
			got, err := NewRenderer().Build(t.Context(), in)
			if !contains(err, tc.err) {
				t.Errorf("\n%s\nBuild(...): want error %q, got %v", tc.reason, tc.err, err)
			}
			if diff := cmp.Diff(tc.files, namespaces(t, got)); diff != "" {
				t.Errorf("\n%s\nBuild(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
