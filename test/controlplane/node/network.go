package node

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/controlplane/port"
)

// ServiceNetwork makes the names of Services reachable: it is an HTTP proxy that connects to the pods behind <service>.<namespace>:<port>.
// gRPC leaves the lookup of names to the proxy of the environment.
func (n *Node) ServiceNetwork() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect {
			http.Error(w, "only CONNECT is served", http.StatusMethodNotAllowed)
			return
		}
		pod, err := n.dialService(r.Context(), r.Host)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer func() { _ = pod.Close() }()
		caller, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = caller.Close() }()
		if _, err := io.WriteString(caller, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
			return
		}
		relayConnections(caller, pod)
	}))
}

func (n *Node) dialService(ctx context.Context, host string) (net.Conn, error) {
	service, text, ok := strings.Cut(host, "."+n.o.Namespace+":")
	number, err := strconv.ParseInt(text, 10, 32)
	if !ok || err != nil {
		return nil, errors.Errorf("cannot find %s: only Services of %s are served", host, n.o.Namespace)
	}
	mapped, err := n.hostPortOfService(ctx, service, int32(number))
	if err != nil {
		return nil, err
	}
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", port.Address(mapped))
	return c, errors.Wrapf(err, "cannot reach Service %s", service)
}

// relayConnections copies both ways until one side ends.
func relayConnections(a, b net.Conn) {
	done := make(chan struct{}, 2)
	transfer := func(target io.Writer, source io.Reader) {
		_, _ = io.Copy(target, source) // The other side sees the end of the connection.
		done <- struct{}{}
	}
	go transfer(a, b)
	go transfer(b, a)
	<-done
}
