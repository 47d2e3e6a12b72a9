// Package signature signs commits as Git does, and tells whether others were signed by who is trusted.
package signature

import (
	"sync"

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
}

// A Signer signs, and verifies what it or one that it trusts has signed. It is safe for concurrent use.
type Signer struct {
	open func() (form, error)
}

// New returns a signer that opens the key when it is first used, since that may take a while.
func New(k Key) *Signer {
	return &Signer{open: sync.OnceValues(func() (form, error) {
		switch k.Format {
		case FormatSSH:
			return newSSH(k)
		case FormatOpenPGP:
			return newOpenPGP(k)
		}
		return nil, errors.New("the format of the signing key is not known")
	})}
}

// Check returns an error if the key cannot be used. The error never holds any of it.
func (s *Signer) Check() error {
	_, err := s.open()
	return err
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
