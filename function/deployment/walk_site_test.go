package deployment

import (
	"cmp"
	"slices"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// A player plays a Site, with its engine.
type player struct {
	// runs is the running tree at each place, and tried the tree that failed.
	runs, tried map[string]string
	stuck       bool
	// clustered is true for a Site that waits for its cluster, and built while that is ready.
	clustered, built bool
	// untold is true for a Site without a report of its running tree: the delivered tree counts.
	untold bool
}

// quality is the effect of a tree.
type quality struct {
	// Breaks is set if engines fail with it, and Slow if its objectives are missed.
	Breaks, Slow bool
}

// sync plays the engine: it runs the tree of the branch, if it can.
func (p *player) sync(r *repo, repository, path string, qualities map[string]quality) {
	id, ok := r.dirs[path]
	if p.stuck || !ok {
		return
	}
	location := place(repository, path)
	if qualities[id].Breaks {
		p.tried[location] = id
		return
	}
	delete(p.tried, location)
	p.runs[location] = id
}

// place is a directory of a repository.
func place(repository, path string) string { return repository + " " + path }

// look plays one reconcile of the SiteSync.
func (w *walk) look(s *deliveryv1alpha1.SiteSync) {
	p := w.followLedger(s)
	observation, requested := &s.Status.AtProvider, *p.Position
	previous := map[string]deliveryv1alpha1.SiteObservation{}
	if observation.ObservedPosition().IsSameAttempt(requested) {
		for _, previousSite := range observation.Sites {
			previous[previousSite.Name] = previousSite
		}
	}
	observation.Position, observation.Sites = &requested, nil
	reason := deliveryv1alpha1.ReasonLive
	for _, want := range p.Sites {
		site := w.see(p, want, previous[want.Name])
		if requested != *s.Spec.ForProvider.Position && want.Wave <= requested.Step {
			site.DesiredTree = want.Tree
		}
		observation.Sites = append(observation.Sites, site)
		if want.Wave <= requested.Step && site.State != deliveryv1alpha1.SiteLive {
			reason = graver(reason, site)
		}
	}
	status := corev1.ConditionFalse
	if reason == deliveryv1alpha1.ReasonLive {
		status = corev1.ConditionTrue
	}
	setReady(s, status, reason)
	if failed := syncFailure(reason); failed != "" {
		w.truth.fails(requested, failed)
	}
}

// syncFailure is the reason of the rejection that follows from why a SiteSync is not Ready. Empty means that none follows.
func syncFailure(reason xpv2.ConditionReason) string {
	switch reason {
	case deliveryv1alpha1.ReasonFailed:
		return rolloutv1alpha1.RejectedSyncFailed
	case deliveryv1alpha1.ReasonTimedOut:
		return rolloutv1alpha1.RejectedSyncTimedOut
	case deliveryv1alpha1.ReasonClusterTimedOut:
		return rolloutv1alpha1.RejectedClusterTimedOut
	}
	return ""
}

func graver(worst xpv2.ConditionReason, s deliveryv1alpha1.SiteObservation) xpv2.ConditionReason {
	rank := map[xpv2.ConditionReason]int{
		deliveryv1alpha1.ReasonLive: 0, deliveryv1alpha1.ReasonWaiting: 1, deliveryv1alpha1.ReasonSyncing: 2,
		deliveryv1alpha1.ReasonTimedOut: 3, deliveryv1alpha1.ReasonClusterTimedOut: 3, deliveryv1alpha1.ReasonFailed: 4,
	}
	candidate := map[deliveryv1alpha1.SiteState]xpv2.ConditionReason{
		deliveryv1alpha1.SitePending: deliveryv1alpha1.ReasonWaiting, deliveryv1alpha1.SiteSyncing: deliveryv1alpha1.ReasonSyncing,
		deliveryv1alpha1.SiteTimedOut: deliveryv1alpha1.ReasonTimedOut, deliveryv1alpha1.SiteFailed: deliveryv1alpha1.ReasonFailed,
	}[s.State]
	if s.State == deliveryv1alpha1.SiteWaitingForCluster {
		candidate = cmp.Or(xpv2.ConditionReason(s.Reason), deliveryv1alpha1.ReasonWaiting)
	}
	if rank[candidate] > rank[worst] {
		return candidate
	}
	return worst
}

// requestedSites are the Sites that a SiteSync observes, and their position.
type requestedSites = deliveryv1alpha1.SiteSyncParameters

// see one Site.
func (w *walk) see(requested requestedSites, want deliveryv1alpha1.SiteTree, last deliveryv1alpha1.SiteObservation) deliveryv1alpha1.SiteObservation {
	o := deliveryv1alpha1.SiteObservation{Name: want.Name, State: deliveryv1alpha1.SitePending}
	if want.Wave > requested.Position.Step || w.waits(requested, want, last, &o) || w.undelivered(*requested.Position, want) {
		return o
	}
	timestamp := metav1.NewTime(w.now)
	if o.StartedAt = &timestamp; last.StartedAt != nil && last.State != deliveryv1alpha1.SiteWaitingForCluster {
		o.StartedAt = last.StartedAt
	}
	p := w.sites[want.Name]
	timeout, _ := time.ParseDuration(requested.SyncWaitTimeout)
	switch {
	case p.runs[place(want.RepositoryRef.Name, want.Path)] == want.Tree:
		o.State = deliveryv1alpha1.SiteLive
		w.truth.live(*requested.Position, want.Name, want.Tree)
	case p.tried[place(want.RepositoryRef.Name, want.Path)] == want.Tree || last.State == deliveryv1alpha1.SiteFailed:
		o.State = deliveryv1alpha1.SiteFailed
	case w.now.Sub(o.StartedAt.Time) >= timeout:
		o.State = deliveryv1alpha1.SiteTimedOut
	default:
		o.State = deliveryv1alpha1.SiteSyncing
	}
	return o
}

// waits is true for a Site whose cluster was not ready yet.
func (w *walk) waits(requested requestedSites, want deliveryv1alpha1.SiteTree, last deliveryv1alpha1.SiteObservation, o *deliveryv1alpha1.SiteObservation) bool {
	p, timestamp := w.sites[want.Name], metav1.NewTime(w.now)
	if !p.clustered {
		return false
	}
	o.Cluster = &deliveryv1alpha1.SiteClusterObservation{UID: "u", Ready: new(p.built)}
	if last.Cluster != nil {
		o.Cluster.PassedAt = last.Cluster.PassedAt
	}
	if p.built && o.Cluster.PassedAt == nil {
		o.Cluster.PassedAt = &timestamp
	}
	if o.Cluster.PassedAt != nil {
		w.truth.admitted[run{goalOf(*requested.Position), want.Name, ""}] = true
		return false
	}
	if o.StartedAt = &timestamp; last.StartedAt != nil {
		o.StartedAt = last.StartedAt
	}
	timeout, _ := time.ParseDuration(requested.ClusterWaitTimeout)
	if o.State = deliveryv1alpha1.SiteWaitingForCluster; w.now.Sub(o.StartedAt.Time) >= timeout {
		o.Reason = string(deliveryv1alpha1.ReasonClusterTimedOut)
	}
	return true
}

// undelivered is true while the claim's delivery has not come to a position.
func (w *walk) undelivered(requested ledger.Position, want deliveryv1alpha1.SiteTree) bool {
	for _, d := range w.deliveries {
		for _, t := range d.Spec.ForProvider.Trees {
			if t.Path != want.Path || d.Spec.ProviderConfigReference.Name != want.RepositoryRef.Name {
				continue
			}
			ledgerRecord := d.Status.AtProvider.Record
			if ledgerRecord == nil || !ledgerRecord.Position.IsSameAttempt(requested) || ledgerRecord.Position.Step < want.Wave {
				return true
			}
		}
	}
	return false
}

// measure plays one reconcile of a Gate: it judges when it has measured twice while its position was live.
func (w *walk) measure(g *rolloutv1alpha1.Gate) {
	observation := &g.Status.AtProvider
	observation.Position = new(*g.Spec.ForProvider.Position)
	if observation.Verdict != "" {
		return
	}
	if !w.proves(g) {
		setReady(g, corev1.ConditionFalse, rolloutv1alpha1.ReasonNotLive)
		return
	}
	if observation.StartedAt == nil {
		w.begun[g.GetName()] = w.now
		observation.StartedAt = new(metav1.NewTime(w.now))
		setReady(g, corev1.ConditionFalse, rolloutv1alpha1.ReasonMeasuring)
		return // The result of a measurement is reported later than its start.
	}
	if w.unmeasurable != "" {
		setReady(g, corev1.ConditionFalse, w.unmeasurable)
		return
	}
	if w.prometheusDown {
		w.measureNothing(g)
		return
	}
	observation.Checks = nil
	bad, measured := false, int32(0)
	for _, c := range g.Spec.ForProvider.Checks {
		slow := w.slow(c.Site)
		bad = bad || slow
		w.measurements[g.GetName()]++
		measured = w.measurements[g.GetName()]
		phase := rolloutv1alpha1.CheckPassed
		if slow {
			phase = rolloutv1alpha1.CheckFailed
		}
		observation.Checks = append(observation.Checks, rolloutv1alpha1.CheckResult{Name: c.Name, Site: c.Site, Phase: phase, Value: "1", Threshold: "2", Measurements: measured})
	}
	if !bad && int(measured) < 2*len(observation.Checks) {
		observation.Checks = nil
		setReady(g, corev1.ConditionFalse, rolloutv1alpha1.ReasonMeasuring)
		return
	}
	if bad {
		w.fail(g, rolloutv1alpha1.GateFailed)
		return
	}
	observation.Verdict = rolloutv1alpha1.GatePassed
	w.truth.passed[gatedOf(*observation.Position)] = true
	setReady(g, corev1.ConditionTrue, rolloutv1alpha1.ReasonPassed)
}

// gatePatience is how long the Gates of stories wait for a measurement.
const gatePatience = 10 * time.Minute

// measureNothing plays a Gate whose backend does not answer.
func (w *walk) measureNothing(g *rolloutv1alpha1.Gate) {
	if w.now.Sub(w.begun[g.GetName()]) < gatePatience {
		setReady(g, corev1.ConditionFalse, rolloutv1alpha1.ReasonMeasuring)
		return
	}
	w.fail(g, rolloutv1alpha1.GateTimedOut)
}

func (w *walk) fail(g *rolloutv1alpha1.Gate, v rolloutv1alpha1.GateVerdict) {
	g.Status.AtProvider.Verdict = v
	w.truth.fails(*g.Spec.ForProvider.Position, rolloutv1alpha1.RejectedGateFailed)
	setReady(g, corev1.ConditionFalse, rolloutv1alpha1.ReasonFailed)
}

// proves is true while the position of a Gate is live at the Sites of its checks, as far as is reported.
func (w *walk) proves(g *rolloutv1alpha1.Gate) bool {
	position := *g.Spec.ForProvider.Position
	for _, c := range g.Spec.ForProvider.Checks {
		if w.sites[c.Site].untold && !w.delivered(position, c.Site) || !w.sites[c.Site].untold && (w.sync == nil || !w.syncProves(position)) {
			return false
		}
	}
	return true
}

// delivered is true while a delivery says now that it came to a position for a Site.
func (w *walk) delivered(requested ledger.Position, site string) bool {
	for _, d := range w.deliveries {
		brings := slices.ContainsFunc(d.Spec.ForProvider.Trees, func(t deliveryv1alpha1.Tree) bool { return t.Site == site })
		if ledgerRecord := d.Status.AtProvider.Record; brings && isReady(d) && ledgerRecord != nil && ledgerRecord.Position == requested {
			return true
		}
	}
	return false
}

// syncProves is true while the SiteSync says now that a position is live.
func (w *walk) syncProves(requested ledger.Position) bool {
	ready := w.sync.GetCondition(xpv2.TypeReady)
	return w.sync.Status.AtProvider.ObservedPosition() == requested &&
		ready.Status == corev1.ConditionTrue && ready.ObservedGeneration == w.sync.GetGeneration()
}

// slow is true for a Site that runs a tree that misses its objectives.
func (w *walk) slow(site string) bool {
	for _, id := range w.sites[site].runs {
		if w.qualities[id].Slow {
			return true
		}
	}
	return false
}
