package disruption

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/promserver"
	"github.com/intentplane/intentplane/test/scene"
)

// A silence is a fault after which Crossplane does not call the function for a deployment.
type silence struct {
	reason string
	begin  func(s *scene.Scene, deployment *unstructured.Unstructured)
	end    func(s *scene.Scene)
}

// faultsByName are the faults of the stories, by their names.
func faultsByName() map[string]silence {
	restartCore := func(s *scene.Scene) { s.Must(cp.RestartCore(s.T.Context())) }
	return map[string]silence{
		"FunctionKilled": {
			reason: "Without the function a revision whose Gate fails is rolled back.",
			begin:  func(*scene.Scene, *unstructured.Unstructured) { cp.KillFunction() },
			end:    func(s *scene.Scene) { s.Must(cp.RestartFunction(s.T.Context())) },
		},
		"CoreKilled": {
			reason: "Without Crossplane's core a revision whose Gate fails is rolled back.",
			begin:  func(*scene.Scene, *unstructured.Unstructured) { cp.KillCore() },
			end:    restartCore,
		},
		"BreakerOpen": {
			reason: "While the circuit breaker is open a revision whose Gate fails is rolled back.",
			begin:  (*scene.Scene).OpenBreaker,
			end:    restartCore, // Its circuit breakers are closed then.
		},
	}
}

// An orphan is a deployment whose second revision is judged by a Gate with a real Prometheus server.
type orphan struct {
	*scene.Scene

	target *promserver.Target
	// stable is the tree of the first revision.
	stable string
}

// newOrphan delivers and verifies a first revision.
func newOrphan(s *scene.Scene, target *promserver.Target) *orphan {
	s.T.Helper()
	o := &orphan{Scene: s, target: target}
	s.Succeed(o.claimJudged(1, 1))
	o.stable = o.deliveredTree()
	return o
}

// claimJudged describes the claim with a check that measures each second, until it has a count.
func (o *orphan) claimJudged(replicas, count int) *unstructured.Unstructured {
	o.T.Helper()
	check := map[string]any{
		"name": "errors", "type": "Prometheus", "prometheus": map[string]any{"query": `max(error_ratio{job="shop"})`}, "threshold": "<= 0.05",
		"initialDelay": "1s", "interval": "1s", "count": int64(count), "timeout": "5m",
	}
	return o.Set(o.Claim("shop", intentWithReplicas(o.Scene, replicas, "edge1")), []any{check}, "spec", "gatesConfig", "checks")
}

func (o *orphan) deliveredTree() string { return o.Tree(o.Directory("edge1", "shop")) }

// wantRolledBackByMandate waits until the provider rejected revision 2 and restored revision 1, by one commit after some.
func (o *orphan) wantRolledBackByMandate(commits int) {
	o.T.Helper()
	o.AwaitCommits(commits + 1)
	o.WantEqual("the delivered tree", o.stable, o.deliveredTree())
	d := o.AwaitDelivery("of which the ledger has the rollback", func(d *deliveryv1alpha1.GitDelivery) bool {
		l := d.Status.AtProvider.Ledger
		return l != nil && l.IsRejected() && l.Cursor.Attempt == 1
	})
	o.Until("the events of the mandate", patience.Limit, func() bool {
		reasons := o.eventReasons(d)
		return strings.Contains(reasons, "RejectedByMandate") && strings.Contains(reasons, "RolledBackByMandate")
	})
}

// eventReasons are the reasons of the events about a GitDelivery.
func (o *orphan) eventReasons(d *deliveryv1alpha1.GitDelivery) string {
	o.T.Helper()
	l, reasons := &corev1.EventList{}, []string{}
	o.Must(o.Client.List(o.T.Context(), l, client.InNamespace(d.Namespace)))
	for i := range l.Items {
		if l.Items[i].InvolvedObject.UID == d.UID {
			reasons = append(reasons, l.Items[i].Reason)
		}
	}
	return strings.Join(reasons, " ")
}
