package v1alpha1

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/intentplane/intentplane/apis/ledger"
)

// OrderOf returns the order that stands for the state of a ledger. It is the zero value for a ledger without a revision. Its Request identifies
// the revision and not what it delivers: equivalent requests change the digests of a revision, and a number must not look used twice for that.
func OrderOf(s ledger.State) Order {
	if s.Current == nil {
		return Order{}
	}
	return Order{
		Epoch:           s.Epoch,
		Revision:        s.Current.Number,
		Request:         identityOf(s),
		Intent:          s.Current.Request.Intent,
		DigestScheme:    s.Current.Request.Scheme,
		RendererVersion: s.Current.Request.Renderer,
		Blueprint:       blueprintOf(s.Current.Blueprint),
		Plan:            planOf(s.Current.Plan),
		Steps:           int32(len(s.Current.Plan)), //nolint:gosec // A plan has at most 20 steps.
		Step:            s.Cursor.Step,
		Promoted:        s.Cursor.Promoted,
		Attempt:         s.Cursor.Attempt,
		Verdict:         verdictOf(s.Verdict),
		Target:          presentOrNil(s.Target),
		Irreversible:    presentOrNil(s.Current.Irreversible),
		Marked:          s.Current.Marked,
		Withdraws:       presentOrNil(s.Withdraws),
		Restored:        presentOrNil(s.Restored),
		RequestRef:      requestRefOf(s.Current.RequestRef),
	}
}

// identityOf returns a digest that tells the current revision from all others of its epoch.
func identityOf(s ledger.State) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", s.Ledger, s.Current.Number))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// presentOrNil returns a pointer to a value, or nil for the zero value.
func presentOrNil[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func planOf(steps []ledger.Step) []Step {
	out := make([]Step, len(steps))
	for i, s := range steps {
		out[i] = Step{Sites: s.Sites, Weight: s.Weight, Gate: presentOrNil(s.Gate), Pause: s.Pause}
	}
	return out
}

func verdictOf(v *ledger.Verdict) *Verdict {
	if v == nil {
		return nil
	}
	return &Verdict{Result: VerdictResult(v.Result), Reason: v.Reason, Message: v.Message}
}

func blueprintOf(b *ledger.BlueprintReference) *BlueprintReference {
	if b == nil {
		return nil
	}
	return &BlueprintReference{Name: b.Name, Channel: b.Channel, Digest: b.Digest}
}

func requestRefOf(r *ledger.RequestReference) *RequestReference {
	if r == nil {
		return nil
	}
	return &RequestReference{Name: r.Name, UID: r.UID, By: r.By, Reason: r.Reason}
}
