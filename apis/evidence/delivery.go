// Package evidence compares the desired state with the observed state, and derives the proof about a revision. It is pure. A report about another
// position, or about an earlier generation of an object, proves nothing.
package evidence

import (
	"fmt"
	"strings"
	"unicode"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// A managed resource has conditions, and a generation that they are about.
type managed interface {
	GetCondition(ct xpv2.ConditionType) xpv2.Condition
	GetGeneration() int64
	GetName() string
}

// IsDelivered is true when a delivery proves now that its repository was brought to a position: it is Ready and Synced, its Ready is
// about its current generation, and it asks for that position.
func IsDelivered(d *deliveryv1alpha1.GitDelivery, position ledger.Position) bool {
	return (hasReadyStatus(d, corev1.ConditionTrue) || isOnlyRebased(d)) && AsksForPosition(d, position) && HasApplied(d, position)
}

// isOnlyRebased is true for a home that was Ready, and since then was asked only to record which other request renders the trees that it has. A
// version of the function or of a Blueprint that changes no byte makes no deployment unready.
func isOnlyRebased(d *deliveryv1alpha1.GitDelivery) bool {
	requested, recorded, ready := d.Spec.ForProvider.Ledger, d.Status.AtProvider.Ledger, d.GetCondition(xpv2.TypeReady)
	return requested != nil && recorded != nil && requested.After == recorded.Head && len(requested.Events) == 1 && requested.Events[0].Rebased != nil &&
		ready.Status == corev1.ConditionTrue && ready.ObservedGeneration == d.GetGeneration()-1 &&
		d.GetCondition(xpv2.TypeSynced).Status == corev1.ConditionTrue && holdsAskedTrees(d)
}

// holdsAskedTrees is true for a delivery whose repository was last seen to hold each tree that the delivery asks for.
func holdsAskedTrees(d *deliveryv1alpha1.GitDelivery) bool {
	for _, t := range d.Spec.ForProvider.Trees {
		if delivered, ok := HeldTree(d, t.Path); t.Action != deliveryv1alpha1.ActionKeep && (!ok || delivered.Tree != t.Tree) {
			return false
		}
	}
	return true
}

// HasApplied is true when the repository of a delivery was brought to a position, even if the directories changed since.
func HasApplied(d *deliveryv1alpha1.GitDelivery, position ledger.Position) bool {
	r := d.Status.AtProvider.Record
	return r != nil && r.Position == position
}

// AsksForPosition is true for a delivery whose spec has the position.
func AsksForPosition(d *deliveryv1alpha1.GitDelivery, position ledger.Position) bool {
	p := d.Spec.ForProvider.Position
	return p != nil && *p == position
}

// awaitsRecording is true for a home that has still to record events.
func awaitsRecording(d *deliveryv1alpha1.GitDelivery) bool {
	requested, recorded := d.Spec.ForProvider.Ledger, d.Status.AtProvider.Ledger
	return requested != nil && len(requested.Events) > 0 && (recorded == nil || requested.After == recorded.Head)
}

// DeliveryFailure returns the rejection that follows from the report of a delivery about a position, or nil. A home that does not record fails no revision.
func DeliveryFailure(d *deliveryv1alpha1.GitDelivery, position ledger.Position) *ledger.Verdict {
	if awaitsRecording(d) || !hasReadyStatus(d, corev1.ConditionFalse) || !AsksForPosition(d, position) || !reportsOnPosition(d, position) {
		return nil
	}
	switch d.GetCondition(xpv2.TypeReady).Reason {
	case deliveryv1alpha1.ReasonDeliveryTimedOut:
		return rejectionBy(rolloutv1alpha1.RejectedDeliveryTimedOut, "GitDelivery", d)
	case deliveryv1alpha1.ReasonPolicyDenied, deliveryv1alpha1.ReasonNotOwner, deliveryv1alpha1.ReasonOwnedElsewhere, deliveryv1alpha1.ReasonTooLarge,
		deliveryv1alpha1.ReasonTreeGone:
		return rejectionBy(rolloutv1alpha1.RejectedDeliveryRefused, "GitDelivery", d)
	}
	return nil
}

// reportsOnPosition is true for a delivery whose condition speaks about a position. The provider writes with each failure the position that it waits for, and waits for
// nothing once that is reached. A generation alone does not say it: a backup that is restored with its status counts its generations from one again.
func reportsOnPosition(d *deliveryv1alpha1.GitDelivery, position ledger.Position) bool {
	if w := d.Status.AtProvider.Waiting; w != nil {
		return w.Revision == position.Revision && w.Step == position.Step && w.Number == position.Attempt
	}
	return HasApplied(d, position)
}

// rejectionBy returns the rejection that the Ready condition of a managed resource gives the reason for.
func rejectionBy(reason, kind string, m managed) *ledger.Verdict {
	c := m.GetCondition(xpv2.TypeReady)
	return newRejection(reason, fmt.Sprintf("%s %s: %s: %s", kind, m.GetName(), c.Reason, c.Message))
}

// hasReadyStatus is true when the Ready condition of a managed resource has a status and is about its current generation. A resource that is not Ready
// need not be Synced: a failed resource is neither.
func hasReadyStatus(m managed, status corev1.ConditionStatus) bool {
	ready := m.GetCondition(xpv2.TypeReady)
	synced := m.GetCondition(xpv2.TypeSynced).Status == corev1.ConditionTrue
	return ready.Status == status && ready.ObservedGeneration == m.GetGeneration() && (synced || status == corev1.ConditionFalse)
}

// AsksForTree is true for a delivery whose spec has the tree, usually at this index.
func AsksForTree(d *deliveryv1alpha1.GitDelivery, index int, t *deliveryv1alpha1.Tree) bool {
	requested := d.Spec.ForProvider.Trees
	if index < len(requested) && isSameTree(&requested[index], t) {
		return true
	}
	for i := range requested {
		if isSameTree(&requested[i], t) {
			return true
		}
	}
	return false
}

// AsksForSameTrees is true if the specs of two deliveries have the same trees in the same directories, in any order.
func AsksForSameTrees(a, b *deliveryv1alpha1.GitDelivery) bool {
	trees, otherTrees := a.Spec.ForProvider.Trees, b.Spec.ForProvider.Trees
	if len(trees) != len(otherTrees) {
		return false
	}
	for i := range trees {
		if !AsksForTree(b, i, &trees[i]) {
			return false
		}
	}
	return true
}

func isSameTree(a, b *deliveryv1alpha1.Tree) bool {
	return a.Tree == b.Tree && a.Path == b.Path && a.Branch == b.Branch
}

// HasBrought is true when the repository of a delivery recorded the step of a Site in the attempt of a state, or a later one.
func HasBrought(d *deliveryv1alpha1.GitDelivery, s ledger.State, site string) bool {
	r := d.Status.AtProvider.Record
	return r != nil && hasPositionReached(r.Position, s, site)
}

// hasPositionReached is true when a position is of the attempt of a state, and at the step of a Site or a later one.
func hasPositionReached(position ledger.Position, s ledger.State, site string) bool {
	return position.IsSameAttempt(s.Position()) && position.Step >= s.StepOf(site)
}

// maxMessage is how many characters the message of a verdict has at most.
const maxMessage = 1024

// newRejection returns a verdict with a reason, and a message of one line.
func newRejection(reason, text string) *ledger.Verdict {
	message := []rune(strings.Map(replaceControl, text))
	return &ledger.Verdict{Result: ledger.VerdictRejected, Reason: reason, Message: string(message[:min(len(message), maxMessage)])}
}

// replaceControl returns a blank for a character that would break a line.
func replaceControl(r rune) rune {
	if unicode.IsControl(r) {
		return ' '
	}
	return r
}
