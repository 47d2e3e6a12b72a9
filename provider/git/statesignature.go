package git

import (
	"bytes"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/git/objects"
)

// checkSigner returns an error for a key that cannot be used. A signature that it cannot verify would otherwise look like a forgery.
func (c *Client) checkSigner() error {
	if c.signer == nil {
		return nil
	}
	if err := c.signer.Check(); err != nil {
		return failure.Newf(failure.ClassInvalid, "cannot sign commits: %s", err)
	}
	return nil
}

// stateMessage returns the message of the next commit of the state. A signed message names its ref: a commit that the provider signed for another ref, such as
// the branch, must not count as a state, for unmanaged files are in it.
func (s *Snapshot) stateMessage() string {
	if s.signer == nil {
		return stateMessage
	}
	_, ref := s.targetRefNames()
	return stateMessage + "\nIntentplane-State: " + ref + "\n"
}

// targetRefNames returns the names of the branch and of the state, as the target has them.
func (s *Snapshot) targetRefNames() (branch, state string) {
	fields := strings.Split(s.target, " ")
	if len(fields) < 2 {
		return "", ""
	}
	return fields[len(fields)-2], fields[len(fields)-1]
}

// checkStateSignature returns the state without anything in it if no trusted key signed it: the next commit replaces all of it. Nothing
// of an untrusted writer may stay there, for the provider's signature would stand below it.
func (s *Snapshot) checkStateSignature(v stateView) stateView {
	if s.signer == nil || v.Commit.IsZero() {
		return v
	}
	reason := s.stateDistrustReason(v)
	if reason == "" {
		return v
	}
	v.Tree, v.forged = plumbing.ZeroHash, reason
	return v
}

func (s *Snapshot) stateDistrustReason(v stateView) string {
	commit, ok := v.Object(v.Commit)
	if !ok || commit.Kind != plumbing.CommitObject {
		return "its commit is missing"
	}
	content, armored := objects.SplitSignature(commit.Data)
	if armored == "" {
		return "it is not signed"
	}
	if err := s.signer.Verify(content, armored); err != nil {
		return err.Error()
	}
	if _, message, _ := bytes.Cut(content, []byte("\n\n")); string(message) != s.stateMessage() {
		return "the signed commit is not the state of this ref"
	}
	return ""
}

// StateForged says why the state in the repository counts as lost: no trusted key signed it. It is empty if the state counts, and
// without a key.
func (s *Snapshot) StateForged() string { return s.state.forged }

// Stateless reports whether no state is recorded: it does not exist, counts as lost, or was retired.
func (s *Snapshot) Stateless() bool {
	return s.state.Commit.IsZero() || s.state.forged != "" || s.state.retired
}

// selectTrusted leaves out messages that an untrusted writer may have pushed: messages without a trusted signature that are newer than a signed message. Older
// messages were there before the key was used, and cannot be added without rewriting the branch.
func selectTrusted(notes []Message) []Message {
	oldest := -1
	for i, n := range notes {
		if n.signed {
			oldest = i
		}
	}
	out := []Message{}
	for i, n := range notes {
		if n.signed || i > oldest {
			out = append(out, n)
		}
	}
	return out
}

// hasTrustedSignature reports whether a trusted key signed the commit.
func (c *Client) hasTrustedSignature(commit objects.Object) bool {
	content, armored := objects.SplitSignature(commit.Data)
	return c.signer != nil && armored != "" && c.signer.Verify(content, armored) == nil
}
