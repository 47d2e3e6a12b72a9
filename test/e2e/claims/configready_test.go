package claims

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// TestConfigurationReady waits, as an installation does, until configurations that no deployment uses reach their repositories, one of which has a wrong
// URL at first.
func TestConfigurationReady(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	ownConfig := "providerconfigs.config.intentplane.dev/" + scene.Config
	s.Inside("wait", "--for=condition=Ready", "--timeout="+patience.Limit.String(), ownConfig)
	if got := s.Inside("get", ownConfig, "--no-headers"); !strings.Contains(got, " True ") {
		t.Errorf("column READY: want True, got %s", got)
	}

	shared := s.Set(s.ClusterProviderConfig(), s.Git.URL(s.Namespace+"-none"), "spec", "git", "url")
	s.Apply(shared)
	observed := s.Await(shared, "a Ready that is False", func(u *unstructured.Unstructured) bool {
		return scene.Is(u, "Ready", corev1.ConditionFalse, "Unreachable")
	})
	if message := scene.Condition(observed, "Ready").Message; message == "" {
		t.Error("Ready does not say why the repository is not reached")
	}
	s.Apply(s.Set(s.ClusterProviderConfig(), s.Git.URL(s.Namespace), "spec", "git", "url"))
	s.Run("wait", "--for=condition=Ready", "--timeout="+patience.Limit.String(), "clusterproviderconfig/"+shared.GetName())
}
