package step

import (
	"time"

	"github.com/intentplane/intentplane/apis/ledger"
)

// Input is the basis on which an event is decided, beside the state of the ledger.
type Input struct {
	// Versions of the function that decides.
	Versions Versions

	// Desired is the request of the spec. Nil means that the spec cannot be compiled now: no revision begins, and the current revision continues.
	Desired *Desired

	// IsSuspended holds back new revisions and steps.
	IsSuspended bool

	// IsBlueprintGone is true if the Blueprint that the deployment stays with is gone, so that an update may be approved although the spec cannot be
	// compiled.
	IsBlueprintGone bool

	// HasUpdate is true if an update waits for approval.
	HasUpdate bool

	// HasEnded is true if the current revision has ended.
	HasEnded bool

	// Proof of the current position.
	Proof Proof

	// Policy of rollbacks, as the spec has it now.
	Policy Policy

	// Directories of the repositories that take part in the current revision, sorted by Site.
	Directories []Directory

	// HasAllReported is true if each of these repositories reported its directories at the current position. Before, a directory may be about to
	// change.
	HasAllReported bool

	// IsRecorded is true if the state is recorded, and not only proposed.
	IsRecorded bool

	// HoldsFiles is true if the objects hold the files of the next step, so that a revision goes on while the spec cannot be compiled, or compiles to other trees.
	HoldsFiles bool

	// AreTreesLost is true if the desired trees of the current revision are unknown: a delivery was lost, or restored from a backup. The ledger does not
	// move then: its home could not be asked to record that.
	AreTreesLost bool

	// Requests are the open RolloutRequests of the deployment, the oldest first.
	Requests []Request
}

// Versions are the versions that the digests and trees of a revision depend on.
type Versions struct {
	// Scheme of the digests.
	Scheme int32

	// Renderer of the trees.
	Renderer int32
}

// Desired is the revision that the spec requests.
type Desired struct {
	// Request that the spec comes to.
	Request ledger.Request

	// Blueprint that the request was compiled with.
	Blueprint *ledger.BlueprintReference

	// Plan to go out in.
	Plan []ledger.Step

	// Placement of a workload with tracks, which the trees and the plan are made for. The zero value means no tracks.
	Placement Placement

	// Workload describes a workload with tracks. The zero value means no tracks.
	Workload Workload

	// Parts are the repositories that would take part.
	Parts []ledger.Part

	// HasSameTrees is true if the request renders the trees that the current revision asks for, and no Gate that cannot measure would get other checks.
	HasSameTrees bool

	// AdoptEnabled says that files of other users may be overwritten now, and could not when the current revision went out.
	AdoptEnabled bool

	// RendererHold is why a new renderer alone begins no revision now: RendererWaits or ApprovalWaits. Empty means that it does.
	RendererHold Hold

	// AwaitsCluster is true if the current revision has not reached some Site of its step, since the cluster is not ready. The files for that
	// Site are in no object.
	AwaitsCluster bool

	// VerdictIsComing is true if the current revision will be judged without a further change.
	VerdictIsComing bool

	// ReadMarks returns a digest of the revision's content that its Blueprint marks as irreversible, and whether it may change any of that content. It
	// is called for a revision that begins only, since it takes long. Nil means that nothing is marked.
	ReadMarks func() (digest string, changes bool)

	// ApprovedBy is the RolloutRequest that approves the update that the request was compiled with. Nil means none.
	ApprovedBy *ledger.RequestReference
}

// Proof is the proven state of the current position. It leaves out evidence about another position.
type Proof struct {
	// IsLive is true if each repository holds the trees of the position, and each Site of the step runs them.
	IsLive bool

	// HasPassed is true if the Gate of the step passed.
	HasPassed bool

	// IsWatching is true if the Gate of the step has measured each check often enough, and measures on until the step is released.
	IsWatching bool

	// IsHeld is true if the Gate of the step came to no verdict, and a user decides.
	IsHeld bool

	// HeldAt is when the Gate came to no verdict. A request that is older did not see that. The zero value means that the time is unknown.
	HeldAt time.Time

	// IsPauseOver is true if the pause behind the step is over.
	IsPauseOver bool

	// Failure is why the revision is rejected, or why the rollback attempt failed. Nil means that nothing speaks against it. In a stage before the
	// steps, the pods of a track that loses its requests do not count: another revision brought them.
	Failure *ledger.Verdict

	// AwaitsCluster is true if a Site of the step gets nothing before its cluster is ready.
	AwaitsCluster bool

	// Trees that the Sites of the plan were proven to run.
	Trees []ledger.SiteTree
}

// Policy says when and how often a rejected revision is rolled back.
type Policy struct {
	// AutoRollback rolls back although no user asked.
	AutoRollback bool

	// MaxRetries is how many attempts there are. 0 means that nothing is rolled back.
	MaxRetries int32

	// MaxPerHour blocks an automatic rollback when so many other revisions were rejected in the hour before this rejection. 0 sets no limit.
	MaxPerHour int32
}

// Directory is one Site's directory, as its repository reported it.
type Directory struct {
	// Site that the directory is for.
	Site string

	// IsChosen is true if the deployment is still for the Site.
	IsChosen bool

	// IsKnown is true if the repository reported the directory.
	IsKnown bool

	// Tree that the directory holds.
	Tree string

	// Revision that wrote the directory last.
	Revision int64

	// Tracks of the directory, by their names. Nil for a directory without tracks.
	Tracks map[string]Track

	// AreTracksKnown is true if its repository reported the directory at the recorded position, so that Tracks are the Site's until another
	// position is recorded.
	AreTracksKnown bool
}

// Action is the action that a RolloutRequest requests.
type Action string

// Actions, in the order in which they are taken.
const (
	ActionAbort         Action = "Abort"
	ActionRollbackTo    Action = "RollbackTo"
	ActionMoveLedger    Action = "MoveLedger"
	ActionPromote       Action = "Promote"
	ActionApproveUpdate Action = "ApproveUpdate"
	ActionRetry         Action = "Retry"
)

// Request is one RolloutRequest.
type Request struct {
	// Ref names the RolloutRequest and its user.
	Ref ledger.RequestReference

	// Action that is asked for.
	Action Action

	// Revision that the user saw.
	Revision int64

	// Digest of the request that the user saw. Empty means any.
	Digest string

	// ToRevision is the target of RollbackTo.
	ToRevision int64

	// Step that Promote releases.
	Step int32

	// Full says that Promote releases all steps.
	Full bool

	// ToConfigRef is the configuration of the repository that MoveLedger makes the home. Empty means that nothing is delivered to it.
	ToConfigRef string

	// Force moves the ledger although its home cannot be reached.
	Force bool

	// CreatedAt is when the RolloutRequest was made.
	CreatedAt time.Time

	// UpdateResult is the result of an approval by the compilation of the update: Stale if the request names another update than the waiting one,
	// UpdateFailed if the update can never be delivered, Waiting if it cannot be delivered now. A request that waits holds back no other one.
	UpdateResult Result
}
