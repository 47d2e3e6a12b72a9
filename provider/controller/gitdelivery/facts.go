package gitdelivery

import (
	"path"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/delivery/overlap"
	"github.com/intentplane/intentplane/provider/mandate"
	"github.com/intentplane/intentplane/provider/marker"
	"github.com/intentplane/intentplane/provider/state"
)

// unborn is the tip of a branch without a commit, in Git's own term.
const unborn = "0000000000000000000000000000000000000000"

// facts are the whole input of a decision. gatherFacts decides nothing, and decideDelivery reads nothing else.
type facts struct {
	// namespace of the GitDelivery.
	namespace string
	spec      deliveryv1alpha1.GitDeliveryParameters
	// lastStatus is the object's status: a cache of the state, and newer where the state was lost.
	lastStatus deliveryv1alpha1.GitDeliveryObservation

	configKind string
	config     *configv1alpha1.ProviderConfigSpec
	// sites of the API server, by name. A missing Site is absent.
	sites map[string]*v1alpha1.Site

	// marker that our directories have.
	marker marker.Marker
	// content of the marker's file.
	content []byte
	// tip of the branch.
	tip string
	// inBranch reports whether the last observed commit, and the commit and base of the record, are in the branch.
	inBranch map[string]bool
	// memory is the record of the repository, or its replacement rebuilt from commits. Nil if there is none.
	memory *state.RecordFile
	// delivered are the previously delivered directories: from the state first, or from the object first if the state was lost.
	delivered []state.Tree
	// owner is the UID of the cluster that writes the state. Empty if the state has none.
	owner string
	// rebuilt is true if the record was lost, and rebuilt from the commits of this control plane.
	rebuilt bool
	// lostRecords are records of other claims that were lost with it, by their path in the state.
	lostRecords map[string]state.RecordFile
	// retained are the ids of the trees that the state retains.
	retained map[string]bool
	// decoded are the decoded files of the trees of the spec, by branch and path. Files of an absent tree are decoded at each use.
	decoded map[string]decodedTree
	// restored are the files of trees to restore, by the id of the tree. A tree that no repository of the claim has is absent.
	restored map[string]tree.Files
	// parts are the files of folders that trees name by their ids, by id. A folder that no repository of the claim has is absent.
	parts map[string]tree.Files
	// variables are the names of the variables that directories have since their last delivery, by path. Nil for trees that have none.
	variables map[string][]string
	// unreadable is the error of an existing file that cannot be read.
	unreadable string
	// forged is the reason why the whole state counts as lost. Empty if the state is valid.
	forged string
	// rival is the ref of another, older state, which is ignored. Empty if there is none.
	rival string
	// dirs are the directories that the delivery is about, by path.
	dirs map[string]directory
	// forgotten are former branches that a user asked to forget.
	forgotten []string
	// ledger has the observed ledger of the deployment, and recording has the pending events, once they are decided.
	ledger    ledgerFacts
	recording recording
	// siblings are all deliveries of the claim, if the status of another delivery may matter to the ledger. Otherwise nil.
	siblings []deliveryv1alpha1.GitDelivery
	// witnesses are the evidence of the provider's own objects, for a home with a mandate. isAhead is true if the trees follow from a state that the ledger
	// reached by the mandate of the home, and not from the spec of the object.
	witnesses mandate.Facts
	isAhead   bool
	// overlaps are objects that another claim delivers to the same Site already, by the path of the pending directory.
	overlaps map[string]overlap.Overlap
}

// A directory is the observed content of a path of the branch.
type directory struct {
	// tree is the Git id of the directory, with all its files. Empty if it does not exist.
	tree string
	// blocked is true if the path is a file, a link or a submodule.
	blocked bool
	// marker names the owner of the directory. Nil if the directory has no valid marker.
	marker *marker.Marker
	// orphaned is true if it was written for the other shape of the claim, which has lost its last delivery.
	orphaned bool
	// entangled is the directory of a claim that lies around this one, or in it. Empty if there is none.
	entangled string
}

// branchName returns the name of the branch that the provider writes.
func (f facts) branchName() string { return f.config.Git.Branch }

// allDirectories returns the paths of all directories that the delivery is or was about.
func (f facts) allDirectories() []string {
	out := f.knownPaths()
	for _, t := range f.spec.Trees {
		out = append(out, t.Path)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// knownTrees returns the recorded directories, from the state and from the object's status, the more trusted source first.
func (f facts) knownTrees() []state.Tree {
	var published []state.Tree
	for _, t := range f.lastStatus.Trees {
		published = append(published, state.Tree{Branch: f.branchName(), DeliveredTree: t})
	}
	switch {
	case f.memory == nil:
		return published
	case f.rebuilt:
		return slices.Concat(published, f.memory.Trees)
	}
	return slices.Concat(f.memory.Trees, published)
}

// knownPaths returns the paths of the previously delivered directories.
func (f facts) knownPaths() []string {
	trees, out := f.delivered, []string{}
	if f.memory != nil {
		trees = slices.Concat(trees, f.memory.Former)
	}
	for _, t := range trees {
		if t.Branch == f.branchName() {
			out = append(out, t.Path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// deliveredTree returns the last delivered tree of a directory. The status counts only if the state was lost.
func (f facts) deliveredTree(branch, path string) (state.Tree, bool) {
	if f.memory != nil && !f.rebuilt {
		return state.FindTree(f.memory.Trees, branch, path)
	}
	return state.FindTree(f.delivered, branch, path)
}

// lastKnownTree returns the last recorded tree of a directory: from the state, or else from the object's status.
func (f facts) lastKnownTree(path string) state.Tree {
	delivered, _ := state.FindTree(f.delivered, f.branchName(), path)
	delivered.Branch, delivered.Path = f.branchName(), path
	return delivered
}

// siteOfDirectory returns the Site that a directory is or was for, or "" if it is unknown.
func (f facts) siteOfDirectory(dir string) string {
	for _, t := range f.spec.Trees {
		if t.Path == dir {
			return t.Site
		}
	}
	return f.lastKnownTree(dir).Site
}

// allSiteNames are the Sites of the present, the recorded and the later trees of the delivery.
func (f facts) allSiteNames() []string {
	out := sets.New[string]()
	for _, dir := range f.allDirectories() {
		out.Insert(f.siteOfDirectory(dir))
	}
	for t := range f.spec.EachTree() {
		out.Insert(t.Site)
	}
	return sets.List(out.Delete(""))
}

// isOwnDirectory is true if we may write to the directory.
func (f facts) isOwnDirectory(path string) bool {
	d := f.dirs[path]
	if d.blocked || d.entangled != "" {
		return false
	}
	if d.tree == "" {
		return true
	}
	return d.marker != nil && d.marker.SameClaim(f.marker) && f.isSameCluster(d.marker.ClusterUID)
}

// lostItsMarker is true if a directory equals the recorded tree except for its missing marker. Other users may be able to write the state, so only a
// directory with the claim's name counts.
func (f facts) lostItsMarker(dir string) bool {
	d, c := f.dirs[dir], f.spec.ClaimRef
	if f.memory == nil || d.marker != nil || d.blocked || d.entangled != "" || !f.isRemembered() {
		return false
	}
	if path.Base(dir) != c.Name || path.Base(path.Dir(dir)) != c.Namespace {
		return false
	}
	t, ok := state.FindTree(f.memory.Trees, f.branchName(), dir)
	return ok && d.tree != "" && t.Tree == d.tree
}

// isRemovable is true if the path has a directory of this claim.
func (f facts) isRemovable(path string) bool {
	return f.dirs[path].tree != "" && (f.isOwnDirectory(path) || f.lostItsMarker(path))
}

// isSameCluster reports whether a uid is the UID of this cluster, or equals spec.takeOverFrom.
func (f facts) isSameCluster(uid string) bool {
	return uid == f.marker.ClusterUID || (uid != "" && uid == f.config.TakeOverFrom)
}

// isStateAhead reports whether the state was written, but not yet the branch: the branch has the recorded base and lacks the recorded commit. If the
// status shows that the commit was in the branch, another user removed it.
func (f facts) isStateAhead() bool {
	if !f.isRecorded() || f.memory.Base == "" || f.inBranch[f.memory.Commit] || !f.inBranch[f.memory.Base] {
		return false
	}
	return f.lastSeenCommit() != f.memory.Commit
}

// lastSeenCommit returns the last observed commit of this branch. Empty if there is none.
func (f facts) lastSeenCommit() string {
	r := f.lastStatus.Remote
	if r == nil || r.URL != f.config.Git.URL || r.Branch != f.branchName() {
		return ""
	}
	return r.Commit
}

// hasDiverged reports whether the branch has lost the last delivered commit: its history was rewritten, or it was deleted. A record that was written ahead
// of the branch does not show that while the branch has its base.
func (f facts) hasDiverged() bool {
	if c := f.lastSeenCommit(); c != "" {
		return !f.inBranch[c]
	}
	r := f.memory
	if r == nil || r.Deleted || r.Commit == "" {
		return false
	}
	return !f.inBranch[r.Commit] && !f.inBranch[r.Base]
}

// shouldReapply is true if the provider delivers again the trees that a rewritten history lost.
func (f facts) shouldReapply() bool {
	return f.hasDiverged() && f.config.Git.DivergencePolicy == configv1alpha1.DivergenceReapply
}

// tipBefore returns the tip of the branch in the form of the state, unborn for a missing branch.
func (f facts) tipBefore() string {
	if f.tip == "" {
		return unborn
	}
	return f.tip
}

// attemptOfState returns the attempt that wrote the state ahead of the branch. Nil if there is none.
func (f facts) attemptOfState() *rolloutv1alpha1.Attempt {
	if !f.isStateAhead() || f.memory.Attempt == nil || !isAttemptAt(*f.memory.Attempt, f.appliedPosition()) {
		return nil
	}
	a := f.memory.Attempt.DeepCopy()
	a.EndedAt = nil
	return a
}

// isAttempting is true while the attempt at the position is in progress: missing trees were not pushed yet.
func (f facts) isAttempting() bool {
	a := f.lastStatus.Attempt
	return a != nil && isAttemptAt(*a, f.appliedPosition()) && a.EndedAt == nil
}

// appliedPosition returns the position that the trees belong to.
func (f facts) appliedPosition() ledger.Position { return f.recording.applied.Position() }

// baseRecord returns the record that the next record continues. If the state was lost, it comes from the object's status.
func (f facts) baseRecord() state.RecordFile {
	out, m := state.RecordFile{}, f.lastStatus
	if f.memory != nil {
		out = *f.memory
	}
	if n := len(m.History); n > 0 && (f.memory == nil || f.rebuilt && m.History[n-1].Revision >= f.memory.LastNumber) {
		out = state.RecordFile{Revisions: m.History}
		if m.Remote != nil {
			out.Commit, out.CommitTime = m.Remote.Commit, m.Remote.CommitTime
		}
	}
	out.Claim, out.ClusterUID = f.spec.ClaimRef, f.marker.ClusterUID
	out.Claim.UID = ""
	return out
}

// wasApplied is true if the repository reached the position before, by the status or the state: each difference is a change by another user.
func (f facts) wasApplied() bool {
	m, takesOver := f.lastStatus, f.memory != nil && f.memory.ClusterUID != f.marker.ClusterUID
	if takesOver || f.isAttempting() || f.isStateAhead() {
		return false
	}
	remembered := m.Record != nil && m.Remote != nil && m.Remote.URL == f.config.Git.URL && m.Record.Position == f.appliedPosition()
	return remembered || f.isAppliedByState()
}

// isAppliedByState is true if the state records that this control plane applied the position to the repository.
func (f facts) isAppliedByState() bool {
	r := f.memory
	return r != nil && !f.rebuilt && !r.Deleted && r.ClusterUID == f.marker.ClusterUID && r.Position == f.appliedPosition()
}

// isRecorded is true if the state records the applied position and the head of the ledger.
func (f facts) isRecorded() bool {
	return f.isAppliedByState() && f.memory.Head == f.recording.applied.Head
}

// formerTrees returns the directories left on former branches of the repository, the newest branch first, as many as fit into the record beside the given
// number of trees. It omits a branch that is used again, or that a user asked to forget. If the state was lost, the directories come from the object's
// status.
func (f facts) formerTrees(trees int) []state.Tree {
	var all []state.Tree
	if f.memory != nil {
		all = slices.Concat(f.memory.Trees, f.memory.Former)
	}
	if f.memory == nil || f.rebuilt {
		all = append(all, f.rememberedFormer()...)
	}
	return state.LimitFormer(slices.DeleteFunc(all, func(t state.Tree) bool {
		return t.Branch == f.branchName() || slices.Contains(f.forgotten, t.Branch)
	}), trees)
}

// rememberedFormer returns the directories on former branches that the status names.
func (f facts) rememberedFormer() []state.Tree {
	var out []state.Tree
	if r := f.lastStatus.Remote; r == nil || r.URL != f.config.Git.URL {
		return nil
	}
	for _, b := range f.lastStatus.FormerBranches {
		for _, path := range b.Paths {
			out = append(out, state.Tree{Branch: b.Branch, DeliveredTree: deliveryv1alpha1.DeliveredTree{Path: path}})
		}
	}
	return out
}
