package cluster

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster/server"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
	"github.com/intentplane/intentplane/test/apiserver"
)

// serveSample returns a cluster that has the objects of samples, and its server.
func serveSample(t *testing.T, all ...*samples.Sample) (*Cluster, *apiserver.Server) {
	t.Helper()
	kinds := map[string]schema.GroupVersionResource{
		"GitDelivery": composedResources()[0], "SiteSync": composedResources()[1], "Gate": composedResources()[2], "RolloutRequest": composedResources()[3],
		"IntentDeployment": claimsInGroup("intentplane.dev"), "ClaimedDeployment": claimsInGroup("claims.intentplane.dev"), "WorkloadCluster": clustersInGroup("intentplane.dev"),
		"ClaimedCluster": clustersInGroup("claims.intentplane.dev"), "ManagedCluster": managedResource(),
		"Application": applicationsInGroup("intentplane.dev"), "ClaimedApplication": applicationsInGroup("claims.intentplane.dev"), "SiteHealth": healthsResource(),
		"Bundle": bundlesInGroup("intentplane.dev"), "ClaimedBundle": bundlesInGroup("claims.intentplane.dev"), "BundleState": statesResource(),
	}
	s := apiserver.New(kinds)
	for i, sample := range all {
		objects, err := sample.Objects()
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			if o.GetKind() != "IntentDeployment" {
				o.SetName(fmt.Sprintf("%s-%d", o.GetName(), i))
			}
			create(t, s, o)
		}
	}
	return &Cluster{api: server.NewClient(s), namespace: "team-a"}, s
}

func create(t *testing.T, s *apiserver.Server, o *unstructured.Unstructured) {
	t.Helper()
	resource, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
	if _, err := s.Resource(resource).Namespace(o.GetNamespace()).Create(t.Context(), o, metav1.CreateOptions{}); err != nil && !kerrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

// deny answers each request about a resource with an error.
func deny(s *apiserver.Server, resource string, err error) {
	s.PrependReactor("*", resource, func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, err })
}

func workloadCluster() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "intentplane.dev/v1alpha1", "kind": "WorkloadCluster", "metadata": map[string]any{"namespace": "team-a", "name": "prod"},
		"status": map[string]any{"phase": "Provisioning", "managedCluster": "prod-x"},
	}}
}

func managedCluster() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cluster.intentplane.dev/v1alpha1", "kind": "ManagedCluster", "metadata": map[string]any{"namespace": "team-a", "name": "prod-x"},
	}}
}

func TestSubject(t *testing.T) {
	claimSample := samples.WrongPassword()
	claimSample.Group = "claims.intentplane.dev"
	type want struct {
		found  []string
		owned  int
		unread []cause.Unread
		fails  string
	}
	cases := map[string]struct {
		reason string
		name   string
		denied string
		want   want
	}{
		"Both": {
			reason: "Objects of one name in both shapes are found, each with its own objects.",
			name:   "shop", want: want{found: []string{"claims.intentplane.dev/v1alpha1", "intentplane.dev/v1alpha1"}, owned: 1},
		},
		"Group": {
			reason: "A name may say its group.",
			name:   "intentdeployments.intentplane.dev/shop", want: want{found: []string{"intentplane.dev/v1alpha1"}, owned: 1},
		},
		"Cluster": {reason: "A cluster is found by its name, with its ManagedCluster.", name: "prod", want: want{found: []string{"prod managed"}}},
		"Kind": {
			reason: "A name may say that it is a cluster's.",
			name:   "workloadclusters/shop",
			want:   want{fails: `namespace "team-a" has no Application, no IntentDeployment, no WorkloadCluster and no Bundle "shop"`},
		},
		"Denied": {
			reason: "A forbidden kind is named, and does not cause an error.", name: "intentdeployments.intentplane.dev/shop", denied: "gitdeliveries",
			want: want{
				found:  []string{"intentplane.dev/v1alpha1"},
				unread: []cause.Unread{{Object: "gitdeliveries.delivery.intentplane.dev", Reason: "the user may not read them"}},
			},
		},
		"AllDenied": {
			reason: "A user who may read no deployment is advised to ask for the right to.",
			name:   "shop", denied: "intentdeployments", want: want{fails: "ask for the right to get it (examples/rbac has the roles): "},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, s := serveSample(t, claimSample, samples.Verified())
			create(t, s, workloadCluster())
			create(t, s, managedCluster())
			if tc.denied != "" {
				deny(s, tc.denied, kerrors.NewForbidden(schema.GroupResource{Resource: tc.denied}, "", nil))
			}
			found, err := c.Subject(t.Context(), tc.name)
			got := want{}
			if err != nil {
				if tc.want.fails == "" || !strings.Contains(err.Error(), tc.want.fails) {
					t.Fatalf("\n%s\nSubject(%q): want %q, got %v", tc.reason, tc.name, tc.want.fails, err)
				}
				return
			}
			for _, f := range found.Deployments {
				got.found, got.owned, got.unread = append(got.found, f.Deployment.APIVersion), len(f.Deliveries), append(got.unread, f.Unread...)
			}
			for _, f := range found.Clusters {
				got.found = append(got.found, f.Cluster.Metadata.Name+map[bool]string{true: " managed"}[f.Managed != nil])
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("\n%s\nSubject(%q): -want, +got:\n%s", tc.reason, tc.name, diff)
			}
		})
	}
}

// TestAll lists all kinds in both shapes. A list that may not be read is named, and does not hide the others.
func TestAll(t *testing.T) {
	c, s := serveSample(t, samples.Verified())
	create(t, s, workloadCluster())
	deny(s, "workloadclusters", kerrors.NewForbidden(schema.GroupResource{Resource: "workloadclusters"}, "", nil))
	found, err := c.All(t.Context(), AllNamespaces)
	if err != nil || len(found.Deployments) != 1 || len(found.Clusters) != 0 {
		t.Errorf("All(...): %+v, %v", found, err)
	}
	const reason = "the user may not read them"
	want := []cause.Unread{{Object: "workloadclusters.claims.intentplane.dev", Reason: reason}, {Object: "workloadclusters.intentplane.dev", Reason: reason}}
	if diff := cmp.Diff(want, found.Beneath.Unread); diff != "" {
		t.Errorf("All(...): not read: -want, +got:\n%s", diff)
	}
	deny(s, "intentdeployments", kerrors.NewForbidden(schema.GroupResource{Resource: "intentdeployments"}, "", nil))
	deny(s, "bundles", kerrors.NewForbidden(schema.GroupResource{Resource: "bundles"}, "", nil))
	deny(s, "applications", kerrors.NewForbidden(schema.GroupResource{Resource: "applications"}, "", nil))
	if _, err := c.All(t.Context(), AllNamespaces); err == nil {
		t.Error("All(...): a user who may read no kind gets an empty list")
	}
}

// TestMirror sees each change without asking again.
func TestMirror(t *testing.T) {
	c, s := serveSample(t, samples.Verified())
	m, err := c.Mirror(t.Context(), "team-a", MirrorParts{IsComposedWanted: true})
	if err != nil {
		t.Fatal(err)
	}
	found, err := m.Subject(t.Context(), "shop")
	if err != nil || len(found.Deployments) != 1 || len(found.Deployments[0].Deliveries) != 1 || found.Deployments[0].Deployment.Status.Revision != 7 {
		t.Fatalf("Subject(...): %+v, %v", found, err)
	}
	requests := len(s.Actions())
	objects, err := samples.WrongPassword().Objects()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Tracker().Update(claimsInGroup("intentplane.dev"), objects[0], "team-a"); err != nil {
		t.Fatal(err)
	}
	for found.Deployments[0].Deployment.Status.Phase != "Delivering" {
		<-m.Changed()
		if found, err = m.Subject(t.Context(), "shop"); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := m.All(t.Context()); err != nil || len(all.Deployments) != 1 {
		t.Errorf("All(...): %+v, %v", all, err)
	}
	if n := len(s.Actions()); n != requests {
		t.Errorf("%d requests were made to see a change, want 0", n-requests)
	}
}

// TestMirrorDenied watches the allowed kinds, and names the others as a single look does.
func TestMirrorDenied(t *testing.T) {
	c, s := serveSample(t, samples.Verified())
	deny(s, "gates", kerrors.NewForbidden(schema.GroupResource{Resource: "gates"}, "", nil))
	m, err := c.Mirror(t.Context(), "team-a", MirrorParts{IsComposedWanted: true})
	if err != nil {
		t.Fatal(err)
	}
	found, err := m.Subject(t.Context(), "shop")
	if err != nil || len(found.Deployments[0].Unread) != 1 || found.Deployments[0].Unread[0].Object != "gates.rollout.intentplane.dev" {
		t.Errorf("Subject(...): %+v, %v", found, err)
	}
}

// TestMirrorUnwatched reads a cluster from a mirror without composed objects: its ManagedCluster is named as unread.
func TestMirrorUnwatched(t *testing.T) {
	c, s := serveSample(t)
	create(t, s, workloadCluster())
	m, err := c.Mirror(t.Context(), "team-a", MirrorParts{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := m.Subject(t.Context(), "prod")
	if err != nil || len(found.Clusters) != 1 {
		t.Fatalf("Subject(...): %+v, %v", found, err)
	}
	want := []cause.Unread{{Object: "managedclusters.cluster.intentplane.dev", Reason: "it is not watched"}}
	if diff := cmp.Diff(want, found.Clusters[0].Unread); diff != "" {
		t.Errorf("Subject(...): not read: -want, +got:\n%s", diff)
	}
}

const (
	firstPage = `{"kind": "IntentDeploymentList", "metadata": {"continue": "a b&c"}, "items": [{"metadata": {"name": "one"}}, {"metadata": {"name": "two"}}]}`
	forbidden = `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "no"}`
)

// connect returns a Cluster whose API server answers JSON by a function.
func connect(t *testing.T, answer http.HandlerFunc) *Cluster {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	api, err := server.Connect(&rest.Config{Host: s.URL}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return &Cluster{api: api}
}

// TestDeploymentFacts reads an object in both forms.
func TestDeploymentFacts(t *testing.T) {
	const text = `{"kind": "IntentDeployment", "metadata": {"name": "shop"}, "spec": {"suspend": true, "resourceRef": {"apiVersion": "a/v1", "kind": "XIntentDeployment", "name": "shop-x"}}, "status": {"revision": 7, "laterField": {}}}`
	decoded := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(text), &decoded.Object); err != nil {
		t.Fatal(err)
	}
	var facts []*cause.Facts
	for _, o := range []server.Object{server.Encoded(json.RawMessage(text)), server.Decoded(decoded)} {
		f, err := deploymentFacts(o)
		if err != nil {
			t.Fatal(err)
		}
		facts = append(facts, f)
	}
	if diff := cmp.Diff(facts[1], facts[0]); diff != "" || facts[0].Deployment.Spec.ResourceRef.Name != "shop-x" || facts[0].Deployment.Status.Revision != 7 {
		t.Errorf("An object says the same in both forms: -decoded, +encoded:\n%s", diff)
	}
}

// brokenItems are objects of a list, of which three cannot be decoded into the type of any kind.
const brokenItems = `{"items": [
	{"metadata": {"namespace": "team-a", "name": "one"}}, {"metadata": {"namespace": "team-b", "name": "two"}, "status": {"phase": 7}},
	{"metadata": {"name": "three"}, "status": {"conditions": "x"}}, {"metadata": {"name": 4}}, {"metadata": {"namespace": "team-a", "name": "five"}}
]}`

// TestListSubjectsBroken lists objects of which some cannot be decoded. Each of them is named, and hides no other.
func TestListSubjectsBroken(t *testing.T) {
	for _, resource := range subjectResources(groupNamespaced) {
		c := connect(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(brokenItems)) })
		found, err := reader{Source: c.api}.listSubjects(t.Context(), resource)
		if err != nil {
			t.Fatalf("listSubjects(%s): %v", resource.Resource, err)
		}
		var unread []string
		for _, u := range found.Beneath.Unread {
			unread = append(unread, u.Object)
		}
		kind := resource.GroupResource().String()
		if diff := cmp.Diff([]string{kind + "/team-b/two", kind + "/three", kind + "/without a name"}, unread); diff != "" || found.countSubjects() != 2 {
			t.Errorf("listSubjects(%s): %d objects, want 2; not read: -want, +got:\n%s", resource.Resource, found.countSubjects(), diff)
		}
	}
}

// TestAllBroken lists kinds whose lists break off on their second page. The objects before are shown, and the failure is not hidden.
func TestAllBroken(t *testing.T) {
	cases := map[string]struct {
		reason string
		code   int
		answer string
		names  []string
		want   string
	}{
		"Cut": {
			reason: "The objects before a cut connection are shown.",
			code:   http.StatusOK, answer: `{"items": [{"metadata": {"name": "three"}}, {"meta`, names: []string{"one", "two", "three"},
			want: "unexpected EOF",
		},
		"Expired": {
			reason: "The objects before an expired token are shown.", code: http.StatusGone, names: []string{"one", "two"}, want: "too old",
			answer: `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Expired", "code": 410, "message": "too old"}`,
		},
		"Outage": {
			reason: "The objects before an outage are shown.",
			code:   http.StatusInternalServerError, answer: "no", names: []string{"one", "two"}, want: "cannot list intentdeployments.intentplane.dev",
		},
		"Forbidden": {reason: "A right that a user lost is not an outage.", code: http.StatusForbidden, answer: forbidden, names: []string{"one", "two"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := connect(t, func(w http.ResponseWriter, r *http.Request) {
				switch {
				case r.URL.Path != "/apis/intentplane.dev/v1alpha1/intentdeployments":
					_, _ = w.Write([]byte(`{"items": []}`))
				case r.URL.Query().Get("continue") == "":
					_, _ = w.Write([]byte(firstPage))
				default:
					w.WriteHeader(tc.code)
					_, _ = w.Write([]byte(tc.answer))
				}
			})
			found, err := c.All(t.Context(), AllNamespaces)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, f := range found.Deployments {
				names = append(names, f.Deployment.Metadata.Name)
			}
			if diff := cmp.Diff(tc.names, names); diff != "" || len(found.Beneath.Unread) != 1 {
				t.Errorf("\n%s\nAll(...): not read: %v; -want, +got:\n%s", tc.reason, found.Beneath.Unread, diff)
			}
			if got := fmt.Sprint(found.Failure); (found.Failure == nil) != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("\n%s\nAll(...).Failure: want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
