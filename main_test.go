package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	bigint "math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
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
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
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

// TestServesOnlyKnownClients serves as in a cluster. A client without a certificate of Crossplane's authority gets no answer.
func TestServesOnlyKnownClients(t *testing.T) {
	ours, otherAuthority, dir := newAuthority(t), newAuthority(t), t.TempDir()
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
		"CVE-2026-24748-Other": {
			reason: "A client with a certificate of another authority is refused.",
			certs:  []tls.Certificate{otherAuthority.issue()}, want: codes.Unavailable,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			roots := x509.NewCertPool()
			roots.AddCert(ours.cert)
			conf := &tls.Config{RootCAs: roots, ServerName: serverName, Certificates: tc.certs, MinVersion: tls.VersionTLS12}
			conn, err := grpc.NewClient("unix:"+socket, grpc.WithTransportCredentials(credentials.NewTLS(conf)))
			ours.must(err)
			defer conn.Close()
			for { // Until the server listens: its socket has a file before it does, and refuses connections until then.
				if probe, err := (&net.Dialer{}).DialContext(t.Context(), "unix", socket); err == nil {
					_ = probe.Close()
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

const (
	// functionBinary is the program that make build makes.
	functionBinary = "_output/bin/function"

	manyClaims = 1000

	// callsAtOnce is how many claims are reconciled at the same time.
	callsAtOnce = 10
)

// BenchmarkMemory measures the memory of a function's process after the calls of 1,000 claims, each with 20 objects at two Sites of its
// own: the call without answers, the first call with answers, and the calls after it was applied and delivered.
func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		pid, client := startFunction(b)
		work, all := make(chan int), sync.WaitGroup{}
		for range callsAtOnce {
			all.Go(func() {
				for n := range work {
					live(b, client, n)
				}
			})
		}
		for n := range manyClaims {
			work <- n
		}
		close(work)
		all.Wait()
		b.ReportMetric(memoryOf(b, pid, "VmRSS"), "function_rss_mib")
		b.ReportMetric(memoryOf(b, pid, "VmHWM"), "function_peak_rss_mib")
	}
}

// live makes the calls of one claim. They differ in all that a claim can differ in.
func live(b *testing.B, client fnv1.FunctionRunnerServiceClient, n int) {
	b.Helper()
	req := benchRequest(b, 20, fmt.Sprintf("edge%d", 2*n), fmt.Sprintf("edge%d", 2*n+1))
	fields := req.GetObserved().GetComposite().GetResource().GetFields()
	name := fmt.Sprintf("shop-%d", n)
	fields["metadata"].GetStructValue().Fields["name"] = structpb.NewStringValue(name)
	text := fields["spec"].GetStructValue().GetFields()["intent"].GetStringValue()
	fields["spec"].GetStructValue().Fields["intent"] = structpb.NewStringValue(strings.Replace(text, "shop", name, 1))
	first := proto.CloneOf(req)
	first.RequiredResources = nil
	ask(b, client, first)
	for range 3 {
		rsp := ask(b, client, req)
		if len(rsp.GetDesired().GetResources()) != 1 {
			b.Errorf("nothing is delivered: %v %v", rsp.GetResults(), rsp.GetConditions())
			return
		}
		observe(b, req, rsp)
	}
}

func ask(b *testing.B, client fnv1.FunctionRunnerServiceClient, req *fnv1.RunFunctionRequest) *fnv1.RunFunctionResponse {
	b.Helper()
	rsp, err := client.RunFunction(b.Context(), req, grpc.WaitForReady(true))
	if err != nil {
		b.Error(err)
	}
	return rsp
}

// startFunction starts a process with the flags that it has in a cluster, and connects to it.
func startFunction(b *testing.B) (int, fnv1.FunctionRunnerServiceClient) {
	b.Helper()
	dir, address := b.TempDir(), freeAddress(b)
	tlsConfig := certify(b, dir)
	p := exec.CommandContext(b.Context(), functionBinary, "--address="+address, "--tls-certs-dir="+dir)
	p.Stderr = os.Stderr
	if err := p.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = p.Wait() })
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(credentials.NewTLS(tlsConfig)))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	return p.Process.Pid, fnv1.NewFunctionRunnerServiceClient(conn)
}

func freeAddress(b *testing.B) string {
	b.Helper()
	l, err := (&net.ListenConfig{}).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// certify writes a certificate that is the server's, the client's and their authority's, and returns the client's side.
func certify(b *testing.B, dir string) *tls.Config {
	b.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	like := &x509.Certificate{
		SerialNumber: bigint.NewInt(1), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, like, like, key.Public(), key)
	if err != nil {
		b.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		b.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
	for name, content := range map[string][]byte{"tls.crt": public, "ca.crt": public, "tls.key": private} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(public)
	pair, err := tls.X509KeyPair(public, private)
	if err != nil {
		b.Fatal(err)
	}
	return &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS13}
}

// memoryOf a process, in MiB, as the kernel says in this field.
func memoryOf(b *testing.B, pid int, field string) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range bytes.Lines(status) {
		kib := 0.0
		if _, err := fmt.Sscanf(string(line), field+": %f kB", &kib); err == nil {
			return kib / 1024
		}
	}
	b.Fatalf("the kernel does not say %s", field)
	return 0
}
