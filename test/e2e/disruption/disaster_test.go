package disruption

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/scene"
	"github.com/intentplane/intentplane/test/soak"
)

// TestDisasterRecovery has two claims, one of which is being delivered, while their management cluster or their Git is lost, rebuilt or
// restored.
func TestDisasterRecovery(t *testing.T) {
	stories := map[string]func(p *disaster){
		"OldBackup":     (*disaster).restoreOldBackup,
		"OldGit":        (*disaster).restoreOldRepository,
		"SecondCluster": (*disaster).secondCluster,
	}
	if soak.Long() {
		stories["Rebuilt"] = (*disaster).rebuildKnownLost
	}
	for name, play := range stories {
		t.Run(name, func(t *testing.T) {
			p := &disaster{Scene: scene.New(t, cp, "edge1", "edge2")}
			p.catalog = []*unstructured.Unstructured{p.ProviderConfig(), p.Blueprint("1.0.0", "stable"), p.NewSite("edge1"), p.NewSite("edge2")}
			p.Succeed(p.shopAtRevision(1))
			p.Succeed(p.shopAtRevision(2))
			play(p)
		})
	}
}
