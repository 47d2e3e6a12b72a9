package bundlestate

import (
	"slices"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/bundles/state"
	"github.com/intentplane/intentplane/provider/bundle"
)

// judgeRemoval returns the fault of a removal. Its rules are written naively, from the view of a user.
func (w *walk) judgeRemoval(u *unstructured.Unstructured) {
	name, remover := u.GetName(), w.s.states[w.acting]
	w.tracef("package %s is removed by %s", name, w.acting)
	if owner := newObservedObject(u).owner; nameOfState(owner) != w.acting {
		w.reportf("package %s of bundle %s is removed by %s", name, nameOfState(owner), w.acting)
	}
	for _, b := range walkBundles {
		if claim := w.bundleAt(b); claim != nil && slices.ContainsFunc(bundle.PackagesIn(claim), func(p map[string]any) bool { return p["name"] == name && p["enabled"] == true }) {
			w.reportf("package %s is removed by %s, and Bundle %s names it", name, w.acting, nameOfState(b))
		}
	}
	for otherName, bs := range w.s.states {
		if otherName != w.acting && !meta.WasDeleted(bs) && isAskedForBy(bs, name) {
			w.reportf("package %s is removed by %s, and BundleState %s asks for it", name, w.acting, otherName)
		}
	}
	w.judgeRecords(name)
	if isNamed := slices.ContainsFunc(remover.Spec.ForProvider.Packages, func(p v1alpha1.BundlePackage) bool { return p.Name == name }); isNamed {
		w.judgeTaking(name, remover)
		return
	}
	w.judgePrune(u, remover)
}

func isAskedForBy(bs *v1alpha1.BundleState, name string) bool {
	return slices.ContainsFunc(bs.Spec.ForProvider.Packages, func(p v1alpha1.BundlePackage) bool { return p.Name == name && !p.Disabled })
}

// judgeRecords looks for records of other programs that name a package, or could.
func (w *walk) judgeRecords(name string) {
	for _, secret := range w.s.secrets {
		isOurs := slices.ContainsFunc(walkBundles, func(b v1alpha1.BundleReference) bool { return state.Prefix+nameOfState(b) == secret.GetName() })
		s, err := state.Decode(secret)
		switch {
		case err != nil && !isOurs:
			w.reportf("package %s is removed, and record %s cannot be read", name, secret.GetName())
		case err != nil || !isRecordTaken(s):
		case s.Pkg(name) != nil && s.Pkg(name).Status != state.Unreferenced && s.Pkg(name).Status != state.Removed:
			w.reportf("package %s is removed, and record %s names it", name, secret.GetName())
		}
	}
}

// judgeTaking looks at the removal of a package that the bundle has: it is not enabled, or the bundle is being deleted.
func (w *walk) judgeTaking(name string, remover *v1alpha1.BundleState) {
	spec := remover.Spec.ForProvider
	if meta.WasDeleted(remover) && spec.Orphan || !meta.WasDeleted(remover) && (spec.Suspend || isAskedForBy(remover, name)) {
		w.reportf("package %s is removed, and %s leaves it", name, remover.GetName())
	}
	for _, p := range spec.Packages {
		o := w.s.objects[objectKey{group, p.Kind, p.Name}]
		if o == nil || !slices.Contains(p.DependsOn, name) || nameOfState(newObservedObject(o).owner) != remover.GetName() {
			continue
		}
		if isUsed := w.isUsedElsewhere(p.Name, remover.GetName()); !isUsed {
			w.reportf("package %s is removed before %s, which depends on it", name, p.Name)
		}
	}
}

// isUsedElsewhere reports whether another bundle or program has a package, so that it stays.
func (w *walk) isUsedElsewhere(name, except string) bool {
	for otherName, bs := range w.s.states {
		if otherName != except && isAskedForBy(bs, name) {
			return true
		}
	}
	count := len(w.wrong)
	w.judgeRecords(name)
	isRecorded := len(w.wrong) > count
	w.wrong = w.wrong[:count]
	return isRecorded || slices.ContainsFunc(walkBundles, func(b v1alpha1.BundleReference) bool {
		claim := w.bundleAt(b)
		return claim != nil && slices.ContainsFunc(bundle.PackagesIn(claim), func(p map[string]any) bool { return p["name"] == name })
	})
}

// judgePrune looks at the removal of a package that left its bundle.
func (w *walk) judgePrune(u *unstructured.Unstructured, remover *v1alpha1.BundleState) {
	spec := remover.Spec.ForProvider
	start, err := time.Parse(time.RFC3339, u.GetAnnotations()[v1alpha1.AnnotationUnreferenced])
	switch {
	case spec.PruneAfter == nil || spec.Suspend || meta.WasDeleted(remover):
		w.reportf("package %s left bundle %s, which does not prune", u.GetName(), remover.GetName())
	case err != nil || w.at.Before(start.Add(spec.PruneAfter.Duration)):
		w.reportf("package %s left bundle %s just now", u.GetName(), remover.GetName())
	case w.s.volumes[u.GetName()]:
		w.reportf("package %s has a volume", u.GetName())
	case remover.Status.AtProvider.Status != v1alpha1.StatusSuccess:
		w.reportf("bundle %s is %s, and prunes", remover.GetName(), remover.Status.AtProvider.Status)
	}
}

// judgeRest reports missing packages after a story came to rest.
func (w *walk) judgeRest() {
	for name, bs := range w.s.states {
		if meta.WasDeleted(bs) || bs.Spec.ForProvider.Suspend {
			continue
		}
		for _, p := range bs.Spec.ForProvider.Packages {
			if !p.Disabled && !p.IsExisting() && len(p.DependsOn) == 0 && w.s.objects[packageObjectKey(&p)] == nil {
				w.reportf("package %s of %s is missing: %+v", p.Name, name, bs.Status.AtProvider.Packages)
			}
		}
	}
}
