package transport

import (
	"context"
	"crypto/rsa"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"golang.org/x/crypto/ssh"

	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/git/failure"
)

const (
	// defaultSSHUser is the SSH user of all public forges.
	defaultSSHUser = "git"

	dialTime      = 10 * time.Second
	handshakeTime = 15 * time.Second
	answerTime    = 45 * time.Second

	minRSABits = 2048

	// maxRSABits is the maximum length of an RSA key, and maxKeyBytes the maximum size of a private key, and of certificates: a signature takes time by the third
	// power of the length, and a tenant writes the key.
	maxRSABits, maxKeyBytes = 16_384, 64 << 10
)

// SSH authenticates with a private key.
type SSH struct {
	// PrivateKey in PEM.
	PrivateKey Secret
	// Passphrase of the key. Empty if it has none.
	Passphrase Secret
}

// String never shows the key.
func (s SSH) String() string { return "ssh " + redacted }

// GoString never shows the key.
func (s SSH) GoString() string { return s.String() }

func (s SSH) gitAuthMethod() transport.AuthMethod { return nil }

func (s SSH) listSecrets() []string { return []string{string(s.PrivateKey), string(s.Passphrase)} }

func (s SSH) validateSecret() error {
	if s.PrivateKey == "" {
		return errors.New("credentials are empty")
	}
	return nil
}

// newKeySigner returns the signer of the private key. It takes a while if the key has a passphrase.
func (s SSH) newKeySigner() (ssh.Signer, error) {
	signer, err := parsePrivateKey([]byte(s.PrivateKey), []byte(s.Passphrase))
	if err != nil {
		return nil, &failure.ClassifiedError{Class: failure.ClassInvalid, Detail: err.Error()}
	}
	if signer.PublicKey().Type() != ssh.KeyAlgoRSA {
		return signer, nil
	}
	algorithms, ok := signer.(ssh.AlgorithmSigner)
	if !ok {
		return nil, &failure.ClassifiedError{Class: failure.ClassInvalid, Detail: "the private key cannot sign in a way that is safe"}
	}
	return ssh.NewSignerWithAlgorithms(algorithms, []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256})
}

// parsePrivateKey never repeats the key in an error.
func parsePrivateKey(key, passphrase []byte) (ssh.Signer, error) {
	if len(key) > maxKeyBytes {
		return nil, errors.Errorf("the private key has more than %d KiB", maxKeyBytes>>10)
	}
	signer, err := ssh.ParsePrivateKey(key)
	var sealed *ssh.PassphraseMissingError
	switch {
	case errors.As(err, &sealed) && len(passphrase) == 0:
		return nil, errors.New("the private key needs a passphrase")
	case errors.As(err, &sealed):
		if signer, err = ssh.ParsePrivateKeyWithPassphrase(key, passphrase); err != nil {
			return nil, errors.New("the private key cannot be opened with this passphrase")
		}
	case err != nil:
		return nil, errors.New("the private key is malformed, or of a kind that is not supported")
	}
	return signer, checkPublicKey(signer.PublicKey())
}

func checkPublicKey(k ssh.PublicKey) error {
	switch k.Type() {
	case ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521:
		return nil
	case ssh.KeyAlgoRSA:
		c, ok := k.(ssh.CryptoPublicKey)
		if !ok {
			break
		}
		if r, ok := c.CryptoPublicKey().(*rsa.PublicKey); ok {
			return checkRSALength(r.N.BitLen())
		}
	}
	return errors.New("the private key must be of ed25519, ecdsa or rsa")
}

// checkRSALength returns an error for an RSA key that is too short to be safe, or too long to be used in time.
func checkRSALength(bits int) error {
	switch {
	case bits < minRSABits:
		return errors.Errorf("the RSA key has less than %d bits", minRSABits)
	case bits > maxRSABits:
		return errors.Errorf("the RSA key has more than %d bits", maxRSABits)
	}
	return nil
}

// An sshConn reaches one repository over SSH. It uses neither the agent, the configuration nor the known hosts of the user who runs the
// provider.
type sshConn struct {
	address string
	dialer  *net.Dialer
	path    string
	limit   int64
	stall   time.Duration
	answer  time.Duration
	config  func() (*ssh.ClientConfig, error)
}

func newSSHConnection(u policy.RepositoryURL, s Server, dialer *net.Dialer, l Limits) *sshConn {
	w := &sshConn{address: u.Address(), dialer: dialer, path: u.Path, limit: l.Bytes, stall: stallTime, answer: l.Wait}
	key, _ := s.Auth.(SSH) // Server.Validate has seen to it.
	user := u.User
	if user == "" {
		user = defaultSSHUser
	}
	// Many clients are made and never used.
	w.config = sync.OnceValues(func() (*ssh.ClientConfig, error) {
		signer, err := key.newKeySigner()
		if err != nil {
			return nil, err
		}
		hosts, err := readKnownHosts(s.KnownHosts)
		if err != nil {
			return nil, err
		}
		algorithms := hosts.hostKeyAlgorithms(w.address)
		if len(algorithms) == 0 {
			return nil, &failure.ClassifiedError{Class: failure.ClassTrust, Detail: "the known hosts have no key for its server"}
		}
		return &ssh.ClientConfig{
			User: user, Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)},
			HostKeyCallback: hosts.checkHostKey, HostKeyAlgorithms: algorithms,
		}, nil
	})
	return w
}

// dialSSHServer returns a connection that ends with the context.
func (w *sshConn) dialSSHServer(ctx context.Context) (*ssh.Client, error) {
	config, err := w.config()
	if err != nil {
		return nil, err
	}
	conn, err := w.dialer.DialContext(ctx, "tcp", w.address)
	if err != nil {
		return nil, err
	}
	visitedFromContext(ctx).recordConnection(conn)
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(handshakeTime)); err != nil {
		return nil, err
	}
	c, channels, requests, err := ssh.NewClientConn(conn, w.address, config)
	if err != nil {
		_ = conn.Close()
		return nil, explainHandshake(err)
	}
	return ssh.NewClient(c, channels, requests), conn.SetDeadline(time.Time{})
}

// explainHandshake returns the reason of a failed handshake, which the library gives almost only as text.
func explainHandshake(err error) error {
	var unlike *ssh.AlgorithmNegotiationError
	switch {
	case errors.As(err, new(*hostKeyError)):
		return err
	case errors.As(err, &unlike) && strings.Contains(unlike.What, "host key"):
		return &failure.ClassifiedError{Class: failure.ClassTrust, Detail: "its server has no host key of a kind that is in the known hosts"}
	case errors.As(err, &unlike):
		return &failure.ClassifiedError{Class: failure.ClassTrust, Detail: "its server knows no way to encrypt that is safe"}
	case strings.Contains(err.Error(), "unable to authenticate"):
		return &failure.ClassifiedError{Class: failure.ClassAuth, Detail: "the key was not accepted"}
	}
	return err
}

// remoteCommand returns the command for the server. Its shell must read the path as one word.
func remoteCommand(service, path string) string {
	return service + " '" + strings.NewReplacer("'", `'\''`, "!", `'\!'`).Replace(path) + "'"
}
