package imagebuild

import (
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/provider/kpack"
	"github.com/intentplane/intentplane/provider/sources"
)

// facts are all that a decision is made from. Who gathers them decides nothing, and who decides reads nothing else.
type facts struct {
	spec v1alpha1.ImageBuildParameters
	now  time.Time
	// last is the status.
	last v1alpha1.ImageBuildObservation
	// lookNow is the value of the annotation by which a user asks for a look.
	lookNow string
	// request and source are digests of the spec: of all that goes into an image, and of its source.
	request, source string
	// refused says why nothing may be built.
	refused *problem
	// found is the result of a look at the repository. Nil if there was none.
	found *sources.Answer
	// isLookDone is true if the look answers the last request of a user.
	isLookDone bool
	// secretProblem is why the repository was not looked at.
	secretProblem *problem
	// hasKpack is true if the cluster serves the kinds of kpack.
	hasKpack bool
	// plan of the Image, without its commit.
	plan kpack.Plan
	// image of the plan's name, and the Build that it names last. Nil if they do not exist.
	image, build *unstructured.Unstructured
	// otherBuild is the Build that the Image names last, where kpack did not make it for the Image. Empty if it did.
	otherBuild string
	// builderImage is the image that the builder has now. Empty if it is not known, or was not read.
	builderImage string
	// hidesBuilders is true if the provider may not list builders.
	hidesBuilders bool
	// lookDue is when to look at the repository again. Zero is never.
	lookDue time.Time
	// pod of the Build. Nil if it was not read, or is gone.
	pod *corev1.Pod
	// refusal is the last Image that kpack refused. Nil if there is none.
	refusal *refusal
	// asked is the last requested Image. Nil if none was requested since the provider started.
	asked *asking
}

// An asking is a requested Image with the time of the request.
type asking struct {
	image *unstructured.Unstructured
	at    time.Time
}

// A refusal is an Image that could not be applied, with the reason.
type refusal struct {
	problem

	image *unstructured.Unstructured
	at    time.Time
}

// A problem is why something is not done.
type problem struct {
	reason  xpv2.ConditionReason
	message string
}

// isNotedFailure reports whether the status describes the Build as the last failed Build. kpack uses the names of Builds again once the Image
// was made again.
func (f *facts) isNotedFailure() bool {
	last := f.last.Failed
	return last != nil && f.build != nil && last.Build == f.build.GetName() && last.UID == string(f.build.GetUID())
}

// hasFailedBuild reports whether the Build ended, and failed.
func (f *facts) hasFailedBuild() bool {
	return f.build != nil && !kpack.EndOf(f.build).IsZero() && !kpack.HasSucceeded(f.build)
}

// maxBuildRetries returns how often a build is tried again.
func (f *facts) maxBuildRetries() int32 {
	if f.spec.Retries == nil {
		return 1
	}
	return *f.spec.Retries
}

// desiredBuild returns the Build that a commit requires.
func (f *facts) desiredBuild(commit string) kpack.Want {
	w := kpack.Want{
		Request: f.request, Trigger: f.spec.Source.Trigger, Commit: commit, Repository: f.plan.Tag, Builder: f.plan.Builder, ServiceAccount: f.plan.ServiceAccount,
		BuilderImage: f.builderImage,
	}
	if blob := f.spec.Source.Blob; blob != nil {
		w.Blob = blob.URL
		return w
	}
	w.URL, w.SubPath = f.spec.Source.Git.URL, f.spec.Source.Git.SubPath
	return w
}

// desiredImage returns the Image that should exist for a commit.
func (f *facts) desiredImage(commit string) *unstructured.Unstructured {
	p := f.plan
	p.Request, p.Commit, p.Build = f.request, commit, f.spec
	return kpack.DesiredImage(p)
}
