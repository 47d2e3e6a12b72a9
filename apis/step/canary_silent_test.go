package step

import (
	"fmt"
	"slices"
	"time"

	"github.com/intentplane/intentplane/apis/ledger"
)

// The provider of the canary model, which concludes by a mandate: it knows the directories of its own repository, and a SiteSync and a Gate that may be older.
// canary_follow_test.go has the SiteSync that follows it.

// A canaryMandate is the mandate of a home, with the policy of the claim whose digest is Intent.
type canaryMandate struct {
	modelMandate

	isSuspended bool
	policy      Policy
}

// claim is the digest of the claim's spec.
func (m *canaryModel) claim() string {
	return fmt.Sprintf("%s %t %t %d", m.intent(), m.spec.suspended, m.spec.rollsBack, m.spec.maxRetries)
}

// giveMandate gives the home the mandate for a state, and the files of the revision where the function can render them.
func (m *canaryModel) giveMandate(d *canaryDelivery, view canaryView, in Input, s ledger.State) {
	d.mandate = canaryMandate{modelMandate: mandateOf(s), isSuspended: m.spec.suspended, policy: in.Policy}
	d.mandate.Intent = m.claim()
	d.carries = view.deliveries[0].carries
	if s.Current != nil && in.Desired != nil && in.Desired.Request == s.Current.Request {
		d.carries = s.Current.Number
	}
	if s.Current != nil && (len(m.mandates) == 0 || m.mandates[len(m.mandates)-1].Revision != s.Current.Number) {
		m.mandates = append(m.mandates, d.mandate)
	}
}

// isLeftToProvider is true for an event that the provider records by itself on top of the recorded state.
func isLeftToProvider(home canaryDelivery, recorded, s ledger.State, e ledger.Event) bool {
	kind := KindOf(s, e)
	return s.Head == recorded.Head && home.mandate.covers(s) && home.echo == s.Current.Number && slices.Contains(home.may, kind)
}

// kinds lists the kinds of events that a provider may record by a mandate on top of a state. The function alone has the files of a wave or a move.
func (a canaryMandate) kinds(s ledger.State) []Kind {
	out := []Kind{KindReject, KindRollBack}
	if a.Revision == s.Current.Number {
		out = append(out, KindRequest)
	}
	if s.IsMove() {
		return out
	}
	if out = append(out, KindVerify); s.HasTracks() && s.Current.HasSteps() {
		out = append(out, KindAdvance)
	}
	return out
}

// actsByMandate is true for the only repository of a deployment, if the mandate of its object is for a state, and the object has the files that tracks share.
func (m *canaryModel) actsByMandate(d *canaryDelivery, s ledger.State) bool {
	isCovered := d.mandate.covers(s) || !m.rules.Covers && d.mandate.Revision > 0
	if !m.honours || len(m.records) > 1 || s.Current == nil || !isCovered {
		return false
	}
	return !slices.ContainsFunc(m.sites, func(site *canarySite) bool { return len(site.git) > 1 && len(d.files[site.name]) == 0 })
}

// showMandate shows the kinds of events that the provider records by itself. A kind that goes forward is left out while it is held back, and a step without its
// files.
func (m *canaryModel) showMandate(d *canaryDelivery) {
	d.echo, d.may = 0, nil
	if !m.actsByMandate(d, m.home) || m.losesEchoes && m.random.IntN(4) == 0 {
		return
	}
	lacksFiles := m.home.Verdict == nil && d.carries != m.home.Current.Number
	e := m.ownEvent(d, m.ownView(d), m.home, false)
	isHeld := e != nil && KindOf(m.home, *e).GoesForward() && m.holdsForward(d)
	d.echo, d.may = m.home.Current.Number, slices.DeleteFunc(d.mandate.kinds(m.home), func(k Kind) bool {
		return k.GoesForward() && isHeld || k == KindAdvance && lacksFiles
	})
}

// holdsForward is true while the claim permits no event that goes forward by a mandate.
func (m *canaryModel) holdsForward(d *canaryDelivery) bool {
	return m.claimHold || d.mandate.Intent != m.claim()
}

// ownView returns the view of the provider. Its caches of the SiteSync and of the Gate may be behind.
func (m *canaryModel) ownView(d *canaryDelivery) canaryView {
	v := canaryView{sync: m.sync, gate: m.gate}
	if len(m.before) > 0 {
		v.sync = m.before[m.random.IntN(len(m.before))].sync
		v.gate = m.before[m.random.IntN(len(m.before))].gate
	}
	own := *d
	own.isObserved, own.ledger, own.reported = true, m.home, m.records[0]
	own.trees, own.weighed, own.placed = map[string]canaryDirectory{}, map[string]map[string]ledger.Position{}, map[string]map[string]ledger.Position{}
	for _, s := range m.sites {
		if len(s.git) > 0 {
			own.trees[s.name], own.weighed[s.name], own.placed[s.name] = s.git, s.weighed, s.placed
		}
	}
	v.deliveries = []canaryDelivery{own}
	return v
}

// ownInput returns the input of the provider's decision about a state, on top of a recorded state.
func (m *canaryModel) ownInput(d *canaryDelivery, v canaryView, recorded, s ledger.State) Input {
	in := m.input(v, recorded, s)
	in.Desired, in.Proof, in.HasAllReported = nil, Proof{}, m.records[0] == s.Position()
	in.IsSuspended, in.Policy, in.HoldsFiles = d.mandate.isSuspended, d.mandate.policy, d.carries == s.Current.Number
	in.Requests = slices.DeleteFunc(slices.Clone(m.requests), func(r Request) bool {
		return r.Action != ActionAbort && r.Action != ActionRollbackTo && (r.Action != ActionPromote || r.Full)
	})
	if s.Position() == recorded.Position() {
		in.Proof = m.ownProof(d, v, recorded, s)
	}
	return in
}

// ownProof returns the proof of the provider about the position of a state. The end of a rollback is proven for a position that the object requests. A step is
// proven once the status has its position, at Sites that run the directories of the repository.
func (m *canaryModel) ownProof(d *canaryDelivery, v canaryView, recorded, s ledger.State) Proof {
	if isFollowed := v.sync.follows == v.sync.proven; v.sync.proven != s.Position() || !isFollowed && !v.sync.hasProven(d.wanted) {
		return Proof{}
	}
	p := m.observedProof(v, s)
	if s.Cursor.Attempt > 0 {
		p.IsLive = p.IsLive && d.position == s.Position()
		return p
	}
	if p.Failure != nil || s.Cursor.Full != recorded.Cursor.Full {
		return Proof{Failure: p.Failure}
	}
	p.IsLive = p.IsLive && d.isObserved && d.reported == s.Position() && m.records[0] == s.Position() && m.runsOwn(v.sync)
	length, err := time.ParseDuration(s.PauseAfterStep())
	p.IsPauseOver = err == nil && v.sync.pausedFor == s.Position() && m.now-v.sync.liveAt >= int(length.Seconds())
	return p
}

// runsOwn is true if the SiteSync proved the directories that the repository has.
func (m *canaryModel) runsOwn(y canarySync) bool {
	return !slices.ContainsFunc(m.sites, func(s *canarySite) bool {
		proven, isProven := y.provenTrees[s.name]
		return isProven && !proven.equal(s.git)
	})
}

// ownEvent returns the next event by the mandate, or nil. A request that the mandate does not list holds back no rejection, and each step. isHeld leaves out all
// that goes forward.
func (m *canaryModel) ownEvent(d *canaryDelivery, v canaryView, recorded ledger.State, isHeld bool) *ledger.Event {
	in, may := m.ownInput(d, v, recorded, m.home), d.mandate.kinds(m.home)
	if isHeld {
		in.Requests = slices.DeleteFunc(in.Requests, func(r Request) bool { return r.Action == ActionPromote })
		may = slices.DeleteFunc(may, Kind.GoesForward)
	}
	if e := listedEvent(m.home, in, may); e != nil || len(in.Requests) == 0 {
		return e
	}
	in.Requests = nil
	return listedEvent(m.home, in, slices.DeleteFunc(may, Kind.GoesForward))
}

// listedEvent returns the event that concludes a state, if its kind is listed, or nil.
func listedEvent(s ledger.State, in Input, may []Kind) *ledger.Event {
	e, _ := Conclude(s, in)
	if e == nil || !slices.Contains(may, KindOf(s, *e)) {
		return nil
	}
	return e
}

// concludeByMandate records the next events by the mandate of the home. Where the object is behind then, the directories follow from the ledger.
func (m *canaryModel) concludeByMandate(d *canaryDelivery, recorded ledger.State) {
	if !m.honours {
		return
	}
	v, isHeld := m.ownView(d), false
	for range maxEvents {
		if !m.actsByMandate(d, m.home) {
			return
		}
		e := m.ownEvent(d, v, recorded, isHeld)
		if e == nil {
			break
		}
		if KindOf(m.home, *e).GoesForward() && m.holdsForward(d) && m.rules.Guard {
			isHeld = true
			continue
		}
		next, err := ledger.Append(m.home, m.time(), *e)
		if err != nil {
			m.truth.failf("an event by mandate is illegal: %v", err)
			return
		}
		m.tracef("recorded by mandate %s at %+v", event(e), next.Position())
		m.noteMandated(d, *e, next)
		m.noteEvent(m.home, *e, next)
		m.home = next
	}
	if m.isAhead(d) {
		own := *d
		own.position, own.isRejected = m.home.Position(), m.home.IsRejected()
		own.wanted = m.compose(0, v, m.ownInput(d, v, recorded, m.home), m.home)
		m.push(0, &own)
	}
}

// noteMandated checks that the mandate of an event is for the current revision, and that the claim permits what goes forward.
func (m *canaryModel) noteMandated(d *canaryDelivery, e ledger.Event, next ledger.State) {
	kind := KindOf(m.home, e)
	m.truth.seen["by mandate"]++
	m.truth.seen["by mandate: "+string(kind)]++
	switch own := d.mandate.Revision; {
	case own != m.home.Current.Number && own != m.home.Withdraws:
		m.truth.failf("M2: the mandate of revision %d records %s of revision %d", own, event(&e), m.home.Current.Number)
	case kind.GoesForward() && m.claimHold:
		m.truth.failf("G: %s is recorded while the claim permits nothing", event(&e))
	case kind.GoesForward() && d.mandate.Intent != m.claim():
		m.truth.failf("G: %s is recorded after the user edited the claim", event(&e))
	case e.Advanced != nil && next.Verdict == nil && m.spec.suspended:
		m.truth.failf("G: %s is recorded although the claim is suspended", event(&e))
	}
}

// isAhead is true if the ledger came to a state of the revision by the mandate that the object does not request.
func (m *canaryModel) isAhead(d *canaryDelivery) bool {
	position := m.home.Position()
	led, err := ledger.NextID(d.after.ID, d.events...)
	isOfRevision := d.position.Epoch == position.Epoch && (d.position.Revision == position.Revision || d.position.Revision == m.home.Withdraws && m.home.Withdraws > 0)
	isBehind := d.position.Compare(position) < 0
	switch {
	case !isOfRevision, err == nil && led == m.home.ID:
		return false
	case m.home.IsRejected():
		return isBehind || d.position == position && position.Attempt == 0
	}
	return isBehind && slices.Contains(d.mandate.kinds(m.home), KindAdvance)
}
