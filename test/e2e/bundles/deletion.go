package bundles

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// preparedStates prepare a Bundle for its deletion in different states. Its packages have unique names.
func preparedStates() map[string]func(s *stage, apiVersion, name string) *unstructured.Unstructured {
	return map[string]func(s *stage, apiVersion, name string) *unstructured.Unstructured{
		"pending": func(s *stage, apiVersion, name string) *unstructured.Unstructured {
			o := s.describeBundle(apiVersion, name, "1", s.describePackage(name+"-front", "1.0", 1, name+"-base"), s.describePackage(name+"-base", "1.0", 1))
			s.Apply(o)
			return o
		},
		"deploying": func(s *stage, apiVersion, name string) *unstructured.Unstructured {
			missing := map[string]any{"name": name + "-theirs", "existing": map[string]any{"kind": "IntentDeployment"}}
			o := s.applyAndAwaitPhase(s.describeBundle(apiVersion, name, "1", s.describePackage(name+"-front", "1.0", 1, name+"-theirs"), missing, s.describePackage(name+"-base", "1.0", 1)), "Deploying")
			return s.awaitMessage(o, name+"-base", "success")
		},
		"failed": func(s *stage, apiVersion, name string) *unstructured.Unstructured {
			o := s.applyAndAwaitPhase(s.describeBundle(apiVersion, name, "1", s.brokenPackage(name+"-front", "1.0", name+"-base"), s.describePackage(name+"-base", "1.0", 1)), "Failed")
			return s.awaitMessage(o, name+"-front", "failed DeploymentFailed")
		},
		"invalid": func(s *stage, apiVersion, name string) *unstructured.Unstructured {
			s.applyAndAwaitPhase(s.describeBundle(apiVersion, name, "1", s.describePackage(name+"-front", "1.0", 1, name+"-base"), s.describePackage(name+"-base", "1.0", 1)), "Succeeded")
			o := s.describeBundle(apiVersion, name, "2", s.describePackage(name+"-front", "1.0", 1, name+"-base"), s.describePackage(name+"-base", "1.0", 1, name+"-front"))
			s.Apply(o)
			return s.Await(o, "an invalid spec", func(u *unstructured.Unstructured) bool { return scene.Is(u, "Valid", "False", "InvalidSpec") })
		},
		"suspended": func(s *stage, apiVersion, name string) *unstructured.Unstructured {
			s.applyAndAwaitPhase(s.describeBundle(apiVersion, name, "1", s.describePackage(name+"-base", "1.0", 1)), "Succeeded")
			o := s.describeBundle(apiVersion, name, "2", s.describePackage(name+"-front", "1.0", 1, name+"-base"), s.describePackage(name+"-base", "1.1", 2))
			s.Apply(s.Set(o, true, "spec", "suspend"))
			return s.awaitMessage(o, name+"-front", "not_deployed Suspended")
		},
		"removing": func(s *stage, apiVersion, name string) *unstructured.Unstructured {
			s.applyAndAwaitPhase(s.describeBundle(apiVersion, name, "1", s.describePackage(name+"-front", "1.0", 1, name+"-base"), s.describePackage(name+"-base", "1.0", 1)), "Succeeded")
			o := s.describeBundle(apiVersion, name, "2", withPackageField(s.describePackage(name+"-front", "1.0", 1, name+"-base"), "enabled", false), s.describePackage(name+"-base", "1.0", 1))
			s.Apply(o)
			return o
		},
	}
}

// awaitBlocked waits until the removal of a package reports that its repository blocks it.
func (s *stage) awaitBlocked(bundle *unstructured.Unstructured, name string) {
	s.T.Helper()
	s.Await(s.describeState(bundle), "a removal that is blocked", func(u *unstructured.Unstructured) bool {
		return packageStatuses(u, "atProvider", "packages")[name] == "failed_remove RemovalBlocked"
	})
}

// giveUpDirectories gives the directories of a package up.
func (s *stage) giveUpDirectories(name string) {
	s.T.Helper()
	for _, d := range s.Deliveries() {
		if d.Spec.ForProvider.ClaimRef.Name == name {
			s.Run("patch", "gitdeliveries.delivery.intentplane.dev", d.GetName(), "-n", s.Namespace, "--type=merge", "-p", `{"spec":{"managementPolicies":["Observe"]}}`)
		}
	}
}
