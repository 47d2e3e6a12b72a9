package disruption

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
	"github.com/intentplane/intentplane/test/soak"
)

// TestKillProvider kills the provider at each critical moment, and starts it again.
func TestKillProvider(t *testing.T) {
	rounds, random := soak.Random(t, 10, 50)
	f := newFleet(scene.New(t, cp, "edge1"), 4)
	f.awaitAllOrders()
	var next []moment
	for round := range rounds {
		if len(next) == 0 {
			next = randomMoments(random)
			random.Shuffle(len(next), func(i, j int) { next[i], next[j] = next[j], next[i] })
		}
		began := time.Now()
		f.killMeanwhile(next[0])
		t.Logf("round %d: %s, %s", round+1, next[0].name, time.Since(began).Round(time.Millisecond))
		next = next[1:]
		if f.wantEachCommitOnce(); t.Failed() {
			return
		}
	}
}

// TestProviderNotResponding edits a deployment of each shape while no provider runs, and starts one.
func TestProviderNotResponding(t *testing.T) {
	ctx := t.Context()
	if err := cp.RestartFunction(ctx, "--provider-timeout=5s"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cp.RestartFunction(context.Background()); err != nil {
			t.Error(err)
		}
	})
	s := scene.New(t, cp, "edge1")
	bank := func(replicas int) string {
		return strings.Replace(intentWithReplicas(s, replicas, "edge1"), "shop", "bank", 1)
	}
	all := []*unstructured.Unstructured{s.Claim("shop", intentWithReplicas(s, 1, "edge1")), s.Composite("bank", bank(1))}
	for _, o := range all {
		s.Succeed(o)
	}
	cp.KillProvider()
	s.Apply(s.Set(all[0], intentWithReplicas(s, 2, "edge1"), "spec", "intent"))
	s.Apply(s.Set(all[1], bank(2), "spec", "intent"))
	for _, o := range all {
		s.Await(o, "the provider does not respond", func(u *unstructured.Unstructured) bool {
			return scene.Is(u, "Delivered", corev1.ConditionFalse, "ProviderNotResponding") && scene.Is(u, "Reconciling", corev1.ConditionTrue, "ProviderNotResponding") &&
				scene.Is(u, "Ready", corev1.ConditionFalse, "")
		})
	}
	if err := cp.StartProvider(ctx, controlplane.Program{}); err != nil {
		t.Fatal(err)
	}
	for _, o := range all {
		s.Succeed(o)
	}
}
