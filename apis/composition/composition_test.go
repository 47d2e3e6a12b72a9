package composition

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	xpextv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

func read(t *testing.T, file string, into any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
}

// crds are the CRDs that Crossplane makes of our definitions, and the CRDs of the provider.
func crds(t *testing.T) map[string]*apiextensions.CustomResourceDefinition {
	t.Helper()
	out := map[string]*apiextensions.CustomResourceDefinition{}
	add := func(name string, crd *extv1.CustomResourceDefinition, err error) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		extv1.SetDefaults_CustomResourceDefinition(crd)
		extv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
		crd.Status.StoredVersions = []string{"v1alpha1"}
		out[name] = &apiextensions.CustomResourceDefinition{}
		if err := extv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, out[name], nil); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	for name, files := range map[string][2]string{
		"":             {"claims/definition.yaml", "namespaced/definition.yaml"},
		"cluster-":     {"claims/workloadcluster-definition.yaml", "namespaced/workloadcluster-definition.yaml"},
		"application-": {"applications/claims-definition.yaml", "applications/namespaced-definition.yaml"},
		"bundle-":      {"applications/bundle-claims-definition.yaml", "applications/bundle-namespaced-definition.yaml"},
	} {
		claims, namespaced := &xpextv1.CompositeResourceDefinition{}, &xpextv1.CompositeResourceDefinition{}
		read(t, files[0], claims)
		read(t, files[1], namespaced)
		claims.SetUID("claims")
		namespaced.SetUID("namespaced")
		crd, err := xcrd.ForCompositeResourceClaim(claims)
		add(name+"claim", crd, err)
		crd, err = xcrd.ForCompositeResource(claims)
		add(name+"composite", crd, err)
		crd, err = xcrd.ForCompositeResource(namespaced)
		add(name+"namespaced", crd, err)
	}
	files, err := filepath.Glob("../../package/provider/crds/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no CRDs of the provider: %v", err)
	}
	for _, file := range files {
		crd := &extv1.CustomResourceDefinition{}
		read(t, file, crd)
		add(strings.TrimSuffix(filepath.Base(file), ".yaml"), crd, nil)
	}
	return out
}

// An API server that refuses a definition's CRD says so in an event only: a user would not see why the kind is missing.
func TestDefinitionsAreAccepted(t *testing.T) {
	for name, crd := range crds(t) {
		if errs := validation.ValidateCustomResourceDefinition(t.Context(), crd); len(errs) > 0 {
			t.Errorf("%s: %v", name, errs.ToAggregate())
		}
	}
}

// verdict returns the answer of an API server to an object.
func verdict(t *testing.T, crd *apiextensions.CustomResourceDefinition, object string) (map[string]any, string) {
	t.Helper()
	b, err := yaml.YAMLToJSON([]byte(object))
	if err != nil {
		t.Fatal(err)
	}
	o := map[string]any{}
	if err := utiljson.Unmarshal(b, &o); err != nil { // It reads whole numbers as such, as an API server does.
		t.Fatal(err)
	}
	props := crd.Spec.Validation
	if props == nil {
		props = crd.Spec.Versions[0].Schema
	}
	s, err := structuralschema.NewStructural(props.OpenAPIV3Schema)
	if err != nil {
		t.Fatal(err)
	}
	defaulting.Default(o, s)
	v, _, err := schemavalidation.NewSchemaValidator(props.OpenAPIV3Schema)
	if err != nil {
		t.Fatal(err)
	}
	errs := schemavalidation.ValidateCustomResource(nil, o, v)
	if len(errs) == 0 {
		errs, _ = cel.NewValidator(s, true, celconfig.PerCallLimit).Validate(t.Context(), nil, s, o, nil, celconfig.RuntimeCELCostBudget)
	}
	if len(errs) == 0 {
		return o, ""
	}
	return o, errs.ToAggregate().Error()
}

func TestBadInput(t *testing.T) {
	all := crds(t)
	cases := map[string]struct {
		reason string
		crd    string
		object string
		want   string
	}{
		"Smallest": {
			reason: "metadata and one line of intent are enough",
			crd:    "claim", object: `{metadata: {name: a}, spec: {intent: "{}"}}`,
		},
		"SmallestNamespaced": {
			reason: "The namespaced shape accepts the same smallest claim.",
			crd:    "namespaced", object: `{metadata: {name: a}, spec: {intent: "{}"}}`,
		},
		"Cluster": {
			reason: "a cluster that is there needs nothing but its type",
			crd:    "cluster-claim", object: `{metadata: {name: a}, spec: {type: Existing}}`,
		},
		"ClusterNamespaced": {
			reason: "The namespaced shape accepts a cluster of a topology.",
			crd:    "cluster-namespaced",
			object: `{metadata: {name: a}, spec: {type: Topology, version: v1.34.2, topology: {classRef: {name: a}, variables: [{name: x, value: {y: [1]}}]}}}`,
		},
		"ClusterUnion": {
			reason: "a cluster has the block of its type",
			crd:    "cluster-claim", object: `{metadata: {name: a}, spec: {type: CAPT, version: v1.34.2, topology: {classRef: {name: a}}}}`,
			want: "topology must be set with type Topology, and with no other",
		},
		"ClusterVersion": {
			reason: "A cluster of type CAPT or Topology has a version.",
			crd:    "cluster-namespaced", object: `{metadata: {name: a}, spec: {type: Topology, topology: {classRef: {name: a}}}}`,
			want: "version is required unless type is Existing",
		},
		"ClusterName": {
			reason: "a Cluster's name is a label",
			crd:    "cluster-claim", object: `{metadata: {name: a}, spec: {type: Existing, clusterName: 1a}}`,
			want: "begin with a-z",
		},
		"ClusterType": {
			reason: "A type that is none of the three is refused.",
			crd:    "cluster-claim", object: `{metadata: {name: a}, spec: {type: Magic, version: v1.34.2}}`,
			want: "spec.type: Unsupported value",
		},
		"ClusterTimeout": {
			reason: "A timeout of more than a day is refused.",
			crd:    "cluster-claim", object: `{metadata: {name: a}, spec: {type: Existing, timeouts: {controlPlane: 999h}}}`,
			want: "must be a duration from 1s to 24h",
		},
		"ClusterPolicy": {
			reason: "The deletion policy of a cluster is Delete or Orphan.",
			crd:    "cluster-claim", object: `{metadata: {name: a}, spec: {type: Existing, deletionPolicy: Forget}}`,
			want: "spec.deletionPolicy: Unsupported value",
		},
		"Both": {
			reason: "there is one place for the intent",
			crd:    "claim", object: `{metadata: {name: a}, spec: {intent: "{}", expectation: {service: a}}}`,
			want: "exactly one of intent and expectation must be set",
		},
		"Neither": {
			reason: "An intent without a value has no default and is refused.",
			crd:    "claim", object: `{metadata: {name: a}, spec: {}}`, want: "exactly one of intent and expectation must be set",
		},
		"NegativeDuration": {
			reason: "A duration below zero is refused.",
			crd:    "claim", object: `{metadata: {name: a}, spec: {intent: "{}", deliveryConfig: {syncWaitTimeout: "-5s"}}}`,
			want: "spec.deliveryConfig.syncWaitTimeout: Invalid value: \"-5s\": must be a duration above zero",
		},
		"HugeDuration": {
			reason: "a duration that overflows is refused, and does not crash",
			crd:    "claim", object: `{metadata: {name: a}, spec: {intent: "{}", deliveryConfig: {syncWaitTimeout: "99999999999999999999h"}}}`,
			want: "spec.deliveryConfig.syncWaitTimeout",
		},
		"LongRender": {
			reason: "Crossplane ends a reconcile after two minutes",
			crd:    "claim", object: `{metadata: {name: a}, spec: {intent: "{}", compileConfig: {renderTimeout: 61s}}}`,
			want: "at most 60s",
		},
		"PathAsSite": {
			reason: "a name is not a path",
			crd:    "claim", object: `{metadata: {name: a}, spec: {intent: "{}", deliveryConfig: {targetSite: "../x"}}}`,
			want: "spec.deliveryConfig.targetSite",
		},
		"TwoTargets": {
			reason: "A claim names its Site or selects Sites, and does not do both.",
			crd:    "claim", object: `{metadata: {name: a}, spec: {intent: "{}", deliveryConfig: {targetSite: a, siteSelector: {matchLabels: {a: b}}}}}`,
			want: "targetSite and siteSelector exclude each other",
		},
		"Canary": {
			reason: "The steps of the documentation are let in.",
			crd:    "claim",
			object: `{metadata: {name: a}, spec: {intent: "{}", deliveryConfig: {waves: [{name: rest, matchLabels: {tier: edge}, steps: [{weight: 50}, {pause: {duration: 5m}}]}], canary: {enabled: true, steps: [{weight: 5}, {pause: {duration: 10m}}, {weight: 20}, {pause: {}}, {weight: 50, gate: false}, {weight: 100}], scale: Weight, drain: 30s, onInconclusive: Hold}}}}`,
		},
		"CanaryNamespaced": {
			reason: "The namespaced shape has the same steps.",
			crd:    "namespaced",
			object: `{metadata: {name: a}, spec: {intent: "{}", deliveryConfig: {canary: {steps: [{pause: {duration: 1s}}, {weight: 5}], scale: Full}}}}`,
		},
		"CanaryFalling": {
			reason: "Weights that do not rise are refused.",
			crd:    "claim", object: `{metadata: {name: a}, spec: {intent: "{}", deliveryConfig: {canary: {steps: [{weight: 20}, {weight: 5}]}}}}`,
			want: "spec.deliveryConfig.canary.steps: Invalid value: each weight must be higher than the previous weight",
		},
		"CanaryEqual": {
			reason: "A weight that comes twice is refused.",
			crd:    "namespaced", object: `{metadata: {name: a}, spec: {intent: "{}", deliveryConfig: {canary: {steps: [{weight: 20}, {pause: {}}, {weight: 20}]}}}}`,
			want: "each weight must be higher than the previous weight",
		},
		"CanaryZero": {
			reason: "A weight of 0 is refused.",
			crd:    "claim", object: `{metadata: {name: a}, spec: {intent: "{}", deliveryConfig: {canary: {steps: [{weight: 0}]}}}}`,
			want: "spec.deliveryConfig.canary.steps[0].weight",
		},
		"CanaryTooMuch": {
			reason: "A weight of more than all requests is refused.",
			crd:    "claim", object: `{metadata: {name: a}, spec: {intent: "{}", deliveryConfig: {canary: {steps: [{weight: 101}]}}}}`,
			want: "spec.deliveryConfig.canary.steps[0].weight",
		},
		"CanaryTwoPauses": {
			reason: "Two pauses in a row are refused.",
			crd:    "claim",
			object: `{metadata: {name: a}, spec: {intent: "{}", deliveryConfig: {canary: {steps: [{weight: 5}, {pause: {}}, {pause: {duration: 5m}}]}}}}`,
			want:   "a weight must stand between two pauses",
		},
		"CanaryNeither": {
			reason: "A step without a weight and a pause is refused.",
			crd:    "claim", object: `{metadata: {name: a}, spec: {intent: "{}", deliveryConfig: {canary: {steps: [{gate: true}]}}}}`,
			want: "exactly one of weight and pause must be set",
		},
		"CanaryGatedPause": {
			reason: "A pause with a Gate is refused.",
			crd:    "claim", object: `{metadata: {name: a}, spec: {intent: "{}", deliveryConfig: {canary: {steps: [{pause: {}, gate: true}]}}}}`,
			want: "gate goes with weight",
		},
		"CanaryZeroPause": {
			reason: "A pause of no time is refused.",
			crd:    "claim", object: `{metadata: {name: a}, spec: {intent: "{}", deliveryConfig: {canary: {steps: [{pause: {duration: 0s}}]}}}}`,
			want: "steps[0].pause.duration",
		},
		"CanaryNoUnit": {
			reason: "A pause without a unit is refused.",
			crd:    "claim", object: `{metadata: {name: a}, spec: {intent: "{}", deliveryConfig: {canary: {steps: [{pause: {duration: "10"}}]}}}}`,
			want: "steps[0].pause.duration",
		},
		"CanaryLongPause": {
			reason: "A pause of more than 30 days is refused.",
			crd:    "claim", object: `{metadata: {name: a}, spec: {intent: "{}", deliveryConfig: {canary: {steps: [{pause: {duration: 721h}}]}}}}`,
			want: "must be from 1s to 720h",
		},
		"CanaryDrain": {
			reason: "A drain of more than 10 minutes is refused.",
			crd:    "claim", object: `{metadata: {name: a}, spec: {intent: "{}", deliveryConfig: {canary: {drain: 11m}}}}`,
			want: "spec.deliveryConfig.canary.drain",
		},
		"CanaryWaveAlone": {
			reason: "Steps of a wave without canary are refused.",
			crd:    "claim", object: `{metadata: {name: a}, spec: {intent: "{}", deliveryConfig: {waves: [{name: a, sites: [b], steps: [{weight: 5}]}]}}}`,
			want: "steps of a wave need canary",
		},
		"CanaryWaveFalling": {
			reason: "Weights of a wave that do not rise are refused.",
			crd:    "claim",
			object: `{metadata: {name: a}, spec: {intent: "{}", deliveryConfig: {waves: [{name: a, sites: [b], steps: [{weight: 5}, {weight: 4}]}], canary: {}}}}`,
			want:   "spec.deliveryConfig.waves[0].steps",
		},
		"LongName": {
			reason: "a name becomes a directory and a label",
			crd:    "claim", object: `{metadata: {name: ` + strings.Repeat("a", 64) + `}, spec: {intent: "{}"}}`,
			want: "metadata.name",
		},
		"VersionWithoutName": {
			reason: "A version without the name of a Blueprint is refused.",
			crd:    "claim", object: `{metadata: {name: a}, spec: {intent: "{}", blueprint: {version: 1.0.0}}}`,
			want: "version needs name",
		},
		"FalseAndZero": {
			reason: "every false and every 0 can be said",
			crd:    "claim",
			object: `{metadata: {name: a}, spec: {expectation: {service: a, replicas: 0}, suspend: false, gatesConfig: {enabled: false}, rollbackConfig: {autoRollback: false, maxRetries: 0, maxPerHour: 0}}}`,
		},
		"MostPerHour": {
			reason: "as many rejections can be counted as histories hold",
			crd:    "claim", object: `{metadata: {name: a}, spec: {intent: "{}", rollbackConfig: {maxPerHour: 9}}}`,
		},
		"TooManyPerHour": {
			reason: "more would be no limit, and look like one",
			crd:    "claim", object: `{metadata: {name: a}, spec: {intent: "{}", rollbackConfig: {maxPerHour: 10}}}`,
			want: "spec.rollbackConfig.maxPerHour: Invalid value: 10",
		},
		"BadQuantity": {
			reason: "A text that is not a quantity is refused.",
			crd:    "claim", object: `{metadata: {name: a}, spec: {expectation: {service: a, resources: {cpu: lots}}}}`,
			want: "must be a quantity above zero",
		},
		"BadThreshold": {
			reason: "a threshold is checked when it is applied",
			crd:    "claim", object: `{metadata: {name: a}, spec: {intent: "{}", gatesConfig: {sloThresholds: {latency: fast}}}}`,
			want: "must be a threshold",
		},
		"Thresholds": {
			reason: "the forms that the documentation shows",
			crd:    "claim",
			object: `{metadata: {name: a}, spec: {intent: "{}", gatesConfig: {sloThresholds: {a: "<= 500ms", b: ">= 99.0 %", c: "< 0.05", d: "15", e: "200 requests/s"}}}}`,
		},
		"SitePathUp": {
			reason: "a Site stays below the prefix",
			crd:    "catalog.intentplane.dev_sites",
			object: `{metadata: {name: a}, spec: {cluster: {controlPlane: {}}, engine: {type: None}, repository: {path: "../x"}}}`,
			want:   "spec.repository.path",
		},
		"SiteTwoClusters": {
			reason: "A Site that names two clusters is refused.",
			crd:    "catalog.intentplane.dev_sites",
			object: `{metadata: {name: a}, spec: {cluster: {controlPlane: {}, clusterRef: {apiVersion: a, kind: b, name: c}}, engine: {type: None}, repository: {path: x}}}`,
			want:   "exactly one of controlPlane, kubeconfigSecretRef and clusterRef",
		},
		"SiteCalledAll": {
			reason: "A Site may not have the name all, which stands for several Sites.",
			crd:    "catalog.intentplane.dev_sites", object: `{metadata: {name: all}, spec: {cluster: {controlPlane: {}}, engine: {type: None}, repository: {path: x}}}`,
			want: "must not be 'both' or 'all'",
		},
		"BlueprintName": {
			reason: "the name says which version it is",
			crd:    "catalog.intentplane.dev_blueprints",
			object: `{metadata: {name: web}, spec: {blueprintName: web, version: 1.0.0, serviceTypes: [web], files: {a: b}}}`,
			want:   "metadata.name must be",
		},
		"ConfigForeignSecret": {
			reason: "a ProviderConfig reads its own namespace only",
			crd:    "config.intentplane.dev_providerconfigs",
			object: `{metadata: {name: a}, spec: {controlPlane: a, git: {url: "https://h/r.git", credentials: {type: Basic, secretRef: {name: s, namespace: other}}}}}`,
			want:   "no secretRef may set namespace",
		},
		"ConfigOwnSecret": {
			reason: "A ProviderConfig names a Secret of its own namespace without naming the namespace.",
			crd:    "config.intentplane.dev_providerconfigs",
			object: `{metadata: {name: a}, spec: {controlPlane: a, git: {url: "https://h/r.git", credentials: {type: Basic, secretRef: {name: s}}}}}`,
		},
		"PruneBundle": {
			reason: "A request about packages names no configuration.",
			crd:    "state.intentplane.dev_prunerequests", object: `{metadata: {name: a}, spec: {scope: Bundle, bundle: {group: intentplane.dev, name: b}}}`,
		},
		"PruneBundleConfig": {
			reason: "Packages are in no repository.",
			crd:    "state.intentplane.dev_prunerequests", object: `{metadata: {name: a}, spec: {scope: Bundle, providerConfigRef: {kind: ProviderConfig, name: b}}}`,
			want: "scope Bundle excludes it",
		},
		"PruneDirectoriesAlone": {
			reason: "Scope Directories needs a repository.",
			crd:    "state.intentplane.dev_prunerequests", object: `{metadata: {name: a}, spec: {scope: Directories}}`,
			want: "scope Directories needs providerConfigRef",
		},
		"PruneDirectoriesBundle": {
			reason: "Directories belong to no bundle.",
			crd:    "state.intentplane.dev_prunerequests",
			object: `{metadata: {name: a}, spec: {scope: Directories, providerConfigRef: {kind: ProviderConfig, name: b}, bundle: {group: intentplane.dev, name: b}}}`,
			want:   "bundle goes with scope Bundle",
		},
		"ClusterConfigNoNamespace": {
			reason: "a ClusterProviderConfig is in no namespace",
			crd:    "config.intentplane.dev_clusterproviderconfigs",
			object: `{metadata: {name: a}, spec: {controlPlane: a, git: {url: "https://h/r.git", caBundleSecretRef: {name: s, key: k}}}}`,
			want:   "each secretRef must set namespace",
		},
		"ConfigUserInURL": {
			reason: "credentials do not belong into a URL",
			crd:    "config.intentplane.dev_clusterproviderconfigs", object: `{metadata: {name: a}, spec: {controlPlane: a, git: {url: "https://u:p@h/r.git"}}}`,
			want: "spec.git.url",
		},
		"ConfigFileURL": {
			reason: "a repository is not a file of ours",
			crd:    "config.intentplane.dev_clusterproviderconfigs", object: `{metadata: {name: a}, spec: {controlPlane: a, git: {url: "file:///etc"}}}`,
			want: "spec.git.url",
		},
		"ConfigBranch": {
			reason: "a branch is not a way out of refs/heads",
			crd:    "config.intentplane.dev_clusterproviderconfigs",
			object: `{metadata: {name: a}, spec: {controlPlane: a, git: {url: "https://h/r.git", branch: "../x"}}}`,
			want:   "spec.git.branch",
		},
		"ConfigAuthor": {
			reason: "an author cannot add headers to a commit",
			crd:    "config.intentplane.dev_clusterproviderconfigs",
			object: `{metadata: {name: a}, spec: {controlPlane: a, git: {url: "https://h/r.git", author: {name: "a\nb"}}}}`,
			want:   "spec.git.author.name",
		},
		"DeliveryWithPlusAndSlash": {
			reason: "CEL reads bytes as URL-safe base64, and would refuse standard base64.",
			crd:    "delivery.intentplane.dev_gitdeliveries",
			object: `{metadata: {name: a}, spec: {forProvider: {claimRef: {apiGroup: intentplane.dev, kind: IntentDeployment, namespace: a, name: b}, copy: {seq: 1, epoch: 1, cursor: {step: 0, stage: 0, promoted: 0, attempt: 0}}, trees: [{site: s, branch: main, path: p, action: Desired, files: "+/8="}]}}}`,
		},
		"DeliveryBadTreeID": {
			reason: "a tree id is a tree id",
			crd:    "delivery.intentplane.dev_gitdeliveries",
			object: `{metadata: {name: a}, spec: {forProvider: {claimRef: {apiGroup: intentplane.dev, kind: IntentDeployment, namespace: a, name: b}, copy: {seq: 1, epoch: 1, cursor: {step: 0, stage: 0, promoted: 0, attempt: 0}}, trees: [{site: s, branch: main, path: p, action: Keep, tree: HEAD}]}}}`,
			want:   "must be a git tree id",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, got := verdict(t, all[tc.crd], tc.object)
			if tc.want == "" && got != "" || tc.want != "" && !strings.Contains(got, tc.want) {
				t.Errorf("\n%s\nwant an error with %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

// The function sees specs that no API server filled in, in crossplane render and in the plugin.
func TestDefaultsAreTheSchemas(t *testing.T) {
	crd := crds(t)["claim"]
	cases := map[string]struct {
		reason string
		spec   string
	}{
		"Text":       {reason: "A text intent gets the defaults of the blocks that are absent.", spec: `{"intent": "{}"}`},
		"Structured": {reason: "the defaults of a structured intent", spec: `{"expectation": {"service": "a", "endpoints": [{"name": "a", "port": 1}]}}`},
		"WithChecks": {
			reason: "the defaults of the items of lists",
			spec:   `{"intent": "{}", "gatesConfig": {"checks": [{"name": "a", "type": "Web", "threshold": "1", "web": {"url": "https://a", "expression": "b"}}], "postCheck": {"image": "a", "script": "b"}}}`,
		},
		"HalfABlock":  {reason: "A block with one field gets its other defaults.", spec: `{"intent": "{}", "deliveryConfig": {"gitOpsRepo": {"name": "x"}}}`},
		"HalfASwitch": {reason: "A false that the claim gives is not replaced by the default true.", spec: `{"intent": "{}", "gatesConfig": {"enabled": false}}`},
		"Ledger": {
			reason: "A reference to the repository of the ledger has the defaults of any configuration.",
			spec:   `{"intent": "{}", "deliveryConfig": {"ledgerConfigRef": {}}}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o, problem := verdict(t, crd, `{"metadata": {"name": "a"}, "spec": `+tc.spec+`}`)
			if problem != "" {
				t.Fatal(problem)
			}
			want, got := deploymentv1alpha1.IntentDeploymentSpec{}, deploymentv1alpha1.IntentDeploymentSpec{}
			b, err := json.Marshal(o["spec"])
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(b, &want); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(tc.spec), &got); err != nil {
				t.Fatal(err)
			}
			got.Default()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFieldNamesSurviveYAML reads each field name of each schema as the key of a YAML mapping. YAML 1.1 takes words such as on, yes and n for
// booleans, and a field with such a name cannot be written without quotes.
func TestFieldNamesSurviveYAML(t *testing.T) {
	for name, crd := range crds(t) {
		for path, field := range fieldNames(crd.Spec.Validation, crd.Spec.Versions) {
			got := map[string]any{}
			if err := yaml.Unmarshal([]byte(field+": value"), &got); err != nil {
				t.Fatalf("%s: %s: %v", name, path, err)
			}
			if _, ok := got[field]; !ok {
				t.Errorf("%s: %s: YAML reads the key %q as %q", name, path, field, slices.Collect(maps.Keys(got)))
			}
		}
	}
}

// fieldNames returns the names of all fields of a CRD, by their paths.
func fieldNames(shared *apiextensions.CustomResourceValidation, versions []apiextensions.CustomResourceDefinitionVersion) map[string]string {
	out := map[string]string{}
	if shared != nil {
		addFieldNames(out, "", shared.OpenAPIV3Schema)
	}
	for _, v := range versions {
		if v.Schema != nil {
			addFieldNames(out, v.Name, v.Schema.OpenAPIV3Schema)
		}
	}
	return out
}

func addFieldNames(out map[string]string, path string, s *apiextensions.JSONSchemaProps) {
	if s == nil {
		return
	}
	for name := range s.Properties {
		property := s.Properties[name]
		out[path+"."+name] = name
		addFieldNames(out, path+"."+name, &property)
	}
	if s.Items != nil {
		addFieldNames(out, path+"[]", s.Items.Schema)
	}
	if s.AdditionalProperties != nil {
		addFieldNames(out, path+"{}", s.AdditionalProperties.Schema)
	}
}
