package transport

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/address"
)

const (
	schemeSSH = "ssh"

	// maxTrustBytes limits the certificates and the host keys of a server. The certificates of all public authorities have 230 KiB.
	maxTrustBytes = 256 << 10
)

// A Server is a repository, and how it is reached.
type Server struct {
	// URL of the repository: http, https, ssh or git@host:path, without credentials in it.
	URL string
	// Auth is how to authenticate. Nil is anonymous.
	Auth Auth
	// CABundle holds PEM certificates. If it is set, only they are trusted.
	CABundle []byte
	// KnownHosts are the host keys of an SSH server, as OpenSSH writes them. SSH needs them.
	KnownHosts []byte
	// Proxy that the server is reached through. Nil means a direct connection.
	Proxy *Proxy
	// Certificate to show to the server. Nil means no client certificate.
	Certificate *Certificate
	// Guard refuses addresses to every connection. Nil refuses no address.
	Guard *address.Guard
}

// Validate returns an error if the server must not be contacted. The error never contains a credential.
func (s Server) Validate() error {
	u, err := policy.ParseRepositoryURL(s.URL)
	if err != nil {
		return err
	}
	if max(len(s.CABundle), len(s.KnownHosts)) > maxTrustBytes {
		return errors.Errorf("CA bundle and known hosts must have at most %d KiB", maxTrustBytes>>10)
	}
	if err := s.checkScheme(u); err != nil {
		return err
	}
	if s.Auth == nil {
		return nil
	}
	return s.Auth.validateSecret()
}

// checkScheme returns an error if a setting of the server does not fit the scheme of its URL.
func (s Server) checkScheme(u policy.RepositoryURL) error {
	_, key := s.Auth.(SSH)
	_, app := s.Auth.(GitHubApp)
	switch {
	case u.Scheme == schemeSSH && !key:
		return errors.New("an SSH server needs credentials of type SSH")
	case u.Scheme == schemeSSH && (s.Proxy != nil || s.Certificate != nil || len(s.CABundle) > 0):
		return errors.New("an SSH server has neither a proxy, nor a client certificate, nor a CA bundle")
	case u.Scheme == schemeSSH:
		return checkKnownHosts(s.KnownHosts)
	case key, len(s.KnownHosts) > 0:
		return errors.New("an SSH key and known hosts need an SSH URL")
	case s.Certificate != nil && u.Scheme != "https":
		return errors.New("a client certificate needs an https URL")
	case app && (u.Scheme != "https" || s.Certificate != nil):
		return errors.New("a GitHub App needs an https URL, and no client certificate")
	}
	return s.Proxy.validateProxy()
}
