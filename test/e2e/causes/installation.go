package causes

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/apis/advice"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/load"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// patchProviderLease changes the lease of the provider.
func (s *stage) patchProviderLease(change string) {
	s.T.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: controlplane.Namespace, Name: "intentplane-provider"}}
	s.Must(s.Client.Patch(s.T.Context(), lease, client.RawPatch("application/merge-patch+json", []byte(change))))
}

// stopProvider kills the provider, as if that was two minutes ago.
func (s *stage) stopProvider() (start func()) {
	s.T.Helper()
	cp.KillProvider()
	s.patchProviderLease(fmt.Sprintf(`{"spec":{"renewTime":%q}}`, time.Now().UTC().Add(-2*time.Minute).Format(metav1.RFC3339Micro)))
	return s.startProvider
}

// startProvider starts the provider at once: it would wait until the lease of the process before is over.
func (s *stage) startProvider() {
	s.T.Helper()
	s.patchProviderLease(`{"spec":{"holderIdentity":""}}`)
	s.Must(cp.StartProvider(s.T.Context(), controlplane.Program{}))
}

// refreshUntilResponsive does the next step for an open circuit breaker: it waits until the breaker closes, and refreshes the deployment. It repeats both while the
// breaker is open: Crossplane may observe the last of the many writes late, and then the cooldown begins later than this wait.
func (s *stage) refreshUntilResponsive() {
	s.T.Helper()
	composite := s.deployment
	if s.isClaimShape() {
		composite = s.XR(s.Now(s.deployment))
	}
	for end := time.Now().Add(patience.Limit); time.Now().Before(end); {
		<-time.After(cooldown + time.Second)
		s.runPlugin(editor, "refresh", "shop", "--no-wait")
		if s.isResponsiveSoon(composite) {
			return
		}
	}
	s.T.Fatalf("the circuit breaker is open after %s", patience.Limit)
}

// isResponsiveSoon reports whether the composite becomes Responsive within a cooldown.
func (s *stage) isResponsiveSoon(composite *unstructured.Unstructured) bool {
	s.T.Helper()
	for end := time.Now().Add(cooldown); time.Now().Before(end); time.Sleep(pause) {
		if scene.Is(s.Now(composite), "Responsive", corev1.ConditionTrue, "") {
			return true
		}
	}
	return false
}

// homeFlux is in the cluster of the control plane.
var homeFlux = sync.OnceValue(func() error { return cp.StartFlux(context.Background()) })

// removeRoleRule takes the rule about an API group from the ClusterRole that the documentation gives to the provider, and restarts the provider,
// which would continue with its open watches.
func (s *stage) removeRoleRule(group string) (giveBack func()) {
	s.T.Helper()
	role := &rbacv1.ClusterRole{}
	s.Must(s.Client.Get(s.T.Context(), client.ObjectKey{Name: "intentplane:provider"}, role))
	rules := slices.Clone(role.Rules)
	role.Rules = slices.DeleteFunc(role.Rules, func(r rbacv1.PolicyRule) bool { return slices.Contains(r.APIGroups, group) })
	s.Must(s.Client.Update(s.T.Context(), role))
	s.stopProvider()()
	return func() {
		role.Rules = rules
		s.Must(s.Client.Update(s.T.Context(), role))
	}
}

// sharedStories are about the parts that all deployments share.
func sharedStories() map[string]story {
	notComposed := answer{object: "IntentDeployment shop", reason: advice.ReasonNotComposed, actor: advice.PlatformTeam, do: "check the Pods of the function"}
	return map[string]story{
		"FunctionStopped": {
			reason: "Without the function the status is about an earlier spec. An editor cannot read Crossplane's error about the composite of a claim.",
			breaks: func(s *stage) func() {
				s.awaitSucceeded(1)
				s.Must(cp.KillFunctionInCall(s.T.Context(), func() { s.editReplicas(2) }))
				return func() { s.Must(cp.RestartFunction(s.T.Context())) }
			},
			want:            answer{object: "function", reason: advice.ReasonCannotCompose, actor: advice.PlatformTeam, do: "Check the function"},
			early:           notComposed,
			toEditorOfClaim: notComposed,
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
			toEditor: answer{object: "GitDelivery ", reason: advice.ReasonNotReconciled, actor: advice.PlatformTeam, do: "check the provider"},
		},
		"ProviderRightMissing": {
			reason: "A right of the provider that is missing is the cause until the platform team gives it. Flux is in the provider's own cluster here.",
			breaks: func(s *stage) func() {
				s.Must(homeFlux())
				s.selectFluxEngine(s.NewSite("edge1"))
				s.Must(cp.ApplyYAML(s.T.Context(), load.Kustomization(s.Namespace, s.Git.URL(s.Namespace), siteDirectory)))
				giveBack := s.removeRoleRule("kustomize.toolkit.fluxcd.io")
				s.Apply(s.deployment)
				return giveBack
			},
			want: answer{object: "Site ", reason: "ProviderAccessDenied", actor: advice.PlatformTeam, do: "kubectl apply -k examples/rbac"},
		},
	}
}
