package scene

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/gitserver"
)

// Reach applies a deployment and waits until its status speaks about this very spec and fulfils a condition.
func (s *Scene) Reach(o *unstructured.Unstructured, what string, is func(*unstructured.Unstructured) bool) *unstructured.Unstructured {
	s.T.Helper()
	s.Apply(o)
	digest := s.Digest(o)
	return s.Await(o, what+" with digest "+digest, func(u *unstructured.Unstructured) bool {
		return Field(u, "status", "intentDigest") == digest && is(u)
	})
}

// Fail applies a deployment and waits until this very spec failed, for good.
func (s *Scene) Fail(o *unstructured.Unstructured) *unstructured.Unstructured {
	s.T.Helper()
	return s.Reach(o, "Failed and Stalled", func(u *unstructured.Unstructured) bool {
		return Field(u, "status", "phase") == "Failed" && Is(u, "Stalled", corev1.ConditionTrue, "") && Is(u, "Ready", corev1.ConditionFalse, "")
	})
}

// Is returns whether a condition has a status and, unless it is empty, a reason.
func Is(o *unstructured.Unstructured, typ string, status corev1.ConditionStatus, reason string) bool {
	c := Condition(o, typ)
	return c.Status == status && (reason == "" || string(c.Reason) == reason)
}

// Raw returns the one GitDelivery of the scene with all that is in it, managed fields too.
func (s *Scene) Raw() *unstructured.Unstructured {
	s.T.Helper()
	return s.Now(s.DeliveryNamed(s.Delivery().GetName()))
}

// NewDelivery describes a GitDelivery that a user makes by hand.
func (s *Scene) NewDelivery(d *deliveryv1alpha1.GitDelivery) *unstructured.Unstructured {
	s.T.Helper()
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(d)
	s.Must(err)
	spec, _, err := unstructured.NestedMap(m, "spec")
	s.Must(err)
	return s.newObject(deliveryv1alpha1.GroupVersion.String(), "GitDelivery", s.Namespace, d.GetName(), spec)
}

// ClusterProviderConfig describes one with a name of the scene's own, and the same spec as the scene's ProviderConfig.
func (s *Scene) ClusterProviderConfig() *unstructured.Unstructured {
	o := s.ProviderConfig()
	o.SetKind("ClusterProviderConfig")
	o.SetNamespace("")
	o.SetName(s.Namespace)
	return o
}

// Inside runs kubectl in the scene's namespace and returns what it printed. It fails the test when kubectl fails.
func (s *Scene) Inside(args ...string) string {
	s.T.Helper()
	return s.Run(append([]string{"--namespace", s.Namespace}, args...)...)
}

// Program runs a program with an input and returns what it printed. It fails the test when the program fails.
func (s *Scene) Program(stdin, name string, args ...string) string {
	s.T.Helper()
	cmd := exec.CommandContext(s.T.Context(), name, args...)
	cmd.Stdin = strings.NewReader(stdin)
	complaint := &strings.Builder{}
	cmd.Stderr = complaint
	out, err := cmd.Output()
	if err != nil {
		s.T.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, complaint)
	}
	return string(out)
}

// Built is the path of a program that "make build" left.
func (s *Scene) Built(name string) string {
	s.T.Helper()
	root, err := controlplane.Root()
	s.Must(err)
	return filepath.Join(root, "_output", "bin", name)
}

// AwaitCommits waits until the branch has so many commits beside the one that it was made with, and returns them, newest first.
func (s *Scene) AwaitCommits(n int) []gitserver.Commit {
	s.T.Helper()
	var commits []gitserver.Commit
	s.Until("commits", Patience, func() bool {
		commits = s.Commits()
		return len(commits) >= n
	})
	if len(commits) != n {
		s.T.Fatalf("want %d commits, found %d", n, len(commits))
	}
	return commits
}

// Outside are the entries of the branch's tree, with mode and id, that are in none of these directories.
func (s *Scene) Outside(directories ...string) []string {
	s.T.Helper()
	out, err := s.Git.Git(s.T.Context(), s.Namespace, "ls-tree", "-r", "-z", "main")
	s.Must(err)
	var entries []string
	for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		_, path, _ := strings.Cut(entry, "\t")
		if !isBelowAny(path, directories) {
			entries = append(entries, entry)
		}
	}
	return entries
}

func isBelowAny(path string, directories []string) bool {
	for _, d := range directories {
		if _, ok := cutDirectory(path, d); ok {
			return true
		}
	}
	return false
}

// Tree is the id of the tree at a path of the branch, or empty.
func (s *Scene) Tree(path string) string {
	s.T.Helper()
	out, err := s.Git.Git(s.T.Context(), s.Namespace, "ls-tree", "--object-only", "main", path)
	s.Must(err)
	return strings.TrimSpace(out)
}

// Tool is the path of a program that tools/tools.sh builds, or that the environment names by the same variable.
func (s *Scene) Tool(variable string) string {
	s.T.Helper()
	path, err := controlplane.ToolPath(s.T.Context(), variable)
	s.Must(err)
	return path
}

// Case runs a part of the test on the same scene. Parts run one after another.
func (s *Scene) Case(name string, fn func(s *Scene)) {
	s.T.Helper()
	s.T.Run(name, func(t *testing.T) {
		part := *s
		part.T = t
		fn(&part)
	})
}
