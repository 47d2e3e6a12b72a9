package bundlestate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/bundle"
	"github.com/intentplane/intentplane/provider/prune"
)

const group = "intentplane.dev"

var (
	now      = time.Date(2031, 12, 17, 13, 14, 15, 0, time.UTC)
	platform = v1alpha1.BundleReference{Group: "claims.intentplane.dev", Name: "platform"}
	other    = v1alpha1.BundleReference{Group: group, Name: "other"}
)

// pkg returns a package whose spec has a digest, as "shop@d1: db cache".
func pkg(text string, edits ...func(*v1alpha1.BundlePackage)) v1alpha1.BundlePackage {
	head, needs, _ := strings.Cut(text, ":")
	name, digest, _ := strings.Cut(head, "@")
	p := v1alpha1.BundlePackage{Name: name, Version: "1." + digest, Group: group, Kind: "IntentDeployment", Digest: digest, Spec: &runtime.RawExtension{}, DependsOn: strings.Fields(needs)}
	p.Layer = int32(1 + len(p.DependsOn))
	for _, e := range edits {
		e(&p)
	}
	return p
}

func disabled(p *v1alpha1.BundlePackage) { p.Disabled = true }
func adopting(p *v1alpha1.BundlePackage) { p.Adopt = true }
func existing(p *v1alpha1.BundlePackage) { p.Spec, p.Digest = nil, "" }

// live returns an object that a bundle made of a spec, and that was deployed with success.
func live(name, digest string, owner v1alpha1.BundleReference, edits ...func(*object)) *object {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetAPIVersion(group + "/v1alpha1")
	u.SetKind("IntentDeployment")
	u.SetName(name)
	u.SetUID(types.UID("uid-" + name))
	o := &object{live: u, owner: owner, label: name, digest: digest, evidence: bundle.Evidence{Reported: digest, IsDone: true, Ready: true, Revision: 3}}
	for _, e := range edits {
		e(o)
	}
	return o
}

func unlabelled(o *object) { o.owner, o.label = v1alpha1.BundleReference{}, "" }
func controlled(o *object) { o.isControlled = true }
func deleting(o *object)   { o.isDeleting = true }
func stuck(o *object)      { o.isDeleting, o.removalProblem = true, "the repository does not answer" }
func left(o *object)       { o.unreferencedSince = "2031-01-01T00:00:00Z" }
func unready(o *object)    { o.evidence.Ready = false }
func rolledBack(o *object) {
	o.evidence.IsDone, o.evidence.WasRolledBack, o.evidence.Message = false, true, "gate latency"
}
func failed(o *object)     { o.evidence.IsDone, o.evidence.HasFailed = false, true }
func untaken(o *object)    { o.evidence.Reported = "before" }
func held(o *object)       { o.evidence.IsHeldBack = true }
func relabelled(o *object) { o.label = "another" }

// A scene has the requested packages and the existing objects.
type scene struct {
	asked      []v1alpha1.BundlePackage
	there      []*object
	was        []v1alpha1.PackageObservation
	neighbours []v1alpha1.BundleState
	records    map[string][]string
	unread     map[string]error
	namers     map[string][]string
	unrecorded bool
	plan       *prune.Plan
	pruneAfter *metav1.Duration
	missing    bool
	suspended  bool
	deleted    bool
	orphan     bool
}

func (s scene) facts() *facts {
	f := &facts{
		now: now, bundle: platform, isDeleted: s.deleted, age: age{created: now, name: "platform"}, was: map[string]v1alpha1.PackageObservation{},
		objects: map[objectKey]*object{}, missingKinds: map[string]bool{"IntentDeployment": s.missing}, usages: map[objectKey]usage{},
		records: map[string]bool{}, recordUsers: s.records, unread: s.unread,
		spec: v1alpha1.BundleStateParameters{BundleRef: platform, Packages: s.asked, Suspend: s.suspended, Orphan: s.orphan},
	}
	f.namers, f.plan, f.spec.PruneAfter, f.removable = s.namers, s.plan, s.pruneAfter, map[string]bool{}
	if s.plan != nil {
		for _, i := range s.plan.Pruned() {
			f.removable[i.UID] = true
		}
	}
	for _, o := range s.there {
		if o.owner == platform && !s.unrecorded {
			f.was[o.live.GetName()] = v1alpha1.PackageObservation{Name: o.live.GetName(), UID: string(o.live.GetUID())}
		}
		f.objects[objectKey{group, o.live.GetKind(), o.live.GetName()}] = o
	}
	for _, p := range s.was {
		f.was[p.Name] = p
	}
	for i := range s.neighbours {
		f.addNeighbour(newBundle(), &s.neighbours[i])
	}
	return f
}

// beside returns a bundle that was made so many hours before ours.
func beside(hours int, packages ...v1alpha1.BundlePackage) v1alpha1.BundleState {
	bs := v1alpha1.BundleState{ObjectMeta: metav1.ObjectMeta{Name: "other.ns", CreationTimestamp: metav1.NewTime(now.Add(-time.Duration(hours) * time.Hour))}}
	bs.Spec.ForProvider = v1alpha1.BundleStateParameters{BundleRef: other, Packages: packages}
	return bs
}

func was(name, status, digest string) v1alpha1.PackageObservation {
	return v1alpha1.PackageObservation{Name: name, UID: "uid-" + name, Status: status, Digest: digest, Version: "1." + digest}
}

// describe returns the observations and the actions of a decision in a few words each.
func describe(d decision) []string {
	out := []string{d.status}
	for _, p := range d.packages {
		out = append(out, strings.TrimRight(fmt.Sprintf("%s %s %s", p.Name, p.Status, p.Reason), " "))
	}
	for _, a := range d.actions {
		line := string(a.verb) + " " + a.actionObjectName()
		if a.verb == verbLabel {
			line += " for " + a.owner.Name + strings.TrimRight(" "+a.unreferencedSince, " ")
		}
		out = append(out, line)
	}
	return out
}

func TestDecide(t *testing.T) {
	cases := map[string]struct {
		reason string
		scene  scene
		want   []string
	}{
		"First": {
			reason: "The first layer is created, and the second layer waits.", scene: scene{asked: []v1alpha1.BundlePackage{pkg("shop@d1: db"), pkg("db@d1")}},
			want: []string{"deploying", "shop not_deployed AwaitingDependency", "db deploying InProgress", "create IntentDeployment db"},
		},
		"Second": {
			reason: "The second layer is created when the first layer is deployed.",
			scene:  scene{asked: []v1alpha1.BundlePackage{pkg("shop@d1: db"), pkg("db@d1")}, there: []*object{live("db", "d1", platform)}},
			want:   []string{"deploying", "shop deploying InProgress", "db success", "create IntentDeployment shop"},
		},
		"Done": {
			reason: "A bundle that is deployed changes nothing.",
			scene:  scene{asked: []v1alpha1.BundlePackage{pkg("db@d1")}, there: []*object{live("db", "d1", platform)}},
			want:   []string{"success", "db success"},
		},
		"NotReady": {
			reason: "A package is created only after its dependencies are ready.",
			scene:  scene{asked: []v1alpha1.BundlePackage{pkg("shop@d1: db"), pkg("db@d1")}, there: []*object{live("db", "d1", platform, unready)}},
			want:   []string{"deploying", "shop not_deployed AwaitingDependency", "db deploying InProgress"},
		},
		"Down": {
			reason: "A deployed package keeps its status while it is not ready, and its dependents wait.",
			scene: scene{
				asked: []v1alpha1.BundlePackage{pkg("shop@d1: db"), pkg("db@d1")}, there: []*object{live("db", "d1", platform, unready)},
				was: []v1alpha1.PackageObservation{was("db", "success", "d1")},
			},
			want: []string{"deploying", "shop not_deployed AwaitingDependency", "db success NotReady"},
		},
		"OldSuccess": {
			reason: "A success of an earlier spec does not count for the current spec.",
			scene:  scene{asked: []v1alpha1.BundlePackage{pkg("shop@d1: db"), pkg("db@d2")}, there: []*object{live("db", "d2", platform, untaken)}},
			want:   []string{"deploying", "shop not_deployed AwaitingDependency", "db deploying InProgress"},
		},
		"Failed": {
			reason: "A failed package stops its dependents only.",
			scene:  scene{asked: []v1alpha1.BundlePackage{pkg("shop@d1: db"), pkg("db@d1"), pkg("web@d1")}, there: []*object{live("db", "d1", platform, failed)}},
			want:   []string{"failed", "shop not_deployed AwaitingDependency", "db failed DeploymentFailed", "web deploying InProgress", "create IntentDeployment web"},
		},
		"RolledBack": {
			reason: "A package that was rolled back failed.",
			scene:  scene{asked: []v1alpha1.BundlePackage{pkg("db@d1")}, there: []*object{live("db", "d1", platform, rolledBack)}},
			want:   []string{"failed", "db failed RolledBack"},
		},
		"Held": {
			reason: "A package that is suspended is not deployed, whatever its outcome was.",
			scene:  scene{asked: []v1alpha1.BundlePackage{pkg("db@d1")}, there: []*object{live("db", "d1", platform, held)}},
			want:   []string{"deploying", "db deploying Suspended"},
		},
		"Edit": {
			reason: "Another spec goes out.", scene: scene{asked: []v1alpha1.BundlePackage{pkg("db@d2")}, there: []*object{live("db", "d1", platform)}},
			want: []string{"deploying", "db deploying InProgress", "update IntentDeployment db"},
		},
		"EditWaits": {
			reason: "A changed spec waits for its layer, and the package keeps its status.",
			scene: scene{
				asked: []v1alpha1.BundlePackage{pkg("shop@d2: db"), pkg("db@d2")},
				there: []*object{live("db", "d1", platform), live("shop", "d1", platform)},
				was:   []v1alpha1.PackageObservation{was("shop", "success", "d1")},
			},
			want: []string{"deploying", "shop success AwaitingDependency", "db deploying InProgress", "update IntentDeployment db"},
		},
		"EditMends": {
			reason: "A failed package whose corrected spec waits for its layer does not fail the Bundle.",
			scene: scene{
				asked: []v1alpha1.BundlePackage{pkg("shop@d2: db"), pkg("db@d2")},
				there: []*object{live("db", "d1", platform), live("shop", "d1", platform, failed)},
				was:   []v1alpha1.PackageObservation{was("shop", "failed", "d1")},
			},
			want: []string{"deploying", "shop failed AwaitingDependency", "db deploying InProgress", "update IntentDeployment db"},
		},
		"Suspended": {
			reason: "A Bundle that is suspended changes nothing.",
			scene: scene{
				suspended: true, asked: []v1alpha1.BundlePackage{pkg("db@d2"), pkg("web@d1"), pkg("old@d1", disabled)},
				there: []*object{live("db", "d1", platform), live("old", "d1", platform), live("gone", "d1", platform)},
			},
			want: []string{"deploying", "db success Suspended", "web not_deployed Suspended", "old success Suspended", "gone unreferenced Unreferenced"},
		},
		"Left": {
			reason: "A package that leaves the Bundle runs on, and it is noted since when.",
			scene:  scene{asked: []v1alpha1.BundlePackage{pkg("db@d1")}, there: []*object{live("db", "d1", platform), live("old", "d1", platform)}},
			want:   []string{"success", "db success", "old unreferenced Unreferenced", "label IntentDeployment old for platform 2031-12-17T13:14:15Z"},
		},
		"LeftBefore": {
			reason: "The time at which a package left the Bundle is noted once.",
			scene: scene{
				asked: []v1alpha1.BundlePackage{pkg("db@d1")}, there: []*object{live("db", "d1", platform), live("old", "d1", platform, left)},
			},
			want: []string{"success", "db success", "old unreferenced Unreferenced"},
		},
		"LeftAndDeleted": {
			reason: "An object that a user deletes has the status removing.",
			scene: scene{
				asked: []v1alpha1.BundlePackage{pkg("db@d1")},
				there: []*object{live("db", "d1", platform), live("old", "d1", platform, left, deleting)},
			},
			want: []string{"success", "db success", "old removing"},
		},
		"LeftTwice": {
			reason: "Of two objects of one name that left, the status has one, and both are noted.",
			scene: scene{
				asked: []v1alpha1.BundlePackage{pkg("db@d1")},
				there: []*object{live("db", "d1", platform), live("old", "d1", platform), live("old", "d1", platform, asApplication)},
			},
			want: []string{
				"success", "db success", "old unreferenced Unreferenced", "label Application old for platform 2031-12-17T13:14:15Z",
				"label IntentDeployment old for platform 2031-12-17T13:14:15Z",
			},
		},
		"OtherKindLeft": {
			reason: "An object that has the name of a package of another kind is handed over to the bundle that has it.",
			scene: scene{
				asked: []v1alpha1.BundlePackage{pkg("db@d1", ofApplication)}, there: []*object{live("db", "d1", platform)},
				neighbours: []v1alpha1.BundleState{beside(1, pkg("db@d1"))},
			},
			want: []string{"failed", "db failed NameTaken", "label IntentDeployment db for other"},
		},
		"OtherKindNoted": {
			reason: "An object that no package names is noted as unreferenced if no bundle takes it over.",
			scene:  scene{deleted: true, asked: []v1alpha1.BundlePackage{pkg("db@d1", ofApplication)}, there: []*object{live("db", "d1", platform)}},
			want:   []string{"removing", "db not_deployed Disabled", "label IntentDeployment db for platform 2031-12-17T13:14:15Z"},
		},
		"WaitsAndFails": {
			reason: "A waiting package reports the outcome of its previous spec.",
			scene: scene{
				asked: []v1alpha1.BundlePackage{pkg("shop@d2: db"), pkg("db@d1")},
				there: []*object{live("db", "d1", platform, failed), live("shop", "d1", platform)},
				was:   []v1alpha1.PackageObservation{was("shop", "deploying", "d1")},
			},
			want: []string{"failed", "shop success AwaitingDependency", "db failed DeploymentFailed"},
		},
		"Back": {
			reason: "A package that comes back is taken up again.",
			scene:  scene{asked: []v1alpha1.BundlePackage{pkg("db@d1")}, there: []*object{live("db", "d1", platform, left)}},
			want:   []string{"success", "db success", "label IntentDeployment db for platform"},
		},
		"NameTaken": {
			reason: "The provider does not change an object that a user created.",
			scene:  scene{asked: []v1alpha1.BundlePackage{pkg("db@d1")}, there: []*object{live("db", "d1", platform, unlabelled)}},
			want:   []string{"failed", "db failed NameTaken"},
		},
		"Adopted": {
			reason: "With adopt the provider takes over a user's object of an equal spec.",
			scene:  scene{asked: []v1alpha1.BundlePackage{pkg("db@d1", adopting)}, there: []*object{live("db", "d1", platform, unlabelled)}},
			want:   []string{"success", "db success", "label IntentDeployment db for platform"},
		},
		"AdoptOther": {
			reason: "The provider does not adopt an object of another spec.",
			scene:  scene{asked: []v1alpha1.BundlePackage{pkg("db@d2", adopting)}, there: []*object{live("db", "d1", platform, unlabelled)}},
			want:   []string{"failed", "db failed NameTaken"},
		},
		"AdoptControlled": {
			reason: "The provider does not adopt an object that has another controller.",
			scene: scene{
				asked: []v1alpha1.BundlePackage{pkg("db@d1", adopting)}, there: []*object{live("db", "d1", platform, unlabelled, controlled)},
			},
			want: []string{"failed", "db failed NameTaken"},
		},
		"Relabelled": {
			reason: "An object whose labels a user changed is not touched.",
			scene:  scene{asked: []v1alpha1.BundlePackage{pkg("db@d2")}, there: []*object{live("db", "d1", platform, relabelled)}},
			want:   []string{"failed", "db failed NameTaken"},
		},
		"Shared": {
			reason: "A package of another bundle with the same spec is used.",
			scene: scene{
				asked: []v1alpha1.BundlePackage{pkg("db@d1")}, there: []*object{live("db", "d1", other)},
				neighbours: []v1alpha1.BundleState{beside(1, pkg("db@d1"))},
			},
			want: []string{"success", "db success"},
		},
		"SharedChanges": {
			reason: "A bundle that shares a package waits for the change of the other bundle.",
			scene: scene{
				asked: []v1alpha1.BundlePackage{pkg("db@d2")}, there: []*object{live("db", "d1", other)},
				neighbours: []v1alpha1.BundleState{beside(1, pkg("db@d2"))},
			},
			want: []string{"deploying", "db deploying InProgress"},
		},
		"Conflict": {
			reason: "A package of another bundle with another spec is a conflict.",
			scene: scene{
				asked: []v1alpha1.BundlePackage{pkg("db@d2"), pkg("web@d1")}, there: []*object{live("db", "d1", other)},
				neighbours: []v1alpha1.BundleState{beside(1, pkg("db@d1"))},
			},
			want: []string{"failed", "db failed PackageConflict", "web deploying InProgress", "create IntentDeployment web"},
		},
		"TakenOver": {
			reason: "A package that its bundle dropped gets no other spec by a handover.",
			scene: scene{
				asked: []v1alpha1.BundlePackage{pkg("db@d2")}, there: []*object{live("db", "d1", other, left)},
				neighbours: []v1alpha1.BundleState{beside(1, pkg("web@d1"))},
			},
			want: []string{"failed", "db failed NameTaken"},
		},
		"Awaited": {
			reason: "A package that another bundle had gets no other spec once that bundle is gone.",
			scene:  scene{asked: []v1alpha1.BundlePackage{pkg("db@d2")}, there: []*object{live("db", "d1", other)}},
			want:   []string{"failed", "db failed NameTaken"},
		},
		"Stolen": {
			reason: "The labels of this Bundle on a package that another bundle made and deploys let nothing be changed.",
			scene: scene{
				unrecorded: true, asked: []v1alpha1.BundlePackage{pkg("db@d2")}, there: []*object{live("db", "d1", platform)},
				neighbours: []v1alpha1.BundleState{beside(1, pkg("db@d1"))},
			},
			want: []string{"failed", "db failed NameTaken"},
		},
		"Claimed": {
			reason: "The labels of this Bundle on an object that a user made let nothing be changed.",
			scene:  scene{unrecorded: true, asked: []v1alpha1.BundlePackage{pkg("db@d2")}, there: []*object{live("db", "d1", platform)}},
			want:   []string{"failed", "db failed NameTaken"},
		},
		"ClaimedOther": {
			reason: "The labels of another bundle that is there prove as little.",
			scene: scene{
				asked: []v1alpha1.BundlePackage{pkg("db@d2")}, there: []*object{live("db", "d1", other)},
				neighbours: []v1alpha1.BundleState{beside(1, pkg("web@d1"))},
			},
			want: []string{"failed", "db failed NameTaken"},
		},
		"Replaced": {
			reason: "An object that a user created again is another object.",
			scene: scene{
				unrecorded: true, asked: []v1alpha1.BundlePackage{pkg("db@d2")}, there: []*object{live("db", "d1", platform)},
				was: []v1alpha1.PackageObservation{{Name: "db", UID: "uid-before", Status: "success", Digest: "d1"}},
			},
			want: []string{"failed", "db failed NameTaken"},
		},
		"Labelled": {
			reason: "Labels of a deleted bundle allow no change, and adopt takes over objects of an equal spec only.",
			scene: scene{
				asked: []v1alpha1.BundlePackage{pkg("db@d2"), pkg("web@d2", adopting)},
				there: []*object{live("db", "d1", other, left), live("web", "d1", other)},
			},
			want: []string{"failed", "db failed NameTaken", "web failed NameTaken"},
		},
		"LabelledEqual": {
			reason: "An object of a deleted bundle is taken over if its spec is equal.",
			scene:  scene{asked: []v1alpha1.BundlePackage{pkg("db@d1")}, there: []*object{live("db", "d1", other, left)}},
			want:   []string{"success", "db success", "label IntentDeployment db for platform"},
		},
		"OlderFirst": {
			reason: "The older of two bundles takes over a package that a third bundle dropped.",
			scene: scene{
				asked:      []v1alpha1.BundlePackage{pkg("db@d1")},
				there:      []*object{live("db", "d1", v1alpha1.BundleReference{Group: group, Name: "third"})},
				neighbours: []v1alpha1.BundleState{beside(1, pkg("db@d1"))},
			},
			want: []string{"success", "db success"},
		},
		"YoungerWaits": {
			reason: "The older bundle takes a package over although a younger bundle wants it, too.",
			scene: scene{
				asked:      []v1alpha1.BundlePackage{pkg("db@d1")},
				there:      []*object{live("db", "d1", v1alpha1.BundleReference{Group: group, Name: "third"})},
				neighbours: []v1alpha1.BundleState{beside(-1, pkg("db@d1"))},
			},
			want: []string{"success", "db success", "label IntentDeployment db for platform"},
		},
		"HandedOver": {
			reason: "A package that another bundle names too is handed over, and is not unreferenced.",
			scene: scene{
				asked: []v1alpha1.BundlePackage{pkg("web@d1")}, there: []*object{live("db", "d1", platform), live("web", "d1", platform)},
				neighbours: []v1alpha1.BundleState{beside(1, pkg("db@d1"))},
			},
			want: []string{"success", "web success", "label IntentDeployment db for other"},
		},
		"Disabled": {
			reason: "A package that is not enabled is removed.",
			scene:  scene{asked: []v1alpha1.BundlePackage{pkg("db@d1", disabled)}, there: []*object{live("db", "d1", platform)}},
			want:   []string{"deploying", "db removing", "remove IntentDeployment db"},
		},
		"DisabledNever": {
			reason: "A disabled package that was never deployed is not removed.", scene: scene{asked: []v1alpha1.BundlePackage{pkg("db@d1", disabled)}},
			want: []string{"not_deployed", "db not_deployed Disabled"},
		},
		"DisabledGone": {
			reason: "A disabled package has the status removed once its object is deleted.",
			scene:  scene{asked: []v1alpha1.BundlePackage{pkg("db@d1", disabled)}, was: []v1alpha1.PackageObservation{was("db", "removing", "d1")}},
			want:   []string{"not_deployed", "db removed Disabled"},
		},
		"DisabledShared": {
			reason: "A disabled package that another bundle names too is handed over.",
			scene: scene{
				asked: []v1alpha1.BundlePackage{pkg("db@d1", disabled)}, there: []*object{live("db", "d1", platform)},
				neighbours: []v1alpha1.BundleState{beside(1, pkg("db@d1"))},
			},
			want: []string{"not_deployed", "db not_deployed Disabled", "label IntentDeployment db for other"},
		},
		"DisabledAwaited": {
			reason: "A package stays while another bundle awaits it.",
			scene: scene{
				asked: []v1alpha1.BundlePackage{pkg("db@d1", disabled)}, there: []*object{live("db", "d1", platform)},
				neighbours: []v1alpha1.BundleState{beside(1, pkg("db@d1", existing))},
			},
			want: []string{"failed", "db failed_remove UsedByBundle"},
		},
		"DisabledRecorded": {
			reason: "A package stays while the record of another program names it.",
			scene: scene{
				asked: []v1alpha1.BundlePackage{pkg("db@d1", disabled)}, there: []*object{live("db", "d1", platform)},
				records: map[string][]string{"db": {"theirs"}},
			},
			want: []string{"failed", "db failed_remove UsedByBundle"},
		},
		"DisabledNamed": {
			reason: "A package stays while a Bundle names it whose BundleState is not written yet.",
			scene: scene{
				asked: []v1alpha1.BundlePackage{pkg("db@d1", disabled)}, there: []*object{live("db", "d1", platform)},
				namers: map[string][]string{"db": {"third"}},
			},
			want: []string{"failed", "db failed_remove UsedByBundle"},
		},
		"DeletedNamed": {
			reason: "A deleted Bundle leaves it.",
			scene: scene{
				deleted: true, asked: []v1alpha1.BundlePackage{pkg("db@d1")}, there: []*object{live("db", "d1", platform)},
				namers: map[string][]string{"db": {"third"}},
			},
			want: []string{"removing", "db not_deployed Disabled", "label IntentDeployment db for platform 2031-12-17T13:14:15Z"},
		},
		"DisabledInner": {
			reason: "An Application stays while another bundle waits for the IntentDeployment that goes with it.",
			scene: scene{
				asked: []v1alpha1.BundlePackage{pkg("db@d1", ofApplication, disabled)}, there: []*object{live("db", "d1", platform, asApplication)},
				neighbours: []v1alpha1.BundleState{beside(1, pkg("db@d1", existing))},
			},
			want: []string{"failed", "db failed_remove UsedByBundle"},
		},
		"DisabledUnread": {
			reason: "A package stays while an unreadable record may name it.",
			scene: scene{
				asked: []v1alpha1.BundlePackage{pkg("db@d1", disabled)}, there: []*object{live("db", "d1", platform)},
				unread: map[string]error{"db": errTest},
			},
			want: []string{"failed", "db failed_remove UsedByBundle"},
		},
		"DeletedUnread": {
			reason: "The deletion of a Bundle waits for a package that an unreadable record may name, and the status reports it.",
			scene: scene{
				deleted: true, asked: []v1alpha1.BundlePackage{pkg("db@d1")}, there: []*object{live("db", "d1", platform)},
				unread: map[string]error{"db": errTest},
			},
			want: []string{"removing", "db failed_remove UsedByBundle"},
		},
		"OrphanedUnread": {
			reason: "A deleted Bundle that orphans its packages leaves a package that an unreadable record may name.",
			scene: scene{
				deleted: true, orphan: true, asked: []v1alpha1.BundlePackage{pkg("db@d1")}, there: []*object{live("db", "d1", platform)},
				unread: map[string]error{"db": errTest},
			},
			want: []string{"removing", "db not_deployed Disabled", "label IntentDeployment db for platform 2031-12-17T13:14:15Z"},
		},
		"DisabledByAnother": {
			reason: "A package that no other bundle deploys is removed.",
			scene: scene{
				asked: []v1alpha1.BundlePackage{pkg("db@d1", disabled)}, there: []*object{live("db", "d1", platform)},
				neighbours: []v1alpha1.BundleState{beside(1, pkg("db@d1", disabled))},
			},
			want: []string{"deploying", "db removing", "remove IntentDeployment db"},
		},
		"DisabledUnrecorded": {
			reason: "An object that merely carries the labels of this Bundle is not removed.",
			scene:  scene{unrecorded: true, asked: []v1alpha1.BundlePackage{pkg("db@d1", disabled)}, there: []*object{live("db", "d1", platform)}},
			want:   []string{"not_deployed", "db not_deployed Disabled"},
		},
		"DisabledReplaced": {
			reason: "An object that a user made again with the labels is not removed.",
			scene: scene{
				unrecorded: true, asked: []v1alpha1.BundlePackage{pkg("db@d1", disabled)}, there: []*object{live("db", "d1", platform)},
				was: []v1alpha1.PackageObservation{{Name: "db", UID: "uid-before", Status: "success", Digest: "d1"}},
			},
			want: []string{"not_deployed", "db removed Disabled"},
		},
		"DeletedUnrecorded": {
			reason: "A deleted Bundle removes no object that merely carries its labels, and does not wait for it.",
			scene: scene{
				unrecorded: true, deleted: true, asked: []v1alpha1.BundlePackage{pkg("db@d1")}, there: []*object{live("db", "d1", platform)},
			},
			want: []string{"removing", "db not_deployed Disabled"},
		},
		"DisabledNeeded": {
			reason: "A dependency is removed after its dependents.",
			scene: scene{
				asked: []v1alpha1.BundlePackage{pkg("db@d1", disabled), pkg("shop@d1: db", disabled)},
				there: []*object{live("db", "d1", platform), live("shop", "d1", platform)},
				was:   []v1alpha1.PackageObservation{was("db", "success", "d1")},
			},
			want: []string{"deploying", "db success AwaitingDependents", "shop removing", "remove IntentDeployment shop"},
		},
		"DisabledForeign": {
			reason: "The provider does not remove a package of another bundle.",
			scene:  scene{asked: []v1alpha1.BundlePackage{pkg("db@d1", disabled)}, there: []*object{live("db", "d1", other)}},
			want:   []string{"not_deployed", "db not_deployed Disabled"},
		},
		"Blocked": {
			reason: "The status reports a removal that does not finish.",
			scene:  scene{asked: []v1alpha1.BundlePackage{pkg("db@d1", disabled)}, there: []*object{live("db", "d1", platform, stuck)}},
			want:   []string{"failed", "db failed_remove RemovalBlocked"},
		},
		"Deleting": {
			reason: "A package that a user deletes is created again after its removal.",
			scene:  scene{asked: []v1alpha1.BundlePackage{pkg("db@d1")}, there: []*object{live("db", "d1", platform, deleting)}},
			want:   []string{"deploying", "db deploying AwaitingDeletion"},
		},
		"KindMissing": {
			reason: "A kind that is not installed is a failure.", scene: scene{missing: true, asked: []v1alpha1.BundlePackage{pkg("db@d1")}},
			want: []string{"failed", "db failed KindMissing"},
		},
		"Existing": {
			reason: "A package that another user deploys is waited for.",
			scene: scene{
				asked: []v1alpha1.BundlePackage{pkg("db@", existing), pkg("shop@d1: db")}, there: []*object{live("db", "d7", platform, unlabelled)},
			},
			want: []string{"deploying", "db success", "shop deploying InProgress", "create IntentDeployment shop"},
		},
		"ExistingMissing": {
			reason: "A missing package of another user holds back its dependents.",
			scene:  scene{asked: []v1alpha1.BundlePackage{pkg("db@", existing), pkg("shop@d1: db")}},
			want:   []string{"not_deployed", "db not_deployed Missing", "shop not_deployed AwaitingDependency"},
		},
		"OtherKind": {
			reason: "A package that becomes another kind waits until the object before is removed.",
			scene: scene{
				asked: []v1alpha1.BundlePackage{pkg("db@d1", func(p *v1alpha1.BundlePackage) { p.Kind = "Application" })},
				there: []*object{live("db", "d1", platform)},
			},
			want: []string{"failed", "db failed NameTaken", "label IntentDeployment db for platform 2031-12-17T13:14:15Z"},
		},
		"Deleted": {
			reason: "A deleted Bundle removes its packages in reverse order, and leaves unreferenced objects.",
			scene: scene{
				deleted: true, asked: []v1alpha1.BundlePackage{pkg("db@d1"), pkg("shop@d1: db")},
				there: []*object{live("db", "d1", platform), live("shop", "d1", platform), live("old", "d1", platform, left)},
				was:   []v1alpha1.PackageObservation{was("db", "success", "d1")},
			},
			want: []string{"removing", "db success AwaitingDependents", "shop removing", "old unreferenced Unreferenced", "remove IntentDeployment shop"},
		},
		"DeletedNext": {
			reason: "A layer is removed after the layer behind it.",
			scene: scene{
				deleted: true, suspended: true, asked: []v1alpha1.BundlePackage{pkg("db@d1"), pkg("shop@d1: db")},
				there: []*object{live("db", "d1", platform)},
			},
			want: []string{"removing", "db removing", "shop not_deployed Disabled", "remove IntentDeployment db"},
		},
		"DeletedShared": {
			reason: "A package that another bundle names is handed over, and the removal of its dependency does not wait.",
			scene: scene{
				deleted: true, asked: []v1alpha1.BundlePackage{pkg("db@d1"), pkg("shop@d1: db")},
				there: []*object{live("db", "d1", platform), live("shop", "d1", platform)}, neighbours: []v1alpha1.BundleState{beside(1, pkg("shop@d1: db"))},
			},
			want: []string{"removing", "db removing", "shop not_deployed Disabled", "remove IntentDeployment db", "label IntentDeployment shop for other"},
		},
		"DeletedAwaited": {
			reason: "A package that another bundle awaits stays, and is noted as unreferenced.",
			scene: scene{
				deleted: true, asked: []v1alpha1.BundlePackage{pkg("db@d1")}, there: []*object{live("db", "d1", platform)},
				neighbours: []v1alpha1.BundleState{beside(1, pkg("db@d1", existing))},
			},
			want: []string{"removing", "db not_deployed Disabled", "label IntentDeployment db for platform 2031-12-17T13:14:15Z"},
		},
		"Orphaned": {
			reason: "Orphan leaves all packages.",
			scene: scene{
				deleted: true, orphan: true, asked: []v1alpha1.BundlePackage{pkg("db@d1")}, there: []*object{live("db", "d1", platform, left)},
			},
			want: []string{"removing", "db not_deployed Disabled"},
		},
		"DeletedForeign": {
			reason: "A deleted Bundle removes no object of another bundle.",
			scene: scene{
				deleted: true, asked: []v1alpha1.BundlePackage{pkg("db@d1"), pkg("web@d1")},
				there: []*object{live("db", "d1", other), live("web", "d1", platform, unlabelled)},
			},
			want: []string{"removing", "db not_deployed Disabled", "web not_deployed Disabled"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := tc.scene.facts()
			if diff := cmp.Diff(tc.want, describe(decideBundle(f))); diff != "" {
				t.Errorf("\n%s\ndecide(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func ofApplication(p *v1alpha1.BundlePackage) { p.Kind = "Application" }
func asApplication(o *object)                 { o.live.SetKind("Application") }

// TestPruneAfterSuccess checks when a Bundle removes an unreferenced object, and the message of an object that stays.
func TestPruneAfterSuccess(t *testing.T) {
	hour, year := &metav1.Duration{Duration: time.Hour}, &metav1.Duration{Duration: 8760 * time.Hour}
	requested, existingObjects := []v1alpha1.BundlePackage{pkg("db@d1")}, []*object{live("db", "d1", platform), live("old", "d1", platform, left)}
	planned := func(verdict prune.Verdict, reason prune.Reason) *prune.Plan {
		return &prune.Plan{Items: []prune.Item{{UID: "uid-old", Verdict: verdict, Reason: reason, Message: "it has a volume"}}}
	}
	cases := map[string]struct {
		reason string
		scene  scene
		want   string
		isDue  bool
		goes   bool
	}{
		"Never": {
			reason: "Without prune it stays.",
			scene:  scene{there: existingObjects}, want: "it left the Bundle, and is still there: kubectl intent prune removes it",
		},
		"Due": {
			reason: "Once its time has come a plan is needed.",
			scene:  scene{there: existingObjects, pruneAfter: hour},
			want:   "it left the Bundle, and is removed after 2031-01-01T01:00:00Z, once each package runs its current spec", isDue: true,
		},
		"Young": {
			reason: "An unreferenced object whose time has not come needs no plan.",
			scene:  scene{there: existingObjects, pruneAfter: year},
			want:   "it left the Bundle, and is removed after 2032-01-01T00:00:00Z, once each package runs its current spec",
		},
		"Failed": {
			reason: "While a package of the bundle is not as it should be, nothing goes.",
			scene:  scene{there: []*object{live("db", "d1", platform, failed), existingObjects[1]}, pruneAfter: hour},
			want:   "it left the Bundle, and is removed after 2031-01-01T01:00:00Z, once each package runs its current spec",
		},
		"Planned": {
			reason: "The provider removes an object that the plan prunes.",
			scene:  scene{there: existingObjects, pruneAfter: hour, plan: planned(prune.VerdictPrune, "")}, isDue: true, goes: true,
		},
		"Labelled": {
			reason: "An object that merely carries the labels of the Bundle stays.", want: "it left the Bundle, and is still there: kubectl intent prune removes it",
			scene: scene{
				there: existingObjects, pruneAfter: hour, plan: planned(prune.VerdictPrune, ""),
				was: []v1alpha1.PackageObservation{{Name: "old", UID: "uid-before"}},
			},
		},
		"Kept": {
			reason: "An object that the plan keeps stays, and the message has the reason.",
			scene:  scene{there: existingObjects, pruneAfter: hour, plan: planned(prune.VerdictKeep, prune.KeepStateful)},
			want:   "it left the Bundle, and stays, Stateful: it has a volume", isDue: true,
		},
		"Named": {
			reason: "An object that the plan does not list stays.",
			scene:  scene{there: existingObjects, pruneAfter: hour, plan: &prune.Plan{}},
			want:   "it left the Bundle, and stays: it is in the Bundle again, or changed just now", isDue: true,
		},
		"Refused": {
			reason: "A plan that is refused removes nothing.",
			scene:  scene{there: existingObjects, pruneAfter: hour, plan: &prune.Plan{Refusal: prune.RefusalMostOfRepository, Message: "6 of 7"}},
			want:   "it left the Bundle, and stays, MostOfRepository: 6 of 7", isDue: true,
		},
		"Suspend": {
			reason: "A Bundle that is suspended removes nothing.",
			scene:  scene{suspended: true, there: existingObjects, pruneAfter: hour},
			want:   "it left the Bundle, and is still there: kubectl intent prune removes it",
		},
		"Deleted": {
			reason: "A Bundle that is deleted leaves it.",
			scene:  scene{deleted: true, there: existingObjects, pruneAfter: hour},
			want:   "it left the Bundle, and is still there: kubectl intent prune removes it",
		},
		"Marked": {
			reason: "A newly unreferenced object is labelled before it can be removed.",
			scene:  scene{there: []*object{existingObjects[0], live("old", "d1", platform)}, pruneAfter: hour},
			want:   "it left the Bundle, and is still there: kubectl intent prune removes it",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.scene.asked = requested
			d := decideBundle(tc.scene.facts())
			goes := len(d.actions) > 0 && d.actions[len(d.actions)-1].verb == verbRemove && d.actions[len(d.actions)-1].object.live.GetName() == "old"
			if diff := cmp.Diff([]any{tc.want, tc.isDue, tc.goes}, []any{d.packages[1].Message, d.isPruneDue, goes}); diff != "" {
				t.Errorf("\n%s\ndecide(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRemains says when a deleted Bundle has nothing left to do.
func TestRemains(t *testing.T) {
	requested := []v1alpha1.BundlePackage{pkg("db@d1"), pkg("shop@d1: db")}
	cases := map[string]struct {
		reason string
		scene  scene
		want   bool
	}{
		"There":    {reason: "A package that is there remains.", scene: scene{there: []*object{live("db", "d1", platform)}}, want: true},
		"Deleting": {reason: "A package that is being deleted remains.", scene: scene{there: []*object{live("db", "d1", platform, deleting)}}, want: true},
		"Gone":     {reason: "Nothing remains when all packages are gone.", scene: scene{}},
		"Left": {
			reason: "A package that left the Bundle stays, and does not hold the deletion back.",
			scene:  scene{there: []*object{live("old", "d1", platform)}},
		},
		"Foreign": {reason: "A package of another bundle does not hold the deletion back.", scene: scene{there: []*object{live("db", "d1", other)}}},
		"HandOver": {
			reason: "A package is handed over before the Bundle goes.",
			scene:  scene{there: []*object{live("db", "d1", platform)}, neighbours: []v1alpha1.BundleState{beside(1, pkg("db@d1"))}}, want: true,
		},
		"Unread": {
			reason: "A package that a record may name which cannot be read remains.",
			scene:  scene{there: []*object{live("db", "d1", platform)}, unread: map[string]error{"db": errTest}}, want: true,
		},
		"Orphan": {
			reason: "A package that stays is marked before the Bundle goes.",
			scene:  scene{orphan: true, there: []*object{live("db", "d1", platform)}}, want: true,
		},
		"Orphaned": {
			reason: "A package that stays and is marked does not hold the deletion back.",
			scene:  scene{orphan: true, there: []*object{live("db", "d1", platform, left)}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.scene.deleted, tc.scene.asked = true, requested
			if got := decideBundle(tc.scene.facts()).remains; got != tc.want {
				t.Errorf("\n%s\nremains: want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

// TestRefusedPackage says how a package that the API server refuses stays refused until it is taken.
func TestRefusedPackage(t *testing.T) {
	s := scene{asked: []v1alpha1.BundlePackage{pkg("db@d1")}}
	d := decideBundle(s.facts())
	d.recordRefused(&s.asked[0], errTest)
	if diff := cmp.Diff([]string{"failed", "db failed Refused", "create IntentDeployment db"}, describe(d)); diff != "" {
		t.Errorf("refused once: -want, +got:\n%s", diff)
	}
	s.was = d.packages
	d = decideBundle(s.facts())
	if diff := cmp.Diff([]string{"failed", "db failed Refused", "create IntentDeployment db"}, describe(d)); diff != "" {
		t.Errorf("A status that flips between failed and deploying is written again and again: -want, +got:\n%s", diff)
	}
	d.recordAccepted(&s.asked[0], "uid-db")
	if d.packages[0].Status != v1alpha1.StatusDeploying || d.packages[0].UID != "uid-db" {
		t.Errorf("after the API server took it: %+v", d.packages[0])
	}
}
