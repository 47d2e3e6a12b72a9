package leftover

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/tree"
)

// The files of the smallest workload that can have two tracks.
var webDeployment, webService, webRoute = readWeb("deployment"), readWeb("service"), readWeb("httproute")

func readWeb(kind string) string {
	b, err := os.ReadFile("../testdata/web/" + kind + "-web.yaml")
	if err != nil {
		panic(err) // The file is in the repository.
	}
	return string(b)
}

func manifest(apiVersion, kind, name, rest string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n  namespace: shop\n%s", apiVersion, kind, name, rest)
}

// leftoversOf returns the leftovers of web with further files.
func leftoversOf(t *testing.T, extra map[string]string, listed []track.Selector) []string {
	t.Helper()
	files := tree.Files{"deployment-web.yaml": []byte(webDeployment), "service-web.yaml": []byte(webService), "httproute-web.yaml": []byte(webRoute)}
	for name, text := range extra {
		files[name] = []byte(text)
	}
	p, err := track.Split(files, listed)
	if err != nil {
		t.Fatalf("Split(...): %v", err)
	}
	if files, err = p.Files(track.Blue, track.Layout{Kustomizations: true}); err != nil {
		t.Fatalf("Files(...): %v", err)
	}
	d, err := Describe(files, track.Blue)
	if err != nil {
		t.Fatalf("Describe(...): %v", err)
	}
	out := []string{}
	for _, l := range d.Leftovers {
		out = append(out, l.String())
	}
	return out
}

func readTree(t *testing.T, dir string) tree.Files {
	t.Helper()
	out := tree.Files{}
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(root, name)
		out[name] = b
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// annotated returns an object x with an annotation.
func annotated(apiVersion, kind, annotation string) string {
	return strings.Replace(manifest(apiVersion, kind, "x", "spec: {}\n"), "  name: x\n", "  annotations: {"+annotation+"}\n  name: x\n", 1)
}

func TestLeftovers(t *testing.T) {
	const pods = "    spec:\n      containers:\n"
	deployment := func(container string) map[string]string {
		return map[string]string{
			"deployment-web.yaml": webDeployment + pods + container + "      volumes:\n      - configMap:\n          name: tuning\n        name: tuning\n",
			"configmap.yaml":      manifest("v1", "ConfigMap", "tuning", ""),
		}
	}
	cases := map[string]struct {
		reason string
		more   map[string]string
		want   []string
	}{
		"None": {
			reason: "References that are known get the suffix, and the names of volumes refer to nothing.",
			more:   deployment("      - name: tuning\n        image: registry.example.org/tuning:1\n"), want: []string{},
		},
		"Argument": {
			reason: "A program may read a ConfigMap that an argument names.",
			more:   deployment("      - args: [--from=shop/tuning]\n"),
			want: []string{
				"Deployment shop/web: spec.template.spec.containers[0].args[0]: has the name of ConfigMap shop/tuning, which has another name in " +
					"each track",
			},
		},
		"Part": {reason: "A name within another name is not this name.", more: deployment("      - args: [--from=tuning-2, fine-tuning]\n"), want: []string{}},
		"FrontName": {
			reason: "The name of the Service is still one, and so callers may use it.",
			more:   deployment("      - args: [http://web/]\n"), want: []string{},
		},
		"BackendAnnotation": {
			reason: "An annotation whose key says a kind is a reference.",
			more:   map[string]string{"x.yaml": annotated("networking.k8s.io/v1", "Ingress", "nginx.ingress.kubernetes.io/default-backend: web")},
			want: []string{
				"Ingress shop/x: metadata.annotations[nginx.ingress.kubernetes.io/default-backend]: leads to Service shop/web, which has the pods of one " +
					"track at a time",
			},
		},
		"DeploymentAnnotation": {
			reason: "The kind in a key may be a Deployment.",
			more:   map[string]string{"x.yaml": annotated("example.org/v1", "Dashboard", "example.org/deployment: web")},
			want: []string{
				"Dashboard shop/x: metadata.annotations[example.org/deployment]: has the name of Deployment shop/web, which has another name in each track",
			},
		},
		"OtherAnnotation": {
			reason: "An annotation without a kind may have the same text.",
			more:   map[string]string{"x.yaml": annotated("example.org/v1", "Dashboard", "example.org/owner: web")}, want: []string{},
		},
		"SharedObject": {
			reason: "A shared object may name an object that has another name in each track.",
			more: map[string]string{
				"deployment-web.yaml": webDeployment,
				"hpa.yaml":            manifest("autoscaling/v2", "HorizontalPodAutoscaler", "scaler", "spec:\n  scaleTargetRef: {kind: Deployment, name: web}\n"),
				"a.yaml":              manifest("example.org/v1", "Dashboard", "d", "spec:\n  pauses: scaler\n"),
			},
			want: []string{"Dashboard shop/d: spec.pauses: has the name of HorizontalPodAutoscaler shop/scaler, which has another name in each track"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, leftoversOf(t, tc.more, nil)); diff != "" {
				t.Errorf("\n%s\nLeftovers: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
