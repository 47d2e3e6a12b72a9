package proof

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClusterInTheMessage(t *testing.T) {
	d := Decide(testFacts(clustered(nil)))
	want := `Site "edge1": WaitingForCluster, Provisioning: DockerCluster c1: no quota`
	if diff := cmp.Diff(want, d.Message); diff != "" {
		t.Errorf("message: -want, +got:\n%s", diff)
	}
}
