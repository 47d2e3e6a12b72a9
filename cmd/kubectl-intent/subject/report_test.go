package subject

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
)

func TestReportEncoded(t *testing.T) {
	const head = `{"apiVersion": "intentplane.dev/v1alpha1", "kind": "IntentDeployment", "metadata": {"namespace": "team-a", "name": "shop"}, "status": {"phase": "Delivering", "conditions": [`
	ready, going, stuck := `{"type": "Ready", "status": "False", "reason": "Waiting"}`, `{"type": "Reconciling", "status": "True", "reason": "Delivering"}`, `{"type": "Stalled", "status": "True", "reason": "DeliveryBlocked"}`
	cases := map[string]struct {
		reason string
		object string
		want   string
	}{
		"Stalled": {
			reason: "The reason of an object that is stalled is why it does not go on.",
			object: head + ready + "," + going + "," + stuck + "]}}", want: "IntentDeployment team-a/shop: Delivering (DeliveryBlocked)",
		},
		"Going": {
			reason: "The reason of an object that goes on is its current action.",
			object: head + ready + "," + going + "]}}", want: "IntentDeployment team-a/shop: Delivering (Delivering)",
		},
		"Ready": {
			reason: "The reason of any other object is that of its condition Ready.",
			object: head + ready + "]}}", want: "IntentDeployment team-a/shop: Delivering (Waiting)",
		},
		"Silent": {reason: "An object without conditions has a phase alone.", object: head + "]}}", want: "IntentDeployment team-a/shop: Delivering"},
		"None":   {reason: "An object that was never read is not named.", object: "", want: ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ReportEncoded([]byte(tc.object)).Line()); diff != "" {
				t.Errorf("\n%s\nReportEncoded(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestReports names the found objects with the reason in their status.
func TestReports(t *testing.T) {
	found := &cluster.Subjects{Deployments: []*cause.Facts{samples.WrongPassword().Facts()}}
	want := []string{"IntentDeployment team-a/shop: Delivering (AuthFailed)"}
	if diff := cmp.Diff(want, Lines(Reports(found, samples.Now())...)); diff != "" {
		t.Errorf("A deployment that is blocked has the reason of its delivery: -want, +got:\n%s", diff)
	}
}
