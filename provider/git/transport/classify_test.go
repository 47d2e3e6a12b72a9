package transport

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/failure"
)

func TestClassifyText(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   failure.Class
	}{
		"NonFastForward":   {reason: "Git", text: "non-fast-forward", want: failure.ClassConflict},
		"FetchFirst":       {reason: "Git's client", text: "! [rejected] main -> main (fetch first)", want: failure.ClassConflict},
		"IncorrectOld":     {reason: "GitLab and Git 2.42", text: "incorrect old value provided", want: failure.ClassConflict},
		"CannotLock":       {reason: "Git, two pushes at once", text: "cannot lock ref 'refs/heads/main': is at 1 but expected 2", want: failure.ClassConflict},
		"FailedToUpdate":   {reason: "Git", text: "failed to update ref", want: failure.ClassConflict},
		"Exists":           {reason: "Git, two pushes that create", text: "reference already exists", want: failure.ClassConflict},
		"PreReceive":       {reason: "A hook", text: "pre-receive hook declined", want: failure.ClassPolicy},
		"Update":           {reason: "A hook", text: "hook declined", want: failure.ClassPolicy},
		"ProtectedGitHub":  {reason: "GitHub", text: "protected branch hook declined", want: failure.ClassPolicy},
		"ProtectedGitLab":  {reason: "GitLab", text: "You are not allowed to push code to protected branches on this project.", want: failure.ClassPolicy},
		"GH006":            {reason: "GitHub", text: "GH006: Protected branch update failed for refs/heads/main.", want: failure.ClassPolicy},
		"Hidden":           {reason: "Git", text: "deny updating a hidden ref", want: failure.ClassPolicy},
		"FunnyName":        {reason: "Git", text: "funny refname", want: failure.ClassPolicy},
		"DenyCurrent":      {reason: "Git", text: "branch is currently checked out", want: failure.ClassPolicy},
		"ReadOnly":         {reason: "An archived repository", text: "This repository was archived so it is read-only.", want: failure.ClassPolicy},
		"LargeFile":        {reason: "GitHub", text: "GH001: Large files detected. File x is 120 MB; this exceeds GitHub's file size limit", want: failure.ClassTooLarge},
		"Password":         {reason: "A host", text: "Invalid credentials", want: failure.ClassAuth},
		"NotFound":         {reason: "GitHub", text: "Repository not found.", want: failure.ClassNotFound},
		"Internal":         {reason: "GitLab", text: "Internal Server Error", want: failure.ClassTransient},
		"TryAgain":         {reason: "A host", text: "try again later", want: failure.ClassTransient},
		"MovedWhileFetch":  {reason: "Git, a ref forced away", text: "upload-pack: not our ref 1234", want: failure.ClassTransient},
		"ConflictIsFirst":  {reason: "A conflict hidden in a refusal", text: "hook declined: cannot lock ref", want: failure.ClassConflict},
		"SomethingElse":    {reason: "Nobody foresaw it", text: "the moon is full", want: failure.ClassUnknown},
		"EmptyTextIsNoOne": {reason: "No text", text: "", want: failure.ClassUnknown},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ClassifyText(tc.text)); diff != "" {
				t.Errorf("\n%s\nClassifyText(%q): -want, +got:\n%s", tc.reason, tc.text, diff)
			}
		})
	}
}
