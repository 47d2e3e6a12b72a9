package state

import (
	"encoding/json"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

const (
	// maxBytes holds a thousand directories with the longest names, and the trees of the revisions that a rollback may restore.
	maxBytes = 2 << 20

	// maxNamed directories are named by a delivery, and so by a revision of the history, and a status shows as many. A record also has the
	// directories that were left by the revisions since the last verified revision, each of which may have moved all.
	maxNamed = 500
	maxTrees = 4 * maxNamed

	// maxRevisions is how many revisions a record has, beside the newest rollback target.
	maxRevisions = ledger.MaxHistory
)

// A RecordFile is the file in which a repository records its applied position, and the evidence for it.
type RecordFile struct {
	Header                        `json:",inline"`
	deliveryv1alpha1.LedgerRecord `json:",inline"`

	// Deleted is true when the delivery to the repository was deleted. The head remains, and the numbers of the copy.
	Deleted bool `json:"deleted,omitempty"`
	// LastNumber is the highest revision that commits of a lost state speak of. 0 where the state was not lost.
	LastNumber int64 `json:"lastNumber,omitempty"`
	// Attempt that brought the trees there.
	Attempt *rolloutv1alpha1.Attempt `json:"attempt,omitempty"`
	// Commit that changed the claim's directories last, and its date.
	Commit     string       `json:"commit,omitempty"`
	CommitTime *metav1.Time `json:"commitTime,omitempty"`
	// Base is the tip that the branch had before the commit. Empty when there was nothing to push.
	Base string `json:"base,omitempty"`
	// Trees of the claim.
	Trees []Tree `json:"trees,omitempty"`
	// Former are directories of the claim that were left on branches which the configuration named before.
	Former []Tree `json:"former,omitempty"`
	// Revisions whose trees the repository retains, the oldest first: the last 10, and the stable one.
	Revisions []deliveryv1alpha1.HistoryEntry `json:"revisions,omitempty"`
}

// A Tree is one directory of the claim.
type Tree struct {
	deliveryv1alpha1.DeliveredTree `json:",inline"`

	// Branch that the directory is on.
	Branch string `json:"branch"`
}

// DecodeRecord returns the record that a file holds. It returns a *NewerError about a record that only a newer version may change, and an
// error about content that Encode would not have written, but for fields that it does not know.
func DecodeRecord(content []byte) (RecordFile, error) {
	r := RecordFile{}
	if err := decodeStateFile(recordFile, content, maxBytes, &r.Header, &r); err != nil {
		return RecordFile{}, err
	}
	if err := r.checkLedgerCopy(); err != nil {
		return r, errors.Wrap(err, "cannot decode state")
	}
	return r, errors.Wrap(r.checkCommitDates(), "cannot decode state")
}

// checkLedgerCopy refuses a copy of a ledger that no events lead to.
func (r RecordFile) checkLedgerCopy() error {
	if r.Copy == nil {
		return nil
	}
	return errors.Wrap(r.Copy.Check(), "copy")
}

// checkCommitDates refuses a date that no commit can have.
func (r RecordFile) checkCommitDates() error {
	dates := map[string]*metav1.Time{"commitTime": r.CommitTime}
	if r.Attempt != nil {
		dates["attempt.startedAt"] = &r.Attempt.StartedAt
	}
	for field, t := range dates {
		if t != nil && (t.UTC().Year() < firstYear || t.UTC().Year() > lastYear) {
			return errors.Errorf("%s is not from the years %d to %d", field, firstYear, lastYear)
		}
	}
	return nil
}

// Tombstone returns the remainder of a record when the delivery to the repository was deleted: the place of the ledger, and its numbers, so
// that a claim of the same name does not use them again.
func (r RecordFile) Tombstone() RecordFile {
	t := RecordFile{
		Header: Header{Claim: r.Claim, ClusterUID: r.ClusterUID}, Deleted: true, LastNumber: r.LastNumber,
		LedgerRecord: deliveryv1alpha1.LedgerRecord{Home: r.Home, Head: r.Head, Position: r.Position},
	}
	if r.Copy != nil {
		t.Copy = &ledger.State{Head: r.Copy.Head, Home: r.Copy.Home, LastNumber: r.Copy.LastNumber, Requests: r.Copy.Requests}
	}
	return t
}

// Encode returns the content of the file. Equal records have equal content. Where not all fits, revisions lose their trees, rollback targets
// last. It returns an error about a record that DecodeRecord would not take even so.
func (r RecordFile) Encode() ([]byte, error) {
	if err := r.checkCommitDates(); err != nil {
		return nil, errors.Wrap(err, "cannot encode state")
	}
	r.Header, r.Revisions = r.writtenHeader(), slices.Clone(r.Revisions)
	for _, i := range slices.Backward(byRollbackValue(r.Revisions)) {
		b, err := json.MarshalIndent(r, "", " ")
		if err != nil || len(b) < maxBytes {
			break
		}
		r.Revisions[i].Trees = nil
	}
	return encodeStateFile(recordFile, r, maxBytes, r.stored, &RecordFile{})
}
