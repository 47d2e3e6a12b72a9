package deployment

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/utils/ptr"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
)

// identityLength is how many hexadecimal digits the identity of a ledger has.
const identityLength = 32

// defaultConfigKind is the kind of configurations that are named by their names alone.
const defaultConfigKind = "ClusterProviderConfig"

// configName returns the name by which a ledger knows the configuration of a repository.
func configName(kind, name string) string {
	if kind == defaultConfigKind || kind == "" {
		return name
	}
	return kind + "/" + name
}

// describeConfig returns the kind of a configuration and its name, by the name by which a ledger knows it.
func describeConfig(name string) string {
	ref := configRefOf(name)
	return fmt.Sprintf("%s %q", ref.Kind, ref.Name)
}

// homeName returns the name by which a ledger knows the repository of a delivery: a home has the name in its own ledger, also where another
// configuration names the repository since.
func homeName(d *deliveryv1alpha1.GitDelivery) string {
	if l := d.Status.AtProvider.Ledger; d.Spec.ForProvider.Ledger != nil && l != nil && l.Seq > 0 && l.Successor == "" && !l.IsClosed {
		return l.Home
	}
	ref := ptr.Deref(d.Spec.ProviderConfigReference, xpv2.ProviderConfigReference{})
	return configName(ref.Kind, ref.Name)
}

// repositories returns the report of each delivery about the ledger.
func (o Observed) repositories() []step.Repository {
	var out []step.Repository
	hasCopy := slices.ContainsFunc(o.allDeliveries(), func(d *deliveryv1alpha1.GitDelivery) bool {
		r := d.Status.AtProvider.Record
		return r != nil && r.Copy != nil
	})
	for _, d := range o.allDeliveries() {
		observation := d.Status.AtProvider
		r := step.Repository{ConfigRef: homeName(d), IsKnown: observation.Ledger != nil || isOpening(d) && !hasCopy, Ledger: ptr.Deref(observation.Ledger, ledger.State{})}
		if observation.Record != nil {
			r.Copy = ptr.Deref(observation.Record.Copy, ledger.State{})
		}
		out = append(out, r)
	}
	return out
}

// findHome returns the home of the ledger, which is the preferred one if no repository has a ledger. A repository that was asked to open the ledger
// stays the home until it reports whether it did. Events that the home was asked to record, and may record at any time, count as proposed.
func (o Observed) findHome(in Input, k Compiled) step.Home {
	preferred := k.preferredHome
	for _, d := range o.allDeliveries() {
		if d.Spec.ForProvider.Ledger != nil && d.Status.AtProvider.Ledger == nil {
			preferred = homeName(d)
		}
	}
	all := o.repositories()
	identify := func(home string) string { return o.ledgerIdentity(in, all, home) }
	h := step.FindHome(all, preferred, identify, o.stepRequests(k))
	if h.ConfigRef == "" {
		h.Events = nil // It is not known yet where the ledger is to be opened.
		return h
	}
	for _, d := range o.allDeliveries() {
		if pending := pendingEvents(d); homeName(d) == h.ConfigRef && h.IsKnown && beginsWith(pending, h.Events) {
			h.Events = pending
		}
	}
	return h
}

// homeFor returns the home of the ledger for the compiled spec: that says where a ledger is opened first, and to which repositories it may be forced.
func (o Observed) homeFor(in Input, k Compiled) step.Home {
	if o.home.ConfigRef != "" && len(o.requests) == 0 {
		return o.home
	}
	if h := o.findHome(in, k); h.ConfigRef != o.home.ConfigRef {
		return h
	}
	return o.home
}

// beginsLedger is true for a home in which the ledger is to be opened, or to continue from elsewhere.
func beginsLedger(h step.Home) bool {
	return len(h.Events) > 0 && (h.Events[0].Opened != nil || h.Events[0].Recovered != nil)
}

// pendingEvents returns the events that a delivery asks to record on top of the head that its repository has.
func pendingEvents(d *deliveryv1alpha1.GitDelivery) []ledger.Event {
	requested, recorded := d.Spec.ForProvider.Ledger, ptr.Deref(d.Status.AtProvider.Ledger, ledger.State{})
	ready := d.GetCondition(xpv2.TypeReady)
	if requested == nil || requested.After != recorded.Head || ready.Reason == deliveryv1alpha1.ReasonIllegal {
		return nil
	}
	if _, err := ledger.Append(recorded, recordingTime(), requested.Events...); err != nil {
		return nil
	}
	return requested.Events
}

// isOpening is true for a delivery that never reported, and that asks to open a ledger. Its proposed events may change: if it has a ledger, it
// refuses.
func isOpening(d *deliveryv1alpha1.GitDelivery) bool {
	requested := d.Spec.ForProvider.Ledger
	return d.Status.AtProvider.Ledger == nil && requested != nil && requested.After == (ledger.Head{}) && len(requested.Events) > 0
}

// beginsWith is true for a list of events that begins with a prefix.
func beginsWith(events, prefix []ledger.Event) bool {
	if len(events) < len(prefix) {
		return false
	}
	id, err := ledger.NextID("", events[:len(prefix)]...)
	want, wantErr := ledger.NextID("", prefix...)
	return err == nil && wantErr == nil && id == want
}

// forRequest returns the observed objects without the proposed events by which a revision begins that is not requested any more, and all that follow them.
func (o Observed) forRequest(r ledger.Request) Observed {
	for i, e := range o.home.Events {
		if e.Ordered != nil && e.Ordered.Revision.Request != r || e.Rebased != nil && e.Rebased.Request != r {
			o.home.Events = o.home.Events[:i]
			o.state, _ = ledger.Append(o.home.State, recordingTime(), o.home.Events...) // The longer list is legal.
			o.deliveries = withoutDropped(o.deliveries, o.state)
			return o
		}
	}
	return o
}

// continueWith returns the observed objects, as far as they still hold for the compiled spec.
func (o Observed) continueWith(k Compiled) Observed {
	if k.Problem != nil {
		return o
	}
	return o.forRequest(k.request.Request)
}

// withoutDropped returns deliveries without the position of a home that asks for events which were refused, or are not proposed any more: its trees
// belong to no revision.
func withoutDropped(ds map[string]*deliveryv1alpha1.GitDelivery, s ledger.State) map[string]*deliveryv1alpha1.GitDelivery {
	out := maps.Clone(ds)
	for name, d := range ds {
		p := d.Spec.ForProvider
		if isRefused(d) || p.Ledger != nil && p.Position != nil && !isSamePlace(*p.Position, s.Position()) {
			dropped := *d
			dropped.Spec.ForProvider.Position = nil
			out[name] = &dropped
		}
	}
	return out
}

// isSamePlace is true for two positions that differ in nothing but the epoch: the same trees belong to them.
func isSamePlace(a, b ledger.Position) bool {
	a.Epoch = b.Epoch
	return a == b
}

// isRefused is true for a delivery whose events follow another head than that of its repository, and led neither to it nor to the head that the provider
// went on from: its trees belong to no revision.
func isRefused(d *deliveryv1alpha1.GitDelivery) bool {
	requested, observation := d.Spec.ForProvider.Ledger, d.Status.AtProvider
	if requested == nil || observation.Ledger == nil || requested.After == observation.Ledger.Head || observation.HasRecorded(*requested) {
		return false
	}
	return !requested.LedThrough(observation.Ledger.Head) && (observation.Taken == nil || !requested.LedThrough(*observation.Taken))
}

// mayRecord is true for a delivery that asks to record events which its repository did not report yet. It may record them at any time.
func mayRecord(d *deliveryv1alpha1.GitDelivery) bool {
	requested := d.Spec.ForProvider.Ledger
	return requested != nil && len(requested.Events) > 0 && !d.Status.AtProvider.HasRecorded(*requested)
}

// ledgerIdentity returns the identity of a ledger that has to be opened in a home. It stays while that is asked for, and no lost ledger had it: the log of
// transitions is longer by then.
func (o Observed) ledgerIdentity(in Input, all []step.Repository, home string) string {
	for _, d := range o.allDeliveries() {
		if pending := pendingEvents(d); len(pending) > 0 && pending[0].Opened != nil && pending[0].Opened.Home == home {
			return pending[0].Opened.Ledger
		}
	}
	last := int64(0)
	if n := len(in.Status.Transitions); n > 0 {
		last = in.Status.Transitions[n-1].Index
	}
	for salt := 0; ; salt++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %d %d", in.Claim.APIGroup, in.Claim.Namespace, in.Claim.Name, in.UID, home, last, salt))
		id := hex.EncodeToString(sum[:])[:identityLength]
		if !slices.ContainsFunc(all, func(r step.Repository) bool { return r.Ledger.Ledger == id || r.Copy.Ledger == id }) {
			return id
		}
	}
}

// assumedState returns the state that is shown while the home of the ledger is not known: the newest copy, or else the position that the deliveries
// ask for.
func (o Observed) assumedState() ledger.State {
	newest, requested := ledger.State{}, ledger.Position{}
	for _, d := range o.allDeliveries() {
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
		Current: &ledger.Revision{Number: requested.Revision, Plan: make([]ledger.Step, requested.Step+1), Parts: partsOf(o.deliveries)},
	}
}

// homeDelivery returns the name of the delivery to the home of a ledger: an observed delivery, or else the wanted delivery for its configuration, or the part
// of the current revision, also while the home did not report it: a second delivery to the same repository would never be ready.
func (o Observed) homeDelivery(home string, wanted map[string]*deliveryv1alpha1.GitDelivery) string {
	for _, ds := range []map[string]*deliveryv1alpha1.GitDelivery{o.deliveries, wanted} {
		for _, name := range slices.Sorted(maps.Keys(ds)) {
			if homeName(ds[name]) == home {
				return name
			}
		}
	}
	for _, s := range []ledger.State{o.state, step.NewestCopy(o.repositories())} {
		if name := partAt(s, home); name != "" {
			return name
		}
	}
	sum := sha256.Sum256([]byte(home))
	return "delivery-" + hex.EncodeToString(sum[:])[:homeDigits]
}

// partAt returns the name of the delivery by which a repository takes part in the current revision of a state, or "" if it does not.
func partAt(s ledger.State, repository string) string {
	if s.Current == nil {
		return ""
	}
	i := slices.IndexFunc(s.Current.Parts, func(p ledger.Part) bool { return p.ConfigRef == repository })
	if i < 0 {
		return ""
	}
	return s.Current.Parts[i].Delivery
}

// homeDigits is how many hexadecimal digits name a home whose repository is not known.
const homeDigits = 12

// partsOf returns the repositories that take part in a revision with deliveries, by the names of the deliveries.
func partsOf(ds map[string]*deliveryv1alpha1.GitDelivery) []ledger.Part {
	var out []ledger.Part
	for _, name := range slices.Sorted(maps.Keys(ds)) {
		ref := ptr.Deref(ds[name].Spec.ProviderConfigReference, xpv2.ProviderConfigReference{})
		out = append(out, ledger.Part{Delivery: name, ConfigRef: configName(ref.Kind, ref.Name), Sites: sitesOf(ds[name])})
	}
	return out
}
