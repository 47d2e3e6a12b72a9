package bundle

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/intentplane/intentplane/apis/bundle/v1alpha1"
	"github.com/intentplane/intentplane/function/projection"
)

// maxMessage bounds status.message, as the schema does, in characters.
const maxMessage = 2048

// A Projection is the status and the conditions computed from Facts.
type Projection struct {
	// Status of the Bundle.
	Status *v1alpha1.BundleStatus

	// Conditions of the Bundle.
	Conditions []projection.Condition

	// Ready says whether the Bundle is in its desired state now.
	Ready bool
}

// Project computes status and conditions from facts. It continues the log of transitions of the last status, and reads nothing else of it.
func Project(f *Facts, last *v1alpha1.BundleStatus, now metav1.Time) Projection {
	return Projection{Status: projectStatus(f, last, now), Conditions: projectConditions(f), Ready: isBundleReady(f)}
}

func projectStatus(f *Facts, last *v1alpha1.BundleStatus, now metav1.Time) *v1alpha1.BundleStatus {
	row := f.firstMatchingRow()
	s := &v1alpha1.BundleStatus{
		Phase: row.Phase, Message: projection.Fit(row.message(f), maxMessage), SpecDigest: f.Digest, Version: f.Version, State: f.currentState(),
		Ready: fmt.Sprintf("%d/%d", f.countReadyPackages(), f.Enabled), Unreferenced: f.Observed.Unreferenced, Record: v1alpha1.RecordStatus{Secret: f.Observed.Record.Secret},
		Packages: projectPackages(f),
	}
	restart := last.Phase != "" && last.SpecDigest != s.SpecDigest || f.Problem != "" && last.Phase != "" && last.Phase != v1alpha1.PhaseFailed
	through := phaseTable().Shortest(last.Phase, s.Phase, restart)
	s.Transitions = projection.Log(last.Transitions, func(t v1alpha1.Transition) int64 { return t.Index }, last.Phase, through, func(i int64, source, target v1alpha1.Phase) v1alpha1.Transition {
		return v1alpha1.Transition{Index: i, From: source, To: target, At: now}
	})
	return s
}

// projectPackages copies the observed state of the packages, with their layers.
func projectPackages(f *Facts) []v1alpha1.PackageStatus {
	out := make([]v1alpha1.PackageStatus, 0, len(f.Observed.Packages))
	for _, p := range f.Observed.Packages {
		out = append(out, v1alpha1.PackageStatus{
			Name: p.Name, Version: p.Version, Status: p.Status, Ready: p.Ready, Layer: f.Layers[p.Name], Revision: p.Revision, Commit: p.Commit,
			UsedBy: p.UsedBy, Reason: p.Reason, Message: p.Message,
		})
	}
	return out
}
