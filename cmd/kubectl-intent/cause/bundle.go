package cause

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/advice"
	bundlev1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
	statev1alpha1 "github.com/intentplane/intentplane/apis/state/v1alpha1"
)

// A Bundle is one in either shape. Additional fields of a newer version are not read.
type Bundle struct {
	metav1.TypeMeta `json:",inline"`

	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     BundleSpec        `json:"spec"`
	Status   BundleStatus      `json:"status"`
}

// A BundleSpec has the reference that Crossplane adds.
type BundleSpec struct {
	bundlev1alpha1.BundleSpec `json:",inline"`
	ClaimSpec                 `json:",inline"`
}

// A BundleStatus has the conditions that Crossplane adds.
type BundleStatus struct {
	bundlev1alpha1.BundleStatus `json:",inline"`

	Conditions Conditions `json:"conditions,omitempty"`
}

// BundleFacts are a Bundle and the objects that deploy it, as far as they could be read.
type BundleFacts struct {
	Bundle     Bundle
	SpecDigest string

	// State is nil if there is none, or it could not be read.
	State *statev1alpha1.BundleState

	// Application or Deployment that the package is which is in the way. Both are nil if none is, or it could not be read.
	Application *ApplicationFacts
	Deployment  *Facts

	Installed Installed
	Unread    []Unread
}

// IsAnswered reports whether the status speaks about the current spec.
func (f *BundleFacts) IsAnswered() bool {
	return f.SpecDigest == "" || f.Bundle.Status.SpecDigest == f.SpecDigest
}

// FindForBundle returns why a Bundle does not go on.
func FindForBundle(f *BundleFacts, now time.Time) Finding {
	b := f.Bundle
	r := root{
		kind: b.Kind, metadata: b.Metadata, conditions: b.Status.Conditions, installed: f.Installed,
		isAnswered: f.IsAnswered(),
	}
	chain, isGood := r.installationChain(), false
	if chain == nil {
		chain, isGood = f.bundleChain(now)
	}
	out := concludeChain(chain)
	out.IsGood, out.Unread = isGood, slices.Concat(f.Unread, f.unreadOfPackage())
	return out
}

// unreadOfPackage returns the unreadable objects of the blocking package.
func (f *BundleFacts) unreadOfPackage() []Unread {
	switch {
	case f.Application != nil:
		return f.Application.Unread
	case f.Deployment != nil:
		return f.Deployment.Unread
	}
	return nil
}

// bundleChain returns the chain from the Bundle down to the blocker, and true if nothing blocks it.
func (f *BundleFacts) bundleChain(now time.Time) ([]Link, bool) {
	c, isGood := f.rootCondition()
	first := Link{
		Kind: advice.Bundle, Object: "Bundle " + f.Bundle.Metadata.Name, Reason: c.Reason, Message: cmp.Or(c.Message, f.Bundle.Status.Message), Since: c.lastTransition(),
	}
	if isGood {
		return []Link{first}, true
	}
	out := []Link{first}
	if o := f.Installed.Composite; o != nil {
		out = append(out, Link{Object: o.Kind + " " + o.Metadata.Name})
	}
	return append(out, f.followState(c.Reason, now)...), false
}

// rootCondition returns the condition that says most about why the Bundle does not go on, and true if it need not go on.
func (f *BundleFacts) rootCondition() (Condition, bool) {
	all := f.Bundle.Status.Conditions
	if c := all.Get(bundlev1alpha1.TypeStalled); c.Status == metav1.ConditionTrue {
		return c, false
	}
	c := all.Get(bundlev1alpha1.TypeReconciling)
	isIdle := c.Status == metav1.ConditionFalse && c.Reason == bundlev1alpha1.ReasonIdle
	if recorded := all.Get(bundlev1alpha1.TypeRecorded); isIdle && recorded.Status == metav1.ConditionFalse {
		return recorded, false
	}
	return c, isIdle
}

// followState goes from a reason of the Bundle to its BundleState, and to the blocking package.
func (f *BundleFacts) followState(reason string, now time.Time) []Link {
	isOwn := []string{bundlev1alpha1.ReasonInvalidSpec, bundlev1alpha1.ReasonHeldBack, bundlev1alpha1.ReasonNotRecorded}
	if slices.Contains(isOwn, reason) {
		return nil
	}
	if s := f.State; s != nil {
		if l, ok := f.Installed.unobservedLink(observeManaged("BundleState "+s.Name, s), now); ok {
			return []Link{l}
		}
	}
	p := f.BlockingPackage()
	if p == nil {
		return nil
	}
	l := Link{Kind: advice.BundleState, Object: "package " + p.Name, Reason: p.Reason, Message: p.Message}
	return append([]Link{l}, f.followPackage(now)...)
}

// followPackage goes on with the object of the blocking package, unless that is ready.
func (f *BundleFacts) followPackage(now time.Time) []Link {
	below := Finding{IsGood: true}
	switch {
	case f.Application != nil:
		below = FindForApplication(f.Application, now)
	case f.Deployment != nil:
		below = FindForDeployment(f.Deployment, now)
	}
	if below.IsGood {
		return nil
	}
	return below.Chain
}

// BlockingPackage returns the package that blocks most: a failed package or a package that needs a person, before a package that is being
// deployed, before a package that waits for another. It is nil if none is in the way.
func (f *BundleFacts) BlockingPackage() *bundlev1alpha1.PackageStatus {
	var worst *bundlev1alpha1.PackageStatus
	all := f.Bundle.Status.Packages
	for i := range all {
		if gravity := gravityOfPackage(&all[i]); gravity > 0 && (worst == nil || gravity > gravityOfPackage(worst)) {
			worst = &all[i]
		}
	}
	return worst
}

// gravityOfPackage orders packages: the higher, the more one is in the way. It is 0 for a package that is not.
func gravityOfPackage(p *bundlev1alpha1.PackageStatus) int {
	a, isKnown := advice.For(advice.BundleState, p.Reason)
	waits := []string{statev1alpha1.PackageReasonAwaitingDependency, statev1alpha1.PackageReasonAwaitingDependents, statev1alpha1.PackageReasonUsedByBundle}
	switch {
	case slices.Contains([]string{"", statev1alpha1.PackageReasonDisabled, statev1alpha1.PackageReasonUnreferenced}, p.Reason):
		return 0
	case slices.Contains(waits, p.Reason):
		return 1
	case !isKnown, a.NeedsPerson():
		return 3
	}
	return 2
}

// IsFollowed reports whether the package's own object explains its status.
func IsFollowed(p *bundlev1alpha1.PackageStatus) bool {
	return p != nil && slices.Contains([]string{
		statev1alpha1.PackageReasonInProgress, statev1alpha1.PackageReasonFailed, statev1alpha1.PackageReasonRolledBack, statev1alpha1.PackageReasonNotReady,
		statev1alpha1.PackageReasonRemovalBlocked, statev1alpha1.PackageReasonAwaitingDeletion,
	}, p.Reason)
}
