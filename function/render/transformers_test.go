package render

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/render/guard"
)

const sum = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func TestKustomizeImage(t *testing.T) {
	type parts struct{ name, tag, digest string }
	cases := map[string]struct {
		reason string
		image  string
		want   parts
		none   bool
	}{
		"Name": {
			reason: "An image without a tag gets the default tag, and not the tag of the replaced image.",
			image:  "nginx", want: parts{name: "nginx", tag: "latest"},
		},
		"Tag": {reason: "A tag stands behind the colon of an image.", image: "nginx:1.27", want: parts{name: "nginx", tag: "1.27"}},
		"Registry": {
			reason: "Names stay as they are said.",
			image:  "registry.example.org/team/app:2", want: parts{name: "registry.example.org/team/app", tag: "2"},
		},
		"Port":       {reason: "A port of a registry is not a tag.", image: "localhost:5000/app", want: parts{name: "localhost:5000/app", tag: "latest"}},
		"PortAndTag": {reason: "A tag is found behind the port of a registry.", image: "localhost:5000/app:2", want: parts{name: "localhost:5000/app", tag: "2"}},
		"SameTwice":  {reason: "A port may look like the tag.", image: "a.example.org:2/app:2", want: parts{name: "a.example.org:2/app", tag: "2"}},
		"Address":    {reason: "A registry may be an address.", image: "10.0.0.1:5000/app:2", want: parts{name: "10.0.0.1:5000/app", tag: "2"}},
		"Digest":     {reason: "A digest needs no tag beside it.", image: "app@" + sum, want: parts{name: "app", digest: sum}},
		"PortDigest": {reason: "A digest may come after a port.", image: "localhost:5000/app@" + sum, want: parts{name: "localhost:5000/app", digest: sum}},
		"Both": {
			reason: "An image may have a tag and a digest.",
			image:  "localhost:5000/app:2@" + sum, want: parts{name: "localhost:5000/app", tag: "2", digest: sum},
		},
		"Intent":       {reason: "An intent's image may itself be named intent.", image: "intent:2", want: parts{name: "intent", tag: "2"}},
		"Nothing":      {reason: "An empty text is not an image.", none: true},
		"Lines":        {reason: "Text with a line break is not an image.", image: "app:1\nnewTag: 2", none: true},
		"YAML":         {reason: "A YAML mapping is not an image.", image: "{name: a}", none: true},
		"Space":        {reason: "Text with a space is not an image.", image: "app: 1", none: true},
		"Template":     {reason: "Text with a template variable is not an image.", image: "app:${TAG}", none: true},
		"BadDigest":    {reason: "A digest that is too short is refused.", image: "app@sha256:00", none: true},
		"TwoDigests":   {reason: "An image with two digests is refused.", image: "app@" + sum + "@" + sum, none: true},
		"OtherDigest":  {reason: "A digest that kustomize does not know is refused.", image: "app@md5:d41d8cd98f00b204e9800998ecf8427e", none: true},
		"Long":         {reason: "An image reference that is too long is refused.", image: strings.Repeat("a.", 300) + "org/app", none: true},
		"TrailingMark": {reason: "An empty tag is not an image reference.", image: "app:", none: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := kustomizeImage(tc.image)
			if ok == tc.none {
				t.Fatalf("\n%s\nimageOf(%q): got %v, %t", tc.reason, tc.image, got, ok)
			}
			if diff := cmp.Diff(tc.want, parts{name: got["newName"], tag: got["newTag"], digest: got["digest"]}, cmp.AllowUnexported(parts{})); diff != "" {
				t.Errorf("\n%s\nimageOf(%q): -want, +got:\n%s", tc.reason, tc.image, diff)
			}
		})
	}
}

// adopted is a Deployment of a team that knows nothing about intents, but for the container's image and a label.
const adopted = `apiVersion: apps/v1
kind: Deployment
metadata: {name: shop, labels: {intentplane.dev/workload: main}}
spec:
  replicas: 7
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      containers:
      - {name: shop, image: "intent:dev"}
      - {name: side, image: "side:1"}
---
`

// workloadOf another kind.
func workloadOf(apiVersion, kind, name, container string) string {
	return "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {name: " + name + ", labels: {intentplane.dev/workload: main}}\n" +
		"spec: {template: {spec: {containers: [" + container + "]}}}\n---\n"
}

func TestIntentTransformers(t *testing.T) {
	const everything = `{"service": "shop", "replicas": {"edge1": 3, "edge2": 5}, "sites": ["edge1", "edge2"], "image": "localhost:5000/shop:2", "resources": {"cpu": "2", "memory": "4Gi"}}`
	const values = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: intent}\ndata: {image: 'registry.example.org/default:1', cpu: 250m}\n"
	const resources = `requests:{"cpu":"2","memory":"4Gi"} limits:{"memory":"4Gi"}`
	cases := map[string]struct {
		reason  string
		objects string
		files   map[string]string
		intent  string
		want    map[string]string
		err     string
	}{
		"Everything": {
			reason: "All that the intent says is there, with the Site's own replicas, and other containers stay.", objects: adopted, intent: everything,
			want: map[string]string{"deployment-shop.yaml": "replicas:3 localhost:5000/shop:2 " + resources + " side:1"},
		},
		"Little": {
			reason: "A value that the intent leaves out stays, but replicas default to one.", objects: adopted, intent: `{"service": "shop", "image": "shop"}`,
			want: map[string]string{"deployment-shop.yaml": "replicas:1 shop:latest side:1"},
		},
		"Defaults": {
			reason: "The Blueprint's intent.yaml counts for values that the intent leaves out.", objects: adopted, intent: `{"service": "shop"}`,
			files: map[string]string{"intent.yaml": values, "kustomization.yaml": "resources: [intent.yaml, objects.yaml]"},
			want:  map[string]string{"deployment-shop.yaml": `replicas:1 registry.example.org/default:1 requests:{"cpu":"250m"} side:1`},
		},
		"NoImage": {
			reason: "An image that stands for none would start nothing.", objects: adopted, intent: `{"service": "shop"}`,
			err: `deployment-shop.yaml: Deployment team-a/shop: spec.template.spec.containers[0].image: the image "intent" stands for the intent's, and neither the intent nor the Blueprint's intent.yaml has one`,
		},
		"NoImageInVolume": {
			reason: "An image volume that stands for no image is refused.", intent: `{"service": "shop"}`,
			objects: strings.Replace(
				strings.ReplaceAll(adopted, "intent:dev", "a"), "      containers:\n",
				"      volumes: [{name: a, image: {reference: intent}}]\n      containers:\n", 1,
			),
			err: `spec.template.spec.volumes[0].image.reference: the image "intent" stands for`,
		},
		"Unreached": {
			reason: "Where kustomize puts no image, none may be wanted.", intent: everything,
			objects: strings.Replace(
				strings.ReplaceAll(adopted, "intent:dev", "a"), "      containers:\n",
				"      ephemeralContainers: [{name: a, image: intent}]\n      containers:\n", 1,
			),
			err: `spec.template.spec.ephemeralContainers[0].image: the image "intent" stands for the intent's, and nothing puts it here`,
		},
		"BadDefault": {
			reason: "A default of the Blueprint that is not an image is named in the error.", objects: adopted, intent: `{"service": "shop"}`,
			files: map[string]string{
				"intent.yaml": strings.Replace(values, "'registry", "' registry", 1), "kustomization.yaml": "resources: [intent.yaml, objects.yaml]",
			},
			err: `intent.yaml: image: " registry.example.org/default:1" is not the reference of an image`,
		},
		"BadQuantity": {
			reason: "A default of the Blueprint that is not a quantity is named in the error.", objects: adopted, intent: `{"service": "shop"}`,
			files: map[string]string{"intent.yaml": strings.Replace(values, "250m", "'1e9'", 1), "kustomization.yaml": "resources: [intent.yaml, objects.yaml]"},
			err:   `intent.yaml: cpu: "1e9" is not a quantity`,
		},
		"Limited": {
			reason:  "A container may not ask for more than its limit: no API server would take it.",
			objects: workloadOf("apps/v1", "StatefulSet", "a", "{name: a, image: a, resources: {limits: {cpu: 1500m}}}"), intent: everything,
			err: "statefulset-a.yaml: StatefulSet team-a/a: spec.template.spec.containers.0.resources.limits.cpu: 1500m is less than the 2 that are requested",
		},
		"WideLimit": {
			reason:  "A limit that leaves room stays.",
			objects: workloadOf("apps/v1", "StatefulSet", "a", "{name: a, image: a, resources: {limits: {cpu: 2}}}"), intent: everything,
			want: map[string]string{"statefulset-a.yaml": `replicas:3 a requests:{"cpu":"2","memory":"4Gi"} limits:{"cpu":2,"memory":"4Gi"}`},
		},
		"NumberForText": {
			reason: "A number where the intent says a text, and nothing where it says something, come out the same.", intent: everything,
			objects: workloadOf("apps/v1", "StatefulSet", "a", "{name: a, image: a, resources: {requests: {cpu: 1, memory: 1.5}, limits: {}}}") +
				workloadOf("apps/v1", "StatefulSet", "b", "{name: a, image: a, resources: {requests: {cpu: '1', memory: }}}") +
				workloadOf("apps/v1", "StatefulSet", "c", "{name: a, image: a, resources: {}}"),
			want: map[string]string{
				"statefulset-a.yaml": "replicas:3 a " + resources, "statefulset-b.yaml": "replicas:3 a " + resources, "statefulset-c.yaml": "replicas:3 a " + resources,
			},
		},
		"Huge": {
			reason: "An E may be a unit.", objects: adopted, intent: `{"service": "shop", "image": "shop:1", "resources": {"memory": "1Ei"}}`,
			want: map[string]string{"deployment-shop.yaml": `replicas:1 shop:1 requests:{"memory":"1Ei"} limits:{"memory":"1Ei"} side:1`},
		},
		"TwoWorkloads": {
			reason: "Two that are marked both follow.", objects: adopted + strings.ReplaceAll(adopted, "name: shop", "name: other"), intent: everything,
			want: map[string]string{
				"deployment-shop.yaml":  "replicas:3 localhost:5000/shop:2 " + resources + " side:1",
				"deployment-other.yaml": "replicas:3 localhost:5000/shop:2 " + resources + " side:1",
			},
		},
		"NoWorkload": {
			reason: "The mark on an object that is not a workload is ignored, since labels are often for all objects.", intent: everything,
			objects: "apiVersion: v1\nkind: Service\nmetadata: {name: a, labels: {intentplane.dev/workload: main}}\n---\n" + workloadOf(
				"example.org/v1", "Deployment", "b", "{image: intent}",
			),
			want: map[string]string{"service-a.yaml": "", "deployment-b.yaml": "localhost:5000/shop:2"},
		},
		"OtherValue": {
			reason: "A label with another value does not mark a workload.", objects: strings.Replace(adopted, "workload: main", "workload: side", 1), intent: everything,
			want: map[string]string{"deployment-shop.yaml": "replicas:7 localhost:5000/shop:2 side:1"},
		},
		"Kinds": {
			reason: "A kind without replicas gets none, and a CronJob's pods are deeper.", intent: everything,
			objects: workloadOf("apps/v1", "DaemonSet", "a", "{name: a, image: intent}") + workloadOf("batch/v1", "Job", "b", "{name: a, image: intent}") +
				strings.Replace(workloadOf("batch/v1", "CronJob", "c", "{name: a, image: intent}"), "spec: {template: {spec: {containers: [{name: a, image: intent}]}}}",
					"spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: a, image: intent}]}}}}}", 1),
			want: map[string]string{
				"daemonset-a.yaml": "localhost:5000/shop:2 " + resources, "job-b.yaml": "localhost:5000/shop:2 " + resources,
				"cronjob-c.yaml": "localhost:5000/shop:2 " + resources,
			},
		},
		"AlsoReplaced": {
			reason: "Replacements of the author give the same.", objects: adopted, intent: everything,
			files: map[string]string{"kustomization.yaml": `resources: [intent.yaml, objects.yaml]
replacements:
- {source: {kind: ConfigMap, name: intent, fieldPath: data.image}, targets: [{select: {kind: Deployment}, fieldPaths: [spec.template.spec.containers.0.image]}]}
- {source: {kind: ConfigMap, name: intent, fieldPath: data.replicas}, targets: [{select: {kind: Deployment}, fieldPaths: [spec.replicas]}]}
- {source: {kind: ConfigMap, name: intent, fieldPath: data.cpu}, targets: [{select: {kind: Deployment}, fieldPaths: [spec.template.spec.containers.0.resources.requests.cpu], options: {create: true}}]}
`},
			want: map[string]string{"deployment-shop.yaml": "replicas:3 localhost:5000/shop:2 " + resources + " side:1"},
		},
		"Kustomization": {
			reason: "An adopted object may stay as it is: its kustomization names the image and marks the workload.", intent: everything,
			objects: strings.NewReplacer("intent:dev", "shop:1", "{intentplane.dev/workload: main}", "{a: b}").Replace(adopted),
			files: map[string]string{"kustomization.yaml": "resources: [objects.yaml]\nimages: [{name: shop, newName: intent}]\n" +
				"patches: [{target: {kind: Deployment}, patch: '- {op: add, path: /metadata/labels/intentplane.dev~1workload, value: main}'}]\n"},
			want: map[string]string{"deployment-shop.yaml": "replicas:3 localhost:5000/shop:2 " + resources + " side:1"},
		},
		"OddObjects": {
			reason: "An object that kustomize would stumble over stays when nothing is named intent.", intent: everything,
			objects: "apiVersion: example.org/v1\nkind: Odd\nmetadata: {name: a}\nspec: {template: text, containers: text}\n---\n",
			want:    map[string]string{"odd-a.yaml": ""},
		},
		"Definition": {
			reason: "A definition only speaks of images.", intent: everything,
			objects: "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: odds.example.org}\nspec:\n" +
				"  group: example.org\n  scope: Namespaced\n  names: {kind: Odd, plural: odds}\n" +
				"  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, default: {containers: [{image: intent}]}}}}]\n---\n",
			want: map[string]string{"customresourcedefinition-odds.example.org.yaml": ""},
		},
		"OwnName": {
			reason: "An intent's image may be called so.", objects: adopted, intent: `{"service": "shop", "image": "intent:9"}`,
			want: map[string]string{"deployment-shop.yaml": "replicas:1 intent:9 side:1"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := followInput(t, tc.objects, tc.files, tc.intent)
			files, err := NewRenderer().Build(t.Context(), in)
			if !contains(err, tc.err) {
				t.Fatalf("\n%s\nBuild(...): want error %q, got %v", tc.reason, tc.err, err)
			}
			if diff := cmp.Diff(tc.want, summaries(t, files)); diff != "" {
				t.Errorf("\n%s\nBuild(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func followInput(t *testing.T, objects string, files map[string]string, text string) Input {
	t.Helper()
	all := map[string]string{"kustomization.yaml": "resources: [objects.yaml]", "objects.yaml": objects}
	maps.Copy(all, files)
	in := filesInput(all)
	in.Site.Layout = catalogv1alpha1.LayoutManifests
	i, err := intent.FromText(text)
	if err != nil {
		t.Fatal(err)
	}
	in.Intent = i
	return in
}

// A podTemplate is as much of one as is looked at.
type podTemplate struct {
	Spec struct {
		Containers []struct {
			Image     string                    `json:"image"`
			Resources map[string]map[string]any `json:"resources"`
		} `json:"containers"`
	} `json:"spec"`
}

// summaries returns the intent's values in objects, by the file.
func summaries(t *testing.T, files tree.Files) map[string]string {
	t.Helper()
	var out map[string]string
	for name, text := range files {
		o := struct {
			Kind string `json:"kind"`
			Spec struct {
				Replicas    *int        `json:"replicas"`
				Template    podTemplate `json:"template"`
				JobTemplate struct {
					Spec struct {
						Template podTemplate `json:"template"`
					} `json:"spec"`
				} `json:"jobTemplate"`
			} `json:"spec"`
		}{}
		if err := yaml.Unmarshal(text, &o); err != nil && o.Kind != "Odd" {
			t.Fatal(err)
		}
		words := []string{}
		if o.Spec.Replicas != nil {
			words = append(words, fmt.Sprintf("replicas:%d", *o.Spec.Replicas))
		}
		for _, c := range append(o.Spec.Template.Spec.Containers, o.Spec.JobTemplate.Spec.Template.Spec.Containers...) {
			words = append(words, c.Image)
			for _, kind := range []string{"requests", "limits"} {
				if b, err := json.Marshal(c.Resources[kind]); err == nil && c.Resources[kind] != nil {
					words = append(words, kind+":"+string(b))
				}
			}
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = strings.Join(words, " ")
	}
	return out
}

// TestFollowIsNothing checks that our overlay for a Blueprint with nothing to fill does not change.
func TestFollowIsNothing(t *testing.T) {
	objects := strings.NewReplacer("intent:dev", "intention:1", "intentplane.dev/workload", "intentplane.dev/works").Replace(adopted)
	in := followInput(t, objects, nil, `{"service": "shop", "image": "shop:1", "resources": {"cpu": "1"}}`)
	files, err := Layout(in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"blueprint/intent.yaml", "blueprint/kustomization.yaml", "blueprint/objects.yaml", "kustomization.yaml", "namespace.yaml"}, files.Names()); diff != "" {
		t.Errorf("Layout(...): -want, +got:\n%s", diff)
	}
	if text := string(files[kustomizationFile]); strings.Contains(text, "images") || strings.Contains(text, workloadFile) {
		t.Errorf("Layout(...): our kustomization has more than it needs:\n%s", text)
	}
}

func TestUsesOf(t *testing.T) {
	in := followInput(t, adopted, nil, `{"service": "shop"}`)
	got, err := UsesOf(in.Blueprint)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(guard.Uses{Replicas: true, Image: true, Workload: true, Workloads: []string{"objects.yaml: Deployment shop"}}, got); diff != "" {
		t.Errorf("UsesOf(...): -want, +got:\n%s", diff)
	}
}

// TestWorkloadSteps checks that our own patches are within the bound for a Blueprint's patches.
func TestWorkloadSteps(t *testing.T) {
	patches := strings.Repeat("- {target: {kind: ConfigMap}, patch: '- {op: add, path: /data/y, value: z}'}\n", 16)
	kustomization := "resources: [objects.yaml]\npatches:\n" + patches
	crowd := strings.Repeat(reached+"---\n", 499)
	for objects, want := range map[string]string{
		crowd + strings.ReplaceAll(reached, "name: a", "name: b"):                                           "may not add resource with an already registered id",
		crowd + strings.ReplaceAll(reached, "name: a", "name: b, labels: {intentplane.dev/workload: main}"): "21 patches of 500 objects are too many",
	} {
		in := filesInput(map[string]string{"kustomization.yaml": kustomization, "objects.yaml": objects})
		if _, err := NewRenderer().Build(t.Context(), in); !contains(err, want) {
			t.Errorf("Build(...): want error %q, got %v", want, err)
		}
	}
}
