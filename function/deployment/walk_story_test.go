package deployment

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
)

// put an object as it was applied.
func (w *walk) put(name string, object any) {
	switch o := object.(type) {
	case *deliveryv1alpha1.GitDelivery:
		w.putDelivery(name, o)
	case *deliveryv1alpha1.SiteSync:
		was := w.sync
		if was == nil {
			was = &deliveryv1alpha1.SiteSync{}
		}
		same := isSame(was.Spec, o.Spec)
		if same && w.sync != nil {
			return
		}
		next := &deliveryv1alpha1.SiteSync{TypeMeta: o.TypeMeta, ObjectMeta: appliedMeta(o), Spec: o.Spec, Status: was.Status}
		w.stamp(next, was, "shop-sync", same)
		w.sync = next
	case *rolloutv1alpha1.Gate:
		w.putGate(name, o)
	}
}

// appliedMeta is what of the metadata of an object is applied.
func appliedMeta(o metav1.Object) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: o.GetNamespace(), Labels: o.GetLabels(), Annotations: o.GetAnnotations()}
}

func (w *walk) putDelivery(name string, o *deliveryv1alpha1.GitDelivery) {
	was := w.deliveries[name]
	if was == nil {
		was = &deliveryv1alpha1.GitDelivery{}
	}
	same := isSame(was.Spec, o.Spec)
	if same && w.deliveries[name] != nil && maps.Equal(was.Annotations, o.Annotations) {
		return
	}
	next := &deliveryv1alpha1.GitDelivery{TypeMeta: o.TypeMeta, ObjectMeta: appliedMeta(o), Spec: o.Spec, Status: was.Status}
	w.stamp(next, was, "shop-"+name, same)
	w.deliveries[name] = next
	w.learn(next)
}

func (w *walk) putGate(name string, o *rolloutv1alpha1.Gate) {
	was := w.gates[name]
	switch {
	case was == nil:
		was = &rolloutv1alpha1.Gate{}
	case isSame(was.Spec.ForProvider, o.Spec.ForProvider):
		return
	case w.fresh:
		// The API server refuses that. A call that read old objects may try, and no other one must.
		w.truth.violatedf("%s is changed", name)
		return
	default:
		return
	}
	next := &rolloutv1alpha1.Gate{TypeMeta: o.TypeMeta, ObjectMeta: appliedMeta(o), Spec: o.Spec}
	w.stamp(next, was, "shop-"+name, false)
	w.gates[name] = next
}

func (w *walk) stamp(o, was metav1.Object, name string, same bool) {
	generation := was.GetGeneration()
	o.SetName(name)
	if o.SetUID(was.GetUID()); o.GetUID() == "" {
		w.born++
		o.SetUID(types.UID(fmt.Sprint(w.born)))
	}
	if o.SetGeneration(generation); !same || generation == 0 {
		o.SetGeneration(generation + 1)
	}
}

var says = regexp.MustCompile(`replicas: "([0-9]+)"`)

// learn what becomes of the trees that a delivery carries.
func (w *walk) learn(d *deliveryv1alpha1.GitDelivery) {
	for _, t := range d.Spec.ForProvider.Trees {
		if t.Action == deliveryv1alpha1.ActionDesired {
			w.truth.forwarded[visit{askedPosition(d).Revision, t.Path}] = true
		}
		if _, known := w.qualities[t.Tree]; known || len(t.Files) == 0 {
			continue
		}
		files, err := tree.Decode(t.Files)
		if err != nil {
			w.t.Fatal(err)
		}
		n, err := strconv.Atoi(says.FindStringSubmatch(string(files["configmap.yaml"]))[1])
		if err != nil {
			w.t.Fatal(err)
		}
		w.qualities[t.Tree] = qualityOf(n)
	}
}

// provide lets the provider reconcile one delivery, and looks at what got into Git.
func (w *walk) provide(name string, crash bool) {
	d := copyForStatus(w.deliveries[name])
	r := w.repos[d.Spec.ProviderConfigReference.Name]
	before := r.memory.record
	if err := r.deliver(d, w.now, crash); err != nil {
		w.truth.violatedf("%s is asked to record what is illegal: %s", name, err)
	}
	if reason := reasonOf(d); reason != "" {
		w.truth.fails(askedPosition(d), reason)
	}
	if !crash && !isSame(w.deliveries[name].Status, d.Status) {
		w.deliveries[name] = d
	}
	if after := r.memory.record; after != before {
		w.judgeRecord(name, before, after)
		w.count(d, after)
	}
}

// copyForStatus returns a delivery whose status may be written.
func copyForStatus(d *deliveryv1alpha1.GitDelivery) *deliveryv1alpha1.GitDelivery {
	out := *d
	out.Status.Conditions = slices.Clone(d.Status.Conditions)
	return &out
}

// judgeRecord checks that a repository applied what the home had recorded, and did not go back.
func (w *walk) judgeRecord(name string, before, after *record) {
	if !w.truth.heads[after.head] {
		w.truth.violatedf("%s applied event %d of epoch %d, which the home had not recorded", name, after.head.Seq, after.head.Epoch)
	}
	if before != nil && !before.deleted && (after.position.Compare(before.position) < 0 || after.head.Compare(before.head) < 0) {
		w.truth.violatedf("%s went back from %+v to %+v", name, before.position, after.position)
	}
}

// count what a repository was brought to, as live where no object reports more.
func (w *walk) count(d *deliveryv1alpha1.GitDelivery, is *record) {
	for _, t := range d.Spec.ForProvider.Trees {
		if t.Action == deliveryv1alpha1.ActionDesired {
			w.truth.wiped = w.wiped
			w.truth.bring(is.applied, place(d.Spec.ProviderConfigReference.Name, t.Path), t.Tree, len(w.sites))
		}
		if w.sites[t.Site].untold && t.Action != deliveryv1alpha1.ActionKeep && is.position == askedPosition(d) {
			w.truth.live(is.position, t.Site, t.Tree)
		}
	}
}

func (w *walk) engines() {
	for name, p := range w.sites {
		for _, d := range w.deliveries {
			for _, t := range d.Spec.ForProvider.Trees {
				if t.Site == name {
					repository := d.Spec.ProviderConfigReference.Name
					p.sync(w.repos[repository], repository, t.Path, w.qualities)
				}
			}
		}
	}
}

// step does one thing, whichever.
func (w *walk) step() {
	w.now = w.now.Add(time.Duration(1+w.rng.IntN(3)) * time.Minute)
	if w.busy && w.aside.IntN(8) == 0 {
		w.meddle()
	}
	names := slices.Sorted(maps.Keys(w.deliveries))
	switch n := w.rng.IntN(100); {
	case n < 38:
		w.turn()
	case n < 58 && len(names) > 0:
		name, crash := names[w.rng.IntN(len(names))], w.chance(10)
		w.provide(name, crash)
		w.notef("delivered %s, crash %t", name, crash)
	case n < 70:
		w.engines()
	case n < 82 && w.sync != nil:
		w.lookAgain()
	case n < 90:
		w.measureAll()
	case n < 100:
		all := w.faults()
		f := all[w.rng.IntN(len(all))]
		w.notef("fault: %s", f.name)
		f.do()
	}
}

func (w *walk) measureAll() {
	for _, name := range slices.Sorted(maps.Keys(w.gates)) {
		g := *w.gates[name]
		g.Status.Conditions = slices.Clone(g.Status.Conditions)
		if w.measure(&g); !isSame(g.Status, w.gates[name].Status) {
			w.gates[name] = &g
		}
	}
}

// lookAgain lets the SiteSync be reconciled.
func (w *walk) lookAgain() {
	s := *w.sync
	s.Status.Conditions = slices.Clone(s.Status.Conditions)
	if w.look(&s); !isSame(s.Status, w.sync.Status) {
		w.sync = &s
	}
}

// heal what is wrong.
func (w *walk) heal() {
	for _, r := range w.repos {
		r.refuses = false
	}
	for _, s := range w.sites {
		s.stuck, s.built = false, true
	}
	if w.prometheusDown = false; *w.in.Spec.Intent == "{" {
		w.wish(3)
	}
}

// calm lets everything heal, or some of it stay wrong for good, and comes to an end.
func (w *walk) calm() {
	w.core, w.in.Spec.Suspend = w.cores[len(w.cores)-1], nil
	for _, r := range w.repos {
		r.dead = false
	}
	if w.lasting = w.chance(4); !w.lasting {
		w.heal()
	}
	for quiet := 0; w.rounds < 200; w.rounds++ {
		out := w.playRound()
		if w.last != nil && w.brief(out) == w.brief(w.last) && isSame(out.Status, w.last.Status) {
			quiet++
		} else {
			quiet = 0
		}
		w.last = out
		if quiet > w.patience() && (out.Status.Phase == deploymentv1alpha1.PhaseSucceeded || out.Status.Phase == deploymentv1alpha1.PhaseFailed) {
			w.ended(out)
			return
		}
	}
	w.truth.violatedf("it comes to no end: %s %s", w.brief(w.last), w.last.Status.Message)
}

// patience is how many rounds nothing may change before it is the end. While a spec is refused the phase is Failed, whatever was begun before goes
// on, and only its timeouts, of half an hour at most, end it.
func (w *walk) patience() int {
	if *w.in.Spec.Intent == "{" {
		return 40
	}
	return 3
}

// round lets everybody work once, without faults.
func (w *walk) round() *Output { return w.playRound().Output }

// playRound is a round, and returns what the call answered.
func (w *walk) playRound() *reply {
	w.now = w.now.Add(time.Minute)
	out := w.calls()
	for _, name := range slices.Sorted(maps.Keys(w.deliveries)) {
		w.provide(name, false)
	}
	w.engines()
	if w.sync != nil {
		w.lookAgain()
	}
	w.measureAll()
	return out
}

// ended checks what the end says.
func (w *walk) ended(out *reply) {
	w.mustBeJudged()
	switch out.Status.Outcome {
	case deploymentv1alpha1.OutcomeSucceeded:
		if w.truth.lossy && w.refuses() {
			return // What was lost cannot be written again.
		}
		if w.mustHold("Succeeded"); !out.Ready {
			w.truth.violatedf("it succeeded, and is not ready: %+v", out.Conditions)
		}
	case deploymentv1alpha1.OutcomeRolledBack:
		w.mustHold("RolledBack")
	case deploymentv1alpha1.OutcomeFailed:
		if c := conditionOf(out.Output, deploymentv1alpha1.TypeRolledBack); c.Reason == deploymentv1alpha1.ReasonNotRecorded {
			w.truth.violatedf("what a rollback would restore is never known")
		}
	}
	// A Site whose cluster was not ready is served by a commit of its own.
	most := 1
	if w.sites["edge3"].clustered {
		most = 2
	}
	for name, r := range w.repos {
		for t, n := range r.commits {
			if n > most && !w.lost && !w.wiped {
				w.truth.violatedf("%d commits for %+v in %s", n, t, name)
			}
		}
	}
}

// refuses is true while a repository refuses trees.
func (w *walk) refuses() bool {
	for _, r := range w.repos {
		if r.refuses {
			return true
		}
	}
	return false
}

// mustBeJudged checks that a revision which was begun came to a verdict, also where nothing new may be ordered.
func (w *walk) mustBeJudged() {
	s := w.ledger()
	if s.Current == nil || len(s.Current.Plan) > 1 || w.wiped || w.lost || w.sync == nil || len(w.sync.Spec.ForProvider.Sites) < len(w.sites) {
		return
	}
	for _, p := range s.Current.Parts {
		if d := w.deliveries[p.Delivery]; *w.in.Spec.Intent == "{" && (d == nil || askedPosition(d) != s.Position()) {
			return // What the repository is to get cannot be rendered any more.
		}
	}
	if s.Verdict == nil {
		w.truth.violatedf("revision %d comes to no verdict", s.Current.Number)
	}
}

// ledger is the newest that a repository holds. It goes on in another home once it moved.
func (w *walk) ledger() ledger.State {
	out := ledger.State{}
	for _, r := range w.repos {
		if s := r.memory.ledger; s.Successor == "" && !s.IsClosed && s.Compare(out.Head) > 0 {
			out = s
		}
	}
	return out
}

// mustHold checks that each repository came to the position of the ledger, and that each Site runs what is asked for there.
func (w *walk) mustHold(said string) {
	now := w.ledger().Position()
	for name, d := range w.deliveries {
		if !now.HasReached(askedPosition(d)) {
			continue
		}
		if r := w.repos[d.Spec.ProviderConfigReference.Name].memory.record; r == nil || r.position != askedPosition(d) {
			w.truth.violatedf("%s, and %s is not at the position of the ledger", said, name)
		}
		for _, t := range d.Spec.ForProvider.Trees {
			if is := w.sites[t.Site].runs[place(d.Spec.ProviderConfigReference.Name, t.Path)]; t.Action != deliveryv1alpha1.ActionKeep && is != t.Tree && !w.sites[t.Site].untold {
				w.truth.violatedf("%s, and %s runs %s instead of %s", said, t.Site, is, t.Tree)
			}
		}
	}
}

// tell one story, and return what was wrong with it.
func tell(t *testing.T, cores []*Core, seed uint64, steps int) *walk {
	t.Helper()
	w := newWalk(t, cores, seed)
	w.open(seed)
	for range steps {
		if w.step(); len(w.truth.violations) > 0 {
			return w
		}
	}
	w.calm()
	return w
}

// end is how a story ended.
func (w *walk) end() string {
	out := string(w.last.Status.Outcome)
	if r := w.last.Status.Rollback; r != nil {
		out += ", rejected for " + r.Reason
	}
	if c := conditionOf(w.last.Output, deploymentv1alpha1.TypeRolledBack); c.Reason != deploymentv1alpha1.ReasonNotRolledBack {
		out += ", " + c.Reason
	}
	return out
}
