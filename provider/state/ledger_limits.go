package state

import (
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/ledger"
)

// What the fields of a ledger hold at most, as the API has it.
const (
	maxIdentity = 128
	maxHeadID   = 32
	maxParts    = 100
	maxStage    = 4
)

// checkLedger returns an error about a state that a status cannot show.
func checkLedger(field string, s ledger.State) error {
	if len(s.History) > ledger.MaxHistory+1 {
		return errors.Errorf("%s.history has more than %d revisions", field, ledger.MaxHistory+1)
	}
	if len(s.Requests) > ledger.MaxRequests {
		return errors.Errorf("%s.requests has more than %d items", field, ledger.MaxRequests)
	}
	for i, uid := range s.Requests {
		if err := checkLengths(text{fmt.Sprintf("%s.requests[%d]", field, i), uid, maxUID}); err != nil {
			return err
		}
	}
	for i, p := range s.History {
		if err := checkPastRevision(fmt.Sprintf("%s.history[%d]", field, i), p); err != nil {
			return err
		}
	}
	return firstError(
		checkLedgerHead(field, s.Head),
		checkLengths(text{field + ".home", s.Home, maxObject}, text{field + ".successor", s.Successor, maxObject}),
		checkMinimum(0, number{field + ".lastNumber", s.LastNumber}, number{field + ".target", s.Target}, number{field + ".withdraws", s.Withdraws}, number{field + ".stable", s.Stable}),
		checkCursor(field+".cursor", s.Cursor),
		checkLedgerVerdict(field+".verdict", s.Verdict),
		checkCurrent(field+".current", s.Current),
	)
}

// A number is a field, and what it holds.
type number struct {
	field string
	value int64
}

// checkMinimum returns an error about the first number that is too low.
func checkMinimum(least int64, numbers ...number) error {
	for _, n := range numbers {
		if n.value < least {
			return errors.Errorf("%s is below %d", n.field, least)
		}
	}
	return nil
}

func checkLedgerHead(field string, h ledger.Head) error {
	return firstError(
		checkLengths(text{field + ".ledger", h.Ledger, maxIdentity}, text{field + ".id", h.ID, maxHeadID}),
		checkMinimum(0, number{field + ".epoch", h.Epoch}, number{field + ".seq", h.Seq}),
	)
}

func checkCursor(field string, c ledger.Cursor) error {
	switch {
	case c.Attempt < 0, c.Step < 0, c.Stage < 0, c.Promoted < 0:
		return errors.Errorf("%s has a number below 0", field)
	case c.Step >= ledger.MaxSteps, c.Promoted >= ledger.MaxSteps, c.Stage > maxStage:
		return errors.Errorf("%s has a step or a stage that no plan has", field)
	}
	return nil
}

func checkPosition(field string, p ledger.Position) error {
	return firstError(
		checkMinimum(0, number{field + ".epoch", p.Epoch}, number{field + ".revision", p.Revision}),
		checkCursor(field, ledger.Cursor{Attempt: p.Attempt, Step: p.Step, Stage: p.Stage}),
	)
}

func checkLedgerVerdict(field string, v *ledger.Verdict) error {
	switch {
	case v == nil:
		return nil
	case v.Result != ledger.VerdictVerified && v.Result != ledger.VerdictRejected:
		return errors.Errorf("%s.result is not known", field)
	}
	return checkLengths(text{field + ".reason", v.Reason, maxReason}, text{field + ".message", v.Message, maxWords})
}

func checkDigests(field string, r ledger.Request) error {
	if r.Intent == "" {
		return errors.Errorf("%s.intent is empty", field)
	}
	return firstError(
		checkLengths(text{field + ".intent", r.Intent, maxDigest}, text{field + ".sources", r.Sources, maxDigest}),
		checkMinimum(1, number{field + ".scheme", int64(r.Scheme)}, number{field + ".renderer", int64(r.Renderer)}),
	)
}

func checkPastRevision(field string, p ledger.Past) error {
	if len(p.Trees) > maxSites {
		return errors.Errorf("%s.trees has more than %d items", field, maxSites)
	}
	for i, t := range p.Trees {
		at := fmt.Sprintf("%s.trees[%d]", field, i)
		if err := checkLengths(text{at + ".site", t.Site, maxName}, text{at + ".id", t.ID, maxCommit}); err != nil {
			return err
		}
	}
	return firstError(
		checkMinimum(1, number{field + ".number", p.Number}),
		checkDigests(field+".request", p.Request),
		checkLedgerVerdict(field+".verdict", p.Verdict),
		checkLengths(text{field + ".marked", p.Marked, maxMarked}),
		checkDate(field+".endedAt", &p.EndedAt),
	)
}

func checkCurrent(field string, r *ledger.Revision) error {
	if r == nil {
		return nil
	}
	if len(r.Plan) < 1 || len(r.Plan) > ledger.MaxSteps || len(r.Parts) > maxParts {
		return errors.Errorf("%s has not 1 to %d steps and at most %d parts", field, ledger.MaxSteps, maxParts)
	}
	for i, s := range r.Plan {
		if err := checkLedgerStep(fmt.Sprintf("%s.plan[%d]", field, i), s); err != nil {
			return err
		}
	}
	for i, p := range r.Parts {
		at := fmt.Sprintf("%s.parts[%d]", field, i)
		err := firstError(checkSites(at, p.Sites), checkLengths(text{at + ".delivery", p.Delivery, maxObject}, text{at + ".configRef", p.ConfigRef, maxObject}))
		if err != nil {
			return err
		}
	}
	return firstError(
		checkMinimum(1, number{field + ".number", r.Number}),
		checkDigests(field+".request", r.Request),
		checkLengths(text{field + ".marked", r.Marked, maxMarked}, text{field + ".track", r.Track, maxName}, text{field + ".workload", r.Workload, maxDigest}),
		checkLedgerBlueprint(field+".blueprint", r.Blueprint), checkLedgerRequest(field+".requestRef", r.RequestRef),
	)
}

func checkLedgerStep(field string, s ledger.Step) error {
	if s.Weight != nil && (*s.Weight < 0 || *s.Weight > maxWeight) {
		return errors.Errorf("%s.weight is not from 0 to %d", field, maxWeight)
	}
	return firstError(checkSites(field, s.Sites), checkLengths(text{field + ".pause", s.Pause, maxPause}))
}

func checkSites(field string, sites []string) error {
	if len(sites) > maxSites {
		return errors.Errorf("%s has more than %d sites", field, maxSites)
	}
	for i, site := range sites {
		if err := checkLengths(text{fmt.Sprintf("%s.sites[%d]", field, i), site, maxName}); err != nil {
			return err
		}
	}
	return nil
}

func checkLedgerBlueprint(field string, b *ledger.BlueprintReference) error {
	switch {
	case b == nil:
		return nil
	case b.Name == "":
		return errors.Errorf("%s.name is empty", field)
	}
	return checkLengths(text{field + ".name", b.Name, maxObject}, text{field + ".channel", b.Channel, maxName}, text{field + ".digest", b.Digest, maxDigest})
}

func checkLedgerRequest(field string, r *ledger.RequestReference) error {
	switch {
	case r == nil:
		return nil
	case r.UID == "":
		return errors.Errorf("%s.uid is empty", field)
	}
	return checkLengths(
		text{field + ".name", r.Name, maxObject}, text{field + ".uid", r.UID, maxUID}, text{field + ".by", r.By, maxPerson}, text{field + ".reason", r.Reason, maxReasonOfRequest},
	)
}
