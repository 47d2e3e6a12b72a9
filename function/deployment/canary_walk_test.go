package deployment

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/function/compile"
)

const (
	// roundLength is how long a round of a canary walk takes. Three of them drain a track.
	roundLength = 10 * time.Second

	// restRounds is how many rounds without a commit say that nothing happens until a user acts. Losses end some time before.
	restRounds, lossRounds = 16, 4

	// waitRounds is how long a user waits with an act.
	waitRounds = 4

	// answerRounds is the number of rounds without a loss after an act that the ledger does not record. A refused act is never answered.
	answerRounds = 3

	// timeoutRounds is after how many rounds in one position pods that never come have taken too long.
	timeoutRounds = 7

	// maxRounds is how long a story may take.
	maxRounds = 600
)

// A canaryWalk is one random scenario of a deployment in tracks, played with the function's own decisions and trees.
type canaryWalk struct {
	*world

	// random are the random choices of the scenario, and losses the random choices of its losses. A scenario without losses has none of the latter.
	random, losses *rand.Rand
	// lags are the random choices of delays at Sites, in a scenario with delays, and lagOf the delay of each Site after the last commit.
	lags     *rand.Rand
	lagOf    map[string]siteLag
	renderer *slowRenderer
	sites    []string
	acts     []canaryAct
	replicas int
	// isBroken are the greetings whose pods never start, and rejectedFrom the greetings that Gates fail, with the first weight at which they do.
	isBroken     map[string]bool
	rejectedFrom map[string]int32

	// quiet counts the rounds since the last commit or act, and since the commits that were made after the last act.
	quiet, since int
	// waiting counts the rounds in which a user is about to act.
	waiting int
	// unansweredFrom is the first round in which the ledger lacks the act of a user. 0 means that it has it.
	unansweredFrom int
	rounds         int
	at             ledger.Position
	roundsAt       int
	asked          int
	// views are the objects as a call may see them that is late, oldest first.
	views   []map[string]*unstructured.Unstructured
	backups []map[string]*unstructured.Unstructured
	// ledgers are states that the home had, oldest first.
	ledgers []ledger.State
	// crashes says that the next delivery ends before its status is written.
	crashes bool
	// silences are the chances of a function that is not called, in a story in which the provider acts by mandates, and silent counts its rounds. A silence
	// lasts silenceLimit rounds at most.
	silences             *rand.Rand
	silent, silenceLimit int
	// faults are those of a provider that acts by mandates, in a story that has them.
	faults *mandateFaults
	// overdue counts the turns in which the provider did not record an event that its status promises.
	overdue int
	// mandated counts the events by mandates, and advanced those of them that took a canary forward. followed are the trees that the last
	// ones led to, by Site. observed counts how often the SiteSync observed a later position than its spec has, and ahead how often another repository than the
	// home was at a later position than its spec.
	mandated, advanced, observed, ahead int
	// read are the statuses of deliveries as their last reconcile read them.
	read     map[string]*deliveryv1alpha1.GitDeliveryStatus
	followed map[string]deliveryv1alpha1.Tree

	bytes canaryBytes
	// commits of each Site, and the events of the ledger. branched counts the commits of the branch for a position in a directory.
	commits  map[string][]string
	branched map[branchCommit]int
	events   []string
	out      *Output
	trace    []string
}

// A canaryAct is an act of a user after so many commits, or once no further event follows.
type canaryAct struct {
	commits int
	name    string
	do      func(w *canaryWalk)
}

// newCanaryWalk begins the story of a seed, with losses or without.
func newCanaryWalk(t *testing.T, renderer compile.Renderer, seed uint64, hasLosses bool) *canaryWalk {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 21))
	w := &canaryWalk{
		world: newCanaryWorld(t, randomCanarySteps(random)...), random: random, renderer: &slowRenderer{Renderer: renderer}, sites: []string{"edge1"},
		isBroken: map[string]bool{}, rejectedFrom: map[string]int32{}, commits: map[string][]string{}, branched: map[branchCommit]int{}, bytes: newCanaryBytes(),
	}
	if hasLosses {
		w.losses = rand.New(rand.NewPCG(seed, 22))
	}
	if seed%3 > 0 {
		w.lags, w.lagOf = rand.New(rand.NewPCG(seed, 23)), map[string]siteLag{}
	}
	w.restartFunction()
	w.varySites()
	w.varyGates()
	w.acts = w.randomActs()
	w.edit(greetingsOfWalk[0], 4)
	return w
}

// varySites has a second Site in some stories, in the same repository or in another one, and in a later wave or in the same.
func (w *canaryWalk) varySites() {
	if w.random.IntN(2) == 0 {
		return
	}
	w.sites = append(w.sites, "edge2")
	if w.random.IntN(2) == 0 {
		w.splitRepositories()
	}
	if w.random.IntN(2) == 0 {
		w.in.Spec.DeliveryConfig.Waves = []deploymentv1alpha1.Wave{{Name: "first", Sites: []deploymentv1alpha1.SiteName{"edge2"}, Steps: randomCanarySteps(w.random)}}
	}
}

// varyGates measures the steps of some stories, in which Gates may come to no conclusion.
func (w *canaryWalk) varyGates() {
	if w.random.IntN(3) == 0 {
		return
	}
	for _, site := range w.sites {
		w.set("Site", site, "http://prometheus", "spec", "metrics", "prometheus", "address")
	}
	w.in.Spec.GatesConfig.SLOThresholds = map[string]deploymentv1alpha1.Threshold{"error_rate": "<= 1 %"}
	if w.random.IntN(3) == 0 {
		w.in.Spec.DeliveryConfig.Canary.OnInconclusive = deploymentv1alpha1.InconclusiveHold
	}
}

// randomCanarySteps returns steps that a deployment may have, some with pauses.
func randomCanarySteps(random *rand.Rand) []deploymentv1alpha1.CanaryStep {
	var out []deploymentv1alpha1.CanaryStep
	for _, weight := range [][]int32{{20}, {50}, {5, 50}, {20, 50, 100}}[random.IntN(4)] {
		out = append(out, weightStep(weight))
		switch random.IntN(4) {
		case 0:
			out = append(out, pauseStep("20s"))
		case 1:
			out = append(out, pauseStep(""))
		}
	}
	return out
}

// edit asks for a greeting and so many replicas.
func (w *canaryWalk) edit(greeting string, replicas int) {
	w.replicas = replicas
	w.say(fmt.Sprintf(`{"service": "shop", "type": "web-canary", "sites": ["%s"], "replicas": %d, "parameters": {"host": "shop.example.org", "greeting": %q}}`,
		strings.Join(w.sites, `", "`), replicas, greeting))
}

// playScenario plays the scenario, and returns a violation in it.
func (w *canaryWalk) playScenario() string {
	w.t.Helper()
	for range maxRounds {
		if broken := w.round(); broken != "" {
			return broken
		}
		if w.t.Failed() {
			return "a part of the story failed"
		}
		isResting := w.quiet >= restRounds
		if w.isActNear() {
			w.waiting++
		}
		switch {
		case len(w.acts) > 0 && (isResting || w.waiting > waitRounds):
			w.act()
		case isResting && !w.promoteAwaited():
			return ""
		}
	}
	return fmt.Sprintf("the story comes to no end in %d rounds, and is at %+v", maxRounds, w.ledger().Position())
}

// act lets the user do the next thing.
func (w *canaryWalk) act() {
	w.notef("the user: %s", w.acts[0].name)
	w.acts[0].do(w)
	w.acts, w.quiet, w.since, w.waiting, w.unansweredFrom = w.acts[1:], 0, 0, 0, w.rounds
}

// promoteAwaited releases the step that waits for a user, if one does.
func (w *canaryWalk) promoteAwaited() bool {
	c := w.out.Status.Canary
	if c == nil || c.Promote == nil {
		return false
	}
	w.notef("the user releases step %d", *c.Promote)
	w.request("Promote", stepNumber(*c.Promote))
	w.quiet = 0
	return true
}

// isActNear is true once the commits were made after which a user acts. Nothing is proven from then on, and nothing lost, so that each repository comes to where
// the ledger is, and the user finds the same with losses as without.
func (w *canaryWalk) isActNear() bool { return len(w.acts) > 0 && w.since >= w.acts[0].commits }

// round lets all parts act once, with the losses of the round.
func (w *canaryWalk) round() string {
	w.t.Helper()
	observed := maps.Clone(w.loseSome())
	if !w.isSilent() {
		if broken := w.callWith(observed); broken != "" {
			return broken
		}
	}
	w.keepView()
	previous := w.heldTrees()
	requested := w.treesAsked()
	w.readDeliveries()
	w.beginFault()
	w.deliverAll()
	w.concludeByMandate()
	w.checkPromise()
	maps.Copy(requested, w.followed)
	w.keepView()
	if broken := w.noteCommits(previous, requested); broken != "" {
		return broken
	}
	if !w.isActNear() {
		w.observeTracks(w.clusterNow())
	}
	w.in.Now = metav1.NewTime(w.in.Now.Add(roundLength))
	w.quiet, w.rounds = w.quiet+1, w.rounds+1
	return w.bytes.checkSync(w.world)
}

// callWith calls the function with the visible objects, and writes its desired resources.
func (w *canaryWalk) callWith(observed map[string]*unstructured.Unstructured) string {
	w.t.Helper()
	now := w.in.Observed
	w.in.Observed = observed
	w.out = w.call()
	w.closeRefused()
	w.in.Observed = now
	w.writeSome(observed, w.out)
	return checkWriters(w.out)
}

// clusterNow returns the reactions of Sites and Gates to the current revision.
func (w *canaryWalk) clusterNow() cluster {
	s, c := w.ledger(), cluster{broken: map[int64]bool{}, unrouted: map[int64]bool{}, behind: w.behindNow()}
	if s.Current == nil {
		return c
	}
	position := s.Position()
	if position.Epoch = 0; position != w.at {
		w.at, w.roundsAt = position, 0
	}
	w.roundsAt++
	greeting := w.greetingOf(s.Current.Number)
	c.broken[s.Current.Number], c.unrouted[s.Current.Number] = w.isBroken[greeting], greeting == greetingUnrouted
	c.timesOut = w.roundsAt > timeoutRounds
	from, isRejected := w.rejectedFrom[greeting]
	if weight := s.Current.Plan[s.Cursor.Step].Weight; isRejected && s.Verdict == nil && weight != nil {
		c.rejects = *weight >= from && (*weight == 100 || !s.Cursor.Full) // A step that is left out ends before its Gate does, or after it.
	}
	return c
}
