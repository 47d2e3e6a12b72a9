package clusters

import (
	"net"
	"net/http"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/intentplane/intentplane/provider/address"
	"github.com/intentplane/intentplane/provider/clusters/account"
)

const (
	dialTimeout = 10 * time.Second

	// A connection on which nothing comes for silence is asked whether it lives, and is given up when no answer comes in time.
	silence    = 20 * time.Second
	pingAnswer = 10 * time.Second

	// maxHeader bounds the header of an answer, in bytes.
	maxHeader = 64 << 10

	// streamWindow and connectionWindow are how much of one answer, and of all answers of a connection, a cluster may send before the provider reads it,
	// in bytes: no account pays for that memory. At a delay of 50 ms a list still comes with 10 MiB a second. HTTP/2 of Go takes no larger connectionWindow.
	streamWindow     = 512 << 10
	connectionWindow = 4<<20 - 1

	// answersPerConnection is how many answers other than watches one connection has at once. They may wait for the turn of a large answer, and must
	// leave a part of connectionWindow for the answer that has it.
	answersPerConnection = 6
)

// newDynamicClient makes a client with its own transport, which ends with it: client-go keeps shared transports for ever. It follows no redirect,
// since a cluster could lead us to where only we can go, and uses no proxy of the environment.
func newDynamicClient(cfg *rest.Config, o Origin, l Limits) (dynamic.Interface, *http.Transport, error) {
	h, wire, err := newHTTPClient(cfg, newGuardedDialer(o, l))
	if err != nil {
		return nil, nil, err
	}
	d, err := dynamic.NewForConfigAndClient(cfg, h)
	return d, wire, errors.Wrap(err, "cannot make client")
}

// newGuardedDialer returns the dialer for a kubeconfig. A tenant's kubeconfig may lead neither to a private address nor to a machine that trusts
// each client.
func newGuardedDialer(o Origin, l Limits) *net.Dialer {
	d := &net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	if o != Administrator {
		d.Control = address.Guard{Loopback: l.Loopback}.Control
	}
	return d
}

// newHTTPClient returns a client that sends no request without an expectation, whose account pays for the answer.
func newHTTPClient(cfg *rest.Config, d *net.Dialer) (*http.Client, *http.Transport, error) {
	conf, err := rest.TLSConfigFor(cfg)
	if err != nil {
		return nil, nil, &RefusedError{Field: "certificates", Detail: "cannot be used"} // The error may repeat a key.
	}
	wire := &http.Transport{
		DialContext:         d.DialContext,
		TLSClientConfig:     conf,
		TLSHandshakeTimeout: dialTimeout,
		IdleConnTimeout:     90 * time.Second,
		ForceAttemptHTTP2:   true,
		// Names of kinds and dates are all that there is to say there.
		MaxResponseHeaderBytes: maxHeader,
		HTTP2: &http.HTTP2Config{
			SendPingTimeout: silence, PingTimeout: pingAnswer,
			MaxReceiveBufferPerStream: streamWindow, MaxReceiveBufferPerConnection: connectionWindow,
		},
	}
	auth, err := rest.HTTPWrappersForConfig(cfg, account.NewTransport(wire, answersPerConnection))
	if err != nil {
		return nil, nil, &RefusedError{Detail: "holds credentials that cannot be used"}
	}
	return &http.Client{Transport: auth, CheckRedirect: func(*http.Request, []*http.Request) error {
		return errors.New("the cluster redirects the request, and the provider follows no redirect")
	}}, wire, nil
}
