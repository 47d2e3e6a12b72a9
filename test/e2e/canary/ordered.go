package canary

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/test/release"
	"github.com/intentplane/intentplane/test/scene"
)

// killsCoreOnceOrdered kills Crossplane's core once a revision is ordered: the provider has its mandate, the SiteSync observes it, and the Gate of its last
// step is there.
func (y *measured) killsCoreOnceOrdered(revision, lastStep int64) {
	y.Helper()
	delivery := &unstructured.Unstructured{}
	delivery.SetAPIVersion("delivery.intentplane.dev/v1alpha1")
	delivery.SetKind("GitDelivery")
	_, err := y.Await(y.Context(), delivery, "the provider may verify the revision", func(o *unstructured.Unstructured) bool {
		may, _, _ := unstructured.NestedStringSlice(o.Object, "status", "atProvider", "mandate", "may")
		return scene.Number(o, "status", "atProvider", "mandate", "revision") == revision && slices.Contains(may, "Verify")
	})
	y.requireNoError(err)
	_, err = y.AwaitSync(y.Context(), "the Sites are observed for the revision", func(o *unstructured.Unstructured) bool {
		return scene.Number(o, "spec", "forProvider", "position", "revision") == revision
	})
	y.requireNoError(err)
	y.awaitGate("the Gate of the last step is there", func(o *unstructured.Unstructured) bool {
		position := []string{"spec", "forProvider", "position"}
		return scene.Number(o, append(position, "revision")...) == revision && scene.Number(o, append(position, "step")...) == lastStep
	})
	cp.KillCore()
}

// awaitsDivision waits until the last commit divides the requests of the first Site in a way.
func (y *measured) awaitsDivision(want string) {
	y.Helper()
	y.awaitsDivisionAt(y.Sites[0], want)
}

// awaitsDivisionAt waits until Git has a division of the requests of a Site.
func (y *measured) awaitsDivisionAt(s *release.Site, want string) {
	y.Helper()
	y.awaitCondition(s.Name+": Git has "+want, func() bool {
		all := y.divisionsAt(s)
		return all[len(all)-1].String() == want
	})
}

// countCommits returns how many commits the branch of the release has.
func (y *measured) countCommits() int {
	y.Helper()
	all, err := cp.Git.Log(y.Context(), y.Repositories()[0], "main")
	y.requireNoError(err)
	return len(all)
}

// wantLegalTransitions checks that each change of the phase of a claim is one of the table.
func (y *measured) wantLegalTransitions(o *unstructured.Unstructured) {
	y.Helper()
	all, _, _ := unstructured.NestedSlice(o.Object, "status", "transitions")
	for _, t := range all {
		change, _ := t.(map[string]any)
		source, _ := change["from"].(string)
		target, _ := change["to"].(string)
		legal := deploymentv1alpha1.PhaseChanges()[deploymentv1alpha1.Phase(source)]
		if target != string(deploymentv1alpha1.PhasePending) && !slices.Contains(legal, deploymentv1alpha1.Phase(target)) {
			y.Errorf("transitions: no change from %q to %q: %v", source, target, all)
		}
	}
}

// measuredPlan has steps of 5 and 20 percent with pauses of some seconds, and a Gate at each but the first.
func measuredPlan() release.Plan {
	return release.Plan{
		Steps: []any{map[string]any{"weight": int64(5), "gate": false}, release.Pause("2s"), release.Weight(20), release.Pause("5s")},
		Gates: release.Gates(gateInterval, 1),
	}
}
