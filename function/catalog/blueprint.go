package catalog

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// blueprint returns the Blueprint to compile with and, where the query pins one, the name of the one in the channel.
func blueprint(d *desk, q Query) (*catalogv1alpha1.Blueprint, string, error) {
	if q.Pinned != "" {
		return pinned(d, q)
	}
	which, need := inChannel(q), blueprintByChannel(q.BlueprintName(), q.Blueprint.Channel)
	if q.Blueprint.Version != "" {
		which = q.BlueprintName() + "-" + q.Blueprint.Version
		need = blueprintByName(which)
	}
	found, err := ask[catalogv1alpha1.Blueprint](d, need)
	if err != nil || d.open {
		return nil, "", err
	}
	if len(found) == 0 {
		return nil, "", blueprintMissing(d, q, which)
	}
	b, err := one(q, found, which)
	return b, "", err
}

// blueprintMissing returns an error that says which Blueprints there are instead.
func blueprintMissing(d *desk, q Query, which string) error {
	hint, err := suggestBlueprints(d, q)
	if err != nil {
		return err
	}
	return missing(deploymentv1alpha1.ReasonBlueprintMissing, "Blueprint %s does not exist%s", which, hint)
}

// pinned asks for the channel too: that is how it is known that there is another Blueprint in it.
func pinned(d *desk, q Query) (*catalogv1alpha1.Blueprint, string, error) {
	found, err := ask[catalogv1alpha1.Blueprint](d, blueprintByName(q.Pinned))
	if err != nil {
		return nil, "", err
	}
	// Only who they are is decoded.
	others, err := ask[metav1.PartialObjectMetadata](d, blueprintByChannel(q.BlueprintName(), q.Blueprint.Channel))
	if err != nil || d.open {
		return nil, "", err
	}
	if len(found) == 0 && len(others) > 1 {
		return nil, "", ambiguous(inChannel(q), &others[0], &others[1])
	}
	name := updateInChannel(q, others)
	if len(found) == 0 {
		return nil, "", &MissingError{
			Reason: deploymentv1alpha1.ReasonBlueprintMissing, InChannel: name,
			message: fmt.Sprintf("Blueprint %s, which the deployment stays with until somebody approves another one, does not exist", q.Pinned),
		}
	}
	b, err := one(q, found, q.Pinned)
	return b, name, err
}

// updateInChannel is the name of the Blueprint that is in the channel. Of several none is an update that a person could approve, and the
// deployment stays with the one that it has.
func updateInChannel(q Query, others []metav1.PartialObjectMetadata) string {
	switch len(others) {
	case 0:
		return ""
	case 1:
		return others[0].GetName()
	}
	return q.Pinned
}

func inChannel(q Query) string {
	return fmt.Sprintf("%s in channel %q", q.BlueprintName(), q.Blueprint.Channel)
}

func one(q Query, found []catalogv1alpha1.Blueprint, which string) (*catalogv1alpha1.Blueprint, error) {
	switch {
	case len(found) > 1:
		return nil, ambiguous(which, &found[0], &found[1])
	case !slices.Contains(found[0].Spec.ServiceTypes, q.ServiceType):
		return nil, invalid("%s: Blueprint %s does not serve type %q", q.IntentField, found[0].GetName(), q.ServiceType)
	}
	return &found[0], nil
}

func ambiguous(which string, a, b metav1.Object) error {
	names := sorted([]string{a.GetName(), b.GetName()})
	return missing(deploymentv1alpha1.ReasonBlueprintAmbiguous, "Blueprint %s is ambiguous: %s and %s carry the same labels", which, names[0], names[1])
}
