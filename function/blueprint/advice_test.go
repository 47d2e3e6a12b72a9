package blueprint

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestAdvice(t *testing.T) {
	const image = "the intent's image is used nowhere: name a container's image intent (a.yaml: Deployment shop)"
	const label = "the intent's replicas and resources are used nowhere: label a workload intentplane.dev/workload: main " +
		"(a.yaml: Deployment shop), unless a HorizontalPodAutoscaler scales it"
	const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: shop}\nspec: {template: {spec: {containers: [{name: a, image: a}]}}}\n"
	cases := map[string]struct {
		reason string
		object string
		files  map[string]string
		want   []string
	}{
		"Neither": {reason: "The author of a Blueprint without marks is advised to add them.", object: deployment, want: []string{image, label}},
		"Image": {
			reason: "A Blueprint that has the image gets no advice about it.",
			object: strings.Replace(deployment, "image: a", "image: 'intent:1'", 1), want: []string{label},
		},
		"Workload": {
			reason: "A Blueprint with a mark and without the image is advised to name the image.",
			object: strings.Replace(deployment, "name: shop", "name: shop, labels: {intentplane.dev/workload: main}", 1), want: []string{image},
		},
		"Component": {
			reason: "A mark may come from elsewhere.",
			object: deployment,
			files:  map[string]string{"kustomization.yaml": "resources: [a.yaml]\nlabels: [{pairs: {intentplane.dev/workload: main}}]\n"},
			want:   []string{image},
		},
		"Values": {
			reason: "A Blueprint that reads values gets no advice.",
			object: deployment, files: map[string]string{"kustomization.yaml": "resources: [a.yaml, intent.yaml]\n"},
		},
		"Nothing": {reason: "Without a workload there is nothing to follow.", object: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"},
		"Parameter": {
			reason: "A parameter that the schema describes and nothing reads is named: a claim that sets it is refused.",
			object: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
			files:  map[string]string{"parameters.schema.yaml": "type: object\nproperties: {color: {type: string}}\n"},
			want: []string{
				"parameter color is described and not read: copy data.param-color of the ConfigMap intent with a replacement, or remove it from the " +
					"schema",
			},
		},
		"Many": {
			reason: "Advice names five workloads at most.", object: strings.Repeat(deployment+"---\n", 6),
			want: []string{
				strings.Replace(image, "(a", "("+strings.Repeat("a.yaml: Deployment shop, ", 4)+"a", 1),
				strings.Replace(label, "(a", "("+strings.Repeat("a.yaml: Deployment shop, ", 4)+"a", 1),
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := fstest.MapFS{"kustomization.yaml": {Data: []byte("resources: [a.yaml]\n")}, "a.yaml": {Data: []byte(tc.object)}}
			for file, text := range tc.files {
				dir[file] = &fstest.MapFile{Data: []byte(text)}
			}
			b, err := Create(dir, Options{Name: "web", Version: "1.0.0", Types: []string{"web"}})
			if err != nil {
				t.Fatal(err)
			}
			got, err := Advice(b)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				got[i] = strings.Replace(got[i], ", …", "", 1)
			}
			if diff := cmp.Diff(tc.want, append([]string(nil), got...)); diff != "" {
				t.Errorf("\n%s\nAdvice(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
