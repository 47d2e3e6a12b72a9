package imagebuild

import (
	"time"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/provider/instant"
	"github.com/intentplane/intentplane/provider/kpack"
)

const (
	// maxRebuilds is how many images of one commit are taken in a rebuildWindow, after the first one.
	maxRebuilds   = 3
	rebuildWindow = time.Hour
)

// retryDelays returns how long a Build that failed because of the infrastructure waits until it is tried again, the first time and so on.
func retryDelays() []time.Duration {
	return []time.Duration{30 * time.Second, 2 * time.Minute, 5 * time.Minute}
}

// recordBuiltImage records an image of the wanted commit. An image of the same request and commit is taken three times an hour: a builder whose run
// image moves could be built for ever.
func (d *decision) recordBuiltImage(f *facts, image string) {
	wanted, last := d.next.Wanted, d.next.WantedImage()
	d.next.Failed = nil
	d.concludeWith(problem{reason: v1alpha1.ReasonBuilt})
	if last != nil && last.Image == image {
		return
	}
	next := &v1alpha1.BuiltImage{
		Request: wanted.Request, Commit: wanted.Commit, Build: f.build.GetName(), UID: string(f.build.GetUID()), Image: image, Reason: oneline.Cut(kpack.ReasonOf(f.build), 63),
		At: instant.Timestamp(kpack.EndOf(f.build)),
	}
	if last != nil && !d.countRebuild(f, *last, next) {
		return
	}
	d.next.Latest = next
}

// countRebuild counts an image that was built again, and reports whether it is taken.
func (d *decision) countRebuild(f *facts, last v1alpha1.BuiltImage, next *v1alpha1.BuiltImage) bool {
	next.Rebuilds, next.RebuildsSince = 1, instant.Timestamp(f.now)
	if last.RebuildsSince == nil || f.now.Sub(last.RebuildsSince.Time) >= rebuildWindow {
		return true
	}
	if last.Rebuilds >= maxRebuilds {
		d.again = last.RebuildsSince.Add(rebuildWindow)
		d.concludeWith(problem{reason: v1alpha1.ReasonRebuildLoop, message: "kpack builds the same commit again and again: name the run image of the builder's stack by its digest"})
		return false
	}
	next.Rebuilds, next.RebuildsSince = last.Rebuilds+1, last.RebuildsSince
	return true
}

// countBuilderChange returns the count of Builds that were requested again with another builder, with one more. A source that fails with one
// builder may fail with each: a builder that changes again and again would have the same commit built for ever.
func (d *decision) countBuilderChange(f *facts) *v1alpha1.BuilderChanges {
	wanted, previous := d.next.Wanted, d.next.BuilderChanges
	isCounted := previous != nil && previous.Request == wanted.Request && previous.Commit == wanted.Commit && previous.Since != nil && f.now.Sub(previous.Since.Time) < rebuildWindow
	if !isCounted {
		return &v1alpha1.BuilderChanges{Request: wanted.Request, Commit: wanted.Commit, Count: 1, Since: instant.Timestamp(f.now)}
	}
	next := *previous
	next.Count++
	return &next
}

// keepFailure leaves a Build failed, although the builder is another one now, until the hour of the builder's changes is over.
func (d *decision) keepFailure(f *facts) {
	failed := d.noteFailure(f)
	d.again = d.next.BuilderChanges.Since.Add(rebuildWindow)
	d.concludeUnlessBuilt(problem{reason: v1alpha1.ReasonBuildFailed, message: "the builder changes again and again, and the Build failed with each: " + failed.Message})
}

// noteFailure notes why a Build failed, once, and returns that.
func (d *decision) noteFailure(f *facts) *v1alpha1.FailedBuild {
	if d.next.Failed == nil || !f.isNotedFailure() {
		d.next.Failed = d.describeFailure(f)
	}
	return d.next.Failed
}

// judgeFailure notes why a wanted Build failed, and decides whether it is tried again.
func (d *decision) judgeFailure(f *facts) {
	failed := d.noteFailure(f)
	p := problem{reason: v1alpha1.ReasonBuildFailed, message: f.failureMessage(failed.Message)}
	switch {
	case failed.Attempts == 0: // The source has to change.
	case failed.Attempts <= f.maxBuildRetries():
		p.reason = v1alpha1.ReasonRetrying
		d.scheduleRetry(f, failed)
	default:
		p.reason = v1alpha1.ReasonBuildDisrupted
	}
	d.concludeUnlessBuilt(p)
}

// failureMessage returns why a Build failed and, where the provider may not list builders, that it will not notice a builder that is corrected.
func (f *facts) failureMessage(cause string) string {
	if !f.hidesBuilders {
		return cause
	}
	return oneline.Cut(cause, maxMessage-len(hiddenBuilders)-len("; ")) + "; " + hiddenBuilders
}

// scheduleRetry asks kpack for another Build when the delay is over.
func (d *decision) scheduleRetry(f *facts, failed *v1alpha1.FailedBuild) {
	delays := retryDelays()
	due := failed.At.Add(delays[min(int(failed.Attempts), len(delays))-1])
	if f.now.Before(due) {
		d.again = due
		return
	}
	d.requestRebuild(f)
}

// describeFailure returns the status of a failed Build.
func (d *decision) describeFailure(f *facts) *v1alpha1.FailedBuild {
	wanted, failure := d.next.Wanted, kpack.ExplainFailure(f.build, f.pod)
	out := &v1alpha1.FailedBuild{
		Request: wanted.Request, Commit: wanted.Commit, Build: f.build.GetName(), UID: string(f.build.GetUID()), Reason: failure.Reason, Step: failure.Step, Message: failure.Message, Logs: failure.Logs,
		At: instant.Timestamp(kpack.EndOf(f.build)),
	}
	if failure.IsOfSource {
		return out
	}
	out.Attempts = 1
	if last := d.next.Failed; last != nil && last.Request == out.Request && last.Commit == out.Commit {
		out.Attempts = last.Attempts + 1
	}
	return out
}
