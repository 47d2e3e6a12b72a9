package git

import (
	"encoding/base64"
	"net/url"
	"strings"
	"unicode"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
)

// redacted stands where a credential was.
const redacted = "[redacted]"

// Auth is one way to authenticate: Basic or Bearer. Nil is none.
type Auth interface {
	// method is what the transport sends.
	method() transport.AuthMethod
	// secrets lists what must never be seen, in every spelling in which a
	// server may send it back.
	secrets() []string
}

// Basic authenticates with a user name and a password or token.
type Basic struct {
	Username string
	Password string
}

// String never shows the password.
func (b Basic) String() string { return "basic " + redacted }

// GoString never shows the password.
func (b Basic) GoString() string { return b.String() }

func (b Basic) method() transport.AuthMethod {
	return &githttp.BasicAuth{Username: b.Username, Password: b.Password}
}

func (b Basic) secrets() []string {
	pair := base64.StdEncoding.EncodeToString([]byte(b.Username + ":" + b.Password))
	return []string{pair, b.Password, url.QueryEscape(b.Password), url.PathEscape(b.Password)}
}

// Bearer authenticates with a token.
type Bearer struct {
	Token string
}

// String never shows the token.
func (b Bearer) String() string { return "bearer " + redacted }

// GoString never shows the token.
func (b Bearer) GoString() string { return b.String() }

func (b Bearer) method() transport.AuthMethod {
	return &githttp.TokenAuth{Token: b.Token}
}

func (b Bearer) secrets() []string {
	return []string{b.Token, url.QueryEscape(b.Token), url.PathEscape(b.Token)}
}

func checkAuth(a Auth) error {
	if a == nil {
		return nil
	}
	for _, s := range a.secrets() {
		if s == "" {
			return errors.New("credentials are empty")
		}
		if strings.ContainsFunc(s, unicode.IsControl) {
			return errors.New("credentials contain a control character, perhaps a line break at the end")
		}
	}
	if b, ok := a.(Basic); ok && strings.ContainsFunc(b.Username, badInUsername) {
		return errors.New("user name contains a colon or a control character")
	}
	return nil
}

func badInUsername(r rune) bool {
	return r == ':' || unicode.IsControl(r)
}

// newRedactor removes the credentials of a from text that a server sent.
func newRedactor(a Auth) *strings.Replacer {
	if a == nil {
		return strings.NewReplacer()
	}
	pairs := []string{}
	for _, s := range a.secrets() {
		pairs = append(pairs, s, redacted)
	}
	return strings.NewReplacer(pairs...)
}
