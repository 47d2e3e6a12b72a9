package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/test/soak"
)

func TestRepositoryKey(t *testing.T) {
	const canonical, overSSH = "https://git.example.org/Team/repo", "ssh://git.example.org/Team/repo"
	cases := map[string]struct {
		reason string
		url    string
		want   string
	}{
		"Plain":       {reason: "The key is a URL", url: canonical, want: canonical},
		"Suffix":      {reason: "The suffix .git is optional.", url: canonical + ".git", want: canonical},
		"Slash":       {reason: "A slash at the end means nothing", url: canonical + "/", want: canonical},
		"Both":        {reason: "A suffix and slashes at the end are both ignored.", url: canonical + ".git//", want: canonical},
		"HostCase":    {reason: "The case of the host is ignored.", url: "HTTPS://Git.Example.ORG/Team/repo", want: canonical},
		"DefaultPort": {reason: "Port 443 is the default of https.", url: "https://git.example.org:443/Team/repo", want: canonical},
		"RootDot":     {reason: "A host may be fully qualified", url: "https://git.example.org./Team/repo", want: canonical},
		"Escaped": {
			reason: "An escaped character gives another key, although a server may take it for the same.",
			url:    "https://git.example.org/%54eam/repo", want: canonical,
		},
		"User":       {reason: "Who asks makes no other repository", url: "https://someone@git.example.org/Team/repo", want: canonical},
		"OtherPort":  {reason: "Another port is another server", url: "https://git.example.org:8443/Team/repo", want: "https://git.example.org:8443/Team/repo"},
		"PathCase":   {reason: "The case of the path counts.", url: "https://git.example.org/team/repo", want: "https://git.example.org/team/repo"},
		"HTTP":       {reason: "80 is the default of http", url: "http://h:80/r", want: "http://h/r"},
		"HTTPOn443":  {reason: "Port 443 is not the default of http.", url: "http://h:443/r", want: "http://h:443/r"},
		"HTTPSOn80":  {reason: "Port 80 is not the default of https.", url: "https://h:80/r", want: "https://h:80/r"},
		"IPv6":       {reason: "An IPv6 address stands in brackets.", url: "https://[2001:DB8::1]:443/a", want: "https://[2001:db8::1]/a"},
		"IPv6Port":   {reason: "An address in brackets with a port", url: "https://[::1]:8443/a", want: "https://[::1]:8443/a"},
		"SSH":        {reason: "22 is the default of ssh", url: "ssh://git@git.example.org:22/Team/repo.git", want: overSSH},
		"SSHNoUser":  {reason: "The user of an SSH URL is optional.", url: "ssh://git.example.org/Team/repo", want: overSSH},
		"SSHPort":    {reason: "Another port is another server", url: "ssh://git@git.example.org:2222/Team/repo", want: "ssh://git.example.org:2222/Team/repo"},
		"SCP":        {reason: "The form of scp is another spelling of ssh", url: "git@Git.Example.org:Team/repo.git", want: overSSH},
		"SCPSlash":   {reason: "A slash at the begin makes no difference to a key", url: "git@git.example.org:/Team/repo", want: overSSH},
		"SCPIPv6":    {reason: "An IPv6 address of the scp form stands in brackets.", url: "git@[::1]:r.git", want: "ssh://[::1]/r"},
		"Home":       {reason: "A path of the scp form that begins in a home directory has one key.", url: "git@git.sr.ht:~a/r", want: "ssh://git.sr.ht/~a/r"},
		"HomeURL":    {reason: "A path of an SSH URL that begins in a home directory has one key.", url: "ssh://git@git.sr.ht/~a/r", want: "ssh://git.sr.ht/~a/r"},
		"NoHost":     {reason: "Text that is not a URL is its own key.", url: "a/b", want: "a/b"},
		"Unparsable": {reason: "Text that cannot be parsed is its own key.", url: "https://%zz/", want: "https://%zz/"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, RepositoryKey(tc.url)); diff != "" {
				t.Errorf("\n%s\nRepositoryKey(%q): -want, +got:\n%s", tc.reason, tc.url, diff)
			}
		})
	}
}

func TestParseRepositoryURL(t *testing.T) {
	type place struct{ User, Address, Path string }
	cases := map[string]struct {
		reason string
		url    string
		want   place
	}{
		"HTTPS":   {reason: "A path goes on the wire as written", url: "https://h/a%20b/r.git/", want: place{Address: "h:443", Path: "/a%20b/r.git"}},
		"HTTP":    {reason: "The port of an HTTP URL is part of the address.", url: "http://h:8080/r", want: place{Address: "h:8080", Path: "/r"}},
		"SSH":     {reason: "A path of SSH has no escapes", url: "ssh://git@h/a%20b/r.git", want: place{User: "git", Address: "h:22", Path: "/a b/r.git"}},
		"SSHPort": {reason: "The port of an SSH URL is part of the address.", url: "ssh://h:2222/r", want: place{Address: "h:2222", Path: "/r"}},
		"SSHHome": {reason: "A home is asked for without a slash", url: "ssh://git@h/~a/r", want: place{User: "git", Address: "h:22", Path: "~a/r"}},
		"SCP":     {reason: "The form of scp begins in the user's home", url: "git@h:team/r.git", want: place{User: "git", Address: "h:22", Path: "team/r.git"}},
		"SCPNumber": {
			reason: "Digits after the colon of the scp form belong to the path.",
			url:    "git@h:22/r.git", want: place{User: "git", Address: "h:22", Path: "22/r.git"},
		},
		"SCPRoot": {reason: "An SCP-like URL may have a path from the root.", url: "git@h:/r.git", want: place{User: "git", Address: "h:22", Path: "/r.git"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u, err := ParseRepositoryURL(tc.url)
			if err != nil {
				t.Fatalf("\n%s\nParseRepositoryURL(%q): %v", tc.reason, tc.url, err)
			}
			if diff := cmp.Diff(tc.want, place{User: u.User, Address: u.Address(), Path: u.Path}); diff != "" {
				t.Errorf("\n%s\nParseRepositoryURL(%q): -want, +got:\n%s", tc.reason, tc.url, diff)
			}
		})
	}
}

func TestParseRepositoryURLRefuses(t *testing.T) {
	cases := map[string]string{
		"Empty":           "",
		"Long":            "https://h/" + strings.Repeat("a", maxURLBytes),
		"File":            "file:///etc",
		"Ext":             "ext::sh -c id",
		"Helper":          "git@ext::id",
		"NoUser":          "host:path",
		"Drive":           `c:\r`,
		"Option":          "--upload-pack=touch",
		"OptionHost":      "ssh://-oProxyCommand=x/r",
		"OptionHostSCP":   "git@-oProxyCommand=x:r",
		"OptionUser":      "ssh://-oProxyCommand=x@h/r",
		"OptionUserSCP":   "-oProxyCommand=x@h:r",
		"OptionPath":      "ssh://git@h/-r",
		"OptionPathSCP":   "git@h:-r",
		"OptionPathLater": "git@h:a/--upload-pack=x",
		"Password":        "ssh://git:p@h/r",
		"PasswordSCP":     "git:p@h:r",
		"PasswordHTTP":    "https://u:p@h/r",
		"UserHTTP":        "https://u@h/r",
		"UserOdd":         "ssh://a%20b@h/r",
		"UserEmpty":       "@h:r",
		"Up":              "git@h:../r",
		"UpEscaped":       "ssh://git@h/a/%2e%2e/b",
		"Newline":         "git@h:r\nx",
		"NewlineEscaped":  "ssh://git@h/r%0ax",
		"ZeroWidth":       "git@h:r\u200b",
		"Query":           "ssh://git@h/r?x",
		"Fragment":        "git@h:r#x",
		"NoPath":          "ssh://git@h/",
		"NoPathSCP":       "git@h:",
		"NoHost":          "ssh://git@/r",
		"NoHostSCP":       "git@:r",
	}
	for name, url := range cases {
		t.Run(name, func(t *testing.T) {
			if u, err := ParseRepositoryURL(url); err == nil {
				t.Errorf("ParseRepositoryURL(%q): %+v, want an error", url, u)
			}
		})
	}
}

func FuzzParseRepositoryURL(f *testing.F) {
	for _, s := range []string{"https://h/r.git", "ssh://git@h:22/~a/r", "git@h:a/b.git", "git@[::1]:r", "ext::id", "a@b:c@d:e", "ssh://h/%2d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		defer soak.Input(t)()
		u, err := ParseRepositoryURL(raw)
		if err != nil {
			return
		}
		if u.Path == "" || strings.HasPrefix(u.Path, "-") || strings.HasPrefix(u.Host, "-") || strings.HasPrefix(u.User, "-") {
			t.Errorf("ParseRepositoryURL(%q): %+v is accepted", raw, u)
		}
		if RepositoryKey(raw) != u.Key() {
			t.Errorf("RepositoryKey(%q): it is not the key of the parsed URL, %q", raw, u.Key())
		}
	})
}
