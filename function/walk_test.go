package function

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/phase"
	"github.com/intentplane/intentplane/function/render"
)

// A walk is one story: the function at work among faults.
type walk struct {
	*world
	ctx context.Context
	rng *rand.Rand

	deliveries map[string]*deliveryv1alpha1.GitDelivery
	sync       *deliveryv1alpha1.SiteSync
	gates      map[string]*rolloutv1alpha1.Gate

	repos          map[string]*repo
	sites          map[string]*player
	qualities      map[string]quality
	prometheusDown bool
	measurements   map[string]int32

	now           time.Time
	needs         []catalog.Need
	past          []moment
	truth         *truth
	trace         []string
	asked, rounds int
	lost          bool
	wiped         bool
	last          *Output
	// fields are the managed fields of objects, by name and generation.
	fields map[string][]byte
}

// A moment is what a stale read finds.
type moment struct {
	observed map[string]*unstructured.Unstructured
	spec     deploymentv1alpha1.IntentDeploymentSpec
	status   deploymentv1alpha1.IntentDeploymentStatus
}

// plain renders next to nothing, in no time.
type plain struct{}

// Build returns files that say how many replicas there are, and one parameter of the Site.
func (plain) Build(_ context.Context, in render.Input) (tree.Files, error) {
	n := in.Intent.Replicas
	return tree.Files{
		"kustomization.yaml": []byte("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [configmap.yaml]\n"),
		"configmap.yaml": fmt.Appendf(nil, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop, namespace: team-a}\ndata: {replicas: %q, p: %q}\n",
			fmt.Sprint(n), in.Site.Parameters["p"]),
	}, nil
}

// newWalk begins a story with three Sites in two repositories.
func newWalk(t *testing.T, core *Core, seed uint64) *walk {
	t.Helper()
	w := &walk{
		world: newWorld(t), ctx: t.Context(), rng: rand.New(rand.NewPCG(seed, seed)),
		deliveries: map[string]*deliveryv1alpha1.GitDelivery{}, gates: map[string]*rolloutv1alpha1.Gate{},
		repos: map[string]*repo{"default": newRepo(), "other": newRepo()}, sites: map[string]*player{}, qualities: map[string]quality{},
		measurements: map[string]int32{}, now: time.Date(2031, 12, 17, 13, 14, 15, 0, time.UTC), truth: newTruth(),
		fields: map[string][]byte{},
	}
	w.core = core
	other := w.object("ClusterProviderConfig", "default").DeepCopy()
	other.SetName("other")
	w.objects = append(w.objects, other)
	w.set("ClusterProviderConfig", "other", "https://git.example.org/other.git", "spec", "git", "url")
	third := w.object("Site", "edge1").DeepCopy()
	third.SetName("edge3")
	w.objects = append(w.objects, third)
	w.set("Site", "edge3", "clusters/edge3", "spec", "repository", "path")
	w.set("Site", "edge2", map[string]any{"kind": "ClusterProviderConfig", "name": "other"}, "spec", "repository", "providerConfigRef")
	w.observe("edge1", "edge2", "edge3")
	w.measured()
	w.set("Site", "edge3", "http://prometheus", "spec", "metrics", "prometheus", "address")
	for _, name := range []string{"edge1", "edge2", "edge3"} {
		w.sites[name] = &player{runs: map[string]string{}, tried: map[string]string{}}
	}
	w.in.Spec.Default()
	if w.chance(2) {
		w.in.Spec.GatesConfig.SLOThresholds = map[string]deploymentv1alpha1.Threshold{"latency_p99": "< 500ms"}
	}
	if w.chance(3) {
		w.in.Spec.DeliveryConfig.Waves = []deploymentv1alpha1.Wave{{Name: "first", Sites: []deploymentv1alpha1.SiteName{"edge2"}}}
	}
	w.wish(2)
	return w
}

// chance is true once in n times.
func (w *walk) chance(n int) bool { return w.rng.IntN(n) == 0 }

// wish for so many replicas. What they come to says what becomes of it.
func (w *walk) wish(n int) {
	w.say(fmt.Sprintf(`{"service": "shop", "sites": ["edge1", "edge2", "edge3"], "replicas": %d}`, n))
}

// qualityOf a tree that says so many replicas: one of four is slow, and one of five breaks engines.
func qualityOf(n int) quality { return quality{Slow: n%4 == 0, Breaks: n%5 == 0} }

func (w *walk) notef(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); len(w.trace) == 0 || w.trace[len(w.trace)-1] != s {
		w.trace = append(w.trace, s)
	}
}

// observed is what a call reads now.
func (w *walk) observed() map[string]*unstructured.Unstructured {
	out := map[string]*unstructured.Unstructured{}
	for name, d := range w.deliveries {
		out[name] = w.raw(d)
	}
	for name, g := range w.gates {
		out[name] = w.raw(g)
	}
	if w.sync != nil {
		out[compose.SyncName] = w.raw(w.sync)
	}
	return out
}

// raw is an object as the API server has it: the function owns all of its spec and its labels.
func (w *walk) raw(o runtime.Object) *unstructured.Unstructured {
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		w.t.Fatal(err)
	}
	u := &unstructured.Unstructured{Object: m}
	key := fmt.Sprint(u.GetName(), u.GetGeneration(), u.GetAnnotations())
	if w.fields[key] == nil {
		w.fields[key] = w.fieldsOf(map[string]any{"spec": m["spec"], "metadata": map[string]any{"labels": asMap(u.GetLabels()), "annotations": asMap(u.GetAnnotations())}})
	}
	u.SetManagedFields([]metav1.ManagedFieldsEntry{{
		Manager: "apiextensions.crossplane.io/composed/1", Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1",
		FieldsV1: &metav1.FieldsV1{Raw: w.fields[key]},
	}})
	return u
}

func asMap(in map[string]string) map[string]any {
	out := map[string]any{}
	for key, value := range in {
		out[key] = value
	}
	return out
}

func (w *walk) fieldsOf(m map[string]any) []byte {
	v, err := typed.DeducedParseableType.FromUnstructured(m)
	if err != nil {
		w.t.Fatal(err)
	}
	set, err := v.ToFieldSet()
	if err != nil {
		w.t.Fatal(err)
	}
	fields, err := set.ToJSON()
	if err != nil {
		w.t.Fatal(err)
	}
	return fields
}

// decide calls the function with a moment.
func (w *walk) decide(m moment) *Output {
	w.in.Observed, w.in.Now = m.observed, metav1.NewTime(w.now)
	in := w.in
	in.Spec, in.Status = m.spec, m.status
	for range 5 {
		w.answer(w.needs)
		out, err := w.core.Run(w.ctx, in)
		if err != nil {
			w.t.Fatal(err)
		}
		same := equalNeeds(w.needs, out.Needs)
		if w.needs = out.Needs; same {
			return out
		}
	}
	w.t.Fatal("the function does not stop asking")
	return nil
}

func equalNeeds(a, b []catalog.Need) bool {
	return slices.EqualFunc(a, b, func(a, b catalog.Need) bool { return a.Name == b.Name })
}

func (w *walk) moment() moment {
	return moment{observed: w.observed(), spec: *w.in.Spec.DeepCopy(), status: *w.in.Status.DeepCopy()}
}

// turn is one call, be it fresh or stale, whose answer is applied as a whole, in part, or not at all.
func (w *walk) turn() {
	m, fresh := w.moment(), true
	w.past = append(w.past, m)
	if len(w.past) > 4 {
		w.past = w.past[1:]
	}
	if w.chance(6) {
		m, fresh = w.past[w.rng.IntN(len(w.past))], false
	}
	out := w.decide(m)
	w.judge(m, out, fresh)
	switch w.rng.IntN(12) {
	case 0:
		w.notef("lost: %s", w.brief(out))
		return
	case 1:
		w.apply(out, func() bool { return w.chance(2) })
		w.notef("half applied: %s", w.brief(out))
		return
	}
	w.apply(out, func() bool { return true })
	w.notef("fresh %t: %s", fresh, w.brief(out))
	w.in.Status, w.last = *out.Status, out
}

func (w *walk) brief(out *Output) string {
	s := []string{fmt.Sprintf("%s/%s r%d", out.Status.Phase, out.Status.Outcome, out.Status.Revision)}
	for _, name := range slices.Sorted(maps.Keys(out.Resources)) {
		o := out.Resources[name].Object
		n, _, _ := unstructured.NestedInt64(o.Object, "spec", "forProvider", "order", "revision")
		a, _, _ := unstructured.NestedInt64(o.Object, "spec", "forProvider", "order", "attempt")
		step, _, _ := unstructured.NestedInt64(o.Object, "spec", "forProvider", "order", "step")
		v, _, _ := unstructured.NestedString(o.Object, "spec", "forProvider", "order", "verdict", "result")
		trees, _, _ := unstructured.NestedSlice(o.Object, "spec", "forProvider", "trees")
		said := &strings.Builder{}
		fmt.Fprintf(said, "%s=%d.%d.%d%s", name, n, step, a, v)
		for _, t := range trees {
			if t, ok := t.(map[string]any); ok {
				fmt.Fprintf(said, " %v:%.1s:%.4s", t["site"], t["action"], fmt.Sprint(t["tree"]))
			}
		}
		s = append(s, said.String())
	}
	return strings.Join(s, "; ")
}

// judge what a call answered.
func (w *walk) judge(m moment, out *Output, fresh bool) {
	was := m.status.Transitions
	for i, tr := range out.Status.Transitions {
		if i < len(was) && len(out.Status.Transitions) < 20 {
			continue
		}
		if !phase.Legal(tr.From, tr.To) {
			w.truth.violatedf("%s to %s is no edge", tr.From, tr.To)
		}
	}
	if out.Status.Phase == deploymentv1alpha1.PhaseSucceeded && out.Status.Outcome == deploymentv1alpha1.OutcomeSucceeded && fresh {
		w.truth.mustBeVerified(w.deliveries, out.Status.Revision)
	}
	if out.Ready && fresh {
		w.mustRun("Ready")
	}
	if w.chance(20) {
		again := w.decide(m)
		if w.brief(again) != w.brief(out) || again.Status.Message != out.Status.Message {
			w.truth.violatedf("the same input, another answer: %s, then %s", w.brief(out), w.brief(again))
		}
	}
}

// mustRun checks that every Site once ran what is asked for, and that it is what the spec says.
func (w *walk) mustRun(said string) {
	for _, d := range w.deliveries {
		for _, t := range d.Spec.ForProvider.Trees {
			if t.Action == deliveryv1alpha1.ActionDesired && !w.truth.ran[ranKey(d.Spec.ForProvider.Order, t.Site, "")] {
				w.truth.violatedf("%s, and %s never ran revision %d", said, t.Site, d.Spec.ForProvider.Order.Revision)
			}
		}
	}
}

// apply what was answered, as far as it gets.
func (w *walk) apply(out *Output, gets func() bool) {
	for _, name := range slices.Sorted(maps.Keys(out.Resources)) {
		if gets() {
			w.put(name, out.Resources[name].Object)
		}
	}
	for name := range w.gates {
		if _, ok := out.Resources[name]; !ok && gets() {
			delete(w.gates, name)
		}
	}
	for name, d := range w.deliveries {
		if _, ok := out.Resources[name]; !ok && gets() {
			w.notef("deleted %s", name)
			_ = d
			delete(w.deliveries, name)
		}
	}
	if _, ok := out.Resources[compose.SyncName]; !ok && w.sync != nil && gets() {
		w.sync = nil
	}
}
