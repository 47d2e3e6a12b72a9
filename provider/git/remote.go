// Package git is a client that commits and pushes directories to branches of remote Git repositories.
//
// It has no working copy: it reads the trees of a branch's tip into memory,
// rebuilds only the trees on the way to the directories it owns, and pushes the
// new objects. Everything it did not write stays bit-identical, but for modes of old tools in the trees that it rebuilds.
package git

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/git/refs"
	"github.com/intentplane/intentplane/provider/git/transport"
	"github.com/intentplane/intentplane/provider/signature"
)

// A Remote is a branch of a repository, and the state ref beside it that
// records the deliveries.
type Remote struct {
	// URL of the repository: http, https, ssh or git@host:path, without credentials in it.
	URL string
	// Branch that is written, without refs/heads/.
	Branch string
	// StateRef is the full name of the ref that holds the state.
	StateRef string
	// Auth is how to authenticate. Nil is anonymous.
	Auth transport.Auth
	// CABundle holds PEM certificates. If it is set, only they are trusted.
	CABundle []byte
	// KnownHosts are the host keys of an SSH server, as OpenSSH writes them. SSH needs them.
	KnownHosts []byte
	// Proxy that the server is reached through. Nil means a direct connection.
	Proxy *transport.Proxy
	// Certificate to show to the server. Nil means no client certificate.
	Certificate *transport.Certificate
	// Signing key of commits. Nil leaves them unsigned.
	Signing *signature.Key
	// Namespace whose configuration names the remote: its budget is charged for the remote. Empty means the administrator.
	Namespace string
	// Guard refuses addresses to every connection that the remote leads to: to the server, to the proxy and to GitHub's API. Nil refuses no address, and is for
	// configurations of an administrator.
	Guard *address.Guard
}

// Validate returns an error if the remote must not be contacted.
// The error never contains a credential.
func (r Remote) Validate() error {
	if _, err := policy.ParseRepositoryURL(r.URL); err != nil {
		return err
	}
	if err := refs.CheckBranch(r.Branch); err != nil {
		return err
	}
	if err := refs.CheckRef(r.StateRef); err != nil {
		return err
	}
	if r.StateRef == r.branchRef() {
		return errors.Errorf("state ref %q is the branch itself", r.StateRef)
	}
	return r.serverOfRemote().Validate()
}

// serverOfRemote returns how the remote is reached.
func (r Remote) serverOfRemote() transport.Server {
	return transport.Server{
		URL: r.URL, Auth: r.Auth, CABundle: r.CABundle, KnownHosts: r.KnownHosts, Proxy: r.Proxy, Certificate: r.Certificate, Guard: r.Guard,
	}
}

// signingSecrets must not be seen in any message.
func (r Remote) signingSecrets() []string {
	if r.Signing == nil {
		return nil
	}
	return []string{r.Signing.Private, r.Signing.Passphrase}
}

func (r Remote) branchRef() string {
	return refs.BranchPrefix + r.Branch
}
