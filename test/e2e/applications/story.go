package applications

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// failAndDeletePods has the last pod fail, and then be deleted.
func (s *stage) failAndDeletePods() {
	s.T.Helper()
	s.reportPodsUnready(1)
	s.awaitReached("Deploying", 1)
	s.reportPodsReady(1)
	s.awaitReached("Running", 1)
	for _, p := range s.podsServingImage(1) {
		s.requireNoError(s.edge.Client.Delete(s.T.Context(), &p))
	}
	s.awaitReached("Deploying", 1)
	s.reportPodsReady(1)
	s.awaitReached("Running", 1)
}

// changeImage asks for the next image while pods of the previous image serve.
func (s *stage) changeImage() {
	s.T.Helper()
	from := nextTransition(s.Now(s.app))
	s.editApplication(fmt.Sprintf(`{"spec":{"image":%q}}`, imageByNumber(2)))
	s.awaitDeployed(2)
	if got := phasesSince(s.Now(s.app), from); slices.Contains(got, "Running") || got[0] != "Pending" {
		s.T.Errorf("pods of the image before counted for the next one: %v", got)
	}
	if len(s.podsServingImage(1)) != 1 {
		s.T.Errorf("%d pods of the image before serve, want 1", len(s.podsServingImage(1)))
	}
	s.reportPodsReady(2)
	u := s.awaitReached("Running", 2)
	s.WantEqual("phases of another image", []string{"Pending", "Deploying", "Running"}, phasesSince(u, from))
}

// wantCrashLoop asks for an image whose container ends again and again.
func (s *stage) wantCrashLoop() {
	s.T.Helper()
	s.editApplication(fmt.Sprintf(`{"spec":{"image":%q}}`, imageByNumber(3)))
	s.awaitDeployed(3)
	s.crashContainers(3)
	u := s.awaitCondition("Available", "False", "CrashLoopBackOff")
	if phase := scene.Field(u, "status", "phase"); phase != "Deploying" {
		s.T.Errorf("phase of a crash loop: %s", phase)
	}
	s.editApplication(fmt.Sprintf(`{"spec":{"image":%q}}`, imageByNumber(2)))
	s.reportPodsReady(2)
	s.awaitReached("Running", 2)
}

// wantReported looks at events, metrics and columns.
func (s *stage) wantReported() {
	s.T.Helper()
	u := s.Now(s.app)
	events := s.Run("get", "events", "-n", s.Namespace, "--field-selector", "involvedObject.kind=Application,reason=PhaseTransition", "-o", "jsonpath={range .items[*]}{.message}{\"\\n\"}{end}")
	for _, want := range []string{"Transitioned to Pending", "Transitioned from Pending to Deploying", "Transitioned from Deploying to Running", "Transitioned from Running to Deploying"} {
		if !strings.Contains(events, want) {
			s.T.Errorf("no event says %q:\n%s", want, events)
		}
	}
	m, err := s.ProviderMetrics(s.T.Context())
	s.requireNoError(err)
	if got := m.Sum("application_phase_transitions_total", map[string]string{"from": "Deploying", "to": "Running"}); got < 4 {
		s.T.Errorf("%v transitions to Running were counted", got)
	}
	if m.Sum("application_current", map[string]string{"phase": "Running"}) < 1 || m.Count("application_phase_duration_seconds", map[string]string{"phase": "Deploying"}) < 1 {
		s.T.Error("no Application that runs, or no duration, was counted")
	}
	resource := "applications." + u.GroupVersionKind().Group
	row := scene.ParseTable(s.Run("get", resource, "-n", s.Namespace))["shop"]
	if row["PHASE"] != "Running" || row["IMAGE"] != strings.Repeat("2", 12) || row["AVAILABLE"] != "1/1" || row["READY"] != "True" {
		s.T.Errorf("kubectl get %s: %v", resource, row)
	}
	s.Run("wait", resource+"/shop", "-n", s.Namespace, "--for=jsonpath={.status.phase}=Running", "--for=condition=Ready", "--timeout="+patience.Limit.String())
}

// wantAllDeleted deletes the Application, and waits for the deletion of its composed objects, and of the files in Git.
func (s *stage) wantAllDeleted() {
	s.T.Helper()
	s.Delete(s.app)
	s.Gone(s.app)
	s.Gone(s.composedBehind(namespaced, "IntentDeployment"))
	s.Gone(s.composedBehind("delivery.intentplane.dev/v1alpha1", "SiteHealth"))
	s.Until("the files leave the repository", patience.Limit, func() bool { return !s.hasDeploymentFile() })
}

// hasDeploymentFile reports whether the repository has the Deployment of the Application.
func (s *stage) hasDeploymentFile() bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(s.FilesBelow("clusters/edge1"))), func(name string) bool { return strings.Contains(name, "deployment-shop.yaml") })
}
