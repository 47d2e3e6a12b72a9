package sites

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/e2e/sites/argocd"
	"github.com/intentplane/intentplane/test/e2e/sites/recording"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestGitToGit goes from a repository to the running workload in another cluster, and back: Flux applies claims, their commits go
// into another repository, and Flux applies these at the Site.
func TestGitToGit(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t)
	for _, file := range []string{"account.yaml", "fleet.yaml"} {
		w.Must(w.edge.ApplyYAML(t.Context(), w.exampleFile("gitops/flux/edge1/"+file)))
	}
	w.Must(w.Client.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: controlplane.Namespace, Name: "edge1-kubeconfig"}, Data: map[string][]byte{"value": w.accountKubeconfig()},
	}))
	for _, file := range []string{"sites.yaml", "claims.yaml"} {
		w.Must(w.ApplyYAML(t.Context(), w.exampleFile("gitops/flux/control-plane/"+file)))
	}
	w.deliverToArgoCD()
	shop, bank := w.claimOfTeam("claims.intentplane.dev/v1alpha1", "shop"), w.claimOfTeam("intentplane.dev/v1alpha1", "bank")

	log, err := w.Git.Log(t.Context(), claimsRepo, "main")
	w.Must(err)
	w.awaitFluxResult(log[0].ID, "True", "Applied")
	w.wantSiteReplicas("Ready is live", 2, 1)
	w.wantArgoCDHealth(shop, "Healthy")
	w.wantArgoCDHealth(bank, "Healthy")

	w.awaitFluxResult(w.pushClaimChanges(w.claimFileSaying("shop.yaml", `"replicas": 2`, `"replicas": 3`)), "True", "Applied")
	// Crossplane shows on a claim at its new generation the conditions of its composite from before the edit. A reader in that moment
	// gets an early answer, which cannot happen with a composite.
	w.Until("an edit of a claim is carried out", patience.Limit, func() bool { return w.replicasRunningAt() == [2]int32{3, 1} })

	w.awaitFluxResult(w.pushClaimChanges(w.claimFileSaying("bank.yaml", `"replicas": 1`, `"replicas": "many"`)), "False", "IntentDeployment/team-a/bank status: 'Failed'")
	// The source of an Alert. Flux makes it an event of Kubernetes, too.
	w.awaitFluxEvent("HealthCheckFailed", "IntentDeployment/team-a/bank status: 'Failed'")
	w.wantSiteReplicas("an invalid claim changes nothing", 3, 1)
	w.wantArgoCDHealth(bank, "Degraded")

	w.awaitFluxResult(w.pushClaimChanges(w.claimFileSaying("bank.yaml", `"replicas": 1`, `"replicas": 4`)), "True", "Applied")
	w.awaitFluxEvent("ReconciliationSucceeded", "")
	w.wantSiteReplicas("an edit of the corrected claim is awaited", 3, 4)

	removal, err := w.Git.Remove(t.Context(), claimsRepo, "main", []string{"shop.yaml"}, "A claim less")
	w.Must(err)
	w.awaitPushed(removal)
	w.Gone(shop)
	w.awaitClaimsLeft(1)
	w.refreshSiteFlux(t, "the Site's Flux prunes one claim", -1, 4)
	w.Delete(newFluxObject("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "claims"))
	w.Gone(bank)
	w.awaitClaimsLeft(0)
	w.refreshSiteFlux(t, "the Site's Flux prunes the objects of the deleted claim", -1, -1)
}

// TestArgoCD plays the story in which the compared revision is not the applied revision.
func TestArgoCD(t *testing.T) {
	t.Parallel()
	s := onControlPlane(t, "ArgoCD", "argoproj.io/v1alpha1", "Application", "edge1")
	argocd.Install(s.Scene)
	p := recording.Apply(s.Scene, "argocd-compared.json", s.Directory("edge1", claim))
	y := s.describeSync(1, "one")
	s.deliverRevision(1, "one")
	p.Commits["a"] = s.awaitDelivered(1)
	s.Apply(y)
	s.lookAndExpect(y, "1 | False | Syncing | Syncing | Progressing")
	argocd.Refresh(s.Scene, p.Main.Unstructured)
	p.PlayUntil("Applied")
	s.expectSiteSync(y, "1"+isLive)

	s.deliverRevision(2, "two")
	p.Commits["b"] = s.awaitDelivered(2)
	p.PlayUntil("ComparedNotApplied")
	y = s.describeSync(2, "two")
	s.Apply(y)
	argocd.Refresh(s.Scene, p.Main.Unstructured)
	s.lookAndExpect(y, "2 | False | Syncing | Syncing | Progressing", "OutOfSync")
	p.PlayUntil("SyncedWhileRunning")
	s.lookAndExpect(y, "2 | False | Syncing | Syncing | Progressing", "an operation is running")
	p.PlayUntil("Succeeded")
	s.expectSiteSync(y, "2"+isLive)

	p.PlayUntil("Degraded")
	s.lookAndExpect(y, "2 | False | Syncing | Syncing | Unhealthy")
	p.Commits["c"] = s.commitUnmanaged(map[string]string{"clusters/edge2/x": "y\n"})
	p.PlayUntil("StrangersCommit")
	s.expectSiteSync(y, "2"+isLive)
	p.PlayUntil("SyncFailed")
	s.expectSiteSync(y, "2 | False | Failed | Failed | EngineFailed")
}

// TestArgoCDStories validates the recordings of Argo CD against its own schema.
func TestArgoCDStories(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"argocd-compared.json", "argocd-hydrated.json", "argocd-sources.json"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			s := &stage{Scene: scene.New(t, cp)}
			argocd.Install(s.Scene)
			p := recording.Apply(s.Scene, file, s.Directory("edge1", claim))
			p.PlayAll()
		})
	}
}
