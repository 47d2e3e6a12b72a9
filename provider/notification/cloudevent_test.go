package notification

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

func notificationOf(result deploymentv1alpha1.Outcome) *Notification {
	return &Notification{
		Outcome: Outcome{
			Result: result, Index: 9, Epoch: 1, Revision: 6, LiveRevision: 5, At: metav1.NewTime(clock()), Reason: "GateFailed",
			Message: "latency_p99 is 812ms.", Commit: "8d21c0e5f77a90c31a7fe11b9e02d5f77a90c31a", Sites: []string{"edge1", "edge2"},
		},
		Deployment: Deployment{APIVersion: "intentplane.dev/v1alpha1", Kind: "IntentDeployment", Namespace: "team-a", Name: "shop", UID: "u1"},
	}
}

// TestNewCloudEvent compares the whole body with the formats of CloudEvents 1.0 and CDEvents 0.5.1.
func TestNewCloudEvent(t *testing.T) {
	b, err := newCloudEvent(notificationOf(deploymentv1alpha1.OutcomeRolledBack), "fleet one")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	const id, source, typ, timestamp = "u1.1.6.RolledBack", "/intentplane/fleet%20one", "dev.cdevents.service.rolledback.0.3.0", "2031-12-17T13:00:00Z"
	want := map[string]any{
		"specversion": "1.0", "id": id, "source": source, "type": typ, "subject": "intentplane.dev/team-a/shop", "time": timestamp,
		"datacontenttype": "application/json",
		"data": map[string]any{
			"context": map[string]any{"specversion": "0.5.1", "id": id, "source": source, "type": typ, "timestamp": timestamp},
			"subject": map[string]any{
				"id": "intentplane.dev/team-a/shop", "source": source,
				"content": map[string]any{"environment": map[string]any{"id": "fleet one"}, "artifactId": "pkg:generic/team-a/shop@5"},
			},
			"customData": map[string]any{
				"deployment": map[string]any{"apiVersion": "intentplane.dev/v1alpha1", "kind": "IntentDeployment", "namespace": "team-a", "name": "shop", "uid": "u1"},
				"outcome":    "RolledBack", "epoch": 1.0, "revision": 6.0, "liveRevision": 5.0, "reason": "GateFailed", "message": "latency_p99 is 812ms.",
				"commit": "8d21c0e5f77a90c31a7fe11b9e02d5f77a90c31a", "sites": []any{"edge1", "edge2"},
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("newCloudEvent(...): -want, +got:\n%s", diff)
	}
}

func TestEventType(t *testing.T) {
	cases := map[string]struct {
		reason  string
		outcome Outcome
		want    string
	}{
		"Deployed": {
			reason:  "The first revision that is verified is deployed.",
			outcome: Outcome{Result: deploymentv1alpha1.OutcomeSucceeded, IsFirst: true}, want: "dev.cdevents.service.deployed.0.3.0",
		},
		"Upgraded": {
			reason:  "A later revision that is verified is an upgrade.",
			outcome: Outcome{Result: deploymentv1alpha1.OutcomeSucceeded}, want: "dev.cdevents.service.upgraded.0.3.0",
		},
		"RolledBack": {
			reason:  "A rollback has its own type.",
			outcome: Outcome{Result: deploymentv1alpha1.OutcomeRolledBack}, want: "dev.cdevents.service.rolledback.0.3.0",
		},
		"Failed": {
			reason:  "A failure has a custom type, which CDEvents reserves names for.",
			outcome: Outcome{Result: deploymentv1alpha1.OutcomeFailed}, want: "dev.cdeventsx.intentplane-service.failed.0.1.0",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.outcome.cloudEventType()); diff != "" {
				t.Errorf("\n%s\neventType(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestArtifactID(t *testing.T) {
	cases := map[string]struct {
		reason  string
		outcome Outcome
		want    string
	}{
		"Verified": {
			reason:  "A revision that was verified runs.",
			outcome: Outcome{Result: deploymentv1alpha1.OutcomeSucceeded, Revision: 6, LiveRevision: 6}, want: "pkg:generic/team-a/shop@6",
		},
		"RolledBack": {
			reason:  "After a rollback the earlier revision runs.",
			outcome: Outcome{Result: deploymentv1alpha1.OutcomeRolledBack, Revision: 6, LiveRevision: 5}, want: "pkg:generic/team-a/shop@5",
		},
		"Unknown": {
			reason:  "If the running revision is unknown, the event names the revision that ended.",
			outcome: Outcome{Result: deploymentv1alpha1.OutcomeRolledBack, Revision: 6}, want: "pkg:generic/team-a/shop@6",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.outcome.artifactPackageURL(Deployment{Namespace: "team-a", Name: "shop"})); diff != "" {
				t.Errorf("\n%s\nartifactID(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
