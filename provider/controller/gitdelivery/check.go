package gitdelivery

import (
	"fmt"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/tree"
	"github.com/intentplane/intentplane/provider/marker"
)

// changeIntent is the action for a user if neither the state nor the branch has the files of a tree.
const changeIntent = "change the intent of the deployment, so that another revision is delivered"

// checkClaim refuses to act for a claim of another namespace: a user who may create a GitDelivery here may not create that claim.
func checkClaim(f facts) *decision {
	if c := f.spec.ClaimRef; c.Namespace != f.namespace {
		return refuse(v1alpha1.ReasonPolicyDenied, "spec.forProvider.claimRef.namespace: %q is not the namespace of the GitDelivery", c.Namespace).hideState()
	}
	return nil
}

// checkState refuses a state that must not be changed, or that another cluster wrote.
func checkState(f facts) *decision {
	l := f.ledger
	if l.newer != "" {
		return refuse(v1alpha1.ReasonStateNewer, "a newer version of the provider wrote the state of the deployment: %s; upgrade this provider", l.newer).hideState()
	}
	switch {
	case f.unreadable != "":
		return refuse(v1alpha1.ReasonStateUntrusted, "the state of the claim in the repository cannot be used: %s", f.unreadable).hideState()
	case f.owner != "" && !f.isSameCluster(f.owner):
		return refuseOtherCluster(f, "this repository", f.owner)
	}
	if l.file != nil {
		if refused := checkWriter(f, l.file.Claim, l.file.ClusterUID); refused != nil {
			return refused
		}
	}
	if l.record != nil {
		return checkWriter(f, l.record.Claim, l.record.ClusterUID)
	}
	if f.rebuilt {
		return checkWriter(f, f.memory.Claim, f.memory.ClusterUID)
	}
	return nil
}

// checkWriter refuses a file that is about another kind of claim, or that another cluster wrote.
func checkWriter(f facts, claim rolloutv1alpha1.ClaimReference, clusterUID string) *decision {
	switch {
	case claim.Kind != f.spec.ClaimRef.Kind:
		return refuse(v1alpha1.ReasonNotOwner, "the repository holds the state of %s %q", claim.Kind, claim.Name).hideState()
	case !f.isSameCluster(clusterUID):
		return refuseOtherCluster(f, "this claim", clusterUID)
	}
	return nil
}

func refuseOtherCluster(f facts, subject, uid string) *decision {
	return refuse(v1alpha1.ReasonOwnedElsewhere, "control plane %q wrote %s from the cluster with uid %q: if that cluster is gone, set spec.takeOverFrom of the configuration to that uid",
		f.marker.ControlPlane, subject, uid).hideState()
}

// checkTrees refuses trees that the claim may not deliver, and trees whose files do not match their ID.
func checkTrees(f facts) *decision {
	sites := map[string]bool{}
	for i, t := range f.spec.Trees {
		field := fmt.Sprintf("spec.forProvider.trees[%d]", i)
		sites[t.Site] = true
		if refused := checkTree(f, t, field); refused != nil {
			return refused
		}
	}
	if err := policy.CheckCount(f.configKind, f.config, len(sites)); err != nil {
		return refuse(v1alpha1.ReasonPolicyDenied, "%s", err)
	}
	return nil
}

func checkTree(f facts, t v1alpha1.Tree, field string) *decision {
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

func checkDesired(f facts, t v1alpha1.Tree, field string) *decision {
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
func checkWhole(f facts, t v1alpha1.Tree, field string, whole tree.Files) *decision {
	if refused := checkTracks(t, field, whole); refused != nil {
		return refused
	}
	return checkLimits(f, t, field, whole)
}

// checkRestore checks a restored tree like a delivered tree: a limit that was set since its delivery applies as well.
func checkRestore(f facts, t v1alpha1.Tree, field string) *decision {
	switch {
	case len(t.Files) > 0:
		return refuse(v1alpha1.ReasonInvalid, "%s.files: must be absent with action Restore", field)
	case t.Tree == "":
		return refuse(v1alpha1.ReasonInvalid, "%s.tree: is required with action Restore", field)
	}
	files, ok := f.restored[t.Tree]
	if !ok {
		return refuse(v1alpha1.ReasonTreeGone, "%s.tree: %s is not in the repository any more: neither the state nor the branch has it; %s", field, t.Tree, changeIntent)
	}
	return checkWhole(f, t, field, files)
}

func checkLimits(f facts, t v1alpha1.Tree, field string, files tree.Files) *decision {
	site := f.sites[t.Site]
	if site == nil || policy.CheckSite(site, f.namespace) != nil {
		return refuseSite(f, t, field)
	}
	err := policy.CheckTree(policy.Input{
		Claim: f.spec.ClaimRef, Site: site, ConfigKind: f.configKind, Config: f.config,
		Branch: t.Branch, Path: t.Path, Layout: t.Layout, Files: files, DeliveredVariables: f.variables[t.Path],
		AllowsDuplicates: true, // The function refuses duplicates when it renders: a running tree can be restored.
	})
	if err != nil {
		return refuse(v1alpha1.ReasonPolicyDenied, "%s: %s", field, err)
	}
	return nil
}

// refuseSite refuses a tree for a Site that is missing, or that may not be used. Both get the same message: a tenant does not learn which Sites exist.
func refuseSite(f facts, t v1alpha1.Tree, field string) *decision {
	return refuse(v1alpha1.ReasonSiteMissing, "%s: Site %q does not exist or may not be used from namespace %q", field, t.Site, f.namespace)
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
	return refuse(v1alpha1.ReasonNotOwner, "directory %q: it holds files that were not delivered: move them, or set spec.deliveryConfig.adopt of the deployment to true to replace them", t.Path)
}

func describeOwner(m marker.Marker) string {
	return fmt.Sprintf("%s %s/%s", m.Claim.Kind, m.Claim.Namespace, m.Claim.Name)
}
