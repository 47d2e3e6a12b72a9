// Package git delivers directories into branches of remote Git repositories.
//
// It has no working copy: it reads the trees of a branch's tip into memory,
// rebuilds only the trees on the way to the directories it owns, and pushes the
// new objects. Everything it did not write stays bit-identical.
package git

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/signature"
)

const schemeSSH = "ssh"

// A Remote is a branch of a repository, and the ref beside it that remembers
// what was delivered there.
type Remote struct {
	// URL of the repository: http, https, ssh or git@host:path, without credentials in it.
	URL string
	// Branch that is written, without refs/heads/.
	Branch string
	// StateRef is the full name of the ref that holds the state.
	StateRef string
	// Auth is how to authenticate. Nil is anonymous.
	Auth Auth
	// CABundle holds PEM certificates. If it is set, only they are trusted.
	CABundle []byte
	// KnownHosts are the host keys of an SSH server, as OpenSSH writes them. SSH needs them.
	KnownHosts []byte
	// Proxy that the server is reached through. Nil is none.
	Proxy *Proxy
	// Certificate to show to the server. Nil is none.
	Certificate *Certificate
	// Signing of commits. Nil is none.
	Signing *signature.Key
	// Namespace whose configuration names the remote: it pays for what the remote costs. Empty is the administrator's.
	Namespace string
	// Guard refuses addresses to every connection that the remote leads to: those to the server, to the proxy and to GitHub's API.
	// Nil refuses none, and is for what an administrator wrote.
	Guard *address.Guard
}

// Validate returns an error if the remote is one that must not be contacted.
// The error never contains a credential.
func (r Remote) Validate() error {
	u, err := policy.ParseRepositoryURL(r.URL)
	if err != nil {
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
	if err := r.checkScheme(u); err != nil {
		return err
	}
	if r.Auth == nil {
		return nil
	}
	return r.Auth.validate()
}

// checkScheme returns an error if the remote asks for what its way to the server does not have.
func (r Remote) checkScheme(u policy.RepositoryURL) error {
	_, key := r.Auth.(SSH)
	_, app := r.Auth.(GitHubApp)
	switch {
	case u.Scheme == schemeSSH && !key:
		return errors.New("an SSH server needs credentials of type SSH")
	case u.Scheme == schemeSSH && (r.Proxy != nil || r.Certificate != nil || len(r.CABundle) > 0):
		return errors.New("SSH knows neither proxies nor certificates of TLS")
	case u.Scheme == schemeSSH:
		return checkKnownHosts(r.KnownHosts)
	case key, len(r.KnownHosts) > 0:
		return errors.New("an SSH key and known hosts are for an SSH server")
	case r.Certificate != nil && u.Scheme != "https":
		return errors.New("a client certificate is for an https server")
	case app && (u.Scheme != "https" || r.Certificate != nil):
		return errors.New("a GitHub App is for an https server, and goes without a client certificate")
	}
	return r.Proxy.validate()
}

func (r Remote) branchRef() string {
	return branchPrefix + r.Branch
}

func Shorten(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
