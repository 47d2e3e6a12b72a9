package deployment

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/desired"
)

// A reply is the answer of a call, with its desired objects by their names in the composition.
type reply struct {
	*Output

	objects map[string]any
}

// deliveries are the deliveries that a call asks for.
func (r *reply) deliveries() map[string]*deliveryv1alpha1.GitDelivery {
	out := map[string]*deliveryv1alpha1.GitDelivery{}
	for name, o := range r.objects {
		if d, ok := o.(*deliveryv1alpha1.GitDelivery); ok {
			out[name] = d
		}
	}
	return out
}

// encoded are the objects of a moment as the API server has them: the function owns all of their specs, their labels and their annotations.
func (w *walk) encoded(m moment) map[string]*unstructured.Unstructured {
	out := map[string]*unstructured.Unstructured{}
	for name, d := range m.deliveries {
		out[name] = w.encode(d, &d.Status)
	}
	for name, g := range m.gates {
		out[name] = w.encode(g, &g.Status)
	}
	if m.sync != nil {
		out[compose.SyncName] = w.encode(m.sync, &m.sync.Status)
	}
	return out
}

// encode returns an object with its status, and the managed fields of the function.
func (w *walk) encode(o metav1.Object, status any) *unstructured.Unstructured {
	u, err := desired.Encode(o)
	if err != nil {
		w.t.Fatal(err)
	}
	fields := w.fieldsOf(map[string]any{"spec": u.Object["spec"], "metadata": map[string]any{"labels": asMap(o.GetLabels()), "annotations": asMap(o.GetAnnotations())}})
	content, err := k8sruntime.DefaultUnstructuredConverter.ToUnstructured(status)
	if err != nil {
		w.t.Fatal(err)
	}
	u.Object["status"] = content
	u.SetManagedFields([]metav1.ManagedFieldsEntry{{
		Manager: "apiextensions.crossplane.io/composed/1", Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1",
		FieldsV1: &metav1.FieldsV1{Raw: fields},
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

// isSame is true for two values that an API server takes for one. Most are equal in every field, which is quicker to see.
func isSame[T any](a, b *T) bool { return reflect.DeepEqual(a, b) || equality.Semantic.DeepEqual(a, b) }

// A call is an earlier call, with its answer.
type call struct {
	moment

	core    *Core
	catalog catalogVersion
	out     *reply
}

// makeDecision calls the function with a moment. A call with the same input is answered from the cache, as in responsecache.go.
func (w *walk) makeDecision(m moment) *reply {
	if c := w.recent; c != nil && c.core == w.core && c.catalog == w.catalogVersion() && !c.out.Dated && c.sync == m.sync && maps.Equal(c.deliveries, m.deliveries) &&
		maps.Equal(c.gates, m.gates) && isSame(&c.status, &m.status) && isSame(&c.spec, &m.spec) {
		return c.out
	}
	out := w.consult(m, w.runStages)
	w.askForProposed(m, out)
	w.recent = &call{moment: m, core: w.core, catalog: w.catalogVersion(), out: out}
	return out
}

// consult the function until it needs nothing more.
func (w *walk) consult(m moment, run func(Input, moment) (*reply, error)) *reply {
	w.in.Now = metav1.NewTime(w.now)
	in := w.in
	in.Spec, in.Status = m.spec, m.status
	for range 5 {
		w.answer(w.needs)
		w.consulted++
		out, err := run(in, m)
		if err != nil {
			w.t.Fatalf("a call fails: story %d: %v", w.seed, err)
		}
		isSameNeeds := slices.EqualFunc(w.needs, out.Needs, func(a, b catalog.Need) bool { return a.Name == b.Name })
		if w.needs = out.Needs; isSameNeeds {
			return out
		}
	}
	w.t.Fatal("the function does not stop asking")
	return nil
}

// run carries out a call with objects as the API server has them.
func (w *walk) run(in Input, m moment) (*reply, error) {
	in.Observed = w.encoded(m)
	out, err := w.core.Run(w.ctx, in)
	if err != nil {
		return nil, err
	}
	r := &reply{Output: out, objects: map[string]any{}}
	for name, o := range out.Resources {
		switch o.Object.GetKind() {
		case "GitDelivery":
			r.objects[name] = w.decode(o.Object)
		default:
			r.objects[name] = o.Object
		}
	}
	return r, nil
}

// runStages runs the stages of a call, and leaves out the parts that only the API server needs: a scenario would spend most of its time on them.
func (w *walk) runStages(in Input, m moment) (*reply, error) {
	o := Observed{retained: map[string]Resource{}, deliveries: m.deliveries, gates: m.gates, sync: m.sync}
	for name := range m.objects() {
		o.retained[name] = Resource{Object: &unstructured.Unstructured{Object: map[string]any{}}}
	}
	o, err := w.core.withLedgerState(o, in)
	if err != nil {
		return nil, err
	}
	k, err := w.core.compileDesired(w.ctx, in, o)
	if err != nil {
		return nil, err
	}
	d, err := makeDecision(in, o, k)
	if err != nil {
		return nil, err
	}
	return &reply{Output: buildOutput(in, o, k, d), objects: askedObjects(m, d)}, nil
}

// askedObjects returns the desired objects of a decision: a retained object is the observed object.
func askedObjects(m moment, d Decision) map[string]any {
	out, observed := map[string]any{}, m.objects()
	for name, r := range d.retained {
		out[name] = observed[name]
		delivery, ok := observed[name].(*deliveryv1alpha1.GitDelivery)
		if annotations := r.Object.GetAnnotations(); ok && len(annotations) > 0 {
			superseded := *delivery
			superseded.Annotations = maps.Clone(delivery.Annotations)
			if superseded.Annotations == nil {
				superseded.Annotations = map[string]string{}
			}
			maps.Copy(superseded.Annotations, annotations)
			out[name] = &superseded
		}
	}
	maps.Copy(out, d.composed)
	return out
}

// objects of a moment, by their names in the composition.
func (m moment) objects() map[string]any {
	out := map[string]any{}
	for name, d := range m.deliveries {
		out[name] = d
	}
	for name, g := range m.gates {
		out[name] = g
	}
	if m.sync != nil {
		out[compose.SyncName] = m.sync
	}
	return out
}

// A catalogVersion differs between two states of the catalog.
type catalogVersion struct {
	changes, objects int
	last             *unstructured.Unstructured
}

func (w *walk) catalogVersion() catalogVersion {
	return catalogVersion{changes: w.catalogued, objects: len(w.objects), last: w.objects[len(w.objects)-1]}
}

// answer answers needs, as the world does. Unchanged answers are not encoded again.
func (w *walk) answer(needs []catalog.Need) {
	if w.answeredAt == w.catalogVersion() && w.answered != nil && slices.EqualFunc(w.answered, needs, func(a, b catalog.Need) bool { return a.Name == b.Name }) {
		return
	}
	w.answeredAt, w.answered = w.catalogVersion(), needs
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
	spec := *w.in.Spec.DeepCopy()
	spec.Default()
	return moment{deliveries: maps.Clone(w.deliveries), gates: maps.Clone(w.gates), sync: w.sync, spec: spec, status: w.in.Status}
}

// turn is one call, be it fresh or stale, whose answer is applied as a whole, in part, or not at all. A silent function is not called.
func (w *walk) turn() {
	if w.silent > 0 {
		w.silent--
		return
	}
	m, fresh := w.moment(), true
	w.past = append(w.past, m)
	if len(w.past) > 4 {
		w.past = w.past[1:]
	}
	if w.chance(6) {
		m, fresh = w.past[w.rng.IntN(len(w.past))], false
	}
	out := w.makeDecision(m)
	w.judge(m, out, fresh)
	switch w.rng.IntN(12) {
	case 0:
		w.notef("lost: %s", w.describe(out))
		return
	case 1:
		w.apply(m, out, fresh, func() bool { return w.chance(2) })
		w.notef("half applied: %s", w.describe(out))
		return
	}
	w.apply(m, out, fresh, func() bool { return true })
	w.notef("fresh %t: %s", fresh, w.describe(out))
	w.in.Status, w.last = *out.Status, out
}

// calls is a fresh call whose answer is applied as a whole.
func (w *walk) calls() *reply {
	m := w.moment()
	out := w.makeDecision(m)
	w.judge(m, out, true)
	w.apply(m, out, true, func() bool { return true })
	w.notef("calm: %s", w.describe(out))
	w.in.Status = *out.Status
	return out
}

// describe returns a description of a call's answer, which is evaluated when it is logged.
func (w *walk) describe(out *reply) described { return func() string { return w.brief(out) } }

// brief returns the answer of a call in one line: the phase, and the position and trees of each delivery with the events to record.
func (w *walk) brief(out *reply) string {
	s := []string{fmt.Sprintf("%s/%s r%d", out.Status.Phase, out.Status.Outcome, out.Status.Revision)}
	for _, name := range slices.Sorted(maps.Keys(out.objects)) {
		d, ok := out.objects[name].(*deliveryv1alpha1.GitDelivery)
		if !ok {
			s = append(s, name)
			continue
		}
		text, p := &strings.Builder{}, askedPosition(d)
		fmt.Fprintf(text, "%s %d:%d.%d.%d", name, p.Epoch, p.Revision, p.Step, p.Attempt)
		for _, t := range d.Spec.ForProvider.Trees {
			fmt.Fprintf(text, " %s:%.1s:%.4s", t.Site, t.Action, t.Tree)
		}
		if l := d.Spec.ForProvider.Ledger; l != nil {
			fmt.Fprintf(text, " after %d:", l.After.Seq)
			for _, e := range l.Events {
				text.WriteString(" " + describeEvent(e))
			}
		}
		s = append(s, text.String())
	}
	return strings.Join(s, "; ")
}

// describeEvent returns the name and the fields of an event.
func describeEvent(e ledger.Event) string {
	switch {
	case e.Ordered != nil:
		return fmt.Sprintf("Ordered(%d)", e.Ordered.Revision.Number)
	case e.Judged != nil:
		return fmt.Sprintf("Judged(%s %s)", e.Judged.Verdict.Result, e.Judged.Verdict.Reason)
	case e.RolledBack != nil:
		return fmt.Sprintf("RolledBack(%d)", e.RolledBack.Target)
	case e.Withdrawn != nil:
		return fmt.Sprintf("Withdrawn(%d)", e.Withdrawn.Target)
	case e.Moved != nil:
		return describeMove(e)
	case e.Recovered != nil:
		return fmt.Sprintf("Recovered(%d of %d)", e.Recovered.Copy.Seq, e.Recovered.Copy.Epoch)
	}
	return nameEvent(e)
}

// nameEvent names an event of which no more is to be said.
func nameEvent(e ledger.Event) string {
	switch {
	case e.Opened != nil:
		return "Opened"
	case e.Advanced != nil:
		return "Advanced"
	case e.Promoted != nil:
		return "Promoted"
	case e.Restored != nil:
		return "Restored"
	case e.Rebased != nil:
		return "Rebased"
	}
	return "Closed"
}

// changed says that a test wrote into the status of deliveries.
func (w *walk) changed(names ...string) {
	for _, name := range names {
		w.deliveries[name] = copyForStatus(w.deliveries[name])
	}
}
