package deployment

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compose"
)

// observed is what a call reads now. What did not change since it was read last is not read again: a step that changes an object says so
// with changed.
func (w *walk) observed() map[string]*unstructured.Unstructured {
	out := map[string]*unstructured.Unstructured{}
	for name, d := range w.deliveries {
		out[name] = w.read(name, d, &d.Status)
	}
	for name, g := range w.gates {
		out[name] = w.read(name, g, &g.Status)
	}
	if w.sync != nil {
		out[compose.SyncName] = w.read(compose.SyncName, w.sync, &w.sync.Status)
	}
	return out
}

// changed says that composed resources are not what they were.
func (w *walk) changed(names ...string) {
	for _, name := range names {
		delete(w.reads, name)
	}
}

// read an object as the API server has it: the function owns all of its spec, its labels and its annotations.
func (w *walk) read(name string, o metav1.Object, status any) *unstructured.Unstructured {
	if w.reads[name] != nil {
		return w.reads[name]
	}
	is, err := runtime.DefaultUnstructuredConverter.ToUnstructured(status)
	if err != nil {
		w.t.Fatal(err)
	}
	was := w.applied[name]
	u := &unstructured.Unstructured{Object: map[string]any{"spec": was.Object["spec"], "status": is}}
	u.SetGroupVersionKind(was.GroupVersionKind())
	u.SetNamespace(was.GetNamespace())
	u.SetName(o.GetName())
	u.SetUID(o.GetUID())
	u.SetGeneration(o.GetGeneration())
	if labels := was.GetLabels(); len(labels) > 0 {
		u.SetLabels(labels)
	}
	if annotations := was.GetAnnotations(); len(annotations) > 0 {
		u.SetAnnotations(annotations)
	}
	w.own(u)
	w.reads[name] = u
	return u
}

// own writes the managed fields of an object. They change with its generation, and with its annotations.
func (w *walk) own(u *unstructured.Unstructured) {
	key := fmt.Sprintf("%s/%d/%v", u.GetUID(), u.GetGeneration(), u.GetAnnotations())
	if w.fields[key] == nil {
		o := &unstructured.Unstructured{Object: map[string]any{
			"spec": u.Object["spec"], "metadata": map[string]any{"labels": asMap(u.GetLabels()), "annotations": asMap(u.GetAnnotations())},
		}}
		fields := w.fieldsOf(o.Object)
		o.SetManagedFields([]metav1.ManagedFieldsEntry{{
			Manager: "apiextensions.crossplane.io/composed/1", Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1",
			FieldsV1: &metav1.FieldsV1{Raw: fields},
		}})
		w.fields[key], _, _ = unstructured.NestedFieldNoCopy(o.Object, "metadata", "managedFields")
	}
	u.Object["metadata"].(map[string]any)["managedFields"] = w.fields[key]
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

// A call is one that was made, and what it was answered.
type call struct {
	moment

	core    *Core
	answers int
	out     *Output
}

// decide calls the function with a moment. One that has just been told the same is not asked again, as answers.go has it.
func (w *walk) decide(m moment) *Output {
	if c := w.recent; c != nil && c.core == w.core && c.answers == w.catalogued && !c.out.Dated && maps.Equal(c.observed, m.observed) &&
		equality.Semantic.DeepEqual(c.status, m.status) && equality.Semantic.DeepEqual(c.spec, m.spec) {
		return c.out
	}
	out := w.consult(m)
	w.recent = &call{moment: m, core: w.core, answers: w.catalogued, out: out}
	return out
}

// consult the function until it needs nothing more.
func (w *walk) consult(m moment) *Output {
	w.in.Observed, w.in.Now = m.observed, metav1.NewTime(w.now)
	in := w.in
	in.Spec, in.Status = m.spec, m.status
	for range 5 {
		w.answer(w.needs)
		out, err := w.core.Run(w.ctx, in)
		if err != nil {
			w.t.Fatal(err)
		}
		same := slices.EqualFunc(w.needs, out.Needs, func(a, b catalog.Need) bool { return a.Name == b.Name })
		if w.needs = out.Needs; same {
			return out
		}
	}
	w.t.Fatal("the function does not stop asking")
	return nil
}

// answer needs, as the world does. What did not change since is not written again.
func (w *walk) answer(needs []catalog.Need) {
	for _, n := range needs {
		answers := []json.RawMessage{}
		for _, o := range w.objects {
			labelSite(o)
			if o.GetKind() != n.Kind || n.MatchName != "" && o.GetName() != n.MatchName || o.GetNamespace() != n.Namespace || !has(o.GetLabels(), n.MatchLabels) {
				continue
			}
			if w.texts[o] == nil {
				b, err := json.Marshal(o)
				if err != nil {
					w.t.Fatal(err)
				}
				w.texts[o] = b
			}
			answers = append(answers, w.texts[o])
		}
		w.in.Answers[n.Name] = answers
	}
}

// set a field of an object of the catalog.
func (w *walk) set(kind, name string, value any, path ...string) {
	w.world.set(kind, name, value, path...)
	w.catalogued++
	delete(w.texts, w.object(kind, name))
}

func (w *walk) moment() moment {
	return moment{observed: w.observed(), deliveries: maps.Clone(w.deliveries), sync: w.sync.DeepCopy(), spec: *w.in.Spec.DeepCopy(), status: *w.in.Status.DeepCopy()}
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
		w.apply(out, fresh, func() bool { return w.chance(2) })
		w.notef("half applied: %s", w.brief(out))
		return
	}
	w.apply(out, fresh, func() bool { return true })
	w.notef("fresh %t: %s", fresh, w.brief(out))
	w.in.Status, w.last = *out.Status, out
}

// calls is a fresh call whose answer is applied as a whole.
func (w *walk) calls() *Output {
	m := w.moment()
	out := w.decide(m)
	w.judge(m, out, true)
	w.apply(out, true, func() bool { return true })
	w.notef("calm: %s", w.brief(out))
	w.in.Status = *out.Status
	return out
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
