package ledger

import (
	"testing"
)

// TestHistoryFromClone reads the history of a deployment from a clone alone, and compares two of its revisions.
func TestHistoryFromClone(t *testing.T) {
	t.Parallel()
	d := newDeployment(t, form{repositories: 2, gated: true})
	d.awaitSucceeded(1)
	judges.setJudgeAnswer(d.Namespace, bad)
	d.awaitRolledBack(2)
	d.wantColumns("RolledBack", "Succeeded", "2", "1")
	d.awaitVerdictEvent("Verified", "Transitioned from Validating to Succeeded", "1")
	d.awaitVerdictEvent("Rejected", "RollingBack", "2")
	d.awaitVerdictEvent("RolledBack", "Transitioned from RollingBack to Succeeded: ", "2")
	restored := []string{"artifacts", d.describeShop(2).GetName()}
	d.wantInOrder(d.runPluginWith(cp.Kubeconfig, 1, restored...), "does not carry all files, as after a rollback", "--checkout")
	for _, repository := range append(d.namesOfFollowers(), d.homeRepository()) {
		restored = append(restored, "--checkout", d.cloneRepository(repository))
	}
	d.wantInOrder(d.runPluginWith(cp.Kubeconfig, 0, restored...), "replicas: 1", "replicas: 1")
	judges.setJudgeAnswer(d.Namespace, good)
	d.awaitSucceeded(3)
	home, follower := d.cloneRepository(d.homeRepository()), d.cloneRepository(d.namesOfFollowers()[0])
	name := d.describeShop(3).GetName()
	out := d.runPluginOffline(0, "history", name, "--checkout", home)
	d.wantInOrder(out, "3 ", "Verified (live)", "2 ", "Rejected", "GateFailed", "1 ", "Verified")
	out = d.runPluginOffline(0, "history", name, "--checkout", follower)
	d.wantInOrder(out, "The ledger is in the", "repository of "+d.homeRepository(), "3 ", "1 ", "Verified")
	out = d.runPluginOffline(1, "diff", name, "--checkout", home, "--revision=1", "--revision=3")
	d.wantInOrder(out, "replicas: 1", "replicas: 3")
	d.runPluginOffline(0, "diff", name, "--checkout", home, "--revision=3", "--revision=3")
}
