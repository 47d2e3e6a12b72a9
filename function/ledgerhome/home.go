// Package ledgerhome finds the home of a ledger: the repository that holds the ledger of a deployment. It reads the observed GitDeliveries, whose repositories
// report their ledgers and copies, and the events that they were asked to record. Pure: it decides no event, and composes no delivery.
package ledgerhome

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"k8s.io/utils/ptr"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/compose"
)

// identityLength is how many hexadecimal digits the identity of a ledger has.
const identityLength = 32

// An Identity is the part of a deployment by which a ledger that is opened for it gets its identity.
type Identity struct {
	// Claim of the deployment, and the UID of its composite resource.
	Claim rolloutv1alpha1.ClaimReference
	UID   string

	// Transition is the index of the last transition in the status. 0 means that the status has none.
	Transition int64
}

// Find returns the home of the ledger, which is the preferred one if no repository has a ledger. A repository that was asked to open the ledger
// stays the home until it reports whether it did. Events that the home was asked to record, and may record at any time, count as proposed.
func Find(ds map[string]*deliveryv1alpha1.GitDelivery, id Identity, preferred string, requests []step.Request) step.Home {
	for _, d := range compose.InOrder(ds) {
		if d.Spec.ForProvider.Ledger != nil && d.Status.AtProvider.Ledger == nil {
			preferred = NameOf(d)
		}
	}
	all := Repositories(ds)
	identify := func(home string) string { return id.ledgerIDForHome(home, ds, all) }
	h := step.FindHome(all, preferred, identify, requests)
	if h.ConfigRef == "" {
		h.Events = nil // It is not known yet where the ledger is to be opened.
		return h
	}
	for _, d := range compose.InOrder(ds) {
		if pending := PendingEvents(d); NameOf(d) == h.ConfigRef && h.IsKnown && hasEventPrefix(pending, h.Events) {
			h.Events = pending
		}
	}
	return h
}

// Repositories returns the report of each delivery about the ledger.
func Repositories(ds map[string]*deliveryv1alpha1.GitDelivery) []step.Repository {
	var out []step.Repository
	hasCopy := slices.ContainsFunc(compose.InOrder(ds), func(d *deliveryv1alpha1.GitDelivery) bool {
		r := d.Status.AtProvider.Record
		return r != nil && r.Copy != nil
	})
	for _, d := range compose.InOrder(ds) {
		observation := d.Status.AtProvider
		r := step.Repository{ConfigRef: NameOf(d), IsKnown: observation.Ledger != nil || isOpeningLedger(d) && !hasCopy, Ledger: ptr.Deref(observation.Ledger, ledger.State{})}
		if observation.Record != nil {
			r.Copy = ptr.Deref(observation.Record.Copy, ledger.State{})
		}
		out = append(out, r)
	}
	return out
}

// ledgerIDForHome returns the identity of a ledger that has to be opened in a home. It stays while that is asked for, and no lost ledger had it: the log of
// transitions is longer by then.
func (id Identity) ledgerIDForHome(home string, ds map[string]*deliveryv1alpha1.GitDelivery, all []step.Repository) string {
	for _, d := range compose.InOrder(ds) {
		if pending := PendingEvents(d); len(pending) > 0 && pending[0].Opened != nil && pending[0].Opened.Home == home {
			return pending[0].Opened.Ledger
		}
	}
	for salt := 0; ; salt++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %d %d", id.Claim.APIGroup, id.Claim.Namespace, id.Claim.Name, id.UID, home, id.Transition, salt))
		name := hex.EncodeToString(sum[:])[:identityLength]
		if !slices.ContainsFunc(all, func(r step.Repository) bool { return r.Ledger.Ledger == name || r.Copy.Ledger == name }) {
			return name
		}
	}
}

// AssumedState returns the state that is shown while the home of the ledger is not known: the newest copy, or else the position that the deliveries
// ask for.
func AssumedState(ds map[string]*deliveryv1alpha1.GitDelivery) ledger.State {
	newest, requested := ledger.State{}, ledger.Position{}
	for _, d := range compose.InOrder(ds) {
		if r := d.Status.AtProvider.Record; r != nil && r.Copy != nil && r.Copy.Compare(newest.Head) > 0 {
			newest = *r.Copy
		}
		if p := d.Spec.ForProvider.Position; p != nil && p.Compare(requested) > 0 {
			requested = *p
		}
	}
	if newest.Seq > 0 || requested.Revision == 0 {
		return newest
	}
	return ledger.State{
		Head: ledger.Head{Epoch: requested.Epoch}, Cursor: ledger.Cursor{Step: requested.Step, Stage: requested.Stage},
		Current: &ledger.Revision{Number: requested.Revision, Plan: make([]ledger.Step, requested.Step+1), Parts: PartsOf(ds)},
	}
}
