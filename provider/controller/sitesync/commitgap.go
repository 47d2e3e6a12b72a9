package sitesync

import (
	"context"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/proof"
	"github.com/intentplane/intentplane/provider/trailers"
)

// maxBetween is how many commits of a claim are read at most to find out whether an engine passed them. An engine that is behind by more
// commits counts as behind.
const maxBetween = 20

// readCommitGap finds out whether an engine which is at a commit with a tree has still to pass commits of the claim with another one. The directory may have
// changed and changed back, and then the tree alone does not say that the engine applied the last commit.
func (p *prover) readCommitGap(ctx context.Context, r repository, f proof.Facts, want v1alpha1.SiteTree, applied, delivered string) proof.Gap {
	if applied == "" || delivered == "" || applied == delivered {
		return proof.Gap{}
	}
	key := r.key + " " + applied + " " + delivered + " " + want.Path + " " + want.Tree
	if cached, ok := p.gaps.Get(key); ok {
		return cached
	}
	g := p.computeCommitGap(ctx, r, f, want, applied, delivered)
	if g.Unknown == "" {
		p.gaps.Put(r.tenant, key, g, 0)
	}
	return g
}

func (p *prover) computeCommitGap(ctx context.Context, r repository, f proof.Facts, want v1alpha1.SiteTree, applied, delivered string) proof.Gap {
	shared, err := p.openRepository(ctx, r)
	if err != nil {
		return proof.Gap{Unknown: err.Error()}
	}
	messages, err := shared.ReadMessagesBetween(ctx, delivered, applied, trailers.Line(trailers.Claim, trailers.ClaimValue(f.Spec.ClaimRef)))
	if err != nil {
		return proof.Gap{Unknown: err.Error()}
	}
	for i, m := range messages {
		s := p.readSubtree(ctx, r, m.ID, "", want.Path)
		if s.Unknown != "" {
			return proof.Gap{Unknown: s.Unknown}
		}
		if s.ID != want.Tree || i >= maxBetween {
			return proof.Gap{IsBehind: true}
		}
	}
	return proof.Gap{}
}
