// Package certificate signs the certificates of servers on loopback.
package certificate

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// validity is longer than the life of a control plane of tests.
const validity = 365 * 24 * time.Hour

func encodePrivateKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), errors.Wrap(err, "cannot encode private key")
}

// Sign returns a certificate for a server on loopback, signed by a CA, and its key, all in PEM. It returns an error when the certificate and the key of the CA
// cannot be read.
func Sign(caCert, caKey []byte) (cert, key []byte, err error) {
	ca, err := tls.X509KeyPair(caCert, caKey)
	if err != nil {
		return nil, nil, errors.Wrap(err, "cannot read CA")
	}
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, errors.Wrap(err, "cannot generate key")
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: "localhost"},
		DNSNames:     []string{"localhost"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(validity),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.Leaf, k.Public(), ca.PrivateKey)
	if err != nil {
		return nil, nil, errors.Wrap(err, "cannot sign certificate")
	}
	key, err = encodePrivateKey(k)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), key, err
}
