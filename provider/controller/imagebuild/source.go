package imagebuild

import (
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/apis/oneline"
	"github.com/intentplane/intentplane/provider/credentials"
	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/instant"
	"github.com/intentplane/intentplane/provider/kpack"
)

// decideWanted decides which image is wanted. A look that failed changes nothing: the commit stays that the same revision was at before.
func (d *decision) decideWanted(f *facts) {
	previous := f.last.Wanted
	next := v1alpha1.WantedImage{Request: f.request, Source: f.source}
	if previous.Source == f.source {
		next.Commit, next.SeenAt = previous.Commit, previous.SeenAt
	}
	trouble := f.sourceTrouble()
	if f.found != nil && f.found.Err == nil && next.Commit != f.found.Commit {
		next.Commit, next.SeenAt = f.found.Commit, instant.Timestamp(f.now)
	}
	if next.Commit == "" {
		next.SeenAt = nil
	}
	d.next.Wanted, d.next.LookNow = next, f.last.LookNow
	d.next.SourceTrouble = v1alpha1.SourceTrouble{}
	if trouble != nil {
		d.next.SourceTrouble = v1alpha1.SourceTrouble{Reason: string(trouble.reason), Message: oneline.Cut(trouble.message, maxMessage)}
	}
	if f.isLookDone || f.isSourceUnreadable() {
		d.next.LookNow = f.lookNow
	}
}

// isSourceUnreadable reports whether the ImageBuild has no repository, or may not read its repository. The reason of that answers a request for a look.
func (f *facts) isSourceUnreadable() bool {
	return f.refused != nil || f.secretProblem != nil || f.spec.Source.Git == nil
}

// sourceTrouble returns why the last look found no commit, or nil.
func (f *facts) sourceTrouble() *problem {
	git := f.spec.Source.Git
	switch {
	case f.refused != nil:
		return f.refused
	case f.secretProblem != nil:
		return f.secretProblem
	case git == nil, f.found == nil:
		return nil
	case f.found.Err != nil:
		return &problem{reason: reasonOfLook(f.found.Err), message: kpack.CleanMessage(f.found.Err.Error())}
	case f.found.Ambiguous:
		return &problem{
			reason:  v1alpha1.ReasonRevisionAmbiguous,
			message: fmt.Sprintf("the repository has a branch and a tag %q: say refs/heads/%s or refs/tags/%s", git.Revision, git.Revision, git.Revision),
		}
	case f.found.Commit == "":
		return &problem{reason: v1alpha1.ReasonRevisionNotFound, message: fmt.Sprintf("the repository has no branch and no tag %q; a commit is named by all of its characters", git.Revision)}
	}
	return nil
}

// reasonOfLook returns the reason for a look that failed. Where the same look may succeed later, the repository is unreachable.
func reasonOfLook(err error) xpv2.ConditionReason {
	switch failure.ClassOf(err) {
	case failure.ClassAuth, failure.ClassNotFound, failure.ClassTrust, failure.ClassAddress, failure.ClassInvalid, failure.ClassPolicy:
		return v1alpha1.ReasonSourceDenied
	default:
		return v1alpha1.ReasonSourceUnreachable
	}
}

// credentialsProblem returns the problem with the Secret of a source, or nil for an error of the API server.
func credentialsProblem(err error) *problem {
	var goneError *credentials.GoneError
	var invalid *credentials.InvalidError
	switch {
	case errors.As(err, &goneError):
		return &problem{reason: v1alpha1.ReasonCredentialsGone, message: "source.git.secretRef: " + goneError.Detail}
	case errors.As(err, &invalid):
		return &problem{reason: v1alpha1.ReasonSourceDenied, message: "source.git.secretRef: " + invalid.Detail}
	}
	return nil
}
