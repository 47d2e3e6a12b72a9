package guard

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/function/intent"
)

// readsIntent is the beginning of a replacement that copies a value of the ConfigMap intent.
const readsIntent = "source: {kind: ConfigMap, name: intent, fieldPath: "

func TestCheckRead(t *testing.T) {
	const (
		values      = "resources: [intent.yaml, objects.yaml]\n"
		target      = "}\n  targets: [{select: {kind: Deployment}, fieldPaths: [spec.paused]}]\n"
		deployment  = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n"
		everything  = `{"service": "a", "image": "shop:1", "replicas": 2, "resources": {"cpu": "1", "memory": "1Gi"}, "parameters": {"x.y": "z"}}`
		otherValues = "resources: [objects.yaml]\n"
	)
	cases := map[string]struct {
		reason        string
		kustomization string
		objects       string
		intent        string
		want          string
	}{
		"Replaced": {
			reason: "A value that a replacement copies is read, also one with dots in its name.",
			kustomization: values + "replacements:\n- " + readsIntent + "data.image" + target + "- " + readsIntent + "data.replicas" + target +
				"- " + readsIntent + "data.cpu" + target + "- " + readsIntent + "data.memory" + target + "- " + readsIntent + `"data.[param-x.y]"` + target,
			intent: everything,
		},
		"Nothing": {
			reason:        "Without replacements and marks each value that was set is named.",
			kustomization: values, intent: everything,
			want: `spec.intent: image, parameters.x.y, replicas, resources.cpu, resources.memory: Blueprint "web-1" does not read this value, ` +
				"so it would have no effect: leave it out, or choose a Blueprint that reads it",
		},
		"Defaults": {
			reason:        "A value that the intent does not set may be left unread.",
			kustomization: values, intent: `{"service": "a"}`,
		},
		"Other": {
			reason:        "A replacement reads its own value and no other.",
			kustomization: values + "replacements:\n- " + readsIntent + "data.cpu" + target, intent: `{"service": "a", "resources": {"memory": "1Gi"}}`,
			want: `spec.intent: resources.memory: Blueprint "web-1" does not read this value, so it would have no effect: leave it out, or choose a Blueprint that reads it`,
		},
		"Marks": {
			reason:        "The marks read image, replicas and resources.",
			kustomization: otherValues,
			objects: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, labels: {intentplane.dev/workload: main}}\n" +
				"spec: {template: {spec: {containers: [{name: a, image: intent}]}}}\n",
			intent: `{"service": "a", "image": "shop:1", "replicas": {"edge1": 2}, "resources": {"cpu": "1", "memory": "1Gi"}}`,
		},
		"NoReplicas": {
			reason:        "A marked DaemonSet follows resources, and has no replicas.",
			kustomization: otherValues, objects: "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: a, labels: {intentplane.dev/workload: main}}\n",
			intent: `{"service": "a", "replicas": 2, "resources": {"cpu": "1"}}`,
			want:   `spec.intent: replicas: Blueprint "web-1" does not read this value, so it would have no effect: leave it out, or choose a Blueprint that reads it`,
		},
		"Delivered": {
			reason:        "A Blueprint that delivers the ConfigMap intent itself reads all of it.",
			kustomization: values + "patches:\n- target: {kind: ConfigMap, name: intent}\n  patch: '- {op: remove, path: /metadata/annotations}'\n", intent: everything,
		},
		"Generated": {
			reason:        "A Blueprint that generates an object from intent.yaml reads all of it.",
			kustomization: values + "configMapGenerator: [{name: all, files: [intent.yaml]}]\n", intent: everything,
		},
		"Patched": {
			reason:        "A patch of another object reads no values.",
			kustomization: values + "patches:\n- patch: '{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: 3}}'\n",
			intent:        `{"service": "a", "replicas": 2}`,
			want:          `spec.intent: replicas: Blueprint "web-1" does not read this value, so it would have no effect: leave it out, or choose a Blueprint that reads it`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.objects == "" {
				tc.objects = deployment
			}
			uses, err := CheckContained(map[string]string{"kustomization.yaml": tc.kustomization, "objects.yaml": tc.objects, IntentFile: "{}"})
			if err != nil {
				t.Fatal(err)
			}
			i, err := intent.FromText(tc.intent)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if e, ok := uses.CheckRead(i, "web-1").(*UnreadError); ok { //nolint:errorlint // It is returned as it is.
				got = e.In("spec.intent: ")
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCheckRead(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestUnreadError(t *testing.T) {
	fields := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}
	got := []string{(&UnreadError{Fields: fields[:2], blueprint: "web-1"}).In("spec.expectation."), (&UnreadError{Fields: fields, blueprint: "web-1"}).Error()}
	want := []string{
		`spec.expectation.a, spec.expectation.b: Blueprint "web-1" does not read this value, so it would have no effect: leave it out, or choose a Blueprint that reads it`,
		`a, b, c, d, e, f, g, h, i, j and 2 more: Blueprint "web-1" does not read this value, so it would have no effect: leave it out, or choose a Blueprint that reads it`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("A message is bounded, and names each field by its path: -want, +got:\n%s", diff)
	}
}

func TestReadsRuntime(t *testing.T) {
	cases := map[string]struct {
		reason string
		uses   Uses
		intent string
		want   string
	}{
		"Marked": {
			reason: "A marked workload follows a runtime.",
			uses:   Uses{Workload: true, Replicas: true},
			intent: `{"service": "shop", "runtime": {"env": [{"name": "A"}], "autoscaling": {"max": 2}}}`,
		},
		"Unmarked": {
			reason: "A Blueprint without a mark does not read a runtime, whatever it reads of the values.",
			uses:   Uses{Values: true, Whole: true}, intent: `{"service": "shop", "runtime": {"env": [{"name": "A"}]}}`, want: "runtime.env",
		},
		"NoScale": {
			reason: "A workload without replicas cannot be scaled.",
			uses:   Uses{Workload: true}, intent: `{"service": "shop", "runtime": {"autoscaling": {"max": 2}}}`, want: "runtime.autoscaling",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			i, err := intent.FromText(tc.intent)
			if err != nil {
				t.Fatal(err)
			}
			err = tc.uses.CheckRead(i, "web-1.0.0")
			if (err == nil) != (tc.want == "") || err != nil && !strings.HasPrefix(err.Error(), tc.want+": ") {
				t.Errorf("\n%s\nCheckRead(...): want %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}
