package step

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/intentplane/intentplane/apis/ledger"
)

// A canaryTruth remembers the facts that no story may contradict.
type canaryTruth struct {
	verified, withdrawn, rejected map[int64]bool
	// allowed is the highest requested weight of a content at a Site, while it was not rejected.
	allowed map[string]int32
	// liveAt is when the last Site of a recorded position had its weights.
	liveAt map[ledger.Position]int
	// made are the pods that each Site had made when a revision began.
	made     map[string]int
	promotes map[int64]int
	passed   map[int64]int
	// gates are the verdicts of Gates by the positions that they were measured in. A Gate that was lost is measured again.
	gates map[ledger.Position]map[string]bool
	// pausedFor is the position whose pause the SiteSync began last.
	pausedFor ledger.Position
	seen      map[string]int
	broken    string
}

func newCanaryTruth() canaryTruth {
	return canaryTruth{
		verified: map[int64]bool{}, withdrawn: map[int64]bool{}, rejected: map[int64]bool{}, allowed: map[string]int32{},
		liveAt: map[ledger.Position]int{}, promotes: map[int64]int{}, passed: map[int64]int{}, seen: map[string]int{},
		gates: map[ledger.Position]map[string]bool{},
	}
}

func (t *canaryTruth) failf(format string, args ...any) {
	if t.broken == "" {
		t.broken = fmt.Sprintf(format, args...)
	}
}

func allowedKey(site, content string) string { return site + "/" + content }

// noteEvent compares an event that the home records with the previous events.
func (m *canaryModel) noteEvent(previous ledger.State, e ledger.Event, next ledger.State) {
	t := &m.truth
	m.count(previous, e, next)
	switch {
	case e.Ordered != nil:
		m.noteOrder(previous, e.Ordered.Revision)
	case e.Advanced != nil && next.Cursor.Step > previous.Cursor.Step:
		m.noteStep(previous)
	case e.Promoted != nil:
		t.promotes[next.Current.Number]++
	case e.Judged != nil && next.IsVerified():
		m.noteGate(previous)
		m.notePods(next)
		t.verified[next.Current.Number] = true
		if manual := previous.PauseAfterStep() == ledger.PauseManual && !previous.Cursor.Full; manual {
			t.passed[next.Current.Number]++
		}
	case e.Judged != nil:
		t.rejected[next.Current.Number] = true
	case e.Withdrawn != nil:
		t.rejected[next.Current.Number] = true
		for _, p := range next.History {
			t.withdrawn[p.Number] = t.withdrawn[p.Number] || p.Withdrawn
		}
	}
	if t.passed[next.Current.Number] > t.promotes[next.Current.Number] {
		t.failf("N6: revision %d passed %d manual pauses with %d Promotes", next.Current.Number, t.passed[next.Current.Number], t.promotes[next.Current.Number])
	}
	m.allow(next)
}

// count counts the situations of stories, so that a test can say that they come to all of them.
func (m *canaryModel) count(previous ledger.State, e ledger.Event, next ledger.State) {
	counts := m.truth.seen
	switch {
	case e.Judged != nil && next.IsVerified() && next.TakesBack():
		counts["taken back from a track"]++
	case e.Judged != nil && next.IsVerified() && next.IsMove():
		counts["moved to track "+next.Current.Folder()]++
	case e.Judged != nil && next.IsVerified() && next.Current.HasSteps():
		counts["verified with steps"]++
	case e.Judged != nil && next.IsVerified():
		counts["verified without steps"]++
	case e.Judged != nil && previous.IsBeforeSteps():
		counts["rejected before its steps"]++
	case e.Judged != nil && next.Current.HasSteps():
		counts[fmt.Sprintf("rejected in step %d", min(3, next.Cursor.Step))]++
	case e.Advanced != nil && next.IsBeforeSteps():
		counts[fmt.Sprintf("stage %d, attempt %t", next.Cursor.Stage, next.Cursor.Attempt > 0)]++
	case e.Advanced != nil && next.Cursor.Stage == ledger.StageAlone:
		counts["alone"]++
	case e.Advanced != nil && next.Cursor.Step > previous.Cursor.Step+1:
		counts["left out"]++
	case e.Restored != nil:
		counts["restored"]++
	case e.Withdrawn != nil:
		counts["withdrawn"]++
	case e.Ordered != nil && previous.Current != nil && previous.Verdict == nil:
		counts["replaced in flight"]++
	}
}

// noteOrder looks at how a revision begins.
func (m *canaryModel) noteOrder(previous ledger.State, r ledger.Revision) {
	t := &m.truth
	if r.Stable != 0 && (!t.verified[r.Stable] || t.withdrawn[r.Stable]) {
		t.failf("N10: revision %d begins beside revision %d, which was not verified or is withdrawn", r.Number, r.Stable)
	}
	if previous.Current != nil && previous.Verdict == nil && previous.Current.HasSteps() && !previous.IsMove() && previous.Current.Request.Intent == r.Request.Intent && r.RequestRef == nil {
		t.failf("N11: a change of the catalog ends revision %d", previous.Current.Number)
	}
	t.made = map[string]int{}
	for _, s := range m.sites {
		for key, n := range s.made {
			t.made[s.name+key] = n
		}
		// A revision that was in flight has pods of the same build, of which some go and come again, also where an engine has still to remove them, or a
		// repository to bring them.
		content := buildOf(r.Request.Intent).Content
		for _, d := range []canaryDirectory{s.git, s.fetched, s.applied, m.deliveries[m.repositoryOf(s.name)].wanted[s.name]} {
			if d[r.Folder()].Build.Content == content {
				t.made[s.name+r.Folder()+content] = never
			}
		}
	}
}

// noteStep looks at the pause behind a step that ends.
func (m *canaryModel) noteStep(previous ledger.State) {
	m.noteGate(previous)
	t, pause := &m.truth, previous.PauseAfterStep()
	isFree := previous.Cursor.Full || previous.Cursor.Promoted > previous.Cursor.Step
	if pause == ledger.PauseManual && !previous.Cursor.Full {
		t.passed[previous.Current.Number]++
	}
	d, err := time.ParseDuration(pause)
	liveAt, wasLive := t.liveAt[previous.Position()]
	if err == nil && !isFree && (!wasLive || m.now < liveAt+int(d.Seconds())) {
		t.failf("N5: step %d of revision %d ends before its pause of %s, which began at %d", previous.Cursor.Step, previous.Current.Number, pause, liveAt)
	}
}

// notePods checks the pods that a verdict is about: each was made once, and the pods of the stable revision stayed.
func (m *canaryModel) notePods(next ledger.State) {
	r := next.Current
	if !r.HasSteps() {
		return
	}
	b := buildOf(r.Request.Intent)
	for _, s := range m.sites {
		key := r.Folder() + b.Content
		if n := s.made[key] - m.truth.made[s.name+key]; n > b.Replicas && originAtSite(next, s.name).revision != 0 {
			m.truth.failf("N9: %s made %d pods of revision %d for %d replicas", s.name, n, r.Number, b.Replicas)
		}
	}
}

// allow notes which weights a recorded position asks for.
func (m *canaryModel) allow(s ledger.State) {
	if s.Current == nil || s.IsRejected() || s.IsBeforeSteps() {
		return
	}
	content := buildOf(s.Current.Request.Intent).Content
	for _, site := range m.sites {
		reached, isReached := s.Current.StepAt(s.Cursor.Step, site.name)
		if !isReached {
			continue
		}
		weight := int32(100)
		if p := s.Current.Plan[reached]; p.Weight != nil {
			weight = *p.Weight
		}
		if originAtSite(s, site.name).track == s.Current.Folder() || s.IsVerified() {
			weight = 100
		}
		key := allowedKey(site.name, content)
		m.truth.allowed[key] = max(m.truth.allowed[key], weight)
	}
}

// notePush compares a commit with the previous directory of the Site.
func (m *canaryModel) notePush(s *canarySite, wanted canaryDirectory, d *canaryDelivery) {
	if m.isExcused[s.name] {
		return
	}
	if m.replacesUnverified(s) && !wanted.isFlat() {
		s.hasServed, s.beganAnew = false, true
	}
	s.beganAnew = s.beganAnew && !wanted.isFlat()
	m.allowInPlace(s, wanted)
	for _, t := range tracksInOrder {
		previous, next := s.git[t], wanted[t]
		m.noteWeights(s, previous, next, d.isRejected && t != ledger.TrackPlain)
		m.notePodsOf(s, t, previous, next)
	}
	total := int32(0)
	for _, f := range wanted {
		total += f.Weight
	}
	if len(wanted) > 0 && total != 100 {
		m.truth.failf("%s: the weights add up to %d at %+v", s.name, total, d.position)
	}
	if d.position == m.home.Position() {
		m.noteStable(s, wanted)
	}
}

// allowInPlace allows all requests to pods that replace others one by one, in a track whose requests cannot go back to pods without tracks.
func (m *canaryModel) allowInPlace(s *canarySite, wanted canaryDirectory) {
	t := m.home.Current.Track
	isInPlace := s.git[t].Weight == 100 && wanted[t].Weight == 100 && wanted[t].Revision == m.home.Current.Number
	if _, isBeside := s.git.folderOf(ledger.TrackPlain); isInPlace && isBeside && m.home.IsMove() {
		m.truth.allowed[allowedKey(s.name, wanted[t].Build.Content)] = 100
	}
}

// noteWeights checks the weight of a track in a commit. A repository may still push weights that were requested before a rejection was recorded at the home. Pods
// without tracks were replaced in place, so that a move that is given up goes back to them, with any verdict.
func (m *canaryModel) noteWeights(s *canarySite, previous, next folder, afterRejection bool) {
	if next.Weight > 0 && !m.truth.verified[next.Revision] && next.Weight > m.truth.allowed[allowedKey(s.name, next.Build.Content)] {
		m.truth.failf("N3: %s gives %d percent to revision %d, which was asked for with less", s.name, next.Weight, next.Revision)
	}
	if next.Weight > previous.Weight && next.Revision == previous.Revision && afterRejection && m.truth.rejected[next.Revision] && !m.truth.verified[next.Revision] {
		m.truth.failf("N4: the weight of revision %d rises at %s after its rejection", next.Revision, s.name)
	}
	isMoved := next.Weight != previous.Weight && len(s.git) > 0 && !m.replacesUnverified(s)
	if isMoved && next.Weight < previous.Weight && next.pods() != previous.pods() {
		m.truth.failf("R1: %s takes weight and pods of revision %d in one commit", s.name, previous.Revision)
	}
	if isMoved && next.Weight > previous.Weight && next.Build != previous.Build {
		m.truth.failf("R1: %s gives weight to pods of revision %d that the same commit makes", s.name, next.Revision)
	}
}

// replacesUnverified is true for a Site without tracks while nothing was verified: another revision cannot begin beside the serving one there. The latter was
// rejected, or waits in vain for its later waves, and is replaced at once.
func (m *canaryModel) replacesUnverified(s *canarySite) bool {
	return s.git.isFlat() && m.home.Stable == 0
}

// notePodsOf looks at the pods of a track that a commit changes or removes.
func (m *canaryModel) notePodsOf(s *canarySite, t string, previous, next folder) {
	changes := previous.Revision != 0 && (next.Build.Content != previous.Build.Content || next.Size < previous.Size && next.Build.Replicas == previous.Build.Replicas)
	if !changes {
		return
	}
	inPlace := next.Revision != 0 && next.Weight == 100 && previous.Weight == 100
	if inPlace {
		for otherTrack, weight := range s.effective {
			if isNew := s.beganAnew && otherTrack == ledger.TrackPlain; otherTrack != t && weight > 0 && !isNew {
				m.truth.failf("%s changes track %s in place while track %s gets %d percent", s.name, t, otherTrack, weight)
			}
		}
		return
	}
	if s.effective[t] > 0 || m.now-s.idleSince[t] < 2 && s.idleSince[t] > 0 {
		m.truth.failf("%s changes pods of track %s, which had requests until %d", s.name, t, s.idleSince[t])
	}
}

// noteStable looks for the pods of the stable revision, which stay until the verdict.
func (m *canaryModel) noteStable(s *canarySite, wanted canaryDirectory) {
	r := m.home.Current
	if !r.HasSteps() || m.home.TakesBack() || r.Stable == 0 || m.home.IsVerified() || m.home.Target != 0 && m.home.Target != r.Stable || m.home.Withdraws != 0 {
		return
	}
	p := m.home.PastRevision(r.Stable)
	if p == nil {
		return
	}
	home := cmp.Or(p.Track, ledger.TrackPlain)
	previous, next := s.git[home], wanted[home]
	if previous.Revision == r.Stable && previous.Size == previous.Build.Replicas && (next.Revision != previous.Revision || next.Size != previous.Size) {
		m.truth.failf("N2: %s loses pods of stable revision %d", s.name, r.Stable)
	}
}

// tick lets a second pass everywhere, and checks the invariants.
func (m *canaryModel) tick() {
	m.now++
	for _, s := range m.sites {
		s.tick(m.now, m.random.IntN)
		if broken := s.check(m.now); broken != "" && !m.isExcused[s.name] {
			m.truth.failf("%s", broken)
		}
		m.checkContents(s)
	}
	m.noteLive()
}

// checkContents looks for requests that reach pods which were never asked for with so much of them.
func (m *canaryModel) checkContents(s *canarySite) {
	if m.isExcused[s.name] {
		return
	}
	for t, weight := range s.effective {
		for _, p := range s.pods {
			if p.track == t && !p.dying && m.now >= p.readyAt && weight > m.truth.allowed[allowedKey(s.name, p.build.Content)] {
				m.truth.failf("N1: %s gives %d percent to pods of %s, which were asked for with less", s.name, weight, p.build.Content)
			}
		}
	}
}

// noteLive notes when each Site of the recorded step has its weights.
func (m *canaryModel) noteLive() {
	s := m.home
	if s.Current == nil || s.IsBeforeSteps() || s.Verdict != nil {
		return
	}
	if _, ok := m.truth.liveAt[s.Position()]; ok {
		return
	}
	for _, name := range s.Current.SitesAt(s.Cursor.Step) {
		site := m.siteOf(name)
		if m.records[m.repositoryOf(name)] != s.Position() || site.appliedAt != site.changes || !maps.Equal(site.accepted, weightsOf(site.applied)) {
			return
		}
	}
	m.truth.liveAt[s.Position()] = m.now - 1 // It may have been so since the second before.
}

// atRest returns the error of a model in which nothing happens any more, or "".
func (m *canaryModel) atRest() string {
	s := m.home
	switch {
	case s.Current == nil || s.Verdict == nil:
		return fmt.Sprintf("there is no verdict at rest, but position %+v", s.Position())
	case m.isCalm && s.Current.Request.Intent != m.intent() && !m.isRefused():
		return fmt.Sprintf("an edit waits at rest, at position %+v", s.Position())
	case !m.spec.rollsBack && s.IsRejected() && s.Withdraws == 0:
		return m.restWithoutRequests()
	case s.IsRejected() && s.Target == 0 && len(s.Targets()) > 0 && TargetOf(s) != nil:
		return m.restWithoutRollback()
	case s.IsRejected() && s.Target == 0:
		return ""
	case s.IsRejected() && !s.Restored && m.goesBackToBrokenPods():
		return "" // The pods without tracks that it goes back to never get ready.
	case s.IsRejected() && !s.Restored:
		return "a rollback comes to no end"
	}
	revision, track, intent := s.Current.Number, s.Current.Track, s.Current.Request.Intent
	if s.IsRejected() {
		p := s.PastRevision(s.Target)
		revision, track, intent = p.Number, p.Track, p.Request.Intent
	}
	if s.IsVerified() && intent != m.intent() {
		return "the request of the spec is not the current revision"
	}
	alone := aloneDirectory(track, revision, buildOf(intent))
	for _, site := range m.sites {
		if !site.git.equal(alone) || site.effective[cmp.Or(track, ledger.TrackPlain)] != 100 || len(site.effective) != 1 {
			return fmt.Sprintf("%s has %s and weights %v, and not %s", site.name, site.git.name(), site.effective, alone.name())
		}
		isLeft := func(p pod) bool {
			return alone[p.track].Revision == 0 || p.build.Content != alone[p.track].Build.Content
		}
		if i := slices.IndexFunc(site.pods, isLeft); i >= 0 && !isStuck(alone) {
			return fmt.Sprintf("%s still has a pod of %s", site.name, site.pods[i].build.Content)
		}
	}
	return ""
}

// isRefused is true if the user's request cannot be delivered at all, or waits since a delivery was lost that had the files that a move needs.
func (m *canaryModel) isRefused() bool {
	for _, isLost := range m.hasLost {
		if isLost {
			return true
		}
	}
	return m.desired(m.view(), m.home) == nil
}

// goesBackToBrokenPods is true for a rollback to pods without tracks that never get ready: pods of the target, or of a revision that replaced it in place.
func (m *canaryModel) goesBackToBrokenPods() bool {
	p := m.home.PastRevision(m.home.Target)
	isBroken := func(s *canarySite) bool { return s.git[ledger.TrackPlain].Build.isBroken() && !s.git.isFlat() }
	return isStuck(aloneDirectory(p.Track, p.Number, buildOf(p.Request.Intent))) || ledger.IsPlain(p.Track) && slices.ContainsFunc(m.sites, isBroken)
}

// isStuck is true for a directory without tracks whose pods never get ready, so that the pods of the previous revision stay.
func isStuck(d canaryDirectory) bool { return d.isFlat() && d[ledger.TrackPlain].Build.isBroken() }

// restWithoutRollback is right where the directories hold the trees of the target.
func (m *canaryModel) restWithoutRollback() string {
	p := TargetOf(m.home)
	alone := aloneDirectory(p.Track, p.Number, buildOf(p.Request.Intent))
	for _, site := range m.sites {
		if !site.git.equal(alone) {
			return "a rejected revision is not rolled back: " + site.git.name()
		}
	}
	return ""
}

// restWithoutRequests is right where a rejected revision that shared requests has none left, although nothing is rolled back.
func (m *canaryModel) restWithoutRequests() string {
	r := m.home.Current
	for _, site := range m.sites {
		f := site.git[r.Track]
		if isStuck(canaryDirectory{ledger.TrackPlain: site.git[ledger.TrackPlain]}) {
			continue // Pods without tracks that never get ready take no requests back, although their revision was verified.
		}
		from := originAtSite(m.home, site.name)
		if from.track == r.Track {
			continue // It replaced the pods of the target where they were, so that only a rollback takes its requests.
		}
		if r.HasSteps() && f.Revision == r.Number && from.revision != 0 && (f.Weight > 0 || site.effective[r.Track] > 0) {
			return fmt.Sprintf("N4: %s gives %d percent to a rejected revision", site.name, f.Weight)
		}
	}
	return ""
}
