package application

import (
	"cmp"
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// BuildState is the state of the build of the requested commit.
type BuildState string

// States of a build.
const (
	// BuildNotRequired means that the spec names an image.
	BuildNotRequired BuildState = "NotRequired"

	// BuildWaiting means that the build cannot begin. Reason and message explain it.
	BuildWaiting BuildState = "Waiting"

	// BuildRunning means that the image is being built.
	BuildRunning BuildState = "Building"

	// BuildSucceeded means that the last build succeeded.
	BuildSucceeded BuildState = "Succeeded"

	// BuildFailed means that the last build failed, and that it is not tried again.
	BuildFailed BuildState = "Failed"

	// BuildUnknown means that the build was not observed.
	BuildUnknown BuildState = "Unknown"
)

// A Build is the evidence about the image of a source.
type Build struct {
	// State of the build of the wanted image. Empty is Unknown.
	State BuildState

	// Wanted identifies the requested image: the commit, and all other inputs of its build. Empty while the commit is unknown.
	Wanted string

	// Commit that is wanted, for people.
	Commit string

	// Built identifies the inputs of Image, as Wanted does. An image of other inputs proves nothing about the wanted image.
	Built string

	// Image that was built last.
	Image string

	// Reason and Message explain the state, on one line.
	Reason, Message string

	// SourceTrouble is the error of the last observation of the repository. Empty if it found the commit.
	SourceTrouble string

	// Name of the Build of kpack, the Step that it is at or that failed, and the command that shows its log.
	Name, Step, Logs string

	// FailedFor is the reason why the Build failed, and Cause why kpack made the image.
	FailedFor, Cause string

	// Waiting is a rebuilt image that is held back.
	Waiting v1alpha1.WaitingImage

	// seenAt is the time of the first observation of the commit.
	seenAt *metav1.Time
}

// isDisrupted reports whether the build failed for another cause than its source, as often as it may be tried.
func (b *Build) isDisrupted() bool { return b.Reason == string(buildv1alpha1.ReasonBuildDisrupted) }

// failureReason returns the reason of the conditions for a build that failed.
func (b *Build) failureReason() string {
	if b.isDisrupted() {
		return v1alpha1.ReasonBuildDisrupted
	}
	return v1alpha1.ReasonBuildFailed
}

// isRequired reports whether an image has to be built.
func (b *Build) isRequired() bool { return b.State != BuildNotRequired }

// WantedImage returns the image that was built from the wanted inputs, or "".
func (b *Build) WantedImage() string {
	if b.Wanted == "" || b.Wanted != b.Built {
		return ""
	}
	return b.Image
}

// A Deployment is the evidence about the IntentDeployment that delivers the image. All fields are from one status write.
type Deployment struct {
	// Name of the IntentDeployment.
	Name string

	// Asked is the digest of the spec that the IntentDeployment should have, and Reported is the digest of the spec that its status is about. A
	// status about another spec proves nothing.
	Asked, Reported string

	// Phase, Outcome, Message, Revision and Verified revision, as its status has them.
	Phase              deploymentv1alpha1.Phase
	Outcome            deploymentv1alpha1.Outcome
	Message            string
	Revision, Verified int64

	// IsHeldBack is set if the spec requests another revision, and is held back.
	IsHeldBack bool

	// Sites that it delivers to, sorted.
	Sites []string

	// HasOtherSites is true while the spec names a Site that the status does not, because that is about an earlier spec.
	HasOtherSites bool

	// Ready and Stalled are its conditions of these types, which are written apart from the status.
	Ready, Stalled bool
}

// ObserveDeployment returns the evidence in the status of an IntentDeployment, where specDigest is the digest of the spec that it should have.
func ObserveDeployment(name, specDigest string, s deploymentv1alpha1.IntentDeploymentStatus, ready bool) Deployment {
	sites := make([]string, 0, len(s.Delivery.Sites))
	for site := range s.Delivery.Sites {
		sites = append(sites, site)
	}
	slices.Sort(sites)
	return Deployment{
		Name: name, Asked: specDigest, Reported: s.IntentDigest, Phase: s.Phase, Outcome: s.Outcome, Message: s.Message,
		Revision: s.Revision, Verified: s.VerifiedRevision, IsHeldBack: s.HeldBack, Sites: sites, Ready: ready,
	}
}

// isSpecTakenUp reports whether the status is about the spec that the IntentDeployment should have.
func (d Deployment) isSpecTakenUp() bool { return d.Asked != "" && d.Asked == d.Reported }

// isSuspended reports whether the revision came to its end, and the spec requests another revision, which is held back: the outcome is that of an earlier
// request.
func (d Deployment) isSuspended() bool { return d.isSpecTakenUp() && d.IsHeldBack && d.Outcome != "" }

// isAboutCurrentSpec reports whether the evidence is about the current spec of the IntentDeployment.
func (d Deployment) isAboutCurrentSpec() bool { return d.isSpecTakenUp() && !d.isSuspended() }

// hasSucceeded reports whether the current spec of the IntentDeployment was verified.
func (d Deployment) hasSucceeded() bool {
	return d.isAboutCurrentSpec() && d.Phase == deploymentv1alpha1.PhaseSucceeded && d.Outcome == deploymentv1alpha1.OutcomeSucceeded
}

// lacksNamedSite reports whether a spec names a Site that the status does not, because the status is about an earlier spec.
func (d Deployment) lacksNamedSite(e *deploymentv1alpha1.Expectation) bool {
	return !d.isAboutCurrentSpec() && slices.ContainsFunc(e.Sites, func(s deploymentv1alpha1.SiteName) bool { return !slices.Contains(d.Sites, string(s)) })
}

// A Health is the evidence about the pods of one image.
type Health struct {
	// Image that the evidence is about. Empty without evidence.
	Image string

	// Sites that were observed.
	Sites []deliveryv1alpha1.SiteHealthState

	// Earlier is the last observation of another image, while the desired image was not observed. It shows the serving pods, and proves nothing about
	// the desired image.
	Earlier []deliveryv1alpha1.SiteHealthState
}

// ObserveHealth returns the evidence in the status of a SiteHealth that should have the requested parameters. There is none while the status is about
// other parameters, or was not written for the current generation.
func ObserveHealth(observed *deliveryv1alpha1.SiteHealth, requested deliveryv1alpha1.SiteHealthParameters) Health {
	switch {
	case observed == nil:
		return Health{}
	case observed.Status.AtProvider.Image != requested.Image:
		return Health{Earlier: observed.Status.AtProvider.Sites}
	case !equality.Semantic.DeepEqual(observed.Spec.ForProvider, requested):
		return Health{}
	}
	ready := observed.GetCondition(xpv2.TypeReady)
	if ready.Status == corev1.ConditionUnknown || ready.ObservedGeneration != observed.GetGeneration() {
		return Health{}
	}
	return Health{Image: requested.Image, Sites: observed.Status.AtProvider.Sites}
}

// Facts are all that a status follows from.
type Facts struct {
	// Digest of the spec.
	Digest string

	// Problem because of which the spec cannot be compiled, and the reason of condition Valid for it. Empty without a problem.
	Problem, ProblemReason string

	// Missing names the object that is missing before the image can be deployed, with the action to take. Empty if there is none.
	Missing string

	// MissingReason is the reason of the conditions for the missing object. Empty is Missing.
	MissingReason string

	// Note is a remark for the author about a valid spec. Empty if there is none.
	Note string

	// Image is the desired image of the IntentDeployment. Empty if there is none.
	Image string

	// KeepsOtherImage is true while the spec cannot be compiled, and the deployment keeps another image than the spec names.
	KeepsOtherImage bool

	// URL of the service. Empty if it has no route.
	URL string

	// RouteWaits is true while the edited route waits for a build, and the deployment keeps the route of an earlier spec.
	RouteWaits bool

	// Source identifies the desired commit. Empty if the spec names the image.
	Source v1alpha1.SourceStatus

	// Commit that Image was built of. Empty if the spec names the image, and for an archive.
	Commit string

	// InForce is the built image that the IntentDeployment has to have, from the last status or from the ImageBuild. Empty if there is none.
	InForce v1alpha1.BuiltImage

	// Build, Deployment and Health are the evidence.
	Build      Build
	Deployment Deployment
	Health     Health
}

// hasWantedImage reports whether the desired image of the IntentDeployment is the image of the current spec.
func (f *Facts) hasWantedImage() bool {
	return f.Image != "" && (!f.Build.isRequired() || f.Build.WantedImage() == f.Image)
}

// isDeploymentCurrent reports whether the evidence about the deployment is about the image of the current spec.
func (f *Facts) isDeploymentCurrent() bool {
	return f.hasWantedImage() && f.Deployment.isAboutCurrentSpec()
}

// hasSucceeded reports whether the deployment of the wanted image was verified.
func (f *Facts) hasSucceeded() bool {
	return f.hasWantedImage() && f.Deployment.hasSucceeded()
}

// wasRolledBack reports whether the revision with the wanted image was rolled back.
func (f *Facts) wasRolledBack() bool {
	return f.isDeploymentCurrent() && f.Deployment.Outcome == deploymentv1alpha1.OutcomeRolledBack
}

// hasDeploymentFailed reports whether the deployment of the wanted image failed.
func (f *Facts) hasDeploymentFailed() bool {
	return f.isDeploymentCurrent() && f.Deployment.Outcome == deploymentv1alpha1.OutcomeFailed
}

// awaitsImageReport reports whether the deployment has no report about the desired image yet, or waits for a missing object.
func (f *Facts) awaitsImageReport() bool {
	return f.hasWantedImage() && (!f.Deployment.isAboutCurrentSpec() || f.Deployment.Phase == "" || f.Deployment.Phase == deploymentv1alpha1.PhasePending)
}

// hasBuildFailed reports whether the build of the wanted image failed, and the image does not exist.
func (f *Facts) hasBuildFailed() bool {
	return f.Build.State == BuildFailed && f.Build.WantedImage() == "" && !f.Build.needsApproval()
}

// observedSite returns the observed state of a Site for the desired image of the IntentDeployment. For a Site that was not observed for that image the
// available pods are unknown, and unknown pods do not count.
func (f *Facts) observedSite(name string) deliveryv1alpha1.SiteHealthState {
	unobserved := deliveryv1alpha1.SiteHealthState{Name: name, State: deliveryv1alpha1.HealthNotObserved, Reason: string(deliveryv1alpha1.HealthNotObserved)}
	if f.Health.Image == "" || f.Health.Image != f.Image {
		return unobserved
	}
	for _, s := range f.Health.Sites {
		if s.Name == name {
			return s
		}
	}
	return unobserved
}

// observedSites returns the observed state of all Sites, in the order of their names.
func (f *Facts) observedSites() []deliveryv1alpha1.SiteHealthState {
	out := make([]deliveryv1alpha1.SiteHealthState, 0, len(f.Deployment.Sites))
	for _, name := range f.Deployment.Sites {
		out = append(out, f.observedSite(name))
	}
	slices.SortFunc(out, func(a, b deliveryv1alpha1.SiteHealthState) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// countServing returns how many Sites serve the image, of how many.
func (f *Facts) countServing() (serving, all int) {
	sites := f.observedSites()
	all = len(sites)
	sites = slices.DeleteFunc(sites, func(s deliveryv1alpha1.SiteHealthState) bool { return !f.isSiteServing(s) })
	return len(sites), all
}

// isSiteServing reports whether a Site serves the image. A Site that cannot be observed counts by its last delivery: the image counts there once its
// deployment was verified.
func (f *Facts) isSiteServing(s deliveryv1alpha1.SiteHealthState) bool {
	return s.IsServing() && (s.State != deliveryv1alpha1.HealthNotObserved || f.hasSucceeded())
}

// countUnknown returns of how many Sites it is not known whether they serve the image.
func (f *Facts) countUnknown() int {
	n := 0
	for _, s := range f.observedSites() {
		if s.State == deliveryv1alpha1.HealthNotObserved && !f.isSiteServing(s) {
			n++
		}
	}
	return n
}

// isServedEverywhere reports whether each Site serves the image. Of no Sites, and of a Site that the deployment does not name yet, it is not known.
func (f *Facts) isServedEverywhere() bool {
	serving, all := f.countServing()
	return all > 0 && serving == all && !f.Deployment.HasOtherSites
}

// isServedSomewhere reports whether a Site serves the image.
func (f *Facts) isServedSomewhere() bool {
	serving, _ := f.countServing()
	return serving > 0
}

// firstNotServing returns the first Site that does not serve the image; Sites with a known problem precede Sites that were not observed.
func (f *Facts) firstNotServing() (deliveryv1alpha1.SiteHealthState, bool) {
	var found deliveryv1alpha1.SiteHealthState
	for _, s := range f.observedSites() {
		if f.isSiteServing(s) {
			continue
		}
		if found.Name == "" || found.State == deliveryv1alpha1.HealthNotObserved && s.State != deliveryv1alpha1.HealthNotObserved {
			found = s
		}
	}
	return found, found.Name != ""
}

// hasEarlierImage reports whether each Site has a pod that serves, of this image or of an earlier image, while the present image is not everywhere.
func (f *Facts) hasEarlierImage() bool {
	sites := f.observedSites()
	isDown := func(s deliveryv1alpha1.SiteHealthState) bool {
		return !f.servesAnyImage(s) && !slices.ContainsFunc(f.Health.Earlier, func(e deliveryv1alpha1.SiteHealthState) bool { return e.Name == s.Name && f.servesAnyImage(e) })
	}
	return len(sites) > 0 && !f.Deployment.HasOtherSites && !slices.ContainsFunc(sites, isDown)
}

// servesAnyImage reports whether a Site has a serving pod, of any image. A Site that cannot be observed has none before a revision was verified.
func (f *Facts) servesAnyImage(s deliveryv1alpha1.SiteHealthState) bool {
	if s.State == deliveryv1alpha1.HealthNotObserved {
		return s.IsServing() && f.Deployment.Verified > 0
	}
	return s.IsServing() || s.AvailableOther > 0
}

// shortImageName returns the name of an image for people: the end of its name with the tag, or the first characters of its digest.
func shortImageName(image string) string {
	if _, digest, ok := strings.Cut(image, "@sha256:"); ok {
		return digest[:min(len(digest), 12)]
	}
	return image[strings.LastIndex(image, "/")+1:]
}
