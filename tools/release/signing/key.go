// Package signing signs packages and files of a release as cosign does, with a key of the caller, and records the signatures in a transparency log.
package signing

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"encoding/base64"
	"fmt"
	"os"

	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"
)

// A Key is a private key with its public half.
type Key struct {
	signer signature.Signer

	// Public is the public key, as PEM.
	Public []byte
}

// ReadKey reads a private key from a file: a key of "cosign generate-key-pair" with its password, or an ECDSA or RSA key as PEM. Signatures are of SHA-256
// digests, the only ones that Crossplane accepts with an entry of a transparency log.
func ReadKey(file string, password []byte) (*Key, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read the key: %w", err)
	}
	private, err := cryptoutils.UnmarshalPEMToPrivateKey(text, func(bool) ([]byte, error) { return password, nil })
	if err != nil {
		return nil, fmt.Errorf("cannot read key %s (COSIGN_PASSWORD has its password): %w", file, err)
	}
	switch private.(type) {
	case *ecdsa.PrivateKey, *rsa.PrivateKey:
	default:
		return nil, fmt.Errorf("cannot sign with key %s: want an ECDSA or RSA key, got %T", file, private)
	}
	signer, err := signature.LoadSigner(private, crypto.SHA256)
	if err != nil {
		return nil, fmt.Errorf("cannot sign with key %s: %w", file, err)
	}
	public, err := signer.PublicKey()
	if err != nil {
		return nil, fmt.Errorf("cannot read the public half of key %s: %w", file, err)
	}
	encoded, err := cryptoutils.MarshalPublicKeyToPEM(public)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the public half of key %s: %w", file, err)
	}
	return &Key{signer: signer, Public: encoded}, nil
}

// SignFile returns the signature of a text in base64, as in the file that "cosign sign-blob --output-signature" writes.
func (k *Key) SignFile(text []byte) ([]byte, error) {
	raw, err := k.signer.SignMessage(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("cannot sign: %w", err)
	}
	return []byte(base64.StdEncoding.EncodeToString(raw)), nil
}
