// Package signature signs commits as Git does, and verifies that a trusted key signed them.
package signature

import (
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A Format of signatures that Git knows.
type Format string

// Formats of signatures.
const (
	// FormatSSH is a signature by an SSH key, of the namespace git.
	FormatSSH Format = "SSH"
	// FormatOpenPGP is a signature by an OpenPGP key.
	FormatOpenPGP Format = "OpenPGP"
)

// A Key is the signing key of commits.
type Key struct {
	// Format of the signatures.
	Format Format
	// Private key: for SSH in PEM, for OpenPGP armored.
	Private string
	// Passphrase of the key. Empty if it has none.
	Passphrase string
	// Trusted are other public keys whose signatures are accepted: for SSH in the form of authorized_keys, for OpenPGP armored.
	Trusted []byte
}

// String hides the key.
func (k Key) String() string { return string(k.Format) + " key [redacted]" }

// GoString hides the key.
func (k Key) GoString() string { return k.String() }

// A signingForm signs and verifies in one format.
type signingForm interface {
	signContent(content []byte) (string, error)
	verifyContent(content []byte, signature string) error
	// checkUsable returns an error if the key cannot sign any more.
	checkUsable() error
}

// A Signer signs, and verifies signatures of its own key and of trusted keys. It is safe for concurrent use.
type Signer struct {
	open func() (signingForm, error)
}

const (
	// minRSABits and maxRSABits are the minimum and the maximum length of an RSA key. A signature takes time by the third power of the length.
	minRSABits, maxRSABits = 2048, 16_384

	// maxPrivateBytes and maxTrustedBytes are the maximum sizes of a private key and of all trusted keys. Each signature may be compared with each trusted key.
	maxPrivateBytes, maxTrustedBytes = 64 << 10, 256 << 10
)

// isRSALength reports whether an RSA key may have a length in bits.
func isRSALength(bits int) bool { return bits >= minRSABits && bits <= maxRSABits }

func errWeakKey() error {
	return errors.Errorf("the signing key must be of ed25519, ecdsa or rsa, and an RSA key must have at least %d bits and at most %d", minRSABits, maxRSABits)
}

func errWeakTrustedKey() error {
	return errors.Errorf("each trusted signing key must be of ed25519, ecdsa or rsa, and an RSA key must have at least %d bits and at most %d", minRSABits, maxRSABits)
}

// New returns a signer that opens the key when it is first used, since that may take a while. The clock decides when a key has expired.
func New(k Key, now func() time.Time) *Signer {
	return &Signer{open: sync.OnceValues(func() (signingForm, error) {
		if len(k.Private) > maxPrivateBytes || len(k.Trusted) > maxTrustedBytes {
			return nil, errors.Errorf("the signing key may have %d KiB, and the trusted signing keys %d KiB", maxPrivateBytes>>10, maxTrustedBytes>>10)
		}
		switch k.Format {
		case FormatSSH:
			return newSSHForm(k)
		case FormatOpenPGP:
			return newOpenPGPForm(k, now)
		}
		return nil, errors.New("the format of the signing key is not known")
	})}
}

// Check returns an error if the key cannot be used. The error never holds any of it.
func (s *Signer) Check() error {
	f, err := s.open()
	if err != nil {
		return err
	}
	return f.checkUsable()
}

// Sign returns the armored signature of a content. It returns an error if the key cannot be used. The error never holds any of it.
func (s *Signer) Sign(content []byte) (string, error) {
	f, err := s.open()
	if err != nil {
		return "", err
	}
	return f.signContent(content)
}

// Verify returns an error if no trusted key signed the content, or the signer's own key cannot be used.
func (s *Signer) Verify(content []byte, signature string) error {
	f, err := s.open()
	if err != nil {
		return err
	}
	return f.verifyContent(content, signature)
}
