package deployment

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/evidence"
	"github.com/intentplane/intentplane/function/rollout"
)

// put an object as it was applied.
func (w *walk) put(name string, o *unstructured.Unstructured) {
	if w.applied[name] != nil && w.there(name) && reflect.DeepEqual(w.applied[name].Object, o.Object) {
		return
	}
	w.changed(name)
	w.applied[name] = o
	into := func(typed any) {
		if err := k8sruntime.DefaultUnstructuredConverter.FromUnstructured(o.Object, typed); err != nil {
			w.t.Fatal(err)
		}
	}
	switch o.GetKind() {
	case "GitDelivery":
		next := &deliveryv1alpha1.GitDelivery{}
		into(next)
		was := w.deliveries[name]
		if was == nil {
			was = &deliveryv1alpha1.GitDelivery{}
		}
		next.Status = was.Status
		w.stamp(next, was, was.GetGeneration(), "shop-"+name, equality.Semantic.DeepEqual(was.Spec, next.Spec))
		w.deliveries[name] = next
		w.learn(next)
		w.truth.releases(next.Spec.ForProvider.Order)
	case "SiteSync":
		next, was := &deliveryv1alpha1.SiteSync{}, w.sync
		into(next)
		if was == nil {
			was = &deliveryv1alpha1.SiteSync{}
		}
		next.Status = was.Status
		w.stamp(next, was, was.GetGeneration(), "shop-sync", equality.Semantic.DeepEqual(was.Spec, next.Spec))
		w.sync = next
	case "Gate":
		next, was := &rolloutv1alpha1.Gate{}, w.gates[name]
		into(next)
		if was == nil {
			was = next.DeepCopy()
			was.Status = rolloutv1alpha1.GateStatus{}
			was.SetGeneration(0)
			was.SetUID("")
		}
		if !equality.Semantic.DeepEqual(was.Spec.ForProvider, next.Spec.ForProvider) {
			// The API server refuses that. Who read old objects may try, and who did not must not.
			if w.fresh {
				w.truth.violatedf("%s is changed", name)
			}
			w.applied[name] = w.unchanged(was)
			return
		}
		next.Status = was.Status
		w.stamp(next, was, was.GetGeneration(), "shop-"+name, was.GetGeneration() > 0)
		w.gates[name] = next
	}
}

// unchanged is a Gate as it was applied before.
func (w *walk) unchanged(g *rolloutv1alpha1.Gate) *unstructured.Unstructured {
	raw, err := k8sruntime.DefaultUnstructuredConverter.ToUnstructured(
		&rolloutv1alpha1.Gate{TypeMeta: g.TypeMeta, ObjectMeta: metav1.ObjectMeta{Namespace: g.GetNamespace(), Labels: g.GetLabels()}, Spec: g.Spec})
	if err != nil {
		w.t.Fatal(err)
	}
	delete(raw, "status")
	return &unstructured.Unstructured{Object: raw}
}

// there is true for a composed resource that exists.
func (w *walk) there(name string) bool {
	return w.deliveries[name] != nil || w.gates[name] != nil || name == compose.SyncName && w.sync != nil
}

func (w *walk) stamp(o, was metav1.Object, generation int64, name string, same bool) {
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
			w.truth.forwarded[visit{d.Spec.ForProvider.Order.Revision, t.Path}] = true
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
	d := w.deliveries[name].DeepCopy()
	r := w.repos[d.Spec.ProviderConfigReference.Name]
	if r.deliver(d, w.now, crash); evidence.DeliveryFailure(d, d.Spec.ForProvider.Order) != nil {
		w.truth.fails(d.Spec.ForProvider.Order, reasonOf(d))
	}
	if !crash {
		w.deliveries[name] = d
		w.changed(name)
	}
	if r.entry == nil {
		return
	}
	w.truth.forgot = w.lost && w.wiped
	w.count(d)
	w.truth.ordered(r.entry.order, 3)
	if rollout.Restored(r.entry.order) {
		trees := map[string]string{}
		for _, t := range d.Spec.ForProvider.Trees {
			// Who lost everything asks for all that the target had, also where it never was anything else.
			same := w.wiped && w.sites[t.Site].runs[place(d.Spec.ProviderConfigReference.Name, t.Path)] == t.Tree
			if t.Action == deliveryv1alpha1.ActionRestore && !same {
				trees[t.Site] = t.Tree
			}
		}
		w.truth.restored(r.entry.order, trees)
	}
}

// count what a repository carried out as live where nobody tells more.
func (w *walk) count(d *deliveryv1alpha1.GitDelivery) {
	o := d.Spec.ForProvider.Order
	if done := w.repos[d.Spec.ProviderConfigReference.Name].entry.order; !done.Same(o) || o.Verified() {
		return
	}
	for _, t := range d.Spec.ForProvider.Trees {
		if w.sites[t.Site].untold && t.Action != deliveryv1alpha1.ActionKeep {
			w.truth.live(o, deliveryv1alpha1.SiteTree{Name: t.Site, Tree: t.Tree})
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
		w.look(w.sync)
		w.changed(compose.SyncName)
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
		w.measure(w.gates[name])
		w.changed(name)
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
		out := w.round()
		if w.last != nil && w.brief(out) == w.brief(w.last) && equality.Semantic.DeepEqual(out.Status, w.last.Status) {
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
func (w *walk) round() *Output {
	w.now = w.now.Add(time.Minute)
	out := w.calls()
	for _, name := range slices.Sorted(maps.Keys(w.deliveries)) {
		w.provide(name, false)
	}
	w.engines()
	if w.sync != nil {
		w.look(w.sync)
		w.changed(compose.SyncName)
	}
	w.measureAll()
	return out
}

// ended checks what the end says.
func (w *walk) ended(out *Output) {
	w.mustBeJudged()
	switch out.Status.Outcome {
	case deploymentv1alpha1.OutcomeSucceeded:
		if w.mustHold("Succeeded"); !out.Ready {
			w.truth.violatedf("it succeeded, and is not ready: %+v", out.Conditions)
		}
	case deploymentv1alpha1.OutcomeRolledBack:
		w.mustHold("RolledBack")
	case deploymentv1alpha1.OutcomeFailed:
		if c := conditionOf(out, deploymentv1alpha1.TypeRolledBack); c.Reason == deploymentv1alpha1.ReasonNotRecorded {
			w.truth.violatedf("nobody comes to know what there is to take back")
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

// mustBeJudged checks that a revision which was begun came to a verdict, also where nothing new may be ordered.
func (w *walk) mustBeJudged() {
	o := newest(w.deliveries)
	if o == nil || o.Steps > 1 || w.wiped || w.lost || w.sync == nil || len(w.sync.Spec.ForProvider.Sites) < len(w.sites) {
		return
	}
	if o.Verdict == nil {
		w.truth.violatedf("revision %d comes to no verdict", o.Revision)
	}
}

// mustHold checks that each Site runs what is asked for now, by whoever takes part in that.
func (w *walk) mustHold(said string) {
	now := newest(w.deliveries)
	for _, d := range w.deliveries {
		if !d.Spec.ForProvider.Order.Same(*now) {
			continue
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
	if c := conditionOf(w.last, deploymentv1alpha1.TypeRolledBack); c.Reason != deploymentv1alpha1.ReasonNotRolledBack {
		out += ", " + c.Reason
	}
	return out
}
