package applications

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/kpack"
	"github.com/intentplane/intentplane/test/scene"
)

// TestTokens counts what the first image costs the Application itself. It runs before the tests that run beside each other.
func TestTokens(t *testing.T) {
	s := newStage(t, namespaced)
	before := s.tokensSpent()
	s.Apply(s.app)
	s.awaitDeployed(1)
	s.servePods(1)
	s.awaitReached("Running", 1)
	after := s.settledTokens()
	m, err := s.CoreMetrics(t.Context())
	s.must(err)
	t.Logf("application_tokens_first: %v tokens, all composites together %v", after-before, m.Sum("circuit_breaker_events_total", map[string]string{"result": "Allowed"}))
	if spent := after - before; spent == 0 || spent > maxTokens {
		t.Errorf("the first image costs %v tokens, want 1 to %d", spent, maxTokens)
	}
	if opened := m.Sum("circuit_breaker_opens_total", nil); opened > 0 {
		t.Errorf("the circuit breaker opened %v times", opened)
	}
}

// TestCommitTokens counts what a commit costs the Application itself, and says how long its steps take. It runs before the tests that run beside each other.
func TestCommitTokens(t *testing.T) {
	s := newSourceStage(t, namespaced)
	s.giveWebhook()
	s.Apply(s.app)
	s.awaitRunning(s.first)
	before := s.settledTokens()
	held := make(chan struct{})
	s.kpack.Plan(s.Namespace, kpack.Play{Held: held})
	second, began := s.addCommit("2"), time.Now()
	if got := s.postHook(hookToken, []byte("{}")); got != 202 {
		t.Fatalf("a signed hook is answered with %d", got)
	}
	build, commits := s.kpackObject("Build", "shop-build-2"), len(s.Commits())
	s.Await(build, "made", func(*unstructured.Unstructured) bool { return true })
	t.Logf("push_to_build_s: %.2f", time.Since(began).Seconds())
	close(held)
	s.Await(build, "succeeded", func(u *unstructured.Unstructured) bool { return fieldOfCondition(u, "Succeeded", "status") == "True" })
	began = time.Now()
	s.Until("the image is in Git", scene.Patience, func() bool { return len(s.Commits()) > commits })
	t.Logf("image_to_commit_ms: %d", time.Since(began).Milliseconds())
	image := s.awaitBuilt(second)
	s.reportOf(image, readyStatus(corev1.ConditionTrue))
	began = time.Now()
	s.awaitRunning(second)
	t.Logf("pod_to_running_s: %.2f", time.Since(began).Seconds())
	spent := s.settledTokens() - before
	t.Logf("application_tokens_commit: %v", spent)
	if spent == 0 || spent > maxCommitTokens {
		t.Errorf("a commit costs %v tokens, want 1 to %d", spent, maxCommitTokens)
	}
}
