package rollout

import (
	"fmt"
	"slices"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// irreversible stops a way back to a target that changes, or may change, what the order's Blueprint marks as irreversible. That nothing changes
// was told of the revision before, when the order was made. For any other, digests tell: where there is none, something may change.
func (r Retreat) irreversible(o rolloutv1alpha1.Order, to *Target) Stop {
	changes := o.Irreversible != nil && *o.Irreversible
	switch {
	case !changes && (o.Marked == "" || to.Revision == o.Revision-1):
		return StopNone
	case o.Marked == "" || o.Marked != to.Marked:
		return StopIrreversible
	case slices.ContainsFunc(r.Parts, func(d *deliveryv1alpha1.GitDelivery) bool { return d.Status.AtProvider.Order == nil }):
		return StopUnknown
	case slices.ContainsFunc(r.undone(to), func(n int64) bool { return n != o.Revision && markedBy(n, r.All) != to.Marked }):
		return StopIrreversible
	}
	return StopNone
}

// undone are the revisions that the way back to a target takes trees of away. The order's own need not be the only one: its later steps did
// not touch what a revision before left there.
func (r Retreat) undone(to *Target) []int64 {
	var out []int64
	for _, d := range r.Parts {
		for _, t := range d.Status.AtProvider.Trees {
			if want, served := to.Trees[t.Site]; served && r.Chosen(t.Site) && t.Tree != want {
				out = append(out, t.Revision)
			}
		}
	}
	return out
}

// markedBy is the digest of what a revision has of what its Blueprint marks as irreversible. It is empty when nobody knows, or when
// repositories do not agree.
func markedBy(n int64, all []*deliveryv1alpha1.GitDelivery) string {
	var said []string
	for _, d := range all {
		for _, h := range d.Status.AtProvider.History {
			if h.Revision == n {
				said = append(said, h.Marked)
			}
		}
	}
	if slices.Sort(said); len(said) == 0 || said[0] != said[len(said)-1] {
		return ""
	}
	return said[0]
}

// whyIrreversible says why a way back is not known to leave alone what is marked.
func whyIrreversible(o rolloutv1alpha1.Order, to *Target) string {
	if o.Marked != "" && to != nil && to.Marked == "" && to.Revision != o.Revision-1 {
		return fmt.Sprintf("nobody knows whether it changes what its Blueprint marks as irreversible, since nothing is remembered of what revision %d has of that.", to.Revision)
	}
	return "it changes, or may change, what its Blueprint marks as irreversible."
}
