package imagebuild

import (
	"reflect"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/provider/instant"
	"github.com/intentplane/intentplane/provider/kpack"
)

const (
	// maxMessage bounds messages, as the schema does, in characters.
	maxMessage = 512

	// podDelay is how long the pod of a Build may take to begin, and podInterval how often it is looked at then.
	podDelay    = 2 * time.Minute
	podInterval = time.Minute

	// nameInterval is how long an ImageBuild whose name is taken waits until it looks again.
	nameInterval = 20 * time.Second

	// buildSpacing is the minimum time between a Build and the request for the next one.
	buildSpacing = 2 * time.Second

	// beginDelay is how long kpack may take to begin with an Image before the status reports the request: the next report of kpack has more
	// to show, and each write costs the composite.
	beginDelay = 2 * time.Second

	// refusedInterval is how long an Image that kpack refused waits until it is applied again.
	refusedInterval = time.Minute
)

// missingMessage names the remedy for a missing kpack.
const missingMessage = "the provider does not see Images and Builds of kpack.io/v1alpha2: install kpack, and apply examples/builds/rbac.yaml"

// A decision is the result of the facts.
type decision struct {
	// next is the desired status.
	next v1alpha1.ImageBuildObservation
	// reason of the Ready condition, which is true with ReasonBuilt and ReasonRebuildLoop only.
	reason  xpv2.ConditionReason
	message string
	// apply is the Image to apply, and remove the Image to delete first. Nil is none.
	apply, remove *unstructured.Unstructured
	// rebuildAfter is the Build after which another one is requested. Nil is none.
	rebuildAfter *unstructured.Unstructured
	// asking is the requested Image. Nil if it has it.
	asking *asking
	// isHeld says that the status stays unchanged: kpack has a request, and begins in a moment.
	isHeld bool
	// again is when to decide again, although nothing happened. Zero is never.
	again time.Time
}

// hasKpackChange reports whether something has to be written to kpack.
func (d *decision) hasKpackChange() bool {
	return d.apply != nil || d.remove != nil || d.rebuildAfter != nil
}

// decideBuild decides the requests to kpack, and the status. It is pure: the same facts give the same decision.
func decideBuild(f *facts) decision {
	d := decision{next: *f.last.DeepCopy()}
	d.decideWanted(f)
	if p := d.findObstacle(f); p != nil {
		d.concludeWith(*p)
		return d
	}
	commit := d.next.Wanted.Commit
	want := f.desiredImage(commit)
	if f.image == nil || !kpack.IsApplied(want, f.image) {
		d.requestImage(f, want)
		return d
	}
	d.recordAppliedImage(f)
	d.noteRunning(f)
	d.applyFinding(f, kpack.Judge(f.image, f.build, f.desiredBuild(commit)))
	return d
}

// recordAppliedImage notes the Image. A failure of an earlier Image of the same name does not count.
func (d *decision) recordAppliedImage(f *facts) {
	next := v1alpha1.AppliedImage{UID: string(f.image.GetUID()), Name: f.image.GetName()}
	if previous := d.next.Image.UID; previous != "" && previous != next.UID {
		d.next.Failed = nil
	}
	d.next.Image = next
}

// findObstacle returns why no Image is requested, or nil.
func (d *decision) findObstacle(f *facts) *problem {
	trouble := f.sourceTrouble()
	switch {
	case f.refused != nil:
		return f.refused
	case !f.hasKpack:
		return &problem{reason: v1alpha1.ReasonKpackMissing, message: missingMessage}
	case f.image != nil && !kpack.IsOwned(f.image, f.plan.Owner):
		d.again = f.now.Add(nameInterval)
		return describeNameConflict(f)
	case f.spec.Source.Git != nil && d.next.Wanted.Commit == "" && trouble != nil:
		return trouble
	case f.spec.Source.Git != nil && d.next.Wanted.Commit == "":
		return &problem{reason: v1alpha1.ReasonNotObserved, message: "the repository was not looked at yet"}
	case f.plan.Builder.Name == "":
		return &problem{reason: v1alpha1.ReasonBuilderMissing, message: "neither builder nor spec.build.builder of the configuration names a builder"}
	}
	return nil
}

// describeNameConflict says whose Image has the name. An Image under deletion, such as the Image of an earlier ImageBuild of this name, is
// waited for.
func describeNameConflict(f *facts) *problem {
	owner := metav1.GetControllerOf(f.image)
	isEarlier := owner != nil && owner.Kind == f.plan.Owner.Kind && owner.APIVersion == f.plan.Owner.APIVersion && owner.Name == f.plan.Owner.Name
	if isEarlier || f.image.GetDeletionTimestamp() != nil {
		return &problem{reason: v1alpha1.ReasonQueued, message: "an earlier Image " + f.image.GetName() + " of kpack is being removed"}
	}
	return &problem{reason: v1alpha1.ReasonNameTaken, message: "Image " + f.image.GetName() + " of kpack exists, and does not belong to this ImageBuild: choose another name, or delete it"}
}

// requestImage asks for the Image, unless kpack refused just that a moment ago. Where it pushes to another place, it has to be made again, since kpack does not let that change.
func (d *decision) requestImage(f *facts, want *unstructured.Unstructured) {
	if r := f.refusal; r != nil && f.now.Sub(r.at) < refusedInterval && reflect.DeepEqual(r.image.Object, want.Object) {
		d.again = r.at.Add(refusedInterval)
		d.concludeWith(r.problem)
		return
	}
	d.apply = want
	d.recordImageRequest(f, want)
	if f.image != nil && kpack.TagOf(f.image) != kpack.TagOf(want) {
		d.remove = f.image
	}
	d.concludeWith(problem{reason: v1alpha1.ReasonQueued, message: kpack.NotBegun})
}

// recordImageRequest notes since when an Image is requested, and holds the status until kpack had the time to begin.
func (d *decision) recordImageRequest(f *facts, want *unstructured.Unstructured) {
	d.asking = &asking{image: want, at: f.now}
	if f.asked != nil && reflect.DeepEqual(f.asked.image.Object, want.Object) {
		d.asking = f.asked
	}
	d.holdStatusUntil(f, d.asking.at.Add(beginDelay))
}

// holdStatusUntil keeps the status unchanged until a time.
func (d *decision) holdStatusUntil(f *facts, due time.Time) {
	if f.now.Before(due) {
		d.isHeld, d.again = true, due
	}
}

// noteRunning notes the Build that has not ended.
func (d *decision) noteRunning(f *facts) {
	d.next.Running = nil
	if !kpack.IsRunning(f.image, f.build) {
		return
	}
	d.next.Running = &v1alpha1.RunningBuild{
		Build: f.build.GetName(), UID: string(f.build.GetUID()), Commit: kpack.CommitOf(f.build), Step: kpack.CurrentStep(f.build), StartedAt: instant.Timestamp(f.build.GetCreationTimestamp().Time),
	}
}

// applyFinding applies a finding.
func (d *decision) applyFinding(f *facts, found kpack.Finding) {
	switch found.Verdict {
	case kpack.Succeeded:
		d.recordBuiltImage(f, found.Image)
	case kpack.Failed:
		d.judgeFailure(f)
	case kpack.NotBuilt:
		d.replaceFailure(f, found.IsOtherBuilder)
	case kpack.Running:
		d.judgeRunning(f)
	case kpack.Foreign:
		d.concludeWith(problem{reason: v1alpha1.ReasonForeignImage, message: found.Message})
	case kpack.Unknown:
		if f.asked != nil {
			d.holdStatusUntil(f, f.asked.at.Add(beginDelay))
		}
		d.concludeUnlessBuilt(problem{reason: v1alpha1.ReasonQueued, message: f.waitingMessage(found)})
	case kpack.Queued, kpack.BuilderNotReady, kpack.BuilderMissing:
		d.concludeUnlessBuilt(problem{reason: reasonOfVerdict(found.Verdict), message: found.Message})
	}
}

// replaceFailure asks for a Build after a failure with another request, commit or builder, which does not count as an attempt.
func (d *decision) replaceFailure(f *facts, isOtherBuilder bool) {
	changes := d.countBuilderChange(f)
	if isOtherBuilder && !kpack.IsAskedAgain(f.build) && changes.Count > maxRebuilds {
		d.keepFailure(f)
		return
	}
	d.next.Failed = nil
	d.requestRebuild(f)
	if isOtherBuilder && d.rebuildAfter != nil {
		d.next.BuilderChanges = changes
	}
	d.concludeUnlessBuilt(problem{reason: v1alpha1.ReasonQueued, message: "kpack is asked to build again"})
}

// waitingMessage returns kpack's reason to wait. It builds nothing while its latest Build is a Build that another user made.
func (f *facts) waitingMessage(found kpack.Finding) string {
	if f.otherBuild == "" {
		return found.Message
	}
	return "Image " + f.plan.Name + " of kpack names Build " + f.otherBuild + ", which was not made for it: delete that Build"
}

func reasonOfVerdict(v kpack.Verdict) xpv2.ConditionReason {
	switch v { //nolint:exhaustive // The others do not wait.
	case kpack.BuilderNotReady:
		return v1alpha1.ReasonBuilderNotReady
	case kpack.BuilderMissing:
		return v1alpha1.ReasonBuilderMissing
	}
	return v1alpha1.ReasonQueued
}

// judgeRunning says whether the pod of a Build has begun.
func (d *decision) judgeRunning(f *facts) {
	due := f.build.GetCreationTimestamp().Add(podDelay)
	switch {
	case kpack.HasBegun(f.build):
	case f.now.Before(due):
		d.again = due
	default:
		d.again = f.now.Add(podInterval)
		d.concludeUnlessBuilt(problem{reason: v1alpha1.ReasonPodPending, message: kpack.PendingMessage(f.build, f.pod)})
		return
	}
	d.concludeUnlessBuilt(problem{reason: v1alpha1.ReasonBuilding})
}

// requestRebuild asks kpack for another Build after the last one, once. kpack orders Builds by the second in which they were made: two of one second would confuse it.
func (d *decision) requestRebuild(f *facts) {
	due := f.build.GetCreationTimestamp().Add(buildSpacing)
	switch {
	case kpack.IsAskedAgain(f.build):
	case f.now.Before(due):
		d.again = due
	default:
		d.rebuildAfter = f.build
	}
}

func (d *decision) concludeWith(p problem) {
	d.reason, d.message = p.reason, oneline.Cut(p.message, maxMessage)
}

// concludeUnlessBuilt reports a wait, unless the wanted image exists: then only a rebuild waits.
func (d *decision) concludeUnlessBuilt(p problem) {
	if d.next.WantedImage() != nil {
		p = problem{reason: v1alpha1.ReasonBuilt}
	}
	d.concludeWith(p)
}
