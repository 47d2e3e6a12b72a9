package git

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClassifyText(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   Class
	}{
		"NonFastForward":   {reason: "Git", text: "non-fast-forward", want: ClassConflict},
		"FetchFirst":       {reason: "Git's client", text: "! [rejected] main -> main (fetch first)", want: ClassConflict},
		"IncorrectOld":     {reason: "GitLab and Git 2.42", text: "incorrect old value provided", want: ClassConflict},
		"CannotLock":       {reason: "Git, two pushes at once", text: "cannot lock ref 'refs/heads/main': is at 1 but expected 2", want: ClassConflict},
		"FailedToUpdate":   {reason: "Git", text: "failed to update ref", want: ClassConflict},
		"Exists":           {reason: "Git, two pushes that create", text: "reference already exists", want: ClassConflict},
		"PreReceive":       {reason: "A hook", text: "pre-receive hook declined", want: ClassPolicy},
		"Update":           {reason: "A hook", text: "hook declined", want: ClassPolicy},
		"ProtectedGitHub":  {reason: "GitHub", text: "protected branch hook declined", want: ClassPolicy},
		"ProtectedGitLab":  {reason: "GitLab", text: "You are not allowed to push code to protected branches on this project.", want: ClassPolicy},
		"GH006":            {reason: "GitHub", text: "GH006: Protected branch update failed for refs/heads/main.", want: ClassPolicy},
		"Hidden":           {reason: "Git", text: "deny updating a hidden ref", want: ClassPolicy},
		"FunnyName":        {reason: "Git", text: "funny refname", want: ClassPolicy},
		"DenyCurrent":      {reason: "Git", text: "branch is currently checked out", want: ClassPolicy},
		"ReadOnly":         {reason: "An archived repository", text: "This repository was archived so it is read-only.", want: ClassPolicy},
		"LargeFile":        {reason: "GitHub", text: "GH001: Large files detected. File x is 120 MB; this exceeds GitHub's file size limit", want: ClassTooLarge},
		"Password":         {reason: "A host", text: "Invalid credentials", want: ClassAuth},
		"NotFound":         {reason: "GitHub", text: "Repository not found.", want: ClassNotFound},
		"Internal":         {reason: "GitLab", text: "Internal Server Error", want: ClassTransient},
		"TryAgain":         {reason: "A host", text: "try again later", want: ClassTransient},
		"MovedWhileFetch":  {reason: "Git, a ref forced away", text: "upload-pack: not our ref 1234", want: ClassTransient},
		"ConflictIsFirst":  {reason: "A conflict hidden in a refusal", text: "hook declined: cannot lock ref", want: ClassConflict},
		"SomethingElse":    {reason: "Nobody foresaw it", text: "the moon is full", want: ClassUnknown},
		"EmptyTextIsNoOne": {reason: "No text", text: "", want: ClassUnknown},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ClassifyText(tc.text)); diff != "" {
				t.Errorf("\n%s\nClassifyText(%q): -want, +got:\n%s", tc.reason, tc.text, diff)
			}
		})
	}
}

func TestJudge(t *testing.T) {
	const branch = "refs/heads/main"
	cases := map[string]struct {
		reason   string
		statuses map[string]string
		unpack   string
		said     string
		want     Class
	}{
		"BranchConflict": {
			reason:   "The state fell with the branch",
			statuses: map[string]string{branch: "incorrect old value provided", stateRef: "atomic push failure"},
			want:     ClassConflict,
		},
		"StateRefused": {
			reason:   "The branch fell with the state",
			statuses: map[string]string{stateRef: "deny updating a hidden ref", branch: "atomic push failure"},
			want:     ClassStateRefused,
		},
		"StateAlone": {
			reason:   "Only the state was pushed",
			statuses: map[string]string{stateRef: "hook declined"},
			want:     ClassStateRefused,
		},
		"BothRefused": {
			reason:   "A hook refuses everything: that is not about the state",
			statuses: map[string]string{stateRef: "pre-receive hook declined", branch: "pre-receive hook declined"},
			want:     ClassPolicy,
		},
		"ConflictWins": {
			reason:   "A lost race is solved by looking again, a refusal is not",
			statuses: map[string]string{stateRef: "hook declined", branch: "failed to update ref"},
			want:     ClassConflict,
		},
		"TransactionConflict": {
			reason:   "Git says to people only that a ref was moved while it took the push",
			statuses: map[string]string{stateRef: "atomic transaction failed", branch: "atomic transaction failed"},
			said:     "error: cannot lock ref 'refs/heads/main': is at 1 but expected 2",
			want:     ClassConflict,
		},
		"TransactionFailed": {
			reason:   "Without a reason it may pass",
			statuses: map[string]string{stateRef: "atomic transaction failed", branch: "atomic transaction failed"},
			want:     ClassTransient,
		},
		"Unpack": {
			reason:   "The pack was refused",
			statuses: map[string]string{stateRef: "unpacker error", branch: "unpacker error"},
			unpack:   "index-pack abnormal exit",
			want:     ClassTransient,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &Client{remote: Remote{Branch: "main", StateRef: stateRef}, redactor: newRedactor(Remote{})}
			updates := []refUpdate{{name: stateRef}, {name: branch}}
			got := c.findRefused(updates, tc.statuses, tc.unpack, tc.said)
			if diff := cmp.Diff(tc.want, got.Class); diff != "" {
				t.Errorf("\n%s\njudge(...): -want, +got:\n%s\n%v", tc.reason, diff, got)
			}
		})
	}
}

func TestClean(t *testing.T) {
	const canary = "s3cr%t/канарейка"
	auth := Basic{Username: "u", Password: canary}
	for _, spelling := range auth.secretSpellings() {
		got := cleanText(newRedactor(Remote{Auth: auth}), "remote said\x1b[31m:\n"+spelling+"\r\n"+strings.Repeat("x", 2000))
		if diff := cmp.Diff("remote said [31m: [redacted] ", got[:29]); diff != "" {
			t.Errorf("\nCredentials, escapes and line breaks are removed\nclean(...): -want, +got:\n%s", diff)
		}
		if len(got) > 600 {
			t.Errorf("\nText is bounded\nclean(...): %d bytes", len(got))
		}
	}
}

func TestCleanLines(t *testing.T) {
	c := &Client{redactor: newRedactor(Remote{Auth: Basic{Username: "u", Password: "s3cret"}})}
	full := &Transcript{}
	for range 300 {
		_, _ = full.Write([]byte("Resolving deltas: 10% (1/10)\n"))
	}
	_, _ = full.Write([]byte("s3cret"))
	cases := map[string]struct {
		reason string
		said   string
		want   string
	}{
		"Lines":     {reason: "Lines become one, in their order.", said: "rule 7 says no\nask the owners\n", want: "rule 7 says no; ask the owners"},
		"Progress":  {reason: "What Git reports of its progress says nothing about a refusal.", said: "Resolving deltas:  50% (1/2)\rResolving deltas: 100% (2/2), done.\nno\n", want: "no"},
		"Prefix":    {reason: "The prefix that a client shows is left out.", said: "remote: error: GH006: Protected branch", want: "error: GH006: Protected branch"},
		"Controls":  {reason: "Control characters and invisible ones cannot hide a text.", said: "a\x1b[2Jb\u202ec\x00d", want: "a [2Jb c d"},
		"Password":  {reason: "A credential of ours is not repeated.", said: "bad: s3cret", want: "bad: [redacted]"},
		"UserInfo":  {reason: "A URL loses the user and the password in it, whoever they belong to.", said: "see https://joe:pw@git.example.org/a for help", want: "see https://[redacted]@git.example.org/a for help"},
		"Query":     {reason: "A URL loses its query, which may hold a token.", said: "see https://git.example.org/a?token=abc#x now", want: "see https://git.example.org/a now"},
		"Truncated": {reason: "A line that was not kept as a whole is left out, for it may end within a credential.", said: full.String(), want: ""},
		"Nothing":   {reason: "A server may say nothing.", said: "\n \r\n", want: ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, c.cleanLines(tc.said)); diff != "" {
				t.Errorf("\n%s\ncleanLines(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
