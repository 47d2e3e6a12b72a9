package kpack

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"net"
	"net/http"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/cert"
)

// certificates of the webhook, for an address of loopback. The webhook would make some for the name of a Service.
type certificates struct {
	crt, key []byte
}

func makeCertificates() (certificates, error) {
	crt, key, err := cert.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	return certificates{crt: crt, key: key}, errors.Wrap(err, "cannot make certificate")
}

// caCertificate signed the certificate.
func (c certificates) caCertificate() []byte { return c.crt }

// webhookSecret is where the webhook reads its certificate, which it keeps as long as that is valid for long enough.
func (c certificates) webhookSecret() *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{
		"server-cert.pem": base64.StdEncoding.EncodeToString(c.crt),
		"server-key.pem":  base64.StdEncoding.EncodeToString(c.key),
		"ca-cert.pem":     base64.StdEncoding.EncodeToString(c.caCertificate()),
	}}}
	o.SetAPIVersion("v1")
	o.SetKind("Secret")
	o.SetNamespace(Namespace)
	o.SetName("webhook-certs")
	return o
}

// newProbeClient returns a client that looks like a kubelet, which the webhook answers at each path.
func newProbeClient(ca []byte) (*http.Client, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, errors.New("cannot read certificate of webhook")
	}
	t := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}, DisableKeepAlives: true}
	return &http.Client{Transport: kubeletTransport{t}}, nil
}

// A kubeletTransport sends requests as a kubelet does.
type kubeletTransport struct{ http.RoundTripper }

// RoundTrip sends a request under the name of a kubelet. It returns an error if the other one does.
func (t kubeletTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", "kube-probe/1.36")
	return t.RoundTripper.RoundTrip(r)
}
