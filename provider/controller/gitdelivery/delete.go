package gitdelivery

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/state"
)

// leftovers is true while the repository holds something of a deleted delivery: a directory of ours, or a state that still
// speaks of it.
func (f facts) leftovers() bool {
	return len(f.garbage()) > 0 || f.remembered()
}

// garbage are the directories of ours that a deletion removes. Those of others are left, whatever the object says.
func (f facts) garbage() []string {
	out := []string{}
	if f.spec.ClaimRef.Namespace != f.namespace {
		return out
	}
	for _, path := range f.paths() {
		if f.removable(path) {
			out = append(out, path)
		}
	}
	return out
}

// remembered is true if the state has an entry of ours that is not a tombstone.
func (f facts) remembered() bool {
	return checkClaim(f) == nil && checkState(f) == nil && f.entry != nil && !f.entry.Deleted
}

// Delete removes the claim's directories in one commit, and leaves a tombstone in the state.
func (e *external) Delete(ctx context.Context, d *v1alpha1.GitDelivery) (managed.ExternalDelete, error) {
	return managed.ExternalDelete{}, e.retry(ctx, d, e.remove)
}

func (e *external) remove(ctx context.Context, d *v1alpha1.GitDelivery) error {
	// The date of the deletion makes a repeated commit the same.
	c := e.commit(letter{removes: true}, metav1.Unix(d.GetDeletionTimestamp().Unix(), 0))
	c.Remove = e.facts.garbage()
	if e.facts.remembered() {
		tombstone := state.Tombstone(*e.facts.entry)
		content, err := tombstone.Encode()
		if err != nil {
			return err
		}
		c.State = map[string][]byte{state.Path(tombstone.Claim, tombstone.Shard): content}
	}
	_, err := e.send(ctx, c)
	return err
}
