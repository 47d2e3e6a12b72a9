package fetch

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/intentplane/intentplane/provider/address"
)

const (
	maxHeaderBytes = 64 << 10

	// streamWindow and connectionWindow are how many bytes of one answer, and of all answers of a connection, a server may send before they are read.
	streamWindow     = 256 << 10
	connectionWindow = 2 << 20

	idleTimeout = 90 * time.Second

	// maxBundleBytes limits a set of certificates. The certificates of all public authorities have 230 KiB.
	maxBundleBytes = 256 << 10

	// maxTransports is the number of sets of certificates of one namespace that connections are kept for.
	maxTransports = 16
)

// transports have the connections to servers, by the certificates that they trust. A namespace that names many sets of certificates closes its own
// connections. They are safe for concurrent use.
type transports struct {
	guard address.Guard

	mu sync.Mutex
	// byTrust has each set of certificates that requests used within the last minutes.
	byTrust map[[sha256.Size]byte]*sharedTransport
}

// A sharedTransport has the connections that trust one set of certificates.
type sharedTransport struct {
	transport *http.Transport
	// namespace that used the certificates first. Empty for the certificates of the system.
	namespace string
	usedAt    time.Time
}

func newTransports(g address.Guard) *transports {
	return &transports{guard: g, byTrust: map[[sha256.Size]byte]*sharedTransport{}}
}

// transportFor returns the connections that trust a set of certificates, for a request of a namespace. It returns an Error for a set without a certificate.
func (w *transports) transportFor(namespace string, bundle []byte) (*http.Transport, error) {
	key := sha256.Sum256(bundle)
	if known := w.findTransport(key); known != nil {
		return known, nil
	}
	created, err := w.newTransport(bundle)
	if err != nil {
		return nil, err
	}
	if len(bundle) == 0 {
		namespace = ""
	}
	return w.addTransport(key, &sharedTransport{transport: created, namespace: namespace, usedAt: time.Now()}), nil
}

// findTransport returns the connections for a set of certificates, or nil.
func (w *transports) findTransport(key [sha256.Size]byte) *http.Transport {
	w.mu.Lock()
	defer w.mu.Unlock()
	known := w.byTrust[key]
	if known == nil {
		return nil
	}
	known.usedAt = time.Now()
	return known.transport
}

// addTransport adds connections, unless another request was first, and returns the connections to use. It closes unused connections, and the oldest connections of a
// namespace with too many.
func (w *transports) addTransport(key [sha256.Size]byte, created *sharedTransport) *http.Transport {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known := w.byTrust[key]; known != nil {
		return known.transport
	}
	count, oldest := 0, key
	for k, other := range w.byTrust {
		switch {
		case created.usedAt.Sub(other.usedAt) > idleTimeout+Timeout:
			w.closeTransport(k)
		case other.namespace != created.namespace || other.namespace == "":
		default:
			if count++; oldest == key || other.usedAt.Before(w.byTrust[oldest].usedAt) {
				oldest = k
			}
		}
	}
	if count >= maxTransports {
		w.closeTransport(oldest)
	}
	w.byTrust[key] = created
	return created.transport
}

// closeTransport closes the idle connections for a set of certificates, and each other connection once its request has ended.
func (w *transports) closeTransport(key [sha256.Size]byte) {
	w.byTrust[key].transport.CloseIdleConnections()
	delete(w.byTrust, key)
}

func (w *transports) newTransport(bundle []byte) (*http.Transport, error) {
	if len(bundle) > maxBundleBytes {
		return nil, Error(ProblemBundle)
	}
	conf := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(bundle) > 0 {
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(bundle) {
			return nil, Error(ProblemUntrusted)
		}
	}
	d := &net.Dialer{Timeout: Timeout, Control: w.guard.Control}
	return &http.Transport{
		DialContext: d.DialContext, TLSClientConfig: conf, TLSHandshakeTimeout: Timeout, ForceAttemptHTTP2: true,
		MaxResponseHeaderBytes: maxHeaderBytes, MaxConnsPerHost: 32, IdleConnTimeout: idleTimeout,
		HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: streamWindow, MaxReceiveBufferPerConnection: connectionWindow},
	}, nil
}
