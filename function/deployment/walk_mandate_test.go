package deployment

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/apis/directories"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/compose"
	"github.com/intentplane/intentplane/function/ledgerhome"
	"github.com/intentplane/intentplane/provider/mandate"
	"github.com/intentplane/intentplane/test/soak"
)

// restoredPerStory is in how many stories another repository than the home restores trees once at the least, before its spec asks for that.
const restoredPerStory = 50

// echoOf returns the mandate status of a provider of scenarios, which has all files.
func echoOf(m *deliveryv1alpha1.Mandate, s ledger.State) *deliveryv1alpha1.MandateStatus {
	return mandate.Status(m, s)
}

// isUnchanged is true for a mandate that follows from the spec as it is: nothing goes forward by another one.
func isUnchanged(m deliveryv1alpha1.Mandate, spec deploymentv1alpha1.IntentDeploymentSpec) bool {
	got, err := digest.Spec(&spec)
	return err == nil && got == m.Spec
}

// withoutEchoes returns a moment in which the provider leaves everything to the function: its proposals are the next events.
func withoutEchoes(m moment) moment {
	m.deliveries = maps.Clone(m.deliveries)
	for name, d := range m.deliveries {
		if d.Status.AtProvider.Mandate != nil {
			m.deliveries[name] = copyForStatus(d)
			m.deliveries[name].Status.AtProvider.Mandate = nil
		}
	}
	return m
}

// byMandate permits the events that the mandate of a home lists. The claim has to permit events that go forward.
func (w *walk) byMandate(home *deliveryv1alpha1.GitDelivery, s ledger.State, e ledger.Event) bool {
	m, kind := home.Spec.ForProvider.Mandate, step.KindOf(s, e)
	echo := echoOf(m, s)
	isListed := echo != nil && slices.Contains(echo.May, kind)
	hasFiles := kind != step.KindAdvance || directories.HoldFiles(s, compose.InOrder(w.deliveries)...)
	return isListed && hasFiles && (!kind.GoesForward() || isUnchanged(*m, w.in.Spec))
}

// concludeByMandate lets the provider record all that follows by the mandate of the home, in a story in which it does so. It returns how many events that were.
func (w *walk) concludeByMandate() int {
	n := 0
	for w.honours && w.appendByAnotherHand(w.byMandate) {
		n++
	}
	return n
}

// leaderOf returns the delivery to the home by whose mandate a delivery to another repository goes on, as the status of the home shows it, or nil.
func (w *walk) leaderOf(name string) *deliveryv1alpha1.GitDelivery {
	p := w.deliveries[name].Spec.ForProvider
	home := w.deliveries[homeOf(w.moment(), w.deliveries)]
	if !w.honours || p.Copy == nil || home == nil || home.Status.AtProvider.Mandate == nil {
		return nil
	}
	s := *home.Status.AtProvider.Ledger
	if echoOf(home.Spec.ForProvider.Mandate, s) == nil {
		return nil
	}
	target := step.TargetOf(s)
	isPlain := !s.HasTracks() && !s.Current.HasSteps() && (target == nil || ledger.IsPlain(target.Track))
	isNewer := p.Copy.Ledger == s.Ledger && p.Copy.Epoch == s.Epoch && p.Copy.Compare(s.Head) < 0
	record := w.repos[w.deliveries[name].Spec.ProviderConfigReference.Name].memory.record
	isCurrent := record != nil && record.position.Epoch == s.Epoch && slices.Contains([]int64{s.Current.Number, s.Withdraws}, record.position.Revision)
	hasCome := p.Position != nil || isCurrent
	if !isPlain || !isNewer || s.IsRejected() && !hasCome || ledgerhome.PartAt(s, ledgerhome.NameOf(w.deliveries[name])) != name || w.reportedElsewhere(name).Epoch > s.Epoch {
		return nil
	}
	return home
}

// followHome returns a delivery as the provider carries it out: the resources for a rollback that the status of the home shows take precedence over the
// delivery in the spec.
func (w *walk) followHome(name string, d *deliveryv1alpha1.GitDelivery) *deliveryv1alpha1.GitDelivery {
	home := w.leaderOf(name)
	if home == nil {
		return d
	}
	s, m := *home.Status.AtProvider.Ledger, home.Spec.ForProvider.Mandate
	if !s.IsRejected() {
		return w.followStep(d, home)
	}
	requested := d.Spec.ForProvider.AskedPosition()
	if order := requested.Compare(s.Position()); requested.Epoch != s.Epoch || order > 0 || order == 0 && s.Cursor.Attempt > 0 {
		return d
	}
	isChosen := func(site string) bool { return !slices.Contains(m.Without, site) }
	r := compose.Return{Trees: directories.TargetTrees(s), Chosen: isChosen, Timeout: m.Rollback.AttemptTimeout}
	followers := map[string]*deliveryv1alpha1.GitDelivery{name: d}
	followed := compose.RestoreDirectories(followers, w.in.Spec.DeliveryConfig, s, r)[name]
	switch {
	case !evidence.AsksForNothing(followed), d.Spec.ForProvider.Position == nil:
		followed.Spec.ForProvider.Position, followed.Spec.ForProvider.Copy = new(s.Position()), new(s.Essentials())
		w.followed++
	case evidence.IsOfRevision(&requested, s) || requested.Revision == s.Withdraws:
		followed.Spec.ForProvider.Position, followed.Spec.ForProvider.Copy = &requested, d.Spec.ForProvider.Copy
	default:
		return d
	}
	return withSpec(d, followed)
}

// followStep returns a delivery as the provider carries it out in a later step of the revision that the status of the home shows.
func (w *walk) followStep(d, home *deliveryv1alpha1.GitDelivery) *deliveryv1alpha1.GitDelivery {
	f, out := mandate.Facts{Home: home}, *d
	if m := w.repos[d.Spec.ProviderConfigReference.Name].memory.record; m != nil {
		f.Copy = m.copy
	}
	followed, isAhead := f.FollowHome(d.Spec.ForProvider)
	if !isAhead {
		return d
	}
	out.Spec.ForProvider = followed
	w.stepped++
	return &out
}

// followLedger returns the parameters by which the provider observes the Sites: in a story with mandates, for the ledger that the status of the home shows.
func (w *walk) followLedger(s *deliveryv1alpha1.SiteSync) deliveryv1alpha1.SiteSyncParameters {
	p, name := s.Spec.ForProvider, homeOf(w.moment(), w.deliveries)
	home, requested := w.deliveries[name], s.Spec.ForProvider.AskedPosition()
	if !w.honours || home == nil || home.Status.AtProvider.Mandate == nil {
		return p
	}
	state, m := *home.Status.AtProvider.Ledger, home.Spec.ForProvider.Mandate
	if echoOf(m, state) == nil || w.reportedElsewhere(name).Epoch > state.Epoch || state.IsRejected() && state.Cursor.Attempt == 0 {
		return p
	}
	isOfRevision := requested.Epoch == state.Epoch && (requested.Revision == state.Current.Number || requested.Revision == state.Withdraws)
	if !isOfRevision || requested.Compare(state.Position()) >= 0 {
		return p
	}
	p.Position = new(state.Position())
	w.observed++
	if state.Cursor.Attempt > 0 {
		p.Sites = w.restoredSites(p.Sites, state, m)
		p.SyncWaitTimeout, p.ClusterWaitTimeout = m.Rollback.AttemptTimeout, m.Rollback.AttemptTimeout
	}
	return p
}

// restoredSites returns the observed Sites at which a rollback restores trees.
func (w *walk) restoredSites(observed []deliveryv1alpha1.SiteTree, s ledger.State, m *deliveryv1alpha1.Mandate) []deliveryv1alpha1.SiteTree {
	isChosen := func(site string) bool { return !slices.Contains(m.Without, site) }
	r := compose.Return{Trees: directories.TargetTrees(s), Chosen: isChosen, Timeout: m.Rollback.AttemptTimeout}
	var out []deliveryv1alpha1.SiteTree
	for _, name := range slices.Sorted(maps.Keys(w.deliveries)) {
		d := w.deliveries[name]
		if ledgerhome.PartAt(s, ledgerhome.NameOf(d)) != name {
			continue
		}
		parts := map[string]*deliveryv1alpha1.GitDelivery{name: d}
		for _, t := range compose.RestoreDirectories(parts, w.in.Spec.DeliveryConfig, s, r)[name].Spec.ForProvider.Trees {
			isObserved := slices.ContainsFunc(observed, func(site deliveryv1alpha1.SiteTree) bool { return site.Name == t.Site })
			if isObserved && t.Action != deliveryv1alpha1.ActionKeep {
				out = append(out, directories.SiteToObserve(d, t, 0))
			}
		}
	}
	return out
}

// withSpec returns a delivery with the spec of another one.
func withSpec(d, requested *deliveryv1alpha1.GitDelivery) *deliveryv1alpha1.GitDelivery {
	out := *d
	out.Spec = requested.Spec
	return &out
}

// tellWithMandates plays a scenario in which the provider records the next events by mandates at each of its turns, and the function is silent for some time. It
// returns their number.
func tellWithMandates(t *testing.T, cores []*Core, seed uint64) (*walk, int) {
	t.Helper()
	w, hand, n := newWalk(t, cores, seed), rand.New(rand.NewPCG(seed, handStream)), 0
	w.honours = true
	for _, r := range w.repos {
		r.honours = true
	}
	w.open(seed)
	for range stepsOf {
		if hand.IntN(20) == 0 {
			w.silent = hand.IntN(20)
		}
		if hand.IntN(3) == 0 {
			n += w.concludeByMandate()
		}
		if w.step(); len(w.truth.violations) > 0 {
			return w, n
		}
	}
	w.silent = 0
	w.calm()
	return w, n
}

// mandateCounts are how often the provider went on by mandates in scenarios.
type mandateCounts struct {
	// recorded events, and restored trees and waves of other repositories than the home before their specs asked for them. Observed are the positions that a
	// SiteSync observed beyond its spec.
	recorded, restored, stepped, observed int
}

func (c *mandateCounts) add(w *walk, recorded int) {
	c.recorded, c.restored, c.stepped, c.observed = c.recorded+recorded, c.restored+w.followed, c.stepped+w.stepped, c.observed+w.observed
}

// isPartMissing is true while the provider never went on in one of the ways.
func (c *mandateCounts) isPartMissing() bool {
	return min(c.recorded, c.restored, c.stepped, c.observed) == 0
}

// check fails for a way in which the provider went on fewer times than it has to in so many scenarios, and at least once.
func (c *mandateCounts) check(t *testing.T, played int) {
	t.Helper()
	for _, part := range []struct {
		reason       string
		got, stories int
	}{
		{reason: "The provider records events.", got: c.recorded, stories: eventsPerStory},
		{reason: "Other repositories than the home restore trees before their specs ask for them.", got: c.restored, stories: restoredPerStory},
		{reason: "Other repositories than the home get the trees of a later wave before their specs ask for them.", got: c.stepped, stories: restoredPerStory},
		{reason: "A SiteSync observes a later position than its spec.", got: c.observed, stories: restoredPerStory},
	} {
		if minimum := max(1, played/part.stories); part.got < minimum {
			t.Errorf("\n%s\nwant at least %d times in %d stories, got %d", part.reason, minimum, played, part.got)
		}
	}
}

// wholeMandates is how many stories TestMandates plays under make test-all. Under make test it plays as many only while the provider never went on in some way.
const wholeMandates = 150

// TestMandates plays scenarios of faults in which the function leaves rejections and rollbacks to the provider: each deployment comes to its end, and the
// invariants of a ledger with one writer hold.
func TestMandates(t *testing.T) {
	n, first := soak.Seed(t, soak.Quick(40, wholeMandates), 10000)
	cores, counts, played := versions(), &mandateCounts{}, 0
	for ; played < n || played < wholeMandates && counts.isPartMissing(); played++ {
		seed := first + uint64(played)
		w, recorded := tellWithMandates(t, cores, seed)
		if counts.add(w, recorded); len(w.truth.violations) > 0 {
			t.Fatalf("story %d: %s\n%s", seed, strings.Join(w.truth.violations, "\n"), strings.Join(w.trace[max(0, len(w.trace)-40):], "\n"))
		}
	}
	counts.check(t, played)
	t.Logf("in %d stories the provider went on by mandates: %+v", played, *counts)
}
