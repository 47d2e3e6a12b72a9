package request

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// TestAwaitLooks waits until each object of the provider has answered the request.
func TestAwaitLooks(t *testing.T) {
	answered := func(delivery, sync, gate string) *cluster.Subjects {
		f := samples.WrongPassword().Facts()
		f.Gates = []rolloutv1alpha1.Gate{{}}
		f.Gates[0].Name, f.Gates[0].Status.LastHandledReconcileAt = "shop-gate", gate
		f.Deliveries[0].Status.LastHandledReconcileAt, f.Syncs[0].Status.LastHandledReconcileAt = delivery, sync
		return &cluster.Subjects{Deployments: []*cause.Facts{f}}
	}
	workload := func(m *clusterv1alpha1.ManagedCluster) *cluster.Subjects {
		f := &cause.ClusterFacts{Managed: m}
		f.Cluster.Metadata.Name = "prod"
		return &cluster.Subjects{Clusters: []*cause.ClusterFacts{f}}
	}
	managed := func(token string) *clusterv1alpha1.ManagedCluster {
		m := &clusterv1alpha1.ManagedCluster{}
		m.Name, m.Status.LastHandledReconcileAt = "prod-x", token
		return m
	}
	blind := samples.WrongPassword().Facts()
	blind.Deliveries, blind.Unread = nil, []cause.Unread{{Object: "gitdeliveries.delivery.intentplane.dev", Reason: "the user may not read them"}}
	cases := map[string]struct {
		reason string
		looks  []*cluster.Subjects
		isSlow bool
		says   string
		code   int
	}{
		"Answered": {
			reason: "Each answer is printed once, when the provider has looked.",
			looks: []*cluster.Subjects{
				answered("", "", ""), answered("before", "before", "before"), answered("now", "before", ""), answered("now", "now", ""),
				answered("now", "now", "now"),
			},
			says: "GitDelivery shop-fleet: AuthFailed: git.example.org: 401 Unauthorized\nSiteSync shop-sites: Waiting: The tree is not in the " +
				"repository.\nGate shop-gate: Unknown\n",
		},
		"Cluster": {
			reason: "A WorkloadCluster is answered by its ManagedCluster.", looks: []*cluster.Subjects{workload(managed("before")), workload(managed("now"))},
			says: "ManagedCluster prod-x: Unknown\n",
		},
		"NoManaged": {
			reason: "A WorkloadCluster without a ManagedCluster is not waited for.", looks: []*cluster.Subjects{workload(nil)},
			says: "prod was asked to reconcile: no ManagedCluster shows the result\n",
		},
		"Blind": {
			reason: "A user who may not read GitDeliveries does not wait, and sees the reason.", looks: []*cluster.Subjects{{Deployments: []*cause.Facts{blind}}},
			says: "shop was asked to reconcile: no GitDelivery shows the result\nnot read: gitdeliveries.delivery.intentplane.dev: the user may not read them\n",
		},
		"Never": {
			reason: "A provider that does not look ends the wait, with an exit code of its own.",
			looks:  []*cluster.Subjects{answered("before", "before", "")}, isSlow: true, code: terminal.ExitTimedOut,
		},
		"NoGate": {
			reason: "A Gate that has not answered is waited for.",
			looks:  []*cluster.Subjects{answered("now", "now", "before")}, isSlow: true, code: terminal.ExitTimedOut,
			says: "GitDelivery shop-fleet: AuthFailed: git.example.org: 401 Unauthorized\nSiteSync shop-sites: Waiting: The tree is not in the repository.\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			n, out := 0, &strings.Builder{}
			r := &refresher{token: "now", interval: time.Millisecond, answered: map[string]bool{}, print: func(lines []string) error { return (&terminal.Streams{Out: out}).PrintLines(lines) }}
			r.look = func(context.Context) (*cluster.Subjects, error) {
				now := tc.looks[min(n, len(tc.looks)-1)]
				if n++; n > 20 || tc.isSlow && n > 3 {
					cancel()
				}
				return now, nil
			}
			code := terminal.ExitCode(r.awaitReconciles(ctx), &strings.Builder{})
			lines := &strings.Builder{}
			for _, a := range r.report.Answers {
				lines.WriteString(a.answerLine() + "\n")
			}
			if len(r.report.Answers) > 0 && lines.String() != tc.says {
				t.Errorf("\n%s\nthe report for a program has the answers %+v", tc.reason, r.report.Answers)
			}
			if diff := cmp.Diff(tc.says, out.String()); diff != "" || code != tc.code {
				t.Errorf("\n%s\nawaitLooks(...): exit code %d, want %d; -want, +got:\n%s", tc.reason, code, tc.code, diff)
			}
		})
	}
}
