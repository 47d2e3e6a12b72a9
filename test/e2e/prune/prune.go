package prune

import (
	"strings"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
)

// wantChanged waits until a request says that its plan changed, and why.
func (s *stage) wantChanged(name, message string) {
	s.T.Helper()
	r := s.awaitFinalPhase(name, v1alpha1.PhasePlanChanged)
	if c := r.Status.GetCondition(v1alpha1.TypeCompleted); !strings.Contains(c.Message, message) {
		s.T.Errorf("PruneRequest %s: want %q in: %s", name, message, c.Message)
	}
	if n := s.pruneCommits(); n != 0 {
		s.T.Errorf("a plan that changed makes no commit: got %d", n)
	}
}
