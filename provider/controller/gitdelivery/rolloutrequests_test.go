package gitdelivery

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kubefake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/usage"
	"github.com/intentplane/intentplane/test/cacheclient"
)

// TestRequestsForRollout wakes the home with a mandate.
func TestRequestsForRollout(t *testing.T) {
	b := cacheclient.Indexer{ClientBuilder: kubefake.NewClientBuilder().WithScheme(scheme(t))}
	for name, m := range map[string]*v1alpha1.Mandate{"mandated": {}, "plain": nil} {
		d := newHome(name)
		d.Spec.ForProvider.Mandate = m
		b.WithObjects(d)
	}
	if err := usage.Index(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	w := waker{kube: b.Build(), log: logging.NewNopLogger()}
	otherRequest := rolloutRequest("other", rolloutv1alpha1.ActionAbort)
	otherRequest.Spec.DeploymentRef.Kind = "Application"
	elsewhere := rolloutRequest("elsewhere", rolloutv1alpha1.ActionAbort)
	elsewhere.Namespace = "team-b"
	cases := map[string]struct {
		reason  string
		request *rolloutv1alpha1.RolloutRequest
		want    []string
	}{
		"Deployment": {
			reason:  "A request requeues the home of its deployment.",
			request: rolloutRequest("abort", rolloutv1alpha1.ActionAbort), want: []string{"mandated"},
		},
		"Kind":      {reason: "A request about another kind requeues no home.", request: otherRequest},
		"Namespace": {reason: "A request of another namespace requeues no home.", request: elsewhere},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range w.requestsForRollout(t.Context(), tc.request) {
				got = append(got, r.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nrequestsForRollout(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	done := rolloutRequest("done", rolloutv1alpha1.ActionAbort)
	done.Status.SetConditions(xpv2.Condition{Type: rolloutv1alpha1.TypeCompleted, Status: corev1.ConditionTrue, Reason: "Done"})
	if wasAsked().Create(event.CreateEvent{Object: done}) || !wasAsked().Create(event.CreateEvent{Object: otherRequest}) {
		t.Error("\nAn open request requeues the home, and a closed request does not.")
	}
	if w.requestsForRollout(t.Context(), site("edge1")) != nil {
		t.Error("\nAn object of another kind wakes no home.")
	}
}
