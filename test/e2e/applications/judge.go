package applications

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/test/controlplane"
)

// A judge is a web server that says whether the workload is good, by the namespace in the path of the request. A namespace without an answer
// is good.
type judge struct {
	server *httptest.Server
	// bundle is the path of a file with the certificate of the server, which the provider trusts.
	bundle string

	mu  sync.Mutex
	bad map[string]bool
}

// judges answers all Gates of this package's tests.
var judges *judge

func startJudgeServer() (*judge, error) {
	j := &judge{bad: map[string]bool{}, bundle: filepath.Join(os.TempDir(), fmt.Sprintf("intentplane-applications-%d.pem", os.Getpid()))}
	j.server = httptest.NewTLSServer(http.HandlerFunc(j.serveAnswer))
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: j.server.Certificate().Raw})
	return j, errors.Wrap(os.WriteFile(j.bundle, certificate, 0o600), "cannot write certificate")
}

func (j *judge) closeServer() {
	j.server.Close()
	_ = os.Remove(j.bundle) // It lies in the folder for temporary files.
}

func (j *judge) hostOfServer() string { return strings.TrimPrefix(j.server.URL, "https://") }

func (j *judge) setJudgeAnswer(namespace string, isBad bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.bad[namespace] = isBad
}

func (j *judge) serveAnswer(w http.ResponseWriter, r *http.Request) {
	j.mu.Lock()
	defer j.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"good": %t}`, !j.bad[strings.Trim(r.URL.Path, "/")])
}

// singleWebCheck asks the judge about a namespace.
func (j *judge) singleWebCheck(namespace string) map[string]any {
	return map[string]any{
		"name": "state", "type": "Web", "threshold": "== 1", "initialDelay": "1s", "interval": "1s", "count": int64(1), "timeout": "10m",
		"web": map[string]any{"url": j.server.URL + "/" + namespace, "expression": "answer.good"},
	}
}

// allowJudgeServer lets Gates ask the judge.
func allowJudgeServer(o *controlplane.Options) {
	o.Function.Args = append(o.Function.Args, "--allow-loopback-checks")
	o.Provider.Args = append(o.Provider.Args, "--allow-loopback-checks")
	o.Provider.Env = append(o.Provider.Env, "SSL_CERT_FILE="+judges.bundle)
}
