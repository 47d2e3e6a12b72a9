package server

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

const (
	firstPage  = `{"kind": "IntentDeploymentList", "metadata": {"continue": "a b&c"}, "items": [{"metadata": {"name": "one"}}, {"metadata": {"name": "two"}}]}`
	secondPage = `{"kind": "IntentDeploymentList", "metadata": {"resourceVersion": "7"}, "items": [{"metadata": {"name": "three"}}]}`
	forbidden  = `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "no"}`
)

func deployments() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "intentplane.dev", Version: "v1alpha1", Resource: "intentdeployments"}
}

// newListServer returns a client whose API server answers with these texts, one to each request, and the requests.
func newListServer(t *testing.T, code int, contentType string, answers ...string) (c *Client, requests *[]string) {
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
	return &Client{lists: lists}, requests
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
			err := c.VisitObjects(t.Context(), deployments(), tc.namespace, func(page []Object) {
				for _, o := range page {
					names = append(names, o.Name())
				}
			})
			if diff := cmp.Diff([]string{"one", "two", "three"}, names); diff != "" || err != nil {
				t.Errorf("\n%s\nVisitObjects(...): %v, -want, +got:\n%s", tc.reason, err, diff)
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
			code:   http.StatusNotFound, contentType: "text/plain", text: "404 page not found", is: IsUnknownKind,
		},
		"Broken": {
			reason: "A page that is not a list is an error.",
			code:   http.StatusOK, contentType: "application/json", text: "{", is: func(err error) bool { return !IsUnknownKind(err) },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, _ := newListServer(t, tc.code, tc.contentType, tc.text)
			err := c.VisitObjects(t.Context(), deployments(), AllNamespaces, func([]Object) { t.Error("no page is visited") })
			if err == nil || !tc.is(err) {
				t.Errorf("\n%s\nVisitObjects(...): %v", tc.reason, err)
			}
		})
	}
}
