package state

import (
	"fmt"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// What the fields of a status hold at most, as the API has it. A file that exceeds it would make every write of the status fail.
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

func (r RecordFile) checkNames() error {
	return firstError(checkClaim(r.Claim, r.ClusterUID), checkLengths(text{"commit", r.Commit, maxCommit}, text{"base", r.Base, maxCommit}))
}

func (r RecordFile) checkDates() error {
	if r.Attempt == nil {
		return checkDate("commitTime", r.CommitTime)
	}
	return firstError(
		checkDate("commitTime", r.CommitTime),
		checkDate("attempt.startedAt", &r.Attempt.StartedAt),
		checkDate("attempt.endedAt", r.Attempt.EndedAt),
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

func (r RecordFile) checkRevisions() error {
	for i, h := range r.Revisions {
		if err := checkRevision(fmt.Sprintf("revisions[%d]", i), h); err != nil {
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
	return checkLengths(text{field + ".commit", h.Commit, maxCommit})
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
