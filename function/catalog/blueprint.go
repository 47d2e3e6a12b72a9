package catalog

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// selectBlueprint returns the Blueprint to compile with and, where the query pins one, the name of the Blueprint that is in the channel.
func selectBlueprint(d *requirements, q Query) (*catalogv1alpha1.Blueprint, string, error) {
	if q.Pinned != "" {
		return selectPinnedBlueprint(d, q)
	}
	description, need := describeChannel(q), blueprintByChannel(q.BlueprintName(), q.Blueprint.Channel)
	if q.Blueprint.Version != "" {
		description = q.BlueprintName() + "-" + q.Blueprint.Version
		need = blueprintByName(description)
	}
	found, err := requireObjects[catalogv1alpha1.Blueprint](d, need)
	if err != nil || d.unanswered {
		return nil, "", err
	}
	if len(found) == 0 {
		return nil, "", blueprintMissing(d, q, description)
	}
	b, err := onlyBlueprint(q, found, description)
	return b, "", err
}

// blueprintMissing returns an error that lists the existing Blueprints.
func blueprintMissing(d *requirements, q Query, description string) error {
	hint, err := suggestBlueprints(d, q)
	if err != nil {
		return err
	}
	return missingErrorf(deploymentv1alpha1.ReasonBlueprintMissing, "Blueprint %s does not exist%s", description, hint)
}

// selectPinnedBlueprint returns the pinned Blueprint, and the name of the Blueprint in the channel, which it requires too to find an update.
func selectPinnedBlueprint(d *requirements, q Query) (*catalogv1alpha1.Blueprint, string, error) {
	found, err := requireObjects[catalogv1alpha1.Blueprint](d, blueprintByName(q.Pinned))
	if err != nil {
		return nil, "", err
	}
	// Only the metadata is decoded.
	versions, err := requireObjects[metav1.PartialObjectMetadata](d, blueprintByChannel(q.BlueprintName(), q.Blueprint.Channel))
	if err != nil || d.unanswered {
		return nil, "", err
	}
	if len(found) == 0 && len(versions) > 1 {
		return nil, "", ambiguousError(describeChannel(q), &versions[0], &versions[1])
	}
	name := updateInChannel(q, versions)
	if len(found) == 0 {
		return nil, "", &MissingError{
			Reason: deploymentv1alpha1.ReasonBlueprintMissing, InChannel: name,
			message: fmt.Sprintf("Blueprint %s, which the deployment keeps until a user approves an update, does not exist", q.Pinned),
		}
	}
	b, err := onlyBlueprint(q, found, q.Pinned)
	return b, name, err
}

// updateInChannel returns the name of the Blueprint that is in the channel. If there are several, none is an update that a user could approve, and
// it returns the pinned one.
func updateInChannel(q Query, versions []metav1.PartialObjectMetadata) string {
	switch len(versions) {
	case 0:
		return ""
	case 1:
		return versions[0].GetName()
	}
	return q.Pinned
}

func describeChannel(q Query) string {
	return fmt.Sprintf("%s in channel %q", q.BlueprintName(), q.Blueprint.Channel)
}

func onlyBlueprint(q Query, found []catalogv1alpha1.Blueprint, description string) (*catalogv1alpha1.Blueprint, error) {
	switch {
	case len(found) > 1:
		return nil, ambiguousError(description, &found[0], &found[1])
	case !slices.Contains(found[0].Spec.ServiceTypes, q.ServiceType):
		return nil, invalidErrorf("%s: Blueprint %s does not serve type %q", q.IntentField, found[0].GetName(), q.ServiceType)
	}
	return &found[0], nil
}

func ambiguousError(description string, a, b metav1.Object) error {
	names := sortedCopy([]string{a.GetName(), b.GetName()})
	return missingErrorf(deploymentv1alpha1.ReasonBlueprintAmbiguous, "Blueprint %s is ambiguous: %s and %s carry the same labels", description, names[0], names[1])
}
