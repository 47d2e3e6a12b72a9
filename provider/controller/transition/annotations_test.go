package transition

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

func TestExplainEvent(t *testing.T) {
	request := &rolloutv1alpha1.RolloutRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "again", UID: "u1"},
		Spec:       rolloutv1alpha1.RolloutRequestSpec{RequestedBy: "ann\u202e"},
	}
	replaced := request.DeepCopy()
	replaced.SetUID("u2")
	first, second := map[string]string{AnnotationRevision: "2"}, map[string]string{
		AnnotationRevision: "2", AnnotationReason: deploymentv1alpha1.ReasonLedgerUnreachable, AnnotationMessage: "git.example.org: 401",
		AnnotationCommit:  "8d21c0e4",
		AnnotationRequest: "again", AnnotationRequestedBy: "ann",
	}
	unnamed := map[string]string{}
	for name, value := range second {
		if name != AnnotationRequestedBy {
			unnamed[name] = value
		}
	}
	cases := map[string]struct {
		reason   string
		requests []client.Object
		edit     func(*deploymentv1alpha1.IntentDeploymentStatus)
		want     []map[string]string
		// says is the message of the last event.
		says string
	}{
		"All": {
			reason:   "The event for the last change says why, and who asked.",
			requests: []client.Object{request.DeepCopy()}, want: []map[string]string{first, second},
			says: "Transitioned from Pending to Delivering: git.example.org: 401",
		},
		"Gone": {
			reason: "A RolloutRequest that is gone is named without its user.",
			want:   []map[string]string{first, unnamed}, says: "Transitioned from Pending to Delivering: git.example.org: 401",
		},
		"Replaced": {
			reason:   "The user of another RolloutRequest of the name did not ask for the revision.",
			requests: []client.Object{replaced}, want: []map[string]string{first, unnamed},
			says: "Transitioned from Pending to Delivering: git.example.org: 401",
		},
		"Other": {
			reason: "The status of another phase is not on the event.",
			edit:   func(s *deploymentv1alpha1.IntentDeploymentStatus) { s.Phase = deploymentv1alpha1.PhaseValidating },
			want:   []map[string]string{first, first}, says: "Transitioned from Pending to Delivering",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newTestEnv(t)
			for _, o := range tc.requests {
				if err := w.kube.Create(t.Context(), o); err != nil {
					t.Fatal(err)
				}
			}
			w.moveTo(2, deploymentv1alpha1.PhasePending, deploymentv1alpha1.PhaseDelivering)
			w.status.Phase, w.status.Message, w.status.Delivery.GitCommit = deploymentv1alpha1.PhaseDelivering, "git.example.org: 401", "8d21c0e4"
			w.status.Requests = []deploymentv1alpha1.RequestStatus{{Name: "again", UID: "u1", Result: string(rolloutv1alpha1.ResultTaken)}}
			w.recorded, w.isReconciling = deploymentv1alpha1.ReasonLedgerUnreachable, true
			if tc.edit != nil {
				tc.edit(&w.status)
			}
			w.mustReconcile()
			l := &corev1.EventList{}
			if err := w.kube.List(t.Context(), l); err != nil {
				t.Fatal(err)
			}
			got := map[string]map[string]string{}
			for _, e := range l.Items {
				got[e.Message] = e.Annotations
			}
			want := map[string]map[string]string{"Transitioned to Pending": tc.want[0], tc.says: tc.want[1]}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\nannotations: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
