package kpack

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	buildv1alpha1 "github.com/intentplane/intentplane/apis/build/v1alpha1"
)

// Conditions of kpack, and their reasons.
const (
	conditionReady     = "Ready"
	conditionSucceeded = "Succeeded"

	reasonUpToDate         = "UpToDate"
	reasonBuildRunning     = "BuildRunning"
	reasonBuildFailed      = "BuildFailed"
	reasonBuilderNotReady  = "BuilderNotReady"
	reasonBuilderNotFound  = "BuilderNotFound"
	reasonResolverNotReady = "ResolverNotReady"
	reasonUnknownState     = "UnknownState"
)

// A Verdict relates an Image and its last Build to the wanted build.
type Verdict string

// Verdicts.
const (
	// Unknown means that kpack has not taken up the Image yet, or reports an unknown state.
	Unknown Verdict = "Unknown"

	// Running means that the wanted Build runs.
	Running Verdict = "Running"

	// Queued means that a Build of something else runs, which kpack lets end first.
	Queued Verdict = "Queued"

	// Succeeded means that the wanted image exists.
	Succeeded Verdict = "Succeeded"

	// Failed means that the wanted Build failed.
	Failed Verdict = "Failed"

	// NotBuilt means that kpack is done without the wanted Build: another Build has to be requested.
	NotBuilt Verdict = "NotBuilt"

	// Foreign means that the Build names an image outside of the repository that it was to push to.
	Foreign Verdict = "Foreign"

	// BuilderNotReady means that nothing can be built until the builder is ready.
	BuilderNotReady Verdict = "BuilderNotReady"

	// BuilderMissing means that the builder does not exist.
	BuilderMissing Verdict = "BuilderMissing"
)

// A Want is the wanted build.
type Want struct {
	// Request, Trigger and Commit that are wanted. The commit is empty for an archive.
	Request, Trigger, Commit string

	// URL of the repository, and SubPath in it. Empty for an archive.
	URL, SubPath string

	// Blob is the URL of the archive. Empty for a commit.
	Blob string

	// Builder and ServiceAccount that the Build is made with.
	Builder        buildv1alpha1.BuilderReference
	ServiceAccount string

	// BuilderImage is the image that kpack made of the builder last. Empty if that is not known.
	BuilderImage string

	// Repository that images are pushed to.
	Repository string
}

// NotBegun is the single message for all that kpack does before a Build: the next state follows at once, and each message is a write.
const NotBegun = "kpack has not begun"

// A Finding is a verdict, and why.
type Finding struct {
	Verdict Verdict

	// Message that explains the verdict. Empty if it says all.
	Message string

	// Image that was built. With Succeeded only.
	Image string

	// IsOtherBuilder is true if just this was built, with another builder than there is now. With NotBuilt only.
	IsOtherBuilder bool
}

// Judge compares an Image and its latest Build with the wanted build. The Build may be nil.
func Judge(i, b *unstructured.Unstructured, want Want) Finding {
	status := decodeObject[image](i).Status
	ready := findCondition(status.Conditions, conditionReady)
	if IsRunning(i, b) {
		return want.judgeRunning(b)
	}
	if status.ObservedGeneration != i.GetGeneration() {
		return Finding{Verdict: Unknown, Message: NotBegun}
	}
	switch {
	case ready.Reason == reasonBuilderNotFound:
		return Finding{Verdict: BuilderMissing, Message: CleanMessage(ready.Message)}
	case ready.Reason == reasonBuilderNotReady:
		return Finding{Verdict: BuilderNotReady, Message: CleanMessage(ready.Message)}
	case b == nil:
		return Finding{Verdict: Unknown, Message: NotBegun}
	case ready.Reason == reasonUpToDate && ready.Status == string(metav1.ConditionTrue):
		return want.judgeSuccess(b)
	case ready.Reason == reasonBuildFailed && ready.Status == string(metav1.ConditionFalse):
		return want.judgeFailure(b)
	}
	return Finding{Verdict: Unknown, Message: waitingMessage(ready)}
}

func waitingMessage(ready condition) string {
	switch ready.Reason {
	case reasonResolverNotReady, reasonUnknownState:
		return "kpack: " + ready.Reason
	}
	return NotBegun
}

// IsRunning reports whether the Build that an Image names last runs. A Build that ended a moment ago counts until the Image says so: kpack
// writes the two one after the other.
func IsRunning(i, b *unstructured.Unstructured) bool {
	if b == nil {
		return false
	}
	return EndOf(b).IsZero() || findCondition(decodeObject[image](i).Status.Conditions, conditionReady).Reason == reasonBuildRunning
}

// NamesNoRunning reports whether an Image says that a Build runs, while its latest Build has ended, or it names none. kpack may write the
// state of a new Build without its name, which follows with the next change of that Build: at its end.
func NamesNoRunning(i, b *unstructured.Unstructured) bool {
	isRunning := findCondition(decodeObject[image](i).Status.Conditions, conditionReady).Reason == reasonBuildRunning
	return isRunning && (b == nil || !EndOf(b).IsZero())
}

// NewestRunning returns the last made of the Builds of an Image that have not ended, or nil.
func NewestRunning(i *unstructured.Unstructured, all []unstructured.Unstructured) *unstructured.Unstructured {
	var newest *unstructured.Unstructured
	for n := range all {
		b := &all[n]
		if !IsBuildOf(b, i) || !EndOf(b).IsZero() {
			continue
		}
		if newest == nil || newest.GetCreationTimestamp().Time.Before(b.GetCreationTimestamp().Time) {
			newest = b
		}
	}
	return newest
}

func (w Want) judgeRunning(b *unstructured.Unstructured) Finding {
	if w.isOfDesiredSource(b) && w.isTriggered(b) {
		return Finding{Verdict: Running}
	}
	return Finding{Verdict: Queued, Message: w.queueMessage(b)}
}

func (w Want) queueMessage(b *unstructured.Unstructured) string {
	if w.Commit == "" || CommitOf(b) == w.Commit {
		return fmt.Sprintf("it waits for Build %s, which is of an earlier request", b.GetName())
	}
	return fmt.Sprintf("commit %s waits for Build %s of commit %s", shortCommit(w.Commit), b.GetName(), shortCommit(CommitOf(b)))
}

// judgeSuccess judges the last Build of an Image that is up to date at its current generation. kpack does not build for each edit, so a Build
// of the same source counts even if the rest of its request differs, but for another trigger.
func (w Want) judgeSuccess(b *unstructured.Unstructured) Finding {
	content := decodeObject[build](b)
	succeeded := findCondition(content.Status.Conditions, conditionSucceeded).Status == string(metav1.ConditionTrue)
	switch {
	case !succeeded, !w.isOfDesiredSource(b):
		return Finding{Verdict: Unknown, Message: NotBegun}
	case !w.isTriggered(b):
		return Finding{Verdict: NotBuilt}
	case !CheckImage(content.Status.LatestImage, w.Repository):
		return Finding{Verdict: Foreign, Message: fmt.Sprintf("Build %s names an image outside of %s", b.GetName(), w.Repository)}
	}
	return Finding{Verdict: Succeeded, Image: content.Status.LatestImage}
}

// judgeFailure judges the last Build of an Image that failed. kpack builds nothing after that, unless the commit changes or it is asked:
// another builder is ignored, although the configuration may name it because of the failure, and so is a builder that was corrected under its
// own name.
func (w Want) judgeFailure(b *unstructured.Unstructured) Finding {
	if !w.isOfDesiredSource(b) {
		return Finding{Verdict: Unknown, Message: NotBegun}
	}
	switch {
	case b.GetAnnotations()[buildv1alpha1.AnnotationRequest] != w.Request, !w.isTriggered(b):
		return Finding{Verdict: NotBuilt}
	case !w.isMadeWithBuilder(b):
		return Finding{Verdict: NotBuilt, IsOtherBuilder: true}
	}
	return Finding{Verdict: Failed}
}

// isOfDesiredSource reports whether a Build is of the commit or the archive that is wanted. kpack hands the URL and the path on as they are.
func (w Want) isOfDesiredSource(b *unstructured.Unstructured) bool {
	s := decodeObject[build](b).Spec.Source
	if w.Blob != "" {
		return s.Blob != nil && s.Blob.URL == w.Blob
	}
	return s.Git != nil && w.Commit != "" && s.Git.Revision == w.Commit && s.Git.URL == w.URL && s.SubPath == w.SubPath
}

// isMadeWithBuilder reports whether a Build is made with the builder, as that is now, and the service account that are wanted. An unknown builder or
// service account counts as equal.
func (w Want) isMadeWithBuilder(b *unstructured.Unstructured) bool {
	matches := func(got, want string) bool { return got == "" || want == "" || got == want }
	annotations, spec := b.GetAnnotations(), decodeObject[build](b).Spec
	return matches(annotations[annotationBuilderName], string(w.Builder.Name)) && matches(annotations[annotationBuilderKind], w.Builder.Kind) &&
		matches(spec.ServiceAccountName, w.ServiceAccount) && matches(spec.Builder.Image, w.BuilderImage)
}

func (w Want) isTriggered(b *unstructured.Unstructured) bool {
	return b.GetAnnotations()[buildv1alpha1.AnnotationTrigger] == w.Trigger
}

func shortCommit(id string) string { return id[:min(len(id), 8)] }
