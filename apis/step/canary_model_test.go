package step

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/intentplane/intentplane/apis/ledger"
)

// The canary model is a deployment in tracks: the home of its ledger, a follower, three Sites behind gateways, a SiteSync that observes them, a
// Gate, and users. The function is the real one. canary_check_test.go has the invariants, and canary_story_test.go the stories.

// canaryRules are rules of the parts that the model plays. A mutant lacks one.
type canaryRules struct {
	// Drain waits for requests under way before a track counts as idle.
	Drain bool
	// IdleIsProven asks the Site whether a track is without requests, and not Git.
	IdleIsProven bool
	// NewerThanWeighed asks for a proof by a position after the last position that gave a track requests.
	NewerThanWeighed bool
	// SameFolder asks for pods of the very folder that the directory has.
	SameFolder bool
	// NewerThanPlaced asks for pods that were there after their folder changed last.
	NewerThanPlaced bool
	// Available asks for the pods of the new track before a step is live.
	Available bool
	// Accepted asks the gateway before a step is live, or a track without requests.
	Accepted bool
	// PauseStays keeps the begin of a pause while Sites come and go.
	PauseStays bool
	// AloneAfterRecord composes the stage Alone only on top of the recorded verdict.
	AloneAfterRecord bool
	// Covers lets the provider act by a mandate for the current revision only.
	Covers bool
	// Guard lets the provider go forward only for the claim that the mandate follows from.
	Guard bool
	// Follows lets the SiteSync look for the directories of the ledger in the status of the home.
	Follows bool
}

var allCanaryRules = canaryRules{
	Drain: true, IdleIsProven: true, NewerThanWeighed: true, SameFolder: true, NewerThanPlaced: true, Available: true,
	Accepted: true, PauseStays: true, AloneAfterRecord: true, Covers: true, Guard: true, Follows: true,
}

// A canaryDelivery is the GitDelivery of a repository: its request, and its last report.
type canaryDelivery struct {
	after    ledger.Head
	events   []ledger.Event
	position ledger.Position
	wanted   map[string]canaryDirectory
	// files are the directories whose files the object has.
	files map[string]canaryDirectory
	// isRejected is true if the wanted directories were composed after a rejection.
	isRejected bool
	// mandate of the home. echo is the revision for which the provider says that it acts by it, and may are the kinds of its events.
	mandate canaryMandate
	echo    int64
	may     []Kind
	// carries is the revision whose files the object has, also those of later steps.
	carries int64

	isObserved bool
	ledger     ledger.State
	reported   ledger.Position
	trees      map[string]canaryDirectory
	// commits are how often the directories had changed.
	commits map[string]int
	weighed map[string]map[string]ledger.Position
	placed  map[string]map[string]ledger.Position
}

// idleProof is since when a track was seen without requests, and by which position.
type idleProof struct {
	since int
	by    ledger.Position
	isSet bool
}

// podsProof are the pods that were seen to be available, and by which position.
type podsProof struct {
	pods pods
	by   ledger.Position
}

// siteAsk is the desired state of a Site in the SiteSync.
type siteAsk struct {
	directory canaryDirectory
	// weighed and placed are the positions that last gave each track requests, and that last changed its folder.
	weighed, placed map[string]ledger.Position
}

// A canarySync is the SiteSync.
type canarySync struct {
	position ledger.Position
	wanted   map[string]canaryDirectory
	asked    map[string]siteAsk
	pause    int
	// revision whose pods have to be available: the current one in a step, and its origin before. isPlain says that the latter has no tracks, so
	// that a directory may have a later one in its place.
	revision int64
	isPlain  bool
	// requested is the position of its spec, and follows that of the ledger to which it followed a home from there. The zero value says that it looks for its
	// spec.
	requested, follows ledger.Position

	proven      ledger.Position
	provenTrees map[string]canaryDirectory
	live        bool
	failed      bool
	released    bool
	waitsSince  int
	// pausedFor is the position whose pause began, and liveAt when its last Site was live.
	pausedFor ledger.Position
	liveAt    int
	// idle is since when each track of a Site is without requests, and available are the pods of it that were there.
	idle      map[string]map[string]idleProof
	available map[string]map[string]podsProof
}

// A canaryGate is the verdict on a step.
type canaryGate struct {
	position ledger.Position
	result   string
}

// canarySpec is the spec of the user.
type canarySpec struct {
	content    string
	replicas   int
	sources    string
	steps      []ledger.Step
	isEnabled  bool
	isPlain    bool
	suspended  bool
	isBroken   bool
	rollsBack  bool
	maxRetries int32
}

type canaryModel struct {
	rules  canaryRules
	random *rand.Rand
	now    int
	sites  []*canarySite
	waves  [][]string
	home   ledger.State
	// records are the positions of the repositories.
	records       []ledger.Position
	isUnreachable []bool
	deliveries    []canaryDelivery
	sync          canarySync
	gate          canaryGate
	// gatesOf is the revision whose Gates of all steps are there.
	gatesOf  int64
	spec     canarySpec
	requests []Request
	uids     int
	before   []canaryView
	// views counts the views, and seen is the number of the last view of a call.
	views, seen int
	// isAsking is true if composed directories are requested, and not only compared.
	isAsking bool
	truth    canaryTruth
	isCalm   bool
	// honours says that the provider acts by mandates, and isSilent that the function is not called.
	honours, isSilent bool
	// losesEchoes says that some statuses lack what the provider says about its mandate.
	losesEchoes bool
	// claimHold says that the claim is paused, is being deleted, or cannot be read.
	claimHold bool
	// mandates are those that the home had, oldest first.
	mandates []canaryMandate
	// hasLost are the Sites of deliveries that were lost in a move, and isExcused the Sites that were restored without the files that a move needs.
	hasLost, isExcused map[string]bool
	// trace has the lines of the story so far, for a failure.
	trace []string
}

// A canaryView is the input of a call of the function.
type canaryView struct {
	number     int
	deliveries []canaryDelivery
	sync       canarySync
	gate       canaryGate
}

func newCanaryModel(random *rand.Rand, rules canaryRules) *canaryModel {
	names := []string{"edge1", "edge2", "edge3"}[:1+random.IntN(3)]
	waves := [][]string{names}
	if len(names) > 1 && random.IntN(2) == 0 {
		waves = [][]string{names[:1], names[1:]}
	}
	m := newCanaryModelOf(random, rules, 1+random.IntN(min(2, len(names))), waves...)
	m.spec.steps = m.randomSteps()
	return m
}

// newCanaryModelOf makes a model of so many repositories, and of the Sites of waves.
func newCanaryModelOf(random *rand.Rand, rules canaryRules, repositories int, waves ...[]string) *canaryModel {
	m := &canaryModel{rules: rules, random: random, waves: waves, hasLost: map[string]bool{}, isExcused: map[string]bool{}}
	m.spec = canarySpec{content: "a", replicas: 4, sources: "s", isEnabled: true, rollsBack: true, maxRetries: 2}
	for _, name := range slices.Concat(waves...) {
		m.sites = append(m.sites, newCanarySite(name))
	}
	m.deliveries, m.records, m.isUnreachable = make([]canaryDelivery, repositories), make([]ledger.Position, repositories), make([]bool, repositories)
	m.loseSync()
	m.truth = newCanaryTruth()
	s, err := ledger.Append(ledger.State{}, recordedAt, ledger.Event{Opened: &ledger.Opened{Ledger: "a", Home: m.configRef(0)}})
	if err != nil {
		panic(err)
	}
	m.home = s
	return m
}

func (m *canaryModel) tracef(format string, args ...any) {
	m.trace = append(m.trace, fmt.Sprintf("%4d ", m.now)+fmt.Sprintf(format, args...))
}

func (m *canaryModel) configRef(i int) string { return fmt.Sprintf("repository-%d", i) }

// repositoryOf returns the index of the repository that delivers to a Site: the last one has all but the first Site.
func (m *canaryModel) repositoryOf(site string) int {
	if site == m.sites[0].name {
		return 0
	}
	return len(m.records) - 1
}

func (m *canaryModel) siteOf(name string) *canarySite {
	return m.sites[slices.IndexFunc(m.sites, func(s *canarySite) bool { return s.name == name })]
}

// randomSteps returns the weights, Gates and pauses of a wave.
func (m *canaryModel) randomSteps() []ledger.Step {
	out := []ledger.Step{{Weight: new(int32(0))}}
	for _, weight := range [][]int32{{5, 50}, {20}, {25, 50, 75}, {}}[m.random.IntN(4)] {
		out = append(out, ledger.Step{Weight: new(weight), Gate: m.random.IntN(3) > 0})
	}
	out = append(out, ledger.Step{Weight: new(int32(100)), Gate: m.random.IntN(2) > 0})
	for i := range out {
		switch m.random.IntN(5) {
		case 0:
			out[i].Pause = ledger.PauseManual
		case 1:
			out[i].Pause = strconv.Itoa(3+m.random.IntN(12)) + "s"
		}
		if i+1 < len(out) {
			out[i].Ahead = out[i+1].Weight
		}
	}
	return out
}

// intent of the spec: the content to deliver, and its plan.
func (m *canaryModel) intent() string {
	weights := &strings.Builder{}
	for _, p := range m.spec.steps {
		fmt.Fprintf(weights, "%d%t%s,", *p.Weight, p.Gate, p.Pause)
	}
	if m.spec.isPlain {
		return fmt.Sprintf("p%s/%d", m.spec.content, m.spec.replicas)
	}
	return fmt.Sprintf("%s/%d/%t/%s", m.spec.content, m.spec.replicas, m.spec.isEnabled, weights)
}

// buildOf returns the build of the pods of an intent.
func buildOf(intent string) build {
	parts := strings.Split(intent, "/")
	replicas, err := strconv.Atoi(parts[1])
	if err != nil {
		panic(err)
	}
	return build{Content: parts[0], Replicas: replicas}
}

// desired is the request of the spec, as it was compiled on top of a recorded state.
func (m *canaryModel) desired(view canaryView, recorded ledger.State) *Desired {
	if m.spec.isBroken {
		return nil
	}
	d := &Desired{Request: ledger.Request{Intent: m.intent(), Sources: m.spec.sources, Scheme: 1, Renderer: 1}}
	d.Workload = Workload{Digest: m.spec.content, IsEnabled: m.spec.isEnabled, HasPods: true}
	if m.spec.isPlain {
		d.Workload = Workload{IsPlain: true, Serving: m.servingTrack(view)}
	}
	placement, err := PlaceRevision(recorded, d.Workload)
	isReturn := m.spec.isPlain && placement.IsMove && isPlainRevision(recorded, placement.Stable)
	if err != nil || placement.IsMove && !isReturn && recorded.Current.Request != d.Request && !m.holdsStable(view, recorded) {
		return nil // The move is refused.
	}
	d.Placement = placement
	for i := range m.records {
		part := ledger.Part{Delivery: m.configRef(i), ConfigRef: m.configRef(i)}
		for _, s := range m.sites {
			if m.repositoryOf(s.name) == i {
				part.Sites = append(part.Sites, s.name)
			}
		}
		d.Parts = append(d.Parts, part)
	}
	for _, wave := range m.waves {
		if !placement.HasSteps {
			d.Plan = append(d.Plan, ledger.Step{Sites: wave, Gate: true})
			continue
		}
		steps := slices.Clone(m.spec.steps)
		if placement.IsMove {
			steps = []ledger.Step{{Weight: new(int32(0)), Ahead: new(int32(100))}, {Weight: new(int32(100)), Gate: steps[len(steps)-1].Gate}}
		}
		steps[0].Sites = wave
		d.Plan = append(d.Plan, steps...)
	}
	return d
}

// view returns the objects as a call sees them.
func (m *canaryModel) view() canaryView {
	m.views++
	v := canaryView{number: m.views, sync: m.sync, gate: m.gate}
	for _, d := range m.deliveries {
		d.trees, d.weighed, d.placed = maps.Clone(d.trees), maps.Clone(d.weighed), maps.Clone(d.placed)
		v.deliveries = append(v.deliveries, d)
	}
	v.sync.idle, v.sync.available = maps.Clone(m.sync.idle), maps.Clone(m.sync.available)
	for site := range v.sync.idle {
		v.sync.idle[site], v.sync.available[site] = maps.Clone(v.sync.idle[site]), maps.Clone(v.sync.available[site])
	}
	return v
}

// call is one call of the function. Only some of its writes may succeed.
func (m *canaryModel) call(view canaryView, writes func() bool) {
	home := view.deliveries[0]
	m.seen = max(m.seen, view.number)
	if !home.isObserved {
		return
	}
	recorded := home.ledger
	events, s := m.propose(view, recorded)
	in := m.input(view, recorded, s)
	m.isAsking = true
	defer func() { m.isAsking = false }()
	if writes() {
		d := &m.deliveries[0]
		d.after, d.events, d.position = recorded.Head, events, s.Position()
		d.ask(m.compose(0, view, in, s), view.deliveries[0])
		d.isRejected = s.IsRejected()
		m.giveMandate(d, view, in, s)
	}
	m.isAsking = false
	followed := m.input(view, recorded, recorded)
	m.isAsking = true
	for i := range m.deliveries[1:] {
		if writes() && recorded.Current != nil {
			d := &m.deliveries[i+1]
			d.ask(m.compose(i+1, view, followed, recorded), view.deliveries[i+1])
			d.position, d.isRejected = recorded.Position(), recorded.IsRejected()
		}
	}
	if writes() && s.Current != nil {
		m.composeSync(view, in, s)
	}
	if s.Current != nil && m.gate.position != s.Position() && s.IsGated() && s.Verdict == nil && !s.IsBeforeSteps() {
		m.gate = canaryGate{position: s.Position()}
	}
	if s.Current != nil && s.Verdict == nil && s.Current.HasSteps() {
		m.gatesOf = s.Current.Number
	}
}

// composeSync asks the SiteSync for a position.
func (m *canaryModel) composeSync(view canaryView, in Input, s ledger.State) {
	sync := &m.sync
	sync.wanted = map[string]canaryDirectory{}
	for i := range m.deliveries {
		maps.Copy(sync.wanted, m.compose(i, view, in, s))
	}
	sync.lookFor(s)
	if sync.requested = s.Position(); sync.requested.Compare(sync.follows) >= 0 {
		sync.follows = ledger.Position{}
	}
	sync.asked = map[string]siteAsk{}
	for _, site := range m.sites {
		sync.asked[site.name] = sync.askOf(site.name, view.deliveries[m.repositoryOf(site.name)])
	}
}

// lookFor lets the SiteSync look for the position of a state.
func (y *canarySync) lookFor(s ledger.State) {
	y.position, y.pause, y.revision = s.Position(), 0, s.Current.Number
	if d, err := time.ParseDuration(s.PauseAfterStep()); err == nil && s.Cursor.Stage == ledger.StageSteps {
		y.pause = int(d.Seconds())
	}
	switch {
	case s.Cursor.Attempt > 0:
		y.revision = s.Target
	case s.IsBeforeSteps() && s.TakesBack():
		y.revision = 0 // The pods that serve until then need no check.
	case s.IsBeforeSteps() && s.Current.Stable != 0:
		y.revision = s.Current.Stable
	}
	p := s.PastRevision(y.revision)
	y.isPlain = p != nil && y.revision != s.Current.Number && ledger.IsPlain(p.Track)
}

// askOf returns the desired state of a Site in the SiteSync. A directory that stays is asked for as it is.
func (y canarySync) askOf(site string, d canaryDelivery) siteAsk {
	delivered := d.trees[site]
	ask := siteAsk{directory: delivered, weighed: map[string]ledger.Position{}, placed: map[string]ledger.Position{}}
	if wanted, isWanted := y.wanted[site]; isWanted {
		ask.directory = wanted
	}
	for t, f := range ask.directory {
		h, isHeld := delivered.folderOf(t)
		if ask.placed[t] = d.placed[site][t]; !isHeld || h.pods() != f.pods() {
			ask.placed[t] = y.position
		}
		if f.Weight == 0 {
			ask.weighed[t] = d.weighed[site][t]
		}
	}
	return ask
}

// propose returns the events that follow, and the state after them.
func (m *canaryModel) propose(view canaryView, recorded ledger.State) ([]ledger.Event, ledger.State) {
	var events []ledger.Event
	s := recorded
	for range 8 {
		e, _ := Step(s, m.input(view, recorded, s))
		if e == nil || isLeftToProvider(view.deliveries[0], recorded, s, *e) {
			return events, s
		}
		next, err := ledger.Append(s, m.time(), *e)
		if err != nil {
			m.truth.failf("an event is illegal: %v", err)
			return nil, recorded
		}
		s, events = next, append(events, *e)
	}
	m.truth.failf("events follow without an end, at last %s", event(&events[len(events)-1]))
	return nil, recorded
}

func (m *canaryModel) time() time.Time { return recordedAt.Add(time.Duration(m.now) * time.Second) }

// input returns the input of a call about a state.
func (m *canaryModel) input(view canaryView, recorded, s ledger.State) Input {
	in := Input{
		Versions: Versions{Scheme: 1, Renderer: 1}, Desired: m.desired(view, recorded), IsSuspended: m.spec.suspended, Requests: m.requests,
		Policy:     Policy{AutoRollback: m.spec.rollsBack, MaxRetries: m.spec.maxRetries},
		IsRecorded: s.Head == recorded.Head || !m.rules.AloneAfterRecord, HoldsFiles: !s.IsMove(), HasAllReported: true,
	}
	for i, d := range view.deliveries {
		in.HasAllReported = in.HasAllReported && d.isObserved && d.reported == s.Position()
		for _, site := range m.sites {
			if m.repositoryOf(site.name) == i {
				in.Directories = append(in.Directories, m.directory(view, d, site.name))
			}
		}
	}
	slices.SortFunc(in.Directories, func(a, b Directory) int { return cmp.Compare(a.Site, b.Site) })
	if s.Current != nil && s.Position() == recorded.Position() {
		in.Proof = m.proof(view, in, s)
	}
	return in
}

// directory returns the reported directory of a Site.
func (m *canaryModel) directory(view canaryView, d canaryDelivery, site string) Directory {
	delivered, isKnown := d.trees[site]
	out := Directory{Site: site, IsChosen: true, IsKnown: d.isObserved && isKnown, Tree: delivered.name(), Tracks: map[string]Track{}}
	out.AreTracksKnown = d.isObserved && d.reported == view.deliveries[0].ledger.Position()
	if delivered.isFlat() { // A workload without tracks needs no check of its pods.
		out.Revision = delivered[ledger.TrackPlain].Revision
		out.Tracks[ledger.TrackPlain] = Track{Revision: out.Revision, Weight: 100, IsProven: true}
		return out
	}
	for _, t := range tracksInOrder {
		f := delivered[t]
		if f.Revision == 0 {
			continue
		}
		out.Revision = max(out.Revision, f.Revision)
		out.Tracks[t] = Track{
			Revision: f.Revision, Weight: f.Weight, IsProven: m.isProven(view, d, site, t), IsIdle: m.isIdle(view, d, site, t),
		}
	}
	return out
}

// isProven is true if the pods of the folder that a track has were there after the folder changed last.
func (m *canaryModel) isProven(view canaryView, d canaryDelivery, site, t string) bool {
	proof, isSet := view.sync.available[site][t]
	return isSet && m.rules.proves(proof, d.trees[site][t], d.placed[site][t])
}

// proves is true for a proof of the pods of a folder that changed last at a position.
func (r canaryRules) proves(proof podsProof, f folder, placed ledger.Position) bool {
	return (proof.pods == f.pods() || !r.SameFolder) && (proof.by.Compare(placed) >= 0 || !r.NewerThanPlaced)
}

// isIdle compares the proof of the SiteSync with the report of the repository.
func (m *canaryModel) isIdle(view canaryView, d canaryDelivery, site, t string) bool {
	if !m.rules.IdleIsProven {
		return d.trees[site][t].Weight == 0
	}
	if d.weighed[site][t] == (ledger.Position{}) {
		return true
	}
	proof := view.sync.idle[site][t]
	drained := m.now-proof.since >= drainTicks || !m.rules.Drain
	return proof.isSet && drained && (proof.by.Compare(d.weighed[site][t]) > 0 || !m.rules.NewerThanWeighed)
}

// proof returns the proof about a recorded position.
func (m *canaryModel) proof(view canaryView, in Input, s ledger.State) Proof {
	p := Proof{}
	switch {
	case m.hasLostFiles(view, in, s):
		p.Failure = &ledger.Verdict{Result: ledger.VerdictRejected, Reason: "FilesLost"}
		return p
	case m.lacksFiles(view, in, s):
		return p
	}
	if view.sync.proven != s.Position() || !m.asksForThis(view.sync, view, in, s) {
		return p
	}
	return m.observedProof(view, s)
}

// observedProof returns the proof by the SiteSync and the Gate about the position of a state, which they are about.
func (m *canaryModel) observedProof(view canaryView, s ledger.State) Proof {
	sync, p := view.sync, Proof{}
	p.IsLive, p.IsPauseOver = sync.live, sync.released
	if sync.failed {
		p.Failure = &ledger.Verdict{Result: ledger.VerdictRejected, Reason: "SyncTimedOut"}
	}
	if view.gate.position == s.Position() && s.Verdict == nil && s.IsGated() && !s.IsBeforeSteps() {
		switch view.gate.result {
		case "Passed":
			p.HasPassed = true
		case "Held":
			p.IsHeld = true
		case "Failed":
			p.Failure = &ledger.Verdict{Result: ledger.VerdictRejected, Reason: "GateFailed"}
		}
	}
	for _, site := range m.sites {
		alone := aloneDirectory(s.Current.Track, s.Current.Number, buildOf(s.Current.Request.Intent))
		p.Trees = append(p.Trees, ledger.SiteTree{Site: site.name, ID: alone.name()})
	}
	return p
}

// asksForThis is true if the SiteSync proved the directories that are composed now.
func (m *canaryModel) asksForThis(sync canarySync, view canaryView, in Input, s ledger.State) bool {
	wanted := map[string]canaryDirectory{}
	for i := range m.deliveries {
		maps.Copy(wanted, m.compose(i, view, in, s))
	}
	return sync.hasProven(wanted)
}

// compose returns the directories that a repository is asked for. Any other directory stays as it is.
func (m *canaryModel) compose(i int, view canaryView, in Input, s ledger.State) map[string]canaryDirectory {
	out := map[string]canaryDirectory{}
	for _, d := range in.Directories {
		if m.repositoryOf(d.Site) != i {
			continue
		}
		if s.Current == nil {
			continue
		}
		if !s.HasTracks() {
			if wanted, isWanted := flatDirectory(s, d); isWanted {
				out[d.Site] = wanted
			}
			continue
		}
		switch aim := in.AimAt(s, d); {
		case aim.IsUnknown:
			out[d.Site] = unknownDirectory
		case s.IsRejected() && s.TakesBack() && len(aim.Put) > 0:
			continue // The pods that it would go back to are there already, or nothing is.
		case !aim.Keeps && m.hasFilesFor(aim, view.deliveries[i], in, s, d.Site):
			out[d.Site] = m.directoryOf(aim, view.deliveries[i].trees[d.Site], s)
			if recorded := view.deliveries[0].ledger.Position(); recorded == s.Position() && view.deliveries[i].position == recorded {
				out[d.Site] = retainWeights(aim, out[d.Site], view.deliveries[i].wanted[d.Site])
			}
		case !aim.Keeps && s.Cursor.Attempt > 0: // A directory that cannot be composed is restored.
			m.noteLostFiles(d.Site)
			out[d.Site] = m.directoryOf(Aim{Restores: true}, nil, s)
		}
	}
	return out
}

// unknownDirectory is a directory that no Site ever has.
var unknownDirectory = canaryDirectory{"unknown": {}}

// directoryOf returns a directory that is brought to an aim.
func (m *canaryModel) directoryOf(aim Aim, observed canaryDirectory, s ledger.State) canaryDirectory {
	out := canaryDirectory{}
	maps.Copy(out, observed)
	if aim.Restores {
		p := s.PastRevision(s.Target)
		return aloneDirectory(p.Track, p.Number, buildOf(p.Request.Intent))
	}
	for t, revision := range aim.Put {
		b := out[t].Build // A folder that stays may be of a revision that the history has dropped.
		if out[t].Revision != revision {
			b = m.buildOfRevision(s, revision)
		}
		out[t] = folder{Revision: revision, Build: b, Size: b.Replicas, Weight: out[t].Weight}
	}
	if aim.Serving == "" {
		return out
	}
	if aim.IsAlone || len(aim.Put) > 1 {
		maps.DeleteFunc(out, func(t string, _ folder) bool { return t != aim.Serving && (aim.IsAlone || aim.Put[t] == 0) })
	}
	for t, f := range out {
		switch {
		case t == aim.Serving:
			f.Weight = 100 - aim.Weight
		case aim.Ahead != nil:
			f.Weight, f.Size = aim.Weight, max(1, needs(f.Build.Replicas, *aim.Ahead))
		default:
			f.Weight = aim.Weight
		}
		out[t] = f
	}
	return out
}

// retainWeights leaves the requests where a directory was asked to have them in the same position, if weights stay and it was asked for the same folders.
func retainWeights(aim Aim, out, requested canaryDirectory) canaryDirectory {
	if aim.Serving != "" || aim.Restores || len(requested) != len(out) {
		return out
	}
	for t, f := range out {
		if requested[t].Revision != f.Revision {
			return out
		}
	}
	for t, f := range out {
		f.Weight = requested[t].Weight
		out[t] = f
	}
	return out
}

func (m *canaryModel) buildOfRevision(s ledger.State, revision int64) build {
	if s.Current.Number == revision {
		return buildOf(s.Current.Request.Intent)
	}
	return buildOf(s.PastRevision(revision).Request.Intent)
}
