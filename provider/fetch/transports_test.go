package fetch

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/provider/address"
)

// TestWiresOfNamespaces lets one namespace name many sets of certificates.
func TestWiresOfNamespaces(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	// Text around a certificate makes another set.
	setOf := func(n int) []byte { return append(fmt.Appendln(nil, n), bundle...) }
	w := newTransports(address.Guard{Loopback: true})
	use := func(namespace string, bundle []byte) *http.Transport {
		got, err := w.transportFor(namespace, bundle)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	system, good := use("hostile", nil), use("good", setOf(-1))
	for n := range 3 * maxTransports {
		use("hostile", setOf(n))
	}
	if diff := cmp.Diff(maxTransports+2, len(w.byTrust)); diff != "" {
		t.Errorf("\nA namespace has connections for a number of sets of certificates.\nsets: -want, +got:\n%s", diff)
	}
	if use("good", setOf(-1)) != good || use("good", nil) != system {
		t.Error("\nThe connections of other namespaces stay, and so do connections that trust the system's certificates.\ntransportFor(...): want the same transports")
	}
	if last := setOf(3*maxTransports - 1); use("hostile", last) != use("good", last) {
		t.Error("\nNamespaces that trust the same certificates share connections.\ntransportFor(...): want the same transport")
	}
	for _, unused := range w.byTrust {
		unused.usedAt = unused.usedAt.Add(-time.Hour)
	}
	use("good", setOf(-2))
	if diff := cmp.Diff(1, len(w.byTrust)); diff != "" {
		t.Errorf("\nConnections that no request used for long are forgotten.\nsets: -want, +got:\n%s", diff)
	}
}
