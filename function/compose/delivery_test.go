package compose

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/catalog"
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
		"Applied":       {reason: "Exactly what Crossplane applied, and nothing of anybody else.", given: observed, want: retained},
		"AppliedByNone": {reason: "Fields of others are not taken over.", given: strings.ReplaceAll(observed, "apiextensions.crossplane.io/composed/", "other/"), want: strings.Replace(bare, `"v1", "kind": "ConfigMap"`, `"delivery.intentplane.dev/v1alpha1", "kind": "GitDelivery"`, 1)},
		"Updated":       {reason: "What was updated was not applied.", given: strings.ReplaceAll(observed, `"Apply"`, `"Update"`), want: strings.Replace(bare, `"v1", "kind": "ConfigMap"`, `"delivery.intentplane.dev/v1alpha1", "kind": "GitDelivery"`, 1)},
		"WithoutSpec":   {reason: "An object without a spec.", given: bare, want: bare},
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

func place(site, url, config string) catalog.Place {
	p := catalog.Place{ConfigRef: catalog.ConfigRef{Kind: policy.KindClusterProviderConfig, Name: config}, Path: "clusters/" + site + "/team-a/shop"}
	p.Site.SetName(site)
	p.Config.Git.URL, p.Config.Git.Branch, p.Repository = url, "main", policy.RepositoryKey(url)
	return p
}

func TestDeliveries(t *testing.T) {
	type summary struct {
		Config   xpv2.ProviderConfigReference
		Policies xpv2.ManagementPolicies
		// Trees as site, action and id.
		Trees []string
	}
	const one, other = "https://git.example.org/one.git", "https://git.example.org/other.git"
	files := tree.Files{"a.yaml": []byte("a")}
	id := tree.ID(files)
	all := xpv2.ManagementPolicies{"*"}
	config := func(name string) xpv2.ProviderConfigReference {
		return xpv2.ProviderConfigReference{Kind: policy.KindClusterProviderConfig, Name: name}
	}
	cases := map[string]struct {
		reason   string
		deletion string
		rendered []Rendered
		want     map[string]summary
	}{
		"OneRepository": {
			reason:   "Sites in one repository share a delivery, however its URL is spelled.",
			rendered: []Rendered{{Place: place("a", one, "c"), Files: files}, {Place: place("b", strings.TrimSuffix(one, ".git"), "c"), Files: files}},
			want:     map[string]summary{one: {Config: config("c"), Policies: all, Trees: []string{"a Desired " + id, "b Desired " + id}}},
		},
		"TwoRepositories": {
			reason:   "Each repository has its own.",
			rendered: []Rendered{{Place: place("a", one, "c"), Files: files}, {Place: place("b", other, "d"), Files: files}},
			want: map[string]summary{
				one:   {Config: config("c"), Policies: all, Trees: []string{"a Desired " + id}},
				other: {Config: config("d"), Policies: all, Trees: []string{"b Desired " + id}},
			},
		},
		"Orphan": {
			reason: "What is orphaned is not deleted.", deletion: deploymentv1alpha1.DeletionOrphan,
			rendered: []Rendered{{Place: place("a", one, "c"), Files: files}},
			want:     map[string]summary{one: {Config: config("c"), Policies: xpv2.ManagementPolicies{"Observe", "Create", "Update"}, Trees: []string{"a Desired " + id}}},
		},
		"Waiting": {
			reason:   "The directory of a Site that has to wait stays as it is.",
			rendered: []Rendered{{Place: place("a", one, "c")}, {Place: place("b", one, "c"), Files: files}},
			want:     map[string]summary{one: {Config: config("c"), Policies: all, Trees: []string{"a Keep ", "b Desired " + id}}},
		},
	}
	claim := rolloutv1alpha1.ClaimReference{APIGroup: deploymentv1alpha1.GroupClaims, Kind: deploymentv1alpha1.Kind, Namespace: "team-a", Name: "shop"}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			spec := deploymentv1alpha1.DeliveryConfig{DeletionPolicy: tc.deletion}
			spec.Default()
			ds, err := Deliveries(claim, spec, tc.rendered)
			if err != nil {
				t.Fatal(err)
			}
			want, got := map[string]summary{}, map[string]summary{}
			for url, s := range tc.want {
				n, err := Name(place("a", url, "any"))
				if err != nil {
					t.Fatal(err)
				}
				want[n] = s
			}
			for n, d := range ds {
				p := d.Spec.ForProvider
				if diff := cmp.Diff(claim, p.ClaimRef) + cmp.Diff("team-a", d.GetNamespace()); diff != "" {
					t.Errorf("\n%s\nDeliveries(...): -want, +got:\n%s", tc.reason, diff)
				}
				s := summary{Config: *d.Spec.ProviderConfigReference, Policies: d.Spec.ManagementPolicies}
				for _, tr := range p.Trees {
					s.Trees = append(s.Trees, strings.Join([]string{tr.Site, string(tr.Action), tr.Tree}, " "))
				}
				got[n] = s
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\nDeliveries(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDeliveriesTravel(t *testing.T) {
	files := tree.Files{"a.yaml": []byte("a"), "b/c.yaml": []byte("c")}
	ds, err := Deliveries(rolloutv1alpha1.ClaimReference{}, deploymentv1alpha1.DeliveryConfig{}, []Rendered{{Place: place("a", "https://x/y", "c"), Files: files}})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range ds {
		got, err := tree.Decode(d.Spec.ForProvider.Trees[0].Files)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(files, got); diff != "" {
			t.Errorf("Decode(Deliveries(...)): -want, +got:\n%s", diff)
		}
		b, err := json.Marshal(d.Spec.ForProvider.Trees[0].Files)
		if err != nil {
			t.Fatal(err)
		}
		// The quotes do not count; the path of the tree does.
		want := len(b) - 2 + 3*len(d.Spec.ForProvider.Trees[0].Path) + treeOverhead
		if diff := cmp.Diff(want, EncodedBytes(d)); diff != "" {
			t.Errorf("EncodedBytes(...): -want, +got:\n%s", diff)
		}
	}
}

func TestDeliveriesTooLarge(t *testing.T) {
	_, err := Deliveries(rolloutv1alpha1.ClaimReference{}, deploymentv1alpha1.DeliveryConfig{}, []Rendered{{Place: place("a", "https://x/y", "c"), Files: tree.Files{"../a": nil}}})
	if err == nil {
		t.Error("Deliveries(...): want an error for files that may not be in a tree")
	}
	if e := (&tree.TooLargeError{}); errors.As(err, &e) {
		t.Error("Deliveries(...): a bad path is not too large")
	}
}

func TestTreeIDs(t *testing.T) {
	d := &deliveryv1alpha1.GitDelivery{}
	d.Spec.ForProvider.Trees = []deliveryv1alpha1.Tree{{Branch: "main", Path: "a", Tree: "1"}, {Branch: "b", Path: "a", Tree: "2"}}
	want := map[string]string{"x main a": "1", "x b a": "2"}
	if diff := cmp.Diff(want, TreeIDs(map[string]*deliveryv1alpha1.GitDelivery{"x": d})); diff != "" {
		t.Errorf("TreeIDs(...): -want, +got:\n%s", diff)
	}
}
