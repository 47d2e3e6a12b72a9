package ledger

import (
	"cmp"
	"slices"
)

// Position is the progress of a deployment. A follower repository, a SiteSync and a Gate carry it, and refuse a lower position.
type Position struct {
	// Epoch counts the recoveries of the ledger after a loss, from 1.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4503599627370496
	Epoch int64 `json:"epoch"`

	// Revision is the number of the current revision, from 1.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4503599627370496
	Revision int64 `json:"revision"`

	// Attempt is 0 while the revision goes out, and 1, 2 … for the rollbacks of a rejected one.
	// +required
	// +kubebuilder:validation:Minimum=0
	Attempt int32 `json:"attempt"`

	// Step is the index of the step of the plan, from 0.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=19
	Step int32 `json:"step"`

	// Stage is the part of a step, from 0. Only revisions with tracks have more than one: 0 moves requests off a track that has to change, 1 brings
	// back the pods to go on from, 2 gives them all requests, 3 is the steps of the plan or the rollback, and 4 removes the track that is left.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4
	Stage int32 `json:"stage"`
}

// Compare returns a negative number if p comes before q, 0 if they are the same and a positive number if p comes after q.
func (p Position) Compare(q Position) int {
	return cmp.Or(
		cmp.Compare(p.Epoch, q.Epoch), cmp.Compare(p.Revision, q.Revision), cmp.Compare(p.Attempt, q.Attempt),
		cmp.Compare(p.Step, q.Step), cmp.Compare(p.Stage, q.Stage),
	)
}

// IsWithinBounds is true for a position that an object can hold. A user who may push can write others into a commit.
func (p Position) IsWithinBounds() bool {
	return p.Epoch >= 0 && p.Epoch <= MaxNumber && p.Revision >= 0 && p.Revision <= MaxNumber && p.Attempt >= 0 &&
		p.Step >= 0 && p.Step < MaxSteps && p.Stage >= StageClear && p.Stage <= StageAlone
}

// IsSameAttempt is true for two positions of one attempt of a revision, in any step: the actions of a Site for one of them count for the other. It is
// false before the first revision.
func (p Position) IsSameAttempt(q Position) bool {
	return p.Revision > 0 && p.Epoch == q.Epoch && p.Revision == q.Revision && p.Attempt == q.Attempt
}

// HasReached is true for a position at or beyond another position of the same attempt.
func (p Position) HasReached(q Position) bool { return p.IsSameAttempt(q) && p.Compare(q) >= 0 }

// Position returns the position of the deployment.
func (s State) Position() Position {
	p := Position{Epoch: s.Epoch, Attempt: s.Cursor.Attempt, Step: s.Cursor.Step, Stage: s.Cursor.Stage}
	if s.Current != nil {
		p.Revision = s.Current.Number
	}
	return p
}

// StepOf returns the step of the plan that delivers the current revision to a Site. A Site that the plan does not name comes last. A rollback reaches all Sites
// at once.
func (s State) StepOf(site string) int32 {
	if s.Current == nil || s.Cursor.Attempt > 0 {
		return 0
	}
	return s.Current.StepOf(site)
}

// StepOf returns the step of the plan that delivers a revision to a Site.
func (r Revision) StepOf(site string) int32 {
	last := len(r.Plan) - 1
	for i, step := range r.Plan[:max(0, last)] {
		if slices.Contains(step.Sites, site) {
			return int32(i)
		}
	}
	return int32(max(0, last)) //nolint:gosec // A plan has at most 20 steps.
}

// HasReached is true for a Site whose step has come.
func (s State) HasReached(site string) bool { return s.StepOf(site) <= s.Cursor.Step }

// IsAtLastStep is true for a revision that is at the last step of its plan.
func (s State) IsAtLastStep() bool {
	return s.Current != nil && int(s.Cursor.Step)+1 >= len(s.Current.Plan)
}

// IsGated is true for a revision whose step is judged by a Gate. A rollback has none.
func (s State) IsGated() bool {
	return s.Current != nil && s.Cursor.Attempt == 0 && int(s.Cursor.Step) < len(s.Current.Plan) && s.Current.Plan[s.Cursor.Step].Gate
}
