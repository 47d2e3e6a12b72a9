// Package causes breaks the dependencies of a deployment, in sixteen ways, on a real control plane. Each time kubectl intent why names the
// cause, who acts and the next step, to an administrator and to a user with the role edit in one namespace. Once that step is done, the
// deployment continues.
package causes

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/advice"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/controlplane/kubernetes"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

const (
	// cooldown is the time that a circuit breaker stays open in these tests. Crossplane's default is five minutes.
	cooldown = 20 * time.Second

	// tokensPerSecond fill the bucket of a circuit breaker within the cooldown, as Crossplane's default does within five minutes.
	tokensPerSecond = "--circuit-breaker-refill-rate=5"
)

// cp is the control plane of all tests of this package.
var cp *controlplane.ControlPlane

// edge is the other cluster, with Flux in it.
var edge = sync.OnceValues(func() (*kubernetes.Cluster, error) {
	ctx := context.Background()
	k, err := cp.StartCluster(ctx, "edge")
	if err != nil {
		return nil, err
	}
	return k, k.StartFlux(ctx)
})

const (
	// admin reads with the rights of the kubeconfig.
	admin = ""

	// editor has the role edit in the namespace of the story, and no other one.
	editor = "ann"

	// pause is the time between two checks of a test. A check starts a program.
	pause = time.Second
)

// A stage is a scene with one deployment, and a user with the role edit in its namespace.
type stage struct {
	*scene.Scene

	deployment *unstructured.Unstructured
}

// A shape describes a deployment: a namespaced composite, or a claim.
type shape func(s *scene.Scene, name, intent string) *unstructured.Unstructured

func deploymentShapes() map[string]shape {
	return map[string]shape{"Namespaced": (*scene.Scene).Composite, "Claim": (*scene.Scene).Claim}
}

// newCauseStage makes a scene with Sites of these names, and a deployment of a shape.
func newCauseStage(t *testing.T, describe shape, sites ...string) *stage {
	t.Helper()
	s := &stage{Scene: scene.New(t, cp, sites...)}
	s.Must(s.Client.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: editor}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: editor}},
	}))
	s.deployment = describe(s.Scene, "shop", s.intentWithReplicas(1))
	return s
}

func (s *stage) intentWithReplicas(replicas int) string {
	return fmt.Sprintf(`{"service": "shop", "type": "web", "sites": [%q], "replicas": %d}`, s.Site("edge1"), replicas)
}

// isClaimShape reports whether the deployment is a claim, which has a composite behind it.
func (s *stage) isClaimShape() bool {
	return s.deployment.GroupVersionKind().Group == deploymentv1alpha1.GroupClaims
}

// editReplicas requests another number of replicas.
func (s *stage) editReplicas(replicas int) {
	s.T.Helper()
	s.Apply(s.Set(s.deployment, s.intentWithReplicas(replicas), "spec", "intent"))
}

// awaitSucceeded applies the deployment with a number of replicas, and waits until it runs.
func (s *stage) awaitSucceeded(replicas int) {
	s.T.Helper()
	s.Succeed(s.Set(s.deployment, s.intentWithReplicas(replicas), "spec", "intent"))
}

// An answer is the expected answer of kubectl intent why.
type answer struct {
	// object at the end of the followed chain, without the names of the story.
	object string
	reason string
	actor  advice.Actor
	// do is a part of the next step.
	do string
}

// A story breaks a dependency of a deployment, and follows the advice of kubectl intent why.
type story struct {
	reason string
	// breaks a dependency of the deployment, and returns a function that carries out the next step.
	breaks func(s *stage) (repair func())
	want   answer
	// early is another correct finding that may come before. Without a reason no such finding exists.
	early answer
	// toEditor is the answer to a user with the role edit, where that is not the same.
	toEditor answer
	// toEditorOfClaim is the same about a claim, whose composite such a user may not read.
	toEditorOfClaim answer
}

// expectedAnswer returns the expected answer to a user about the deployment of a stage.
func (scenario story) expectedAnswer(s *stage, user string) answer {
	switch {
	case user == editor && s.isClaimShape() && scenario.toEditorOfClaim.reason != "":
		return scenario.toEditorOfClaim
	case user == editor && scenario.toEditor.reason != "":
		return scenario.toEditor
	}
	return scenario.want
}

// breakAndRepair breaks, checks, repairs, and checks again.
func (s *stage) breakAndRepair(scenario story) {
	s.T.Helper()
	s.T.Log(scenario.reason)
	repair := sync.OnceFunc(scenario.breaks(s))
	defer repair() // Other stories need the parts that one story breaks for all.
	for _, user := range []string{admin, editor} {
		want := scenario.expectedAnswer(s, user)
		s.expectCause(user, want, scenario.early)
		s.expectWhyText(user, want)
	}
	repair()
	s.awaitSuccess()
	for _, user := range []string{admin, editor} {
		s.askUntilGood("nothing is in the way", func() (string, bool) {
			f := s.runWhyAsUser(user)
			return describeCauses(&f), f.IsGood
		})
	}
}

// awaitSuccess waits until the current spec succeeded, and is Ready.
func (s *stage) awaitSuccess() {
	s.T.Helper()
	digest := s.Digest(s.deployment)
	s.Await(s.deployment, "continues", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "intentDigest") == digest && scene.Field(u, "status", "phase") == "Succeeded" && scene.Is(u, "Ready", corev1.ConditionTrue, "")
	})
}

// expectCause runs the command until its finding equals the wanted finding. Until then the finding is good, or resolves without an action: a finding that sends
// another person somewhere else fails the test.
func (s *stage) expectCause(user string, want, early answer) {
	s.T.Helper()
	s.askUntilGood(fmt.Sprintf("why says %+v to %q", want, user), func() (string, bool) {
		f := s.runWhyAsUser(user)
		matches := want.matchesCause(&f)
		if !matches && f.NeedsPerson() && !early.matchesCause(&f) {
			s.T.Errorf("why names a wrong cause to %q: %s", user, describeCauses(&f))
		}
		return describeCauses(&f), matches
	})
}

func (a answer) matchesCause(f *cause.Finding) bool {
	return a.reason != "" && !f.IsGood && strings.HasPrefix(f.Cause().Object, a.object) && a.isReasonInChain(f) && f.Actor == a.actor && strings.Contains(f.Do, a.do)
}

// isReasonInChain is true if one of the objects that were followed has the reason: a check at the end has a phase.
func (a answer) isReasonInChain(f *cause.Finding) bool {
	return slices.ContainsFunc(f.Chain, func(l cause.Link) bool { return l.Reason == a.reason })
}

func describeCauses(f *cause.Finding) string {
	out, err := json.Marshal(f)
	return fmt.Sprintf("%s %v", out, err)
}

// expectWhyText compares the text for a user. A cause with an actor has its start time, and the event that unblocks the object.
func (s *stage) expectWhyText(user string, want answer) {
	s.T.Helper()
	out := s.runPlugin(user, "why", "shop")
	says := []string{"Cause:      " + want.object, ": " + want.reason, "Who acts:   " + want.actor.Words(), "What to do: "}
	if want.actor != advice.NoActor {
		says = append(says, "Since:      ", "Wakes it:   ")
	}
	for _, text := range says {
		if !strings.Contains(out, text) {
			s.T.Errorf("why to %q: want %q, got:\n%s", user, text, out)
		}
	}
}

// runWhyAsUser runs the command as a user.
func (s *stage) runWhyAsUser(user string) cause.Finding {
	s.T.Helper()
	f := cause.Finding{}
	out := s.runPlugin(user, "why", "shop", "-o", "json")
	s.Must(errors.Wrapf(json.Unmarshal([]byte(out), &f), "why prints no finding: %s", out))
	return f
}

// runPlugin runs kubectl intent as a user, and returns its output. It fails the test when the plugin fails.
func (s *stage) runPlugin(user string, args ...string) string {
	s.T.Helper()
	ctx, cancel := s.Context()
	defer cancel()
	args = append(args, "--namespace", s.Namespace, "--kubeconfig", cp.Kubeconfig)
	if user != admin {
		args = append(args, "--as", user)
	}
	c := exec.CommandContext(ctx, s.Built("kubectl-intent"), args...)
	complaint := &bytes.Buffer{}
	c.Stderr = complaint
	out, err := c.Output()
	if err != nil {
		s.T.Fatalf("kubectl intent %v: %v: %s%s", args, err, out, complaint)
	}
	return string(out)
}

// askUntilGood runs the command at each pause until the finding is good, and fails the test with the last finding after a timeout.
func (s *stage) askUntilGood(description string, condition func() (string, bool)) {
	s.T.Helper()
	tick, end := time.NewTicker(pause), time.NewTimer(patience.Limit)
	defer tick.Stop()
	defer end.Stop()
	for {
		last, isGood := condition()
		if isGood {
			return
		}
		select {
		case <-tick.C:
		case <-end.C:
			s.T.Fatalf("%s: not within %s, but: %s", description, patience.Limit, last)
		}
	}
}

// playStories plays stories side by side, each with a deployment of both shapes.
func playStories(t *testing.T, stories map[string]story) {
	t.Helper()
	for name, scenario := range stories {
		for shapeName, describe := range deploymentShapes() {
			t.Run(name+shapeName, func(t *testing.T) {
				t.Parallel()
				newCauseStage(t, describe, "edge1").breakAndRepair(scenario)
			})
		}
	}
}
