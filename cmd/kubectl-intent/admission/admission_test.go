package admission

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

const (
	claim       = `apiVersion: claims.intentplane.dev/v1alpha1, kind: IntentDeployment, metadata: {namespace: a, name: shop}`
	namespaced  = `apiVersion: intentplane.dev/v1alpha1, kind: IntentDeployment, metadata: {namespace: a, name: shop}`
	application = `apiVersion: intentplane.dev/v1alpha1, kind: Application, metadata: {namespace: a, name: shop}`
	site        = `apiVersion: catalog.intentplane.dev/v1alpha1, kind: Site, metadata: {name: edge1}`
	blueprint   = `apiVersion: catalog.intentplane.dev/v1alpha1, kind: Blueprint, metadata: {name: web-1.0.0}`
	config      = `apiVersion: config.intentplane.dev/v1alpha1, kind: ProviderConfig, metadata: {namespace: a, name: default}`
	cluster     = `apiVersion: config.intentplane.dev/v1alpha1, kind: ClusterProviderConfig, metadata: {name: default}`
	delivery    = `apiVersion: delivery.intentplane.dev/v1alpha1, kind: GitDelivery, metadata: {namespace: a, name: d}`
)

func TestCheckAdmission(t *testing.T) {
	cases := map[string]struct {
		reason string
		object string
		want   []string
	}{
		"Claim":      {reason: "A claim with nothing but an intent is admitted.", object: claim + `, spec: {intent: a}`},
		"Namespaced": {reason: "A namespaced composite with an intent is valid.", object: namespaced + `, spec: {intent: a}`},
		"NoNamespace": {
			reason: "A claim without a namespace is admitted, since kubectl fills it in.",
			object: strings.Replace(claim, "namespace: a, ", "", 1) + `, spec: {intent: a}`,
		},
		"Crossplane": {
			reason: "The schema has the fields that Crossplane adds.",
			object: claim + `, spec: {intent: a, resourceRef: {apiVersion: a, kind: b, name: c}, compositeDeletePolicy: Foreground}, status: {phase: Succeeded, conditions: []}`,
		},
		"CrossplaneOther": {reason: "In the other shape it is elsewhere.", object: namespaced + `, spec: {intent: a, crossplane: {compositionRef: {name: a}}}`},
		"ApplicationImage": {
			reason: "The registry of an image may have capital letters, as hosts may.",
			object: application + `, spec: {image: 'Registry.example.org/team/shop:1.0'}`,
		},
		"ApplicationRegistry": {
			reason: "The registry of an image may be an IPv6 address.",
			object: application + `, spec: {image: '[fd00::1]:5000/shop:1.0'}`,
		},
		"Null": {
			reason: "A null field counts as absent.",
			object: claim + `, spec: {intent: a, suspend: null, expectation: null, blueprint: {version: null}}`,
		},
		"OtherKind": {reason: "Of other kinds nothing is known.", object: `apiVersion: v1, kind: Secret, spec: 3`},
		"Site": {
			reason: "A Site with all required fields is valid.",
			object: site + `, spec: {cluster: {controlPlane: {}}, engine: {type: None}, repository: {path: x}}`,
		},

		"WorkloadCluster": {
			reason: "A WorkloadCluster with all required fields is valid.",
			object: `apiVersion: claims.intentplane.dev/v1alpha1, kind: WorkloadCluster, metadata: {namespace: a, name: c}, spec: {type: Existing, compositeDeletePolicy: Foreground}`,
		},
		"ClusterUnion": {
			reason: "A cluster has the block of its type.",
			object: `apiVersion: intentplane.dev/v1alpha1, kind: WorkloadCluster, metadata: {namespace: a, name: c}, spec: {type: CAPT, version: v1.34.2}`,
			want:   []string{"capt must be set with type CAPT, and with no other"},
		},

		"Unknown": {
			reason: "Fields that do not exist are found, however deep.",
			object: claim + `, spec: {intent: a, suspendd: true, deliveryConfig: {gitOpsRepo: {nam: a}}}, spex: {}`,
			want: []string{
				"spec.deliveryConfig.gitOpsRepo.nam: is not a field of this kind", "spec.suspendd: is not a field of this kind",
				"spex: is not a field of this kind",
			},
		},
		"UnknownInList": {
			reason: "An unknown field of an item of a list is named.",
			object: claim + `, spec: {expectation: {service: a, endpoints: [{name: a, port: 1}, {name: b, port: 2, prot: c}]}}`,
			want:   []string{"spec.expectation.endpoints[1].prot: is not a field of this kind"},
		},
		"UnknownOther": {
			reason: "Composites of one shape have no fields of the other.",
			object: namespaced + `, spec: {intent: a, resourceRef: {apiVersion: a, kind: b, name: c}}`,
			want:   []string{"spec.resourceRef: is not a field of this kind"},
		},
		"Metadata": {
			reason: "Metadata has a schema as well.",
			object: `apiVersion: claims.intentplane.dev/v1alpha1, kind: IntentDeployment, metadata: {name: shop, label: {a: b}}, spec: {intent: a}`,
			want:   []string{"metadata.label: is not a field of this kind"},
		},
		"MetadataType": {
			reason: "The types of metadata are checked.",
			object: `apiVersion: claims.intentplane.dev/v1alpha1, kind: IntentDeployment, metadata: {name: shop, labels: {a: 3}}, spec: {intent: a}`,
			want:   []string{"metadata: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string"},
		},
		"Label": {
			reason: "The values of labels are checked.",
			object: `apiVersion: claims.intentplane.dev/v1alpha1, kind: IntentDeployment, metadata: {name: shop, labels: {a: "b c"}}, spec: {intent: a}`,
			want:   []string{"metadata.labels: Invalid value: \"b c\": a valid label"},
		},
		"Name": {
			reason: "The form of a name is checked.",
			object: strings.Replace(cluster, "default", "Edge_1", 1) + `, spec: {controlPlane: a, git: {url: "https://h/r.git"}}`,
			want:   []string{`metadata.name: Invalid value: "Edge_1": a lowercase RFC 1123 subdomain`},
		},
		"NoName": {
			reason: "An object without a name is refused.",
			object: `apiVersion: claims.intentplane.dev/v1alpha1, kind: IntentDeployment, metadata: {}, spec: {intent: a}`,
			want:   []string{"metadata.name: Required value"},
		},
		"Cluster": {
			reason: "A cluster-scoped object has no namespace.",
			object: `apiVersion: catalog.intentplane.dev/v1alpha1, kind: Site, metadata: {namespace: a, name: edge1}, spec: {cluster: {controlPlane: {}}, engine: {type: None}, repository: {path: x}}`,
			want:   []string{"metadata.namespace: Forbidden"},
		},

		"Type": {
			reason: "Types of fields are checked.",
			object: claim + `, spec: {intent: a, suspend: "yes"}`, want: []string{`spec.suspend: Invalid value: "string"`},
		},
		"Enum": {
			reason: "Values of closed sets are checked.",
			object: claim + `, spec: {intent: a, deliveryConfig: {deletionPolicy: Forget}}`,
			want:   []string{`spec.deliveryConfig.deletionPolicy: Unsupported value: "Forget"`},
		},
		"Pattern": {
			reason: "Patterns of texts are checked.",
			object: site + `, spec: {cluster: {controlPlane: {}}, engine: {type: None}, repository: {path: ../x}}`,
			want:   []string{`spec.repository.path: Invalid value: "../x"`},
		},
		"Bounds": {
			reason: "Bounds of numbers are checked.",
			object: namespaced + `, spec: {expectation: {service: a, replicas: -1, endpoints: [{name: a, port: 70000}]}}`,
			want:   []string{"spec.expectation.endpoints[0].port: Invalid value: 70000", "spec.expectation.replicas: Invalid value: -1"},
		},
		"Required": {
			reason: "A required field that is missing is named.",
			object: site + `, spec: {cluster: {controlPlane: {}}, engine: {type: None}}`, want: []string{"spec.repository: Required value"},
		},
		"NoSpec": {reason: "An object without a spec is refused.", object: claim, want: []string{"spec: Required value"}},
		"ListMap": {
			reason: "Items of a list have a key each.",
			object: claim + `, spec: {expectation: {service: a, endpoints: [{name: a, port: 1}, {name: a, port: 2}]}}`,
			want:   []string{"spec.expectation.endpoints[1]: Duplicate value"},
		},

		"Rule": {
			reason: "Rules of a deployment are checked.",
			object: claim + `, spec: {intent: a, expectation: {service: a}}`,
			want:   []string{"spec: Invalid value: exactly one of intent and expectation must be set"},
		},
		"RuleDefault": {
			reason: "Rules see defaults, and a value of their field.",
			object: claim + `, spec: {intent: a, compileConfig: {renderTimeout: 61s}}`,
			want:   []string{`spec.compileConfig.renderTimeout: Invalid value: "61s"`},
		},
		"RuleBlueprint": {
			reason: "Rules of a Blueprint are checked.",
			object: blueprint + `, spec: {blueprintName: web, version: 1.0.1, serviceTypes: [web], files: {a: b}}`,
			want:   []string{"Invalid value: metadata.name must be"},
		},
		"RuleConfig": {
			reason: "Rules of a ProviderConfig are checked.",
			object: config + `, spec: {controlPlane: a, git: {url: "https://h/r.git", credentials: {type: Basic, secretRef: {name: s, namespace: other}}}}`,
			want:   []string{"no secretRef may set namespace"},
		},
		"RuleCluster": {
			reason: "Rules of a ClusterProviderConfig are checked.",
			object: cluster + `, spec: {controlPlane: a, git: {url: "https://h/r.git", caBundleSecretRef: {name: s, key: k}}}`,
			want:   []string{"each secretRef must set namespace"},
		},
		"RuleDelivery": {
			reason: "Rules of a GitDelivery are checked.",
			object: delivery + `, spec: {forProvider: {claimRef: {apiGroup: intentplane.dev, kind: IntentDeployment, namespace: a, name: b}, copy: {seq: 1, epoch: 1, cursor: {step: 0, stage: 0, promoted: 0, attempt: 0}}, trees: [{site: s, branch: main, path: p, action: Keep, tree: HEAD}]}}`,
			want:   []string{"must be a git tree id"},
		},
	}
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b, err := yaml.YAMLToJSONStrict([]byte("{" + tc.object + "}"))
			if err != nil {
				t.Fatal(err)
			}
			object, original := map[string]any{}, map[string]any{}
			if err := utiljson.Unmarshal(b, &object); err != nil {
				t.Fatal(err)
			}
			if err := utiljson.Unmarshal(b, &original); err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, p := range s.Check(t.Context(), object) {
				got = append(got, p.String())
			}
			if len(got) != len(tc.want) {
				t.Fatalf("\n%s\nCheck(...): want %d problems, got %d: %q", tc.reason, len(tc.want), len(got), got)
			}
			for i, want := range tc.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("\n%s\nCheck(...): want %q, got %q", tc.reason, want, got[i])
				}
			}
			if diff := cmp.Diff(original, object); diff != "" {
				t.Errorf("\n%s\nCheck(...) changes its object: -before, +after:\n%s", tc.reason, diff)
			}
		})
	}
}
