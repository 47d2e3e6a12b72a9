package applications

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

const (
	// progressTimeout is the progress deadline of revisions whose pods crash. The provider has to observe the crash within it, also on a busy
	// machine.
	progressTimeout = 45 * time.Second

	// ampleTimeout is the progressTimeout of revisions whose pods serve.
	ampleTimeout = 2 * patience.Limit
)

// limitProgress lets revisions be rejected whose pods do not become available within a time.
func (s *stage) limitProgress(timeout time.Duration) {
	s.T.Helper()
	s.Set(s.app, timeout.String(), "spec", "deploy", "progressTimeout")
}

// editAppImage edits the image of the Application, and the time in which its pods have to become available.
func (s *stage) editAppImage(image int, timeout time.Duration) {
	s.T.Helper()
	s.editApplication(fmt.Sprintf(`{"spec":{"image":%q,"deploy":{"progressTimeout":%q}}}`, imageByNumber(image), timeout))
}

// awaitRolledBack waits until an image was rejected and rolled back.
func (s *stage) awaitRolledBack(image int) *unstructured.Unstructured {
	s.T.Helper()
	return s.Await(s.app, "Degraded with image "+imageByNumber(image), func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "phase") == "Degraded" && scene.Field(u, "status", "image") == imageByNumber(image) && scene.Field(u, "status", "deployment", "outcome") == "RolledBack"
	})
}

// deploymentInGit returns the Deployment that the repository holds for the Site.
func (s *stage) deploymentInGit() string {
	s.T.Helper()
	return s.FilesBelow("clusters/edge1")[s.Namespace+"/shop/deployment-shop.yaml"]
}

// listGates returns the Gates of the Application's deployment.
func (s *stage) listGates() []unstructured.Unstructured {
	s.T.Helper()
	l := &unstructured.UnstructuredList{}
	l.SetAPIVersion("rollout.intentplane.dev/v1alpha1")
	l.SetKind("GateList")
	s.requireNoError(s.Client.List(s.T.Context(), l, client.InNamespace(s.Namespace)))
	return l.Items
}

// wantCrashExplained fails the test unless the reason of the pods is in the verdict of a Gate, and in the message of the Application.
func (s *stage) wantCrashExplained(u *unstructured.Unstructured) {
	s.T.Helper()
	const want = "0 of 1 pods are available: CrashLoopBackOff: container app ends again and again: exit code 3, Error"
	messages := []string{}
	for _, g := range s.listGates() {
		messages = append(messages, scene.Condition(&g, "Ready").Message)
	}
	if !strings.Contains(strings.Join(messages, "\n"), want) {
		s.T.Errorf("no Gate says %q: %q", want, messages)
	}
	if message := scene.Field(u, "status", "message"); !strings.Contains(message, "CrashLoopBackOff") {
		s.T.Errorf("the Application does not say why: %q", message)
	}
}

// isGateMeasuring reports whether a Gate measures.
func (s *stage) isGateMeasuring() bool {
	s.T.Helper()
	for _, g := range s.listGates() {
		if scene.Condition(&g, "Ready").Reason == "Measuring" {
			return true
		}
	}
	return false
}

// timeOfRejection returns when a Gate gave verdict Failed.
func (s *stage) timeOfRejection() time.Time {
	s.T.Helper()
	for _, g := range s.listGates() {
		if scene.Field(&g, "status", "atProvider", "verdict") != "Failed" {
			continue
		}
		rejectedAt, err := time.Parse(time.RFC3339, scene.Field(&g, "status", "atProvider", "endedAt"))
		s.requireNoError(err)
		return rejectedAt
	}
	s.T.Fatal("no Gate gave verdict Failed")
	return time.Time{}
}
