// Package decision decides which events of a delivery the repository records, and which directories it writes. Decide is pure: it reads nothing but Facts,
// which another package gathers, and another package carries out the Decision.
package decision

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
	"github.com/intentplane/intentplane/provider/delivery/condition"
	"github.com/intentplane/intentplane/provider/delivery/overlap"
	"github.com/intentplane/intentplane/provider/mandate"
	"github.com/intentplane/intentplane/provider/marker"
	"github.com/intentplane/intentplane/provider/state"
)

// Unborn is the tip of a branch without a commit, in Git's own term.
const Unborn = "0000000000000000000000000000000000000000"

// Facts are the whole input of a decision. Their reader decides nothing, and Decide reads nothing else.
type Facts struct {
	// Namespace of the GitDelivery.
	Namespace string
	Spec      deliveryv1alpha1.GitDeliveryParameters
	// LastStatus is the object's status: a cache of the state, and newer where the state was lost.
	LastStatus deliveryv1alpha1.GitDeliveryObservation

	ConfigKind string
	Config     *configv1alpha1.ProviderConfigSpec
	// Sites of the API server, by name. A missing Site is absent.
	Sites map[string]*v1alpha1.Site

	// Marker that our directories have.
	Marker marker.Marker
	// MarkerContent is the content of the marker's file.
	MarkerContent []byte
	// Tip of the branch.
	Tip string
	// InBranch reports whether the last observed commit, and the commit and base of the record, are in the branch.
	InBranch map[string]bool
	// Memory is the record of the repository, or its replacement rebuilt from commits. Nil without a record.
	Memory *state.RecordFile
	// Delivered are the previously delivered directories: from the state first, or from the object first if the state was lost.
	Delivered []state.Tree
	// Owner is the UID of the cluster that writes the state. Empty if the state has none.
	Owner string
	// Rebuilt is true if the record was lost, and rebuilt from the commits of this control plane.
	Rebuilt bool
	// LostRecords are records of other claims that were lost with it, by their path in the state.
	LostRecords map[string]state.RecordFile
	// Retained are the ids of the trees that the state retains.
	Retained map[string]bool
	// decoded are the decoded files of the trees of the spec, by branch and path. Files of an absent tree are decoded at each use.
	decoded map[string]decodedTree
	// Restored are the files of trees to restore, by the id of the tree. A tree that no repository of the claim has is absent.
	Restored map[string]tree.Files
	// Parts are the files of folders that trees name by their ids, by id. A folder that no repository of the claim has is absent.
	Parts map[string]tree.Files
	// Variables are the names of the variables that directories have since their last delivery, by path. Nil for trees that have none.
	Variables map[string][]string
	// Unreadable is the error of an existing file that cannot be read.
	Unreadable string
	// Forged is the reason why the whole state counts as lost. Empty if the state is valid.
	Forged string
	// Rival is the ref of another, older state, which is ignored. Empty without such a ref.
	Rival string
	// Directories are the directories that the delivery is about, by path.
	Directories map[string]Directory
	// Forgotten are former branches that a user asked to forget.
	Forgotten []string
	// Ledger has the observed ledger of the deployment, and Recording has the pending events, once they are decided.
	Ledger    LedgerFacts
	Recording Recording
	// Siblings are all deliveries of the claim, if the status of another delivery may matter to the ledger. Otherwise nil.
	Siblings []deliveryv1alpha1.GitDelivery
	// Witnesses are the evidence of the provider's own objects, for a home with a mandate. IsAhead is true if the trees follow from a state that the ledger
	// reached by the mandate of the home, and not from the spec of the object.
	Witnesses mandate.Facts
	IsAhead   bool
	// Overlaps are objects that another claim delivers to the same Site already, by the path of the pending directory.
	Overlaps map[string]overlap.Overlap
}

// A Directory is the observed content of a path of the branch.
type Directory struct {
	// Tree is the Git id of the directory, with all its files. Empty if it does not exist.
	Tree string
	// Blocked is true if the path is a file, a link or a submodule.
	Blocked bool
	// Marker names the owner of the directory. Nil if the directory has no valid marker.
	Marker *marker.Marker
	// Orphaned is true if it was written for the other shape of the claim, which has lost its last delivery.
	Orphaned bool
	// Entangled is the directory of a claim that lies around this one, or in it. Empty without such a directory.
	Entangled string
}

// BranchName returns the name of the branch that the provider writes.
func (f Facts) BranchName() string { return f.Config.Git.Branch }

// AllDirectories returns the paths of all directories that the delivery is or was about.
func (f Facts) AllDirectories() []string {
	out := f.knownPaths()
	for _, t := range f.Spec.Trees {
		out = append(out, t.Path)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// KnownTrees returns the recorded directories, from the state and from the object's status, the more trusted source first.
func (f Facts) KnownTrees() []state.Tree {
	var published []state.Tree
	for _, t := range f.LastStatus.Trees {
		published = append(published, state.Tree{Branch: f.BranchName(), DeliveredTree: t})
	}
	switch {
	case f.Memory == nil:
		return published
	case f.Rebuilt:
		return slices.Concat(published, f.Memory.Trees)
	}
	return slices.Concat(f.Memory.Trees, published)
}

// knownPaths returns the paths of the previously delivered directories.
func (f Facts) knownPaths() []string {
	trees, out := f.Delivered, []string{}
	if f.Memory != nil {
		trees = slices.Concat(trees, f.Memory.Former)
	}
	for _, t := range trees {
		if t.Branch == f.BranchName() {
			out = append(out, t.Path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// deliveredTree returns the last delivered tree of a directory. The status counts only if the state was lost.
func (f Facts) deliveredTree(branch, path string) (state.Tree, bool) {
	if f.Memory != nil && !f.Rebuilt {
		return state.FindTree(f.Memory.Trees, branch, path)
	}
	return state.FindTree(f.Delivered, branch, path)
}

// LastKnownTree returns the last recorded tree of a directory: from the state, or else from the object's status.
func (f Facts) LastKnownTree(path string) state.Tree {
	delivered, _ := state.FindTree(f.Delivered, f.BranchName(), path)
	delivered.Branch, delivered.Path = f.BranchName(), path
	return delivered
}

// siteOfDirectory returns the Site that a directory is or was for, or "" if it is unknown.
func (f Facts) siteOfDirectory(dir string) string {
	for _, t := range f.Spec.Trees {
		if t.Path == dir {
			return t.Site
		}
	}
	return f.LastKnownTree(dir).Site
}

// AllSiteNames are the Sites of the present, the recorded and the later trees of the delivery.
func (f Facts) AllSiteNames() []string {
	out := sets.New[string]()
	for _, dir := range f.AllDirectories() {
		out.Insert(f.siteOfDirectory(dir))
	}
	for t := range f.Spec.EachTree() {
		out.Insert(t.Site)
	}
	return sets.List(out.Delete(""))
}

// isOwnDirectory is true if we may write to the directory.
func (f Facts) isOwnDirectory(path string) bool {
	d := f.Directories[path]
	if d.Blocked || d.Entangled != "" {
		return false
	}
	if d.Tree == "" {
		return true
	}
	return d.Marker != nil && d.Marker.SameClaim(f.Marker) && f.IsSameCluster(d.Marker.ClusterUID)
}

// lostItsMarker is true if a directory equals the recorded tree except for its missing marker. Other users may be able to write the state, so only a
// directory with the claim's name counts.
func (f Facts) lostItsMarker(dir string) bool {
	d, c := f.Directories[dir], f.Spec.ClaimRef
	if f.Memory == nil || d.Marker != nil || d.Blocked || d.Entangled != "" || !f.IsRemembered() {
		return false
	}
	if path.Base(dir) != c.Name || path.Base(path.Dir(dir)) != c.Namespace {
		return false
	}
	t, ok := state.FindTree(f.Memory.Trees, f.BranchName(), dir)
	return ok && d.Tree != "" && t.Tree == d.Tree
}

// isRemovable is true if the path has a directory of this claim.
func (f Facts) isRemovable(path string) bool {
	return f.Directories[path].Tree != "" && (f.isOwnDirectory(path) || f.lostItsMarker(path))
}

// IsSameCluster reports whether a uid is the UID of this cluster, or equals spec.takeOverFrom.
func (f Facts) IsSameCluster(uid string) bool {
	return uid == f.Marker.ClusterUID || (uid != "" && uid == f.Config.TakeOverFrom)
}

// isStateAhead reports whether the state was written, but not yet the branch: the branch has the recorded base and lacks the recorded commit. If the
// status shows that the commit was in the branch, another user removed it.
func (f Facts) isStateAhead() bool {
	if !f.isRecorded() || f.Memory.Base == "" || f.InBranch[f.Memory.Commit] || !f.InBranch[f.Memory.Base] {
		return false
	}
	return f.LastSeenCommit() != f.Memory.Commit
}

// LastSeenCommit returns the last observed commit of this branch. Empty without such a commit.
func (f Facts) LastSeenCommit() string {
	r := f.LastStatus.Remote
	if r == nil || r.URL != f.Config.Git.URL || r.Branch != f.BranchName() {
		return ""
	}
	return r.Commit
}

// hasDiverged reports whether the branch has lost the last delivered commit: its history was rewritten, or it was deleted. A record that was written ahead
// of the branch does not show that while the branch has its base.
func (f Facts) hasDiverged() bool {
	if c := f.LastSeenCommit(); c != "" {
		return !f.InBranch[c]
	}
	r := f.Memory
	if r == nil || r.Deleted || r.Commit == "" {
		return false
	}
	return !f.InBranch[r.Commit] && !f.InBranch[r.Base]
}

// ShouldReapply is true if the provider delivers again the trees that a rewritten history lost.
func (f Facts) ShouldReapply() bool {
	return f.hasDiverged() && f.Config.Git.DivergencePolicy == configv1alpha1.DivergenceReapply
}

// TipBefore returns the tip of the branch in the form of the state, Unborn for a missing branch.
func (f Facts) TipBefore() string {
	if f.Tip == "" {
		return Unborn
	}
	return f.Tip
}

// AttemptOfState returns the attempt that wrote the state ahead of the branch. Nil without such an attempt.
func (f Facts) AttemptOfState() *rolloutv1alpha1.Attempt {
	if !f.isStateAhead() || f.Memory.Attempt == nil || !condition.IsAttemptAt(*f.Memory.Attempt, f.AppliedPosition()) {
		return nil
	}
	a := f.Memory.Attempt.DeepCopy()
	a.EndedAt = nil
	return a
}

// IsAttempting is true while the attempt at the position is in progress: missing trees were not pushed yet.
func (f Facts) IsAttempting() bool {
	a := f.LastStatus.Attempt
	return a != nil && condition.IsAttemptAt(*a, f.AppliedPosition()) && a.EndedAt == nil
}

// AppliedPosition returns the position that the trees belong to.
func (f Facts) AppliedPosition() ledger.Position { return f.Recording.Applied.Position() }

// BaseRecord returns the record that the next record continues. If the state was lost, it comes from the object's status.
func (f Facts) BaseRecord() state.RecordFile {
	out, m := state.RecordFile{}, f.LastStatus
	if f.Memory != nil {
		out = *f.Memory
	}
	if n := len(m.History); n > 0 && (f.Memory == nil || f.Rebuilt && m.History[n-1].Revision >= f.Memory.LastNumber) {
		out = state.RecordFile{Revisions: m.History}
		if m.Remote != nil {
			out.Commit, out.CommitTime = m.Remote.Commit, m.Remote.CommitTime
		}
	}
	out.Claim, out.ClusterUID = f.Spec.ClaimRef, f.Marker.ClusterUID
	out.Claim.UID = ""
	return out
}

// wasApplied is true if the repository reached the position before, by the status or the state: each difference is a change by another user.
func (f Facts) wasApplied() bool {
	m, takesOver := f.LastStatus, f.Memory != nil && f.Memory.ClusterUID != f.Marker.ClusterUID
	if takesOver || f.IsAttempting() || f.isStateAhead() {
		return false
	}
	remembered := m.Record != nil && m.Remote != nil && m.Remote.URL == f.Config.Git.URL && m.Record.Position == f.AppliedPosition()
	return remembered || f.isAppliedByState()
}

// isAppliedByState is true if the state records that this control plane applied the position to the repository.
func (f Facts) isAppliedByState() bool {
	r := f.Memory
	return r != nil && !f.Rebuilt && !r.Deleted && r.ClusterUID == f.Marker.ClusterUID && r.Position == f.AppliedPosition()
}

// isRecorded is true if the state records the applied position and the head of the ledger.
func (f Facts) isRecorded() bool {
	return f.isAppliedByState() && f.Memory.Head == f.Recording.Applied.Head
}

// formerTrees returns the directories left on former branches of the repository, the newest branch first, as many as fit into the record beside the given
// number of trees. It omits a branch that is used again, or that a user asked to forget. If the state was lost, the directories come from the object's
// status.
func (f Facts) formerTrees(trees int) []state.Tree {
	var all []state.Tree
	if f.Memory != nil {
		all = slices.Concat(f.Memory.Trees, f.Memory.Former)
	}
	if f.Memory == nil || f.Rebuilt {
		all = append(all, f.rememberedFormer()...)
	}
	return state.LimitFormer(slices.DeleteFunc(all, func(t state.Tree) bool {
		return t.Branch == f.BranchName() || slices.Contains(f.Forgotten, t.Branch)
	}), trees)
}

// rememberedFormer returns the directories on former branches that the status names.
func (f Facts) rememberedFormer() []state.Tree {
	var out []state.Tree
	if r := f.LastStatus.Remote; r == nil || r.URL != f.Config.Git.URL {
		return nil
	}
	for _, b := range f.LastStatus.FormerBranches {
		for _, path := range b.Paths {
			out = append(out, state.Tree{Branch: b.Branch, DeliveredTree: deliveryv1alpha1.DeliveredTree{Path: path}})
		}
	}
	return out
}

// EngineReads is true for a directory of a Site that has an engine. It is false for a deleted Site.
func (f Facts) EngineReads(dir string) bool {
	return f.Sites[f.siteOfDirectory(dir)].HasEngine()
}
