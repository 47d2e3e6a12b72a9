// Package state is what a control plane remembers in a repository about each claim: the last order that was carried out, and
// the revisions before it. It is pure: it reads and writes bytes, and the controller pushes them to the repository.
package state

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

const (
	version = 1

	// maxBytes holds a thousand directories with the longest names, and the trees of the revisions that a rollback may restore.
	maxBytes = 2 << 20

	// maxNamed directories are named by an order, and so by a revision of the history, and a status shows as many. An entry has those on top
	// that were left by the orders since the last one that was verified, each of which may have moved all.
	maxNamed   = 500
	maxTrees   = 4 * maxNamed
	maxHistory = 10

	// maxShown trees are shown of the whole history, beside those of the revisions that are always shown. More would not leave an object
	// room for what it is about.
	maxShown = 500

	// alwaysShown is how many good revisions a status has the trees of, whatever room there is: the one that runs, which the next revision
	// goes back to, and the one before, which a person does.
	alwaysShown = 2
)

// An Entry is what is remembered of one claim.
type Entry struct {
	// Version of the form of the entry.
	Version int `json:"version"`
	// Claim that the entry is about. Its UID is left out: a claim that was restored from a backup is the same.
	Claim rolloutv1alpha1.ClaimReference `json:"claim"`
	// Shard is always 0. It is part of the format.
	Shard int32 `json:"shard"`
	// ClusterUID differs between two control planes of the same name.
	ClusterUID string `json:"clusterUID"`
	// Deleted is true when the claim was deleted. What is left is the number of its last revision.
	Deleted bool `json:"deleted,omitempty"`
	// Order that was carried out last.
	Order *rolloutv1alpha1.Order `json:"order,omitempty"`
	// Attempt that carried it out.
	Attempt *rolloutv1alpha1.Attempt `json:"attempt,omitempty"`
	// Commit that changed the claim's directories last, and its date.
	Commit     string       `json:"commit,omitempty"`
	CommitTime *metav1.Time `json:"commitTime,omitempty"`
	// Base is the tip that the branch had before the commit, which may never have followed the entry. Empty when there was
	// nothing to push.
	Base string `json:"base,omitempty"`
	// Trees of the claim.
	Trees []Tree `json:"trees,omitempty"`
	// Former are directories of the claim that were left on branches that the configuration named before, the newest branch first.
	// Absent where there are none.
	Former []Tree `json:"former,omitempty"`
	// History of the claim, oldest first.
	History []deliveryv1alpha1.HistoryEntry `json:"history,omitempty"`
}

// A Tree is one directory of the claim.
type Tree struct {
	deliveryv1alpha1.DeliveredTree `json:",inline"`

	// Branch that the directory is on.
	Branch string `json:"branch"`
}

// Path returns where the entry of a claim lies in the state.
func Path(c rolloutv1alpha1.ClaimReference) string {
	return c.APIGroup + "/" + c.Namespace + "/" + c.Name + "/0.json"
}

// TreesDirectory returns the directory of the state that holds on to the trees which the entry of a claim names.
func TreesDirectory(c rolloutv1alpha1.ClaimReference) string {
	return strings.TrimSuffix(Path(c), ".json") + ".trees"
}

// TreeIDs returns the ids of all trees that the entry names, each once, in order.
func (e Entry) TreeIDs() []string {
	out := []string{}
	for _, t := range e.Trees {
		out = append(out, t.Tree)
	}
	for _, h := range e.History {
		for _, t := range h.Trees {
			out = append(out, t.Tree)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Encode returns the content of the entry's file. Equal entries have equal content. Where not all fits, revisions lose their trees, and
// those last that a rollback may restore. It returns an error, and no content, about an entry that Decode would not take even so.
func (e Entry) Encode() ([]byte, error) {
	e.Version = version
	e.Claim.UID = ""
	if err := e.checkEntry(); err != nil {
		return nil, errors.Wrap(err, "cannot encode state")
	}
	b, err := e.marshalIndented()
	e.History = slices.Clone(e.History)
	for _, i := range slices.Backward(byRollbackValue(e.History)) {
		if err != nil || len(b) < maxBytes {
			break
		}
		e.History[i].Trees = nil
		b, err = e.marshalIndented()
	}
	if err != nil {
		return nil, err
	}
	if len(b) >= maxBytes {
		return nil, errors.Errorf("cannot encode state: %d bytes are more than the %d that fit", len(b)+1, maxBytes)
	}
	return append(b, '\n'), nil
}

func (e Entry) marshalIndented() ([]byte, error) {
	b, err := json.MarshalIndent(e, "", " ")
	return b, errors.Wrap(err, "cannot encode state")
}

// Decode returns the entry that a file holds. Any user who may push to the repository can write one, so it returns an error about
// anything that Encode would not have written.
func Decode(content []byte) (Entry, error) {
	if len(content) > maxBytes {
		return Entry{}, errors.Errorf("cannot decode state: it has more than %d bytes", maxBytes)
	}
	e := Entry{}
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return Entry{}, errors.New("cannot decode state: it is malformed")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Entry{}, errors.New("cannot decode state: something follows it")
	}
	if err := e.checkEntry(); err != nil {
		return Entry{}, errors.Wrap(err, "cannot decode state")
	}
	return e, nil
}

// Tree returns the directory at a path of a branch.
func (e Entry) Tree(branch, path string) (Tree, bool) {
	for _, t := range e.Trees {
		if t.Branch == branch && t.Path == path {
			return t, true
		}
	}
	return Tree{}, false
}

// ShownTrees returns the directories as a status holds them: those that the order names, which come first, and of those that were left as
// many as there is room for. The others are known from the state, and without that by their markers.
func (e Entry) ShownTrees() []deliveryv1alpha1.DeliveredTree {
	var out []deliveryv1alpha1.DeliveredTree
	for _, t := range e.Trees[:min(len(e.Trees), maxNamed)] {
		out = append(out, t.DeliveredTree)
	}
	return out
}

// Shown returns a copy of the history as a status holds it. The two newest good revisions have their trees, and of the others, those that
// a rollback may restore first, as many as there is room for.
func (e Entry) Shown() []deliveryv1alpha1.HistoryEntry {
	var out []deliveryv1alpha1.HistoryEntry
	for _, h := range e.History {
		out = append(out, *h.DeepCopy())
	}
	room := maxShown
	for rank, i := range byRollbackValue(out) {
		n := len(out[i].Trees)
		if n > room && (rank >= alwaysShown || !isRollbackTarget(out[i])) {
			out[i].Trees = nil
			continue
		}
		room -= n
	}
	return out
}

// byRollbackValue are the places of a history's revisions, by how much their trees matter: a rollback restores only good ones, and those
// that are newer come first.
func byRollbackValue(history []deliveryv1alpha1.HistoryEntry) []int {
	var worth, rest []int
	for i, h := range slices.Backward(history) {
		if isRollbackTarget(h) {
			worth = append(worth, i)
			continue
		}
		rest = append(rest, i)
	}
	return append(worth, rest...)
}
