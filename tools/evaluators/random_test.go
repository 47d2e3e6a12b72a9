package evaluators_test

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/intentplane/intentplane/tools/evaluators"
)

// seriesOfRule is how many series each rule is judged by.
const seriesOfRule = 10_000

// settingsOfRule is how many counts and limits each rule is combined with.
const settingsOfRule = 100

// defaultSeed is the seed of a run without SEED.
const defaultSeed = 1

// newRandom returns the random numbers of a rule. SEED chooses others.
func newRandom(t *testing.T, rule string) *rand.Rand {
	t.Helper()
	seed := uint64(defaultSeed)
	if text := os.Getenv("SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("SEED: %v", err)
		}
		seed = n
	}
	t.Logf("SEED=%d", seed)
	sum := uint64(0)
	for _, c := range rule {
		sum = sum*31 + uint64(c)
	}
	return rand.New(rand.NewPCG(seed, sum))
}

// pick returns one of some values.
func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// newSeries returns a series of answers, most of which have one value. Its kinds are a random subset of the given kinds.
func newSeries(r *rand.Rand, length int, limits []float64, kinds []evaluators.Kind) []evaluators.Answer {
	some := []evaluators.Kind{evaluators.Value}
	for _, k := range kinds {
		if r.IntN(3) == 0 {
			some = append(some, k)
		}
	}
	// A run of the same kind reaches the limits in a row.
	out, kind := make([]evaluators.Answer, 0, length), evaluators.Value
	for range length {
		if r.IntN(3) > 0 {
			kind = pick(r, some...)
		}
		out = append(out, evaluators.Answer{Kind: kind, Value: newValue(r, limits)})
	}
	return out
}

// newValue returns a value at or about a limit.
func newValue(r *rand.Rand, limits []float64) float64 {
	limit := pick(r, limits...)
	return pick(r, limit, limit+1e-9, limit-1e-9, limit+1, limit-1, -limit, 0, r.NormFloat64()*10)
}

// notedKinds returns the kinds of answers that notes name.
func notedKinds(notes []string) map[evaluators.Kind]bool {
	out := map[evaluators.Kind]bool{}
	for _, k := range evaluators.Kinds() {
		for _, note := range notes {
			if strings.Contains(note, string(k)+" ") {
				out[k] = true
			}
		}
	}
	return out
}

// hasKind reports whether a series has an answer of one of some kinds.
func hasKind(answers []evaluators.Answer, kinds map[evaluators.Kind]bool) bool {
	for _, a := range answers {
		if kinds[a.Kind] {
			return true
		}
	}
	return false
}

// allOfKind returns a series of one kind of answer.
func allOfKind(k evaluators.Kind, length int) []evaluators.Answer {
	out := make([]evaluators.Answer, length)
	for i := range out {
		out[i] = evaluators.Answer{Kind: k}
	}
	return out
}
