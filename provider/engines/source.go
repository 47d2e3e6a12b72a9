package engines

import (
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/intentplane/intentplane/apis/policy"
)

// sameRepository compares two URLs of a repository, of which one may be read over HTTPS and the other over SSH. That is no
// proof of anything: what proves is that the engine's commit is found in our repository.
func sameRepository(a, b string) bool {
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

// wrongBranch says why a branch is not ours. HEAD, which is any branch, is let through: the commit proves what it holds.
func wrongBranch(w Want, branch string) string {
	switch strings.TrimPrefix(branch, "refs/heads/") {
	case w.Branch, "HEAD", "":
		return ""
	}
	return fmt.Sprintf("it reads branch %q, not %q", branch, w.Branch)
}

// clean is a directory as Git writes it; the root is empty.
func clean(dir string) string {
	return strings.TrimPrefix(path.Clean("/"+dir), "/")
}

// wrongPath says why a directory is not one that an engine of the Site may read: the Site's own, the claim's, or one between.
func wrongPath(w Want, dir string) string {
	if within(w.SiteDir, dir) && within(dir, w.ClaimDir) {
		return ""
	}
	return fmt.Sprintf("it reads directory %q, which is neither the Site's %q nor one in it that holds %q", dir, w.SiteDir, w.ClaimDir)
}

// within is true if a directory is another one, or lies in it.
func within(outer, inner string) bool {
	return outer == "" || inner == outer || strings.HasPrefix(inner, outer+"/")
}

// wrongSource says what of a source is not ours.
func wrongSource(w Want, url, branch, dir string) string {
	if !sameRepository(url, w.URL) {
		return "it reads another repository"
	}
	if why := wrongBranch(w, branch); why != "" {
		return why
	}
	return wrongPath(w, dir)
}
