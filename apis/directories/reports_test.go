package directories

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
)

// TestDirectoriesOf has a revision in two repositories: the first has reported both of its Sites, and the second has not come to the recorded position.
func TestDirectoriesOf(t *testing.T) {
	s := ledger.State{Current: &ledger.Revision{Number: 2, Parts: []ledger.Part{
		{Delivery: "first", Sites: []string{"edge3", "edge1"}}, {Delivery: "second", Sites: []string{"edge2"}},
	}}}
	r := Reports{
		Recorded: s,
		DeliveredBy: func(part ledger.Part, site string) (deliveryv1alpha1.DeliveredTree, bool) {
			return deliveryv1alpha1.DeliveredTree{Site: site, Tree: part.Delivery, Revision: 2}, part.Delivery == "first"
		},
		IsApplied: func(part ledger.Part) bool { return part.Delivery == "first" },
		IsChosen:  func(site string) bool { return site != "edge3" },
	}
	plain := func(site, tree string) step.Directory {
		tracks := map[string]step.Track{ledger.TrackPlain: {Revision: 2, Weight: 100, IsProven: true}}
		return step.Directory{Site: site, IsChosen: true, IsKnown: true, Tree: tree, Revision: 2, Tracks: tracks, AreTracksKnown: true}
	}
	second, left := plain("edge2", "second"), plain("edge3", "first")
	second.IsKnown, second.AreTracksKnown, left.IsChosen = false, false, false
	want := []step.Directory{plain("edge1", "first"), second, left}
	if diff := cmp.Diff(want, r.DirectoriesOf(s)); diff != "" {
		t.Errorf("\nEach Site has what its own repository reports, and Sites are sorted by name.\nDirectoriesOf(...): -want, +got:\n%s", diff)
	}
	in := step.Input{Directories: want}
	if diff := cmp.Diff(second, DirectoryOf(in, "edge2")); diff != "" {
		t.Errorf("\nA decision reads the directory of a Site.\nDirectoryOf(...): -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(step.Directory{Site: "edge4"}, DirectoryOf(in, "edge4")); diff != "" {
		t.Errorf("\nThe directory of a Site that the revision does not have is unknown.\nDirectoryOf(...): -want, +got:\n%s", diff)
	}
}
