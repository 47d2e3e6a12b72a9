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
	"github.com/intentplane/intentplane/provider/mandate"
	"github.com/intentplane/intentplane/provider/marker"
	"github.com/intentplane/intentplane/provider/state"
)

// unborn is the tip of a branch that is not there yet. Git calls it so.
const unborn = "0000000000000000000000000000000000000000"

// facts are all that a decision is made from. Who gathers them decides nothing, and who decides reads nothing else.
type facts struct {
	// namespace of the GitDelivery.
	namespace string
	spec      deliveryv1alpha1.GitDeliveryParameters
	// lastStatus is the object's status: a cache of the state, and newer where the state was lost.
	lastStatus deliveryv1alpha1.GitDeliveryObservation

	configKind string
	config     *configv1alpha1.ProviderConfigSpec
	// sites of the API server, by name. One that is not there does not exist.
	sites map[string]*v1alpha1.Site

	// marker that our directories have.
	marker marker.Marker
	// content of the marker's file.
	content []byte
	// tip of the branch.
	tip string
	// inBranch says of commits that matter whether they are in the branch.
	inBranch map[string]bool
	// memory is what is remembered of the directories. Nil if nothing is.
	memory *state.RecordFile
	// delivered are the directories that were delivered before: those of the state, or those of the object first where the state was lost.
	delivered []state.Tree
	// owner is the cluster that writes the state. Empty if the state does not say.
	owner string
	// rebuilt is true if the record was lost, and rebuilt from our commits.
	rebuilt bool
	// lostRecords are records of other claims that were lost with it, by their path in the state.
	lostRecords map[string]state.RecordFile
	// retained are the trees that the state holds on to.
	retained map[string]bool
	// decoded are the files of the trees of the spec, by branch and path. Nil if none was decoded: those of a tree that is not there are decoded when they are
	// needed.
	decoded map[string]decodedTree
	// restored are the files of trees that are to be brought back, by the id of the tree. What is nowhere is not there.
	restored map[string]tree.Files
	// parts are the files of folders that trees name by their ids, by these. What is nowhere is not there.
	parts map[string]tree.Files
	// variables are the names of the variables that directories have since their last delivery, by path. Nil for trees that have none.
	variables map[string][]string
	// unreadable says why a file that exists cannot be read.
	unreadable string
	// forged says why the whole state counts as lost. Empty if it does not.
	forged string
	// rival is the ref of another state, which is older and does not count. Empty if there is none.
	rival string
	// dirs are the directories that the delivery is about, by path.
	dirs map[string]directory
	// forgotten are former branches that a person asked to forget.
	forgotten []string
	// ledger is what is known of the ledger that the delivery is about, and recording what is to be recorded in it, once that is decided.
	ledger    ledgerFacts
	recording recording
	// siblings are the deliveries of the claim, with this one, where another one of them may say something about the ledger.
	siblings []deliveryv1alpha1.GitDelivery
	// witnesses are what the provider's own objects show, for a home with a mandate. IsAhead is true where the trees follow from a state that the ledger came
	// to by the mandate of the home, and not from the spec of the object.
	witnesses mandate.Facts
	isAhead   bool
	// overlaps are objects of directories that are to be written, by path, which another claim delivers to the same Site.
	overlaps map[string]overlap
}

// A directory is what stands at a path of the branch.
type directory struct {
	// tree is its id with everything in it. Empty if nothing is there.
	tree string
	// blocked is true if something else than a directory is there.
	blocked bool
	// marker says whose it is. Nil if it has none that can be read.
	marker *marker.Marker
	// orphaned is true if it was written for the other shape of the claim, which has lost its last delivery.
	orphaned bool
	// entangled is the directory of a claim that lies around this one, or in it. Empty if there is none.
	entangled string
}

// branchName returns the branch that is written.
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

// knownTrees returns the directories that state and object know, in the order of trust.
func (f facts) knownTrees() []state.Tree {
	var shown []state.Tree
	for _, t := range f.lastStatus.Trees {
		shown = append(shown, state.Tree{Branch: f.branchName(), DeliveredTree: t})
	}
	switch {
	case f.memory == nil:
		return shown
	case f.rebuilt:
		return slices.Concat(shown, f.memory.Trees)
	}
	return slices.Concat(f.memory.Trees, shown)
}

// knownPaths are the paths of the directories that were delivered before.
func (f facts) knownPaths() []string {
	known, out := f.delivered, []string{}
	if f.memory != nil {
		known = slices.Concat(known, f.memory.Former)
	}
	for _, t := range known {
		if t.Branch == f.branchName() {
			out = append(out, t.Path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// deliveredTree returns what was left at a place last. What the state does not have was not delivered, unless it was lost.
func (f facts) deliveredTree(branch, path string) (state.Tree, bool) {
	if f.memory != nil && !f.rebuilt {
		return state.FindTree(f.memory.Trees, branch, path)
	}
	return state.FindTree(f.delivered, branch, path)
}

// lastKnownTree is what is known of a directory, by the state or, where that does not have it, by the object.
func (f facts) lastKnownTree(path string) state.Tree {
	was, _ := state.FindTree(f.delivered, f.branchName(), path)
	was.Branch, was.Path = f.branchName(), path
	return was
}

// siteOfDirectory is the Site that a directory is or was for, as far as that is known.
func (f facts) siteOfDirectory(dir string) string {
	for _, t := range f.spec.Trees {
		if t.Path == dir {
			return t.Site
		}
	}
	return f.lastKnownTree(dir).Site
}

// allSiteNames are the Sites that the delivery is or was about.
func (f facts) allSiteNames() []string {
	out := sets.New[string]()
	for _, dir := range f.allDirectories() {
		out.Insert(f.siteOfDirectory(dir))
	}
	for _, t := range f.spec.Trees {
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

// lostItsMarker is true if the last delivery left exactly this directory there: only the marker is gone. The state says so, which others
// may be able to write, and therefore only about a directory of the claim's name.
func (f facts) lostItsMarker(at string) bool {
	d, c := f.dirs[at], f.spec.ClaimRef
	if f.memory == nil || d.marker != nil || d.blocked || d.entangled != "" || !f.isRemembered() {
		return false
	}
	if path.Base(at) != c.Name || path.Base(path.Dir(at)) != c.Namespace {
		return false
	}
	t, ok := state.FindTree(f.memory.Trees, f.branchName(), at)
	return ok && d.tree != "" && t.Tree == d.tree
}

// isRemovable is true if something is at the path that was written for this claim.
func (f facts) isRemovable(path string) bool {
	return f.dirs[path].tree != "" && (f.isOwnDirectory(path) || f.lostItsMarker(path))
}

// isSameCluster reports whether a uid is that of this cluster, or of the one that spec.takeOverFrom names.
func (f facts) isSameCluster(uid string) bool {
	return uid == f.marker.ClusterUID || (uid != "" && uid == f.config.TakeOverFrom)
}

// isStateAhead reports whether the state was written before the branch, which did not follow: it has the tip of before, and perhaps more. Where
// the status says that the commit was in the branch, another user removed it.
func (f facts) isStateAhead() bool {
	if !f.isRecorded() || f.memory.Base == "" || f.inBranch[f.memory.Commit] || !f.inBranch[f.memory.Base] {
		return false
	}
	return f.lastSeenCommit() != f.memory.Commit
}

// lastSeenCommit is the commit that was seen in this branch last. Empty if none was.
func (f facts) lastSeenCommit() string {
	r := f.lastStatus.Remote
	if r == nil || r.URL != f.config.Git.URL || r.Branch != f.branchName() {
		return ""
	}
	return r.Commit
}

// hasDiverged reports whether the branch has lost what was delivered last: its history was rewritten, or it was deleted. A record that
// was written ahead says nothing like that as long as what it builds on is there.
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

// shouldReapply is true if what was lost with the history is to be delivered again.
func (f facts) shouldReapply() bool {
	return f.hasDiverged() && f.config.Git.DivergencePolicy == configv1alpha1.DivergenceReapply
}

// tipBefore is the tip of the branch as the state names it.
func (f facts) tipBefore() string {
	if f.tip == "" {
		return unborn
	}
	return f.tip
}

// attemptOfState is the attempt that wrote the state ahead. Nil if there is none.
func (f facts) attemptOfState() *rolloutv1alpha1.Attempt {
	if !f.isStateAhead() || f.memory.Attempt == nil || !isAttemptAt(*f.memory.Attempt, f.appliedPosition()) {
		return nil
	}
	a := f.memory.Attempt.DeepCopy()
	a.EndedAt = nil
	return a
}

// isAttempting is true while the attempt at the position goes on: what is missing in the branch was not pushed yet.
func (f facts) isAttempting() bool {
	a := f.lastStatus.Attempt
	return a != nil && isAttemptAt(*a, f.appliedPosition()) && a.EndedAt == nil
}

// appliedPosition that the trees belong to.
func (f facts) appliedPosition() ledger.Position { return f.recording.applied.Position() }

// baseRecord is what is remembered, for the next record to start from. Where the state was lost, the object remembers.
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

// wasApplied is true if the position was reached before, as far as status or state remember: what differs now was changed by others.
func (f facts) wasApplied() bool {
	m, takesOver := f.lastStatus, f.memory != nil && f.memory.ClusterUID != f.marker.ClusterUID
	if takesOver || f.isAttempting() || f.isStateAhead() {
		return false
	}
	remembered := m.Record != nil && m.Remote != nil && m.Remote.URL == f.config.Git.URL && m.Record.Position == f.appliedPosition()
	return remembered || f.isAppliedByState()
}

// isAppliedByState is true if the state says that this control plane brought the repository to the position.
func (f facts) isAppliedByState() bool {
	r := f.memory
	return r != nil && !f.rebuilt && !r.Deleted && r.ClusterUID == f.marker.ClusterUID && r.Position == f.appliedPosition()
}

// isRecorded is true if the state says so, and has the head of the ledger.
func (f facts) isRecorded() bool {
	return f.isAppliedByState() && f.memory.Head == f.recording.applied.Head
}

// formerTrees returns the directories that were left on former branches of the repository, those of the newest first, as many as fit
// beside so many trees. A branch that is used again, or that a person asked to forget, has none. Where the state was lost, the object
// remembers.
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
