package track

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/track/object"
	"github.com/intentplane/intentplane/apis/tree"
)

// deploymentFile returns a Deployment of the blue track with a number of pods and an image.
func deploymentFile(replicas, image string) []byte {
	return []byte(`apiVersion: apps/v1
kind: Deployment
metadata:
  annotations:
    intentplane.dev/replicas: "` + replicas + `"
  name: web-blue
  namespace: team-a
spec:
  replicas: ` + replicas + `
  template:
    spec:
      containers:
      - image: ` + image + `
`)
}

// TestReadWorkload compares folders that differ by sizes, by pods, and by shared objects.
func TestReadWorkload(t *testing.T) {
	base := tree.Files{"blue/deployment-web-blue.yaml": deploymentFile("2", "nginx:1"), "blue/kustomization.yaml": []byte("resources: []\n")}
	first, err := ReadWorkload(base, Blue)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason  string
		files   tree.Files
		same    bool
		hasPods bool
	}{
		"Sizes": {
			reason: "Other sizes are the same workload.",
			files:  tree.Files{"blue/deployment-web-blue.yaml": deploymentFile("5", "nginx:1")}, same: true, hasPods: true,
		},
		"Image": {reason: "Another image is another workload.", files: tree.Files{"blue/deployment-web-blue.yaml": deploymentFile("2", "nginx:2")}, hasPods: true},
		"Shared": {
			reason: "Shared objects are not part of a workload.",
			files:  tree.Files{"blue/deployment-web-blue.yaml": deploymentFile("2", "nginx:1"), "shared/x.yaml": []byte("x")}, same: true,
			hasPods: true,
		},
		"None": {
			reason: "A workload without pods is reported as such.",
			files:  tree.Files{"blue/deployment-web-blue.yaml": deploymentFile("0", "nginx:1")}, same: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ReadWorkload(tc.files, Blue)
			if err != nil {
				t.Fatal(err)
			}
			if got.HasPods != tc.hasPods || (got.Digest == first.Digest) != tc.same {
				t.Errorf("\n%s\nReadWorkload(...): want pods %t and an equal digest %t, got %+v", tc.reason, tc.hasPods, tc.same, got)
			}
			if diff := cmp.Diff([]Deployment{{NamespacedName: types.NamespacedName{Namespace: "team-a", Name: "web-blue"}}}, got.Deployments); diff != "" {
				t.Errorf("\n%s\nReadWorkload(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if _, err := ReadWorkload(tree.Files{"blue/x.yaml": []byte("}")}, Blue); err == nil {
		t.Error("\nA file that is not an object is an error.\nReadWorkload(...): want an error")
	}
}

// TestFolders reads the id of a track's folder, and leaves folders out.
func TestFolders(t *testing.T) {
	files := tree.Files{"blue/a.yaml": []byte("a"), "green/b.yaml": []byte("b"), "kustomization.yaml": []byte("k")}
	if got, want := FolderID(files, Blue), tree.ID(tree.Files{"a.yaml": []byte("a")}); got != want {
		t.Errorf("\nA folder has the id of its files.\nFolderID(...): want %s, got %s", want, got)
	}
	if got := FolderID(tree.Files{}, Blue); got != "" {
		t.Errorf("\nA directory without the folder has no id of it.\nFolderID(...): got %s", got)
	}
	want := tree.Files{"green/b.yaml": []byte("b"), "kustomization.yaml": []byte("k")}
	if diff := cmp.Diff(want, WithoutFolders(files, Blue)); diff != "" {
		t.Errorf("\nThe files of other folders stay.\nWithoutFolders(...): -want, +got:\n%s", diff)
	}
}

// TestScaledWorkload follows a workload with an autoscaler through the states of its directory.
func TestScaledWorkload(t *testing.T) {
	scaler := func(spec string) string {
		return manifest("autoscaling/v2", "HorizontalPodAutoscaler", "web", "spec:\n  maxReplicas: 30\n"+spec+"  scaleTargetRef:\n    kind: Deployment\n    name: web\n")
	}
	keda := manifest("keda.sh/v1alpha1", "ScaledObject", "web", "spec:\n  maxReplicaCount: 30\n  minReplicaCount: 8\n  scaleTargetRef:\n    name: web\n")
	cases := map[string]struct {
		reason     string
		deployment string
		scaler     string
		state      State
		replicas   any
		min        int64
	}{
		"Alone": {
			reason: "The number of pods is the autoscaler's alone, which keeps its whole minimum.", deployment: webDeployment, scaler: scaler("  minReplicas: 8\n"),
			state: State{Serving: Blue, Alone: true}, min: 8,
		},
		"Ahead": {
			reason: "The autoscaler of a canary keeps the pods for its next weight.", deployment: webDeployment, scaler: scaler("  minReplicas: 8\n"),
			state: State{Serving: Green, Weight: 5, Ahead: 20}, min: 2,
		},
		"Stable": {
			reason: "The autoscaler of the track that serves keeps its whole minimum at each weight.", deployment: webDeployment, scaler: scaler("  minReplicas: 8\n"),
			state: State{Serving: Blue, Weight: 50, Ahead: 100}, min: 8,
		},
		"NoMinimum": {
			reason: "An autoscaler keeps one pod where it says no minimum.", deployment: webDeployment, scaler: scaler(""),
			state: State{Serving: Blue, Alone: true}, min: 1,
		},
		"ScaledObject": {
			reason: "KEDA keeps the pods of a canary for its next weight.", deployment: webDeployment, scaler: keda,
			state: State{Serving: Green, Weight: 5, Ahead: 20}, min: 2,
		},
		"NoPods": {
			reason:     "A Deployment of no pods says so, since its autoscaler rests then.",
			deployment: strings.Replace(webDeployment, "5", "0", 1), scaler: scaler("  minReplicas: 8\n"),
			state: State{Serving: Blue, Alone: true}, replicas: json.Number("0"), min: 8,
		},
		"OtherTarget": {
			reason:     "An autoscaler of another Deployment leaves the number to the delivery.",
			deployment: webDeployment, scaler: strings.Replace(scaler("  minReplicas: 8\n"), "    name: web\n", "    name: other\n", 1),
			state: State{Serving: Blue, Alone: true}, replicas: json.Number("5"),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, err := Split(web(map[string]string{"deployment-web.yaml": tc.deployment, "hpa.yaml": tc.scaler}), nil)
			if err != nil {
				t.Fatal(err)
			}
			files := atState(t, placeIn(t, p, Blue), tc.state)
			got, err := ReadWorkload(files, Blue)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]Deployment{{NamespacedName: types.NamespacedName{Namespace: "shop", Name: "web-blue"}, MinReplicas: tc.min}}, got.Deployments); diff != "" {
				t.Errorf("\n%s\nReadWorkload(...): -want, +got:\n%s", tc.reason, diff)
			}
			u, err := object.Decode(files["blue/deployment-web-blue.yaml"])
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.replicas, object.MapAt(u.Object, "spec")["replicas"]); diff != "" {
				t.Errorf("\n%s\nspec.replicas: -want, +got:\n%s", tc.reason, diff)
			}
			if tc.replicas != json.Number("0") != got.HasPods {
				t.Errorf("\n%s\nHasPods: got %t", tc.reason, got.HasPods)
			}
		})
	}
}
