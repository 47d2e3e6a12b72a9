package sitesync

import (
	"context"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/instruction"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/controller/setup"
	"github.com/intentplane/intentplane/provider/manifest"
	"github.com/intentplane/intentplane/provider/proof"
)

// readManifests returns the objects of a claim's directory, which has the requested tree at a commit.
func (p *prover) readManifests(ctx context.Context, r repository, want v1alpha1.SiteTree, commit string, delivered [][]byte) ([]instruction.Manifest, error) {
	return p.manifests.Read(ctx, manifest.Directory{
		Tenant: r.tenant, Repository: r.key, Tree: want.Tree, Delivered: delivered,
		Fetch: func(ctx context.Context) (map[string][]byte, error) {
			return p.readDirectoryFiles(ctx, r, commit, want.Path)
		},
	})
}

// failureSearch returns the search for failures of the objects in the directory whose tree the engine tried, without objects in a namespace that the deployment
// may not write to.
func (e *external) failureSearch(ctx context.Context, f proof.Facts, want v1alpha1.SiteTree, s proof.SiteFacts, r *reading) setup.FailureSearch {
	out := setup.FailureSearch{Namespace: f.Namespace, Claim: f.Spec.ClaimRef.Name, Start: f.PositionStart().Time}
	manifests, _ := e.prover.readManifests(ctx, r.repository, want, s.TriedCommit(want.Tree), r.archives) // Without manifests the search is incomplete.
	for _, m := range manifests {
		if policy.AllowsTarget(s.Site, f.Namespace, m.Object.Namespace) {
			out.Delivered = append(out.Delivered, m)
		}
	}
	return out
}
