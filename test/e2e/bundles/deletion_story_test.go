package bundles

import (
	"net/http"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// states bring a Bundle into a state in which a user may delete it. Its packages have names of their own.
func states() map[string]func(s *stage, apiVersion, name string) *unstructured.Unstructured {
	return map[string]func(s *stage, apiVersion, name string) *unstructured.Unstructured{
		"pending": func(s *stage, apiVersion, name string) *unstructured.Unstructured {
			o := s.bundle(apiVersion, name, "1", s.pkg(name+"-front", "1.0", 1, name+"-base"), s.pkg(name+"-base", "1.0", 1))
			s.Apply(o)
			return o
		},
		"deploying": func(s *stage, apiVersion, name string) *unstructured.Unstructured {
			missing := map[string]any{"name": name + "-theirs", "existing": map[string]any{"kind": "IntentDeployment"}}
			o := s.reaches(s.bundle(apiVersion, name, "1", s.pkg(name+"-front", "1.0", 1, name+"-theirs"), missing, s.pkg(name+"-base", "1.0", 1)), "Deploying")
			return s.says(o, name+"-base", "success")
		},
		"failed": func(s *stage, apiVersion, name string) *unstructured.Unstructured {
			o := s.reaches(s.bundle(apiVersion, name, "1", s.bad(name+"-front", "1.0", name+"-base"), s.pkg(name+"-base", "1.0", 1)), "Failed")
			return s.says(o, name+"-front", "failed DeploymentFailed")
		},
		"invalid": func(s *stage, apiVersion, name string) *unstructured.Unstructured {
			s.reaches(s.bundle(apiVersion, name, "1", s.pkg(name+"-front", "1.0", 1, name+"-base"), s.pkg(name+"-base", "1.0", 1)), "Succeeded")
			o := s.bundle(apiVersion, name, "2", s.pkg(name+"-front", "1.0", 1, name+"-base"), s.pkg(name+"-base", "1.0", 1, name+"-front"))
			s.Apply(o)
			return s.Await(o, "an invalid spec", func(u *unstructured.Unstructured) bool { return scene.Is(u, "Valid", "False", "InvalidSpec") })
		},
		"suspended": func(s *stage, apiVersion, name string) *unstructured.Unstructured {
			s.reaches(s.bundle(apiVersion, name, "1", s.pkg(name+"-base", "1.0", 1)), "Succeeded")
			o := s.bundle(apiVersion, name, "2", s.pkg(name+"-front", "1.0", 1, name+"-base"), s.pkg(name+"-base", "1.1", 2))
			s.Apply(s.Set(o, true, "spec", "suspend"))
			return s.says(o, name+"-front", "not_deployed Suspended")
		},
		"removing": func(s *stage, apiVersion, name string) *unstructured.Unstructured {
			s.reaches(s.bundle(apiVersion, name, "1", s.pkg(name+"-front", "1.0", 1, name+"-base"), s.pkg(name+"-base", "1.0", 1)), "Succeeded")
			o := s.bundle(apiVersion, name, "2", with(s.pkg(name+"-front", "1.0", 1, name+"-base"), "enabled", false), s.pkg(name+"-base", "1.0", 1))
			s.Apply(o)
			return o
		},
	}
}

// TestDeletedInEveryState deletes Bundles of both shapes in each state, all at once. Their packages go, with their files, and their records.
func TestDeletedInEveryState(t *testing.T) {
	t.Parallel()
	for shape, apiVersion := range map[string]string{"Claim": claims, "Namespaced": namespaced} {
		t.Run(shape, func(t *testing.T) {
			t.Parallel()
			s, all := newStage(t), []*unstructured.Unstructured{}
			for name, reach := range states() {
				all = append(all, reach(s, apiVersion, name))
			}
			for _, o := range all {
				s.Delete(o)
			}
			for _, o := range all {
				s.deleted(o)
				s.noRecord(recordOf(o))
				for _, name := range []string{o.GetName() + "-front", o.GetName() + "-base"} {
					if s.isThere(name) || s.hasFiles(name) {
						t.Errorf("package %s of a Bundle that was deleted is left behind", name)
					}
				}
			}
		})
	}
}

// TestDeletedWithoutRepository deletes Bundles of both shapes whose repository is gone. The deletion says why it does not go on, and ends once the repository is
// back, or once a user gives the directories up, as docs/operations/deleting.md says.
func TestDeletedWithoutRepository(t *testing.T) {
	t.Parallel()
	goOn := map[string]func(s *stage, o *unstructured.Unstructured){
		"Back": func(s *stage, _ *unstructured.Unstructured) { s.Git.Fail(s.Namespace, 0) },
		"GivenUp": func(s *stage, o *unstructured.Unstructured) {
			s.giveUp("front")
			s.awaitBlocked(o, "base")
			s.giveUp("base")
		},
	}
	for shape, apiVersion := range map[string]string{"Claim": claims, "Namespaced": namespaced} {
		for how, end := range goOn {
			t.Run(shape+"/"+how, func(t *testing.T) {
				t.Parallel()
				s := newStage(t)
				o := s.reaches(s.bundle(apiVersion, "platform", "1", s.pkg("front", "1.0", 1, "base"), s.pkg("base", "1.0", 1)), "Succeeded")
				s.Git.Fail(s.Namespace, http.StatusNotFound)
				s.Delete(o)
				s.awaitBlocked(o, "front")
				if !s.isThere("base") {
					t.Error("The package is gone that the other one depends on.")
				}
				end(s, o)
				s.Gone(s.packageOf("front"))
				s.deleted(o)
				s.noRecord(recordOf(o))
				s.Git.Fail(s.Namespace, 0)
				for _, name := range []string{"front", "base"} {
					if s.isThere(name) || s.hasFiles(name) != (how == "GivenUp") {
						t.Errorf("package %s of a Bundle that was deleted is there, or its files are not as they should be", name)
					}
				}
			})
		}
	}
}

// awaitBlocked waits until the removal of a package says that its repository does not let it go on.
func (s *stage) awaitBlocked(bundle *unstructured.Unstructured, name string) {
	s.T.Helper()
	s.Await(s.stateOf(bundle), "a removal that is blocked", func(u *unstructured.Unstructured) bool {
		return statusesAt(u, "atProvider", "packages")[name] == "failed_remove RemovalBlocked"
	})
}

// giveUp gives the directories of a package up.
func (s *stage) giveUp(name string) {
	s.T.Helper()
	for _, d := range s.Deliveries() {
		if d.Spec.ForProvider.ClaimRef.Name == name {
			s.Run("patch", "gitdeliveries.delivery.intentplane.dev", d.GetName(), "-n", s.Namespace, "--type=merge", "-p", `{"spec":{"managementPolicies":["Observe"]}}`)
		}
	}
}
