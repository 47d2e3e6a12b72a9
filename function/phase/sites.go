package phase

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	v1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/evidence"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function/projection"
)

// maxSiteMessage is the greatest length of the message of one Site.
const maxSiteMessage = 1024

// A siteView is the input of the status of each Site, computed once for all of them.
type siteView struct {
	*Input

	// blockedDelivery is the delivery that is blocked, and blockedReady is its Ready condition.
	blockedDelivery *deliveryv1alpha1.GitDelivery
	blockedReady    xpv2.Condition
	// unproven are the Sites that no engine reports about, and where a delivered tree does not count as live.
	unproven map[string]bool
	// watched are the Sites that the SiteSync is to observe. watchesDesired is true if it observes the desired trees, and observations are its report.
	watched        map[string]bool
	watchesDesired bool
	observations   map[string]deliveryv1alpha1.SiteObservation
}

func newSiteView(f *Input) *siteView {
	g := &siteView{Input: f, watchesDesired: f.WatchesDesired(), unproven: map[string]bool{}, watched: map[string]bool{}, observations: map[string]deliveryv1alpha1.SiteObservation{}}
	g.blockedDelivery, g.blockedReady = f.Blocked()
	for _, name := range f.UnprovenSites() {
		g.unproven[name] = true
	}
	if f.Sync != nil {
		for _, s := range f.Sync.Spec.ForProvider.Sites {
			g.watched[s.Name] = true
		}
	}
	if f.ObservedSync != nil {
		for _, s := range f.ObservedSync.Status.AtProvider.Sites {
			g.observations[s.Name] = s
		}
	}
	return g
}

// deliveryStatus returns the status of the delivery, with the state of each Site.
func deliveryStatus(f *Input) v1alpha1.DeliveryStatus {
	out := v1alpha1.DeliveryStatus{Sites: map[string]v1alpha1.SiteStatus{}}
	g := newSiteView(f)
	for _, name := range slices.Sorted(maps.Keys(f.Desired)) {
		o := f.Observed[name]
		trees := f.Desired[name].Spec.ForProvider.Trees
		for i := range trees {
			site := siteStatus(g, i, &trees[i], o)
			site.Weight = siteWeight(g, &trees[i], o)
			out.Sites[trees[i].Site] = site
		}
		// A commit of another revision does not locate this revision.
		if out.GitCommit == "" && f.HasApplied(name) && hasWrittenTree(f, name) {
			out.GitCommit = commitOfDelivery(o)
		}
	}
	if len(out.Sites) == 0 {
		return v1alpha1.DeliveryStatus{}
	}
	out.ShortCommit = out.GitCommit[:min(shortCommit, len(out.GitCommit))]
	out.SyncState, out.SitesReady = summarizeSites(f, out.Sites)
	return out
}

// hasWrittenTree is true when the revision brought a tree to a repository, as far as is known.
func hasWrittenTree(f *Input, name string) bool {
	if !f.State.IsRejected() || f.State.Cursor.Attempt > 0 {
		return true
	}
	trees := f.Desired[name].Spec.ForProvider.Trees
	return slices.ContainsFunc(trees, func(t deliveryv1alpha1.Tree) bool { return hasWrittenPath(f.Observed[name], f.State, t.Path) })
}

// summarizeSites returns the summary of the states of Sites. The gravest wins.
func summarizeSites(f *Input, sites map[string]v1alpha1.SiteStatus) (v1alpha1.SyncState, string) {
	n := map[v1alpha1.SiteState]int{}
	for _, s := range sites {
		n[s.State]++
	}
	ready := n[v1alpha1.SiteLive] + n[v1alpha1.SiteDelivered]
	share := fmt.Sprintf("%d/%d", ready, len(sites))
	switch {
	case n[v1alpha1.SiteFailed]+n[v1alpha1.SiteTimedOut] > 0:
		return v1alpha1.SyncFailed, share
	case !f.IsApplied() || n[v1alpha1.SitePending]+n[v1alpha1.SiteWaitingForCluster] > 0:
		return v1alpha1.SyncPending, share
	case n[v1alpha1.SiteSyncing] > 0:
		return v1alpha1.SyncSyncing, share
	case n[v1alpha1.SiteLive] == 0 || n[v1alpha1.SiteUnobserved] > 0:
		return v1alpha1.SyncUnobserved, share
	}
	return v1alpha1.SyncLive, share
}

func commitOfDelivery(d *deliveryv1alpha1.GitDelivery) string {
	if d == nil || d.Status.AtProvider.Remote == nil {
		return ""
	}
	return d.Status.AtProvider.Remote.Commit
}

// siteStatus returns the status of a Site, whose tree is the tree with this index.
func siteStatus(f *siteView, i int, t *deliveryv1alpha1.Tree, d *deliveryv1alpha1.GitDelivery) v1alpha1.SiteStatus {
	switch {
	case f.TreeAwaitsCluster(t, d):
		return f.clusterWaitStatus(t.Site)
	case f.State.Current != nil && !f.State.HasReached(t.Site):
		return v1alpha1.SiteStatus{State: v1alpha1.SitePending, Message: v1alpha1.SiteMessageWaveAwaited}
	}
	if f.State.Current != nil && f.State.Cursor.Attempt > 0 && t.Action == deliveryv1alpha1.ActionKeep {
		return v1alpha1.SiteStatus{State: v1alpha1.SiteDelivered, Commit: commitOfDelivery(d), Message: "The rollback does not change it."}
	}
	if f.State.IsRejected() && f.State.Cursor.Attempt == 0 && !hasWrittenPath(d, f.State, t.Path) {
		return v1alpha1.SiteStatus{State: v1alpha1.SiteFailed, Message: f.State.Verdict.Reason}
	}
	if d != nil && f.blockedDelivery == d {
		state := map[bool]v1alpha1.SiteState{true: v1alpha1.SiteFailed, false: v1alpha1.SitePending}[isTerminalReason(f.blockedReady.Reason)]
		return v1alpha1.SiteStatus{State: state, Message: string(f.blockedReady.Reason)}
	}
	if d == nil || f.State.Current == nil || !evidence.HasBrought(d, f.State, t.Site) || !evidence.AsksForTree(d, i, t) {
		return v1alpha1.SiteStatus{State: v1alpha1.SitePending}
	}
	return deliveredSiteStatus(f, t, commitOfDelivery(d))
}

// clusterWaitStatus says why a Site's cluster is not ready, as far as is known.
func (f *siteView) clusterWaitStatus(name string) v1alpha1.SiteStatus {
	out := v1alpha1.SiteStatus{State: v1alpha1.SiteWaitingForCluster, Message: "It is not known yet whether the Site's cluster is ready."}
	if f.State.Current == nil || !evidence.HasObserved(f.ObservedSync, f.State, name) {
		return out
	}
	if s, ok := f.observations[name]; ok && s.State != deliveryv1alpha1.SitePending {
		return observedSiteStatus(s, out)
	}
	return out
}

// hasWrittenPath is true when a delivery brought the trees of a rejected revision to a directory. A revision that failed at a Site was there.
func hasWrittenPath(d *deliveryv1alpha1.GitDelivery, s ledger.State, path string) bool {
	held, isHeld := evidence.HeldTree(d, path)
	isUndelivered := slices.Contains([]string{
		rolloutv1alpha1.RejectedDeliveryTimedOut, rolloutv1alpha1.RejectedDeliveryRefused, rolloutv1alpha1.RejectedFilesLost,
	}, s.Verdict.Reason)
	return !isUndelivered || isHeld && held.Revision == s.Current.Number
}

// deliveredSiteStatus returns the status of a Site whose repository holds the tree.
func deliveredSiteStatus(f *siteView, t *deliveryv1alpha1.Tree, commit string) v1alpha1.SiteStatus {
	if _, isUnobserved := f.Unobserved[t.Site]; isUnobserved || !f.watched[t.Site] {
		if f.unproven[t.Site] {
			return v1alpha1.SiteStatus{State: v1alpha1.SiteUnobserved, Commit: commit, Message: "No engine reports the running tree of the Site."}
		}
		return v1alpha1.SiteStatus{State: v1alpha1.SiteDelivered, Commit: commit}
	}
	out := v1alpha1.SiteStatus{State: v1alpha1.SiteSyncing, Commit: commit}
	if !f.watchesDesired || !evidence.HasObserved(f.ObservedSync, f.State, t.Site) {
		return out
	}
	if s, ok := f.observations[t.Site]; ok {
		return observedSiteStatus(s, out)
	}
	return out
}

// observedSiteStatus returns the status of a Site from the report of the SiteSync. A report of an undelivered tree is older than the
// state of the repository.
func observedSiteStatus(s deliveryv1alpha1.SiteObservation, out v1alpha1.SiteStatus) v1alpha1.SiteStatus {
	switch s.State {
	case deliveryv1alpha1.SiteLive, deliveryv1alpha1.SiteFailed, deliveryv1alpha1.SiteTimedOut, deliveryv1alpha1.SiteWaitingForCluster, deliveryv1alpha1.SiteUnobserved:
		out.State = v1alpha1.SiteState(s.State) // Both kinds have the same names.
	case deliveryv1alpha1.SitePending, deliveryv1alpha1.SiteSyncing:
	}
	if s.State == deliveryv1alpha1.SiteLive && s.Commit != "" {
		out.Commit = s.Commit
	}
	switch failure := clusterFailure(s); {
	case s.Reason != "":
		out.Message = joinReasonMessage(s.Reason, s.Message)
	case out.Message != "":
	case failure != "":
		out.Message = "The Site's cluster is degraded: " + failure
	case len(s.Unproven) > 0:
		out.Message = "Not proven: " + strings.Join(s.Unproven, "; ")
	}
	out.Message = projection.Fit(out.Message, maxSiteMessage)
	return out
}

// joinReasonMessage returns a reason with its message, if there is one.
func joinReasonMessage(reason, message string) string {
	return strings.TrimSuffix(reason+": "+message, ": ")
}

// clusterFailure returns the problem of the cluster of a Site that was delivered to. It reverts nothing.
func clusterFailure(s deliveryv1alpha1.SiteObservation) string {
	if c := s.Cluster; c != nil && c.PassedAt != nil && c.Reason != "" {
		return c.Reason + ": " + c.Message
	}
	return ""
}

// degradedMessage names the first Site, by name, whose cluster is in trouble, and says how many more there are.
func degradedMessage(f *Input) string {
	g, failures := newSiteView(f), []string{}
	for _, t := range f.Trees() {
		if failure := clusterFailure(g.observations[t.Site]); failure != "" {
			failures = append(failures, fmt.Sprintf("The cluster of Site %q is degraded: %s", t.Site, projection.Sentence(failure)))
		}
	}
	if len(failures) > 1 {
		failures[1] = fmt.Sprintf("Degraded clusters of other Sites: %d.", len(failures)-1)
	}
	return projection.Sentences(failures[:min(2, len(failures))]...)
}
