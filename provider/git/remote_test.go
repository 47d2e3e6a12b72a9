package git

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/git/transport"
)

const stateRef = "refs/intentplane/demo/state"

func TestRemoteValidate(t *testing.T) {
	ok := Remote{URL: "https://git.example.org/team/repo.git", Branch: "main", StateRef: stateRef}
	remoteWith := func(change func(r *Remote)) Remote {
		r := ok
		change(&r)
		return r
	}
	url := func(u string) Remote { return remoteWith(func(r *Remote) { r.URL = u }) }
	branch := func(b string) Remote { return remoteWith(func(r *Remote) { r.Branch = b }) }
	state := func(s string) Remote { return remoteWith(func(r *Remote) { r.StateRef = s }) }
	auth := func(a transport.Auth) Remote { return remoteWith(func(r *Remote) { r.Auth = a }) }
	bundle := func(bytes int) Remote { return remoteWith(func(r *Remote) { r.CABundle = make([]byte, bytes) }) }

	cases := map[string]struct {
		reason string
		remote Remote
		want   bool
	}{
		"HTTPS":             {reason: "An https URL is accepted.", remote: ok, want: true},
		"HTTPWithPort":      {reason: "An http URL with a port is accepted.", remote: url("http://127.0.0.1:8080/r.git"), want: true},
		"EscapedSpace":      {reason: "An escaped space in the path is accepted.", remote: url("https://h/a%20b/_git/c"), want: true},
		"IPv6":              {reason: "An IPv6 address as the host is accepted.", remote: url("http://[::1]:80/r"), want: true},
		"NestedBranch":      {reason: "A branch with slashes is accepted.", remote: branch("env/prod"), want: true},
		"StateBranch":       {reason: "A branch as the state ref is accepted.", remote: state("refs/heads/intentplane-state/demo"), want: true},
		"LargestTrust":      {reason: "A bundle of all public authorities is accepted.", remote: bundle(256 << 10), want: true},
		"LargeTrust":        {reason: "A bundle that takes more memory than all public authorities is refused.", remote: bundle(256<<10 + 1)},
		"Empty":             {reason: "An empty URL is refused.", remote: url("")},
		"File":              {reason: "A file URL is refused.", remote: url("file:///etc")},
		"Ext":               {reason: "An ext URL is refused, for it runs commands.", remote: url("ext::sh -c id")},
		"ExtBare":           {reason: "An ext URL without slashes is refused, for it runs commands.", remote: url("ext::id")},
		"SSHWithoutKey":     {reason: "An SSH URL without a key is refused.", remote: url("ssh://git@h/r")},
		"SCPWithoutKey":     {reason: "An SSH URL in the form of scp is refused without a key.", remote: url("git@h:r.git")},
		"Option":            {reason: "A URL that looks like an option is refused.", remote: url("--upload-pack=touch /tmp/x")},
		"OptionInHost":      {reason: "A host that looks like an option is refused.", remote: url("http://-oProxyCommand=x/r")},
		"OptionInPath":      {reason: "A path that looks like an option is refused.", remote: url("http://h/--upload-pack=x")},
		"Userinfo":          {reason: "A URL with a password is refused.", remote: url("https://u:p@h/r")},
		"Username":          {reason: "A URL with a user name is refused.", remote: url("https://u@h/r")},
		"Newline":           {reason: "A line break in the URL is refused.", remote: url("https://h/r\nHost: x")},
		"EscapedNewline":    {reason: "An escaped line break in the URL is refused.", remote: url("https://h/r%0aHost")},
		"ZeroWidth":         {reason: "A zero width character in the URL is refused.", remote: url("https://h/r\u200b")},
		"Traversal":         {reason: "Two dots in the path of the URL are refused.", remote: url("https://h/a/../b")},
		"EscapedTraversal":  {reason: "Escaped dots in the path of the URL are refused.", remote: url("https://h/a/%2e%2e/b")},
		"Query":             {reason: "A URL with a query is refused, for the query would take up the path of the request.", remote: url("https://h/r?service=x")},
		"EmptyQuery":        {reason: "A URL with an empty query is refused, for the query would take up the path of the request.", remote: url("https://h/r?")},
		"Fragment":          {reason: "A URL with a fragment is refused.", remote: url("https://h/r#x")},
		"NoPath":            {reason: "A URL without a path is refused.", remote: url("https://h/")},
		"NoHost":            {reason: "A URL without a host is refused.", remote: url("https:///r")},
		"BranchTraversal":   {reason: "Two dots at the beginning of a branch are refused.", remote: branch("../../x")},
		"BranchFull":        {reason: "A full ref name as the branch is refused.", remote: branch("refs/heads/main")},
		"BranchTraversal2":  {reason: "Two dots within a branch are refused.", remote: branch("refs/heads/../../x")},
		"BranchOption":      {reason: "A branch that looks like an option is refused.", remote: branch("--foo")},
		"BranchPartOption":  {reason: "A branch with a part that looks like an option is refused.", remote: branch("a/-b")},
		"BranchReflog":      {reason: "A branch with the syntax of a reflog is refused.", remote: branch("a@{1}")},
		"BranchAt":          {reason: "The short form of HEAD is refused as a branch.", remote: branch("@")},
		"BranchHead":        {reason: "HEAD is refused as a branch.", remote: branch("HEAD")},
		"BranchTilde":       {reason: "A tilde in a branch is refused.", remote: branch("a~1")},
		"BranchCaret":       {reason: "A caret in a branch is refused.", remote: branch("a^")},
		"BranchColon":       {reason: "A colon in a branch is refused.", remote: branch("a:b")},
		"BranchGlob":        {reason: "An asterisk in a branch is refused.", remote: branch("a*")},
		"BranchSpace":       {reason: "A space in a branch is refused.", remote: branch("a b")},
		"BranchNewline":     {reason: "A control character in a branch is refused.", remote: branch("a\nb")},
		"BranchNull":        {reason: "A null character in a branch is refused.", remote: branch("a\x00b")},
		"BranchLock":        {reason: "A branch that ends with .lock is refused.", remote: branch("a.lock")},
		"BranchPartLock":    {reason: "A branch with a part that ends with .lock is refused.", remote: branch("a.lock/b")},
		"BranchDot":         {reason: "A branch with a part that begins with a dot is refused.", remote: branch("a/.b")},
		"BranchEndsInDot":   {reason: "A branch that ends with a dot is refused.", remote: branch("a.")},
		"BranchDoubleSlash": {reason: "A branch with two slashes in a row is refused.", remote: branch("a//b")},
		"BranchSlash":       {reason: "A branch that ends with a slash is refused.", remote: branch("a/")},
		"BranchBackslash":   {reason: "A backslash in a branch is refused.", remote: branch(`a\b`)},
		"BranchNotUTF8":     {reason: "A branch that is not UTF-8 is refused.", remote: branch("a\xff")},
		"BranchLong":        {reason: "A branch of more than 240 bytes is refused.", remote: branch(strings.Repeat("a", 300))},
		"StateShort":        {reason: "A short name as the state ref is refused.", remote: state("state")},
		"StateTraversal":    {reason: "Two dots in the state ref are refused.", remote: state("refs/heads/../../x")},
		"StateTop":          {reason: "A state ref without a folder is refused.", remote: state("refs/x")},
		"StateIsBranch":     {reason: "A state ref that is the branch itself is refused.", remote: state("refs/heads/main")},
		"Basic":             {reason: "A user name with a password is accepted.", remote: auth(transport.Basic{Username: "u", Password: "p"}), want: true},
		"BasicEmpty":        {reason: "An empty password is refused.", remote: auth(transport.Basic{Username: "u"})},
		"BasicColon":        {reason: "A colon in the user name is refused.", remote: auth(transport.Basic{Username: "u:x", Password: "p"})},
		"BearerNewline":     {reason: "A line break in a token is refused.", remote: auth(transport.Bearer{Token: "t\n"})},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := tc.remote.Validate()
			if diff := cmp.Diff(tc.want, err == nil); diff != "" {
				t.Errorf("\n%s\nValidate(): -want, +got:\n%s\n%v", tc.reason, diff, err)
			}
		})
	}
}
