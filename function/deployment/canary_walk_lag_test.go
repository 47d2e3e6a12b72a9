package deployment

import "math/rand/v2"

const (
	// maxLag is how many rounds an engine, a gateway and pods take at most, each after the one before.
	maxLag = 2

	// flapChance is in how many rounds pods of a Site, which were available, are missing once.
	flapChance = 10
)

// A siteLag is how many rounds a Site takes to do what was committed last: its engine to apply it, and then its gateway to route as it says, and pods to be
// available.
type siteLag struct {
	committedAt          int
	engine, routes, pods int
}

// A behind says what of a Site has not come to what Git has, or is not there in this round.
type behind struct {
	engine, routes, pods bool
}

// drawLag returns how long a Site takes with a commit of this round.
func drawLag(random *rand.Rand, round int) siteLag {
	return siteLag{committedAt: round, engine: random.IntN(maxLag + 1), routes: random.IntN(maxLag + 1), pods: random.IntN(maxLag + 1)}
}

// at says what is behind in a round.
func (l siteLag) at(round int) behind {
	since := round - l.committedAt
	return behind{engine: since < l.engine, routes: since < l.engine+l.routes, pods: since < l.engine+l.pods}
}

// behindNow says what of each Site is behind in this round. Pods stay, as losses end, some time before a user acts: what he then finds is no matter of one round.
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
