package applications

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/kpack"
	"github.com/intentplane/intentplane/test/patience"
)

// maxTokens is the figure's limit of the tokens of Crossplane's circuit breaker that an Application costs from apply to Running, of the 100 that there are at first.
const maxTokens = 80

// quiet is for how long no token may be spent before the tokens are counted.
const quiet = 10 * time.Second

// tokensSpent returns how many tokens the composites of Applications spent that have the shape of this one: a namespaced one is the composite itself, and a claim
// has one behind it, which pays.
func (s *stage) tokensSpent() float64 {
	s.T.Helper()
	m, err := s.CoreMetrics(s.T.Context())
	s.requireNoError(err)
	controller := "composite/applications.intentplane.dev"
	if s.app.GetAPIVersion() == claims {
		controller = "composite/xapplications.claims.intentplane.dev"
	}
	return m.Sum("circuit_breaker_events_total", map[string]string{"result": "Allowed", "controller": controller})
}

// maxCommitTokens is the figure's limit of the tokens that the next commit costs. The benchmark measures the goal, which is 45: on a busy machine the API server refuses
// a write now and then, and the controller repeats it.
const maxCommitTokens = 55

// settledTokens returns how many tokens the Applications spent, once they spend no more.
func (s *stage) settledTokens() float64 {
	s.T.Helper()
	tokens, quietSince := s.tokensSpent(), time.Now()
	s.Until("no token is spent", patience.Limit, func() bool {
		if now := s.tokensSpent(); now != tokens {
			tokens, quietSince = now, time.Now()
		}
		return time.Since(quietSince) > quiet
	})
	return tokens
}

// logCommitTimes pushes a commit with a webhook, and says how long each step takes until it is Running.
func (s *sourceStage) logCommitTimes() {
	s.T.Helper()
	hold := make(chan struct{})
	s.kpack.Plan(s.Namespace, kpack.Play{Held: hold})
	second, began := s.addSourceCommit("2"), time.Now()
	if got := s.postWebhook(hookToken, []byte("{}")); got != 202 {
		s.T.Fatalf("a signed hook is answered with %d", got)
	}
	build, commits := s.kpackObject("Build", "shop-build-2"), len(s.Commits())
	s.Await(build, "made", func(*unstructured.Unstructured) bool { return true })
	s.T.Logf("push_to_build_s: %.2f", time.Since(began).Seconds())
	close(hold)
	s.Await(build, "succeeded", func(u *unstructured.Unstructured) bool { return fieldOfCondition(u, "Succeeded", "status") == "True" })
	began = time.Now()
	s.Until("the image is in Git", patience.Limit, func() bool { return len(s.Commits()) > commits })
	s.T.Logf("image_to_commit_ms: %d", time.Since(began).Milliseconds())
	image := s.awaitVerifiedImage(second)
	s.reportPodsByRef(image, readyStatus(corev1.ConditionTrue))
	began = time.Now()
	s.awaitRunning(second)
	s.T.Logf("pod_to_running_s: %.2f", time.Since(began).Seconds())
}
