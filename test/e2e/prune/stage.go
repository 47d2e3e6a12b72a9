// Package prune shows, on a real control plane, a real Git server and Flux, that a directory which no object owns any more is removed once a user
// approved that very plan, and that nothing else is.
//
// Tests that disturb the control plane run before the parallel tests: each parallel test has a namespace and a repository of its own.
package prune

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// cp is the control plane of all tests of this package.
var cp *controlplane.ControlPlane

// A stage is a scene with one Site, whose claims leave their directories when they are deleted.
type stage struct {
	*scene.Scene
}

func newPruneStage(t *testing.T) *stage {
	t.Helper()
	return &stage{scene.New(t, cp, "edge1")}
}

// shapesOfClaims are the shapes of a deployment, by their names.
func shapesOfClaims() map[string]func(*stage, string) *unstructured.Unstructured {
	return map[string]func(*stage, string) *unstructured.Unstructured{
		"Claim": func(s *stage, name string) *unstructured.Unstructured {
			return s.withOrphanPolicy(s.Claim(name, s.intentOfService(name)))
		},
		"Composite": func(s *stage, name string) *unstructured.Unstructured {
			return s.withOrphanPolicy(s.Composite(name, s.intentOfService(name)))
		},
	}
}

func (s *stage) intentOfService(service string) string {
	return fmt.Sprintf(`{"service": %q, "type": "web", "sites": [%q], "replicas": 1}`, service, s.Site("edge1"))
}

func (s *stage) withOrphanPolicy(o *unstructured.Unstructured) *unstructured.Unstructured {
	s.T.Helper()
	return s.Set(o, "Orphan", "spec", "deliveryConfig", "deletionPolicy")
}

func (s *stage) describeShop(name string) *unstructured.Unstructured {
	return shapesOfClaims()["Claim"](s, name)
}

// orphanDirectories delivers deployments, and deletes them, so that their directories have no owner.
func (s *stage) orphanDirectories(all ...*unstructured.Unstructured) {
	s.T.Helper()
	s.abandonDirectories(all...)
	for _, o := range all {
		s.wantDirectory(o.GetName(), true)
	}
}

// abandonDirectories is orphan in whichever repository the deployments name.
func (s *stage) abandonDirectories(all ...*unstructured.Unstructured) {
	s.T.Helper()
	for _, o := range all {
		s.Succeed(o)
	}
	for _, o := range all {
		s.Delete(o)
	}
	for _, o := range all {
		s.Gone(o)
	}
	s.Until("the GitDeliveries are gone", patience.Limit, func() bool { return len(s.Deliveries()) == 0 })
}

// wantDirectory compares whether the directory of a claim is in the branch.
func (s *stage) wantDirectory(claim string, want bool) {
	s.T.Helper()
	if got := len(s.FilesBelow(s.Directory("edge1", claim))) > 0; got != want {
		s.T.Errorf("directory of %s is there: want %t, got %t", claim, want, got)
	}
}

// A prune is one call of the plugin.
type prune struct {
	out, problems string
	code          int
}

// runPruneCommand runs kubectl-intent prune in the namespace of the stage.
func (s *stage) runPruneCommand(args ...string) prune {
	s.T.Helper()
	return s.runPruneInConfig(s.Namespace, "providerconfig/"+scene.Config, args...)
}

func (s *stage) runPruneInConfig(namespace, config string, args ...string) prune {
	s.T.Helper()
	all := slices.Concat([]string{"prune", "--directories", "--config", config, "--min-age", "0s", "--namespace", namespace, "--kubeconfig", cp.Kubeconfig}, args)
	c := exec.CommandContext(s.T.Context(), s.Built("kubectl-intent"), all...)
	problems := &strings.Builder{}
	c.Stderr = problems
	out, err := c.Output()
	if exit := (&exec.ExitError{}); err != nil && !errors.As(err, &exit) {
		s.T.Fatal(err)
	}
	return prune{out: string(out), problems: problems.String(), code: c.ProcessState.ExitCode()}
}

// wantPlanRefused asks for a plan through a configuration that gives none, for a reason. Such a request waits until its timeout: one of 5 seconds may end before the
// provider has answered, and is made again.
func (s *stage) wantPlanRefused(config, reason, words string) {
	s.T.Helper()
	var p prune
	s.Until("prune through "+config+" answers "+reason, patience.Limit, func() bool {
		p = s.runPruneInConfig(s.Namespace, config, "--dry-run", "--timeout", "5s")
		return p.code != 1 || strings.Contains(p.out+p.problems, reason)
	})
	s.wantPruneOutput(p, 1, reason, words)
}

// wantPruneOutput compares the output of a call, on both streams, and its exit code.
func (s *stage) wantPruneOutput(p prune, code int, says ...string) {
	s.T.Helper()
	for _, words := range says {
		if !strings.Contains(p.out+p.problems, words) {
			s.T.Errorf("prune does not say %q", words)
		}
	}
	if p.code != code || s.T.Failed() {
		s.T.Fatalf("prune: want exit code %d, got %d:\n%s%s", code, p.code, p.out, p.problems)
	}
}

// decodeRequest returns the request that a call with -o json printed.
func (s *stage) decodeRequest(p prune) *v1alpha1.PruneRequest {
	s.T.Helper()
	out := &v1alpha1.PruneRequest{}
	s.wantPruneOutput(p, 0)
	s.Must(json.Unmarshal([]byte(p.out), out))
	return out
}

// describeObject describes a PruneRequest or a PruneApproval of the stage.
func (s *stage) describeObject(kind, name string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	o.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	o.SetNamespace(s.Namespace)
	o.SetName(name)
	return o
}

// requestPlan asks for a plan with kubectl alone, and waits for it.
func (s *stage) requestPlan(name string) *v1alpha1.PruneRequest {
	s.T.Helper()
	o := s.describeObject("PruneRequest", name, map[string]any{
		"scope": "Directories", "minAge": "0s", "providerConfigRef": map[string]any{"kind": "ProviderConfig", "name": scene.Config},
	})
	s.Apply(o)
	return s.awaitRequest(name, "a plan", func(r *v1alpha1.PruneRequest) bool { return r.Status.Phase != "" })
}

func (s *stage) awaitRequest(name, description string, condition func(*v1alpha1.PruneRequest) bool) *v1alpha1.PruneRequest {
	s.T.Helper()
	out := &v1alpha1.PruneRequest{}
	s.Await(s.describeObject("PruneRequest", name, map[string]any{}), description, func(u *unstructured.Unstructured) bool {
		out = &v1alpha1.PruneRequest{}
		s.Must(runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, out))
		return condition(out)
	})
	return out
}

// approvePlan approves the plan of a request.
func (s *stage) approvePlan(r *v1alpha1.PruneRequest) {
	s.T.Helper()
	s.Apply(s.describeApproval(r.GetName(), r.GetName(), string(r.GetUID()), r.Status.Plan.Digest))
}

func (s *stage) describeApproval(name, request, uid, digest string) *unstructured.Unstructured {
	s.T.Helper()
	return s.describeObject("PruneApproval", name, map[string]any{"requestRef": map[string]any{"name": request, "uid": uid}, "plan": digest})
}

// awaitFinalPhase waits until a request has come to its end.
func (s *stage) awaitFinalPhase(name string, want v1alpha1.Phase) *v1alpha1.PruneRequest {
	s.T.Helper()
	r := s.awaitRequest(name, "an end", func(r *v1alpha1.PruneRequest) bool { return r.Status.Phase.IsFinal() })
	if r.Status.Phase != want {
		s.T.Fatalf("PruneRequest %s: want phase %s, got %s: %v", name, want, r.Status.Phase, r.Status.Conditions)
	}
	return r
}

// verdictsByClaim returns a plan's verdict on each directory, by the name of its claim.
func verdictsByClaim(r *v1alpha1.PruneRequest) map[string]string {
	out := map[string]string{}
	for _, i := range r.Status.Plan.Items {
		out[i.Name] = strings.TrimSpace(i.Verdict + " " + i.Reason)
	}
	return out
}

// pruneCommits returns how many commits of the branch removed directories for a request.
func (s *stage) pruneCommits() int {
	s.T.Helper()
	n := 0
	for _, c := range s.Commits() {
		if strings.Contains(c.Message, "Intentplane-Prune: ") {
			n++
		}
	}
	return n
}
