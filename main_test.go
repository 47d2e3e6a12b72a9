package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	bigint "math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
)

const serverName = "function.test"

// An authority issues certificates.
type authority struct {
	*testing.T

	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{T: t}
	template := &x509.Certificate{SerialNumber: bigint.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	a.cert, a.key = a.sign(template)
	return a
}

// sign a certificate, by the authority or, while there is none, by itself.
func (a *authority) sign(template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	a.must(err)
	parent, by := a.cert, a.key
	if parent == nil {
		parent, by = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	a.must(err)
	cert, err := x509.ParseCertificate(der)
	a.must(err)
	return cert, key
}

// issue a certificate for a server and for a client.
func (a *authority) issue() tls.Certificate {
	a.Helper()
	cert, key := a.sign(&x509.Certificate{
		SerialNumber: bigint.NewInt(2), Subject: pkix.Name{CommonName: serverName}, DNSNames: []string{serverName}, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	return tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert}
}

// write the files that a function is started with.
func (a *authority) write(dir string) {
	a.Helper()
	c := a.issue()
	key, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	a.must(err)
	for name, block := range map[string]*pem.Block{
		"ca.crt":  {Type: "CERTIFICATE", Bytes: a.cert.Raw},
		"tls.crt": {Type: "CERTIFICATE", Bytes: c.Leaf.Raw},
		"tls.key": {Type: "PRIVATE KEY", Bytes: key},
	} {
		a.must(os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600))
	}
}

func (a *authority) must(err error) {
	a.Helper()
	if err != nil {
		a.Fatal(err)
	}
}

// TestServesOnlyKnownClients serves as in a cluster. Whoever has no certificate of Crossplane's authority learns nothing.
func TestServesOnlyKnownClients(t *testing.T) {
	ours, other, dir := newAuthority(t), newAuthority(t), t.TempDir()
	ours.write(dir)
	socket := filepath.Join(dir, "socket")
	c := &cli{Network: "unix", Address: socket, TLSCertsDir: dir, MaxRecvMessageSize: 16, CacheSize: 1, TTL: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- c.Run() }()
	cases := map[string]struct {
		reason string
		certs  []tls.Certificate
		want   codes.Code
	}{
		"Crossplane":                   {reason: "A client with a certificate of the authority is answered.", certs: []tls.Certificate{ours.issue()}, want: codes.OK},
		"CVE-2026-24748-NoCertificate": {reason: "A client without a certificate is refused.", want: codes.Unavailable},
		"CVE-2026-24748-Other":         {reason: "A client with a certificate of another authority is refused.", certs: []tls.Certificate{other.issue()}, want: codes.Unavailable},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			roots := x509.NewCertPool()
			roots.AddCert(ours.cert)
			conf := &tls.Config{RootCAs: roots, ServerName: serverName, Certificates: tc.certs, MinVersion: tls.VersionTLS12}
			conn, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(credentials.NewTLS(conf)))
			ours.must(err)
			defer conn.Close()
			for { // Until the server listens.
				if _, err := os.Stat(socket); err == nil {
					break
				}
				select {
				case err := <-ended:
					t.Fatal(err)
				case <-time.After(10 * time.Millisecond):
				}
			}
			_, err = fnv1.NewFunctionRunnerServiceClient(conn).RunFunction(t.Context(), &fnv1.RunFunctionRequest{})
			if got := status.Code(err); got != tc.want {
				t.Errorf("%s\nRunFunction(...): want %s, got %v", tc.reason, tc.want, err)
			}
		})
	}
}
