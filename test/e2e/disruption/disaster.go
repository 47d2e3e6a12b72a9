package disruption

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// A disaster is a scene whose cluster does not stay.
type disaster struct {
	*scene.Scene

	// catalog has the objects that deployments need, which an administrator who rebuilds a cluster applies first.
	catalog []*unstructured.Unstructured
}

// shopAtRevision is the claim at a revision, and lateClaim the claim that is being delivered.
func (p *disaster) shopAtRevision(revision int) *unstructured.Unstructured {
	return p.Claim("shop", intentWithReplicas(p.Scene, revision, "edge1", "edge2"))
}

func (p *disaster) lateClaim(revision int) *unstructured.Unstructured {
	return p.Claim("late", intentOfService(p.Scene, "late", revision, "edge2"))
}

// interruptDelivery kills the provider after the push of a delivery, before an object in the cluster has recorded it.
func (p *disaster) interruptDelivery(claim *unstructured.Unstructured) {
	p.T.Helper()
	died := dieAfterPush(p.Scene)
	p.Apply(claim)
	died()
}

// expectRevisions expects so many commits, and deployments that succeeded at these revisions, by name.
func (p *disaster) expectRevisions(commits int, revisions map[string]int64) {
	p.T.Helper()
	for name, revision := range revisions {
		p.Await(p.Claim(name, ""), "Succeeded", func(u *unstructured.Unstructured) bool {
			return scene.Field(u, "status", "phase") == "Succeeded" && scene.Number(u, "status", "revision") == revision &&
				scene.Is(u, "Ready", corev1.ConditionTrue, "") && scene.Is(u, "Recorded", corev1.ConditionTrue, "")
		})
	}
	wantCommits(p.Scene, commits)
}

// awaitReason waits until all GitDeliveries have a reason.
func (p *disaster) awaitReason(want xpv2.ConditionReason, deliveries int) []deliveryv1alpha1.GitDelivery {
	p.T.Helper()
	var all []deliveryv1alpha1.GitDelivery
	p.Until("GitDeliveries "+string(want), patience.Limit, func() bool {
		all = p.Deliveries()
		for i := range all {
			if reasonOfReady(&all[i]) != string(want) {
				return false
			}
		}
		return len(all) == deliveries
	})
	return all
}

// rebuildCluster rebuilds the cluster, and does something before any controller runs.
func (p *disaster) rebuildCluster(from controlplane.Backup, first func()) {
	p.T.Helper()
	err := cp.Rebuild(p.T.Context(), from, func() error {
		if first != nil {
			first()
		}
		return nil
	})
	p.Must(err)
}

// restoreOldBackup restores a cluster from before the third revision, during another deployment's first revision.
func (p *disaster) restoreOldBackup() {
	p.interruptDelivery(p.lateClaim(1))
	backup, err := cp.Backup(p.T.Context())
	p.Must(err)
	startProvider(p.T)
	p.Succeed(p.shopAtRevision(3))
	p.expectRevisions(4, map[string]int64{"shop": 3, "late": 1})
	branch := p.refsOfRepository()["refs/heads/main"]

	composites := []string{"annotate", "xintentdeployments.claims.intentplane.dev", "-l", "crossplane.io/claim-namespace=" + p.Namespace}
	p.rebuildCluster(backup, func() {
		p.Run(append(composites, "crossplane.io/paused=true")...)
		p.Apply(p.shopAtRevision(3))
	})
	// The pending delivery was verified since then, so its order is as old as the other one.
	p.awaitReason(deliveryv1alpha1.ReasonOrderBehind, 2)
	// Crossplane copies a claim's spec into its composite, and sets Synced. Before that the composite has the spec of the backup.
	p.Run("wait", "intentdeployments.claims.intentplane.dev", "--all", "-n", p.Namespace, "--for=condition=Synced", "--timeout="+patience.Limit.String())
	p.Run(append(composites, "crossplane.io/paused-")...)
	p.awaitReason(deliveryv1alpha1.ReasonDelivered, 2)
	p.expectRevisions(4, map[string]int64{"shop": 3, "late": 1})
	p.WantEqual("branch", branch, p.refsOfRepository()["refs/heads/main"])
}

func (p *disaster) hasRevision(want xpv2.ConditionReason) bool {
	p.T.Helper()
	return slices.ContainsFunc(p.Deliveries(), func(d deliveryv1alpha1.GitDelivery) bool { return reasonOfReady(&d) == string(want) })
}

func (p *disaster) refsOfRepository() map[string]string {
	p.T.Helper()
	refs, err := p.Git.Refs(p.T.Context(), p.Namespace)
	p.Must(err)
	return refs
}

// restoreOldRepository restores a repository from before the third revision, and from before a revision that is being delivered.
func (p *disaster) restoreOldRepository() {
	p.Succeed(p.lateClaim(1))
	previous := p.refsOfRepository()
	p.Succeed(p.shopAtRevision(3))
	p.interruptDelivery(p.lateClaim(2))
	p.expectRevisions(5, nil)
	for name, id := range previous {
		if _, err := p.Git.Git(p.T.Context(), p.Namespace, "update-ref", name, id); err != nil {
			p.T.Fatal(err)
		}
	}
	startProvider(p.T)
	// The pending delivery is not known to be there, so it is simply delivered. The earlier delivery is missed.
	p.Until("a lost history noticed", patience.Limit, func() bool { return p.hasRevision(deliveryv1alpha1.ReasonDiverged) })
	p.Apply(p.Set(p.ProviderConfig(), string(configv1alpha1.DivergenceReapply), "spec", "git", "divergencePolicy"))
	p.awaitReason(deliveryv1alpha1.ReasonDelivered, 2)
	p.expectRevisions(5, map[string]int64{"shop": 3, "late": 2})
}

// buildAnotherCluster cluster, with nothing but a configuration and the catalog.
func (p *disaster) buildAnotherCluster(config *unstructured.Unstructured) {
	p.T.Helper()
	p.rebuildCluster(controlplane.Backup{}, nil)
	p.Run("create", "namespace", p.Namespace)
	for _, o := range append(slices.Clone(p.catalog), config) {
		p.Apply(o)
	}
}

// readGitOwner is the cluster that Git names.
func (p *disaster) readGitOwner() string {
	p.T.Helper()
	file, err := p.Git.Git(p.T.Context(), p.Namespace, "show", "refs/intentplane/test/state:owner.json")
	p.Must(err)
	var owner struct {
		ClusterUID string `json:"clusterUID"`
	}
	if err := json.Unmarshal([]byte(file), &owner); err != nil || owner.ClusterUID == "" {
		p.T.Fatalf("the state should name its cluster: %q, %v", file, err)
	}
	return owner.ClusterUID
}

// secondCluster has the same control plane's name and all claims, at first without takeOverFrom. Nothing can be recorded before, so nothing is rejected, and
// all deployments continue then.
func (p *disaster) secondCluster() {
	p.interruptDelivery(p.lateClaim(1))
	previous, owner := p.refsOfRepository(), p.readGitOwner()
	p.buildAnotherCluster(p.ProviderConfig())
	fresh := p.Claim("fresh", intentOfService(p.Scene, "fresh", 1, "edge1"))       // The first cluster never had it.
	undelivered := p.Claim("never", intentOfService(p.Scene, "never", 1, "edge1")) // Nor this one.
	for _, claim := range []*unstructured.Unstructured{p.shopAtRevision(2), p.lateClaim(1), fresh, undelivered} {
		p.Apply(claim)
	}
	for _, d := range p.awaitReason(deliveryv1alpha1.ReasonOwnedElsewhere, 4) {
		if message := d.Status.GetCondition(xpv2.TypeReady).Message; !strings.Contains(message, owner) {
			p.T.Errorf("the message should name the first cluster: %s", message)
		}
	}
	for _, claim := range []*unstructured.Unstructured{fresh, p.lateClaim(1)} {
		p.Await(claim, "stalled", func(u *unstructured.Unstructured) bool {
			return scene.Is(u, "Stalled", corev1.ConditionTrue, "DeliveryBlocked") && scene.Field(u, "status", "phase") == "Delivering"
		})
	}
	p.Delete(undelivered)
	p.Until("a deletion that leaves files of other writers", patience.Limit, func() bool { return len(p.Deliveries()) == 3 })
	p.WantEqual("refs", previous, p.refsOfRepository())

	p.Apply(p.Set(p.ProviderConfig(), owner, "spec", "takeOverFrom"))
	p.expectRevisions(3+3, map[string]int64{"shop": 2, "late": 1, "fresh": 1}) // The marker names the new cluster.
}

// rebuildKnownLost builds a cluster in the place of a cluster that is known to be gone.
func (p *disaster) rebuildKnownLost() {
	p.interruptDelivery(p.lateClaim(1))
	files, owner := p.Files(), p.readGitOwner()
	p.buildAnotherCluster(p.Set(p.ProviderConfig(), owner, "spec", "takeOverFrom"))
	for _, claim := range []*unstructured.Unstructured{p.shopAtRevision(2), p.lateClaim(1)} {
		p.Apply(claim)
	}
	// One commit for each, since the marker names the new cluster.
	p.expectRevisions(3+2, map[string]int64{"shop": 2, "late": 1})
	p.Apply(p.ProviderConfig())
	p.Succeed(p.Claim("fresh", intentOfService(p.Scene, "fresh", 1, "edge1")))
	p.expectRevisions(3+3, map[string]int64{"shop": 2, "late": 1, "fresh": 1})
	for name, content := range p.Files() {
		if previous, isPresent := files[name]; isPresent && filepath.Base(name) != ".intentplane" && previous != content {
			p.T.Errorf("%s should be unchanged", name)
		}
	}
}
