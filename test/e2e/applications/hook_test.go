package applications

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// TestHook has commits of an Application of each shape that the provider learns of by a webhook, and by a request to reconcile the Application; and hooks that
// are not signed, sent again, and too large.
func TestHook(t *testing.T) {
	t.Parallel()
	inBothShapes(t, newSourceStage, func(s *sourceStage) {
		s.giveWebhook(hookToken)
		s.Apply(s.app)
		s.awaitRunning(s.first)
		second, body := s.addSourceCommit("2"), []byte(`{"ref":"refs/heads/main"}`)
		if unsigned, forged := s.postWebhook("", body), s.postWebhook(otherToken, body); unsigned != 404 || forged != 404 {
			s.T.Errorf("a hook that is not signed is answered with %d, one with another token with %d", unsigned, forged)
		}
		if got := s.postWebhook(hookToken, body); got != 202 {
			s.T.Fatalf("a signed hook is answered with %d", got)
		}
		s.wantRegistryImage(s.awaitRunning(second))
		builds, answers := len(s.buildsOfApplication()), map[int]int{}
		for range 100 {
			answers[s.postWebhook(hookToken, body)]++
		}
		if answers[202] == 0 || answers[202]+answers[429] != 100 {
			s.T.Errorf("hooks that are sent again are answered with %v", answers)
		}
		if got := s.postWebhook(hookToken, make([]byte, 100<<20)); got != 413 && got != 0 {
			s.T.Errorf("a hook of 100 MB is answered with %d", got)
		}
		third := s.addSourceCommit("3")
		s.Patch(s.app, `{"metadata":{"annotations":{"crossplane.io/reconcile-requested-at":"now"}}}`)
		s.Await(s.composedImageBuild(), "the requested look", func(u *unstructured.Unstructured) bool {
			return scene.Field(u, "status", "atProvider", "lookNow") == "now" && scene.Field(u, "status", "atProvider", "wanted", "commit") == third
		})
		s.awaitRunning(third)
		if got := scene.Number(s.Now(s.app), "status", "deployment", "revision"); got != 3 || len(s.buildsOfApplication()) != builds+1 {
			s.T.Errorf("revision %d after %d Builds: a hook that is sent again builds nothing", got, len(s.buildsOfApplication()))
		}
	})
}

// TestHookAtReplicas sends webhooks to the replica of the provider that does not lead, and to both. It runs before the tests that run beside each other.
func TestHookAtReplicas(t *testing.T) {
	s := newUnbuiltStage(t, namespaced)
	secondReplica := s.startReplicas()
	leader := s.readLeaseHolder()
	s.giveWebhook(hookToken)
	s.Apply(s.app)
	s.awaitWanted(s.first)
	body := []byte(`{"ref":"refs/heads/main"}`)
	if unsigned, forged := s.postWebhookTo(secondReplica, "", body), s.postWebhookTo(secondReplica, otherToken, body); unsigned != 404 || forged != 404 {
		t.Errorf("the other replica answers %d to a hook that is not signed, and %d to one with another token", unsigned, forged)
	}
	if got := s.lastWebhookTime(); got != "" {
		t.Errorf("a hook that is refused is recorded at %s", got)
	}
	for i, address := range []string{secondReplica, hookAddress, secondReplica} {
		commit := s.addSourceCommit(string(rune('2' + i)))
		if got := s.postWebhookTo(address, hookToken, body); got != 202 {
			t.Fatalf("the replica at %s answers a signed hook with %d", address, got)
		}
		s.awaitWanted(commit)
	}
	if records, maximum := s.countRecords([]string{secondReplica, hookAddress}, body); records == 0 || records > maximum {
		t.Errorf("hooks to both replicas are recorded %d times, want at most %d", records, maximum)
	}
	if now := s.readLeaseHolder(); now != leader {
		t.Errorf("replica %s led when the test began, and %s when it ended", leader, now)
	}
}
