package clone

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/provider/state"
)

// howToFetch is the command that brings a state into a clone: git clone leaves it out.
const howToFetch = `git fetch origin "refs/intentplane/*:refs/intentplane/*"`

// A Query names a deployment. An empty field matches everything, but for the name.
type Query struct {
	ControlPlane, APIGroup, Namespace, Name string
}

// A Memory is the state of one control plane about one deployment in a repository.
type Memory struct {
	// ControlPlane that wrote it.
	ControlPlane string
	// Ref that holds it, by its full name, and At is the date of the ref's last commit.
	Ref string
	At  time.Time

	Claim rolloutv1alpha1.ClaimReference
	// State of the ledger. A repository that is not the home has only the part that a rollback needs.
	State ledger.State
	// Events are the last events that led to the state. A repository that is not the home has none.
	Events []state.LoggedEvent
	// Revisions that the repository was brought to, the oldest first.
	Revisions []deliveryv1alpha1.HistoryEntry
	// Paths of the directories, by Site.
	Paths map[string]string
	// IsHome is true if the repository holds the ledger itself.
	IsHome bool
}

// FindDeployment returns the state of one deployment in the clone. It returns an error where there is none, or several, and for an unreadable
// state.
func (c *Clone) FindDeployment(ctx context.Context, q Query) (Memory, error) {
	states, err := c.listStateRefs(ctx)
	if err != nil {
		return Memory{}, err
	}
	var found []Memory
	for _, s := range states {
		if q.ControlPlane != "" && q.ControlPlane != s.controlPlane {
			continue
		}
		all, err := c.findMemories(ctx, s, q)
		if err != nil {
			return Memory{}, err
		}
		found = append(found, all...)
	}
	if len(states) == 0 {
		return Memory{}, errors.New("the clone has no state of a control plane: " + howToFetch)
	}
	return selectMemory(found, q)
}

// selectMemory returns the only memory, or an error with the fields to name.
func selectMemory(found []Memory, q Query) (Memory, error) {
	switch len(found) {
	case 0:
		return Memory{}, errors.Errorf("the clone remembers no deployment %s: if it may be older than that, %s", q.Name, howToFetch)
	case 1:
		return found[0], nil
	}
	var names []string
	for _, m := range found {
		names = append(names, fmt.Sprintf("intentdeployments.%s/%s in namespace %s of control plane %s", m.Claim.APIGroup, m.Claim.Name, m.Claim.Namespace, m.ControlPlane))
	}
	return Memory{}, errors.New("the clone remembers " + strings.Join(names, ", ") + ": say which one with --namespace, intentdeployments.GROUP/NAME or --control-plane")
}

func (c *Clone) findMemories(ctx context.Context, s stateRef, q Query) ([]Memory, error) {
	groups, err := c.stateFolders(ctx, s, "", q.APIGroup)
	if err != nil {
		return nil, err
	}
	var out []Memory
	for _, group := range groups {
		namespaces, err := c.stateFolders(ctx, s, group, q.Namespace)
		if err != nil {
			return nil, err
		}
		for _, namespace := range namespaces {
			m, err := c.readClaimMemory(ctx, s, rolloutv1alpha1.ClaimReference{APIGroup: group, Namespace: namespace, Name: q.Name})
			if err != nil {
				return nil, err
			}
			out = append(out, m...)
		}
	}
	return out, nil
}

// stateFolders returns the names of the folders in a folder of the state, or the single folder that is named.
func (c *Clone) stateFolders(ctx context.Context, s stateRef, dir, name string) ([]string, error) {
	entries, err := c.listTreeEntries(ctx, s.name+":"+dir, "")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if e.kind == kindTree && (name == "" || e.name == name) {
			out = append(out, e.name)
		}
	}
	return out, nil
}

// readClaimMemory returns the content of a state about a claim, or nothing.
func (c *Clone) readClaimMemory(ctx context.Context, s stateRef, claim rolloutv1alpha1.ClaimReference) ([]Memory, error) {
	m := Memory{ControlPlane: s.controlPlane, Ref: s.name, At: s.at, Claim: claim, Paths: map[string]string{}}
	record, err := c.readStateFile(ctx, s, state.RecordPath(claim))
	if err != nil {
		return nil, err
	}
	home, err := c.readStateFile(ctx, s, state.LedgerPath(claim))
	if err != nil || record == "" && home == "" {
		return nil, err
	}
	if err := m.loadRepoRecord(record); err != nil {
		return nil, errors.Wrap(err, s.name)
	}
	err = m.loadHomeLedger(home)
	return []Memory{m}, errors.Wrap(err, s.name)
}

// loadRepoRecord takes the recorded revisions of the repository, and the copy of the ledger.
func (m *Memory) loadRepoRecord(content string) error {
	if content == "" {
		return nil
	}
	r, err := state.DecodeRecord([]byte(content))
	if err != nil {
		return err
	}
	m.Claim, m.Revisions = r.Claim, r.Revisions
	if r.Copy != nil {
		m.State = *r.Copy
	}
	for _, t := range slices.Concat(r.Former, r.Trees) {
		m.Paths[t.Site] = t.Path
	}
	return nil
}

// loadHomeLedger takes the ledger of the home. A ledger that moved on is older than the copy.
func (m *Memory) loadHomeLedger(content string) error {
	if content == "" {
		return nil
	}
	l, err := state.DecodeLedger([]byte(content))
	if err != nil {
		return err
	}
	if l.State.Compare(m.State.Head) < 0 {
		return nil
	}
	m.Claim, m.State, m.Events, m.IsHome = l.Claim, l.State, l.Events, l.State.Successor == ""
	return nil
}
