package bundlestate

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/provider/bundle"
)

// applyActions carries the actions of a decision out, and notes the refusals of the API server in the decision. It returns an error for
// actions that have to be repeated.
func (e *external) applyActions(ctx context.Context, bs *v1alpha1.BundleState, d *decision) error {
	failed := []error{}
	for _, a := range d.actions {
		uid, err := e.applyAction(ctx, bs, a)
		switch {
		case err == nil, kerrors.IsNotFound(err), kerrors.IsAlreadyExists(err), kerrors.IsConflict(err):
			// Another writer came between, whose change wakes this object.
		case a.pkg != nil && isPermanentRefusal(err):
			d.recordRefused(a.pkg, err)
			continue
		default:
			failed = append(failed, errors.Wrapf(err, "cannot %s %s", a.verb, a.actionObjectName()))
			continue
		}
		d.recordAccepted(a.pkg, uid)
		if uid != "" {
			failed = append(failed, e.writePackageUID(ctx, bs, a.pkg.Name, string(uid)))
		}
	}
	return errors.Join(failed...)
}

// writePackageUID writes the UID of a created object into the status, without a check of the resource version: the status is the only record that
// the object is of this Bundle. The note has it until a status that was read does.
func (e *external) writePackageUID(ctx context.Context, bs *v1alpha1.BundleState, name, uid string) error {
	e.note.created[name] = uid
	packages := slices.Clone(bs.Status.AtProvider.Packages)
	i := slices.IndexFunc(packages, func(p v1alpha1.PackageObservation) bool { return p.Name == name })
	if i < 0 {
		i, packages = len(packages), append(packages, v1alpha1.PackageObservation{Name: name})
	}
	packages[i].UID = uid
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"atProvider": map[string]any{"packages": packages}}})
	if err != nil {
		return errors.Wrap(err, "cannot encode the status")
	}
	patched := &v1alpha1.BundleState{}
	patched.SetNamespace(bs.GetNamespace())
	patched.SetName(bs.GetName())
	if err := e.kube.Status().Patch(ctx, patched, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return errors.Wrapf(err, "cannot write the UID of package %s into the status", name)
	}
	bs.Status.AtProvider.Packages = packages
	bs.SetResourceVersion(patched.GetResourceVersion()) // The reconciler writes the rest of the status.
	return nil
}

// actionObjectName returns the name of the object that an action is about.
func (a action) actionObjectName() string {
	if a.pkg != nil {
		return a.pkg.Kind + " " + a.pkg.Name
	}
	return a.object.live.GetKind() + " " + a.object.live.GetName()
}

// isPermanentRefusal reports whether the API server will never accept the object.
func isPermanentRefusal(err error) bool {
	return kerrors.IsInvalid(err) || kerrors.IsBadRequest(err) || kerrors.IsForbidden(err) || kerrors.IsRequestEntityTooLargeError(err)
}

// recordRefused notes that the API server refuses a package.
func (d *decision) recordRefused(p *v1alpha1.BundlePackage, err error) {
	out := d.findObservation(p.Name)
	setPackageStatusf(out, v1alpha1.StatusFailed, v1alpha1.PackageReasonRefused, "%s", oneline.Clean(err.Error(), maxMessage))
	if d.status != v1alpha1.StatusRemoving {
		d.status = v1alpha1.StatusFailed
	}
}

// recordAccepted notes that the API server takes a package which it refused before, and the UID of a new object.
func (d *decision) recordAccepted(p *v1alpha1.BundlePackage, uid types.UID) {
	if p == nil {
		return
	}
	out := d.findObservation(p.Name)
	if uid != "" {
		out.UID = string(uid)
	}
	if out.Reason == v1alpha1.PackageReasonRefused {
		setPackageStatusf(out, v1alpha1.StatusDeploying, v1alpha1.PackageReasonInProgress, "it goes out")
	}
}

func (d *decision) findObservation(name string) *v1alpha1.PackageObservation {
	for i := range d.packages {
		if d.packages[i].Name == name {
			return &d.packages[i]
		}
	}
	return &v1alpha1.PackageObservation{}
}

// applyAction carries one action out, on just the version of the object that was seen. It returns the UID of a new object.
func (e *external) applyAction(ctx context.Context, bs *v1alpha1.BundleState, a action) (types.UID, error) {
	switch a.verb {
	case verbCreate:
		return e.createObject(ctx, bs, a)
	case verbUpdate:
		return "", e.updateObject(ctx, a)
	case verbLabel:
		return "", e.labelObject(ctx, bs, a)
	case verbRemove:
		return "", e.deleteObject(ctx, bs, a)
	}
	return "", nil
}

// createObject makes an object, and returns its UID. It has no owner: a package that leaves the bundle stays.
func (e *external) createObject(ctx context.Context, bs *v1alpha1.BundleState, a action) (types.UID, error) {
	spec, err := decodePackageSpec(a.pkg)
	if err != nil {
		return "", err
	}
	u := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: a.pkg.Group, Version: deploymentv1alpha1.Version, Kind: a.pkg.Kind})
	u.SetNamespace(bs.GetNamespace())
	u.SetName(a.pkg.Name)
	a.setBundleLabels(u)
	err = e.kube.Create(ctx, u, client.FieldOwner(bundle.FieldOwner))
	return u.GetUID(), err
}

func decodePackageSpec(p *v1alpha1.BundlePackage) (map[string]any, error) {
	out := map[string]any{}
	return out, errors.Wrap(json.Unmarshal(p.Spec.Raw, &out), "cannot read spec")
}

// setBundleLabels sets the labels of an object that name its bundle, and the annotation with the time since which no bundle names it.
func (a action) setBundleLabels(u *unstructured.Unstructured) {
	labels, annotations := u.GetLabels(), u.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[v1alpha1.LabelBundle], labels[v1alpha1.LabelBundleGroup], labels[v1alpha1.LabelPackage] = a.owner.Name, a.owner.Group, u.GetName()
	delete(annotations, v1alpha1.AnnotationUnreferenced)
	if a.unreferencedSince != "" {
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[v1alpha1.AnnotationUnreferenced] = a.unreferencedSince
	}
	u.SetLabels(labels)
	u.SetAnnotations(annotations)
}

// updateObject gives an object its desired spec. Crossplane's own fields in the spec stay.
func (e *external) updateObject(ctx context.Context, a action) error {
	spec, err := decodePackageSpec(a.pkg)
	if err != nil {
		return err
	}
	u, err := e.readCurrentObject(ctx, a.object)
	if err != nil {
		return err
	}
	if crossplane, ok, _ := unstructured.NestedFieldCopy(u.Object, "spec", "crossplane"); ok {
		spec["crossplane"] = crossplane
	}
	u.Object["spec"] = spec
	a.setBundleLabels(u)
	return e.kube.Update(ctx, u, client.FieldOwner(bundle.FieldOwner))
}

// readCurrentObject returns an object with its content. It returns a conflict if the object is not the version that the decision is about.
func (e *external) readCurrentObject(ctx context.Context, o *object) (*unstructured.Unstructured, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(o.live.GroupVersionKind())
	if err := e.live.Get(ctx, client.ObjectKeyFromObject(o.live), u); err != nil {
		return nil, err
	}
	if u.GetResourceVersion() != o.live.GetResourceVersion() || u.GetUID() != o.live.GetUID() {
		kind := o.live.GroupVersionKind()
		return nil, kerrors.NewConflict(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, o.live.GetName(), errors.New("it changed after it was read"))
	}
	return u, nil
}

// labelObject changes which bundle an object belongs to.
func (e *external) labelObject(ctx context.Context, bs *v1alpha1.BundleState, a action) error {
	u, err := e.readCurrentObject(ctx, a.object)
	if err != nil {
		return err
	}
	a.setBundleLabels(u)
	if err := e.kube.Update(ctx, u, client.FieldOwner(bundle.FieldOwner)); err != nil {
		return err
	}
	if a.owner != bs.Spec.ForProvider.BundleRef {
		e.recorder.Event(bs, event.Normal(ReasonPackageHandedOver, "Package "+u.GetName()+" belongs to bundle "+a.owner.Name+" from now on, which uses it, too"))
	}
	return nil
}

// deleteObject deletes just the object that was seen. It is there until all that it made is gone.
func (e *external) deleteObject(ctx context.Context, bs *v1alpha1.BundleState, a action) error {
	uid, version := a.object.live.GetUID(), a.object.live.GetResourceVersion()
	err := e.kube.Delete(ctx, a.object.live.DeepCopy(),
		client.Preconditions{UID: &uid, ResourceVersion: &version}, client.PropagationPolicy(metav1.DeletePropagationForeground))
	if err == nil && a.unreferencedSince != "" {
		e.recorder.Event(bs, event.Normal(ReasonPackagePruned, "Package "+a.object.live.GetName()+" is removed: it left the bundle at "+a.unreferencedSince))
	}
	return err
}
