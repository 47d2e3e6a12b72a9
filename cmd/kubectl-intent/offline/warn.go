package offline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/instruction"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/function/support"
)

// Reasons of warnings.
const (
	// reasonEmpty is the reason for a file without objects, and for a directory without files.
	reasonEmpty = "Empty"

	// reasonOtherGroup is the reason for an object with a kind of ours in an API group of others.
	reasonOtherGroup = "OtherGroup"

	// reasonMovingTag is the reason for an image without a digest.
	reasonMovingTag = "MovingTag"

	// reasonUndeclared is the reason for a Blueprint that does not declare an object which a GitOps engine leaves alone.
	reasonUndeclared = "Undeclared"

	// reasonNoEffect is the reason for a field that is set and does nothing.
	reasonNoEffect = "NoEffect"
)

// maxTypos is how many letters may be wrong in a name for which another one is suggested.
const maxTypos = 2

// PassedOver are objects of one kind that were not looked at.
type PassedOver struct {
	// APIVersion and Kind of the objects. Both are empty for objects without them.
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`

	// Count is how many there are.
	Count int `json:"count"`
}

// String says how many there are, and of which kind.
func (p PassedOver) String() string {
	if p.Kind == "" && p.APIVersion == "" {
		return fmt.Sprintf("%d without a kind", p.Count)
	}
	return fmt.Sprintf("%d %s of %s", p.Count, terminal.QuoteInvisible(p.Kind), terminal.QuoteInvisible(p.APIVersion))
}

func comparePassedOver(a, b PassedOver) int {
	return strings.Compare(a.Kind+" "+a.APIVersion, b.Kind+" "+b.APIVersion)
}

// skippedSummary returns the text of the last line about the objects that were not checked.
func (r ValidationReport) skippedSummary() string {
	if len(r.PassedOver) == 0 {
		return ""
	}
	out := make([]string, 0, len(r.PassedOver))
	for _, p := range r.PassedOver {
		out = append(out, p.String())
	}
	return "; passed over: " + strings.Join(out, ", ")
}

func (v *validation) addWarning(f Finding) { v.report.Warnings = append(v.report.Warnings, f) }

// countForeignObject counts an object of another kind than ours, and warns of an object that was probably meant to be ours.
func (v *validation) countForeignObject(finding Finding, d manifest.Document, o unstructured.Unstructured) {
	if len(o.Object) == 0 {
		return
	}
	v.countPassedOver(o.GetAPIVersion(), o.GetKind())
	groups := v.meantGroups(o.GroupVersionKind())
	if len(groups) == 0 {
		return
	}
	finding.Field, finding.Line, finding.Reason = "apiVersion", d.LineOfField("apiVersion"), reasonOtherGroup
	finding.Message = fmt.Sprintf("apiVersion: %q is not an API version of Intentplane, so the object was not looked at: did you mean %s?",
		o.GetAPIVersion(), strings.Join(groups, " or "))
	v.addWarning(finding)
}

func (v *validation) countPassedOver(apiVersion, kind string) {
	skipped := PassedOver{APIVersion: apiVersion, Kind: kind}
	i, found := slices.BinarySearchFunc(v.report.PassedOver, skipped, comparePassedOver)
	if !found {
		v.report.PassedOver = slices.Insert(v.report.PassedOver, i, skipped)
	}
	v.report.PassedOver[i].Count++
}

// meantGroups returns the API versions that have a kind, if an object of that kind in another group was probably meant to be of one of them:
// its group is nearly one of ours, is missing, or only we have the kind.
func (v *validation) meantGroups(gvk schema.GroupVersionKind) []string {
	out, near := []string{}, gvk.Group == "" || isOnlyOurKind(gvk.Kind)
	for _, gk := range v.server.Kinds() {
		if gk.Kind != gvk.Kind {
			continue
		}
		near = near || resemblesGroup(gvk.Group, gk.Group)
		for _, version := range v.server.Versions(gk) {
			out = append(out, gk.Group+"/"+version)
		}
	}
	if !near {
		return nil
	}
	return out
}

// isOnlyOurKind reports whether no other project is known to have a kind of that name. Sites, Gates, Blueprints and ProviderConfigs have others, too.
func isOnlyOurKind(kind string) bool {
	return slices.Contains([]string{"IntentDeployment", "GitDelivery", "SiteHealth", "SiteSync", "RolloutRequest", "WorkloadCluster"}, kind)
}

func resemblesGroup(group, our string) bool {
	return strings.Contains(group, "intentplane") || levenshtein.ComputeDistance(group, our) <= maxTypos
}

// suggestKind returns a question for a kind that our groups do not have, or nothing if no kind has a similar name.
func (v *validation) suggestKind(gvk schema.GroupVersionKind) string {
	for _, gk := range v.server.Kinds() {
		if levenshtein.ComputeDistance(strings.ToLower(gvk.Kind), strings.ToLower(gk.Kind)) <= maxTypos {
			return fmt.Sprintf(": did you mean %s of %s?", gk.Kind, gk.Group)
		}
	}
	return ""
}

// warnOfInstructions warns of a Blueprint without examples that has an undeclared object with an instruction to a GitOps engine: its deployments are refused. Examples
// show that when they are rendered.
func (v *validation) warnOfInstructions(finding Finding, d manifest.Document, b *catalogv1alpha1.Blueprint) {
	for _, name := range slices.Sorted(maps.Keys(b.Spec.Files)) {
		for _, err := range instruction.CheckFile(name, []byte(b.Spec.Files[name]), b.Spec.Unproven) {
			finding.Field, finding.Line, finding.Reason = "spec.files", d.LineOfField("spec.files"), reasonUndeclared
			finding.Message = "spec.files: " + name + ": " + err.Error()
			v.addWarning(finding)
		}
	}
}

// warnOfIgnoredFields warns of fields that are set and do nothing: the status, gates that are switched off, and fields that this version does not
// carry out.
func (v *validation) warnOfIgnoredFields(finding Finding, d manifest.Document, o unstructured.Unstructured) {
	finding.Reason = reasonNoEffect
	for _, i := range ignoredFields(o) {
		finding.Field, finding.Line, finding.Message = i.field, d.LineOfField(i.field), i.field+": "+i.why
		v.addWarning(finding)
	}
}

// An ignoredField is set and does nothing.
type ignoredField struct{ field, why string }

func ignoredFields(o unstructured.Unstructured) []ignoredField {
	out := []ignoredField{}
	if _, set := o.Object["status"]; set {
		out = append(out, ignoredField{"status", "is written by the control plane, and not taken from a file"})
	}
	switch o.GetKind() {
	case "IntentDeployment":
		return append(out, ignoredSettings(o)...)
	case "ProviderConfig", "ClusterProviderConfig":
		return append(out, unsupportedFields(o)...)
	}
	return out
}

// ignoredSettings of an IntentDeployment belong to a feature that is switched off.
func ignoredSettings(o unstructured.Unstructured) []ignoredField {
	out := []ignoredField{}
	for _, block := range []struct {
		name, by string
		of       []string
	}{
		{name: "gatesConfig", by: "enabled", of: []string{"sloThresholds", "checks", "postCheck"}},
		{name: "rollbackConfig", by: "autoRollback", of: []string{"maxPerHour"}},
	} {
		isOn, set, err := unstructured.NestedBool(o.Object, "spec", block.name, block.by)
		if isOn || !set || err != nil {
			continue
		}
		for _, field := range block.of {
			if _, set, err := unstructured.NestedFieldNoCopy(o.Object, "spec", block.name, field); set && err == nil {
				out = append(out, ignoredField{"spec." + block.name + "." + field, "does nothing while spec." + block.name + "." + block.by + " is false"})
			}
		}
	}
	return out
}

// unsupportedFields of a configuration are the fields that condition Supported of a deployment names.
func unsupportedFields(o unstructured.Unstructured) []ignoredField {
	spec, _, err := unstructured.NestedMap(o.Object, "spec")
	if err != nil {
		return nil
	}
	out := []ignoredField{}
	for _, field := range support.Config(spec) {
		out = append(out, ignoredField{"spec." + field, "does nothing in this version"})
	}
	return out
}
