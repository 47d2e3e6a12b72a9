package workloadcluster

import (
	"encoding/json"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	clusterv1alpha1 "github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
)

// another looks whose the ManagedCluster of that name is, before there is one of ours. A claim and a namespaced composite of one name want the
// same one: the first keeps it, and the second is told. Crossplane would refuse to compose it, and tell only of an error.
func another(in Input, f *facts, out *Output) error {
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
			continue // Crossplane takes over what nobody controls.
		}
		if mc.GetDeletionTimestamp() != nil {
			f.Wait = "ManagedCluster " + in.Name + " of another WorkloadCluster has to be gone first: it is being deleted."
			continue
		}
		f.Problem, f.Because = "ManagedCluster "+in.Name+" belongs to another WorkloadCluster: a claim and a namespaced composite cannot have one name in one namespace.", string(clusterv1alpha1.ReasonNameTaken)
	}
	return nil
}
