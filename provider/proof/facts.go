// Package proof decides from the facts about the Sites of a SiteSync whether each runs the tree of the SiteSync's position, how long the SiteSync waits for it,
// and whether the wait failed. Pure: the controller gathers the facts, and writes the decision into the status.
package proof

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/engines/coverage"
	"github.com/intentplane/intentplane/provider/workload"
)

// Facts are the whole input of a decision. The gatherer decides nothing, and the decision reads nothing else.
type Facts struct {
	// Namespace of the SiteSync.
	Namespace string
	// Spec has the position of the ledger, and the trees for it, where that is later than the position of the SiteSync's spec: IsAhead is true then.
	Spec    v1alpha1.SiteSyncParameters
	IsAhead bool
	// Last is the last observation, for any position.
	Last v1alpha1.SiteSyncObservation
	// Draft is the newer observation that is not in the status yet.
	Draft v1alpha1.SiteSyncObservation
	// Now is the time of the decision.
	Now time.Time
	// Sites in the order of the spec.
	Sites []SiteFacts
}

// SiteFacts are the observed state of one Site.
type SiteFacts struct {
	// Denied is the reason why the provider may not read the Site or its repository.
	Denied string
	// Site as the API server has it.
	Site *catalogv1alpha1.Site
	// Cluster is the observed state of the Cluster API cluster that the Site names. Nil if it names none.
	Cluster *ClusterFacts
	// Undelivered is true if the claim's GitDelivery has not delivered this position to the Sites.
	Undelivered bool
	// Absent is true if the claim's GitDelivery has not delivered the tree, even if it applied the position.
	Absent bool
	// Problem is the reason why the engine is unreadable. Nil if it was read.
	Problem *Problem
	// Engine is the report of the engine.
	Engine engines.Observation
	// Mirror is the URL that the engine reads, if it is not written as the configuration writes it.
	Mirror string
	// Traffic is the report of the Site's cluster about its routes. Nil if that was not read.
	Traffic *TrafficFacts
	// Failure is a final failure that the Site's cluster declares. Nil if it declares none, or was not read.
	Failure *workload.FinalFailure
	// StalledSince is the time when the engine gave up its own object until that changes. Zero if it did not.
	StalledSince time.Time
	// Gap compares the engine's commit with the commit that delivered the tree. It is read where there are tracks.
	Gap Gap
	// Coverage of the directory by the engine's report. It is read where the engine is at the tree.
	Coverage Coverage
	// Applied and Attempted are the trees of the commits that the engine names.
	Applied, Attempted Subtree
}

// A Problem is a reason and its explanation.
type Problem struct {
	Reason, Message string
}

// A Coverage is the proven part of a directory.
type Coverage struct {
	coverage.Coverage

	// Unknown is the reason why the proven part is unknown.
	Unknown string
}

// A Subtree is the content of a commit in the claim's directory.
type Subtree struct {
	// ID without the marker. Empty if the directory does not exist.
	ID string
	// Overlaid is true if a file above the directory may change or leave out applied objects.
	Overlaid bool
	// Renamed is true if a kustomization above the directory may change the names of objects.
	Renamed bool
	// Unknown is the reason why the tree is unknown.
	Unknown string
}

// A Gap is the comparison of the claim's commits between the engine's commit and the delivered commit.
type Gap struct {
	// IsBehind is true where one of these commits has other files in the directory: an engine that has not come to it may still apply them.
	IsBehind bool
	// Unknown is the reason why the comparison is unknown.
	Unknown string
}

// askedPosition is the position that the Sites have to run.
func (f Facts) askedPosition() ledger.Position { return f.Spec.AskedPosition() }

// lastObservation returns the last observation of a Site for this attempt.
func (f Facts) lastObservation(name string) v1alpha1.SiteObservation {
	return observationOf(f.Last, f.askedPosition(), name)
}

// waitingSince is the time when the wait for a Site began, for its cluster or for its engine, in this attempt, or nil. A start that is not in the
// status yet counts: a clock that began with the write of the status would begin late.
func (f Facts) waitingSince(name string, cluster bool) *metav1.Time {
	for _, o := range []v1alpha1.SiteSyncObservation{f.Last, f.Draft} {
		if s := observationOf(o, f.askedPosition(), name); s.StartedAt != nil && s.State != v1alpha1.SiteLive && hasAwaitedCluster(s) == cluster {
			return s.StartedAt.DeepCopy()
		}
	}
	return nil
}

// waitStartTime is the time when the wait for the tree of a Site began in this attempt, or begins now.
func (f Facts) waitStartTime(name string) *metav1.Time {
	if start := f.waitingSince(name, false); start != nil {
		return start
	}
	return f.nowTimestamp()
}

func observationOf(o v1alpha1.SiteSyncObservation, requested ledger.Position, name string) v1alpha1.SiteObservation {
	if !o.ObservedPosition().IsSameAttempt(requested) {
		return v1alpha1.SiteObservation{}
	}
	for _, s := range o.Sites {
		if s.Name == name {
			return s
		}
	}
	return v1alpha1.SiteObservation{}
}

// waitTimeoutOf returns the timeout of a Site's wait, for its cluster or for its tree. The API server has checked its form.
func (f Facts) waitTimeoutOf(s v1alpha1.SiteState) time.Duration {
	text, limit := f.Spec.SyncWaitTimeout, defaultTimeout
	if s == v1alpha1.SiteWaitingForCluster {
		text, limit = f.Spec.ClusterWaitTimeout, defaultClusterTimeout
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return limit
	}
	return d
}

// TriedCommit returns the commit with a tree that the engine applied or attempted.
func (s SiteFacts) TriedCommit(tree string) string {
	if s.Applied.ID == tree {
		return s.Engine.Commit
	}
	return s.Engine.Attempted
}
