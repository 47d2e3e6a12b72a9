package deployment

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// A fault is an event of the world that disturbs the function.
type fault struct {
	name string
	do   func()
}

func (w *walk) faults() []fault {
	return append(w.troubles(), append(w.losses(), w.edits()...)...)
}

func (w *walk) anyRepo() *repo {
	names := slices.Sorted(maps.Keys(w.repos))
	return w.repos[names[w.rng.IntN(len(names))]]
}

func (w *walk) anySite() *player {
	names := slices.Sorted(maps.Keys(w.sites))
	return w.sites[names[w.rng.IntN(len(names))]]
}

func (w *walk) troubles() []fault {
	return []fault{
		{"remote dies or revives", func() { r := w.anyRepo(); r.dead = !r.dead }},
		{"limits change", func() { r := w.anyRepo(); r.refuses = !r.refuses }},
		{"engine gets stuck or free", func() { s := w.anySite(); s.stuck = !s.stuck }},
		{"prometheus", func() { w.prometheusDown = !w.prometheusDown }},
		{"stranger commits", func() {
			r := w.anyRepo()
			for path := range r.dirs {
				r.dirs[path], r.touched = "stranger", true
			}
		}},
		{"forced rewrite", func() {
			r := w.anyRepo()
			for path := range r.dirs {
				delete(r.dirs, path)
			}
			r.touched = true
		}},
		{"cluster comes or goes", func() { s := w.anySite(); s.built = !s.built }},
		{"the function is rolled out, or back", func() { w.core = w.cores[w.rng.IntN(len(w.cores))] }},
		{"the function is rolled back", func() { w.core = w.cores[0] }},
		{"time passes", func() { w.now = w.now.Add(20 * time.Minute) }},
	}
}

func (w *walk) losses() []fault {
	return []fault{
		{"object is lost", func() {
			names := slices.Sorted(maps.Keys(w.deliveries))
			if len(names) > 0 {
				name := names[w.rng.IntN(len(names))]
				delete(w.deliveries, name)
				w.wiped = true
			}
		}},
		{"all objects are lost", w.loseObjects},
		{"SiteSync is lost", func() { w.sync = nil }},
		{"Gates are lost", func() { clear(w.gates) }},
		{"statuses are lost", func() {
			for name, d := range w.deliveries {
				w.deliveries[name] = d.DeepCopy()
				w.deliveries[name].Status = deliveryv1alpha1.GitDeliveryStatus{}
			}
			w.wiped = true
		}},
		{"a backup is made", func() { w.saved = w.backup() }},
		{"a backup is restored", w.restore},
		{"repositories are recreated", func() {
			for name := range w.repos {
				w.repos[name] = w.newRepo()
			}
			clear(w.deliveries)
			w.loses()
			w.truth.forget()
			w.wiped = true
		}},
		{"state is lost", func() { w.anyRepo().memory = memory{}; w.loses() }},
		{"the status is forged", func() {
			w.in.Status = deploymentv1alpha1.IntentDeploymentStatus{Phase: deploymentv1alpha1.PhaseSucceeded, Revision: 7, IntentDigest: "x"}
		}},
	}
}

// loseObjects loses all objects, and the status of the composite, which is created again.
func (w *walk) loseObjects() {
	w.deliveries, w.gates, w.sync = map[string]*deliveryv1alpha1.GitDelivery{}, map[string]*rolloutv1alpha1.Gate{}, nil
	w.in.Status, w.wiped = deploymentv1alpha1.IntentDeploymentStatus{}, true
	w.born++
	w.in.UID = fmt.Sprint("composite-", w.born)
}

func (w *walk) edits() []fault {
	return []fault{
		{"intent", func() { w.wish(1 + w.rng.IntN(10)) }},
		{"intent again", func() { w.wish(1 + w.rng.IntN(10)) }},
		{"invalid spec", func() { w.say("{") }},
		{"suspend", func() { w.in.Spec.Suspend = new(w.chance(2)) }},
		{"catalog", func() { w.set("Site", "edge1", map[string]any{"p": fmt.Sprint(w.rng.IntN(3))}, "spec", "parameters") }},
		{"moved", func() {
			w.set("Site", "edge3", "clusters/edge3"+strings.Repeat("x", w.rng.IntN(2)), "spec", "repository", "path")
		}},
		{"moved to another repository", func() {
			name := []string{"default", "other"}[w.rng.IntN(2)]
			w.set("Site", []string{"edge2", "edge3"}[w.rng.IntN(2)], map[string]any{"kind": "ClusterProviderConfig", "name": name}, "spec", "repository", "providerConfigRef")
		}},
		{"policy", func() {
			w.in.Spec.RollbackConfig.AutoRollback = new(!w.chance(3))
			w.in.Spec.RollbackConfig.MaxRetries = new(int32(w.rng.IntN(4)))
		}},
		{"request", w.request},
		{"two requests", func() { w.request(); w.request() }},
	}
}

// meddle plays a user who does not wait for the end.
func (w *walk) meddle() {
	switch n := w.aside.IntN(7); {
	case n < 4:
		w.wish(1 + w.aside.IntN(10))
		w.notef("people: %s", *w.in.Spec.Intent)
	case n < 6:
		w.in.Spec.RollbackConfig.AutoRollback, w.in.Spec.RollbackConfig.MaxRetries = new(w.aside.IntN(3) > 0), new(int32(3))
		w.notef("people: autoRollback %t", *w.in.Spec.RollbackConfig.AutoRollback)
	default:
		n := max(1, w.in.Status.Revision)
		w.require(rolloutv1alpha1.RolloutRequestSpec{Action: rolloutv1alpha1.ActionRollbackTo, Revision: n, ToRevision: new(max(1, n-1-w.aside.Int64N(2)))})
		w.notef("people: back from %d", n)
	}
}

// request something of the revision that there is, or was.
func (w *walk) request() {
	r := rolloutv1alpha1.RolloutRequestSpec{Revision: max(1, w.in.Status.Revision-int64(w.rng.IntN(2)))}
	r.Action = []rolloutv1alpha1.Action{"Retry", "Abort", "RollbackTo", "Promote", "ApproveUpdate"}[w.rng.IntN(5)]
	switch r.Action {
	case rolloutv1alpha1.ActionRollbackTo:
		r.ToRevision = new(max(1, r.Revision-int64(w.rng.IntN(3))))
	case rolloutv1alpha1.ActionPromote:
		r.Step = new(int32(w.rng.IntN(2)))
	case rolloutv1alpha1.ActionRetry, rolloutv1alpha1.ActionAbort, rolloutv1alpha1.ActionApproveUpdate:
	}
	w.require(r)
}

// require makes a RolloutRequest.
func (w *walk) require(spec rolloutv1alpha1.RolloutRequestSpec) {
	w.asked++
	w.catalogued++
	w.ask(fmt.Sprint("r", w.asked), spec.Revision, func(r *rolloutv1alpha1.RolloutRequest) {
		r.UID = types.UID(fmt.Sprint("uid-", w.asked))
		r.CreationTimestamp = metav1.NewTime(w.now)
		r.Spec.Action, r.Spec.ToRevision, r.Spec.Step, r.Spec.ToConfigRef, r.Spec.Force = spec.Action, spec.ToRevision, spec.Step, spec.ToConfigRef, spec.Force
		w.wanted[string(r.UID)] = r.Spec
	})
}

// A backup is objects as they were at some time.
type backup struct {
	deliveries map[string]*deliveryv1alpha1.GitDelivery
	sync       *deliveryv1alpha1.SiteSync
}

func (w *walk) backup() *backup {
	return &backup{deliveries: maps.Clone(w.deliveries), sync: w.sync}
}

// restore restores objects from a backup: with other uids and their first generation, and with reports of a later generation.
func (w *walk) restore() {
	if w.saved == nil {
		return
	}
	w.deliveries, w.sync = map[string]*deliveryv1alpha1.GitDelivery{}, nil
	for name, savedDelivery := range w.saved.deliveries {
		d := savedDelivery.DeepCopy()
		if d.GetGeneration() < 2 {
			d.Status = deliveryv1alpha1.GitDeliveryStatus{}
		}
		w.revive(d)
		w.deliveries[name] = d
	}
	if s := w.saved.sync.DeepCopy(); s != nil {
		if s.GetGeneration() < 2 {
			s.Status = deliveryv1alpha1.SiteSyncStatus{}
		}
		w.revive(s)
		w.sync = s
	}
	w.wiped = true
}

func (w *walk) revive(o metav1.Object) {
	w.born++
	o.SetUID(types.UID(fmt.Sprint(w.born)))
	o.SetGeneration(1)
}

// remove deletes a delivery, as its finalizer does: its directories go, and its record except for the last number.
func (w *walk) remove(name string, fresh bool) {
	d := w.deliveries[name]
	delete(w.deliveries, name)
	for _, otherDelivery := range w.deliveries {
		if *otherDelivery.Spec.ProviderConfigReference == *d.Spec.ProviderConfigReference {
			return // The other delivery has the content of the repository.
		}
	}
	r := w.repos[d.Spec.ProviderConfigReference.Name]
	if s := r.memory.ledger; fresh && !w.truth.lossy && s.Seq > 0 && !s.IsClosed && s.Head == w.ledger().Head {
		w.truth.violatedf("%s holds the ledger, and is deleted", name)
	}
	if r.gone {
		return // A user removes the finalizer.
	}
	if m := r.memory.record; m != nil && !m.deleted {
		w.removeTrees(d, r, m.trees, fresh)
	}
	clear(r.commits) // A request that is repeated is delivered again.
	r.memory = r.memory.tombstone(w.now)
	w.truth.heads[r.memory.ledger.Head] = true
}

// removeTrees removes the directories of a delivery that is deleted.
func (w *walk) removeTrees(d *deliveryv1alpha1.GitDelivery, r *repo, trees []deliveryv1alpha1.DeliveredTree, fresh bool) {
	for _, t := range trees {
		delete(r.dirs, t.Path)
		location := place(d.Spec.ProviderConfigReference.Name, t.Path)
		if w.sites[t.Site].runs[location] != "" && !w.sites[t.Site].untold && fresh && !w.truth.lossy && !w.runsElsewhere(t) {
			w.truth.violatedf("%s is removed from where %s runs it, and does not run elsewhere", t.Path, t.Site)
		}
		delete(w.sites[t.Site].runs, location)
	}
}

// runsElsewhere is true for a Site that runs the tree of another delivery, or a later commit of another user.
func (w *walk) runsElsewhere(t deliveryv1alpha1.DeliveredTree) bool {
	for _, d := range w.deliveries {
		for _, otherTree := range d.Status.AtProvider.Trees {
			running := w.sites[t.Site].runs[place(d.Spec.ProviderConfigReference.Name, otherTree.Path)]
			if otherTree.Site == t.Site && (running == otherTree.Tree || running == "stranger") {
				return true
			}
		}
	}
	return false
}
