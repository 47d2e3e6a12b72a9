package overview

import (
	"cmp"
	"fmt"
	"strings"

	applicationv1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
)

// ForApplication returns the overview of an Application: its own status, and the revisions and parts of its deployment.
func ForApplication(f *cause.ApplicationFacts, found cause.Finding) Overview {
	a := &f.Application
	out := Overview{
		Namespace: a.Metadata.Namespace, Name: a.Metadata.Name, Kind: a.Kind, Group: groupOfAPIVersion(a.APIVersion),
		Phase: string(a.Status.Phase), Outcome: outcomeOfApplication(a), Message: a.Status.Message, Finding: found,
		Image: a.Status.ShortImage, Available: a.Status.Available, URL: a.Status.URL,
	}
	if n := len(a.Status.Transitions); n > 0 {
		out.Since = &a.Status.Transitions[n-1].At
	}
	out.leaveEarlierSpec(f.IsAnswered())
	if f.Deployment == nil {
		return out
	}
	below := ForDeployment(f.Deployment, cause.Finding{})
	out.Revisions, out.Parts = below.Revisions, below.Parts
	if !f.IsAnswered() {
		return out // The pods were counted for an earlier spec.
	}
	for i := range out.Parts {
		if s, ok := a.Status.Sites[out.Parts[i].Name]; ok && out.Parts[i].Kind == partSite {
			out.Parts[i].addPodCounts(s, a.Status.Phase)
		}
	}
	return out
}

// outcomeOfApplication is RolledBack where the image was rolled back. Other outcomes add nothing to the phase.
func outcomeOfApplication(a *cause.Application) string {
	if a.Status.IsRolledBack() {
		return outcomeRolledBack
	}
	return ""
}

// addPodCounts adds to a Site of an Application how many pods of the image are available, if they were observed, and why it does not serve. Each Site of a running
// Application serves: a Site whose pods cannot be observed counts by its engine.
func (p *Part) addPodCounts(s applicationv1alpha1.SiteStatus, phase applicationv1alpha1.Phase) {
	if s.State != string(deliveryv1alpha1.HealthNotObserved) {
		p.Note = strings.TrimSpace(fmt.Sprintf("%s %d/%d", p.Note, s.Available, s.Desired))
	}
	isServing := s.State == string(deliveryv1alpha1.HealthAvailable) || s.State == string(deliveryv1alpha1.HealthScaledToZero)
	if phase == applicationv1alpha1.PhaseRunning || isServing || !p.IsGood {
		return
	}
	p.IsGood = false
	p.Detail = strings.TrimSuffix(cmp.Or(s.Reason, s.State)+": "+s.Message, ": ")
}

// RowForApplication returns the row of an Application in a list.
func RowForApplication(f *cause.ApplicationFacts, found cause.Finding) Row {
	o := ForApplication(f, found)
	o.Parts, o.Revisions = nil, nil
	out := Row{Overview: o, Revision: f.Application.Status.Deployment.Revision, Sites: o.Available}
	if f.Deployment != nil {
		below := RowForDeployment(f.Deployment, cause.Finding{})
		out.Live, out.Step = below.Live, below.Step
	}
	return out
}
