package transport

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/intentplane/intentplane/provider/git/failure"
	"github.com/intentplane/intentplane/provider/githubapp"
)

// GitHubApp authenticates as an installation of a GitHub App, with tokens that the App's key is exchanged for.
type GitHubApp struct {
	AppID          string
	InstallationID string
	// PrivateKey of the App in PEM.
	PrivateKey Secret
	// BaseURL of GitHub's API, https. Empty means the public API.
	BaseURL string
}

// String never shows the key.
func (a GitHubApp) String() string { return "GitHub App " + redacted }

// GoString never shows the key.
func (a GitHubApp) GoString() string { return a.String() }

func (a GitHubApp) gitAuthMethod() transport.AuthMethod { return nil }

func (a GitHubApp) listSecrets() []string { return []string{string(a.PrivateKey)} }

func (a GitHubApp) validateSecret() error { return a.tokenSource().Check() }

func (a GitHubApp) tokenSource() githubapp.App {
	return githubapp.App{ID: a.AppID, Installation: a.InstallationID, PrivateKey: string(a.PrivateKey), BaseURL: a.BaseURL}
}

// installation is a GitHub App in use.
type installation struct {
	tokens *githubapp.Tokens
	// last token that was used, and the replacer that removes it from text.
	last atomic.Pointer[usedToken]
}

// usedToken is a token that ends soon.
type usedToken struct {
	token    string
	redactor *strings.Replacer
}

// newInstallation asks through the way that the repository is reached by.
func newInstallation(a Auth, wire http.RoundTripper, now func() time.Time) *installation {
	app, ok := a.(GitHubApp)
	if !ok {
		return nil
	}
	return &installation{tokens: githubapp.New(app.tokenSource(), bodyLimit{next: stallLimit{next: wire, time: stallTime}, limit: maxBodyBytes}, now)}
}

// gitAuthMethod returns the credentials that the transport sends.
func (i *installation) gitAuthMethod(ctx context.Context) (transport.AuthMethod, error) {
	token, err := i.tokens.Token(ctx)
	var refused *githubapp.RefusedError
	if errors.As(err, &refused) {
		class := failure.ClassAuth
		if refused.Status >= http.StatusInternalServerError || refused.Status == http.StatusTooManyRequests {
			class = failure.ClassTransient
		}
		return nil, &failure.ClassifiedError{Class: class, Detail: refused.Error()}
	}
	if errors.As(err, new(*githubapp.KeyError)) {
		return nil, &failure.ClassifiedError{Class: failure.ClassInvalid, Detail: (&githubapp.KeyError{}).Error()}
	}
	if err != nil {
		return nil, err
	}
	b := Basic{Username: "x-access-token", Password: token}
	i.last.Store(&usedToken{token: token, redactor: newRedactor(Server{Auth: b})})
	return b.gitAuthMethod(), nil
}

// forgetToken forgets the token, for a server that does not take it will not take it later.
func (i *installation) forgetToken() {
	if l := i.last.Load(); l != nil {
		i.tokens.Forget(l.token)
	}
}
