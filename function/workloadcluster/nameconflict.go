package workloadcluster

import (
	"encoding/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
)

// findNameConflict checks whether the ManagedCluster of that name belongs to another composite, before ours exists. A claim and a namespaced
// composite of one name want the same ManagedCluster: the first keeps it, and the second gets reason NameTaken. Without this Crossplane would
// refuse to compose it, and its error would not say why.
func findNameConflict(in Input, f *facts, out *Output) error {
	if f.Observed != nil {
		return nil
	}
	need := catalog.Need{
		Name: "managedcluster/" + in.Namespace + "/" + in.Name, APIVersion: clusterv1alpha1.GroupVersion.String(), Kind: "ManagedCluster",
		MatchName: in.Name, Namespace: in.Namespace,
	}
	out.Needs = append(out.Needs, need)
	for _, raw := range in.Answers[need.Name] {
		mc := &clusterv1alpha1.ManagedCluster{}
		if err := json.Unmarshal(raw, mc); err != nil {
			return errors.Wrapf(err, "cannot read required resource %q", need.Name)
		}
		owner := metav1.GetControllerOf(mc)
		if owner == nil || owner.UID == types.UID(in.UID) {
			continue // Crossplane takes over an object without a controller.
		}
		if mc.GetDeletionTimestamp() != nil {
			f.BlockedBy = "ManagedCluster " + in.Name + " of another WorkloadCluster is still being deleted: ours is created once it is gone."
			continue
		}
		f.Problem, f.ProblemReason = "ManagedCluster "+in.Name+" belongs to another WorkloadCluster: a claim and a namespaced composite cannot have one name in one namespace.", string(clusterv1alpha1.ReasonNameTaken)
	}
	return nil
}
