package desired

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// observed is a GitDelivery as an API server returns it: applied by Crossplane, with a field that a user added with kubectl, a
// label that another controller added, and a status.
const observed = `{
  "apiVersion": "delivery.intentplane.dev/v1alpha1", "kind": "GitDelivery",
  "metadata": {
    "name": "shop-delivery-1", "generateName": "shop-", "namespace": "team-a", "uid": "u", "resourceVersion": "5", "generation": 2,
    "labels": {"crossplane.io/composite": "shop", "intentplane.dev/deployment": "shop", "team": "blue", "intentplane.dev/users-own": "x"},
    "annotations": {"crossplane.io/composition-resource-name": "delivery", "kubectl.kubernetes.io/note": "x", "intentplane.dev/users-own": "x"},
    "ownerReferences": [{"apiVersion": "claims.intentplane.dev/v1alpha1", "kind": "XIntentDeployment", "name": "shop", "uid": "o", "controller": true}],
    "finalizers": ["finalizer.managedresource.crossplane.io"],
    "managedFields": [
      {"manager": "apiextensions.crossplane.io/composed/abc", "operation": "Apply", "apiVersion": "delivery.intentplane.dev/v1alpha1", "fieldsType": "FieldsV1",
       "fieldsV1": {
         "f:metadata": {
           "f:annotations": {"f:crossplane.io/composition-resource-name": {}},
           "f:labels": {"f:crossplane.io/composite": {}, "f:intentplane.dev/deployment": {}},
           "f:ownerReferences": {"k:{\"uid\":\"o\"}": {}}},
         "f:spec": {
           "f:forProvider": {
             "f:claimRef": {"f:apiGroup": {}, "f:kind": {}, "f:name": {}, "f:namespace": {}},
             "f:order": {"f:revision": {}, "f:request": {}, "f:plan": {}, "f:attempt": {}},
             "f:trees": {
               "k:{\"branch\":\"main\",\"path\":\"a/x\"}": {".": {}, "f:action": {}, "f:branch": {}, "f:files": {}, "f:path": {}, "f:site": {}, "f:tree": {}},
               "k:{\"branch\":\"main\",\"path\":\"b/x\"}": {".": {}, "f:action": {}, "f:branch": {}, "f:files": {}, "f:path": {}, "f:site": {}, "f:tree": {}}}},
           "f:managementPolicies": {},
           "f:providerConfigRef": {"f:kind": {}, "f:name": {}}}}},
      {"manager": "kubectl", "operation": "Apply", "apiVersion": "delivery.intentplane.dev/v1alpha1", "fieldsType": "FieldsV1",
       "fieldsV1": {"f:metadata": {"f:labels": {"f:team": {}}}, "f:spec": {"f:forProvider": {"f:driftPolicy": {}}}}},
      {"manager": "crossplane", "operation": "Update", "apiVersion": "delivery.intentplane.dev/v1alpha1", "fieldsType": "FieldsV1",
       "fieldsV1": {"f:metadata": {"f:finalizers": {}}, "f:status": {"f:conditions": {}}}, "subresource": "status"}]},
  "spec": {
    "forProvider": {
      "claimRef": {"apiGroup": "claims.intentplane.dev", "kind": "IntentDeployment", "namespace": "team-a", "name": "shop"},
      "order": {"revision": 2, "request": "sha256:1", "plan": [{"sites": ["a", "b"]}], "attempt": 0},
      "driftPolicy": "Report", "adopt": false,
      "trees": [
        {"site": "a", "branch": "main", "path": "a/x", "action": "Desired", "tree": "t1", "files": "Zg=="},
        {"site": "b", "branch": "main", "path": "b/x", "action": "Desired", "tree": "t2", "files": "Zg=="}]},
    "managementPolicies": ["*"],
    "providerConfigRef": {"kind": "ProviderConfig", "name": "mine"}},
  "status": {"conditions": [{"type": "Ready", "status": "True"}]}
}`

const retained = `{
  "apiVersion": "delivery.intentplane.dev/v1alpha1", "kind": "GitDelivery",
  "metadata": {"namespace": "team-a", "labels": {"intentplane.dev/deployment": "shop"}},
  "spec": {
    "forProvider": {
      "claimRef": {"apiGroup": "claims.intentplane.dev", "kind": "IntentDeployment", "namespace": "team-a", "name": "shop"},
      "order": {"revision": 2, "request": "sha256:1", "plan": [{"sites": ["a", "b"]}], "attempt": 0},
      "trees": [
        {"site": "a", "branch": "main", "path": "a/x", "action": "Desired", "tree": "t1", "files": "Zg=="},
        {"site": "b", "branch": "main", "path": "b/x", "action": "Desired", "tree": "t2", "files": "Zg=="}]},
    "managementPolicies": ["*"],
    "providerConfigRef": {"kind": "ProviderConfig", "name": "mine"}}
}`

func decode(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(text), o); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestRetain(t *testing.T) {
	const bare = `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "team-a"}}`
	cases := map[string]struct {
		reason string
		given  string
		want   string
	}{
		"Applied": {reason: "Exactly the fields that Crossplane applied, and none of another owner.", given: observed, want: retained},
		"AppliedByNone": {
			reason: "Fields of others are not taken over.",
			given:  strings.ReplaceAll(observed, "apiextensions.crossplane.io/composed/", "other/"),
			want:   strings.Replace(bare, `"v1", "kind": "ConfigMap"`, `"delivery.intentplane.dev/v1alpha1", "kind": "GitDelivery"`, 1),
		},
		"Updated": {
			reason: "Updated fields are not applied fields.",
			given:  strings.ReplaceAll(observed, `"Apply"`, `"Update"`),
			want:   strings.Replace(bare, `"v1", "kind": "ConfigMap"`, `"delivery.intentplane.dev/v1alpha1", "kind": "GitDelivery"`, 1),
		},
		"WithoutSpec": {reason: "An object without a spec.", given: bare, want: bare},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Retain(decode(t, tc.given))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decode(t, tc.want), got); diff != "" {
				t.Errorf("\n%s\nRetain(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRetainRefuses(t *testing.T) {
	o := decode(t, strings.Replace(observed, `"f:managementPolicies": {}`, `"f:managementPolicies": 5`, 1))
	if _, err := Retain(o); err == nil {
		t.Error("Retain(...): want an error for managed fields that cannot be read: to keep less would remove fields")
	}
}

// TestEncodeResource encodes a delivery that has a status, as an observed one does.
func TestEncodeResource(t *testing.T) {
	d := &deliveryv1alpha1.GitDelivery{}
	d.SetNamespace("team-a")
	d.Status.AtProvider.Remote = &deliveryv1alpha1.Remote{Commit: "c"}
	got, err := Encode(d)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"namespace": "team-a"}, got.Object["metadata"]); diff != "" {
		t.Errorf("\nAn object is applied without the time of its creation.\nEncode(...): metadata: -want, +got:\n%s", diff)
	}
	if _, hasStatus := got.Object["status"]; hasStatus || got.Object["spec"] == nil {
		t.Errorf("\nAn object is applied with its spec, and without its status.\nEncode(...): got %v", got.Object)
	}
}
