package transport

import (
	"io"
	"net/url"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/failure"
)

func TestClassifyText(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   failure.Class
	}{
		"NonFastForward": {reason: "A non-fast-forward of Git is a conflict.", text: "non-fast-forward", want: failure.ClassConflict},
		"FetchFirst":     {reason: "A rejection that advises a fetch is a conflict.", text: "! [rejected] main -> main (fetch first)", want: failure.ClassConflict},
		"IncorrectOld": {
			reason: "An incorrect old value, as of GitLab and Git 2.42, is a conflict.",
			text:   "incorrect old value provided", want: failure.ClassConflict,
		},
		"CannotLock": {
			reason: "A ref that two pushes lock at once is a conflict.",
			text:   "cannot lock ref 'refs/heads/main': is at 1 but expected 2", want: failure.ClassConflict,
		},
		"FailedToUpdate":  {reason: "A ref that Git failed to update is a conflict.", text: "failed to update ref", want: failure.ClassConflict},
		"Exists":          {reason: "A ref that two pushes create at once is a conflict.", text: "reference already exists", want: failure.ClassConflict},
		"PreReceive":      {reason: "A pre-receive hook that declines is a policy.", text: "pre-receive hook declined", want: failure.ClassPolicy},
		"Update":          {reason: "An update hook that declines is a policy.", text: "hook declined", want: failure.ClassPolicy},
		"ProtectedGitHub": {reason: "A protected branch of GitHub is a policy.", text: "protected branch hook declined", want: failure.ClassPolicy},
		"ProtectedGitLab": {
			reason: "A protected branch of GitLab is a policy.",
			text:   "You are not allowed to push code to protected branches on this project.", want: failure.ClassPolicy,
		},
		"GH006": {
			reason: "The code of a protected branch of GitHub is a policy.",
			text:   "GH006: Protected branch update failed for refs/heads/main.", want: failure.ClassPolicy,
		},
		"Hidden":           {reason: "A hidden ref is a policy.", text: "deny updating a hidden ref", want: failure.ClassPolicy},
		"FunnyName":        {reason: "A ref name that Git refuses is a policy.", text: "funny refname", want: failure.ClassPolicy},
		"DenyCurrent":      {reason: "A branch that is checked out is a policy.", text: "branch is currently checked out", want: failure.ClassPolicy},
		"ReadOnly":         {reason: "An archived repository is a policy.", text: "This repository was archived so it is read-only.", want: failure.ClassPolicy},
		"LargeFile":        {reason: "A file beyond the limit of GitHub is too large.", text: "GH001: Large files detected. File x is 120 MB; this exceeds GitHub's file size limit", want: failure.ClassTooLarge},
		"Password":         {reason: "A password that a host refuses is a failed authentication.", text: "Invalid credentials", want: failure.ClassAuth},
		"NotFound":         {reason: "A repository that GitHub does not find is not found.", text: "Repository not found.", want: failure.ClassNotFound},
		"Internal":         {reason: "An internal error of GitLab is transient.", text: "Internal Server Error", want: failure.ClassTransient},
		"TryAgain":         {reason: "A host that asks to try again is transient.", text: "try again later", want: failure.ClassTransient},
		"MovedWhileFetch":  {reason: "A ref that was forced away during a fetch is transient.", text: "upload-pack: not our ref 1234", want: failure.ClassTransient},
		"ConflictIsFirst":  {reason: "A conflict that a refusal mentions counts as a conflict.", text: "hook declined: cannot lock ref", want: failure.ClassConflict},
		"SomethingElse":    {reason: "A text that no rule classifies has an unknown class.", text: "the moon is full", want: failure.ClassUnknown},
		"EmptyTextIsNoOne": {reason: "An empty text has an unknown class.", text: "", want: failure.ClassUnknown},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ClassifyText(tc.text)); diff != "" {
				t.Errorf("\n%s\nClassifyText(%q): -want, +got:\n%s", tc.reason, tc.text, diff)
			}
		})
	}
}

func TestClassifyTransport(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		class  failure.Class
		detail string
	}{
		"ClosedIdle": {
			reason: "A server that closes a connection as a request begins is tried again.",
			err:    &url.Error{Op: "Get", URL: "http://127.0.0.1:1/x.git", Err: errors.New("http: server closed idle connection")},
			class:  failure.ClassTransient, detail: "the connection ended early",
		},
		"EOF": {
			reason: "A server that closes a connection within an answer is tried again.",
			err:    io.ErrUnexpectedEOF,
			class:  failure.ClassTransient, detail: "the connection ended early",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			class, detail := classifyTransport(VerbRead, tc.err)
			if diff := cmp.Diff([]string{string(tc.class), tc.detail}, []string{string(class), detail}); diff != "" {
				t.Errorf("%s\nclassifyTransport(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
