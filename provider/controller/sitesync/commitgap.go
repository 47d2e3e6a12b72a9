package sitesync

import (
	"context"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/trailers"
)

// maxBetween is how many commits of a claim are read at most to find out whether an engine passed them. An engine that is behind by more
// commits counts as behind.
const maxBetween = 20

// A gap is the comparison of the claim's commits between the engine's commit and the delivered commit.
type gap struct {
	// isBehind is true where one of them has other files in the directory: an engine that has not come to it may still apply these.
	isBehind bool
	// unknown says why that is unknown.
	unknown string
}

// readGap finds out whether an engine which is at a commit with a tree has still to pass commits of the claim with another one. The directory may have
// changed and changed back, and then the tree alone does not say that the engine applied the last commit.
func (p *prover) readGap(ctx context.Context, r repository, f facts, want v1alpha1.SiteTree, applied, delivered string) gap {
	if applied == "" || delivered == "" || applied == delivered {
		return gap{}
	}
	key := r.key + " " + applied + " " + delivered + " " + want.Path + " " + want.Tree
	if cached, ok := p.gaps.Get(key); ok {
		return cached
	}
	g := p.findGap(ctx, r, f, want, applied, delivered)
	if g.unknown == "" {
		p.gaps.Put(r.tenant, key, g, 0)
	}
	return g
}

func (p *prover) findGap(ctx context.Context, r repository, f facts, want v1alpha1.SiteTree, applied, delivered string) gap {
	shared, err := p.openRepository(ctx, r)
	if err != nil {
		return gap{unknown: err.Error()}
	}
	messages, err := shared.ReadMessagesBetween(ctx, delivered, applied, trailers.Line(trailers.Claim, trailers.ClaimValue(f.spec.ClaimRef)))
	if err != nil {
		return gap{unknown: err.Error()}
	}
	for i, m := range messages {
		s := p.readSubtree(ctx, r, m.ID, "", want.Path)
		if s.unknown != "" {
			return gap{unknown: s.unknown}
		}
		if s.id != want.Tree || i >= maxBetween {
			return gap{isBehind: true}
		}
	}
	return gap{}
}
