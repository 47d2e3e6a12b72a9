package kubernetes

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// generateKeyPair returns a private and a public key as PEM.
func generateKeyPair() (private, public []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, errors.Wrap(err, "cannot generate key")
	}
	private, privateErr := encodePrivateKey(key)
	public, publicErr := encodePublicKey(key)
	return private, public, errors.Join(privateErr, publicErr)
}

func encodePublicKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), errors.Wrap(err, "cannot encode public key")
}

func encodePrivateKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), errors.Wrap(err, "cannot encode private key")
}

// newBearerToken returns a bearer token that cannot be guessed.
func newBearerToken() string {
	return rand.Text()
}
