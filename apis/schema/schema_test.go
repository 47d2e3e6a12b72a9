package schema

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const widget = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: x.org
  scope: Cluster
  names: {kind: Widget}
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1}
              port: {x-kubernetes-int-or-string: true}
              mode: {type: string, enum: [Fast, Slow]}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              list: {type: array, maxItems: 1, items: {type: object, properties: {a: {type: string, pattern: "^b"}}}}
              tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
              doors: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [door, side],
                items: {type: object, required: [door], properties: {door: {type: integer}, side: {type: string, default: in}, note: {type: string}}}}
              rooms: {type: object, additionalProperties: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name],
                items: {type: object, properties: {name: {type: string}}}}}
`

func TestCheckObjects(t *testing.T) {
	cases := map[string]struct {
		reason string
		object string
		want   []string
	}{
		"Fine": {
			reason: "Quantities may be numbers, ports names, and null is as good as absent.",
			object: `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, creationTimestamp: null}, spec: {selector: {matchLabels: {a: b}},
				template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: b, resources: {limits: {cpu: 1, memory: 1Gi}},
				livenessProbe: {httpGet: {port: http}}, readinessProbe: {httpGet: {port: 80}}}]}}}, status: null}`,
		},
		"UnknownField": {
			reason: "A field that does not exist is named by its path.",
			object: `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {selector: {}, template: {spec: {containers: [{name: a, imagee: b}]}}}}`,
			want:   []string{"spec.template.spec.containers[0].imagee: is not a field of this kind"},
		},
		"EnvTwice": {
			reason: "A list that server-side apply merges by a key has each key once.",
			object: `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {selector: {}, template: {spec: {containers: [{name: a, image: b, env: [{name: LEVEL, value: info}, {name: OTHER}, {name: LEVEL, value: debug}]}]}}}}`,
			want:   []string{"spec.template.spec.containers[0].env[2]: has the name of item 0: server-side apply refuses a list with one key twice"},
		},
		"PortTwice": {
			reason: "A key that is left out has its default.",
			object: `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {selector: {}, template: {spec: {containers: [{name: a, image: b, ports: [{name: p, containerPort: 8080}, {name: q, containerPort: 8080, protocol: TCP}]}]}}}}`,
			want: []string{
				"spec.template.spec.containers[0].ports[1]: has the containerPort and protocol of item 0: server-side apply refuses a list with one " +
					"key twice",
			},
		},
		"PortOfTwoProtocols": {
			reason: "Two items that differ in one of their keys are distinct.",
			object: `{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{name: p, port: 53}, {name: q, port: 53, protocol: UDP}]}}`,
		},
		"VolumeTwice": {
			reason: "Volumes, containers and mounts have keys, too.",
			object: `{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {volumes: [{name: v, emptyDir: {}}, {name: v, emptyDir: {}}], containers: [{name: a, image: b, volumeMounts: [{name: v, mountPath: /a}, {name: w, mountPath: /a}]}, {name: a, image: c}]}}`,
			want: []string{
				"spec.containers[0].volumeMounts[1]: has the mountPath of item 0: server-side apply refuses a list with one key twice",
				"spec.containers[1]: has the name of item 0: server-side apply refuses a list with one key twice",
				"spec.volumes[1]: has the name of item 0: server-side apply refuses a list with one key twice",
			},
		},
		"NestedTwice": {
			reason: "A list may lie in the template of a template.",
			object: `{apiVersion: batch/v1, kind: CronJob, metadata: {name: a}, spec: {schedule: "@daily", jobTemplate: {spec: {template: {spec: {
				containers: [{name: a, image: b}], initContainers: [{name: i, image: b, env: [{name: A}, {name: A}]}]}}}}}}`,
			want: []string{
				"spec.jobTemplate.spec.template.spec.initContainers[0].env[1]: has the name of item 0: server-side apply refuses a list with one key twice",
			},
		},
		"ServicePortTwice": {
			reason: "The names of ports are not their keys.",
			object: `{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{name: p, port: 80}, {name: q, port: 80, targetPort: 8080}]}}`,
			want:   []string{"spec.ports[1]: has the port and protocol of item 0: server-side apply refuses a list with one key twice"},
		},
		"PodListsTwice": {
			reason: "Pods have lists with keys of other names.",
			object: `{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: b, volumeDevices: [
				{name: v, devicePath: /d}, {name: w, devicePath: /d}]}], hostAliases: [{ip: 10.0.0.1}, {ip: 10.0.0.1}], imagePullSecrets: [{name: s}, {name: s}],
				topologySpreadConstraints: [{maxSkew: 1, topologyKey: k, whenUnsatisfiable: DoNotSchedule},
				{maxSkew: 2, topologyKey: k, whenUnsatisfiable: DoNotSchedule}]}}`,
			want: []string{
				"spec.containers[0].volumeDevices[1]: has the devicePath of item 0: server-side apply refuses a list with one key twice",
				"spec.hostAliases[1]: has the ip of item 0: server-side apply refuses a list with one key twice",
				"spec.imagePullSecrets[1]: has the name of item 0: server-side apply refuses a list with one key twice",
				"spec.topologySpreadConstraints[1]: has the topologyKey and whenUnsatisfiable of item 0: server-side apply refuses a list with one key twice",
			},
		},
		"SetTwice": {
			reason: "A set has each item once.",
			object: `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, finalizers: [x.org/a, x.org/b, x.org/a]}}`,
			want:   []string{"metadata.finalizers[2]: equals item 0: server-side apply refuses a set with one item twice"},
		},
		"Atomic": {
			reason: "A list that is replaced as a whole may repeat an item.",
			object: `{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: b, args: [x, x]}], tolerations: [{key: a}, {key: a}]}}`,
		},
		"Required": {
			reason: "A required field that is missing is named by its path.",
			object: `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {containers: [{image: b}]}}}}`,
			want:   []string{"spec.selector: is required", "spec.template.spec.containers[0].name: is required"},
		},
		"Type": {
			reason: "A value of another type is named by its path.",
			object: `{apiVersion: v1, kind: Service, metadata: {name: a, labels: {a: 1}}, spec: {ports: {port: 80}, selector: [a]}}`,
			want: []string{
				`metadata.labels.a: must be of type string: "number"`,
				`spec.ports: must be of type array: "object"`,
				`spec.selector: must be of type object: "array"`,
			},
		},
		"UnknownKind": {
			reason: "An object of a kind without a definition has no problems.",
			object: `{apiVersion: y.org/v1, kind: Gadget, spec: 1}`,
		},
		"Custom": {
			reason: "Custom resources are checked by their definition.",
			object: `{apiVersion: x.org/v1, kind: Widget, metadata: {name: a, labels: {a: b}}, spec: {size: 3, port: http, mode: Fast, free: {a: {b: c}}, list: [{a: b}]}}`,
		},
		"CustomWrong": {
			reason: "A custom resource with unknown fields and wrong values is refused.",
			object: `{apiVersion: x.org/v1, kind: Widget, metadata: {nam: a}, spec: {size: 0, mode: Big, list: [{a: c}], sise: 1}}`,
			want: []string{
				"metadata.nam: is not a field of this kind",
				`spec.list[0].a: should match '^b'`,
				"spec.mode: should be one of [Fast Slow]",
				"spec.sise: is not a field of this kind",
				"spec.size: should be greater than or equal to 1",
			},
		},
		"CustomTwice": {
			reason: "A key of a custom list has the default of its definition.",
			object: `{apiVersion: x.org/v1, kind: Widget, metadata: {name: a}, spec: {size: 1, doors: [{door: 1}, {door: 1, side: out}, {door: 1, side: in, note: x}]}}`,
			want:   []string{"spec.doors[2]: has the door and side of item 0: server-side apply refuses a list with one key twice"},
		},
		"CustomSetTwice": {
			reason: "A custom list may be a set.",
			object: `{apiVersion: x.org/v1, kind: Widget, metadata: {name: a}, spec: {size: 1, tags: [b, c, b, b]}}`,
			want: []string{
				"spec.tags[2]: equals item 0: server-side apply refuses a set with one item twice",
				"spec.tags[3]: equals item 0: server-side apply refuses a set with one item twice",
			},
		},
		"CustomInMap": {
			reason: "A list may be the value of a free key.",
			object: `{apiVersion: x.org/v1, kind: Widget, metadata: {name: a}, spec: {size: 1, rooms: {hall: [{name: a}, {name: b}], attic: [{name: a}, {name: a}]}}}`,
			want:   []string{"spec.rooms.attic[1]: has the name of item 0: server-side apply refuses a list with one key twice"},
		},
		"KeyAbsent": {
			reason: "Items without a key that has no default are not compared.",
			object: `{apiVersion: x.org/v1, kind: Widget, metadata: {name: a}, spec: {size: 1, rooms: {hall: [{}, {}]}}}`,
		},
		"CustomMissing": {
			reason: "A required field of a custom resource that is missing is refused.",
			object: `{apiVersion: x.org/v1, kind: Widget, metadata: {name: a}}`,
			want:   []string{"spec: is required"},
		},
	}
	k, err := Kubernetes()
	if err != nil {
		t.Fatal(err)
	}
	c, err := Definitions([]byte(widget))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(tc.object), &o.Object); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range []*Set{k, c} {
				problems, err := s.Check(o.GroupVersionKind(), o.Object)
				if err != nil {
					t.Fatal(err)
				}
				for _, p := range problems {
					got = append(got, p.String())
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCheck(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func definitionOf(group, schema string) string {
	return `{spec: {group: ` + group + `, scope: Namespaced, names: {kind: Job}, versions: [{name: v1, schema: {openAPIV3Schema: ` + schema + `}}]}}`
}

func BenchmarkCheck(b *testing.B) {
	k, err := Kubernetes()
	if err != nil {
		b.Fatal(err)
	}
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {selector: {matchLabels: {a: b}},
		template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: b, resources: {limits: {cpu: 1, memory: 1Gi}},
		livenessProbe: {httpGet: {port: http}}, readinessProbe: {httpGet: {port: 80}}}]}}}}`), &o.Object); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := k.Check(o.GroupVersionKind(), o.Object); err != nil {
			b.Fatal(err)
		}
	}
}
