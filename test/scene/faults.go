package scene

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/test/gitserver"
	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/receiver"
)

const (
	// repositoryUser is the allowed user of a server that GuardRepository made, and credentials is the name of the Secret with the password.
	repositoryUser = "intentplane"
	credentials    = "credentials"

	// receiverSecret is the name of the Secret with the key of a receiver.
	receiverSecret = "hook"

	// writesInRow are writes of an object between two looks at the circuit breaker.
	writesInRow = 20
)

// BasicAuthSecret describes the Secret with a password of the repository.
func (s *Scene) BasicAuthSecret(password string) *unstructured.Unstructured {
	return s.newSecret(credentials, map[string]any{"username": repositoryUser, "password": password})
}

func (s *Scene) newSecret(name string, data map[string]any) *unstructured.Unstructured {
	o := s.newUnstructured("v1", "Secret", s.Namespace, name, nil)
	o.Object["stringData"] = data
	delete(o.Object, "spec")
	return o
}

// GuardRepository moves the repository of the scene to a server of its own, which wants a password, and returns that. The Secret with the password is not made.
func (s *Scene) GuardRepository(password string) *gitserver.Server {
	s.T.Helper()
	server, err := gitserver.New(s.T.Context(), s.T.TempDir(), gitserver.WithBasicAuth(repositoryUser, password))
	s.Must(err)
	s.T.Cleanup(server.Close)
	s.Must(server.CreateRepo(s.T.Context(), s.Namespace, map[string]string{"README.md": "Not ours.\n"}))
	s.Apply(s.GuardedConfig(server))
	return server
}

// GuardedConfig describes the scene's configuration of a repository on a server that wants a password.
func (s *Scene) GuardedConfig(server *gitserver.Server) *unstructured.Unstructured {
	s.T.Helper()
	o := s.Set(s.ProviderConfig(), server.URL(s.Namespace), "spec", "git", "url")
	return s.Set(o, map[string]any{"type": "Basic", "secretRef": map[string]any{"name": credentials}}, "spec", "git", "credentials")
}

// NotifyReceiver lets the scene's ClusterProviderConfig post outcomes to a receiver, signed with its key.
func (s *Scene) NotifyReceiver(r *receiver.Receiver, key string, outcomes ...any) {
	s.T.Helper()
	s.Apply(s.newSecret(receiverSecret, map[string]any{"token": key, "ca.crt": r.Bundle()}))
	s.Apply(s.Set(s.ClusterProviderConfig(), []any{map[string]any{
		"name": "tests", "url": r.URL(), "events": outcomes,
		"secretRef":         map[string]any{"namespace": s.Namespace, "name": receiverSecret},
		"caBundleSecretRef": map[string]any{"namespace": s.Namespace, "name": receiverSecret, "key": "ca.crt"},
	}}, "spec", "notifications"))
}

// UseClusterProviderConfig lets a deployment name the scene's ClusterProviderConfig.
func (s *Scene) UseClusterProviderConfig(o *unstructured.Unstructured) *unstructured.Unstructured {
	s.T.Helper()
	return s.Set(o, map[string]any{"kind": "ClusterProviderConfig", "name": s.Namespace}, "spec", "deliveryConfig", "gitOpsRepo")
}

// OpenBreaker writes the single GitDelivery of the scene so often that Crossplane's circuit breaker for the composite of its deployment opens.
func (s *Scene) OpenBreaker(deployment *unstructured.Unstructured) {
	s.T.Helper()
	o, composite := s.DeliveryNamed(s.Delivery().GetName()), deployment
	if deployment.GroupVersionKind().Group == deploymentv1alpha1.GroupClaims {
		composite = s.XR(s.Now(deployment))
	}
	written := 0
	s.Until("the circuit breaker opens", patience.Limit, func() bool {
		for range writesInRow {
			written++
			s.Patch(o, fmt.Sprintf(`{"metadata":{"annotations":{"example.org/written":"%d"}}}`, written))
		}
		return Is(s.Now(composite), "Responsive", corev1.ConditionFalse, "")
	})
}
