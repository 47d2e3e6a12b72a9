package sites

import (
	"strings"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/test/controlplane"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// Metrics of deployments.
const (
	transitionsTotal = "intentdeployment_phase_transitions_total"
	phaseDuration    = "intentdeployment_phase_duration_seconds"
	rollbackTotal    = "intentdeployment_rollback_total"
	resultsTotal     = "intentdeployment_validation_results_total"
	outcomesTotal    = "intentdeployment_outcomes_total"
	current          = "intentdeployment_current"
)

// wantCounted fails the test unless the running provider counts so much, in sum over all labels, and reports for each phase how many deployments are in it.
func wantCounted(s *scene.Scene, description string, want map[string]float64) {
	s.T.Helper()
	var got map[string]float64
	s.T.Cleanup(func() {
		if s.T.Failed() {
			s.T.Logf("%s: metrics: -want, +got:\n%s", description, cmp.Diff(want, got))
		}
	})
	s.Until(description, patience.Limit, func() bool {
		m, err := cp.ProviderMetrics(s.T.Context())
		if err != nil {
			return false // It only just began.
		}
		got = map[string]float64{}
		for name := range want {
			got[name] = m.Sum(name, nil) + m.Count(name, nil)
		}
		return cmp.Equal(want, got) && cmp.Equal(phasesInStatus(s), deploymentsInPhase(m))
	})
}

// phasesInStatus is the number of deployments in a phase, according to their statuses.
func phasesInStatus(s *scene.Scene) float64 {
	s.T.Helper()
	n := 0.0
	for _, apiVersion := range []string{"claims.intentplane.dev/v1alpha1", "intentplane.dev/v1alpha1"} {
		l := &unstructured.UnstructuredList{}
		l.SetAPIVersion(apiVersion)
		l.SetKind("IntentDeploymentList")
		s.Must(s.Client.List(s.T.Context(), l))
		for i := range l.Items {
			if scene.Field(&l.Items[i], "status", "phase") != "" {
				n++
			}
		}
	}
	return n
}

// deploymentsInPhase is the number of deployments in a phase, according to the provider.
func deploymentsInPhase(m controlplane.Metrics) float64 { return m.Sum(current, nil) }

func transitionsOf(s *scene.Scene, u *unstructured.Unstructured) []deploymentv1alpha1.Transition {
	s.T.Helper()
	d := &deploymentv1alpha1.IntentDeployment{}
	s.Must(runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, d))
	return d.Status.Transitions
}

// reportedChanges is the number of a deployment's phase transitions with an event.
func reportedChanges(s *scene.Scene, o *unstructured.Unstructured) int {
	s.T.Helper()
	l, n := &corev1.EventList{}, 0
	s.Must(s.Client.List(s.T.Context(), l, client.InNamespace(o.GetNamespace())))
	for _, e := range l.Items {
		if strings.HasPrefix(e.Message, "Transitioned ") && e.InvolvedObject.Name == o.GetName() {
			n++
		}
	}
	return n
}

func startProvider(s *scene.Scene) {
	s.T.Helper()
	s.Must(cp.StartProvider(s.T.Context(), controlplane.Program{}))
}
