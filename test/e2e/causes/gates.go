package causes

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/apis/advice"
	"github.com/intentplane/intentplane/test/promserver"
	"github.com/intentplane/intentplane/test/scene"
)

// measureSite measures the Site, and adds a Gate for the ratio of errors to the deployment.
func (s *stage) measureSite() *promserver.Target {
	s.T.Helper()
	s.Set(s.deployment, scene.CheckErrors(), "spec", "gatesConfig", "checks")
	return s.MeasureSite("edge1")
}

// gateStories are about measurements.
func gateStories() map[string]story {
	return map[string]story{
		"QueryWithoutData": {
			reason: "A query that gives no data is the cause until the author sends requests to the service.",
			breaks: func(s *stage) func() {
				target := s.measureSite()
				s.Apply(s.deployment)
				return func() { target.Set(scene.ErrorRatio, scene.GoodRatio) }
			},
			want: answer{object: "check errors at ", reason: "NoData", actor: advice.Author, do: "Send requests to the service, or correct the query"},
		},
		"RevisionHeld": {
			reason: "A rejected revision is delivered again when the author requests a retry.",
			breaks: func(s *stage) func() {
				target := s.measureSite()
				target.Set(scene.ErrorRatio, scene.GoodRatio)
				s.awaitSucceeded(1)
				target.Set(scene.ErrorRatio, scene.BadRatio)
				s.editReplicas(2)
				s.awaitRollback()
				return func() {
					target.Set(scene.ErrorRatio, scene.GoodRatio)
					s.runPlugin(editor, "retry", "shop", "--yes", "--wait")
				}
			},
			want: answer{object: "revision 2", reason: "GateFailed", actor: advice.Author, do: "kubectl intent retry"},
		},
	}
}

// awaitRollback waits until the current spec was rolled back.
func (s *stage) awaitRollback() {
	s.T.Helper()
	digest := s.Digest(s.deployment)
	s.Await(s.deployment, "rolled back", func(u *unstructured.Unstructured) bool {
		return scene.Field(u, "status", "intentDigest") == digest && scene.Field(u, "status", "outcome") == "RolledBack" && scene.Field(u, "status", "phase") == "Succeeded"
	})
}
