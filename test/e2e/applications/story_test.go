package applications

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// TestStory follows an Application of each shape from its first image to its deletion. The first seven sentences are those of the first design that an
// image has.
func TestStory(t *testing.T) {
	t.Parallel()
	for name, apiVersion := range map[string]string{"Claim": claims, "Namespaced": namespaced} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, apiVersion)
			s.Apply(s.app)
			s.deployed(1) // No pod is available.
			s.serve(1)
			u := s.reaches("Running", 1)
			if scene.Field(u, "status", "available") != "1/1" || scene.Number(u, "status", "availableReplicas") != 1 || scene.Number(u, "status", "deployment", "revision") != 1 {
				t.Errorf("status of one that runs: %v", u.Object["status"])
			}
			s.says("Ready", "True", "Available")
			s.losePods()
			s.changeImage()
			s.crashLoop()
			s.reported()
			s.deleted()
		})
	}
}

// losePods has the last pod fail, and then be deleted.
func (s *stage) losePods() {
	s.T.Helper()
	s.fail(1)
	s.reaches("Deploying", 1)
	s.serve(1)
	s.reaches("Running", 1)
	for _, p := range s.pods(1) {
		s.must(s.edge.Client.Delete(s.T.Context(), &p))
	}
	s.reaches("Deploying", 1)
	s.serve(1)
	s.reaches("Running", 1)
}

// changeImage asks for the next image while pods of the one before serve.
func (s *stage) changeImage() {
	s.T.Helper()
	from := next(s.Now(s.app))
	s.edit(fmt.Sprintf(`{"spec":{"image":%q}}`, imageOf(2)))
	s.deployed(2)
	if got := phases(s.Now(s.app), from); slices.Contains(got, "Running") || got[0] != "Pending" {
		s.T.Errorf("pods of the image before counted for the next one: %v", got)
	}
	if len(s.pods(1)) != 1 {
		s.T.Errorf("%d pods of the image before serve, want 1", len(s.pods(1)))
	}
	s.serve(2)
	u := s.reaches("Running", 2)
	if diff := cmp.Diff([]string{"Pending", "Deploying", "Running"}, phases(u, from)); diff != "" {
		s.T.Errorf("phases of another image: -want, +got:\n%s", diff)
	}
}

// crashLoop asks for an image whose container ends again and again.
func (s *stage) crashLoop() {
	s.T.Helper()
	s.edit(fmt.Sprintf(`{"spec":{"image":%q}}`, imageOf(3)))
	s.deployed(3)
	s.crash(3)
	u := s.says("Available", "False", "CrashLoopBackOff")
	if phase := scene.Field(u, "status", "phase"); phase != "Deploying" {
		s.T.Errorf("phase of a crash loop: %s", phase)
	}
	s.edit(fmt.Sprintf(`{"spec":{"image":%q}}`, imageOf(2)))
	s.serve(2)
	s.reaches("Running", 2)
}

// reported looks at events, metrics and columns.
func (s *stage) reported() {
	s.T.Helper()
	u := s.Now(s.app)
	events := s.Run("get", "events", "-n", s.Namespace, "--field-selector", "involvedObject.kind=Application,reason=PhaseTransition", "-o", "jsonpath={range .items[*]}{.message}{\"\\n\"}{end}")
	for _, want := range []string{"Transitioned to Pending", "Transitioned from Pending to Deploying", "Transitioned from Deploying to Running", "Transitioned from Running to Deploying"} {
		if !strings.Contains(events, want+"\n") {
			s.T.Errorf("no event says %q:\n%s", want, events)
		}
	}
	m, err := s.ProviderMetrics(s.T.Context())
	s.must(err)
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
	s.Run("wait", resource+"/shop", "-n", s.Namespace, "--for=jsonpath={.status.phase}=Running", "--for=condition=Ready", "--timeout=60s")
}

// deleted takes everything with it: what was composed, and the files in Git.
func (s *stage) deleted() {
	s.T.Helper()
	s.Delete(s.app)
	s.Gone(s.app)
	s.Gone(s.behind(namespaced, "IntentDeployment"))
	s.Gone(s.behind("delivery.intentplane.dev/v1alpha1", "SiteHealth"))
	s.Until("the files leave the repository", scene.Patience, func() bool {
		return !slices.ContainsFunc(slices.Collect(maps.Keys(s.FilesBelow("clusters/edge1"))), func(name string) bool { return strings.Contains(name, "deployment-shop.yaml") })
	})
}

// TestNameTaken makes Applications whose name another object has.
func TestNameTaken(t *testing.T) {
	t.Parallel()
	s := newStage(t, claims)
	theirs := s.Set(s.Composite("shop", `{"service": "other", "site": "`+s.Site("edge1")+`"}`), true, "spec", "suspend")
	s.Apply(theirs)
	before := s.Await(theirs, "a status", func(u *unstructured.Unstructured) bool { return scene.Field(u, "status", "phase") != "" })
	s.Apply(s.app)
	s.says("Valid", "False", "NameTaken")
	after := s.Now(theirs)
	if diff := cmp.Diff(before.Object["spec"], after.Object["spec"]); diff != "" || len(after.GetOwnerReferences()) > 0 || before.GetGeneration() != after.GetGeneration() {
		t.Errorf("the deployment of a user was changed: owners %v, -before, +after:\n%s", after.GetOwnerReferences(), diff)
	}
	other := s.newApplication(namespaced)
	s.Delete(theirs)
	s.deployed(1) // The name is looked at again by itself.
	if s.Now(theirs).GetUID() == after.GetUID() {
		t.Error("the deployment of a user was taken over while it was deleted")
	}
	s.Apply(other)
	u := s.Await(other, "NameTaken", func(u *unstructured.Unstructured) bool { return scene.Is(u, "Stalled", "True", "NameTaken") })
	if !strings.Contains(scene.Field(u, "status", "message"), "belongs to another Application") {
		t.Errorf("message: %s", scene.Field(u, "status", "message"))
	}
	s.Delete(other)
	s.Gone(other)
	if s.Now(s.behind(namespaced, "IntentDeployment")).GetDeletionTimestamp() != nil {
		t.Error("the deletion of the second one removed what belongs to the first one")
	}
	s.serve(1)
	s.reaches("Running", 1)
}

// TestSuspended holds an edit back, and the order of variables follows an edit.
func TestSuspended(t *testing.T) {
	t.Parallel()
	s := newStage(t, namespaced)
	s.Set(s.app, []any{map[string]any{"name": "A", "value": "1"}, map[string]any{"name": "B", "value": "2"}}, "spec", "env")
	s.Apply(s.app)
	s.deployed(1)
	s.serve(1)
	s.reaches("Running", 1)
	s.edit(`{"spec":{"env":[{"name":"B","value":"2"},{"name":"A","value":"1"}],"deploy":{"suspend":true}}}`)
	s.says("Deployed", "False", "HeldBack")
	s.reaches("Pending", 1)
	s.edit(`{"spec":{"deploy":{"suspend":false}}}`)
	s.deployed(1)
	text := s.FilesBelow("clusters/edge1")[s.Namespace+"/shop/deployment-shop.yaml"]
	if b, a := strings.Index(text, "name: B"), strings.Index(text, "name: A"); b < 0 || a < b {
		t.Errorf("the variables are not in the order of the spec:\n%s", text)
	}
	s.serve(1)
	s.reaches("Running", 1)
}
