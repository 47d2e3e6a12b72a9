package bundles

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/bundles/state"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// checkReports compares columns, events, metrics, and the objects of packages.
func (s *stage) checkReports(u *unstructured.Unstructured) {
	s.T.Helper()
	resource := "bundles." + u.GroupVersionKind().Group
	s.Run("wait", resource+"/platform", "-n", s.Namespace, "--for=condition=Ready", "--timeout="+patience.Limit.String())
	row := scene.ParseTable(s.Run("get", resource, "-n", s.Namespace))["platform"]
	if row["PHASE"] != "Succeeded" || row["VERSION"] != "1.0.1" || row["PACKAGES"] != "3/3" || row["UNREFERENCED"] != "0" || row["READY"] != "True" {
		s.T.Errorf("kubectl get %s: %v", resource, row)
	}
	events := s.Run("get", "events", "-n", s.Namespace, "--field-selector", "involvedObject.kind=Bundle,reason=PhaseTransition", "-o", "jsonpath={range .items[*]}{.message}{\"\\n\"}{end}")
	for _, want := range []string{"Transitioned to Pending", "Transitioned from Deploying to Failed", "Transitioned from Deploying to Succeeded"} {
		if !strings.Contains(events, want) {
			s.T.Errorf("no event says %q:\n%s", want, events)
		}
	}
	m, err := s.ProviderMetrics(s.T.Context())
	s.Must(err)
	if m.Sum("bundle_phase_transitions_total", map[string]string{"from": "Deploying", "to": "Succeeded"}) < 1 || m.Sum("bundle_current", map[string]string{"phase": "Succeeded"}) < 1 {
		s.T.Error("no transition, or no Bundle that succeeded, was counted")
	}
	o := s.Now(s.objectOfPackage("front"))
	if len(o.GetOwnerReferences()) > 0 || o.GetLabels()["state.intentplane.dev/bundle"] != "platform" || o.GetLabels()["state.intentplane.dev/package"] != "front" {
		s.T.Errorf("owners %v, labels %v of a package", o.GetOwnerReferences(), o.GetLabels())
	}
	if _, all, _ := unstructured.NestedSlice(u.Object, "status", "packages"); !all || scene.Condition(u, "Recorded").Status != corev1.ConditionTrue {
		s.T.Errorf("condition Recorded: %+v", scene.Condition(u, "Recorded"))
	}
}

// leaveAndReturn removes a package from the Bundle, adds it with another version, and disables it.
func (s *stage) leaveAndReturn(apiVersion, record string) {
	s.T.Helper()
	uid := s.Now(s.objectOfPackage("middle")).GetUID()
	u := s.applyAndAwaitPhase(s.describeBundle(apiVersion, "platform", "2.0.0", s.describePackage("front", "1.0", 1), s.describePackage("base", "1.0", 1)), "Succeeded")
	s.awaitMessage(u, "middle", "unreferenced Unreferenced")
	s.awaitRecorded(record, state.Success, "front success 1.0", "base success 1.0", "middle unreferenced 1.1")
	if o := s.Now(s.objectOfPackage("middle")); o.GetUID() != uid || o.GetAnnotations()["state.intentplane.dev/unreferenced-since"] == "" || !s.hasPackageFiles("middle") {
		s.T.Errorf("a package that left the Bundle: %v", o.GetAnnotations())
	}
	s.Await(u, "one unreferenced", func(u *unstructured.Unstructured) bool { return scene.Number(u, "status", "unreferenced") == 1 })
	s.applyAndAwaitPhase(s.describeBundle(apiVersion, "platform", "2.1.0", s.describePackage("front", "1.0", 1), s.describePackage("middle", "1.2", 2), s.describePackage("base", "1.0", 1)), "Succeeded")
	s.awaitRecorded(record, state.Success, "front success 1.0", "middle success 1.2", "base success 1.0")
	if o := s.Now(s.objectOfPackage("middle")); o.GetUID() != uid || o.GetAnnotations()["state.intentplane.dev/unreferenced-since"] != "" {
		s.T.Errorf("a package that came back: uid %s, want %s, %v", o.GetUID(), uid, o.GetAnnotations())
	}
	u = s.applyAndAwaitPhase(s.describeBundle(apiVersion, "platform", "2.2.0", s.describePackage("front", "1.0", 1, "base"), withPackageField(s.describePackage("middle", "1.2", 2), "enabled", false), s.describePackage("base", "1.0", 1)), "Succeeded")
	s.awaitMessage(u, "middle", "removed Disabled")
	if s.objectExists("middle") || s.hasPackageFiles("middle") || scene.Field(u, "status", "ready") != "2/2" {
		s.T.Errorf("a package that is not enabled: %v", u.Object["status"])
	}
}

// loseBundleRecord deletes the record, and then breaks it. It is made again each time.
func (s *stage) loseBundleRecord(u *unstructured.Unstructured, record string) {
	s.T.Helper()
	want := []string{"middle removed", "base success 1.0", "front success 1.0"}
	s.Must(s.kube.CoreV1().Secrets(s.Namespace).Delete(s.T.Context(), state.Prefix+record, metav1.DeleteOptions{}))
	s.awaitRecorded(record, state.Success, want...)
	broken := s.secretOfRecord(record)
	broken.Data = map[string][]byte{"data": []byte(`{"name":"platform`)}
	_, err := s.kube.CoreV1().Secrets(s.Namespace).Update(s.T.Context(), broken, metav1.UpdateOptions{})
	s.Must(err)
	s.awaitRecorded(record, state.Success, want...)
	if scene.Field(s.Now(u), "status", "phase") != "Succeeded" {
		s.T.Error("the loss of a record changes the deployed packages")
	}
}
