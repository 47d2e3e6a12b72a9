package engines

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/intentplane/intentplane/provider/statusmessage"
)

// sanitizeURL returns a URL of an engine's object without the parts that can be secret: a password, a token in place of a user, and a query. The URL has one
// line. A text that does not parse as a URL becomes empty.
func sanitizeURL(raw string) string {
	raw = strings.TrimSpace(raw)
	if !strings.Contains(raw, "://") {
		// A password may hold an @.
		if end := strings.LastIndex(raw, "@"); end > 0 && strings.Contains(raw[:end], ":") {
			raw = raw[end+1:]
		}
		return limitURLLength(raw)
	}
	u, err := url.Parse(raw)
	if err != nil || u.Opaque != "" {
		return ""
	}
	user := u.User.Username()
	u.User, u.RawQuery, u.ForceQuery, u.Fragment = nil, "", false, ""
	if strings.HasSuffix(u.Scheme, "ssh") && user != "" {
		u.User = url.User(user)
	}
	return limitURLLength(u.String())
}

// repositoryName returns the last segment of a URL's path, without the suffix of Git. Two spellings of one repository have the same, and so have most mirrors.
func repositoryName(raw string) string {
	displayed := strings.TrimRight(sanitizeURL(raw), "/")
	return strings.TrimSuffix(displayed[strings.LastIndexAny(displayed, "/:")+1:], ".git")
}

// Bounds of the texts of an engine in a status, in bytes. The API server refuses a whole status with a longer text, and it is about each Site of a claim.
const (
	maxURLBytes    = 512
	maxKindBytes   = 63
	maxHealthBytes = 64
)

func limitURLLength(text string) string {
	return limitText(strings.ReplaceAll(statusmessage.OneLine(text), " ", ""), maxURLBytes)
}

// limitText returns a text of an engine on one line, cut to a number of bytes.
func limitText(text string, limit int) string {
	text = statusmessage.OneLine(text)
	return strings.ToValidUTF8(text[:min(len(text), limit)], "")
}

// describeWrongBranch returns why an engine must not read a branch, or "". HEAD, which may be any branch, is accepted: the commit proves the
// applied content.
func describeWrongBranch(w Want, branch string) string {
	switch strings.TrimPrefix(branch, "refs/heads/") {
	case w.Branch, "HEAD", "":
		return ""
	}
	return fmt.Sprintf("it reads branch %q, not %q", branch, w.Branch)
}

// cleanDirectory returns a directory as Git writes it. The root is "".
func cleanDirectory(dir string) string {
	return strings.TrimPrefix(path.Clean("/"+dir), "/")
}

// describeWrongPath returns why an engine of the Site must not read a directory, or "". It may read the Site's directory, the claim's, or one
// between them.
func describeWrongPath(w Want, dir string) string {
	if isInDirectory(w.SiteDir, dir) && isInDirectory(dir, w.ClaimDir) {
		return ""
	}
	return fmt.Sprintf("it reads directory %q, which is neither the Site's %q nor one in it that holds %q", dir, w.SiteDir, w.ClaimDir)
}

// isInDirectory reports whether inner is outer, or lies in it.
func isInDirectory(outer, inner string) bool {
	return outer == "" || inner == outer || strings.HasPrefix(inner, outer+"/")
}

// describeWrongSource describes the mismatch of branch or directory of a source, or returns "". Its URL decides nothing: a repository has many, and a mirror has
// others. The proof is that the commit which the engine reports is in the repository, and has the tree.
func describeWrongSource(w Want, branch, dir string) string {
	return cmp.Or(describeWrongBranch(w, branch), describeWrongPath(w, dir))
}
