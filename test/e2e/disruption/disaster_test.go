package disruption

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
	"github.com/intentplane/intentplane/test/soak"
)

// TestDisaster tells what becomes of two claims, one of which is always being delivered, while their management cluster and their Git
// are lost, rebuilt and restored.
func TestDisaster(t *testing.T) {
	p := &disaster{Scene: scene.New(t, cp, "edge1", "edge2")}
	p.catalog = []*unstructured.Unstructured{p.ProviderConfig(), p.Blueprint("1.0.0", "stable"), p.NewSite("edge1"), p.NewSite("edge2")}
	p.Succeed(p.shop(1))
	p.Succeed(p.shop(2))
	p.expect(2, nil)

	if soak.Long() {
		p.Case("OldBackup", func(s *scene.Scene) { p.on(s).oldBackup() })
		p.Case("OldGit", func(s *scene.Scene) { p.on(s).oldGit() })
	}
	p.Case("SecondCluster", func(s *scene.Scene) { p.on(s).secondCluster() })
	if soak.Long() {
		p.Case("Rebuilt", func(s *scene.Scene) { p.on(s).rebuilt() })
	}
}

// A disaster is a scene whose cluster does not stay.
type disaster struct {
	*scene.Scene

	// catalog is what deployments need, and what somebody who rebuilds a cluster applies first.
	catalog []*unstructured.Unstructured
}

func (p *disaster) on(s *scene.Scene) *disaster {
	return &disaster{Scene: s, catalog: p.catalog}
}

// shop is the claim at a revision, and late the one that is being delivered.
func (p *disaster) shop(revision int) *unstructured.Unstructured {
	return p.Claim("shop", intent(p.Scene, revision, "edge1", "edge2"))
}

func (p *disaster) late(revision int) *unstructured.Unstructured {
	return p.Claim("late", intent(p.Scene, revision, "edge2"))
}

// interrupt a delivery after its push, before anything in the cluster knows of it. The provider is gone then.
func (p *disaster) interrupt(claim *unstructured.Unstructured) {
	p.T.Helper()
	file := filepath.Join(p.T.TempDir(), "crash")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		p.T.Fatal(err)
	}
	cp.KillProvider()
	startProvider(p.T, "--crash-after-push="+file)
	ctx, cancel := p.Context()
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- cp.AwaitProviderEnd(ctx) }()
	p.Apply(claim)
	if err := <-ended; err != nil {
		p.T.Fatal(err)
	}
}

// expect so many commits, and deployments that succeeded at these revisions, by name.
func (p *disaster) expect(commits int, revisions map[string]int64) {
	p.T.Helper()
	for name, revision := range revisions {
		p.Await(p.Claim(name, ""), "Succeeded", func(u *unstructured.Unstructured) bool {
			return scene.Field(u, "status", "phase") == "Succeeded" && scene.Number(u, "status", "revision") == revision &&
				scene.Is(u, "Ready", corev1.ConditionTrue, "") && scene.Is(u, "Recorded", corev1.ConditionTrue, "")
		})
	}
	wantCommits(p.Scene, commits)
}

// reached waits until all GitDeliveries have a reason.
func (p *disaster) reached(want xpv2.ConditionReason, deliveries int) []deliveryv1alpha1.GitDelivery {
	p.T.Helper()
	var all []deliveryv1alpha1.GitDelivery
	p.Until("GitDeliveries "+string(want), scene.Patience, func() bool {
		all = p.Deliveries()
		for i := range all {
			if reason(&all[i]) != string(want) {
				return false
			}
		}
		return len(all) == deliveries
	})
	return all
}

// rebuild the cluster, and let somebody do something before any controller runs.
func (p *disaster) rebuild(from controlplane.Backup, first func()) {
	p.T.Helper()
	err := cp.Rebuild(p.T.Context(), from, func() error {
		first()
		return nil
	})
	if err != nil {
		p.T.Fatal(err)
	}
}

// oldBackup brings back a cluster from before the third revision, in the middle of another deployment's first one.
func (p *disaster) oldBackup() {
	p.interrupt(p.late(1))
	backup, err := cp.Backup(p.T.Context())
	if err != nil {
		p.T.Fatal(err)
	}
	startProvider(p.T)
	p.Succeed(p.shop(3))
	p.expect(4, map[string]int64{"shop": 3, "late": 1})
	refs := p.refs()

	var composites []*unstructured.Unstructured
	p.rebuild(backup, func() {
		p.Apply(p.shop(3))
		for _, name := range []string{"shop", "late"} {
			composites = append(composites, p.XR(p.Now(p.Claim(name, ""))))
		}
		// The function does not answer yet, so that it is seen what the provider does with an old order.
		for _, xr := range composites {
			p.Patch(xr, `{"metadata":{"annotations":{"crossplane.io/paused":"true"}}}`)
		}
	})
	// What was being delivered was verified since then, so its order is as old as the other one.
	p.reached(deliveryv1alpha1.ReasonOrderBehind, 2)
	p.expect(4, nil)
	for _, xr := range composites {
		p.Patch(xr, `{"metadata":{"annotations":{"crossplane.io/paused":null}}}`)
	}
	p.expect(4, map[string]int64{"shop": 3, "late": 1})
	if diff := cmp.Diff(refs["refs/heads/main"], p.refs()["refs/heads/main"]); diff != "" {
		p.T.Errorf("branch: -want, +got:\n%s", diff)
	}
}

func (p *disaster) has(want xpv2.ConditionReason) bool {
	p.T.Helper()
	for _, d := range p.Deliveries() {
		if reason(&d) == string(want) {
			return true
		}
	}
	return false
}

func (p *disaster) refs() map[string]string {
	p.T.Helper()
	refs, err := p.Git.Refs(p.T.Context(), p.Namespace)
	if err != nil {
		p.T.Fatal(err)
	}
	return refs
}

// oldGit brings back a repository from before the fourth revision, and from before one that is being delivered.
func (p *disaster) oldGit() {
	before := p.refs()
	p.Succeed(p.shop(4))
	p.interrupt(p.late(2))
	p.expect(6, nil)
	for name, id := range before {
		if _, err := p.Git.Git(p.T.Context(), p.Namespace, "update-ref", name, id); err != nil {
			p.T.Fatal(err)
		}
	}
	startProvider(p.T)
	// What was being delivered is not known to be there, so it is simply delivered. What was there before is missed.
	p.Until("a lost history noticed", scene.Patience, func() bool { return p.has(deliveryv1alpha1.ReasonDiverged) })
	p.Apply(p.Set(p.ProviderConfig(), string(configv1alpha1.DivergenceReapply), "spec", "git", "divergencePolicy"))
	p.reached(deliveryv1alpha1.ReasonDelivered, 2)
	p.expect(6, map[string]int64{"shop": 4, "late": 2})
	p.Apply(p.ProviderConfig())
}

// secondCluster has the same control plane's name and all claims, and nobody said that the first one is gone.
func (p *disaster) secondCluster() {
	before := p.refs()
	p.rebuild(controlplane.Backup{}, func() {})
	p.Run("create", "namespace", p.Namespace)
	for _, o := range p.catalog {
		p.Apply(o)
	}
	never := p.Claim("never", intent(p.Scene, 1, "edge1")) // The first cluster never had it.
	for _, claim := range []*unstructured.Unstructured{p.shop(4), p.late(2), never} {
		p.Apply(claim)
	}
	p.reached(deliveryv1alpha1.ReasonOwnedElsewhere, 3)
	p.Delete(never)
	gone := func() bool { return len(p.Deliveries()) == 2 }
	p.Until("a deletion that leaves what is not ours", scene.Patience, gone)
	if diff := cmp.Diff(before, p.refs()); diff != "" {
		p.T.Errorf("refs: -want, +got:\n%s", diff)
	}
}

// first finds the cluster that a message names.
var first = regexp.MustCompile(`cluster with uid "([^"]+)"`)

// rebuilt is what the second cluster becomes once somebody says so.
func (p *disaster) rebuilt() {
	files := p.Files()
	all := p.reached(deliveryv1alpha1.ReasonOwnedElsewhere, 2)
	uid := first.FindStringSubmatch(all[0].Status.GetCondition(xpv2.TypeReady).Message)
	if len(uid) != 2 {
		p.T.Fatalf("the message should name the first cluster: %v", all[0].Status.Conditions)
	}
	p.Apply(p.Set(p.ProviderConfig(), uid[1], "spec", "takeOverFrom"))
	// One commit for each, since the marker names the new cluster.
	p.expect(6+2, map[string]int64{"shop": 4, "late": 2})
	p.Apply(p.ProviderConfig())
	p.reached(deliveryv1alpha1.ReasonDelivered, 2)
	p.expect(6+2, nil)
	for name, content := range p.Files() {
		if was, there := files[name]; there && filepath.Base(name) != ".intentplane" && was != content {
			p.T.Errorf("%s should be what it was", name)
		}
	}
}
