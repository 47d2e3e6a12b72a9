package sitesync

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/clusterapi"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
	"github.com/intentplane/intentplane/provider/instant"
)

const maxClusterReason = 64

// A clusterFacts is the observed state of a Site's Cluster API cluster.
type clusterFacts struct {
	// uid of the Cluster. Empty if it is not known.
	uid string
	// gone is true if the Cluster is known not to exist.
	gone bool
	// ready is true if it was deliverable for long enough.
	ready bool
	// blocker says why it is not.
	blocker readiness.Blocker
	// trouble is the last problem of the cluster, until all of it has been well for long enough.
	trouble readiness.Blocker
	// initialized is since when its control plane is known to be.
	initialized readiness.Initialized
	// again is when to look again.
	again time.Time
}

// clusterFacts reads the Cluster. It returns an error if the control plane's API server cannot be asked, or the provider's own
// configuration is not valid.
func (e *external) clusterFacts(ctx context.Context, site *catalogv1alpha1.Site, last readiness.Initialized) (*clusterFacts, error) {
	ref := *site.Spec.Cluster.ClusterRef
	if message := explainForeignRef(ref); message != "" {
		return &clusterFacts{gone: true, blocker: readiness.Blocker{Reason: readiness.ReasonKindMissing, Message: message}}, nil
	}
	home, err := e.look.Home()
	if err != nil {
		return nil, err
	}
	t, latched, err := e.readinessPolicyOf(ctx, site)
	if err != nil {
		return nil, err
	}
	clusterKey, now := types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, e.now()
	key := readinessKey{cluster: clusterKey, policy: t}
	previous := e.readiness.getEntry(key)
	r := clusterapi.Read(ctx, home, e.prober, clusterapi.Want{
		Namespace: ref.Namespace, Name: ref.Name, Options: t.options, Limits: e.limits, Initialized: firstKnown(previous.initialized, latched, last),
		Held: &previous.held, SecretVersion: e.secretVersion(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: readiness.SecretName(ref.Name)}),
	}, now)
	entry := e.readiness.observeReport(key, r.Report, previous.held, now)
	out := &clusterFacts{
		uid: r.UID, ready: entry.steady.Ready, blocker: r.Blocker(), trouble: entry.trouble, initialized: entry.initialized,
		again: instant.Earliest(entry.nextChange(t.stabilization), r.Again),
		gone:  r.UID == "" && r.Blocker().Reason == readiness.ReasonObjectMissing,
	}
	if out.blocker.Reason == "" && !out.ready {
		out.blocker = readiness.Blocker{Reason: readiness.ReasonStabilizing, Message: "it is ready, and has not been for long enough"}
	}
	return out, nil
}

// firstKnown returns the first value that is known.
func firstKnown(all ...readiness.Initialized) readiness.Initialized {
	for _, i := range all {
		if i.UID != "" {
			return i
		}
	}
	return readiness.Initialized{}
}

// secretVersion is the resource version of a Secret in the cache. It is empty if the cache has none.
func (e *external) secretVersion(ctx context.Context, secretKey types.NamespacedName) string {
	s := &metav1.PartialObjectMetadata{}
	s.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	if e.metadata.Get(ctx, secretKey, s) != nil {
		return ""
	}
	return s.GetResourceVersion()
}

// explainForeignRef returns the reason why a reference does not name a Cluster of Cluster API.
func explainForeignRef(ref catalogv1alpha1.ObjectReference) string {
	group, _, _ := strings.Cut(ref.APIVersion, "/")
	switch {
	case group != readiness.Group, ref.Kind != "Cluster":
		return "the Site's cluster.clusterRef names no Cluster of " + readiness.Group
	case ref.Namespace == "":
		return "the Site's cluster.clusterRef names no namespace"
	}
	return ""
}

// isAwaitingCluster is true for a Site whose cluster was not ready yet for this position.
func (f facts) isAwaitingCluster(want v1alpha1.SiteTree, s siteFacts) bool {
	c := f.clusterOf(want, s)
	return c != nil && c.PassedAt == nil
}

// clusterOf returns the cluster of a Site, as the status shows it. A latched state stays as long as the Cluster is the same or unknown.
func (f facts) clusterOf(want v1alpha1.SiteTree, s siteFacts) *v1alpha1.SiteClusterObservation {
	if s.cluster == nil {
		return f.rememberedCluster(want, s)
	}
	ready := s.cluster.ready
	out := &v1alpha1.SiteClusterObservation{UID: s.cluster.uid, Ready: &ready}
	last := f.lastObservation(want.Name).Cluster
	if last != nil && out.UID == "" && !s.cluster.gone {
		out.UID = last.UID
	}
	if i := s.cluster.initialized; i.UID != "" && i.UID == out.UID {
		out.InitializedAt = &metav1.Time{Time: i.At}
	}
	switch {
	case last != nil && last.PassedAt != nil && last.UID == out.UID:
		out.PassedAt = last.PassedAt.DeepCopy()
	case ready:
		out.PassedAt = f.nowTimestamp()
	}
	blocker := s.cluster.blocker
	if out.PassedAt != nil {
		blocker = s.cluster.trouble // No delivery waits any more.
	}
	out.Reason, out.Message = blocker.Reason, blocker.String()
	out.Reason = out.Reason[:min(len(out.Reason), maxClusterReason)]
	return out
}

// rememberedCluster returns the latched state of the cluster of a Site that is not observed, for any position.
func (f facts) rememberedCluster(want v1alpha1.SiteTree, s siteFacts) *v1alpha1.SiteClusterObservation {
	l := f.latchedInitialized(want.Name)
	if l.UID == "" || s.site != nil {
		return nil
	}
	return &v1alpha1.SiteClusterObservation{UID: l.UID, InitializedAt: &metav1.Time{Time: l.At}}
}

// latchedInitialized returns since when the cluster of a Site is known to be initialized, by the status of any position.
func (f facts) latchedInitialized(site string) readiness.Initialized {
	for _, s := range f.before.Sites {
		if c := s.Cluster; s.Name == site && c != nil && c.InitializedAt != nil {
			return readiness.Initialized{UID: c.UID, At: c.InitializedAt.UTC()}
		}
	}
	return readiness.Initialized{}
}

// awaitCluster waits for a Site's cluster. The wait has a clock of its own.
func (f facts) awaitCluster(want v1alpha1.SiteTree, s siteFacts, o v1alpha1.SiteObservation) v1alpha1.SiteObservation {
	c := f.clusterOf(want, s)
	o.State, o.Reason, o.Message = v1alpha1.SiteWaitingForCluster, c.Reason, c.Message
	if o.StartedAt = f.waitingSince(want.Name, true); o.StartedAt == nil {
		o.StartedAt = f.nowTimestamp()
	}
	return f.withTimeout(o)
}

// hasAwaitedCluster is true for a Site that waits for its cluster, in time or not.
func hasAwaitedCluster(o v1alpha1.SiteObservation) bool {
	return o.Cluster != nil && o.Cluster.PassedAt == nil
}

// hasPassedCluster is true for a Site whose cluster was ready for the position.
func hasPassedCluster(o v1alpha1.SiteObservation) bool {
	return o.Cluster != nil && o.Cluster.PassedAt != nil
}
