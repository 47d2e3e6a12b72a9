package application

import (
	"encoding/json"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/catalog"
)

// findNameConflict checks whether an object of the Application's name exists that does not belong to it, before ours exists. An object without a
// controller counts, too: Crossplane would adopt it, and overwrite a user's spec with ours. Until Crossplane has answered, nothing is requested.
func findNameConflict(in Input, o observed, f *Facts, out *Output) error {
	if o.deployment == nil {
		group := deploymentv1alpha1.GroupNamespaced + "/" + deploymentv1alpha1.Version
		if err := checkNameConflict(in, f, out, group, deploymentv1alpha1.Kind); err != nil {
			return err
		}
	}
	if o.build == nil && in.Spec.IsBuilt() {
		if err := checkNameConflict(in, f, out, buildv1alpha1.GroupVersion.String(), "ImageBuild"); err != nil {
			return err
		}
	}
	if o.health == nil {
		return checkNameConflict(in, f, out, deliveryv1alpha1.GroupVersion.String(), "SiteHealth")
	}
	return nil
}

func checkNameConflict(in Input, f *Facts, out *Output, apiVersion, kind string) error {
	need := catalog.Need{Name: fmt.Sprintf("%s/%s/%s", kind, in.Namespace, in.Name), APIVersion: apiVersion, Kind: kind, MatchName: in.Name, Namespace: in.Namespace}
	out.Needs = append(out.Needs, need)
	found, answered := in.Answers[need.Name]
	if !answered && f.Missing == "" {
		f.Missing, f.MissingReason = "The name was not checked yet.", v1alpha1.ReasonNotObserved
	}
	for _, raw := range found {
		o := &metav1.PartialObjectMetadata{}
		if err := json.Unmarshal(raw, o); err != nil {
			return errors.Wrapf(err, "cannot read required resource %q", need.Name)
		}
		f.judgeNameOwner(in, kind, o)
	}
	return nil
}

// judgeNameOwner finds the problem with an object of the Application's name. An object that the Application controls does not count.
func (f *Facts) judgeNameOwner(in Input, kind string, o *metav1.PartialObjectMetadata) {
	owner := metav1.GetControllerOf(o)
	switch {
	case owner != nil && owner.UID == types.UID(in.UID), f.Problem != "":
	case o.GetDeletionTimestamp() != nil:
		f.Missing, f.MissingReason = fmt.Sprintf("%s %s, which does not belong to this Application, is still being deleted: ours is created once it is gone.", kind, in.Name), v1alpha1.ReasonAwaitingDeletion
	case owner != nil && (owner.Kind == v1alpha1.Kind || owner.Kind == v1alpha1.KindComposite):
		f.Problem, f.ProblemReason = fmt.Sprintf("%s %s belongs to another Application: a claim and a namespaced composite cannot have one name in one namespace.", kind, in.Name), v1alpha1.ReasonNameTaken
	default:
		f.Problem, f.ProblemReason = fmt.Sprintf("%s %s exists, and does not belong to this Application: choose another name, or delete it. Nothing was written.", kind, in.Name), v1alpha1.ReasonNameTaken
	}
}
