// Package promserver runs a real Prometheus server that scrapes targets whose numbers a test drives.
package promserver

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/intentplane/intentplane/test/controlplane/port"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
	"github.com/intentplane/intentplane/test/patience"
)

const (
	variable = "PROMETHEUS"
	poll     = 100 * time.Millisecond
)

// A Target exposes numbers, by the names of their metrics with labels: errors_total{job="shop"}. It is safe for concurrent use.
type Target struct {
	server *httptest.Server

	mu      sync.Mutex
	numbers map[string]float64
	scrapes int
}

// NewTarget returns a Target without numbers.
func NewTarget() *Target {
	t := &Target{numbers: map[string]float64{}}
	t.server = httptest.NewServer(http.HandlerFunc(t.serveMetrics))
	return t
}

// NewTargetOf returns a Target whose numbers a handler of the caller exposes.
func NewTargetOf(h http.Handler) *Target {
	return &Target{server: httptest.NewServer(h), numbers: map[string]float64{}}
}

// NewTargetAt returns a Target whose numbers another program exposes, at a host and port. It is not there while that program does not answer.
func NewTargetAt(address string) *Target {
	return NewTargetOf(&httputil.ReverseProxy{
		Rewrite:      func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: address}) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	})
}

func (t *Target) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.scrapes++
	for _, name := range slices.Sorted(maps.Keys(t.numbers)) {
		_, _ = fmt.Fprintf(w, "%s %g\n", name, t.numbers[name])
	}
}

// Set a number.
func (t *Target) Set(metric string, value float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.numbers[metric] = value
}

// Add to numbers, all of them between the same two scrapes: counters whose rates are compared have to grow together.
func (t *Target) Add(deltas map[string]float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for metric, delta := range deltas {
		t.numbers[metric] += delta
	}
}

// Clear all numbers: the target is there, and has no data.
func (t *Target) Clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.numbers)
}

// Scrapes is how often the target was scraped.
func (t *Target) Scrapes() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.scrapes
}

// Close the target.
func (t *Target) Close() { t.server.Close() }

// A Job is a job of Prometheus: a set of targets with one interval.
type Job struct {
	// Name of the job, which is the value of the label job.
	Name string

	// Interval at which the target is scraped.
	Interval time.Duration

	// Target that is scraped.
	Target *Target

	// Labels that all series of the target have, the series "up" too.
	Labels map[string]string
}

// scrapeConfig returns the job as an item of scrape_configs. One without a target has none to scrape.
func (j Job) scrapeConfig() string {
	targets := ""
	if j.Target != nil {
		targets = fmt.Sprintf("%q", strings.TrimPrefix(j.Target.server.URL, "http://"))
	}
	labels := make([]string, 0, len(j.Labels))
	for _, name := range slices.Sorted(maps.Keys(j.Labels)) {
		labels = append(labels, fmt.Sprintf("%s: %q", name, j.Labels[name]))
	}
	return fmt.Sprintf("- {job_name: %s, scrape_interval: %s, scrape_timeout: %s, static_configs: [{targets: [%s], labels: {%s}}]}",
		j.Name, j.Interval, min(j.Interval, 5*time.Second), targets, strings.Join(labels, ", "))
}

// A Server is a Prometheus server. Its data outlive it, until its folder is removed.
type Server struct {
	dir, program, address string
	cmd                   *exec.Cmd
	log                   bytes.Buffer
}

// New returns a Server that does not run yet, and keeps its data in a folder. It returns an error if Prometheus is not built, or if
// the folder cannot be written.
func New(ctx context.Context, dir string, jobs ...Job) (*Server, error) {
	program, err := findProgram(ctx)
	if err != nil {
		return nil, err
	}
	free, err := port.Free(1)
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, program: program, address: fmt.Sprintf("127.0.0.1:%d", free[0])}
	return s, s.writeConfig(jobs)
}

// writeConfig writes the jobs that the server scrapes when it reads its configuration next.
func (s *Server) writeConfig(jobs []Job) error {
	text := strings.Builder{}
	_, _ = fmt.Fprintln(&text, "scrape_configs:")
	for _, j := range jobs {
		_, _ = fmt.Fprintln(&text, j.scrapeConfig())
	}
	return errors.Wrap(os.WriteFile(filepath.Join(s.dir, "prometheus.yml"), []byte(text.String()), 0o600), "cannot write configuration")
}

// Scrape these jobs from now on, and no others: series without a target keep their samples. It returns an error if the server does not run,
// or does not answer.
func (s *Server) Scrape(jobs ...Job) error {
	if err := s.writeConfig(jobs); err != nil {
		return err
	}
	if s.cmd == nil || s.cmd.Process == nil {
		return errors.New("cannot reload configuration: the server does not run")
	}
	return errors.Wrap(s.cmd.Process.Signal(syscall.SIGHUP), "cannot reload configuration")
}

// findProgram returns the program that the environment names, else the program that tools/tools.sh built.
func findProgram(ctx context.Context) (string, error) {
	path, err := toolbox.Path(ctx, variable)
	return path, errors.Wrap(err, `cannot find Prometheus: run "make tools"`)
}

// URL of the server.
func (s *Server) URL() string { return "http://" + s.address }

// Start the server, and wait until it answers. It returns an error, with the last it said, if it does not.
func (s *Server) Start(ctx context.Context) error {
	s.log.Reset()
	s.cmd = exec.Command(s.program, "--config.file="+filepath.Join(s.dir, "prometheus.yml"), // It is ended by Stop.
		"--storage.tsdb.path="+filepath.Join(s.dir, "data"), "--web.listen-address="+s.address, "--log.level=warn")
	s.cmd.Stderr = &s.log
	if err := s.cmd.Start(); err != nil {
		return errors.Wrap(err, "cannot start Prometheus")
	}
	err := wait.PollUntilContextTimeout(ctx, poll, patience.Limit, true, func(ctx context.Context) (bool, error) { return s.isServerReady(ctx), nil })
	if err != nil {
		s.Stop()
		return errors.Errorf("cannot start Prometheus: %s", strings.TrimSpace(s.log.String()))
	}
	return nil
}

func (s *Server) isServerReady(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL()+"/-/ready", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
}

// Stop the server at once, as a machine that fails does. It may be started again.
func (s *Server) Stop() {
	if s.cmd == nil || s.cmd.Process == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.cmd = nil
}
