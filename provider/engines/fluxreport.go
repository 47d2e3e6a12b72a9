package engines

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/instruction"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/engines/coverage"
)

// fluxSourceProof returns Transformed where the Kustomization changes the applied objects, or the source leaves files out. Otherwise it returns
// Exact.
func fluxSourceProof(main, source *unstructured.Unstructured) v1alpha1.Proof {
	if hasSpecField(main, fluxTransformingFields()...) || source != nil && hasSpecField(source, "ignore", "sparseCheckout", "include") {
		return v1alpha1.ProofTransformed
	}
	return v1alpha1.ProofExact
}

// fluxTransformingFields of a Kustomization change the applied objects. The paths in ignore are not applied; before its release that field
// was driftIgnoreRules.
func fluxTransformingFields() []string {
	return []string{
		"postBuild", "patches", "patchesStrategicMerge", "patchesJson6902", "components", "targetNamespace", "images",
		"namePrefix", "nameSuffix", "commonMetadata", "decryption", "ignoreMissingComponents", "buildMetadata", "ignore", "driftIgnoreRules",
	}
}

// fluxRenamingFields are the transforming fields that may give objects other names, or leave them out.
func fluxRenamingFields() []string {
	return slices.DeleteFunc(fluxTransformingFields(), func(field string) bool {
		return slices.Contains([]string{"images", "commonMetadata", "decryption", "buildMetadata", "ignore", "driftIgnoreRules"}, field)
	})
}

// newFluxReport returns the inventory, where the controller lists the applied objects, without the skipped ones.
func newFluxReport(k fluxKustomization, main *unstructured.Unstructured) coverage.Report {
	name := fmt.Sprintf("Kustomization %s/%s", main.GetNamespace(), main.GetName())
	out := coverage.Report{Applied: fluxInventory(main), Common: fluxCommonInstructions(main)}
	if !k.Spec.Wait {
		out.IgnoresHealth = fluxUnchecked(main)
	}
	if k.Spec.Prune != nil && !*k.Spec.Prune {
		out.Keeps = "spec.prune of " + name + " is false"
	}
	switch field := firstSpecField(main, fluxRenamingFields()...); {
	case field != "":
		out.Uncompared = name + " has spec." + field
		out.IgnoresHealth = nil // Its health checks have the names that the objects get.
	case k.Status.Inventory == nil:
		out.Uncompared = name + " has no status.inventory"
	}
	return out
}

// fluxCommonInstructions returns the instructions in spec.commonMetadata, which the controller adds to each object.
func fluxCommonInstructions(main *unstructured.Unstructured) []instruction.Instruction {
	labels, _, _ := unstructured.NestedStringMap(main.Object, "spec", "commonMetadata", "labels")
	annotations, _, _ := unstructured.NestedStringMap(main.Object, "spec", "commonMetadata", "annotations")
	return coverage.AddedInstructions(catalogv1alpha1.EngineFlux, labels, annotations, "spec.commonMetadata of the Kustomization")
}

// fluxInventory yields the objects of the inventory.
func fluxInventory(main *unstructured.Unstructured) iter.Seq[policy.Object] {
	return func(yield func(policy.Object) bool) {
		for entry := range listEntries(main, "status", "inventory", "entries") {
			if o, ok := parseFluxID(textOfEntry(entry, "id")); ok && !yield(o) {
				return
			}
		}
	}
}

// parseFluxID returns the object of an inventory entry: <namespace>_<name>_<group>_<kind>, with two underscores for a colon in the name.
func parseFluxID(id string) (policy.Object, bool) {
	namespace, rest, ok := strings.Cut(id, "_")
	kind := strings.LastIndex(rest, "_")
	if !ok || kind < 0 {
		return policy.Object{}, false
	}
	group := strings.LastIndex(rest[:kind], "_")
	if group < 0 {
		return policy.Object{}, false
	}
	name := strings.ReplaceAll(rest[:group], "__", ":")
	return policy.Object{Group: rest[group+1 : kind], Kind: rest[kind+1:], Namespace: namespace, Name: name}, true
}

// fluxUnchecked returns which objects are not among the health checks of a Kustomization. With spec.wait the controller checks all, and ignores the list.
func fluxUnchecked(main *unstructured.Unstructured) func(policy.Object) bool {
	checked := map[policy.Object]bool{}
	for c := range listEntries(main, "spec", "healthChecks") {
		gv, _ := schema.ParseGroupVersion(textOfEntry(c, "apiVersion")) // The controller refuses a malformed version.
		checked[policy.Object{Group: gv.Group, Kind: textOfEntry(c, "kind"), Namespace: textOfEntry(c, "namespace"), Name: textOfEntry(c, "name")}] = true
	}
	return func(o policy.Object) bool { return !checked[o] }
}
