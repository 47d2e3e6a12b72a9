package engines

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/intentplane/intentplane/apis/policy"
)

// isSameRepository compares two URLs of a repository. One may use HTTPS and the other SSH. An equal URL is not a proof: the proof is that the
// engine's commit is found in the repository.
func isSameRepository(a, b string) bool {
	return repositoryKey(a) == repositoryKey(b)
}

func repositoryKey(raw string) string {
	raw = strings.TrimSpace(raw)
	// The short form of an SSH URL is user@host:path.
	if host, dir, ok := strings.Cut(raw, ":"); ok && !strings.ContainsAny(host, "/[") && !strings.HasPrefix(dir, "/") {
		raw = "ssh://" + host + "/" + dir
	}
	key := policy.RepositoryKey(raw)
	u, err := url.Parse(key)
	if err != nil || u.Host == "" || u.Port() != "" {
		return key
	}
	return "//" + u.Hostname() + u.Path
}

// describeWrongBranch returns why an engine must not read a branch, or "". HEAD, which may be any branch, is accepted: the commit proves what
// was applied.
func describeWrongBranch(w Want, branch string) string {
	switch strings.TrimPrefix(branch, "refs/heads/") {
	case w.Branch, "HEAD", "":
		return ""
	}
	return fmt.Sprintf("it reads branch %q, not %q", branch, w.Branch)
}

// cleanPath returns a directory as Git writes it. The root is "".
func cleanPath(dir string) string {
	return strings.TrimPrefix(path.Clean("/"+dir), "/")
}

// describeWrongPath returns why an engine of the Site must not read a directory, or "". It may read the Site's directory, the claim's, or one
// between them.
func describeWrongPath(w Want, dir string) string {
	if isWithin(w.SiteDir, dir) && isWithin(dir, w.ClaimDir) {
		return ""
	}
	return fmt.Sprintf("it reads directory %q, which is neither the Site's %q nor one in it that holds %q", dir, w.SiteDir, w.ClaimDir)
}

// isWithin reports whether inner is outer, or lies in it.
func isWithin(outer, inner string) bool {
	return outer == "" || inner == outer || strings.HasPrefix(inner, outer+"/")
}

// describeWrongSource returns what is wrong with repository, branch or directory of a source, or "".
func describeWrongSource(w Want, url, branch, dir string) string {
	if !isSameRepository(url, w.URL) {
		return "it reads another repository"
	}
	return cmp.Or(describeWrongBranch(w, branch), describeWrongPath(w, dir))
}
