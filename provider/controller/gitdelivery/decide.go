package gitdelivery

import (
	"fmt"
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/api/equality"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/marker"
	"github.com/intentplane/intentplane/provider/state"
)

// An action is what to do about a delivery.
type action int

const (
	// actionNone leaves everything as it is.
	actionNone action = iota
	// actionRecord writes the state only: the directories are as they should be.
	actionRecord
	// actionCommit writes directories, and the state.
	actionCommit
	// actionLedger records events in the ledger, and leaves the directories.
	actionLedger
)

// A decision is what follows from the facts.
type decision struct {
	action action
	// reason why the delivery is not ready. Empty if it is, or will be once the action is done.
	reason  xpv2.ConditionReason
	message string
	// put are directories to write, remove directories to remove.
	put    map[string]tree.Files
	remove []string
	// sites of the directories to write.
	sites []string
	// trees that the order names, afterwards, and those left that it has no more.
	trees, left []state.Tree
	// former are directories of the claim that were left on former branches. Nothing writes there.
	former []state.Tree
	// asksForMore is true if the order, which was carried out, came to ask for more than before.
	asksForMore bool

	// drifted is true if another commit changed what was delivered.
	drifted bool
	// hidesState is true if the status may not show the state: another cluster wrote it, or its writer is not known.
	hidesState bool
	// owner of the directory that is refused. Nil if it has none, or if that is not known.
	owner *marker.Marker
}

func refuse(reason xpv2.ConditionReason, format string, args ...any) *decision {
	return &decision{reason: reason, message: fmt.Sprintf(format, args...)}
}

// hideState hides the state from the status.
func (d *decision) hideState() *decision {
	d.hidesState = true
	return d
}

// decideOrder decides what to do. It is pure: the same facts give the same decision.
func decideOrder(f facts) decision {
	for _, check := range []func(facts) *decision{checkClaim, checkState, checkFence, checkTrees, checkOwners, checkOverlaps} {
		if refused := check(f); refused != nil {
			return *refused
		}
	}
	return decideDirectories(f)
}

// checkClaim refuses to act for a claim of another namespace: a user who may create a GitDelivery here may not create that claim.
func checkClaim(f facts) *decision {
	if c := f.spec.ClaimRef; c.Namespace != f.namespace {
		return refuse(v1alpha1.ReasonPolicyDenied, "spec.forProvider.claimRef.namespace: %q is not the namespace of the GitDelivery", c.Namespace).hideState()
	}
	return nil
}

// checkState refuses a state that this control plane did not write.
func checkState(f facts) *decision {
	switch {
	case f.unreadable != "":
		return refuse(v1alpha1.ReasonStateUntrusted, "the state of the claim in the repository cannot be used: %s", f.unreadable).hideState()
	case f.owner != "" && !f.isSameCluster(f.owner):
		return refuse(v1alpha1.ReasonOwnedElsewhere,
			"control plane %q writes this repository from the cluster with uid %q: if that cluster is gone, set spec.takeOverFrom of the configuration to that uid",
			f.marker.ControlPlane, f.owner).hideState()
	case f.entry == nil:
		return nil
	case f.entry.Claim.Kind != f.spec.ClaimRef.Kind:
		return refuse(v1alpha1.ReasonNotOwner, "the repository holds the state of %s %q", f.entry.Claim.Kind, f.entry.Claim.Name).hideState()
	case !f.isSameCluster(f.entry.ClusterUID):
		return refuse(v1alpha1.ReasonOwnedElsewhere,
			"control plane %q wrote this claim from the cluster with uid %q: if that cluster is gone, set spec.takeOverFrom of the configuration to that uid",
			f.marker.ControlPlane, f.entry.ClusterUID).hideState()
	}
	return nil
}

// checkFence refuses an order that is older than the last one that is known.
func checkFence(f facts) *decision {
	last := f.newestOrder()
	if last == nil {
		return nil
	}
	o := f.spec.Order
	if o.Conflicts(*last) {
		return refuse(v1alpha1.ReasonOrderBehind, "revision %d was already used for another request", last.Revision)
	}
	if o.Rejudges(*last) {
		return refuse(v1alpha1.ReasonOrderBehind, "revision %d was judged already: a verdict never changes", last.Revision)
	}
	if o.Revives(*last, f.spec.Adopt != nil && *f.spec.Adopt) {
		return refuse(v1alpha1.ReasonOrderBehind, "revision %d was rejected, and revision %d delivers the same without being asked for", last.Revision, o.Revision)
	}
	if o.Behind(*last) {
		return refuse(v1alpha1.ReasonOrderBehind, "the order is older than %s, which is known", describeOrder(*last))
	}
	return nil
}

func describeOrder(o rolloutv1alpha1.Order) string {
	return fmt.Sprintf("revision %d, step %d, attempt %d", o.Revision, o.Step, o.Attempt)
}

// checkTrees refuses what the claim may not deliver, and what is not what it says.
func checkTrees(f facts) *decision {
	seen := map[string]bool{}
	for i, t := range f.spec.Trees {
		field := fmt.Sprintf("spec.forProvider.trees[%d]", i)
		seen[t.Site] = true
		if refused := checkTree(f, t, field); refused != nil {
			return refused
		}
	}
	if err := policy.CheckCount(f.configKind, f.config, len(seen)); err != nil {
		return refuse(v1alpha1.ReasonPolicyDenied, "%s", err)
	}
	return nil
}

func checkTree(f facts, t v1alpha1.Tree, field string) *decision {
	if t.Weight != nil {
		return refuse(v1alpha1.ReasonInvalid, "%s.weight: is not supported yet", field)
	}
	switch t.Action {
	case v1alpha1.ActionDesired:
		return checkDesired(f, t, field)
	case v1alpha1.ActionRestore:
		return checkRestore(f, t, field)
	case v1alpha1.ActionKeep:
		return nil
	}
	return refuse(v1alpha1.ReasonInvalid, "%s.action: %s is not known", field, t.Action)
}

func checkDesired(f facts, t v1alpha1.Tree, field string) *decision {
	files, err := tree.Decode(t.Files)
	if err != nil {
		return refuse(v1alpha1.ReasonInvalid, "%s.files: %s", field, err)
	}
	if id := tree.ID(files); id != t.Tree {
		return refuse(v1alpha1.ReasonInvalid, "%s.tree: the files are tree %s, not %s", field, id, t.Tree)
	}
	return checkLimits(f, t, field, files)
}

// checkRestore judges what is brought back as what is delivered: a limit that was set since holds for it too.
func checkRestore(f facts, t v1alpha1.Tree, field string) *decision {
	switch {
	case len(t.Files) > 0:
		return refuse(v1alpha1.ReasonInvalid, "%s.files: what is restored carries none", field)
	case t.Tree == "":
		return refuse(v1alpha1.ReasonInvalid, "%s.tree: is required for what is restored", field)
	}
	files, ok := f.restored[t.Tree]
	if !ok {
		return refuse(v1alpha1.ReasonTreeGone, "%s.tree: %s is not in the repository any more: neither the state nor the branch has it", field, t.Tree)
	}
	return checkLimits(f, t, field, files)
}

func checkLimits(f facts, t v1alpha1.Tree, field string, files tree.Files) *decision {
	site := f.sites[t.Site]
	// A missing Site and one that may not be used get the same message: a tenant does not learn which Sites exist.
	if site == nil || policy.CheckSite(site, f.namespace) != nil {
		return refuse(v1alpha1.ReasonSiteMissing, "%s: Site %q does not exist or may not be used from namespace %q", field, t.Site, f.namespace)
	}
	err := policy.CheckTree(policy.Input{
		Claim: f.spec.ClaimRef, Site: site, ConfigKind: f.configKind, Config: f.config,
		Branch: t.Branch, Path: t.Path, Layout: t.Layout, Files: files,
	})
	if err != nil {
		return refuse(v1alpha1.ReasonPolicyDenied, "%s: %s", field, err)
	}
	return nil
}

// checkOwners refuses to write to a directory that is not ours.
func checkOwners(f facts) *decision {
	for _, t := range f.spec.Trees {
		if t.Action == v1alpha1.ActionKeep || f.isOwnDirectory(t.Path) {
			continue
		}
		if refused := checkOwner(f, t); refused != nil {
			return refused
		}
	}
	return nil
}

func checkOwner(f facts, t v1alpha1.Tree) *decision {
	d := f.dirs[t.Path]
	switch {
	case d.blocked:
		return refuse(v1alpha1.ReasonNotOwner, "directory %q: a file, a link or a submodule is there", t.Path)
	case d.entangled != "":
		return refuse(v1alpha1.ReasonNotOwner, "directory %q: a claim's directory %q is around it or in it: no Site's path may lead into another's claims", t.Path, d.entangled)
	case d.marker != nil && d.marker.SameClaim(f.marker):
		return refuse(v1alpha1.ReasonOwnedElsewhere,
			"directory %q: control plane %q wrote it from the cluster with uid %q: if that cluster is gone, set spec.takeOverFrom of the configuration to that uid",
			t.Path, d.marker.ControlPlane, d.marker.ClusterUID)
	case d.orphaned:
		return nil
	case d.marker != nil:
		refused := refuse(v1alpha1.ReasonNotOwner, "directory %q: it belongs to %s of control plane %q", t.Path, describeOwner(*d.marker), d.marker.ControlPlane)
		refused.owner = d.marker
		return refused
	case d.tree == t.Tree, f.lostItsMarker(t.Path), isTrue(f.spec.Adopt):
		return nil // Files of other users are not lost, or adopt says that they may be.
	}
	return refuse(v1alpha1.ReasonNotOwner, "directory %q: it holds files that were not delivered. To replace them, set adopt", t.Path)
}

// decideDirectories compares the directories of the branch with those that should be there.
func decideDirectories(f facts) decision {
	d := decision{put: map[string]tree.Files{}}
	wanted := map[string]bool{}
	for _, t := range f.spec.Trees {
		wanted[t.Path] = true
		d.addDirectoryTree(f, t)
	}
	for _, path := range f.knownPaths() {
		if !wanted[path] && f.isRemovable(path) {
			d.leaveOrRemove(f, path)
		}
	}
	d.former = f.formerTrees(len(d.trees) + len(d.left))
	switch {
	case len(d.put)+len(d.remove) > 0:
		d.action = actionCommit
	case !f.isRecorded() || f.shouldReapply() || !d.hasTreesOf(*f.entry) || f.hasUnretainedTree():
		d.action = actionRecord
	}
	if d.action == actionCommit && f.hasDiverged() {
		return d.decideDiverged(f)
	}
	d.markDrifted(f)
	return d
}

// hasTreesOf is true if an entry has the directories that it is to have.
func (d *decision) hasTreesOf(e state.Entry) bool {
	return equality.Semantic.DeepEqual(e.Trees, slices.Concat(d.trees, d.left)) && equality.Semantic.DeepEqual(e.Former, d.former)
}

// leaveOrRemove leaves a directory that the order does not have any more, or removes it. It is removed when the order is verified, and so one order after the Sites run
// what takes its place: made before broken. A revision that is rejected never removes one.
func (d *decision) leaveOrRemove(f facts, path string) {
	if f.isSettled() {
		d.remove = append(d.remove, path)
		return
	}
	d.left = append(d.left, f.lastKnownTree(path))
}

// onlyRemoves is true if nothing is to be done in the branch but to remove directories that the order has no more.
func (d *decision) onlyRemoves() bool {
	return d.action == actionCommit && len(d.put) == 0 && len(d.remove) > 0
}

// withoutRemoval records the order, and leaves the directories that it has no more. Where more is to be done, nothing is.
func (d *decision) withoutRemoval(f facts) decision {
	if !d.onlyRemoves() || f.isRecorded() {
		return decision{}
	}
	out := *d
	for _, path := range d.remove {
		out.left = append(out.left, f.lastKnownTree(path))
	}
	out.action, out.remove = actionRecord, nil
	return out
}

// namingRemoved says which directories something is about, if only those are meant that the order has no more.
func (d *decision) namingRemoved(message string) string {
	if !d.onlyRemoves() {
		return message
	}
	removed := "removing " + listNames(d.remove)
	if message == "" {
		return removed
	}
	return removed + ": " + message
}

// decideDiverged writes on top of a history that another user rewrote, if divergencePolicy allows it. Trees prove what is there, and commit ids
// do not: a rewritten history that holds the same directories does not stop the delivery.
func (d *decision) decideDiverged(f facts) decision {
	if f.shouldReapply() {
		return *d
	}
	said := "its history was rewritten"
	if f.tip == "" {
		said = "it was deleted"
	}
	return *refuse(v1alpha1.ReasonDiverged,
		"branch %q has lost what was delivered: %s. Nothing is written until the branch has it again, or spec.git.divergencePolicy of the configuration is %s",
		f.branchName(), said, configv1alpha1.DivergenceReapply)
}

// addDirectoryTree adds one directory of the spec to the decision.
func (d *decision) addDirectoryTree(f facts, t v1alpha1.Tree) {
	now := state.Tree{Branch: t.Branch}
	now.DeliveredTree = v1alpha1.DeliveredTree{Site: t.Site, Path: t.Path, Tree: t.Tree, Revision: f.spec.Order.Revision}
	was, known := f.deliveredTree(t.Branch, t.Path)
	if t.Action == v1alpha1.ActionKeep {
		if known {
			d.trees = append(d.trees, was)
		}
		return
	}
	if known && was.Tree == now.Tree {
		now.Revision = was.Revision
	}
	d.trees = append(d.trees, now)
	files, id := f.markedFiles(t)
	if f.dirs[t.Path].tree != id {
		// A directory that was retained until now, because the cluster of its Site was not ready, has not drifted.
		d.asksForMore = d.asksForMore || f.entry != nil && !f.rebuilt && (!known || was.Tree != now.Tree)
		d.put[t.Path] = files
		d.sites = append(d.sites, t.Site)
	}
}

// markDrifted notes as drift what differs from what was delivered, while nothing new was ordered and no attempt goes on.
func (d *decision) markDrifted(f facts) {
	d.drifted = d.action == actionCommit && !d.onlyRemoves() && f.wasApplied() && !d.asksForMore
	if !d.drifted {
		return
	}
	d.reason, d.message = v1alpha1.ReasonDrifted, "another commit changed directories of the claim in the repository"
	if f.spec.DriftPolicy == v1alpha1.DriftReport {
		d.action = actionNone
		return
	}
	d.message += ": they are being restored"
}

func isTrue(b *bool) bool { return b != nil && *b }

func describeOwner(m marker.Marker) string {
	return fmt.Sprintf("%s %s/%s", m.Claim.Kind, m.Claim.Namespace, m.Claim.Name)
}
