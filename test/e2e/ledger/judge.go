package ledger

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Answers of the judge. Without one, the judge fails, and the Gate measures on.
const (
	good = "good"
	bad  = "bad"
	held = ""
)

// judges answers all Gates of this package's tests.
var judges *judge

// A judge is a web server that reports whether a deployment is good, by the namespace in the path of the request.
type judge struct {
	server *httptest.Server
	// bundle is the path of a file with the certificate of the server.
	bundle string

	mu      sync.Mutex
	answers map[string]string
}

func startJudgeServer() *judge {
	j := &judge{answers: map[string]string{}, bundle: filepath.Join(os.TempDir(), fmt.Sprintf("intentplane-judge-%d.pem", os.Getpid()))}
	j.server = httptest.NewTLSServer(http.HandlerFunc(j.serveAnswer))
	j.writeCertificate()
	return j
}

// writeCertificate writes the certificate by which the provider trusts the server.
func (j *judge) writeCertificate() {
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: j.server.Certificate().Raw})
	if err := os.WriteFile(j.bundle, certificate, 0o600); err != nil {
		panic(err) // Without it no Gate passes.
	}
}

func (j *judge) closeServer() {
	j.server.Close()
	_ = os.Remove(j.bundle)
}

func (j *judge) hostOfServer() string { return strings.TrimPrefix(j.server.URL, "https://") }

// setJudgeAnswer sets the answer about the deployment of a namespace.
func (j *judge) setJudgeAnswer(namespace, answer string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.answers[namespace] = answer
}

func (j *judge) serveAnswer(w http.ResponseWriter, r *http.Request) {
	j.mu.Lock()
	answer := j.answers[strings.Trim(r.URL.Path, "/")]
	j.mu.Unlock()
	if answer == held {
		http.Error(w, "the test has not decided", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"state": %q}`, answer)
}
