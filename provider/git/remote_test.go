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
	with := func(change func(r *Remote)) Remote {
		r := ok
		change(&r)
		return r
	}
	url := func(u string) Remote { return with(func(r *Remote) { r.URL = u }) }
	branch := func(b string) Remote { return with(func(r *Remote) { r.Branch = b }) }
	state := func(s string) Remote { return with(func(r *Remote) { r.StateRef = s }) }
	auth := func(a transport.Auth) Remote { return with(func(r *Remote) { r.Auth = a }) }

	cases := map[string]struct {
		reason string
		remote Remote
		want   bool
	}{
		"HTTPS":             {reason: "https is the usual case", remote: ok, want: true},
		"HTTPWithPort":      {reason: "http with a port is allowed", remote: url("http://127.0.0.1:8080/r.git"), want: true},
		"EscapedSpace":      {reason: "Some hosts have projects with spaces", remote: url("https://h/a%20b/_git/c"), want: true},
		"IPv6":              {reason: "An address is a host", remote: url("http://[::1]:80/r"), want: true},
		"NestedBranch":      {reason: "Branches have slashes", remote: branch("env/prod"), want: true},
		"StateBranch":       {reason: "The state may be a branch", remote: state("refs/heads/intentplane-state/demo"), want: true},
		"Empty":             {reason: "A URL is needed", remote: url("")},
		"File":              {reason: "Local files are nobody's remote", remote: url("file:///etc")},
		"Ext":               {reason: "ext runs commands", remote: url("ext::sh -c id")},
		"ExtBare":           {reason: "ext runs commands", remote: url("ext::id")},
		"SSHWithoutKey":     {reason: "SSH needs a key", remote: url("ssh://git@h/r")},
		"SCPWithoutKey":     {reason: "The form of scp is SSH", remote: url("git@h:r.git")},
		"Option":            {reason: "A URL is never an option", remote: url("--upload-pack=touch /tmp/x")},
		"OptionInHost":      {reason: "A host is never an option", remote: url("http://-oProxyCommand=x/r")},
		"OptionInPath":      {reason: "A path is never an option", remote: url("http://h/--upload-pack=x")},
		"Userinfo":          {reason: "Credentials belong in a Secret", remote: url("https://u:p@h/r")},
		"Username":          {reason: "Credentials belong in a Secret", remote: url("https://u@h/r")},
		"Newline":           {reason: "No header injection", remote: url("https://h/r\nHost: x")},
		"EscapedNewline":    {reason: "No header injection by escapes", remote: url("https://h/r%0aHost")},
		"ZeroWidth":         {reason: "No lookalikes", remote: url("https://h/r\u200b")},
		"Traversal":         {reason: "No dots in the path", remote: url("https://h/a/../b")},
		"EscapedTraversal":  {reason: "No escaped dots in the path", remote: url("https://h/a/%2e%2e/b")},
		"Query":             {reason: "A query would shift what is asked", remote: url("https://h/r?service=x")},
		"EmptyQuery":        {reason: "A query would shift what is asked", remote: url("https://h/r?")},
		"Fragment":          {reason: "A fragment means nothing", remote: url("https://h/r#x")},
		"NoPath":            {reason: "A host is not a repository", remote: url("https://h/")},
		"NoHost":            {reason: "A path is not a repository", remote: url("https:///r")},
		"BranchTraversal":   {reason: "Two dots are a range", remote: branch("../../x")},
		"BranchFull":        {reason: "A short name is wanted", remote: branch("refs/heads/main")},
		"BranchTraversal2":  {reason: "Two dots are a range", remote: branch("refs/heads/../../x")},
		"BranchOption":      {reason: "A branch is never an option", remote: branch("--foo")},
		"BranchPartOption":  {reason: "No part is an option", remote: branch("a/-b")},
		"BranchReflog":      {reason: "@{ is a reflog", remote: branch("a@{1}")},
		"BranchAt":          {reason: "@ is HEAD", remote: branch("@")},
		"BranchHead":        {reason: "HEAD is no branch", remote: branch("HEAD")},
		"BranchTilde":       {reason: "~ is an ancestor", remote: branch("a~1")},
		"BranchCaret":       {reason: "^ is a parent", remote: branch("a^")},
		"BranchColon":       {reason: ": is a refspec", remote: branch("a:b")},
		"BranchGlob":        {reason: "* is a pattern", remote: branch("a*")},
		"BranchSpace":       {reason: "A space ends a name on the wire", remote: branch("a b")},
		"BranchNewline":     {reason: "A control character ends a name", remote: branch("a\nb")},
		"BranchNull":        {reason: "Null ends a name on the wire", remote: branch("a\x00b")},
		"BranchLock":        {reason: ".lock is Git's", remote: branch("a.lock")},
		"BranchPartLock":    {reason: ".lock is Git's in each part", remote: branch("a.lock/b")},
		"BranchDot":         {reason: "No part begins with a dot", remote: branch("a/.b")},
		"BranchEndsInDot":   {reason: "No name ends with a dot", remote: branch("a.")},
		"BranchDoubleSlash": {reason: "No part is empty", remote: branch("a//b")},
		"BranchSlash":       {reason: "No part is empty", remote: branch("a/")},
		"BranchBackslash":   {reason: "A backslash is a slash elsewhere", remote: branch(`a\b`)},
		"BranchNotUTF8":     {reason: "Names are UTF-8", remote: branch("a\xff")},
		"BranchLong":        {reason: "Names are bounded", remote: branch(strings.Repeat("a", 300))},
		"StateShort":        {reason: "The state has a full name", remote: state("state")},
		"StateTraversal":    {reason: "Two dots are a range", remote: state("refs/heads/../../x")},
		"StateTop":          {reason: "refs/x is not in a folder", remote: state("refs/x")},
		"StateIsBranch":     {reason: "The state is not the branch", remote: state("refs/heads/main")},
		"Basic":             {reason: "A password", remote: auth(transport.Basic{Username: "u", Password: "p"}), want: true},
		"BasicEmpty":        {reason: "An empty password is a mistake", remote: auth(transport.Basic{Username: "u"})},
		"BasicColon":        {reason: "A colon would end the name", remote: auth(transport.Basic{Username: "u:x", Password: "p"})},
		"BearerNewline":     {reason: "A line break would end the header", remote: auth(transport.Bearer{Token: "t\n"})},
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
