package render

import (
	"os"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/track/leftover"
	trackobject "github.com/intentplane/intentplane/apis/track/object"
	"github.com/intentplane/intentplane/apis/tree"
)

// canaryInput is for the example Blueprint web, which has a Deployment that is marked, a Service and an HTTPRoute.
func canaryInput(t *testing.T, in string) Input {
	t.Helper()
	text, err := os.ReadFile("../../examples/blueprints/web-1.1.0.yaml")
	if err != nil {
		t.Fatal(err)
	}
	b := &catalogv1alpha1.Blueprint{}
	if err := yaml.UnmarshalStrict(text, b); err != nil {
		t.Fatal(err)
	}
	b.Spec.Canary = &catalogv1alpha1.BlueprintCanary{}
	deployment := string(b.Spec.Files["deployment.yaml"])
	b.Spec.Files["deployment.yaml"] = catalogv1alpha1.File(strings.Replace(deployment, "metadata:\n", "metadata:\n  labels: {intentplane.dev/workload: main}\n", 1))
	out := exampleInput(t, `{"service": "shop", "replicas": 4, "image": "registry.example.org/shop:2", "parameters": {"host": "shop.example.org"}}`, Site{Name: "edge1"})
	out.Blueprint, out.Track = b, in
	return out
}

func buildInTrack(t *testing.T, in Input) tree.Files {
	t.Helper()
	files, err := NewRenderer().Build(t.Context(), in)
	if err != nil {
		t.Fatalf("Build(...): %v", err)
	}
	return files
}

func TestBuildInTracks(t *testing.T) {
	blue := buildInTrack(t, canaryInput(t, track.Blue))
	d, err := leftover.Describe(blue, track.Blue)
	if err != nil {
		t.Fatalf("Describe(...): %v", err)
	}
	kinds := func(objects []trackobject.Object) string {
		out := []string{}
		for _, o := range objects {
			out = append(out, o.Kind)
		}
		return strings.Join(out, " ")
	}
	want := []string{"ConfigMap Deployment PodDisruptionBudget Service", "NetworkPolicy Service", "HTTPRoute"}
	if diff := cmp.Diff(want, []string{kinds(d.PerTrack), kinds(d.Shared), kinds(d.Routed)}); diff != "" {
		t.Errorf("per track, shared and routed: -want, +got:\n%s", diff)
	}
	for name, content := range blue {
		for _, o := range policy.ObjectsIn(path.Base(name), content) {
			if diff := cmp.Diff(policy.StemOf(o.Kind, o.Name), policy.StemOfFile(path.Base(name))); diff != "" {
				t.Errorf("%s: the file has the name of its object: -want, +got:\n%s", name, diff)
			}
		}
	}
}

// TestBuildBothTracks has kustomize build a directory with both tracks, as an engine does.
func TestBuildBothTracks(t *testing.T) {
	files := buildInTrack(t, canaryInput(t, track.Blue))
	for name, content := range buildInTrack(t, canaryInput(t, track.Green)) {
		if strings.HasPrefix(name, track.Green+"/") {
			files[name] = content
		}
	}
	files, err := track.At(files, track.State{Serving: track.Blue, Weight: 20, Ahead: 50})
	if err != nil {
		t.Fatalf("At(...): %v", err)
	}
	objects, err := runKustomize(files)
	if err != nil {
		t.Fatalf("kustomize(...): %v", err)
	}
	got := map[string]bool{}
	for _, text := range documents(t, objects.AsYaml) {
		got[text] = true
	}
	want := map[string]bool{}
	for name, content := range files {
		if path.Base(name) != kustomizationFile {
			want[string(content)] = true
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kustomize builds the objects that the files hold: -want, +got:\n%s", diff)
	}
}

func TestBuildManifestsInTrack(t *testing.T) {
	in := canaryInput(t, track.Green)
	in.Site.Layout = catalogv1alpha1.LayoutManifests
	for name := range buildInTrack(t, in) {
		if path.Base(name) == kustomizationFile || !strings.Contains(name, "/") {
			t.Errorf("%s is in a directory of manifests in folders", name)
		}
	}
}

func TestBuildRefusesTracks(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(*Input)
		want   string
	}{
		"NoTrack": {
			reason: "A Blueprint with a canary is never rendered without tracks.", change: func(in *Input) { in.Track = "" },
			want: `cannot render Blueprint "web-1.1.0": spec.canary: is set, so the Blueprint is rendered in a track only`,
		},
		"NoCanary": {
			reason: "A Blueprint without a canary has no tracks.", change: func(in *Input) { in.Blueprint.Spec.Canary = nil },
			want: `cannot render Blueprint "web-1.1.0": spec.canary: is not set, so the Blueprint is not rendered in tracks`,
		},
		"OtherTrack": {
			reason: "There are two tracks.", change: func(in *Input) { in.Track = "red" },
			want: `cannot render Blueprint "web-1.1.0": "red" is not a track`,
		},
		"PerTrack": {
			reason: "An object in spec.canary.perTrack has to be rendered.",
			change: func(in *Input) {
				in.Blueprint.Spec.Canary.PerTrack = []catalogv1alpha1.RenderedObject{{Group: "keda.sh", Kind: "ScaledObject", Name: "web"}}
			},
			want: `cannot render Blueprint "web-1.1.0": spec.canary.perTrack[0]: no ScaledObject web is rendered`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := canaryInput(t, track.Blue)
			tc.change(&in)
			_, err := NewRenderer().Build(t.Context(), in)
			if diff := cmp.Diff(tc.want, message(err)); diff != "" {
				t.Errorf("\n%s\nBuild(...): -want error, +got error:\n%s", tc.reason, diff)
			}
		})
	}
}
