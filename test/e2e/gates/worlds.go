package gates

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/promql"
	"github.com/intentplane/intentplane/apis/threshold"
	compiled "github.com/intentplane/intentplane/function/gates"
	"github.com/intentplane/intentplane/provider/gates"
	"github.com/intentplane/intentplane/test/controlplane/toolbox"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/promserver"
)

const (
	// growTick is how often the counters of a service grow.
	growTick = 100 * time.Millisecond

	// enoughScrapes make a rate.
	enoughScrapes = 10
)

// numbers of a service, by their series.
type numbers = map[string]float64

// A service is a service that Prometheus scrapes, with the expected results of the shipped Blueprints' metrics for its state.
type service struct {
	reason string

	// exposed are the numbers from the beginning, and grows the increase of its counters with each tick.
	exposed, grows numbers

	// down says that it cannot be scraped, unknown that Prometheus has no such target, and vanished that it has none any more.
	down, unknown, vanished bool

	// want is the outcome of a measurement, by the metric, or by the beginning of its name.
	want map[string]gates.Outcome
}

// servedRequests are requests, some of which failed, and all of which took less time than the bucket says that they are in.
func servedRequests(failed float64, bucket string) numbers {
	out := numbers{`http_requests_total{code="200"}`: 10 - failed, `http_response_size_bytes_sum`: 1e6, `slice_downlink_bytes_total`: 1e6}
	if failed > 0 {
		out[`http_requests_total{code="500"}`] = failed
	}
	for _, le := range []string{"0.1", "2.5", "+Inf"} {
		n := 10.0
		if le == "0.1" && bucket != le {
			n = 0
		}
		out[fmt.Sprintf("http_request_duration_seconds_bucket{le=%q}", le)] = n
		out[fmt.Sprintf("slice_packet_delay_seconds_bucket{le=%q}", le)] = n
	}
	return out
}

// jobOfService describes a Job of a service, made some time ago.
func jobOfService(name string, failed float64, ago time.Duration) numbers {
	return numbers{
		fmt.Sprintf("kube_job_status_failed{job_name=%q}", name): failed,
		fmt.Sprintf("kube_job_created{job_name=%q}", name):       float64(time.Now().Add(-ago).Unix()),
	}
}

// probesAndJobs returns the surroundings of a service: the probes between its Sites, and the jobs of its CronJob, the last of which is a
// minute old, and which succeeded some hours ago.
func probesAndJobs(name string, probeSeconds, failedJobs, hours float64) numbers {
	return joinNumbers(jobOfService(name+"-29701440", failedJobs, time.Minute), numbers{
		"probe_success": 1, "probe_duration_seconds": probeSeconds, fmt.Sprintf("kube_cronjob_info{cronjob=%q}", name): 1,
		fmt.Sprintf("kube_cronjob_created{cronjob=%q}", name):                     float64(time.Now().Add(-100 * time.Hour).Unix()),
		fmt.Sprintf("kube_cronjob_status_last_successful_time{cronjob=%q}", name): float64(time.Now().Unix()) - 3600*hours,
	})
}

// joinNumbers numbers.
func joinNumbers(all ...numbers) numbers {
	out := numbers{}
	for _, n := range all {
		maps.Copy(out, n)
	}
	return out
}

// servicesByName are the services by their name, each of which is a world of its own.
func servicesByName() map[string]service {
	const fails, passes, waits = gates.Fail, gates.Pass, gates.Waiting
	outcomes := func(errors, latency, availability, throughput, probes, jobs, success gates.Outcome) map[string]gates.Outcome {
		return map[string]gates.Outcome{
			"error_rate": errors, "latency": latency, "availability": availability, "throughput": throughput,
			"cross_site_latency": probes, "failed_jobs": jobs, "hours_since_success": success,
		}
	}
	// A CronJob that has just been created has had no Job.
	created := numbers{`kube_cronjob_info{cronjob="never-asked"}`: 1, `kube_cronjob_created{cronjob="never-asked"}`: float64(time.Now().Unix())}
	return map[string]service{
		"no-errors": {
			reason:  "A service without a single error has an error rate of 0.",
			exposed: probesAndJobs("no-errors", 0.01, 0, 1), grows: servedRequests(0, "0.1"), want: outcomes(passes, passes, passes, passes, passes, passes, passes),
		},
		"no-traffic": {
			reason:  "A service without requests is available, and its other metrics wait for requests.",
			exposed: joinNumbers(servedRequests(1, "2.5"), probesAndJobs("no-traffic", 0.01, 0, 1)), want: outcomes(waits, waits, passes, waits, passes, passes, passes),
		},
		"never-asked": {
			reason:  "A service that had no request so far, whose counters do not exist, is available, and its other metrics wait for requests.",
			exposed: joinNumbers(created, numbers{"probe_success": 1, "probe_duration_seconds": 0.01}), want: outcomes(waits, waits, passes, waits, passes, passes, passes),
		},
		"some-errors": {
			reason:  "A service with errors has the share of them.",
			exposed: probesAndJobs("some-errors", 0.01, 1, 1), grows: servedRequests(2, "0.1"), want: outcomes(fails, passes, passes, passes, passes, fails, passes),
		},
		"failed-before": {
			reason:  "A Job that failed before the window, and one of another service whose name begins alike, say nothing of a service.",
			exposed: joinNumbers(probesAndJobs("failed-before", 0.01, 0, 1), jobOfService("failed-before-29701380", 1, time.Hour), jobOfService("failed-before-eu-29701440", 1, time.Minute)),
			grows:   servedRequests(0, "0.1"), want: outcomes(passes, passes, passes, passes, passes, passes, passes),
		},
		"slow": {
			reason:  "A slow service has slow requests.",
			exposed: probesAndJobs("slow", 2, 0, 30), grows: servedRequests(0, "2.5"), want: outcomes(passes, fails, passes, passes, fails, passes, fails),
		},
		"down": {
			reason: "A service that cannot be scraped is not healthy by any of its own metrics, and metrics of it from other exporters wait.", down: true,
			want: outcomes(fails, fails, fails, fails, waits, waits, waits),
		},
		"vanished": {
			reason: "A service whose target has vanished is not available, although the window still holds good scrapes.", vanished: true,
			exposed: probesAndJobs("vanished", 0.01, 0, 1), grows: servedRequests(0, "0.1"), want: outcomes(passes, passes, fails, passes, passes, passes, waits),
		},
		"unknown": {
			reason: "Nothing speaks for the availability of a service that Prometheus does not know, and nothing against its other metrics.", unknown: true,
			want: outcomes(waits, waits, fails, waits, waits, waits, waits),
		},
	}
}

// wantedOutcome outcome of a metric.
func (s service) wantedOutcome(metric string) (gates.Outcome, bool) {
	if o, ok := s.want[metric]; ok {
		return o, true
	}
	for _, begin := range []string{"latency", "throughput"} {
		if strings.HasPrefix(metric, begin) {
			return s.want[begin], true
		}
	}
	return "", false
}

// limitsOfMetrics are the limits of the metrics of the shipped Blueprints, by the beginning of their names.
func limitsOfMetrics() map[string]string {
	return map[string]string{
		"error_rate": "5 %", "latency": "500ms", "availability": "99 %", "throughput": "1 Mbps", "cross_site_latency": "500ms",
		"failed_jobs": "0", "hours_since_success": "25",
	}
}

// criteriaOfMetric returns the criteria of a metric with its own rules.
func (w *world) criteriaOfMetric(m catalogv1alpha1.BlueprintMetric) gates.Criteria {
	w.Helper()
	text := limitsOfMetrics()[m.Name]
	for begin, limit := range limitsOfMetrics() {
		if text == "" && strings.HasPrefix(m.Name, begin) {
			text = limit
		}
	}
	limit, err := threshold.Parse(text)
	w.requireNoError(err)
	limit, err = limit.Directed(m.Direction)
	w.requireNoError(err)
	limit, err = limit.In(m.Unit)
	w.requireNoError(err)
	return gates.Criteria{Limit: limit, MinSamples: 1, NoData: compiled.Rules(m).NoData}
}

// shippedBlueprints are the Blueprints among the examples.
func shippedBlueprints(t *testing.T) []catalogv1alpha1.Blueprint {
	t.Helper()
	root, err := toolbox.Root()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "examples", "blueprints", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var out []catalogv1alpha1.Blueprint
	for _, file := range append(files, filepath.Join(root, "examples", "quickstart", "20-blueprint.yaml")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		b := catalogv1alpha1.Blueprint{}
		if err := yaml.UnmarshalStrict(text, &b); err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	if len(out) != 8 {
		t.Fatalf("found %d Blueprints, want 8", len(out))
	}
	return out
}

// labelsOfService returns the labels of a service, as a ServiceMonitor and the exporter of a slice set them.
func labelsOfService(name string) map[string]string {
	return map[string]string{"namespace": "team-a", "service": name, "slice": name, "site": "edge1"}
}

// newServices starts a server that scrapes services each second, whose counters grow until the test ends. Each was scraped often enough.
func newServices(t *testing.T, all map[string]service) *world {
	t.Helper()
	w, targets, jobs := &world{T: t}, map[string]*promserver.Target{}, []promserver.Job{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name].unknown {
			continue
		}
		target := promserver.NewTarget()
		t.Cleanup(target.Close)
		target.Add(joinNumbers(all[name].exposed, all[name].grows))
		jobs = append(jobs, promserver.Job{Name: name, Interval: time.Second, Target: target, Labels: labelsOfService(name)})
		if all[name].down {
			target.Close()
			continue
		}
		targets[name] = target
	}
	var err error
	w.server, err = promserver.New(t.Context(), t.TempDir(), jobs...)
	w.requireNoError(err)
	w.requireNoError(w.server.Start(t.Context()))
	t.Cleanup(w.server.Stop)
	grow := time.NewTicker(growTick)
	defer grow.Stop()
	for deadline := time.Now().Add(patience.Limit); !scrapedSeries(targets); <-grow.C {
		if time.Now().After(deadline) {
			t.Fatal("the services are not scraped")
		}
		for name, target := range targets {
			target.Add(all[name].grows)
		}
	}
	w.askUntilAnswer("a target that is down", w.newQuestion(`sum(up{service="down"}) == 0`, false), time.Hour, hasSingleValue(0))
	for i, j := range jobs {
		if all[j.Name].vanished {
			jobs[i].Target = nil
			w.requireNoError(w.server.Scrape(jobs...))
			w.askUntilAnswer("a target that has vanished", w.newQuestion(fmt.Sprintf("up{job=%q}", j.Name), false), time.Hour, hasNoData)
		}
	}
	return w
}

// hasNoData is true for an answer without data.
func hasNoData(a gates.Answer) bool { return a.Problem == "" && len(a.Values) == 0 }

func scrapedSeries(targets map[string]*promserver.Target) bool {
	for _, target := range targets {
		if target.Scrapes() < enoughScrapes {
			return false
		}
	}
	return true
}

// answerQuery to a query of a Blueprint about a service that is live for long.
func (w *world) answerQuery(query, name string) gates.Answer {
	w.Helper()
	template, err := promql.Parse(query)
	w.requireNoError(err)
	text, err := template.Fill(promql.Values{Service: name, Namespace: "team-a", Site: "edge1"})
	w.requireNoError(err)
	return w.newQuestion(text, false).Ask(w.Context(), time.Hour)
}

// queriesOfMetric returns the queries of a metric. The query for canaries is asked as if the service had a single track, whose Service has
// its name.
func queriesOfMetric(m catalogv1alpha1.BlueprintMetric) []string {
	if m.Canary == "" {
		return []string{m.Query}
	}
	return []string{m.Query, strings.ReplaceAll(m.Canary, "{{service}}-{{canary}}", "{{service}}")}
}

// downWindow is the window in which a target that is never scraped counts as down.
var downWindow = regexp.MustCompile(`(max_over_time\(up\{.*?\})\[2m\]`)
