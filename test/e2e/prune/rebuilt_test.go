package prune

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/provider/state"
	"github.com/intentplane/intentplane/test/controlplane"
)

// TestRebuilt builds another cluster in the place of a lost cluster, with fewer claims than that had. It prunes nothing until the configuration names
// the lost cluster, and then the directories without a claim.
func TestRebuilt(t *testing.T) {
	s := newStage(t)
	s.Succeed(s.describeShop("lost"))
	s.Succeed(s.describeShop("shop"))
	content, err := s.Git.Git(t.Context(), s.Namespace, "show", "refs/intentplane/test/state:"+state.OwnerPath)
	s.Must(err)
	formerOwner, err := state.DecodeOwner([]byte(content))
	s.Must(err)

	s.Must(cp.Rebuild(t.Context(), controlplane.Backup{}, nil))
	s.Run("create", "namespace", s.Namespace)
	for _, o := range []*unstructured.Unstructured{s.ProviderConfig(), s.Blueprint("1.0.0", "stable"), s.NewSite("edge1")} {
		s.Apply(o)
	}
	s.wantOutput(s.runPrune("--allow-most", "--confirm"), 1, "OwnedElsewhere", "StateUntrusted", formerOwner)
	s.Apply(s.describeShop("shop"))
	s.wantOutput(s.runPrune("--allow-most", "--confirm"), 1, "OwnedElsewhere")
	s.wantDirectory("lost", true)

	s.Apply(s.Set(s.ProviderConfig(), formerOwner, "spec", "takeOverFrom"))
	s.Succeed(s.describeShop("shop"))
	s.wantOutput(s.runPrune("--confirm"), 0, "removed 1 directory", "InUse")
	s.wantDirectory("lost", false)
	s.wantDirectory("shop", true)
	s.wantOutput(s.runPrune("--dry-run"), 0, "0 directories to prune, 1 to keep")
}
