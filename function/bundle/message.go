package bundle

import (
	"fmt"
	"strings"

	statev1alpha1 "github.com/intentplane/intentplane/apis/state/v1alpha1"
	"github.com/intentplane/intentplane/function/projection"
)

// describePackage returns the status of a package, with its message. For a waiting package that failed before, the failure
// is left out: it does not wait for that.
func describePackage(p *statev1alpha1.PackageObservation) string {
	if p.IsWaiting() && p.Status == statev1alpha1.StatusFailed {
		return projection.Sentence(fmt.Sprintf("Package %s: %s", p.Name, p.Message))
	}
	text := fmt.Sprintf("Package %s is %s", p.Name, strings.ReplaceAll(p.Status, "_", " "))
	if p.Message == "" {
		return projection.Sentence(text)
	}
	return projection.Sentence(text + ": " + p.Message)
}

// pendingMessage names the package that the Bundle waits for.
func (f *Facts) pendingMessage() string {
	suspension := ""
	if f.IsSuspended {
		suspension = "spec.suspend holds back all changes."
	}
	return projection.Sentences(suspension, describePackage(f.pendingPackage()))
}

// succeededMessage counts the running packages, and packages that left the Bundle.
func (f *Facts) succeededMessage() string {
	ready := f.countReadyPackages()
	text := fmt.Sprintf("%d packages run version %s.", ready, f.Version)
	if ready == 1 {
		text = fmt.Sprintf("1 package runs version %s.", f.Version)
	}
	if n := f.Observed.Unreferenced; n > 0 {
		text += fmt.Sprintf(" %d that left the Bundle are still there.", n)
	}
	return text
}
