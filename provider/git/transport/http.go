package transport

import (
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A Proxy is an HTTP proxy between the provider and a server.
type Proxy struct {
	// URL of the proxy, http or https, without credentials in it.
	URL string
	// Username and Password for the proxy. Empty if it asks for none.
	Username string
	Password Secret
}

// validateProxy never repeats the URL: it may hold a password.
func (p *Proxy) validateProxy() error {
	if p == nil {
		return nil
	}
	u, err := url.Parse(p.URL)
	switch {
	case err != nil:
		return errors.New("proxy URL is malformed")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("proxy URL has another scheme than http and https")
	case u.User != nil:
		return errors.New("proxy URL contains credentials: name a Secret instead")
	case u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return errors.New("proxy URL must have a host, and nothing behind it but a port")
	}
	if p.Username == "" && p.Password == "" {
		return nil
	}
	return Basic{Username: p.Username, Password: string(p.Password)}.validateSecret()
}

// proxyOfRequests returns the function that selects the proxy of a request. A proxy sees the targets of deliveries, and the content for an http:// remote. So
// only a configuration chooses one, and never the environment, which its author does not see.
func (p *Proxy) proxyOfRequests() (func(*http.Request) (*url.URL, error), error) {
	if p == nil {
		return nil, nil //nolint:nilnil // Nil means a direct connection for the transport.
	}
	u, err := url.Parse(p.URL)
	if err != nil {
		return nil, errors.New("proxy URL is malformed")
	}
	if p.Username != "" || p.Password != "" {
		u.User = url.UserPassword(p.Username, string(p.Password))
	}
	return http.ProxyURL(u), nil
}

// A Certificate identifies the provider to a server.
type Certificate struct {
	// Chain of certificates in PEM, ours first.
	Chain []byte
	// Key of our certificate in PEM.
	Key Secret
}

func newHTTPTransport(s Server, dialer *net.Dialer) (*http.Transport, error) {
	trust, err := newTLSConfig(s.CABundle)
	if err != nil {
		return nil, err
	}
	proxy, err := s.Proxy.proxyOfRequests()
	if err != nil {
		return nil, err
	}
	t := &http.Transport{
		Proxy:                 proxy,
		DialContext:           dialer.DialContext,
		TLSClientConfig:       trust.Clone(),
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: answerTime,
		IdleConnTimeout:       90 * time.Second,
		MaxIdleConnsPerHost:   4,
		ForceAttemptHTTP2:     true,
	}
	if s.Certificate == nil {
		return t, nil
	}
	pair, err := s.Certificate.readKeyPair()
	if err != nil {
		return nil, err
	}
	t.TLSClientConfig.Certificates = []tls.Certificate{pair}
	if s.Proxy != nil {
		// It is used for the proxy itself only, which must not be shown the certificate.
		t.DialTLSContext = (&tls.Dialer{NetDialer: dialer, Config: trust}).DialContext
	}
	return t, nil
}

// readKeyPair returns the certificates with their key. The error holds neither.
func (c *Certificate) readKeyPair() (tls.Certificate, error) {
	if len(c.Chain) > maxKeyBytes || len(c.Key) > maxKeyBytes {
		return tls.Certificate{}, errors.Errorf("client certificate or its key has more than %d KiB", maxKeyBytes>>10)
	}
	pair, err := tls.X509KeyPair(c.Chain, []byte(c.Key))
	if err != nil {
		return tls.Certificate{}, errors.New("client certificate and its key are malformed, or do not belong together")
	}
	if key, isRSA := pair.PrivateKey.(*rsa.PrivateKey); isRSA && key.N.BitLen() > maxRSABits {
		return tls.Certificate{}, errors.Errorf("the RSA key of the client certificate has more than %d bits", maxRSABits)
	}
	return pair, nil
}

func newTLSConfig(bundle []byte) (*tls.Config, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(bundle) == 0 {
		return conf, nil
	}
	conf.RootCAs = x509.NewCertPool()
	if !conf.RootCAs.AppendCertsFromPEM(bundle) {
		return nil, errors.New("CA bundle holds no PEM certificate")
	}
	return conf, nil
}
