package git

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// GitHubApp authenticates as an installation of a GitHub App, with tokens that the App's key is exchanged for.
type GitHubApp struct {
	AppID          string
	InstallationID string
	// PrivateKey of the App in PEM.
	PrivateKey Secret
	// BaseURL of GitHub's API, https. Empty is the public one.
	BaseURL string
}

// String never shows the key.
func (a GitHubApp) String() string { return "GitHub App " + redacted }

// GoString never shows the key.
func (a GitHubApp) GoString() string { return a.String() }

func (a GitHubApp) method() transport.AuthMethod { return nil }

func (a GitHubApp) secrets() []string { return []string{string(a.PrivateKey)} }

func (a GitHubApp) check() error {
	if a.PrivateKey == "" {
		return errors.New("credentials are empty")
	}
	return nil
}
