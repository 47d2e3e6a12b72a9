package cause

import (
	"cmp"
	"strings"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/advice"
	workloadclusterv1alpha1 "github.com/intentplane/intentplane/apis/workloadcluster/v1alpha1"
)

// IsAnswered reports whether the status speaks about the current spec.
func (f *ClusterFacts) IsAnswered() bool {
	return f.SpecDigest == "" || f.Cluster.Status.SpecDigest == f.SpecDigest
}

// FindForCluster returns why a WorkloadCluster does not go on.
func FindForCluster(f *ClusterFacts, now time.Time) Finding {
	c := f.Cluster
	r := root{
		kind: c.Kind, metadata: c.Metadata, conditions: c.Status.Conditions, installed: f.Installed,
		isAnswered: f.IsAnswered(),
	}
	chain, isGood := r.installationChain(), false
	if chain == nil {
		chain, isGood = f.clusterChain(now)
	}
	out := concludeChain(chain)
	out.IsGood, out.Unread = isGood, f.Unread
	return out
}

// clusterChain returns the chain from the WorkloadCluster down to the blocker, and true if nothing blocks it.
func (f *ClusterFacts) clusterChain(now time.Time) ([]Link, bool) {
	all := f.Cluster.Status.Conditions
	c := all.Get(workloadclusterv1alpha1.TypeStalled)
	if c.Status != metav1.ConditionTrue {
		c = all.Get(workloadclusterv1alpha1.TypeReconciling)
	}
	first := Link{Kind: advice.WorkloadCluster, Object: "WorkloadCluster " + f.Cluster.Metadata.Name, Reason: c.Reason, Message: cmp.Or(c.Message, f.Cluster.Status.Message), Since: c.lastTransition()}
	if c.Status == metav1.ConditionFalse && c.Type == workloadclusterv1alpha1.TypeReconciling && all.IsTrue(typeReady) {
		return []Link{first}, true
	}
	return append([]Link{first}, f.managedChain(now)...), false
}

// managedChain names the ManagedCluster, and the object of Cluster API that is in the way.
func (f *ClusterFacts) managedChain(now time.Time) []Link {
	var out []Link
	if m := f.Managed; m != nil {
		ready := readyCondition(m.Status.GetCondition(xpv2.TypeReady))
		object := "ManagedCluster " + m.Name
		if l, ok := f.Installed.unobservedLink(observeManaged(object, m), now); ok {
			return []Link{l}
		}
		if ready.Status != metav1.ConditionTrue {
			out = append(out, Link{Kind: advice.ManagedCluster, Object: object, Reason: ready.Reason, Message: ready.Message, Since: ready.lastTransition()})
		}
	}
	if b := f.Cluster.Status.Blocker; b != nil {
		out = append(out, Link{Kind: advice.Cluster, Object: strings.TrimSpace(b.Kind + " " + b.Name), Reason: b.Reason, Message: b.Message})
	}
	return out
}
