package policy

import (
	"net/url"
	"strings"
)

// RepositoryKey is the same for every spelling of one repository's URL: without the user, the scheme's own port, a .git at
// the end and slashes there, and with the host in lower case. A URL that cannot be parsed is its own key.
func RepositoryKey(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return raw
	}
	host := strings.ToLower(u.Hostname())
	if port := u.Port(); port != "" && port != defaultPort(u.Scheme) {
		host += ":" + port
	}
	path := strings.TrimSuffix(strings.TrimRight(u.EscapedPath(), "/"), ".git")
	return strings.ToLower(u.Scheme) + "://" + host + strings.TrimRight(path, "/")
}

func defaultPort(scheme string) string {
	return map[string]string{"http": "80", "https": "443", "ssh": "22"}[strings.ToLower(scheme)]
}
