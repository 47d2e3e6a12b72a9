package disruption

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/test/scene"
)

const (
	// refusedRequests are enough to be sure that Crossplane and the provider both had to try again.
	refusedRequests = 20
	// refusedMinute is the duration of the API server's refusals under make soak.
	refusedMinute = time.Minute
)

// overload adds an admission webhook for each write of a service account in one namespace: of Crossplane and the provider, and not of the test.
const overload = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: %[1]s}
webhooks:
- name: overload.intentplane.dev
  admissionReviewVersions: [v1]
  sideEffects: None
  clientConfig: {url: %[2]q, caBundle: %[3]s}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
  rules: [{apiGroups: ["*"], apiVersions: ["*"], operations: [CREATE, UPDATE, DELETE], resources: ["*/*"], scope: Namespaced}]
  matchConditions: [{name: programs, expression: '"system:serviceaccounts" in request.userInfo.groups'}]
`

// refuseWrites makes the API server answer 429 to writes of Crossplane and the provider in the scene's namespace. It returns the number of times that was, and
// a function that ends it.
func refuseWrites(s *scene.Scene) (*atomic.Int64, func()) {
	s.T.Helper()
	refused := &atomic.Int64{}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { refuseReview(w, r, refused) }))
	s.T.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	s.Must(cp.ApplyYAML(s.T.Context(), fmt.Appendf(nil, overload, s.Namespace, server.URL, base64.StdEncoding.EncodeToString(ca))))
	return refused, sync.OnceFunc(func() {
		// The test's own context has ended when this is called at its end.
		if _, err := cp.Kubectl(context.Background(), "delete", "validatingwebhookconfiguration", s.Namespace); err != nil {
			s.T.Error(err)
		}
	})
}

// refuseReview answers as the API server does that has too many requests.
func refuseReview(w http.ResponseWriter, r *http.Request, refused *atomic.Int64) {
	review := admissionv1.AdmissionReview{}
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
		http.Error(w, "this is not a review", http.StatusBadRequest)
		return
	}
	refused.Add(1)
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Result: &metav1.Status{
		Code: http.StatusTooManyRequests, Reason: metav1.StatusReasonTooManyRequests, Message: "too many requests", Details: &metav1.StatusDetails{RetryAfterSeconds: 1},
	}}
	review.Request = nil
	if err := json.NewEncoder(w).Encode(review); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}
