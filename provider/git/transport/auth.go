package transport

import (
	"strings"
	"unicode"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/intentplane/intentplane/provider/redaction"
)

// Auth is one way to authenticate: Basic, Bearer, SSH or GitHubApp. Nil means anonymous access.
type Auth interface {
	// validateSecret returns an error if it cannot be used.
	validateSecret() error
	// gitAuthMethod returns the credentials that the HTTP transport sends. Nil means no credentials, or credentials that are only known after a request.
	gitAuthMethod() transport.AuthMethod
	// listSecrets lists the secrets that a server may repeat.
	listSecrets() []string
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

func (b Basic) gitAuthMethod() transport.AuthMethod {
	return &githttp.BasicAuth{Username: b.Username, Password: b.Password}
}

func (b Basic) listSecrets() []string {
	return append(redaction.BasicPairs(b.Username, b.Password), b.Password)
}

// Bearer authenticates with a token.
type Bearer struct {
	Token string
}

// String never shows the token.
func (b Bearer) String() string { return "bearer " + redacted }

// GoString never shows the token.
func (b Bearer) GoString() string { return b.String() }

func (b Bearer) gitAuthMethod() transport.AuthMethod {
	return &githttp.TokenAuth{Token: b.Token}
}

func (b Bearer) listSecrets() []string { return []string{b.Token} }

func (b Basic) validateSecret() error {
	if strings.ContainsFunc(b.Username, isRefusedInUsername) {
		return errors.New("user name contains a colon or a control character")
	}
	return checkHeaderText(b.Password)
}

func (b Bearer) validateSecret() error { return checkHeaderText(b.Token) }

// checkHeaderText returns an error for a text that no header can have.
func checkHeaderText(s string) error {
	if s == "" {
		return errors.New("credentials are empty")
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		return errors.New("credentials contain a control character, perhaps a line break at the end")
	}
	return nil
}

func isRefusedInUsername(r rune) bool {
	return r == ':' || unicode.IsControl(r)
}

// newRedactor removes the credentials of a remote from text that a server sent.
func newRedactor(s Server, secrets ...string) *strings.Replacer {
	return redaction.NewReplacer(append(s.listSecrets(), secrets...)...)
}

// listSecrets returns the secrets of the server.
func (s Server) listSecrets() []string {
	out := []string{}
	if s.Auth != nil {
		out = append(out, s.Auth.listSecrets()...)
	}
	if s.Proxy != nil && s.Proxy.Password != "" {
		out = append(out, Basic{Username: s.Proxy.Username, Password: string(s.Proxy.Password)}.listSecrets()...)
	}
	if s.Certificate != nil {
		out = append(out, string(s.Certificate.Key))
	}
	return out
}
