package function

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/rollout"
	"github.com/intentplane/intentplane/test/soak"
)

// put an object as it was applied.
func (w *walk) put(name string, o *unstructured.Unstructured) {
	into := func(typed any) {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, typed); err != nil {
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
		stamp(next, was.GetGeneration(), "shop-"+name, equality.Semantic.DeepEqual(was.Spec, next.Spec))
		w.deliveries[name] = next
		w.learn(next)
	case "SiteSync":
		next, was := &deliveryv1alpha1.SiteSync{}, w.sync
		into(next)
		if was == nil {
			was = &deliveryv1alpha1.SiteSync{}
		}
		next.Status = was.Status
		stamp(next, was.GetGeneration(), "shop-sync", equality.Semantic.DeepEqual(was.Spec, next.Spec))
		w.sync = next
	case "Gate":
		next, was := &rolloutv1alpha1.Gate{}, w.gates[name]
		into(next)
		if was == nil {
			was = next.DeepCopy()
			was.Status = rolloutv1alpha1.GateStatus{}
			was.SetGeneration(0)
		}
		if !equality.Semantic.DeepEqual(was.Spec.ForProvider, next.Spec.ForProvider) {
			w.truth.violated("%s is changed", name)
		}
		next.Status = was.Status
		stamp(next, was.GetGeneration(), "shop-"+name, was.GetGeneration() > 0)
		w.gates[name] = next
	}
}

func stamp(o metav1.Object, generation int64, name string, same bool) {
	o.SetName(name)
	if o.SetGeneration(generation); !same || generation == 0 {
		o.SetGeneration(generation + 1)
	}
}

var says = regexp.MustCompile(`n: "([0-9]+)"`)

// learn what becomes of the trees that a delivery carries.
func (w *walk) learn(d *deliveryv1alpha1.GitDelivery) {
	for _, t := range d.Spec.ForProvider.Trees {
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
	r.deliver(d, w.now, crash)
	if !crash {
		w.deliveries[name] = d
	}
	if r.entry == nil {
		return
	}
	w.truth.forgot = w.lost && w.wiped
	w.truth.ordered(r.entry.order, 3)
	if rollout.Restored(r.entry.order) {
		trees := map[string]string{}
		for _, t := range d.Spec.ForProvider.Trees {
			if t.Action == deliveryv1alpha1.ActionRestore {
				trees[t.Site] = t.Tree
			}
		}
		w.truth.restored(r.entry.order, trees)
	}
}

func (w *walk) engines() {
	for name, p := range w.sites {
		for _, d := range w.deliveries {
			for _, t := range d.Spec.ForProvider.Trees {
				if t.Site == name {
					p.sync(w.repos[d.Spec.ProviderConfigReference.Name], t.Path, w.qualities)
				}
			}
		}
	}
}

// step does one thing, whichever.
func (w *walk) step() {
	w.now = w.now.Add(time.Duration(1+w.rng.IntN(3)) * time.Minute)
	names := slices.Sorted(maps.Keys(w.deliveries))
	switch n := w.rng.IntN(100); {
	case n < 38:
		w.turn()
	case n < 58 && len(names) > 0:
		name, crash := names[w.rng.IntN(len(names))], w.chance(10)
		w.provide(name, crash)
		w.note("delivered %s, crash %t", name, crash)
	case n < 70:
		w.engines()
	case n < 82 && w.sync != nil:
		w.look(w.sync)
	case n < 90:
		w.measureAll()
	case n < 100:
		all := w.faults()
		f := all[w.rng.IntN(len(all))]
		w.note("fault: %s", f.name)
		f.do()
	}
}

func (w *walk) measureAll() {
	for _, name := range slices.Sorted(maps.Keys(w.gates)) {
		w.measure(w.gates[name])
	}
}

// A fault is what the world does to us.
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
		{"time passes", func() { w.now = w.now.Add(20 * time.Minute) }},
	}
}

func (w *walk) losses() []fault {
	return []fault{
		{"object is lost", func() {
			names := slices.Sorted(maps.Keys(w.deliveries))
			if len(names) > 0 {
				delete(w.deliveries, names[w.rng.IntN(len(names))])
				w.wiped = true
			}
		}},
		{"all objects are lost", func() {
			w.deliveries, w.gates, w.sync = map[string]*deliveryv1alpha1.GitDelivery{}, map[string]*rolloutv1alpha1.Gate{}, nil
			w.in.Status, w.wiped = deploymentv1alpha1.IntentDeploymentStatus{}, true
		}},
		{"SiteSync is lost", func() { w.sync = nil }},
		{"Gates are lost", func() { clear(w.gates) }},
		{"statuses are lost", func() {
			for _, d := range w.deliveries {
				d.Status = deliveryv1alpha1.GitDeliveryStatus{}
			}
			w.wiped = true
		}},
		{"state is lost", func() { w.anyRepo().entry, w.lost = nil, true }},
		{"the status is forged", func() {
			w.in.Status = deploymentv1alpha1.IntentDeploymentStatus{Phase: deploymentv1alpha1.PhaseSucceeded, Revision: 7, IntentDigest: "x"}
		}},
	}
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
			w.set("Site", "edge3", map[string]any{"kind": "ClusterProviderConfig", "name": name}, "spec", "repository", "providerConfigRef")
		}},
		{"policy", func() {
			w.in.Spec.RollbackConfig.AutoRollback = new(!w.chance(4))
			w.in.Spec.RollbackConfig.MaxRetries = new(int32(w.rng.IntN(4))) //nolint:gosec // It is small.
		}},
		{"request", w.request},
		{"request again", w.request},
	}
}

// request something of the revision that there is, or was.
func (w *walk) request() {
	revision := max(1, w.in.Status.Revision-int64(w.rng.IntN(2)))
	w.asked++
	w.ask(fmt.Sprint("r", w.asked), revision, func(r *rolloutv1alpha1.RolloutRequest) {
		r.UID = types.UID(fmt.Sprint("uid-", w.asked))
		r.CreationTimestamp = metav1.NewTime(w.now)
		r.Spec.Action = []rolloutv1alpha1.Action{"Retry", "Abort", "RollbackTo", "Promote", "ApproveUpdate"}[w.rng.IntN(5)]
		switch r.Spec.Action {
		case rolloutv1alpha1.ActionRollbackTo:
			r.Spec.ToRevision = new(max(1, revision-int64(w.rng.IntN(3))))
		case rolloutv1alpha1.ActionPromote:
			r.Spec.Step = new(int32(w.rng.IntN(2))) //nolint:gosec // It is small.
		case rolloutv1alpha1.ActionRetry, rolloutv1alpha1.ActionAbort, rolloutv1alpha1.ActionApproveUpdate:
		}
	})
}

// calm lets everything heal, and comes to an end.
func (w *walk) calm() {
	for _, r := range w.repos {
		r.dead, r.refuses = false, false
	}
	for _, s := range w.sites {
		s.stuck = false
	}
	w.prometheusDown, w.in.Spec.Suspend = false, nil
	if strings.HasPrefix(*w.in.Spec.Intent, "{") && len(*w.in.Spec.Intent) == 1 {
		w.wish(3)
	}
	for range 60 {
		w.now = w.now.Add(time.Minute)
		m := w.moment()
		out := w.decide(m)
		w.judge(m, out, true)
		w.apply(out, func() bool { return true })
		w.note("calm: %s", w.brief(out))
		quiet := w.last != nil && w.brief(out) == w.brief(w.last) && equality.Semantic.DeepEqual(out.Status, w.last.Status)
		w.in.Status, w.last = *out.Status, out
		for _, name := range slices.Sorted(maps.Keys(w.deliveries)) {
			w.provide(name, false)
		}
		w.engines()
		if w.sync != nil {
			w.look(w.sync)
		}
		w.measureAll()
		if quiet && (out.Status.Phase == deploymentv1alpha1.PhaseSucceeded || out.Status.Phase == deploymentv1alpha1.PhaseFailed) {
			w.ended(out)
			return
		}
	}
	w.truth.violated("it comes to no end: %s %s", w.brief(w.last), w.last.Status.Message)
}

// ended checks what the end says.
func (w *walk) ended(out *Output) {
	switch out.Status.Outcome {
	case deploymentv1alpha1.OutcomeSucceeded:
		w.mustHold("Succeeded")
		if !out.Ready {
			w.truth.violated("it succeeded, and is not ready: %+v", out.Conditions)
		}
	case deploymentv1alpha1.OutcomeRolledBack:
		w.mustHold("RolledBack")
	case deploymentv1alpha1.OutcomeFailed:
	}
	for name, r := range w.repos {
		for t, n := range r.commits {
			if n > 1 && !w.lost && !w.wiped {
				w.truth.violated("%d commits for %+v in %s", n, t, name)
			}
		}
	}
}

// mustHold checks that each Site runs what is asked for now.
func (w *walk) mustHold(said string) {
	for _, d := range w.deliveries {
		for _, t := range d.Spec.ForProvider.Trees {
			if is := w.sites[t.Site].runs[t.Path]; t.Action != deliveryv1alpha1.ActionKeep && is != t.Tree {
				w.truth.violated("%s, and %s runs %s instead of %s", said, t.Site, is, t.Tree)
			}
		}
	}
}

// tell one story, and return what was wrong with it.
func tell(t *testing.T, core *Core, seed uint64, steps int) *walk {
	t.Helper()
	w := newWalk(t, core, seed)
	for range steps {
		if w.step(); len(w.truth.violations) > 0 {
			return w
		}
	}
	w.calm()
	return w
}

// stepsOf a story.
const stepsOf = 70

// TestWalk tells stories of faults. A seed in INTENTPLANE_WALK is told alone, with all that happens in it.
func TestWalk(t *testing.T) {
	core := New(plain{})
	if seed, err := strconv.ParseUint(os.Getenv("INTENTPLANE_WALK"), 10, 64); err == nil {
		w := tell(t, core, seed, stepsOf)
		t.Logf("%s\n%s", strings.Join(w.trace, "\n"), strings.Join(w.truth.violations, "\n"))
		return
	}
	n, rng := soak.Random(t, 300, 10000)
	ends := map[string]int{}
	for range n {
		seed := rng.Uint64() >> 1
		w := tell(t, core, seed, stepsOf)
		if len(w.truth.violations) > 0 {
			t.Fatalf("story %d: %s\n%s", seed, strings.Join(w.truth.violations, "\n"), strings.Join(w.trace[max(0, len(w.trace)-40):], "\n"))
		}
		ends[fmt.Sprint(w.last.Status.Phase, "/", w.last.Status.Outcome)]++
	}
	t.Logf("%d stories of %d steps each ended in %v", n, stepsOf, ends)
}
