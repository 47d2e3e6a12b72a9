// Package signature signs commits as Git does, and tells whether others were signed by who is trusted.
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

// A Key is what commits are signed with.
type Key struct {
	// Format of the signatures.
	Format Format
	// Private key: for SSH in PEM, for OpenPGP armored.
	Private string
	// Passphrase of the key. Empty if it has none.
	Passphrase string
	// Trusted are the public keys of others whose signatures count as ours: for SSH in the form of authorized_keys, for OpenPGP
	// armored.
	Trusted []byte
}

// String never shows the key.
func (k Key) String() string { return string(k.Format) + " key [redacted]" }

// GoString never shows the key.
func (k Key) GoString() string { return k.String() }

// form is what a format can do.
type form interface {
	sign(content []byte) (string, error)
	verify(content []byte, signature string) error
	// usable returns an error if the key cannot sign any more.
	usable() error
}

// A Signer signs, and verifies what it or one that it trusts has signed. It is safe for concurrent use.
type Signer struct {
	open func() (form, error)
}

// minRSABits is how long an RSA key has to be.
const minRSABits = 2048

func errWeak() error {
	return errors.Errorf("the signing key must be of ed25519, ecdsa or rsa, and an RSA key must have %d bits", minRSABits)
}

func errWeakTrusted() error {
	return errors.Errorf("each trusted signing key must be of ed25519, ecdsa or rsa, and an RSA key must have %d bits", minRSABits)
}

// New returns a signer that opens the key when it is first used, since that may take a while. The clock says when keys end.
func New(k Key, now func() time.Time) *Signer {
	return &Signer{open: sync.OnceValues(func() (form, error) {
		switch k.Format {
		case FormatSSH:
			return newSSH(k)
		case FormatOpenPGP:
			return newOpenPGP(k, now)
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
	return f.usable()
}

// Sign returns the armored signature of a content. It returns an error if the key cannot be used. The error never holds any of it.
func (s *Signer) Sign(content []byte) (string, error) {
	f, err := s.open()
	if err != nil {
		return "", err
	}
	return f.sign(content)
}

// Verify returns an error if the content was not signed by a key that is trusted, or ours cannot be used.
func (s *Signer) Verify(content []byte, signature string) error {
	f, err := s.open()
	if err != nil {
		return err
	}
	return f.verify(content, signature)
}
