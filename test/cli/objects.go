package cli

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Parse returns the object of a text.
func Parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}

// Claim is an IntentDeployment.
const Claim = `apiVersion: claims.intentplane.dev/v1alpha1
kind: IntentDeployment
metadata: {namespace: team-a, name: shop}
spec:
  intent: '{"service": "shop"}'
`

// ClaimWith returns the Claim with a status.
func ClaimWith(t *testing.T, status string) *unstructured.Unstructured {
	t.Helper()
	return Parse(t, Claim+"status: "+status+"\n")
}

// BareBlueprint is a Blueprint whose object no API server would take.
const BareBlueprint = `apiVersion: catalog.intentplane.dev/v1alpha1
kind: Blueprint
metadata: {name: web-1.0.0}
spec:
  blueprintName: web
  version: 1.0.0
  serviceTypes: [web]
  files:
    kustomization.yaml: "resources: [a.yaml]"
    a.yaml: "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {port: 1}}"
`

// RuledBlueprint is a Blueprint with a kind of its own, whose size must be even.
const RuledBlueprint = `apiVersion: catalog.intentplane.dev/v1alpha1
kind: Blueprint
metadata: {name: web-1.0.0, labels: {blueprint: web, channel: stable}}
spec:
  blueprintName: web
  version: 1.0.0
  serviceTypes: [web]
  examples: [{intent: '{"service": "a"}'}]
  files:
    kustomization.yaml: "resources: [a.yaml]"
    a.yaml: "{apiVersion: x.org/v1, kind: Thing, metadata: {name: a}, size: SIZE}"
    crd.yaml: |
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata: {name: things.x.org}
      spec:
        group: x.org
        scope: Namespaced
        names: {kind: Thing, plural: things}
        versions:
        - name: v1
          served: true
          storage: true
          schema: {openAPIV3Schema: {type: object, x-kubernetes-validations: [{rule: "self.size % 2 == 0", message: must be even}], properties: {size: {type: integer}}}}
`

// ThingsAllowed is a configuration that allows the kind of RuledBlueprint, and no other one.
const ThingsAllowed = `apiVersion: config.intentplane.dev/v1alpha1
kind: ClusterProviderConfig
metadata: {name: default}
spec: {controlPlane: a, git: {url: "https://h/r.git"}, policy: {allowedKinds: [{group: x.org, kinds: [Thing]}]}}
`
