package application

import (
	"cmp"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	"github.com/intentplane/intentplane/function/projection"
)

// maxMessage bounds status.message, as the schema does, in characters.
const maxMessage = 2048

// maxBuildMessage bounds the message about a build.
const maxBuildMessage = 1024

// A Projection is the status and the conditions computed from Facts.
type Projection struct {
	// Status of the Application.
	Status *v1alpha1.ApplicationStatus

	// Conditions of the Application.
	Conditions []projection.Condition

	// Ready reports whether the Application is in its desired state now.
	Ready bool
}

// Project computes status and conditions from facts. It continues the log of transitions of the last status, and reads nothing else of it.
func Project(f *Facts, last *v1alpha1.ApplicationStatus, now metav1.Time) Projection {
	return Projection{Status: projectStatus(f, last, now), Conditions: projectConditions(f), Ready: isApplicationReady(f)}
}

func projectStatus(f *Facts, last *v1alpha1.ApplicationStatus, now metav1.Time) *v1alpha1.ApplicationStatus {
	row := f.firstMatchingRow()
	d := f.Deployment
	s := &v1alpha1.ApplicationStatus{
		Phase: row.Phase, Message: projection.Fit(row.message(f), maxMessage), SpecDigest: f.Digest,
		Source: f.Source, Build: f.Build.projectBuildStatus(), BuiltImage: f.InForce, Commit: f.Commit, ShortCommit: shortCommit(f.Commit), Image: f.Image, ShortImage: shortImageName(f.Image), URL: f.URL,
		Deployment: v1alpha1.DeploymentStatus{Name: d.Name, Revision: d.Revision, VerifiedRevision: d.Verified},
	}
	if f.isDeploymentCurrent() {
		s.Deployment.Outcome = string(d.Outcome)
	}
	projectSites(s, f)
	restart := isAnotherRequest(last, s) || f.Problem != "" && last.Phase != "" && last.Phase != v1alpha1.PhaseFailed
	through := phaseTable().Shortest(last.Phase, s.Phase, restart)
	s.Transitions = projection.Log(last.Transitions, func(t v1alpha1.Transition) int64 { return t.Index }, last.Phase, through, func(i int64, source, target v1alpha1.Phase) v1alpha1.Transition {
		return v1alpha1.Transition{Index: i, From: source, To: target, At: now}
	})
	return s
}

// isAnotherRequest reports whether a status is about another spec, commit or image than the last status, so that its phases start again.
func isAnotherRequest(last, next *v1alpha1.ApplicationStatus) bool {
	return last.Phase != "" && (last.SpecDigest != next.SpecDigest || last.Image != next.Image || last.Source.Commit != next.Source.Commit)
}

// projectSites copies the observed state of the Sites, and counts the serving Sites.
func projectSites(s *v1alpha1.ApplicationStatus, f *Facts) {
	serving, all := f.countServing()
	if all == 0 {
		return
	}
	s.Available, s.Sites = fmt.Sprintf("%d/%d", serving, all), map[string]v1alpha1.SiteStatus{}
	for _, site := range f.observedSites() {
		s.AvailableReplicas += site.Available
		s.Sites[site.Name] = v1alpha1.SiteStatus{
			State: string(site.State), Available: site.Available, Updated: site.Updated, Desired: site.Desired, Reason: site.Reason, Message: site.Message,
		}
	}
}

// projectBuildStatus returns the status of the build.
func (b *Build) projectBuildStatus() v1alpha1.BuildStatus {
	out := v1alpha1.BuildStatus{
		State: string(cmp.Or(b.State, BuildUnknown)), Name: b.Name, Commit: b.Commit, Image: b.WantedImage(), Step: b.Step, Logs: b.Logs, Waiting: b.Waiting,
	}
	if b.State == BuildWaiting || b.State == BuildRunning || b.State == BuildFailed {
		out.Reason, out.Message = b.statusReason(), projection.Fit(b.Message, maxBuildMessage)
	}
	return out
}

// statusReason returns the reason in the status: the reason of the failure once no retry is left, and Retrying while the provider retries it.
func (b *Build) statusReason() string {
	if b.State == BuildFailed {
		return cmp.Or(b.FailedFor, b.Reason)
	}
	return b.Reason
}
