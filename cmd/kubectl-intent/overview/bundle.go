package overview

import (
	"fmt"
	"strings"

	bundlev1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
	statev1alpha1 "github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
)

// partPackage is the kind of a part that is a package of a Bundle.
const partPackage = "package"

// stateUnknown stands for the state of a package while the status compares it with an earlier spec. Its version and its commit are deployed all the same.
const stateUnknown = "unknown"

// ForBundle returns the overview of a Bundle: its own status, and its packages by layer.
func ForBundle(f *cause.BundleFacts, found cause.Finding) Overview {
	b := &f.Bundle
	out := Overview{
		Namespace: b.Metadata.Namespace, Name: b.Metadata.Name, Kind: b.Kind, Group: groupOfAPIVersion(b.APIVersion),
		Phase: string(b.Status.Phase), Message: b.Status.Message, Finding: found, Version: b.Spec.Version, Packages: b.Status.Ready,
	}
	if n := len(b.Status.Transitions); n > 0 {
		out.Since = &b.Status.Transitions[n-1].At
	}
	out.leaveEarlierSpec(f.IsAnswered())
	for i := range b.Status.Packages {
		p := partOfPackage(&b.Status.Packages[i])
		if !f.IsAnswered() {
			p.State, p.Detail = stateUnknown, ""
		}
		out.Parts = append(out.Parts, p)
	}
	return out
}

// partOfPackage shows one package: its state and, if it is not ready, the reason.
func partOfPackage(p *bundlev1alpha1.PackageStatus) Part {
	out := Part{
		Kind: partPackage, Name: p.Name, State: p.Status, Note: p.Version, Commit: shortenCommit(p.Commit),
		Detail: strings.TrimSuffix(p.Reason+": "+p.Message, ": "), IsGood: p.Ready && p.Status == statev1alpha1.StatusSuccess && p.Reason == "",
	}
	switch {
	case p.Layer > 0:
		out.Detail = strings.TrimSuffix(fmt.Sprintf("layer %d: %s", p.Layer, out.Detail), ": ")
	case p.Reason == statev1alpha1.PackageReasonUnreferenced:
		out.IsGood = true
	}
	return out
}

// RowForBundle returns the row of a Bundle in a list.
func RowForBundle(f *cause.BundleFacts, found cause.Finding) Row {
	o := ForBundle(f, found)
	o.Parts = nil
	return Row{Overview: o}
}
