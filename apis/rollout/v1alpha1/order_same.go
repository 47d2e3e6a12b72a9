package v1alpha1

import "slices"

// Same is true when o and other say the same. Absent and empty are the same, and so is an order that does not name its Blueprint, or what that
// marks, and one that does: earlier versions did not, and the request decides. It is asked for some hundred times in a call of the function.
func (o Order) Same(other Order) bool {
	return o.Epoch == other.Epoch && o.Revision == other.Revision && o.Request == other.Request && o.Intent == other.Intent && o.DigestScheme == other.DigestScheme &&
		o.RendererVersion == other.RendererVersion && o.Steps == other.Steps && o.Step == other.Step && o.Promoted == other.Promoted &&
		o.Attempt == other.Attempt && same(o.Verdict, other.Verdict) && same(o.Target, other.Target) && same(o.Irreversible, other.Irreversible) &&
		same(o.Withdraws, other.Withdraws) && same(o.Restored, other.Restored) && o.RequestRef.same(other.RequestRef) &&
		(o.Marked == "" || other.Marked == "" || o.Marked == other.Marked) &&
		(o.Blueprint == nil || other.Blueprint == nil || *o.Blueprint == *other.Blueprint) && slices.EqualFunc(o.Plan, other.Plan, Step.same)
}

func (s Step) same(other Step) bool {
	return s.Pause == other.Pause && same(s.Weight, other.Weight) && same(s.Gate, other.Gate) && slices.Equal(s.Sites, other.Sites)
}

// same takes a reason that is absent for any: earlier versions did not repeat it.
func (r *RequestReference) same(other *RequestReference) bool {
	if r == nil || other == nil {
		return r == other
	}
	return r.Name == other.Name && r.UID == other.UID && r.By == other.By && r.At.Equal(other.At) &&
		(r.Reason == "" || other.Reason == "" || r.Reason == other.Reason)
}

func same[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }
