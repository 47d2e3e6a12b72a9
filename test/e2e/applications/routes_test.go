package applications

import (
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/kpack"
	"github.com/intentplane/intentplane/test/scene"
)

// TestRoute has an Application whose route its Gateway accepts, refuses and accepts again. Each change wakes the Application: the timers of this package's
// control plane are off.
func TestRoute(t *testing.T) {
	t.Parallel()
	s := newAppStage(t, namespaced)
	s.allowRoutes()
	s.Set(s.app, map[string]any{"host": s.Namespace + ".example.org"}, "spec", "route")
	s.Apply(s.app)
	s.reportPodsReady(1)
	s.awaitReached("Running", 1)
	s.awaitRouted(corev1.ConditionFalse)
	for range 2 {
		s.answerRoute("True")
		s.awaitRouted(corev1.ConditionTrue)
		s.awaitCondition("Ready", "True", "Available")
		s.answerRoute("False")
		u := s.awaitRouted(corev1.ConditionFalse)
		if phase := scene.Field(u, "status", "phase"); phase != "Running" {
			t.Errorf("phase of an Application whose route is refused: %s", phase)
		}
	}
}

// TestHostOfAnotherTenant has an Application that routes a host which the Site leaves to another namespace: nothing of it is delivered until it has a host of its own.
func TestHostOfAnotherTenant(t *testing.T) {
	t.Parallel()
	s := newAppStage(t, claims)
	s.allowRoutes()
	ownHost := s.Namespace + ".example.org"
	s.Patch(s.NewSite("edge1"), `{"spec":{"routeHosts":[{"namespaces":["another"],"hosts":["shop.example.org"]},{"namespaces":["`+s.Namespace+`"],"hosts":["`+ownHost+`"]}]}}`)
	s.Set(s.app, map[string]any{"host": "shop.example.org"}, "spec", "route")
	s.Apply(s.app)
	s.Await(s.app, "a refusal that names both hosts", func(u *unstructured.Unstructured) bool {
		message := scene.Field(u, "status", "message")
		return strings.Contains(message, `host "shop.example.org"`) && strings.Contains(message, ownHost)
	})
	for name := range s.FilesBelow("clusters") {
		if !strings.HasSuffix(name, "/placeholder") {
			t.Errorf("a file of an Application with a host of another tenant: %s", name)
		}
	}
	s.editApplication(`{"spec":{"route":{"host":"` + ownHost + `"}}}`)
	s.reportPodsReady(1)
	s.awaitReached("Running", 1)
}

// TestColumns has the table that kubectl shows of an Application of each shape: while its first commit runs, and while the next commit is built,
// whose image no column shows before it exists.
func TestColumns(t *testing.T) {
	t.Parallel()
	for name, apiVersion := range map[string]string{"Claim": claims, "Namespaced": namespaced} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSourceStage(t, apiVersion)
			host := s.Namespace + ".example.org"
			s.setRouteHost(host)
			s.Apply(s.app)
			image := s.awaitRunning(s.first)
			s.answerRoute("True")
			s.awaitCondition("Ready", "True", "Available")
			_, digest, _ := strings.Cut(image, "@sha256:")
			want := map[string]string{"PHASE": "Running", "URL": "http://" + host, "IMAGE": digest[:12], "COMMIT": s.first[:8], "AVAILABLE": "1/1", "REVISION": "1"}
			names := slices.Collect(maps.Keys(want))
			s.WantEqual("columns of an Application that runs", want, s.kubectlColumns(names...))
			hold := make(chan struct{})
			s.kpack.Plan(s.Namespace, kpack.Play{Held: hold})
			second := s.pushSourceCommit("main", "2")
			s.awaitBuildState("Building", "Building")
			want["PHASE"] = "Building"
			s.WantEqual("columns while the next commit is built", want, s.kubectlColumns(names...))
			close(hold)
			_, digest, _ = strings.Cut(s.awaitRunning(second), "@sha256:")
			want["PHASE"], want["IMAGE"], want["COMMIT"], want["REVISION"] = "Running", digest[:12], second[:8], "2"
			s.WantEqual("columns of the next commit", want, s.kubectlColumns(names...))
		})
	}
}

// awaitRouted waits until condition Routed of the Application has a status.
func (s *stage) awaitRouted(want corev1.ConditionStatus) *unstructured.Unstructured {
	s.T.Helper()
	return s.Await(s.app, "Routed="+string(want), func(u *unstructured.Unstructured) bool { return scene.Condition(u, "Routed").Status == want })
}
