package directories

import (
	"cmp"
	"slices"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
)

// Reports are the reports of repositories and Sites about the directories of a deployment.
type Reports struct {
	// Recorded is the recorded state of the ledger.
	Recorded ledger.State

	// DeliveredBy returns the tree that the repository of a part reported for a Site, and whether it reported one.
	DeliveredBy func(part ledger.Part, site string) (deliveryv1alpha1.DeliveredTree, bool)

	// IsApplied is true for a part whose repository applied the recorded position.
	IsApplied func(part ledger.Part) bool

	// Sites are the observations of the SiteSync, by the name of the Site.
	Sites map[string]deliveryv1alpha1.SiteObservation

	// IsChosen is true for a Site that the deployment is still for.
	IsChosen func(site string) bool
}

// DirectoriesOf returns the directories of the current revision of a state, sorted by Site, as the next event is decided by them.
func (r Reports) DirectoriesOf(s ledger.State) []step.Directory {
	var out []step.Directory
	for _, part := range s.Current.Parts {
		isApplied := r.IsApplied(part)
		for _, site := range part.Sites {
			delivered, isKnown := r.DeliveredBy(part, site)
			out = append(out, step.Directory{
				Site: site, IsChosen: r.IsChosen(site), IsKnown: isKnown, Tree: delivered.Tree, Revision: delivered.Revision,
				Tracks: evidence.TracksOf(r.Recorded, site, delivered, r.Sites[site]), AreTracksKnown: isApplied,
			})
		}
	}
	slices.SortFunc(out, func(a, b step.Directory) int { return cmp.Compare(a.Site, b.Site) })
	return out
}

// DirectoryOf returns the directory of a Site in the input of a decision. It is unknown for a Site that the revision does not have.
func DirectoryOf(in step.Input, site string) step.Directory {
	i := slices.IndexFunc(in.Directories, func(d step.Directory) bool { return d.Site == site })
	if i < 0 {
		return step.Directory{Site: site}
	}
	return in.Directories[i]
}
