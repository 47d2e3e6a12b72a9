package ledger

import "time"

// Event is one thing that happened to a deployment. Exactly one of its fields but At is set.
type Event struct {
	// At is when the event was recorded. Who records it writes it. The ID of a head does not depend on it.
	At time.Time `json:"at,omitzero"`

	// Opened begins a ledger.
	Opened *Opened `json:"opened,omitempty"`

	// Ordered begins the next revision.
	Ordered *Ordered `json:"ordered,omitempty"`

	// Advanced begins the next step or stage.
	Advanced *Advanced `json:"advanced,omitempty"`

	// Promoted releases pauses that wait for a user.
	Promoted *Promoted `json:"promoted,omitempty"`

	// Judged gives the current revision its verdict.
	Judged *Judged `json:"judged,omitempty"`

	// RolledBack begins an attempt to roll the current revision back.
	RolledBack *RolledBack `json:"rolledBack,omitempty"`

	// Restored ends a rollback.
	Restored *Restored `json:"restored,omitempty"`

	// Withdrawn takes revisions back that were verified, because a user asked.
	Withdrawn *Withdrawn `json:"withdrawn,omitempty"`

	// Rebased gives the current revision the digests of a request that renders the same trees.
	Rebased *Rebased `json:"rebased,omitempty"`

	// Recovered continues a ledger after a loss, with a newer copy of its state.
	Recovered *Recovered `json:"recovered,omitempty"`

	// Moved seals a ledger that continues in another home.
	Moved *Moved `json:"moved,omitempty"`

	// Closed seals the ledger of a deployment that was deleted.
	Closed *Closed `json:"closed,omitempty"`
}

// Opened begins a ledger.
type Opened struct {
	// Ledger identifies the ledger: who opened it, and when.
	Ledger string `json:"ledger"`

	// Home is the name of the configuration of the repository that holds the ledger.
	Home string `json:"home"`
}

// Ordered begins the next revision.
type Ordered struct {
	// Revision that begins.
	Revision Revision `json:"revision"`

	// AdoptEnabled says that files which another user committed may be overwritten now, so that a repository may let in what it refused before.
	AdoptEnabled bool `json:"adoptEnabled,omitempty"`
}

// Advanced begins the next step or stage.
type Advanced struct {
	// Step that begins or goes on.
	Step int32 `json:"step"`

	// Stage that begins.
	Stage int32 `json:"stage"`
}

// Promoted releases pauses that wait for a user.
type Promoted struct {
	// Step that is released, with all before it. Not read if full is set.
	Step int32 `json:"step,omitempty"`

	// Full releases all steps.
	Full bool `json:"full,omitempty"`

	// RequestRef names the RolloutRequest that asked.
	RequestRef RequestReference `json:"requestRef"`
}

// Judged gives the current revision its verdict.
type Judged struct {
	// Verdict on the revision.
	Verdict Verdict `json:"verdict"`

	// Trees that each Site of the plan was proven to run. Only of a verified revision.
	Trees []SiteTree `json:"trees,omitempty"`

	// RequestRef names the RolloutRequest that asked for a rejection. Absent means that none did.
	RequestRef *RequestReference `json:"requestRef,omitempty"`
}

// RolledBack begins an attempt to roll the current revision back.
type RolledBack struct {
	// Target is the revision whose trees are restored.
	Target int64 `json:"target"`

	// RequestRef names the RolloutRequest that asked for the attempt. Absent means that none did.
	RequestRef *RequestReference `json:"requestRef,omitempty"`
}

// Restored ends a rollback: each Site was proven to run the trees of the target.
type Restored struct{}

// Withdrawn takes the current revision back and all others after the target, because a user asked. It begins a revision that is rejected at once.
type Withdrawn struct {
	// Target is the revision that the user goes back to.
	Target int64 `json:"target"`

	// Message of the verdict on the revision that begins.
	Message string `json:"message,omitempty"`

	// RequestRef names the RolloutRequest that asked.
	RequestRef RequestReference `json:"requestRef"`
}

// Rebased gives the current revision the digests of a request that renders the same trees.
type Rebased struct {
	// Request that renders the trees of the current revision.
	Request Request `json:"request"`

	// Blueprint that the request was compiled with.
	Blueprint *BlueprintReference `json:"blueprint,omitempty"`
}

// Recovered continues a ledger in the next epoch, with the state of a newer copy.
type Recovered struct {
	// Copy is the newest state that was found.
	Copy State `json:"copy"`

	// LastNumber is the highest number of a revision that was found anywhere.
	LastNumber int64 `json:"lastNumber,omitempty"`

	// RequestRef names the RolloutRequest that moved the ledger although its home could not be reached. Absent means that none did.
	RequestRef *RequestReference `json:"requestRef,omitempty"`
}

// Moved seals a ledger that continues in another home.
type Moved struct {
	// Home is the name of the configuration of the repository that holds the ledger from now on.
	Home string `json:"home"`

	// RequestRef names the RolloutRequest that asked.
	RequestRef RequestReference `json:"requestRef"`
}

// Closed seals the ledger of a deployment that was deleted.
type Closed struct{}
