package sites

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/promserver"
	"github.com/intentplane/intentplane/test/scene"
)

const (
	errorRatio = `max(error_ratio{job="{{service}}"})`

	good, bad = 0.01, 0.2
)

// allowLoopbackChecks allows Gates to query the servers of the tests. No user edits as fast as these tests do: five or ten edits of one deployment within
// seconds cost more than Crossplane's limit of events for a composite, which is 100 by default and one more each second. So there is room for them. The cost of
// a good revision, a bad one and the rollback is compared with Crossplane's defaults by TestBreakerStory, next door in disruption, and with real engines by
// "make bench".
func allowLoopbackChecks(o *controlplane.Options) {
	o.Function.Args = append(o.Function.Args, "--allow-loopback-checks")
	o.Provider.Args = append(o.Provider.Args, "--allow-loopback-checks", "--otlp-endpoint="+spans.URL)
	o.Provider.Env = append(o.Provider.Env, "SSL_CERT_FILE="+trustedBundle())
	o.CoreArgs = append(o.CoreArgs, "--circuit-breaker-burst=1000")
}

// trustedPath is a file of this process, which TestMain removes.
func trustedPath() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("intentplane-httptest-%d.pem", os.Getpid()))
}

// trustedBundle writes the certificate that all TLS servers of httptest have, so that a provider takes it for one of the system's.
func trustedBundle() string {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	defer s.Close()
	path := trustedPath()
	writeCertificate(path, s.Certificate().Raw)
	return path
}

func writeCertificate(path string, raw []byte) {
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600); err != nil {
		panic(err) // Without it no web check can be tested.
	}
}

// A trial is a stage whose Site is measured by a real Prometheus server. That scrapes a target each second, whose numbers the test drives.
type trial struct {
	*stage

	server *promserver.Server
	target *promserver.Target
}

// newMeasuredTrial measures the Site edge1 of a stage.
func newMeasuredTrial(s *stage) *trial {
	s.T.Helper()
	r := &trial{stage: s, target: promserver.NewTarget()}
	s.T.Cleanup(r.target.Close)
	r.target.Set("error_ratio", good)
	var err error
	r.server, err = promserver.New(s.T.Context(), s.T.TempDir(), promserver.Job{
		Name: claim, Interval: time.Second, Target: r.target, Labels: map[string]string{"namespace": s.Namespace, "service": claim},
	})
	s.Must(err)
	s.Must(r.server.Start(s.T.Context()))
	s.T.Cleanup(r.server.Stop)
	s.Patch(s.NewSite("edge1"), fmt.Sprintf(`{"spec":{"metrics":{"prometheus":{"address":%q}}}}`, r.server.URL()))
	return r
}

// newUnobservedTrial is a trial at a Site that no engine reports.
func newUnobservedTrial(t *testing.T) *trial {
	t.Helper()
	return newMeasuredTrial(&stage{Scene: scene.New(t, cp, "edge1")})
}

// describeJudged describes a claim with one check, which measures each second.
func (r *trial) describeJudged(replicas, count int) *unstructured.Unstructured {
	r.T.Helper()
	return r.claimWithChecks(r.Claim(claim, r.intentWithReplicas(replicas)), count)
}

// claimWithChecks is a claim with so many measurements.
func (r *trial) claimWithChecks(o *unstructured.Unstructured, count int) *unstructured.Unstructured {
	r.T.Helper()
	check := map[string]any{
		"name": "errors", "type": "Prometheus", "prometheus": map[string]any{"query": errorRatio}, "threshold": "<= 0.05",
		"initialDelay": "1s", "interval": "1s", "count": int64(count), "timeout": "3m", "consecutiveErrorLimit": int64(100),
	}
	return r.Set(o, []any{check}, "spec", "gatesConfig", "checks")
}

// breachObjective breaches the objective, and returns when it was scraped.
func (r *trial) breachObjective() time.Time {
	r.T.Helper()
	r.target.Set("error_ratio", bad)
	scrapes := r.target.Scrapes()
	r.Until("the breach is scraped", patience.Limit, func() bool { return r.target.Scrapes() > scrapes })
	return time.Now()
}
