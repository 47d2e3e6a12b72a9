package disruption

import (
	"sync"
	"testing"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/gitserver"
	"github.com/intentplane/intentplane/test/scene"
)

func startProvider(t *testing.T, args ...string) {
	t.Helper()
	if err := cp.StartProvider(t.Context(), controlplane.Program{Args: args}); err != nil {
		t.Fatal(err)
	}
}

// dieAfterPush kills the provider once a push has added a commit, while the server still delays its response: nothing in the cluster can see it. The returned
// function waits for that.
func dieAfterPush(s *scene.Scene) func() {
	s.T.Helper()
	tip := func() (string, error) {
		// The scene's own way to look may end the test, which only the test itself may do.
		log, err := s.Git.Log(s.T.Context(), s.Namespace, gitserver.Branch)
		if err != nil || len(log) == 0 {
			return "", err
		}
		return log[0].ID, nil
	}
	previous, err := tip()
	s.Must(err)
	dead := make(chan struct{})
	die := sync.OnceFunc(func() {
		cp.KillProvider()
		close(dead)
	})
	s.Git.AfterPush(s.Namespace, func() {
		// The first state of a repository is pushed alone, before any commit of the branch.
		if now, err := tip(); err == nil && now != previous {
			die()
		}
	})
	return func() {
		s.T.Helper()
		ctx, cancel := s.Context()
		defer cancel()
		select {
		case <-dead:
		case <-ctx.Done():
			s.T.Fatal("the provider pushed nothing that it could die of")
		}
		s.Git.AfterPush(s.Namespace, nil)
	}
}
