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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
)

const (
	firstPage  = `{"kind": "IntentDeploymentList", "metadata": {"continue": "a b&c"}, "items": [{"metadata": {"name": "one"}}, {"metadata": {"name": "two"}}]}`
	secondPage = `{"kind": "IntentDeploymentList", "metadata": {"resourceVersion": "7"}, "items": [{"metadata": {"name": "three"}}]}`
	forbidden  = `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "no"}`
)

// newListServer returns a Cluster whose API server answers with these texts, and the requests.
func newListServer(t *testing.T, code int, contentType string, answers ...string) (c *Cluster, requests *[]string) {
	t.Helper()
	requests = &[]string{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(code)
		_, _ = w.Write([]byte(answers[len(*requests)]))
		*requests = append(*requests, r.URL.Path+" "+r.URL.Query().Get("limit")+" "+r.URL.Query().Get("continue"))
	}))
	t.Cleanup(s.Close)
	lists, err := newListClient(&rest.Config{Host: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	return &Cluster{lists: lists}, requests
}

// TestVisitObjects lists objects of one namespace and of all.
func TestVisitObjects(t *testing.T) {
	cases := map[string]struct {
		reason    string
		namespace string
		want      []string
	}{
		"Namespace": {reason: "A list of a namespace is read page by page.", namespace: "team-a", want: []string{
			"/apis/intentplane.dev/v1alpha1/namespaces/team-a/intentdeployments 500 ", "/apis/intentplane.dev/v1alpha1/namespaces/team-a/intentdeployments 500 a b&c",
		}},
		"All": {reason: "A list of all namespaces is read page by page, too.", namespace: AllNamespaces, want: []string{
			"/apis/intentplane.dev/v1alpha1/intentdeployments 500 ", "/apis/intentplane.dev/v1alpha1/intentdeployments 500 a b&c",
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, requests := newListServer(t, http.StatusOK, "application/json", firstPage, secondPage)
			var names []string
			err := c.visitObjects(t.Context(), claimsIn(groupNamespaced), tc.namespace, func(page []object) {
				for _, o := range page {
					names = append(names, o.name())
				}
			})
			if diff := cmp.Diff([]string{"one", "two", "three"}, names); diff != "" || err != nil {
				t.Errorf("\n%s\nvisitObjects(...): %v, -want, +got:\n%s", tc.reason, err, diff)
			}
			if diff := cmp.Diff(tc.want, *requests); diff != "" {
				t.Errorf("\n%s\nrequests: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestVisitObjectsFailure distinguishes the failures of a list, as a client that decodes objects does.
func TestVisitObjectsFailure(t *testing.T) {
	cases := map[string]struct {
		reason            string
		code              int
		contentType, text string
		is                func(error) bool
	}{
		"Forbidden": {
			reason: "A right that is missing is named.",
			code:   http.StatusForbidden, contentType: "application/json", text: forbidden, is: kerrors.IsForbidden,
		},
		"Unknown": {
			reason: "A kind that is not served is unknown.",
			code:   http.StatusNotFound, contentType: "text/plain", text: "404 page not found", is: unknownKind,
		},
		"Broken": {
			reason: "A page that is not a list is an error.",
			code:   http.StatusOK, contentType: "application/json", text: "{", is: func(err error) bool { return !unknownKind(err) },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, _ := newListServer(t, tc.code, tc.contentType, tc.text)
			err := c.visitObjects(t.Context(), claimsIn(groupNamespaced), AllNamespaces, func([]object) { t.Error("no page is visited") })
			if err == nil || !tc.is(err) {
				t.Errorf("\n%s\nvisitObjects(...): %v", tc.reason, err)
			}
		})
	}
}

// TestObject reads an object in both forms.
func TestObject(t *testing.T) {
	const text = `{"kind": "IntentDeployment", "metadata": {"name": "shop"}, "spec": {"suspend": true, "resourceRef": {"apiVersion": "a/v1", "kind": "XIntentDeployment", "name": "shop-x"}}, "status": {"revision": 7, "laterField": {}}}`
	decoded := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(text), &decoded.Object); err != nil {
		t.Fatal(err)
	}
	var facts []*cause.Facts
	for _, o := range []object{{encoded: json.RawMessage(text)}, {decoded: decoded}} {
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
		c, _ := newListServer(t, http.StatusOK, "application/json", brokenItems)
		found, err := reader{source: c}.listSubjects(t.Context(), resource)
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
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				switch {
				case r.URL.Path != "/apis/intentplane.dev/v1alpha1/intentdeployments":
					_, _ = w.Write([]byte(`{"items": []}`))
				case r.URL.Query().Get("continue") == "":
					_, _ = w.Write([]byte(firstPage))
				default:
					w.WriteHeader(tc.code)
					_, _ = w.Write([]byte(tc.answer))
				}
			}))
			defer s.Close()
			lists, err := newListClient(&rest.Config{Host: s.URL})
			if err != nil {
				t.Fatal(err)
			}
			found, err := (&Cluster{lists: lists}).All(t.Context(), AllNamespaces)
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
