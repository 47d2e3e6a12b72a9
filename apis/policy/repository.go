package policy

import (
	"net"
	"net/url"
	"strings"
	"unicode"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

const (
	// maxURLBytes bounds a repository URL.
	maxURLBytes = 2048

	schemeSSH = "ssh"
)

// A RepositoryURL is the address of a repository.
type RepositoryURL struct {
	// Scheme is http, https or ssh.
	Scheme string
	// User of an SSH server. Empty if the URL names none.
	User string
	// Host in lower case, an address without brackets.
	Host string
	// Port as written. Empty means the scheme's own.
	Port string
	// Path as the request to the server has it: escaped for http and https, and not for ssh.
	Path string

	// plain is the path without escapes.
	plain string
	// problem names a part of the URL that is not allowed in the URL of a repository. Empty if none exists.
	problem string
}

// ParseRepositoryURL returns the address of a repository. It takes http, https and ssh URLs and git@host:path, the form of scp. It never repeats the URL in its
// errors, since a URL that is refused may hold a password in an unexpected place.
func ParseRepositoryURL(raw string) (RepositoryURL, error) {
	if raw == "" || len(raw) > maxURLBytes {
		return RepositoryURL{}, errors.Errorf("repository URL must have 1 to %d bytes", maxURLBytes)
	}
	if strings.ContainsFunc(raw, isUnsafeRune) {
		return RepositoryURL{}, errors.New("repository URL contains a space, a control or an invisible character")
	}
	u, err := parseURLOrSCP(raw)
	if err != nil {
		return RepositoryURL{}, err
	}
	if u.Scheme != "http" && u.Scheme != "https" && u.Scheme != schemeSSH {
		return RepositoryURL{}, errors.New("repository URL has another scheme than http, https and ssh")
	}
	return u, u.checkURLParts()
}

// Key is the same for every spelling of one repository's URL: without the user, the scheme's own port, escapes, a .git at the end
// and slashes there, and with the host in lower case. It is for comparing only: for some servers the spellings are different repositories.
func (u RepositoryURL) Key() string {
	host := u.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if u.Port != "" && u.Port != defaultPortOf(u.Scheme) {
		host = net.JoinHostPort(u.Host, u.Port)
	}
	path := strings.TrimSuffix(strings.Trim(u.plain, "/"), ".git")
	return u.Scheme + "://" + host + "/" + strings.TrimRight(path, "/")
}

// Address returns the address of the server, with its port.
func (u RepositoryURL) Address() string {
	if u.Port == "" {
		return net.JoinHostPort(u.Host, defaultPortOf(u.Scheme))
	}
	return net.JoinHostPort(u.Host, u.Port)
}

// RepositoryKey is the key of a repository's URL, also for a URL with a user, and in any spelling. A malformed URL is its own key.
func RepositoryKey(raw string) string {
	u, err := parseURLOrSCP(raw)
	if err != nil || u.Host == "" {
		return raw
	}
	return u.Key()
}

func defaultPortOf(scheme string) string {
	return map[string]string{"http": "80", "https": "443", schemeSSH: "22"}[scheme]
}

// parseURLOrSCP parses a URL, or the scp form with a user: without a user, a drive or a helper of Git looks the same.
func parseURLOrSCP(raw string) (RepositoryURL, error) {
	if !strings.Contains(raw, "://") {
		return parseSCPAddress(raw)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return RepositoryURL{}, errors.New("repository URL is malformed")
	}
	out := RepositoryURL{
		Scheme: u.Scheme, Host: normalizeHost(u.Hostname()), Port: u.Port(), plain: u.Path,
		Path: strings.TrimRight(u.EscapedPath(), "/"), problem: forbiddenURLPart(u),
	}
	if u.Scheme == schemeSSH {
		out.User = u.User.Username()
		out.Path = strings.TrimRight(u.Path, "/")
		if strings.HasPrefix(u.Path, "/~") {
			out.Path = out.Path[1:] // Git reads /~user as the home directory of that user.
		}
	}
	return out, nil
}

// parseSCPAddress reads user@host:path, whose path begins where the user's home is.
func parseSCPAddress(raw string) (RepositoryURL, error) {
	user, rest, ok := strings.Cut(raw, "@")
	host, path, ok2 := strings.Cut(rest, ":")
	if address, isIPv6 := strings.CutPrefix(rest, "["); isIPv6 {
		host, path, ok2 = strings.Cut(address, "]:")
	}
	if !ok || !ok2 || user == "" || host == "" || strings.ContainsAny(user+host, "/\\") {
		return RepositoryURL{}, errors.New("repository URL is neither a URL nor git@host:path")
	}
	out := RepositoryURL{Scheme: schemeSSH, User: user, Host: normalizeHost(host), Path: strings.TrimRight(path, "/"), plain: path}
	if strings.ContainsAny(path, "?#@:") {
		out.problem = "has a query, a fragment, or a part that belongs to another form"
	}
	if strings.Contains(user, ":") {
		out.problem = "contains credentials: name a Secret instead"
	}
	return out, nil
}

func normalizeHost(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// forbiddenURLPart names a part that is not allowed in the URL of a repository, or returns "".
func forbiddenURLPart(u *url.URL) string {
	_, password := u.User.Password()
	switch {
	case u.User != nil && (u.Scheme != schemeSSH || password || u.User.Username() == ""):
		return "contains credentials: name a Secret instead"
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(u.String(), "#"):
		return "has a query or a fragment"
	case u.Opaque != "":
		return "has no host"
	}
	return ""
}

func (u RepositoryURL) checkURLParts() error {
	switch {
	case u.problem != "":
		return errors.New("repository URL " + u.problem)
	case u.Host == "":
		return errors.New("repository URL has no host")
	case strings.HasPrefix(u.Host, "-"), strings.HasPrefix(u.User, "-"):
		return errors.New("repository URL has a host or a user that begins with a dash")
	case strings.ContainsFunc(u.User, isForbiddenInUser):
		return errors.New("repository URL has a user of other characters than letters, digits, '.', '_' and '-'")
	case strings.Trim(u.plain, "/") == "":
		return errors.New("repository URL has no path")
	case strings.ContainsFunc(u.plain, unicode.IsControl):
		return errors.New("repository URL has a control character in its path")
	}
	for segment := range strings.SplitSeq(u.plain, "/") {
		if segment == "." || segment == ".." || strings.HasPrefix(segment, "-") {
			return errors.New("repository URL has a path segment that is a dot, two dots, or begins with a dash")
		}
	}
	return nil
}

func isForbiddenInUser(r rune) bool {
	plain := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !plain && !strings.ContainsRune("._-", r)
}

// isUnsafeRune reports whether a character is not allowed in a URL. A format character (Cf) is invisible and makes two different names look the same.
func isUnsafeRune(r rune) bool {
	return r == unicode.ReplacementChar || unicode.IsControl(r) || unicode.IsSpace(r) || unicode.Is(unicode.Cf, r)
}
