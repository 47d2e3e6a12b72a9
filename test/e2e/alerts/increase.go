package alerts

import (
	"fmt"
	"math"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// Counters of the provider.
const (
	transitionsTotal = "intentdeployment_phase_transitions_total"
	outcomesTotal    = "intentdeployment_outcomes_total"
	rollbackTotal    = "intentdeployment_rollback_total"

	// pushesTotal and failuresTotal are two series of counters whose labels have many values.
	pushesTotal   = `intentplane_git_operations_total{job="provider",operation="push",class="Succeeded"}`
	failuresTotal = `intentplane_gate_measurements_total{job="provider",type="Prometheus",outcome="Fail"}`
)

// A changeLog has the changes of the phase that statuses showed, by their index: one status remembers the last of them.
type changeLog map[int64]deploymentv1alpha1.Transition

// addTransitions adds the changes that the status of a deployment shows, and returns the number of occurrences of each change so far.
func (l changeLog) addTransitions(s *scene.Scene, o *unstructured.Unstructured) map[string]float64 {
	s.T.Helper()
	d := &deploymentv1alpha1.IntentDeployment{}
	s.Must(runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, d))
	for _, t := range d.Status.Transitions {
		l[t.Index] = t
	}
	out := map[string]float64{}
	for _, t := range l {
		from := string(t.From)
		if from == "" {
			from = "None"
		}
		out[from+" "+string(t.To)]++
	}
	return out
}

// counterIncreases returns the increase of a counter since the story began, by labels, without labels that had no increase. Prometheus extrapolates to the ends of the
// window: with scrapes all along it, that is less than one interval at each end, and far below a half of the counts of these stories.
func (s *stage) counterIncreases(began time.Time, counter string, key model.LabelName) map[string]float64 {
	s.T.Helper()
	window := time.Since(began).Round(time.Second) + time.Second
	out := map[string]float64{}
	for _, sample := range s.queryServer(fmt.Sprintf(`increase(%s{job="provider"}[%ds])`, counter, int(window.Seconds()))) {
		if n := math.Round(float64(sample.Value)); n != 0 {
			out[labelsOfSample(sample, key)] = n
		}
	}
	return out
}

// awaitFirstCounted waits until a series of the provider that runs has increased since the story began by its value: Prometheus saw the first event, too.
func (s *stage) awaitFirstCounted(began time.Time, description, series string) {
	s.T.Helper()
	s.Until(description, patience.Limit, func() bool {
		window := time.Since(began).Round(time.Second) + time.Second
		counted, increase := s.querySingleValue(series), s.querySingleValue(fmt.Sprintf(`increase(%s[%ds])`, series, int(window.Seconds())))
		return counted > 0 && math.Round(increase) == counted
	})
}

// labelsOfSample returns the values of the labels in which the series of a counter differ.
func labelsOfSample(sample *model.Sample, key model.LabelName) string {
	if key == "" {
		return string(sample.Metric["from"] + " " + sample.Metric["to"])
	}
	return string(sample.Metric[key])
}

// awaitIncreases waits until the increases since the story began are equal to the wanted increases.
func (s *stage) awaitIncreases(began time.Time, description, counter string, key model.LabelName, want map[string]float64) {
	s.T.Helper()
	var got map[string]float64
	s.T.Cleanup(func() {
		if s.T.Failed() {
			s.T.Logf("%s: increase(%s): -want, +got:\n%s", description, counter, cmp.Diff(want, got))
		}
	})
	s.Until(description, patience.Limit, func() bool {
		got = s.counterIncreases(began, counter, key)
		return cmp.Equal(want, got)
	})
}

// restartProvider kills the provider and starts it again, and waits until Prometheus has seen that all counters are zero again. A change that
// a provider counts before its first scrape is lost where the counter has grown to its earlier value: Prometheus sees no reset then.
func (s *stage) restartProvider() {
	s.T.Helper()
	cp.KillProvider()
	s.Until("Prometheus misses the provider", patience.Limit, func() bool { return s.querySingleValue(`up{job="provider"}`) == 0 })
	s.Must(cp.StartProvider(s.T.Context(), controlplane.Program{}))
	s.Until("Prometheus sees the provider begin", patience.Limit, func() bool {
		return s.querySingleValue(`up{job="provider"}`) == 1 && s.querySingleValue(`sum(`+transitionsTotal+`{job="provider"})`) == 0
	})
}

// querySingleValue returns the value of a query that has one sample, or -1.
func (s *stage) querySingleValue(text string) float64 {
	s.T.Helper()
	if got := s.queryServer(text); len(got) == 1 {
		return float64(got[0].Value)
	}
	return -1
}
