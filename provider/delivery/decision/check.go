package decision

import (
	"fmt"
	"path"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/marker"
)

// changeIntent is the action for a user if neither the state nor the branch has the files of a tree.
const changeIntent = "change the intent of the deployment, so that another revision is delivered"

// checkClaim refuses to act for a claim of another namespace: a user who may create a GitDelivery here may not create that claim.
func checkClaim(f Facts) *Decision {
	if c := f.Spec.ClaimRef; c.Namespace != f.Namespace {
		return refuse(v1alpha1.ReasonPolicyDenied, "spec.forProvider.claimRef.namespace: %q is not the namespace of the GitDelivery", c.Namespace).hideState()
	}
	return nil
}

// MayChangeState is true for a claim of the own namespace, in a repository whose state this provider may change.
func (f Facts) MayChangeState() bool { return checkClaim(f) == nil && checkState(f) == nil }

// checkState refuses a state that must not be changed, or that another cluster wrote.
func checkState(f Facts) *Decision {
	l := f.Ledger
	if l.Newer != "" {
		return refuse(v1alpha1.ReasonStateNewer, "a newer version of the provider wrote the state of the deployment: %s; upgrade this provider", l.Newer).hideState()
	}
	switch {
	case f.Unreadable != "":
		return refuse(v1alpha1.ReasonStateUntrusted, "the state of the claim in the repository cannot be used: %s", f.Unreadable).hideState()
	case f.Owner != "" && !f.IsSameCluster(f.Owner):
		return refuseOtherCluster(f, "this repository", f.Owner)
	}
	if l.File != nil {
		if refused := checkWriter(f, l.File.Claim, l.File.ClusterUID); refused != nil {
			return refused
		}
	}
	if l.Record != nil {
		return checkWriter(f, l.Record.Claim, l.Record.ClusterUID)
	}
	if f.Rebuilt {
		return checkWriter(f, f.Memory.Claim, f.Memory.ClusterUID)
	}
	return nil
}

// checkWriter refuses a file that is about another kind of claim, or that another cluster wrote.
func checkWriter(f Facts, claim rolloutv1alpha1.ClaimReference, clusterUID string) *Decision {
	switch {
	case claim.Kind != f.Spec.ClaimRef.Kind:
		return refuse(v1alpha1.ReasonNotOwner, "the repository holds the state of %s %q", claim.Kind, claim.Name).hideState()
	case !f.IsSameCluster(clusterUID):
		return refuseOtherCluster(f, "this claim", clusterUID)
	}
	return nil
}

func refuseOtherCluster(f Facts, subject, uid string) *Decision {
	return refuse(v1alpha1.ReasonOwnedElsewhere,
		"control plane %q wrote %s from the cluster with uid %q: if that cluster is gone, set spec.takeOverFrom of the configuration to that uid",
		f.Marker.ControlPlane, subject, uid).hideState()
}

// checkTrees refuses trees that the claim may not deliver, and trees whose files do not match their ID.
func checkTrees(f Facts) *Decision {
	sites := map[string]bool{}
	for i, t := range f.Spec.Trees {
		field := fmt.Sprintf("spec.forProvider.trees[%d]", i)
		sites[t.Site] = true
		if refused := checkTree(f, t, field); refused != nil {
			return refused
		}
	}
	if err := policy.CheckCount(f.ConfigKind, f.Config, len(sites)); err != nil {
		return refuse(v1alpha1.ReasonPolicyDenied, "%s", err)
	}
	return nil
}

func checkTree(f Facts, t v1alpha1.Tree, field string) *Decision {
	if len(t.Parts) > 0 && t.Action != v1alpha1.ActionDesired {
		return refuse(v1alpha1.ReasonInvalid, "%s.parts: go with action %s only", field, v1alpha1.ActionDesired)
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

func checkDesired(f Facts, t v1alpha1.Tree, field string) *Decision {
	files, err := f.filesOf(t)
	if err != nil {
		return refuse(v1alpha1.ReasonInvalid, "%s.files: %s", field, err)
	}
	if refused := checkParts(f, t, field, files); refused != nil {
		return refused
	}
	whole := f.withParts(t, files)
	if err := whole.Validate(); err != nil {
		return refuse(v1alpha1.ReasonInvalid, "%s.parts: with the files: %s", field, err)
	}
	return checkWhole(f, t, field, whole)
}

// checkWhole checks a directory against the current limits, for delivered and restored files alike.
func checkWhole(f Facts, t v1alpha1.Tree, field string, whole tree.Files) *Decision {
	if refused := checkTracks(t, field, whole); refused != nil {
		return refused
	}
	return checkLimits(f, t, field, whole)
}

// checkRestore checks a restored tree like a delivered tree: a limit that was set since its delivery applies as well.
func checkRestore(f Facts, t v1alpha1.Tree, field string) *Decision {
	switch {
	case len(t.Files) > 0:
		return refuse(v1alpha1.ReasonInvalid, "%s.files: must be absent with action Restore", field)
	case t.Tree == "":
		return refuse(v1alpha1.ReasonInvalid, "%s.tree: is required with action Restore", field)
	}
	files, ok := f.Restored[t.Tree]
	if !ok {
		return refuse(v1alpha1.ReasonTreeGone,
			"%s.tree: %s is not in the repository any more: neither the state nor the branch has it; %s", field, t.Tree, changeIntent)
	}
	return checkWhole(f, t, field, files)
}

func checkLimits(f Facts, t v1alpha1.Tree, field string, files tree.Files) *Decision {
	site := f.Sites[t.Site]
	if site == nil || policy.CheckSite(site, f.Namespace) != nil {
		return refuseSite(f, t, field)
	}
	err := policy.CheckTree(policy.Input{
		Claim: f.Spec.ClaimRef, Site: site, ConfigKind: f.ConfigKind, Config: f.Config,
		Branch: t.Branch, Path: t.Path, Layout: t.Layout, Files: files, DeliveredVariables: f.Variables[t.Path],
		AllowsDuplicates: true, // The function refuses duplicates when it renders: a running tree can be restored.
	})
	if err != nil {
		return refuse(v1alpha1.ReasonPolicyDenied, "%s: %s", field, err)
	}
	return nil
}

// refuseSite refuses a tree for a Site that is missing, or that may not be used. Both get the same message: a tenant does not learn which Sites exist.
func refuseSite(f Facts, t v1alpha1.Tree, field string) *Decision {
	return refuse(v1alpha1.ReasonSiteMissing, "%s: Site %q does not exist or may not be used from namespace %q", field, t.Site, f.Namespace)
}

// checkOwners refuses to write to a directory that is not ours.
func checkOwners(f Facts) *Decision {
	for _, t := range f.Spec.Trees {
		if t.Action == v1alpha1.ActionKeep || f.isOwnDirectory(t.Path) {
			continue
		}
		if refused := checkOwner(f, t); refused != nil {
			return refused
		}
	}
	return nil
}

func checkOwner(f Facts, t v1alpha1.Tree) *Decision {
	d := f.Directories[t.Path]
	switch {
	case d.Blocked:
		return refuse(v1alpha1.ReasonNotOwner, "directory %q: a file, a link or a submodule is there", t.Path)
	case d.Entangled != "":
		return refuse(v1alpha1.ReasonNotOwner, "directory %q: a claim's directory %q is around it or in it: no Site's path may lead into another's claims",
			t.Path, d.Entangled)
	case d.Marker != nil && d.Marker.SameClaim(f.Marker):
		return refuse(v1alpha1.ReasonOwnedElsewhere,
			"directory %q: control plane %q wrote it from the cluster with uid %q: if that cluster is gone, set spec.takeOverFrom of the configuration to that uid",
			t.Path, d.Marker.ControlPlane, d.Marker.ClusterUID)
	case d.Orphaned:
		return nil
	case d.Marker != nil:
		refused := refuse(v1alpha1.ReasonNotOwner, "directory %q: it belongs to %s of control plane %q", t.Path, describeOwner(*d.Marker), d.Marker.ControlPlane)
		refused.Owner = d.Marker
		return refused
	case d.Tree == t.Tree, f.lostItsMarker(t.Path), isTrue(f.Spec.Adopt):
		return nil // Files of other users are not lost, or adopt says that they may be.
	}
	return refuse(v1alpha1.ReasonNotOwner,
		"directory %q: it holds files that were not delivered: move them, or set spec.deliveryConfig.adopt of the deployment to true to replace them", t.Path)
}

func describeOwner(m marker.Marker) string {
	return fmt.Sprintf("%s %s/%s", m.Claim.Kind, m.Claim.Namespace, m.Claim.Name)
}

// IsClaimDirectory is true for a directory named by the claim's namespace and name.
func (f Facts) IsClaimDirectory(dir string) bool {
	c := f.Spec.ClaimRef
	return path.Base(dir) == c.Name && path.Base(path.Dir(dir)) == c.Namespace
}

// checkOverlaps refuses to write an object that another claim delivers to the same Site: an engine that builds all of the Site would stop for every claim
// of the Site. The earlier claim keeps the object. A tenant learns the names of its own namespace only.
func checkOverlaps(f Facts) *Decision {
	c := f.Spec.ClaimRef
	for _, t := range f.Spec.Trees {
		o, ok := f.Overlaps[t.Path]
		if !ok {
			continue
		}
		return refuse(v1alpha1.ReasonObjectConflict, "claim %s/%s may not deliver %s to Site %q: %s",
			c.Namespace, c.Name, o.Object, t.Site, o.DescribeFor(c.Namespace))
	}
	return nil
}
