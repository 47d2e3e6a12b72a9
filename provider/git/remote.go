// Package git delivers directories into branches of remote Git repositories.
//
// It has no working copy: it reads the trees of a branch's tip into memory,
// rebuilds only the trees on the way to the directories it owns, and pushes the
// new objects. Everything it did not write stays bit-identical.
package git

import (
	"net"
	"net/url"
	"strings"
	"unicode"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// maxURLBytes bounds a repository URL.
const maxURLBytes = 2048

// A Remote is a branch of a repository, and the ref beside it that remembers
// what was delivered there.
type Remote struct {
	// URL of the repository, http or https, without credentials in it.
	URL string
	// Branch that is written, without refs/heads/.
	Branch string
	// StateRef is the full name of the ref that holds the state.
	StateRef string
	// Auth is how to authenticate. Nil is anonymous.
	Auth Auth
	// CABundle holds PEM certificates. If it is set, only they are trusted.
	CABundle []byte
}

// Validate returns an error if the remote is one that must not be contacted.
// The error never contains a credential.
func (r Remote) Validate() error {
	if _, err := parseURL(r.URL); err != nil {
		return err
	}
	if err := CheckBranch(r.Branch); err != nil {
		return err
	}
	if err := CheckRef(r.StateRef); err != nil {
		return err
	}
	if r.StateRef == r.branchRef() {
		return errors.Errorf("state ref %q is the branch itself", r.StateRef)
	}
	return checkAuth(r.Auth)
}

func (r Remote) branchRef() string {
	return branchPrefix + r.Branch
}

// Normalise returns a key that is equal for the usual spellings of one
// repository's URL. It is for comparing only: some servers tell the spellings
// apart, so what is contacted is the URL as written. It returns an error if the
// URL is refused.
func Normalise(raw string) (string, error) {
	u, err := parseURL(raw)
	if err != nil {
		return "", err
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if port := u.Port(); port != "" && port != defaultPort(u.Scheme) {
		host = net.JoinHostPort(host, port)
	}
	path := strings.TrimRight(u.Path, "/")
	path = strings.TrimRight(strings.TrimSuffix(path, ".git"), "/")
	return u.Scheme + "://" + host + path, nil
}

func defaultPort(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}

// parseURL never repeats the URL in its errors, for a URL that is refused may
// hold a password in a place where nobody expects one.
func parseURL(raw string) (*url.URL, error) {
	if raw == "" || len(raw) > maxURLBytes {
		return nil, errors.Errorf("repository URL must have 1 to %d bytes", maxURLBytes)
	}
	if strings.ContainsFunc(raw, unsafeRune) {
		return nil, errors.New("repository URL contains a space, a control or an invisible character")
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("repository URL is malformed")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.Errorf("repository URL has scheme %q: only http and https are supported", shorten(u.Scheme))
	}
	return u, checkURL(u)
}

func checkURL(u *url.URL) error {
	switch {
	case u.User != nil:
		return errors.New("repository URL contains credentials: name a Secret instead")
	case u.Opaque != "" || u.Hostname() == "":
		return errors.New("repository URL has no host")
	case strings.HasPrefix(u.Hostname(), "-"):
		return errors.New("repository URL has a host that begins with a dash")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return errors.New("repository URL has a query or a fragment")
	case strings.Trim(u.Path, "/") == "":
		return errors.New("repository URL has no path")
	case strings.ContainsFunc(u.Path, unicode.IsControl):
		return errors.New("repository URL has a control character in its path")
	}
	return checkURLSegments(u.Path)
}

func checkURLSegments(path string) error {
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." || strings.HasPrefix(segment, "-") {
			return errors.New("repository URL has a path segment that is a dot, two dots, or begins with a dash")
		}
	}
	return nil
}

// unsafeRune reports what must not stand in a URL as written. A format
// character (Cf) is invisible and makes two different names look the same.
func unsafeRune(r rune) bool {
	return r == unicode.ReplacementChar || unicode.IsControl(r) || unicode.IsSpace(r) || unicode.Is(unicode.Cf, r)
}

func shorten(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
