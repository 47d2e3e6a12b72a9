package sites

import (
	"fmt"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/soak"
)

// outageLength is the duration of the Prometheus server's outage during a Gate: longer than the timeout of the Gate's check.
func outageLength() time.Duration {
	if soak.Long() {
		return 5 * time.Minute
	}
	return 40 * time.Second
}

// claimJudged describes a claim with a name, judged by so many measurements a second apart within a timeout, with the default limits of errors.
func (r *trial) claimJudged(name string, replicas, count int, timeout string) *unstructured.Unstructured {
	r.T.Helper()
	check := map[string]any{
		"name": "errors", "type": "Prometheus", "prometheus": map[string]any{"query": `max(error_ratio{job="shop"})`}, "threshold": "<= 0.05",
		"initialDelay": "1s", "interval": "1s", "count": int64(count), "timeout": timeout,
	}
	return r.Set(r.Claim(name, r.intentForSites(name, replicas, "edge1")), []any{check}, "spec", "gatesConfig", "checks")
}

// gateOfRevision returns the Gate of a revision of a claim, or nil.
func (s *stage) gateOfRevision(claim string, revision int64) *rolloutv1alpha1.Gate {
	s.T.Helper()
	l := &unstructured.UnstructuredList{}
	l.SetGroupVersionKind(rolloutv1alpha1.GroupVersion.WithKind("GateList"))
	s.Must(s.Client.List(s.T.Context(), l, client.InNamespace(s.Namespace)))
	for _, o := range l.Items {
		g := &rolloutv1alpha1.Gate{}
		s.Must(runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, g))
		if parameters := g.Spec.ForProvider; parameters.ClaimRef.Name == claim && parameters.AskedPosition().Revision == revision {
			return g
		}
	}
	return nil
}

// awaitUnavailable waits until the Gate of a revision reports that its metrics backend is unavailable, and returns the start of the outage as the first check
// has it.
func (r *trial) awaitUnavailable(claim string, revision int64) *metav1.Time {
	r.T.Helper()
	var start *metav1.Time
	r.Until(fmt.Sprintf("the Gate of revision %d says MetricsUnavailable", revision), patience.Limit, func() bool {
		g := r.gateOfRevision(claim, revision)
		if g == nil || g.GetCondition(xpv2.TypeReady).Reason != "MetricsUnavailable" || len(g.Status.AtProvider.Checks) == 0 {
			return false
		}
		start = g.Status.AtProvider.Checks[0].UnavailableSince
		return start != nil
	})
	return start
}

// gateReadyReason is the reason of Ready of the Gate of a revision.
func (s *stage) gateReadyReason(claim string, revision int64) string {
	s.T.Helper()
	if g := s.gateOfRevision(claim, revision); g != nil {
		return string(g.GetCondition(xpv2.TypeReady).Reason)
	}
	return ""
}
