package state

import (
	"fmt"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// What the fields of a status hold at most, as the API has it. An entry that exceeds it would make every write of the status fail.
const (
	maxBranch = 200
	maxObject = 253
	maxCommit = 40
	maxDigest = 80
	maxMarked = 16
	maxName   = 63
	maxPath   = 700
	maxPause  = 32
	maxPerson = 253
	maxReason = 64
	maxWords  = 1024
	maxSites  = 500
	maxSteps  = 20
	maxUID    = 64
	maxWeight = 100
)

// Years that a status, and the date of a commit, can have.
const (
	firstYear = 1970
	lastYear  = 9999
)

// A text is a field, and how many characters it may have.
type text struct {
	field string
	value string
	most  int
}

// checkLengths returns an error about the first text that is too long.
func checkLengths(texts ...text) error {
	for _, t := range texts {
		if utf8.RuneCountInString(t.value) > t.most {
			return errors.Errorf("%s has more than %d characters", t.field, t.most)
		}
	}
	return nil
}

// firstError returns the first error that there is.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (e Entry) checkEntry() error {
	switch {
	case e.Version != version:
		return errors.Errorf("version %d is not known", e.Version)
	case e.Order == nil:
		return errors.New("it has no order")
	case !isComplete(e.Order):
		return errors.New("its order is not complete")
	case len(e.Trees) > maxTrees:
		return errors.Errorf("it has more than %d trees", maxTrees)
	case len(e.Former) > maxFormer:
		return errors.Errorf("it has more than %d directories of former branches", maxFormer)
	case len(e.History) > maxHistory+1:
		return errors.Errorf("it has more than %d revisions", maxHistory+1)
	}
	return firstError(e.checkNames(), checkOrder(e.Order), e.checkDates(), checkTrees("trees", e.Trees), checkTrees("former", e.Former), e.checkHistory())
}

func (e Entry) checkNames() error {
	return checkLengths(
		text{"claim.apiGroup", e.Claim.APIGroup, maxName},
		text{"claim.kind", e.Claim.Kind, maxName},
		text{"claim.namespace", e.Claim.Namespace, maxName},
		text{"claim.name", e.Claim.Name, maxName},
		text{"claim.uid", e.Claim.UID, maxUID},
		text{"clusterUID", e.ClusterUID, maxUID},
		text{"commit", e.Commit, maxCommit},
		text{"base", e.Base, maxCommit},
	)
}

func (e Entry) checkDates() error {
	if e.Attempt == nil {
		return checkDate("commitTime", e.CommitTime)
	}
	return firstError(
		checkDate("commitTime", e.CommitTime),
		checkDate("attempt.startedAt", &e.Attempt.StartedAt),
		checkDate("attempt.endedAt", e.Attempt.EndedAt),
	)
}

func checkTrees(of string, trees []Tree) error {
	for i, t := range trees {
		field := fmt.Sprintf("%s[%d]", of, i)
		err := checkLengths(
			text{field + ".branch", t.Branch, maxBranch},
			text{field + ".site", t.Site, maxName},
			text{field + ".path", t.Path, maxPath},
			text{field + ".tree", t.Tree, maxCommit},
		)
		if err != nil {
			return err
		}
	}
	return nil
}

func (e Entry) checkHistory() error {
	for i, h := range e.History {
		if err := checkRevision(fmt.Sprintf("history[%d]", i), h); err != nil {
			return err
		}
	}
	return nil
}

func checkRevision(field string, h deliveryv1alpha1.HistoryEntry) error {
	if len(h.Trees) > maxNamed {
		return errors.Errorf("revision %d has more than %d trees", h.Revision, maxNamed)
	}
	for i, t := range h.Trees {
		tree := fmt.Sprintf("%s.trees[%d]", field, i)
		if err := checkLengths(text{tree + ".site", t.Site, maxName}, text{tree + ".tree", t.Tree, maxCommit}); err != nil {
			return err
		}
	}
	return firstError(
		checkLengths(
			text{field + ".request", h.Request, maxDigest},
			text{field + ".intent", h.Intent, maxDigest},
			text{field + ".commit", h.Commit, maxCommit},
			text{field + ".marked", h.Marked, maxMarked},
			text{field + ".requestedBy", h.RequestedBy, maxPerson},
		),
		checkVerdict(field+".verdict", h.Verdict),
		checkDate(field+".startedAt", h.StartedAt),
		checkDate(field+".endedAt", h.EndedAt),
	)
}

// isComplete is true for an order that the API server accepts in a status, as far as its numbers and digests go.
func isComplete(o *rolloutv1alpha1.Order) bool {
	digests := o.Request != "" && o.Intent != "" && checkLengths(text{"", o.Request, maxDigest}, text{"", o.Intent, maxDigest}) == nil
	versions := o.Revision >= 1 && o.DigestScheme >= 1 && o.RendererVersion >= 1
	steps := o.Steps >= 1 && o.Steps <= maxSteps && len(o.Plan) <= maxSteps && o.Step >= 0 && o.Promoted >= 0 && o.Attempt >= 0
	named := o.Blueprint == nil || o.Blueprint.Name != ""
	return digests && versions && steps && named && isPositiveOrNil(o.Target) && isPositiveOrNil(o.Withdraws)
}

func isPositiveOrNil(n *int64) bool { return n == nil || *n >= 1 }

func checkOrder(o *rolloutv1alpha1.Order) error {
	for i, s := range o.Plan {
		if err := checkStep(fmt.Sprintf("order.plan[%d]", i), s); err != nil {
			return err
		}
	}
	return firstError(
		checkLengths(text{"order.marked", o.Marked, maxMarked}),
		checkVerdict("order.verdict", o.Verdict), checkBlueprint(o.Blueprint), checkRequest(o.RequestRef),
	)
}

func checkBlueprint(b *rolloutv1alpha1.BlueprintReference) error {
	if b == nil {
		return nil
	}
	return checkLengths(
		text{"order.blueprint.name", b.Name, maxObject},
		text{"order.blueprint.channel", b.Channel, maxName},
		text{"order.blueprint.digest", b.Digest, maxDigest},
	)
}

func checkRequest(r *rolloutv1alpha1.RequestReference) error {
	if r == nil {
		return nil
	}
	err := checkLengths(
		text{"order.requestRef.name", r.Name, maxObject},
		text{"order.requestRef.uid", r.UID, maxUID},
		text{"order.requestRef.by", r.By, maxPerson},
		text{"order.requestRef.reason", r.Reason, rolloutv1alpha1.MaxReason},
	)
	return firstError(err, checkDate("order.requestRef.at", r.At))
}

func checkStep(field string, s rolloutv1alpha1.Step) error {
	if len(s.Sites) > maxSites {
		return errors.Errorf("%s has more than %d sites", field, maxSites)
	}
	if s.Weight != nil && (*s.Weight < 0 || *s.Weight > maxWeight) {
		return errors.Errorf("%s.weight is not from 0 to %d", field, maxWeight)
	}
	for i, site := range s.Sites {
		if err := checkLengths(text{fmt.Sprintf("%s.sites[%d]", field, i), site, maxName}); err != nil {
			return err
		}
	}
	return checkLengths(text{field + ".pause", s.Pause, maxPause})
}

func checkVerdict(field string, v *rolloutv1alpha1.Verdict) error {
	switch {
	case v == nil:
		return nil
	case v.Result != rolloutv1alpha1.VerdictVerified && v.Result != rolloutv1alpha1.VerdictRejected:
		return errors.Errorf("%s.result is not known", field)
	}
	return checkLengths(text{field + ".reason", v.Reason, maxReason}, text{field + ".message", v.Message, maxWords})
}

// checkDate refuses what is written as no date, or as one that the API server does not read.
func checkDate(field string, t *metav1.Time) error {
	if t == nil {
		return nil
	}
	if year := t.UTC().Year(); year < firstYear || year > lastYear {
		return errors.Errorf("%s is not from the years %d to %d", field, firstYear, lastYear)
	}
	return nil
}
