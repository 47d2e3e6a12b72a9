package prune

import (
	"strings"
	"testing"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/test/scene"
)

// TestTenants shares a repository between two namespaces: neither sees nor prunes a directory of the other, and only a request in Crossplane's
// namespace may be about both.
func TestTenants(t *testing.T) {
	t.Parallel()
	ann, bob := newPruneStage(t), newPruneStage(t)
	shared := ann.ClusterProviderConfig()
	ann.Apply(shared)
	for _, s := range []*stage{ann, bob} {
		s.abandonDirectories(s.Set(s.describeShop("gone"), map[string]any{"kind": "ClusterProviderConfig", "name": shared.GetName()}, "spec", "deliveryConfig", "gitOpsRepo"))
	}
	ownDirectory, theirs := ann.Directory("edge1", "gone"), bob.Directory("edge1", "gone")

	mine := ann.decodeRequest(ann.runPruneInConfig(ann.Namespace, shared.GetName(), "--dry-run", "-o", "json"))
	if len(mine.Status.Plan.Items) != 1 || mine.Status.Plan.Items[0].Path != ownDirectory {
		t.Errorf("a tenant sees its own directory alone: %+v", mine.Status.Plan.Items)
	}
	for _, args := range [][]string{{"--only", theirs}, {"--namespaces", bob.Namespace, "--only", theirs}, {"--only", "no/such/directory"}} {
		p := ann.runPruneInConfig(ann.Namespace, shared.GetName(), append(args, "--confirm")...)
		ann.wantPruneOutput(p, 1, "NotInPlan")
		if output := p.out + p.problems; strings.Contains(output, "KEEP") {
			t.Errorf("a tenant learns of another namespace with %v:\n%s", args, output)
		}
	}
	ann.wantPruneOutput(ann.runPruneInConfig(ann.Namespace, shared.GetName(), "--namespaces", "*", "--allow-most", "--confirm"), 0, "removed 1 directory")
	if files := ann.Files(); files[theirs+"/.intentplane"] == "" || files[ownDirectory+"/.intentplane"] != "" {
		t.Fatalf("a tenant prunes its own directory alone: %v", scene.Names(files))
	}

	// An approval counts in the namespace of its request.
	r := bob.decodeRequest(bob.runPruneInConfig(bob.Namespace, shared.GetName(), "--dry-run", "-o", "json"))
	stray := ann.describeApproval("stray", r.GetName(), string(r.GetUID()), r.Status.Plan.Digest)
	ann.Apply(stray)
	ann.wantApprovalResult(stray, v1alpha1.ReasonUnknownRequest)

	// The administrator names the namespaces.
	ann.wantPruneOutput(ann.runPruneInConfig(crossplane, shared.GetName(), "--dry-run"), 0, "NotYourNamespace", theirs)
	ann.wantPruneOutput(ann.runPruneInConfig(crossplane, shared.GetName(), "--namespaces", bob.Namespace, "--confirm"), 0, "removed 1 directory")
	if files := ann.Files(); files[theirs+"/.intentplane"] != "" {
		t.Errorf("the administrator pruned the directory: %v", scene.Names(files))
	}
}

// TestDeniedConfig asks for a plan through a configuration that is not for the namespace.
func TestDeniedConfig(t *testing.T) {
	t.Parallel()
	s := newPruneStage(t)
	deniedConfig := s.Set(s.ClusterProviderConfig(), []any{"nobody"}, "spec", "policy", "allowedNamespaces")
	s.Apply(deniedConfig)
	s.wantPlanRefused(deniedConfig.GetName(), "PolicyDenied", "allowedNamespaces")
	s.wantPlanRefused("no-such-config", "CredentialsGone", "no-such-config")
}
