package sites

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/provider/telemetry"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/scene"
)

// Metrics that are held against statuses.
const (
	transitionsTotal = "intentdeployment_phase_transitions_total"
	phaseDuration    = "intentdeployment_phase_duration_seconds"
	rollbackTotal    = "intentdeployment_rollback_total"
	resultsTotal     = "intentdeployment_validation_results_total"
	current          = "intentdeployment_current"
)

// wantCounted fails the test unless the metrics of the provider that runs now are what the statuses of all deployments say, however many
// providers told it. Results of earlier revisions are in no status, so they are compared only of a provider that never saw one.
func wantCounted(t *testing.T, results bool) {
	t.Helper()
	s := scene.New(t, cp)
	var got, want map[string]float64
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("metrics: -want (statuses), +got:\n%s", cmp.Diff(want, got))
		}
	})
	s.Until("all is counted", scene.Patience, func() bool {
		m, err := cp.ProviderMetrics(t.Context())
		if err != nil {
			return false // It only just began.
		}
		want = inStatuses(s)
		if !results {
			delete(want, resultsTotal+" passed")
			delete(want, resultsTotal+" failed")
		}
		got = inMetrics(m, want)
		return cmp.Equal(want, got)
	})
}

// inStatuses is what all deployments say, by the name of a metric and the values of its labels, and in sum.
func inStatuses(s *scene.Scene) map[string]float64 {
	s.T.Helper()
	out := map[string]float64{transitionsTotal: 0, phaseDuration: 0, rollbackTotal: 0, resultsTotal + " passed": 0, resultsTotal + " failed": 0}
	for _, apiVersion := range []string{"claims.intentplane.dev/v1alpha1", "intentplane.dev/v1alpha1"} {
		l := &unstructured.UnstructuredList{}
		l.SetAPIVersion(apiVersion)
		l.SetKind("IntentDeploymentList")
		if err := s.Client.List(s.T.Context(), l); err != nil {
			s.T.Fatal(err)
		}
		for _, u := range l.Items {
			d := &deploymentv1alpha1.IntentDeployment{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, d); err != nil {
				s.T.Fatal(err)
			}
			add(out, d.Status)
		}
	}
	return out
}

// add what one deployment says.
func add(out map[string]float64, status deploymentv1alpha1.IntentDeploymentStatus) {
	for i, one := range status.Transitions {
		from := string(one.From)
		if from == "" {
			from = telemetry.None
		}
		out[transitionsTotal]++
		out[transitionsTotal+" "+from+" "+string(one.To)]++
		if one.To == deploymentv1alpha1.PhaseRollingBack {
			out[rollbackTotal]++
		}
		// How long the phase took that was left is known with the change before.
		if i > 0 {
			out[phaseDuration]++
			out[phaseDuration+" "+from]++
		}
	}
	for _, r := range status.ValidationResults {
		out[resultsTotal+" "+map[bool]string{true: "passed", false: "failed"}[r.Passed]]++
	}
	outcome := string(status.Outcome)
	if outcome == "" {
		outcome = telemetry.None
	}
	if status.Phase != "" {
		out[current+" "+string(status.Phase)+" "+outcome]++
	}
}

// inMetrics is what the provider says of what the statuses have.
func inMetrics(m controlplane.Metrics, want map[string]float64) map[string]float64 {
	labels := map[string][]string{transitionsTotal: {"from", "to"}, phaseDuration: {"phase"}, rollbackTotal: {}, resultsTotal: {"result"}, current: {"phase", "outcome"}}
	out := map[string]float64{}
	for key := range want {
		words := strings.Fields(key)
		name, with := words[0], map[string]string{}
		for i, value := range words[1:] {
			with[labels[name][i]] = value
		}
		out[key] = m.Sum(name, with) + m.Count(name, with)
	}
	return out
}
