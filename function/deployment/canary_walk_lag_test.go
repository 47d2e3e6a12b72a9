package deployment

import "math/rand/v2"

const (
	// maxLag is the greatest number of rounds of an engine, a gateway and pods, each after its predecessor.
	maxLag = 2

	// flapChance is in how many rounds pods of a Site, which were available, are missing once.
	flapChance = 10
)

// A siteLag is the number of rounds in which a Site applies the last commit: its engine first, then its gateway, and then its pods until they are available.
type siteLag struct {
	committedAt          int
	engine, routes, pods int
}

// A behind is the part of a Site's state that is older than Git, or that is missing in this round.
type behind struct {
	engine, routes, pods bool
}

// drawLag returns how long a Site takes with a commit of this round.
func drawLag(random *rand.Rand, round int) siteLag {
	return siteLag{committedAt: round, engine: random.IntN(maxLag + 1), routes: random.IntN(maxLag + 1), pods: random.IntN(maxLag + 1)}
}

// at returns the late parts in a round.
func (l siteLag) at(round int) behind {
	age := round - l.committedAt
	return behind{engine: age < l.engine, routes: age < l.engine+l.routes, pods: age < l.engine+l.pods}
}

// behindNow returns the late parts of each Site in this round. Pods stay some time before a user acts, as losses end before: the state that the user finds
// does not depend on one round.
func (w *canaryWalk) behindNow() map[string]behind {
	if w.lags == nil {
		return nil
	}
	out := map[string]behind{}
	for _, site := range w.sites {
		b := w.lagOf[site].at(w.rounds)
		b.pods = b.pods || w.lags.IntN(flapChance) == 0 && w.quiet < restRounds-lossRounds
		out[site] = b
	}
	return out
}
