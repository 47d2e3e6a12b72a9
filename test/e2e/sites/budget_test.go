package sites

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/figure"
	"github.com/intentplane/intentplane/test/scene"
)

// TestBreakerBudget runs alone: the figure is that of all composites. A deployment exists before: the first one of a control plane makes
// Crossplane watch Sites, Blueprints and configurations, which costs one more for each that it names.
func TestBreakerBudget(t *testing.T) {
	names := []string{}
	for i := range tenSites {
		names = append(names, fmt.Sprintf("edge%d", i))
	}
	s := newManySites(t, names...)
	s.AddSite("near")
	s.Succeed(s.Claim("first", s.intentForSites("first", 1, "near")))
	awaitSettled(s)
	claim := s.Claim("shop", s.intentForSites("shop", 1, names...))
	baseline, droppedBefore := tokensSpent(t)
	s.Apply(claim)
	s.Await(claim, "delivered", func(u *unstructured.Unstructured) bool {
		return scene.Is(u, "Delivered", corev1.ConditionTrue, "Delivered")
	})
	ticker := time.NewTicker(stagger)
	defer ticker.Stop()
	for _, name := range names {
		<-ticker.C
		s.suspendEngine(name, false)
	}
	s.Succeed(claim)
	final, dropped := tokensSpent(t)
	figure.Check(t, fmt.Sprintf("tokens_of_%d_sites_in_turn", tenSites), final-baseline, budget)
	if dropped != droppedBefore {
		t.Errorf("the circuit breaker opened, and dropped %v events", dropped-droppedBefore)
	}
}
