package sitesync

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	"github.com/intentplane/intentplane/provider/engines"
	"github.com/intentplane/intentplane/provider/workload"
)

// facts are the whole input of a decision. The gatherer decides nothing, and the decision reads nothing else.
type facts struct {
	// namespace of the SiteSync.
	namespace string
	// spec has the position of the ledger, and the trees for it, where that is later than the position of the SiteSync's spec: isAhead is true then.
	spec    v1alpha1.SiteSyncParameters
	isAhead bool
	// before is the last observation, for any position.
	before v1alpha1.SiteSyncObservation
	// draft is the newer observation that is not in the status yet.
	draft v1alpha1.SiteSyncObservation
	now   time.Time
	// sites in the order of the spec.
	sites []siteFacts
}

// A siteFacts is the observed state of one Site.
type siteFacts struct {
	// denied says why the Site or its repository may not be looked at.
	denied string
	// site as the API server has it.
	site *catalogv1alpha1.Site
	// cluster is the observed state of the Cluster API cluster that the Site names. Nil if it names none.
	cluster *clusterFacts
	// undelivered is true if the claim's GitDelivery says that it has not brought the Sites to this position.
	undelivered bool
	// absent is true if the claim's GitDelivery has not delivered the tree, even if it applied the position.
	absent bool
	// problem is why the engine could not be asked.
	problem *problem
	// seen is the report of the engine.
	seen engines.Observation
	// mirror is the URL that the engine reads, if it is not written as the configuration writes it.
	mirror string
	// traffic is the report of the Site's cluster about its routes. Nil if that was not read.
	traffic *trafficFacts
	// failure is a final failure that the Site's cluster declares. Nil if it declares none, or was not asked.
	failure *workload.FinalFailure
	// stalledSince is when the engine gave up its own object until that changes. Zero if it did not.
	stalledSince time.Time
	// gap compares the engine's commit with the commit that delivered the tree. It is read where there are tracks.
	gap gap
	// coverage of the directory by the engine's report. It is read where the engine is at the tree.
	coverage coverage
	// applied and attempted are the trees of the commits that it named.
	applied, attempted subtree
}

// A problem is a reason and its explanation.
type problem struct {
	reason, message string
}

// A coverage is how much of a directory is proven.
type coverage struct {
	engines.Coverage

	// unknown says why that is unknown.
	unknown string
}

// A subtree is the content of a commit in the claim's directory.
type subtree struct {
	// id without the marker. Empty if the directory is not there.
	id string
	// overlaid is true if a file above the directory may change or leave out applied objects.
	overlaid bool
	// renamed is true if a kustomization above the directory may change the names of objects.
	renamed bool
	// unknown says why the tree is unknown.
	unknown string
}

// askedPosition is the position that the Sites have to run.
func (f facts) askedPosition() ledger.Position { return f.spec.AskedPosition() }

// lastObservation returns the last observation of a Site for this attempt.
func (f facts) lastObservation(name string) v1alpha1.SiteObservation {
	return observationOf(f.before, f.askedPosition(), name)
}

// waitingSince is when the wait for a Site began, for its cluster or for its engine, in this attempt, or nil. A start that is not in the
// status yet counts: a clock that began with the write of the status would begin late.
func (f facts) waitingSince(name string, cluster bool) *metav1.Time {
	for _, o := range []v1alpha1.SiteSyncObservation{f.before, f.draft} {
		if s := observationOf(o, f.askedPosition(), name); s.StartedAt != nil && s.State != v1alpha1.SiteLive && hasAwaitedCluster(s) == cluster {
			return s.StartedAt.DeepCopy()
		}
	}
	return nil
}

// waitStart is when the wait for the tree of a Site began in this attempt, or begins now.
func (f facts) waitStart(name string) *metav1.Time {
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
func (f facts) waitTimeoutOf(s v1alpha1.SiteState) time.Duration {
	text, limit := f.spec.SyncWaitTimeout, defaultTimeout
	if s == v1alpha1.SiteWaitingForCluster {
		text, limit = f.spec.ClusterWaitTimeout, defaultClusterTimeout
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return limit
	}
	return d
}
