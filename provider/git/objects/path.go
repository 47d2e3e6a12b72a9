package objects

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/provider/git/failure"
)

const (
	maxPathBytes    = 1024
	maxSegmentBytes = 255
)

// CheckPath returns an error unless path may be written to a repository:
// relative, clean, and on no file system another spelling of a name that Git
// keeps for itself.
func CheckPath(path string) error {
	if path == "" || len(path) > maxPathBytes {
		return errors.Errorf("path must have 1 to %d bytes", maxPathBytes)
	}
	if hasRefusedText(path) {
		return errors.Errorf("path %q contains a backslash, a control or an invisible character", failure.Shorten(path))
	}
	for segment := range strings.SplitSeq(path, "/") {
		if err := checkPathSegment(segment); err != nil {
			return errors.Wrapf(err, "path %q is refused", failure.Shorten(path))
		}
	}
	return nil
}

func hasRefusedText(path string) bool {
	return !utf8.ValidString(path) || strings.ContainsFunc(path, isRefusedInPath)
}

// isPathSegment reports whether a name may be a part of a path.
func isPathSegment(name string) bool { return !hasRefusedText(name) && checkPathSegment(name) == nil }

// isRefusedInPath refuses format characters (Cf) because HFS+ ignores some of them:
// a name with a zero-width joiner in it is .git there.
func isRefusedInPath(r rune) bool {
	return r == '\\' || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

func checkPathSegment(segment string) error {
	switch {
	case segment == "":
		return errors.New("it is absolute, or has an empty part")
	case segment == "." || segment == "..":
		return errors.New("it has a part that is a dot or two dots")
	case len(segment) > maxSegmentBytes:
		return errors.Errorf("it has a part of more than %d bytes", maxSegmentBytes)
	case isReservedByGit(segment):
		return errors.New("it has a part with a name that Git reserves")
	}
	return nil
}

// isReservedByGit sees a name as NTFS does: any case, without dots and spaces at the
// end and without the text after a colon, and the short names of 8.3.
func isReservedByGit(segment string) bool {
	name, _, _ := strings.Cut(strings.ToLower(segment), ":")
	name = strings.TrimRight(name, ". ")
	return name == ".git" || name == ".gitmodules" || strings.HasPrefix(name, "git~") || strings.HasPrefix(name, "gitmod~")
}
