package ledger

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

const claim = "shop"

// A form is the shape of a deployment.
type form struct {
	// repositories that the deployment has. The first one is the home.
	repositories int
	// waves delivers a revision to one repository after another.
	waves bool
	// gated adds a Gate with the judge to each revision.
	gated bool
	// timeout of deliveries. Empty means the default.
	timeout string
	// reapply delivers again on top of a branch that lost earlier deliveries.
	reapply bool
	// rollback is the rollbackConfig of the claim. Nil means the default.
	rollback map[string]any
	// irreversible marks the Deployments of the Blueprint as irreversible.
	irreversible bool
}

// A deployment is a claim with one Site in each of its repositories: edge1 in the home, edge2 in the next one, and so on.
type deployment struct {
	*scene.Scene

	form form
	// repositories by their names, which are the names of their configurations too.
	repositories []string
	// homeIs is the index of the repository that holds the ledger.
	homeIs atomic.Int32
	pushes *pushLog
}

// newDeployment makes all that a claim needs, but not the claim.
func newDeployment(t *testing.T, f form) *deployment {
	t.Helper()
	d := &deployment{Scene: scene.New(t, cp), form: f}
	for i := range f.repositories {
		name := d.Namespace
		if i > 0 {
			name = fmt.Sprintf("%s-%c", d.Namespace, 'a'+i)
			d.createRepository(name)
		}
		d.repositories = append(d.repositories, name)
	}
	d.applyCatalog()
	d.pushes = d.watchPushes()
	judges.setJudgeAnswer(d.Namespace, good)
	return d
}

// applyOwnCatalog applies the objects that the claim needs, which a user applies first who builds a cluster again.
func (d *deployment) applyOwnCatalog() []*unstructured.Unstructured {
	d.T.Helper()
	all := d.describeBlueprints()
	for i, repository := range d.repositories {
		all = append(all, d.describeConfig(repository), d.Set(d.NewSite(nameOfSite(i)), map[string]any{"name": repository}, "spec", "repository", "providerConfigRef"))
	}
	return all
}

// describeBlueprints describes the versions of the Blueprint, of which the last one is stable: a Blueprint never changes.
func (d *deployment) describeBlueprints() []*unstructured.Unstructured {
	d.T.Helper()
	if !d.form.irreversible {
		return []*unstructured.Unstructured{d.Blueprint("1.0.0", "stable")}
	}
	marks := []any{map[string]any{"group": "apps", "kind": "Deployment"}}
	return []*unstructured.Unstructured{d.Blueprint("1.0.0", "before"), d.Set(d.Blueprint("1.1.0", "stable"), marks, "spec", "irreversible")}
}

func (d *deployment) applyCatalog() {
	d.T.Helper()
	for _, o := range d.applyOwnCatalog() {
		d.Apply(o)
	}
}

// describeConfig describes the configuration of a repository.
func (d *deployment) describeConfig(repository string) *unstructured.Unstructured {
	d.T.Helper()
	o := d.ClusterProviderConfig()
	o.SetName(repository)
	d.Set(o, d.Git.URL(repository), "spec", "git", "url")
	if d.form.reapply {
		d.Set(o, "Reapply", "spec", "git", "divergencePolicy")
	}
	return d.Set(o, []any{judges.hostOfServer()}, "spec", "policy", "webCheckHosts")
}

func (d *deployment) createRepository(name string) {
	d.T.Helper()
	d.Must(d.Git.CreateRepo(d.T.Context(), name, map[string]string{"README.md": "Not ours.\n"}))
}

// setReceiveHook adds a shell script as a pre-receive hook of a repository.
func (d *deployment) setReceiveHook(repository, script string) {
	d.T.Helper()
	file := filepath.Join(d.Git.Path(repository), "hooks", "pre-receive")
	d.Must(os.MkdirAll(filepath.Dir(file), 0o755))
	d.Must(os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o755))
}

func nameOfSite(i int) string { return fmt.Sprintf("edge%d", i+1) }

// homeRepository is the repository that holds the ledger. The others are followers.
func (d *deployment) homeRepository() string { return d.repositories[d.homeIs.Load()] }

func (d *deployment) namesOfFollowers() []string { return d.repositories[1:] }

// describeShop describes the claim with so many replicas, by which revisions differ.
func (d *deployment) describeShop(replicas int) *unstructured.Unstructured {
	d.T.Helper()
	sites, waves := make([]string, len(d.repositories)), []any{}
	for i := range d.repositories {
		sites[i] = fmt.Sprintf("%q", d.Site(nameOfSite(i)))
		waves = append(waves, map[string]any{"name": nameOfSite(i), "sites": []any{d.Site(nameOfSite(i))}})
	}
	o := d.Claim(claim, fmt.Sprintf(`{"service": "shop", "type": "web", "sites": [%s], "replicas": %d}`, strings.Join(sites, ", "), replicas))
	d.Set(o, map[string]any{"kind": "ClusterProviderConfig", "name": d.Namespace}, "spec", "deliveryConfig", "gitOpsRepo")
	if d.form.timeout != "" {
		d.Set(o, d.form.timeout, "spec", "deliveryConfig", "deliveryTimeout")
	}
	if d.form.waves {
		d.Set(o, waves, "spec", "deliveryConfig", "waves")
	}
	if d.form.rollback != nil {
		d.Set(o, d.form.rollback, "spec", "rollbackConfig")
	}
	if d.form.gated {
		d.Set(o, []any{d.singleWebCheck()}, "spec", "gatesConfig", "checks")
	}
	return o
}

// singleWebCheck queries the judge each second until it responds.
func (d *deployment) singleWebCheck() map[string]any {
	return map[string]any{
		"name": "state", "type": "Web", "threshold": "== 1", "initialDelay": "1s", "interval": "1s", "count": int64(1), "timeout": "10m",
		"consecutiveErrorLimit": int64(100),
		"web":                   map[string]any{"url": judges.server.URL + "/" + d.Namespace, "expression": `answer.state == "good"`},
	}
}

// awaitSucceeded delivers the claim with so many replicas.
func (d *deployment) awaitSucceeded(replicas int) *unstructured.Unstructured {
	d.T.Helper()
	return d.Succeed(d.describeShop(replicas))
}

// awaitRolledBack waits until the claim, with so many replicas, was rejected and rolled back.
func (d *deployment) awaitRolledBack(replicas int) *unstructured.Unstructured {
	d.T.Helper()
	return d.Reach(d.describeShop(replicas), "rolled back", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == "Succeeded" && scene.Field(u, "status", "outcome") == "RolledBack" &&
			scene.Is(u, "Recorded", corev1.ConditionTrue, "")
	})
}

// awaitMeasuring waits until the claim, with so many replicas, is delivered everywhere, and the judge is queried.
func (d *deployment) awaitMeasuring(replicas int) *unstructured.Unstructured {
	d.T.Helper()
	return d.Reach(d.describeShop(replicas), "Validating", func(u *unstructured.Unstructured) bool { return scene.Field(u, "status", "phase") == "Validating" })
}

// awaitReason waits until a condition of the claim has a reason.
func (d *deployment) awaitReason(reason string) *unstructured.Unstructured {
	d.T.Helper()
	return d.Await(d.describeShop(1), "a condition with reason "+reason, func(u *unstructured.Unstructured) bool { return hasReasonOf(u, reason) })
}

func hasReasonOf(u *unstructured.Unstructured, reason string) bool {
	all, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	return slices.ContainsFunc(all, func(c any) bool {
		condition, ok := c.(map[string]any)
		return ok && condition["reason"] == reason
	})
}

// awaitReadyReason waits until condition Ready of the delivery to a repository has a reason.
func (d *deployment) awaitReadyReason(repository string, reason xpv2.ConditionReason) {
	d.T.Helper()
	d.Until(fmt.Sprintf("the delivery to %s says %s", repository, reason), patience.Limit, func() bool {
		delivery := d.deliveryToRepo(repository)
		return delivery != nil && delivery.Status.GetCondition(xpv2.TypeReady).Reason == reason
	})
}

// deliveryToRepo is the GitDelivery of a repository, or nil.
func (d *deployment) deliveryToRepo(repository string) *deliveryv1alpha1.GitDelivery {
	d.T.Helper()
	for _, delivery := range d.Deliveries() {
		if ref := delivery.Spec.ProviderConfigReference; ref != nil && ref.Name == repository {
			return &delivery
		}
	}
	return nil
}
