package causes

import (
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/advice"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
)

// writesInRow are writes of an object between two looks at the circuit breaker.
const writesInRow = 20

// openBreaker writes a composed object so often that Crossplane's circuit breaker opens.
func (s *stage) openBreaker() {
	s.T.Helper()
	o := s.DeliveryNamed(s.Delivery().GetName())
	written := 0
	s.Until("the circuit breaker opens", scene.Patience, func() bool {
		written = s.writeInRow(o, written)
		return scene.Is(s.Now(s.deployment), "Responsive", corev1.ConditionFalse, "")
	})
}

// writeInRow writes an object some times more, and returns how often it has been written.
func (s *stage) writeInRow(o *unstructured.Unstructured, written int) int {
	for range writesInRow {
		written++
		s.Patch(o, fmt.Sprintf(`{"metadata":{"annotations":{"example.org/written":"%d"}}}`, written))
	}
	return written
}

// patchLease changes the lease of the provider.
func (s *stage) patchLease(change string) {
	s.T.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: controlplane.Namespace, Name: "intentplane-provider"}}
	s.Must(s.Client.Patch(s.T.Context(), lease, client.RawPatch("application/merge-patch+json", []byte(change))))
}

// stopProvider kills the provider, as if that was two minutes ago.
func (s *stage) stopProvider() (start func()) {
	s.T.Helper()
	cp.KillProvider()
	s.patchLease(fmt.Sprintf(`{"spec":{"renewTime":%q}}`, time.Now().UTC().Add(-2*time.Minute).Format(metav1.RFC3339Micro)))
	return s.startProvider
}

// startProvider starts the provider at once: it would wait until the lease of the process before is over.
func (s *stage) startProvider() {
	s.T.Helper()
	s.patchLease(`{"spec":{"holderIdentity":""}}`)
	s.Must(cp.StartProvider(s.T.Context(), controlplane.Program{}))
}

// sharedStories are of what all deployments share.
func sharedStories() map[string]story {
	return map[string]story{
		"FunctionStopped": {
			reason: "A function that does not answer leaves the status behind the spec until the platform team starts it. Crossplane waits for two minutes before it says so.",
			breaks: func(s *stage) func() {
				s.awaitSucceeded(1)
				cp.KillFunction()
				s.editReplicas(2)
				return func() { s.Must(cp.RestartFunction(s.T.Context())) }
			},
			want: answer{object: "IntentDeployment shop", reason: advice.ReasonNotComposed, actor: advice.PlatformTeam, do: "look at the Pods of the function"},
		},
		"ProviderStopped": {
			reason: "A provider that does not renew its lease is the cause until the platform team starts it. A user with the role edit reads no leases.",
			breaks: func(s *stage) func() {
				s.awaitSucceeded(1)
				start := s.stopProvider()
				s.editReplicas(2)
				return start
			},
			want:     answer{object: "GitDelivery ", reason: advice.ReasonProviderStopped, actor: advice.PlatformTeam, do: "Start the provider"},
			toEditor: answer{object: "GitDelivery ", reason: advice.ReasonNotReconciled, actor: advice.PlatformTeam, do: "look at the provider"},
		},
	}
}
