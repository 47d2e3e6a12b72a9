package bundles

import (
	"context"
	"os/exec"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/bundles/state"
)

// prune runs kubectl-intent prune in the namespace of the stage, and returns what it prints on either stream, and its exit code.
func (s *stage) prune(args ...string) (string, int) {
	s.T.Helper()
	all := slices.Concat([]string{"prune"}, args, []string{"--min-age", "0s", "--namespace", s.Namespace, "--kubeconfig", cp.Kubeconfig})
	c := exec.CommandContext(context.WithoutCancel(s.T.Context()), s.Built("kubectl-intent"), all...)
	out, err := c.CombinedOutput()
	if exit := (&exec.ExitError{}); err != nil && !errors.As(err, &exit) {
		s.T.Fatal(err)
	}
	return string(out), c.ProcessState.ExitCode()
}

// wants compares what a call of prune says, and its exit code.
func (s *stage) wants(code int, says string, args ...string) string {
	s.T.Helper()
	out, got := s.prune(args...)
	if got != code || !strings.Contains(out, says) {
		s.T.Errorf("prune %v: exit code %d, want %d and %q:\n%s", args, got, code, says, out)
	}
	return out
}

// pruneLeft lets two packages leave a Bundle, and one of them come back between the plan and its confirmation.
func (s *stage) pruneLeft(apiVersion, other, record string) {
	s.T.Helper()
	s.reaches(s.bundle(apiVersion, "platform", "1", s.pkg("front", "1.0", 1, "middle"), s.pkg("middle", "1.0", 1), s.pkg("own", "1.0", 1)), "Succeeded")
	s.reaches(s.bundle(other, "other", "1", s.pkg("beside", "1.0", 1)), "Succeeded")
	s.wants(0, "0 packages to prune, 0 to keep", record, "--confirm")
	u := s.reaches(s.bundle(apiVersion, "platform", "2", s.pkg("own", "1.0", 1)), "Succeeded")
	s.says(u, "front", "unreferenced Unreferenced")
	s.says(u, "middle", "unreferenced Unreferenced")
	s.recorded(record, state.Success, "own success 1.0", "middle unreferenced 1.0", "front unreferenced 1.0")
	s.wants(1, "NotInPlan", record, "--only", "own", "--dry-run")
	s.wants(0, "0 packages to prune", recordOf(s.bundle(other, "other", "1")), "--dry-run")
	plan := s.wants(0, "2 packages to prune, 0 to keep", record, "--dry-run")
	_, digest, _ := strings.Cut(strings.TrimSpace(plan), "Plan ")
	s.wants(0, s.Namespace+"/middle   DependedOn", record, "--only", "middle", "--dry-run")
	// The package comes back between the plan and the confirmation.
	back := s.reaches(s.bundle(apiVersion, "platform", "3", s.pkg("own", "1.0", 1), s.pkg("middle", "1.0", 1)), "Succeeded")
	s.wants(3, "the plan changed", record, "--plan", digest)
	if !s.isThere("middle") || !s.isThere("front") {
		s.T.Fatal("A plan that changed removed something.")
	}
	s.wants(0, "1 package", record, "--confirm")
	if s.isThere("front") || !s.isThere("middle") || s.hasFiles("front") || !s.hasFiles("middle") {
		s.T.Error("Prune removes what left its bundle, and nothing else.")
	}
	s.says(back, "middle", "success")
	s.recorded(record, state.Success, "own success 1.0", "middle success 1.0")
}

// pruneOrphaned deletes the Bundle that a package left. It goes, too, once no record or bundle names it.
func (s *stage) pruneOrphaned(apiVersion string) {
	s.T.Helper()
	less := s.bundle(apiVersion, "platform", "4", s.pkg("own", "1.0", 1))
	s.reaches(less, "Succeeded")
	s.says(less, "middle", "unreferenced Unreferenced")
	s.deleted(less)
	theirs, err := state.NewClient(s.kube, state.Options{Namespace: s.Namespace, Prefix: "theirs-", Writer: "test"})
	s.must(err)
	_, err = theirs.InitBundleState(s.T.Context(), state.Bundle{Name: "uses", Version: "1", Packages: []state.Package{{Name: "middle"}}}, state.NotDeployed)
	s.must(err)
	s.wants(0, "UsedByBundle", "--confirm")
	s.must(theirs.RemoveBundleState(s.T.Context(), "uses"))
	s.wants(0, "removed 1 package", "--confirm")
	if s.isThere("middle") || s.hasFiles("middle") {
		s.T.Error("What a deleted bundle left is still there.")
	}
}
