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

// facts are all that a decision is made from. Who gathers them decides nothing, and who decides reads nothing else.
type facts struct {
	// namespace of the SiteSync.
	namespace string
	spec      v1alpha1.SiteSyncParameters
	// before is what was seen last, for whatever position.
	before v1alpha1.SiteSyncObservation
	// draft is what was seen since then, and is not in the status yet.
	draft v1alpha1.SiteSyncObservation
	now   time.Time
	// sites in the order of the spec.
	sites []siteFacts
}

// A siteFacts is what is known of one Site.
type siteFacts struct {
	// denied says why the Site or its repository may not be looked at.
	denied string
	// site as the API server has it.
	site *catalogv1alpha1.Site
	// cluster is what is known of the Cluster API cluster that the Site names. Nil if it names none.
	cluster *clusterFacts
	// undelivered is true if the claim's GitDelivery says that it has not brought the Sites to this position.
	undelivered bool
	// absent is true if the claim's GitDelivery has not brought the tree, whatever it applied.
	absent bool
	// problem is why the engine could not be asked.
	problem *problem
	// seen is what the engine said.
	seen engines.Observation
	// mirror is the URL that the engine reads, if it is not written as the configuration writes it.
	mirror string
	// traffic is what the Site's cluster reports of its routes. Nil if that was not read.
	traffic *trafficFacts
	// failure is one that the Site's cluster declares final. Nil if it declares none, or was not asked.
	failure *workload.FinalFailure
	// stalledSince is when the engine gave up its own object until that changes. Zero if it did not.
	stalledSince time.Time
	// gap between the commit that the engine is at and the one that brought the tree. It is read where there are tracks.
	gap gap
	// coverage of the directory by what the engine reports. It is read where the engine is at the tree.
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

// A subtree is what a commit holds in the claim's directory.
type subtree struct {
	// id without the marker. Empty if the directory is not there.
	id string
	// overlaid is true if a file above the directory may change what is applied, or leave it out.
	overlaid bool
	// renamed is true if a kustomization above the directory may change the names of objects.
	renamed bool
	// unknown says why the tree is unknown.
	unknown string
}

// askedPosition is the position that the Sites have to run.
func (f facts) askedPosition() ledger.Position { return f.spec.AskedPosition() }

// lastObservation returns what was seen of a Site for this attempt.
func (f facts) lastObservation(name string) v1alpha1.SiteObservation {
	return observationOf(f.before, f.askedPosition(), name)
}

// waitingSince is when the wait for a Site began, for its cluster or for its engine, in this attempt, or nil. What the status does not show yet
// counts: a clock that began when it is shown would begin late.
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
	if since := f.waitingSince(name, false); since != nil {
		return since
	}
	return f.nowTimestamp()
}

func observationOf(o v1alpha1.SiteSyncObservation, asked ledger.Position, name string) v1alpha1.SiteObservation {
	if !o.ObservedPosition().IsSameAttempt(asked) {
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
	text, most := f.spec.SyncWaitTimeout, defaultTimeout
	if s == v1alpha1.SiteWaitingForCluster {
		text, most = f.spec.ClusterWaitTimeout, defaultClusterTimeout
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return most
	}
	return d
}
