package bundlestate

import (
	"context"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	kmeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/bundles/state"
	"github.com/intentplane/intentplane/provider/bundle"
	"github.com/intentplane/intentplane/provider/instant"
	"github.com/intentplane/intentplane/provider/listing"
	deliveryusage "github.com/intentplane/intentplane/provider/usage"
)

// gatherFacts reads the whole input of a decision. It writes nothing.
func (c *connector) gatherFacts(ctx context.Context, bs *v1alpha1.BundleState) (*facts, error) {
	f := &facts{
		now: c.now(), bundle: bs.Spec.ForProvider.BundleRef, spec: bs.Spec.ForProvider, isDeleted: meta.WasDeleted(bs),
		was: map[string]v1alpha1.PackageObservation{}, objects: map[objectKey]*object{}, missingKinds: map[string]bool{}, recordUsers: map[string][]string{}, unread: map[string]error{},
		namers: map[string][]string{}, usages: map[objectKey]usage{}, records: map[string]bool{}, age: ageOfBundleState(bs),
	}
	for _, p := range bs.Status.AtProvider.Packages {
		f.was[p.Name] = p
	}
	c.memory.NoteOf(bs).addCreatedUIDs(f.was)
	if err := c.listLabelled(ctx, f, bs.GetNamespace()); err != nil {
		return nil, err
	}
	if err := c.addNamedObjects(ctx, f, bs.GetNamespace()); err != nil {
		return nil, err
	}
	if err := c.listNeighbours(ctx, f, bs); err != nil {
		return nil, err
	}
	if err := c.explainDeletions(ctx, f, bs.GetNamespace()); err != nil {
		return nil, err
	}
	if err := c.findNamingBundles(ctx, f, bs.GetNamespace()); err != nil {
		return nil, err
	}
	return f, c.findRecordUsers(ctx, f, bs)
}

func ageOfBundleState(bs *v1alpha1.BundleState) age {
	return age{created: bs.GetCreationTimestamp().Time, name: bs.GetName()}
}

// listNeighbours adds the other bundles of the namespace that are not being deleted.
func (c *connector) listNeighbours(ctx context.Context, f *facts, bs *v1alpha1.BundleState) error {
	l := &v1alpha1.BundleStateList{}
	err := listing.EachPage(ctx, c.live, l, func() {
		for i := range l.Items {
			f.addNeighbour(bs, &l.Items[i])
		}
	}, client.InNamespace(bs.GetNamespace()))
	return errors.Wrap(err, "cannot list BundleStates")
}

// addNeighbour adds a BundleState of the namespace to the users of the objects that the decision is about, without its specs and dependencies, which no
// decision reads: a namespace may have any number of bundles of a megabyte each.
func (f *facts) addNeighbour(bs, o *v1alpha1.BundleState) {
	f.records[o.GetName()] = true
	if o.GetName() == bs.GetName() || meta.WasDeleted(o) {
		return
	}
	for i := range o.Spec.ForProvider.Packages {
		f.addBundleUsage(neighbour{age: ageOfBundleState(o), bundle: o.Spec.ForProvider.BundleRef}, &o.Spec.ForProvider.Packages[i])
	}
}

// concernsObject reports whether the decision concerns an object, or the Application of that object.
func (f *facts) concernsObject(key objectKey) bool {
	isInner := key == key.innerObjectKey()
	return f.namesObject(key) || f.objects[key] != nil || isInner && (f.namesObject(key.outerObjectKey()) || f.objects[key.outerObjectKey()] != nil)
}

// listLabelled adds the objects that carry the labels of the bundle.
func (c *connector) listLabelled(ctx context.Context, f *facts, namespace string) error {
	labels := client.MatchingLabels{v1alpha1.LabelBundle: f.bundle.Name, v1alpha1.LabelBundleGroup: f.bundle.Group}
	for _, kind := range bundle.PackageKinds() {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		err := listing.EachPage(ctx, c.live, l, func() {
			for i := range l.Items {
				f.addLabelled(&l.Items[i])
			}
		}, client.InNamespace(namespace), labels)
		if kmeta.IsNoMatchError(err) || kerrors.IsNotFound(err) {
			f.missingKinds[kind.Kind] = true
			continue
		}
		if err != nil {
			return errors.Wrapf(err, "cannot list objects of kind %s", kind.Kind)
		}
	}
	return nil
}

// addNamedObjects adds the objects that have the names of packages, by any user.
func (c *connector) addNamedObjects(ctx context.Context, f *facts, namespace string) error {
	for i := range f.spec.Packages {
		key := packageObjectKey(&f.spec.Packages[i])
		if f.objects[key] != nil || f.missingKinds[key.kind] && key.group == deploymentv1alpha1.GroupNamespaced {
			continue
		}
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(schema.GroupVersionKind{Group: key.group, Version: deploymentv1alpha1.Version, Kind: key.kind})
		err := c.live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: key.name}, u)
		if kmeta.IsNoMatchError(err) || kerrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return errors.Wrapf(err, "cannot get %s %s", key.kind, key.name)
		}
		f.addObject(u)
	}
	return nil
}

// maxLeft is the maximum number of unrecorded objects that have the labels of a bundle and that its spec does not name. Each editor of an object may label it.
// The others follow once these are gone: the API server lists objects by their names.
const maxLeft = 2 * maxPackages

// addLabelled adds an object with the labels of the bundle, unless no decision reads it.
func (f *facts) addLabelled(u *unstructured.Unstructured) {
	kind, o := u.GroupVersionKind(), newObservedObject(u)
	key := objectKey{kind.Group, kind.Kind, u.GetName()}
	switch {
	case f.namesObject(key), f.matchesRecord(o):
	case !f.isOwnedByBundle(o), f.left == maxLeft:
		return
	default:
		f.left++
	}
	f.objects[key] = o
}

func (f *facts) addObject(u *unstructured.Unstructured) {
	kind := u.GroupVersionKind()
	f.objects[objectKey{kind.Group, kind.Kind, u.GetName()}] = newObservedObject(u)
}

func newObservedObject(u *unstructured.Unstructured) *object {
	labels := u.GetLabels()
	o := &object{
		live: objectIdentity(u), label: labels[v1alpha1.LabelPackage], isDeleting: meta.WasDeleted(u), isControlled: metav1.GetControllerOf(u) != nil,
		owner:             v1alpha1.BundleReference{Group: labels[v1alpha1.LabelBundleGroup], Name: labels[v1alpha1.LabelBundle]},
		unreferencedSince: u.GetAnnotations()[v1alpha1.AnnotationUnreferenced],
	}
	o.digest, o.evidence = bundle.ReadEvidence(u)
	return o
}

// objectIdentity returns the fields of an object that name it and its version. The object of a package may have a megabyte, and a tenant may label any number.
func objectIdentity(u *unstructured.Unstructured) *unstructured.Unstructured {
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(u.GroupVersionKind())
	out.SetNamespace(u.GetNamespace())
	out.SetName(u.GetName())
	out.SetUID(u.GetUID())
	out.SetResourceVersion(u.GetResourceVersion())
	return out
}

// explainDeletions sets the reason of a blocked deletion: a GitDelivery of the object reports that it cannot remove the files.
func (c *connector) explainDeletions(ctx context.Context, f *facts, namespace string) error {
	for key, o := range f.objects {
		if !o.isDeleting {
			continue
		}
		ds, err := deliveryusage.OfClaim(ctx, c.kube, rolloutv1alpha1.ClaimReference{APIGroup: key.group, Namespace: namespace, Name: key.name})
		if err != nil {
			return err
		}
		for i := range ds {
			if meta.WasDeleted(&ds[i]) {
				f.explainDeletion(o, ds[i].GetCondition(xpv2.TypeSynced))
			}
		}
	}
	return nil
}

// blockedAfter is how long the files of an object cannot be removed before that counts as more than an outage that passes.
const blockedAfter = 30 * time.Second

// explainDeletion notes why an object is still there, if that lasts.
func (f *facts) explainDeletion(o *object, synced xpv2.Condition) {
	if synced.Status != corev1.ConditionFalse {
		return
	}
	if due := synced.LastTransitionTime.Add(blockedAfter); f.now.Before(due) {
		f.due = instant.Earliest(f.due, due)
		return
	}
	o.removalProblem = synced.Message
}

// findNamingBundles finds the Bundles, including this one, that name a package to remove: a BundleState follows its Bundle, and may be behind.
func (c *connector) findNamingBundles(ctx context.Context, f *facts, namespace string) error {
	names := f.namesToRemove()
	if len(names) == 0 {
		return nil
	}
	for _, kind := range bundle.Kinds() {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		err := listing.EachPage(ctx, c.live, l, func() {
			for i := range l.Items {
				f.addNamingBundle(&l.Items[i], names)
			}
		}, client.InNamespace(namespace))
		if kmeta.IsNoMatchError(err) || kerrors.IsNotFound(err) {
			undefined, failure := listing.IsUndefined(ctx, c.live, kind)
			if undefined {
				continue
			}
			err = errors.Join(failure, err)
		}
		if err != nil {
			return errors.Wrapf(err, "cannot list %s, and nothing is removed before it is known who names it", kind.GroupKind())
		}
	}
	return nil
}

// addNamingBundle notes which of some packages a Bundle wants to be deployed, unless it is being deleted.
func (f *facts) addNamingBundle(b *unstructured.Unstructured, names map[string]bool) {
	if meta.WasDeleted(b) {
		return
	}
	for _, p := range bundle.PackagesIn(b) {
		name, _ := p["name"].(string)
		if enabled, isSet := p["enabled"].(bool); names[name] && (enabled || !isSet) {
			addUserName(f.namers, name, b.GetName())
		}
	}
}

// findRecordUsers finds out which records that other programs keep name a package to be removed, in one pass that holds one record at a time. Records of
// the BundleStates of the namespace say nothing new, unless another program keeps one under their name. One of them that cannot be read is made again.
func (c *connector) findRecordUsers(ctx context.Context, f *facts, bs *v1alpha1.BundleState) error {
	names := f.namesToRemove()
	if len(names) == 0 {
		return nil
	}
	unread := []error{}
	addRecord := func(secret string, s *state.BundleState, err error) {
		name, hasPrefix := strings.CutPrefix(secret, state.Prefix)
		isOurs := hasPrefix && f.records[name]
		switch {
		case err != nil && !isOurs && len(unread) < maxUsers:
			unread = append(unread, err)
		case err == nil && (!isOurs || isRecordTaken(s)):
			f.addRecordUser(s, names)
		}
	}
	err := c.recordsOfNamespace(bs).EachRecord(ctx, addRecord)
	unreadable := errors.Join(append(unread, err)...)
	if unreadable != nil && !isUnwritable(unreadable) {
		return unreadable
	}
	for name := range names {
		f.unread[name] = unreadable
	}
	return nil
}

// addRecordUser notes which of some packages the bundle of a record uses.
func (f *facts) addRecordUser(s *state.BundleState, names map[string]bool) {
	for i := range s.PkgStatuses {
		if p := &s.PkgStatuses[i]; names[p.Name] && p.IsUsed() {
			addUserName(f.recordUsers, p.Name, s.Name)
		}
	}
}

// isUnreadable reports whether a record can be read by no try.
func isUnreadable(err error) bool {
	return errors.Is(err, state.ErrBroken) || errors.Is(err, state.ErrNewer) || errors.Is(err, state.ErrForeign)
}
