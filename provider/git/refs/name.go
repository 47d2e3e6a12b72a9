// Package refs checks the names of refs and of revisions, and lists the refs of a repository that revisions may name.
package refs

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/intentplane/intentplane/provider/git/failure"
)

const (
	// BranchPrefix begins the full name of each branch.
	BranchPrefix = "refs/heads/"

	tagPrefix = "refs/tags/"

	// maxRefBytes is the limit of a file name on servers, with room
	// for the suffix of a lock file.
	maxRefBytes = 240
)

// CheckBranch returns an error unless name is a valid short name of a branch.
func CheckBranch(name string) error {
	if strings.HasPrefix(name, "refs/") {
		return errors.Errorf("branch %q must be a short name, without refs/heads/", failure.Shorten(name))
	}
	if strings.HasPrefix(name, "-") || name == "HEAD" || name == "" {
		return errors.Errorf("branch %q is not a valid branch name", failure.Shorten(name))
	}
	return checkRefFormat(BranchPrefix + name)
}

// CheckRef returns an error unless name is a valid full name of a ref, by the
// rules of git check-ref-format.
func CheckRef(name string) error {
	if !strings.HasPrefix(name, "refs/") || strings.Count(name, "/") < 2 {
		return errors.Errorf("ref %q must begin with refs/ and a folder", failure.Shorten(name))
	}
	return checkRefFormat(name)
}

func checkRefFormat(name string) error {
	switch {
	case len(name) > maxRefBytes:
		return errors.Errorf("ref %q has more than %d bytes", failure.Shorten(name), maxRefBytes)
	case !isValidRefName(name):
		return errors.Errorf("ref %q is not a valid ref name", failure.Shorten(name))
	}
	return nil
}

func isValidRefName(name string) bool {
	if !utf8.ValidString(name) || strings.Contains(name, "..") || strings.Contains(name, "@{") ||
		strings.HasSuffix(name, ".") || strings.ContainsFunc(name, isRefusedInRef) {
		return false
	}
	return !slices.ContainsFunc(strings.Split(name, "/"), isRefusedRefPart)
}

func isRefusedInRef(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || strings.ContainsRune(" ~^:?*[\\", r)
}

// isRefusedRefPart is stricter than Git in one thing: no part begins with a dash, so
// that no tool takes it for an option.
func isRefusedRefPart(part string) bool {
	return part == "" || part == "@" || part[0] == '.' || part[0] == '-' || strings.HasSuffix(part, ".lock")
}

// IsCommitID reports whether a revision is a whole commit id.
func IsCommitID(revision string) bool { return plumbing.IsHash(revision) }

// CheckRevision returns an error unless a revision is a commit id, or the short or full name of a branch or a tag.
func CheckRevision(revision string) error {
	if IsCommitID(revision) {
		return nil
	}
	if !strings.HasPrefix(revision, "refs/") {
		return CheckBranch(revision)
	}
	if !strings.HasPrefix(revision, BranchPrefix) && !strings.HasPrefix(revision, tagPrefix) {
		return failure.Newf(failure.ClassInvalid, "a full name must begin with refs/heads/, for a branch, or refs/tags/, for a tag")
	}
	return CheckRef(revision)
}
