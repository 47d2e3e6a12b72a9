package deployment

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/yaml"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compile"
	"github.com/intentplane/intentplane/function/render"
)

// A world plays Crossplane and the provider around a Core: it answers needs, applies the desired resources, and delivers them.
type world struct {
	t       testing.TB
	core    *Core
	in      Input
	objects []*unstructured.Unstructured
	// repositories by their URL, and why they refuse trees. Empty means that they take them.
	repositories map[string]*repo
	refusal      xpv2.ConditionReason
	// isLate is true if each call is made twice before the provider has carried out the first one.
	isLate bool
	// applied are the objects as they were applied last, by their name in the composition.
	applied map[string]appliedObject
	// followLedger returns the parameters by which a provider with mandates observes the Sites. Nil means that the spec has the parameters.
	followLedger func(s *deliveryv1alpha1.SiteSync) deliveryv1alpha1.SiteSyncParameters
}

// firstRenderer is the version that worlds begin with, whatever the present one is: tests say how many versions came after it.
const firstRenderer = 1

// newWorld has the Sites, the Blueprint and the configuration of the quickstart, and its deployment.
func newWorld(tb testing.TB) *world {
	tb.Helper()
	w := &world{t: tb, core: New(render.NewRenderer()), repositories: map[string]*repo{}}
	w.core.version = firstRenderer
	w.in = Input{
		Deployment: compile.Deployment{
			Claim: rolloutv1alpha1.ClaimReference{APIGroup: deploymentv1alpha1.GroupClaims, Kind: deploymentv1alpha1.Kind, Namespace: "team-a", Name: "shop"},
		},
		Observed: map[string]*unstructured.Unstructured{},
		Answers:  catalog.Answers{},
		Now:      metav1.NewTime(time.Date(2031, 12, 17, 13, 14, 15, 0, time.UTC)),
	}
	w.say(`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 2}`)
	for _, o := range quickstart(tb) {
		w.addObject(o.DeepCopy())
	}
	return w
}

// quickstartObjects are read once.
var quickstartObjects = sync.OnceValues(readQuickstart)

// quickstart returns the objects of the quickstart, whose Sites have no engine.
func quickstart(tb testing.TB) []*unstructured.Unstructured {
	tb.Helper()
	all, err := quickstartObjects()
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

func readQuickstart() ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, file := range []string{"trial/10-sites.yaml", "quickstart/20-blueprint.yaml", "quickstart/30-config.yaml"} {
		b, err := os.ReadFile(filepath.Join("..", "..", "examples", filepath.FromSlash(file)))
		if err != nil {
			return nil, err
		}
		for doc := range bytes.SplitSeq(b, []byte("\n---\n")) {
			o := &unstructured.Unstructured{}
			if err := yaml.Unmarshal(doc, &o.Object); err != nil {
				return nil, err
			}
			out = append(out, o)
		}
	}
	return out, nil
}

func (w *world) say(intent string) { w.in.Spec.Intent = &intent }

func (w *world) addObject(o *unstructured.Unstructured) {
	w.objects = append(w.objects, o)
	if o.GetKind() == "Site" {
		// As the schema would.
		w.set("Site", o.GetName(), []any{"{claimNamespace}"}, "spec", "targetNamespaces", "allowed")
	}
}

func (w *world) object(kind, name string) *unstructured.Unstructured {
	w.t.Helper()
	for _, o := range w.objects {
		if o.GetKind() == kind && o.GetName() == name {
			return o
		}
	}
	w.t.Fatalf("no %s %s", kind, name)
	return nil
}

func (w *world) set(kind, name string, value any, path ...string) {
	w.t.Helper()
	if err := unstructured.SetNestedField(w.object(kind, name).Object, value, path...); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) remove(kind, name string) {
	w.objects = slices.DeleteFunc(w.objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == kind && o.GetName() == name })
}

// answer fulfils needs. It returns false if all of them were fulfilled by the same objects before.
func (w *world) answer(needs []catalog.Need) bool {
	w.t.Helper()
	isNew := false
	for _, n := range needs {
		answers := []json.RawMessage{}
		for _, o := range w.objects {
			labelSite(o)
			if o.GetKind() != n.Kind || n.MatchName != "" && o.GetName() != n.MatchName || o.GetNamespace() != n.Namespace || !has(o.GetLabels(), n.MatchLabels) {
				continue
			}
			b, err := json.Marshal(o)
			if err != nil {
				w.t.Fatal(err)
			}
			answers = append(answers, b)
		}
		previous, isKnown := w.in.Answers[n.Name]
		isNew = isNew || !isKnown || !slices.EqualFunc(previous, answers, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
		w.in.Answers[n.Name] = answers
	}
	return isNew
}

// labelSite labels Sites as the provider does.
func labelSite(o *unstructured.Unstructured) {
	if o.GetKind() != "Site" {
		return
	}
	s := &catalogv1alpha1.Site{}
	s.Spec.AllowedNamespaces, _, _ = unstructured.NestedStringSlice(o.Object, "spec", "allowedNamespaces")
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[catalogv1alpha1.LabelUsableFrom] = s.UsableFrom()
	o.SetLabels(labels)
}

func has(all, some map[string]string) bool {
	for key, value := range some {
		if all[key] != value {
			return false
		}
	}
	return true
}

// run calls once.
func (w *world) run() *Output {
	w.t.Helper()
	out, err := w.core.Run(w.t.Context(), w.in)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

// call calls until the needs are answered, as Crossplane does, and keeps the status.
func (w *world) call() *Output {
	w.t.Helper()
	out := w.run()
	for range 5 {
		if !w.answer(out.Needs) {
			break // The next call would have the same input as this call.
		}
		next := w.run()
		isSameNeeds := cmp.Equal(out.Needs, next.Needs)
		if out = next; isSameNeeds {
			break
		}
	}
	w.in.Status = *out.Status
	return out
}

// apply makes the desired resources observed, with the fields' owner.
func (w *world) apply(out *Output) {
	w.t.Helper()
	for name, r := range out.Resources {
		o := r.Object.DeepCopy()
		o.SetManagedFields(w.managedFieldsOf(name, o))
		o.SetName("shop-" + name)
		o.SetGeneration(1)
		if current := w.in.Observed[name]; current != nil {
			o.SetGeneration(current.GetGeneration())
			if !reflect.DeepEqual(current.Object["spec"], o.Object["spec"]) {
				o.SetGeneration(current.GetGeneration() + 1)
			}
			if status, ok := current.Object["status"]; ok {
				o.Object["status"] = status
			}
		}
		w.in.Observed[name] = o
	}
	for name := range w.in.Observed {
		if _, ok := out.Resources[name]; !ok {
			delete(w.in.Observed, name)
		}
	}
}

// An appliedObject is the last applied object of a name, with its managedFields.
type appliedObject struct {
	object map[string]any
	fields []metav1.ManagedFieldsEntry
}

// managedFieldsOf returns the managedFields of an object that Crossplane applies.
func (w *world) managedFieldsOf(name string, o *unstructured.Unstructured) []metav1.ManagedFieldsEntry {
	w.t.Helper()
	if last := w.applied[name]; reflect.DeepEqual(last.object, o.Object) {
		return last.fields
	}
	v, err := typed.DeducedParseableType.FromUnstructured(o.Object)
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
	out := []metav1.ManagedFieldsEntry{{
		Manager: "apiextensions.crossplane.io/composed/1", Operation: metav1.ManagedFieldsOperationApply,
		FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: fields},
	}}
	if w.applied == nil {
		w.applied = map[string]appliedObject{}
	}
	w.applied[name] = appliedObject{object: o.DeepCopy().Object, fields: out}
	return out
}

// deliver lets the provider reconcile deliveries once: the home records its events, and each repository takes its trees.
func (w *world) deliver(names ...string) {
	w.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(w.in.Observed)) {
		if len(names) > 0 && !slices.Contains(names, name) || w.in.Observed[name].GetKind() != "GitDelivery" {
			continue
		}
		d := w.decode(w.in.Observed[name])
		url := w.url(name)
		if err := w.repository(url).deliver(d, ledger.Head{}, w.in.Now.Time, false); err != nil {
			w.t.Errorf("%s gets an illegal event: %s", name, err)
		}
		if r := d.Status.AtProvider.Remote; r != nil {
			r.URL = url
		}
		status, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&d.Status)
		if err != nil {
			w.t.Fatal(err)
		}
		w.in.Observed[name].Object["status"] = status
	}
}

// decode a delivery.
func (w *world) decode(o *unstructured.Unstructured) *deliveryv1alpha1.GitDelivery {
	w.t.Helper()
	d := &deliveryv1alpha1.GitDelivery{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, d); err != nil {
		w.t.Fatal(err)
	}
	return d
}

// repository returns the repository of a URL. A repository that no delivery named before is empty.
func (w *world) repository(url string) *repo {
	if w.repositories[url] == nil {
		w.repositories[url] = newRepo()
		w.repositories[url].refusal = w.refusal
	}
	return w.repositories[url]
}

// refuseWith lets all repositories refuse trees for a reason from now on. They take them again without one.
func (w *world) refuseWith(reason xpv2.ConditionReason) {
	w.refusal = reason
	for _, r := range w.repositories {
		r.refusal = reason
	}
}

// ledger is the newest that a repository holds.
func (w *world) ledger() ledger.State {
	out := ledger.State{}
	for _, r := range w.repositories {
		if s := r.memory.ledger; s.Successor == "" && !s.IsClosed && s.Compare(out.Head) > 0 {
			out = s
		}
	}
	return out
}

func condition(typ, status, reason string, o *unstructured.Unstructured) any {
	return map[string]any{
		"type": typ, "status": status, "reason": reason, "observedGeneration": o.GetGeneration(),
		"lastTransitionTime": "2031-12-17T13:14:15Z", "message": "Words.",
	}
}

// url returns the URL of the repository that a delivery is carried out in: the URL in the current configuration. Without the
// configuration it is the previous URL.
func (w *world) url(name string) string {
	d := w.in.Observed[name].Object
	kind, _, _ := unstructured.NestedString(d, "spec", "providerConfigRef", "kind")
	config, _, _ := unstructured.NestedString(d, "spec", "providerConfigRef", "name")
	url, _, _ := unstructured.NestedString(d, "status", "atProvider", "remote", "url")
	for _, o := range w.objects {
		if o.GetKind() == kind && o.GetName() == config {
			url, _, _ = unstructured.NestedString(o.Object, "spec", "git", "url")
		}
	}
	return url
}

// settle calls, applies and delivers until the deployment reaches the desired state.
func (w *world) settle() *Output {
	w.t.Helper()
	for range 5 {
		w.apply(w.call())
		w.deliver()
	}
	return w.call()
}

// deliveries in desired resources, by the URL of nothing: by the name of the composed resource.
func (w *world) deliveries(out *Output) map[string]*deliveryv1alpha1.GitDelivery {
	w.t.Helper()
	got := map[string]*deliveryv1alpha1.GitDelivery{}
	for name, r := range out.Resources {
		if r.Object.GetKind() != "GitDelivery" {
			continue
		}
		got[name] = w.decode(r.Object)
	}
	return got
}
