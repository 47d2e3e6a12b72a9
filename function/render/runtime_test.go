package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const runtimeOfAll = `{"service": "shop", "image": "shop:2", "replicas": 3, "runtime": {
	"env": [{"name": "LATER", "value": "$(FIRST)"}, {"name": "MODE", "value": "new"}, {"name": "FIRST", "valueFrom": {"secretKeyRef": {"name": "db", "key": "host"}}}, {"name": "MAP", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "k"}}}],
	"bindings": [{"name": "db", "secretRef": {"name": "shop-db"}}], "health": {"path": "/healthz", "port": 8080}, "imagePullSecrets": [{"name": "b"}, {"name": "a"}]}}`

// serving is a Deployment that has the intent's settings of containers and pods, too.
const serving = `apiVersion: apps/v1
kind: Deployment
metadata: {name: shop, labels: {intentplane.dev/workload: main}}
spec:
  replicas: 7
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      imagePullSecrets: [{name: a}]
      volumes: [{name: content, emptyDir: {}}]
      containers:
      - {name: shop, image: "intent:dev", readinessProbe: {tcpSocket: {port: 1}}, env: [{name: OWN, value: "1"}, {name: MODE, value: old}], volumeMounts: [{name: content, mountPath: /c}]}
      - {name: side, image: "side:1"}
---
`

func TestRuntime(t *testing.T) {
	cases := map[string]struct {
		reason, objects, intent, file string
		want, err                     string
	}{
		"Merged": {
			reason: "Lists keep the order of the Blueprint and then of the intent, a variable of one name is replaced where it stands, and other " +
				"containers stay.",
			objects: serving, intent: runtimeOfAll,
			want: `replicas: 3
selector: {matchLabels: {app: shop}}
template:
  metadata: {labels: {app: shop}}
  spec:
    containers:
    - name: shop
      image: shop:2
      env: [{name: OWN, value: "1"}, {name: MODE, value: new}, {name: SERVICE_BINDING_ROOT, value: /bindings}, {name: LATER, value: $(FIRST)}, {name: FIRST, valueFrom: {secretKeyRef: {name: db, key: host}}}, {name: MAP, valueFrom: {configMapKeyRef: {name: m, key: k}}}]
      readinessProbe: {httpGet: {path: /healthz, port: 8080}}
      volumeMounts: [{name: content, mountPath: /c}, {name: binding-db, mountPath: /bindings/db, readOnly: true}]
    - {name: side, image: "side:1"}
    imagePullSecrets: [{name: a}, {name: b}]
    volumes: [{name: content, emptyDir: {}}, {name: binding-db, secret: {secretName: shop-db}}]
`,
		},
		"Connect": {
			reason:  "A check without a path asks whether the port accepts connections.",
			objects: adopted, intent: `{"service": "shop", "image": "shop:2", "runtime": {"health": {"port": 80}}}`,
			want: `replicas: 1
selector: {matchLabels: {app: shop}}
template: {metadata: {labels: {app: shop}}, spec: {containers: [{name: shop, image: "shop:2", readinessProbe: {tcpSocket: {port: 80}}}, {name: side, image: "side:1"}]}}
`,
		},
		"Autoscaled": {
			reason:  "A workload with an autoscaler has no replicas of its own.",
			objects: adopted, intent: `{"service": "shop", "image": "shop:2", "replicas": 3, "runtime": {"autoscaling": {"min": 2, "max": 5}}}`,
			want: `selector: {matchLabels: {app: shop}}
template: {metadata: {labels: {app: shop}}, spec: {containers: [{name: shop, image: "shop:2"}, {name: side, image: "side:1"}]}}
`,
		},
		"Scaler": {
			reason: "The autoscaler has the name and the labels of the workload, but for the mark.", objects: adopted, file: "horizontalpodautoscaler-shop.yaml",
			intent: `{"service": "shop", "image": "shop:2", "runtime": {"autoscaling": {"min": 2, "max": 5}}}`,
			want: `minReplicas: 2
maxReplicas: 5
scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: shop}
metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}]
`,
		},
		"CronJob": {
			reason: "The pods of a CronJob stand deeper.",
			objects: "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: shop, labels: {intentplane.dev/workload: main}}\nspec: {schedule: '* " +
				"* * * *', jobTemplate: {spec: {template: {spec: {containers: [{name: a, image: intent}]}}}}}\n",
			intent: `{"service": "shop", "image": "shop:2", "runtime": {"env": [{"name": "A", "value": "1"}]}}`, file: "cronjob-shop.yaml",
			want: "schedule: '* * * * *'\njobTemplate: {spec: {template: {spec: {containers: [{name: a, image: 'shop:2', env: [{name: A, value: '1'}]}]}}}}\n",
		},
		"Unmarked": {
			reason:  "A runtime that no workload follows is refused: it would have no effect.",
			objects: strings.Replace(adopted, "workload: main", "workload: side", 1), intent: runtimeOfAll,
			err: "no workload has label intentplane.dev/workload: main, so that runtime would have no effect",
		},
		"NoContainer": {
			reason:  "A workload without containers has nothing to write to.",
			objects: workloadOf("apps/v1", "DaemonSet", "a", ""), intent: `{"service": "shop", "runtime": {"env": [{"name": "A"}]}}`,
			err: "DaemonSet team-a/a: cannot apply runtime: it has no container",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			files, err := NewRenderer().Build(t.Context(), followInput(t, tc.objects, nil, tc.intent))
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Fatalf("\n%s\nBuild(...): want error %q, got %v", tc.reason, tc.err, err)
			}
			if err != nil {
				return
			}
			file := "deployment-shop.yaml"
			if tc.file != "" {
				file = tc.file
			}
			if diff := cmp.Diff(parsed(t, []byte(tc.want)), parsed(t, files[file])["spec"]); diff != "" {
				t.Errorf("\n%s\n%s: -want, +got:\n%s", tc.reason, file, diff)
			}
		})
	}
}

func parsed(t *testing.T, text []byte) map[string]any {
	t.Helper()
	out := map[string]any{}
	if err := yaml.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRuntimeIsStable renders the same bytes each time.
func TestRuntimeIsStable(t *testing.T) {
	in := followInput(t, serving, nil, runtimeOfAll)
	first, err := NewRenderer().Build(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		rebuilt, err := NewRenderer().Build(t.Context(), in)
		if diff := cmp.Diff(texts(first), texts(rebuilt)); diff != "" || err != nil {
			t.Fatalf("Build(...): %v: -first, +again:\n%s", err, diff)
		}
	}
}
