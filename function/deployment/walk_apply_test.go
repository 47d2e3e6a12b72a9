package deployment

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
)

// put an object as it was applied.
func (w *walk) put(name string, object any) {
	switch o := object.(type) {
	case *deliveryv1alpha1.GitDelivery:
		w.putDelivery(name, o)
	case *deliveryv1alpha1.SiteSync:
		current := w.sync
		if current == nil {
			current = &deliveryv1alpha1.SiteSync{}
		}
		isUnchanged := isSame(&current.Spec, &o.Spec)
		if isUnchanged && w.sync != nil {
			return
		}
		next := &deliveryv1alpha1.SiteSync{TypeMeta: o.TypeMeta, ObjectMeta: appliedMeta(o), Spec: o.Spec, Status: current.Status}
		w.stamp(next, current, "shop-sync", isUnchanged)
		w.sync = next
	case *rolloutv1alpha1.Gate:
		w.putGate(name, o)
	}
}

// appliedMeta returns the applied part of the metadata of an object.
func appliedMeta(o metav1.Object) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: o.GetNamespace(), Labels: o.GetLabels(), Annotations: o.GetAnnotations()}
}

func (w *walk) putDelivery(name string, o *deliveryv1alpha1.GitDelivery) {
	current := w.deliveries[name]
	if current == nil {
		current = &deliveryv1alpha1.GitDelivery{}
	}
	isUnchanged := isSame(&current.Spec, &o.Spec)
	if isUnchanged && w.deliveries[name] != nil && maps.Equal(current.Annotations, o.Annotations) {
		return
	}
	if hasOtherMandate(o.Spec.ForProvider) {
		w.truth.violatedf("%s is asked for %+v beside the mandate %+v", name, o.Spec.ForProvider.AskedPosition(), o.Spec.ForProvider.Mandate)
	}
	next := &deliveryv1alpha1.GitDelivery{TypeMeta: o.TypeMeta, ObjectMeta: appliedMeta(o), Spec: o.Spec, Status: current.Status}
	w.stamp(next, current, "shop-"+name, isUnchanged)
	w.deliveries[name] = next
	w.learn(next)
}

func (w *walk) putGate(name string, o *rolloutv1alpha1.Gate) {
	current := w.gates[name]
	switch {
	case current == nil:
		current = &rolloutv1alpha1.Gate{}
	case isSame(&current.Spec.ForProvider, &o.Spec.ForProvider):
		return
	case w.fresh:
		// The API server refuses that. A call that read old objects may try, and no other one must.
		w.truth.violatedf("%s is changed", name)
		return
	default:
		return
	}
	next := &rolloutv1alpha1.Gate{TypeMeta: o.TypeMeta, ObjectMeta: appliedMeta(o), Spec: o.Spec}
	w.stamp(next, current, "shop-"+name, false)
	w.gates[name] = next
}

func (w *walk) stamp(o, current metav1.Object, name string, isUnchanged bool) {
	generation := current.GetGeneration()
	o.SetName(name)
	if o.SetUID(current.GetUID()); o.GetUID() == "" {
		w.born++
		o.SetUID(types.UID(fmt.Sprint(w.born)))
	}
	if o.SetGeneration(generation); !isUnchanged || generation == 0 {
		o.SetGeneration(generation + 1)
	}
}

var says = regexp.MustCompile(`replicas: "([0-9]+)"`)

// learn records the quality of the trees that a delivery carries.
func (w *walk) learn(d *deliveryv1alpha1.GitDelivery) {
	for _, t := range d.Spec.ForProvider.Trees {
		if t.Action == deliveryv1alpha1.ActionDesired {
			w.truth.forwarded[visit{askedPosition(d).Revision, t.Path}] = true
		}
		if _, isKnown := w.qualities[t.Tree]; isKnown || len(t.Files) == 0 {
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
