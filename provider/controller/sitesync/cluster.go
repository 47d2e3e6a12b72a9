package sitesync

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/clusterapi"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
	"github.com/intentplane/intentplane/provider/instant"
	"github.com/intentplane/intentplane/provider/proof"
)

// readCluster reads the Cluster. It returns an error if the control plane's API server cannot be asked, or the provider's own
// configuration is not valid.
func (e *external) readCluster(ctx context.Context, site *catalogv1alpha1.Site, last readiness.Initialized) (*proof.ClusterFacts, error) {
	ref := *site.Spec.Cluster.ClusterRef
	if message := explainForeignRef(ref); message != "" {
		return &proof.ClusterFacts{Deleted: true, Blocker: readiness.Blocker{Reason: readiness.ReasonKindMissing, Message: message}}, nil
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
		Namespace: ref.Namespace, Name: ref.Name, Options: t.options, Limits: e.limits, Initialized: firstInitialized(previous.initialized, latched, last),
		Held: &previous.held, SecretVersion: e.secretVersion(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: readiness.SecretName(ref.Name)}),
	}, now)
	entry := e.readiness.observeReport(key, r.Report, previous.held, now)
	out := &proof.ClusterFacts{
		UID: r.UID, Ready: entry.steady.Ready, Blocker: r.Blocker(), Trouble: entry.trouble, Initialized: entry.initialized,
		Recheck: instant.Earliest(entry.nextReadyChange(t.stabilization), r.Again),
		Deleted: r.UID == "" && r.Blocker().Reason == readiness.ReasonObjectMissing,
	}
	if out.Blocker.Reason == "" && !out.Ready {
		out.Blocker = readiness.Blocker{Reason: readiness.ReasonStabilizing, Message: "it is ready, and has not been for long enough"}
	}
	return out, nil
}

// firstInitialized returns the first value that is known.
func firstInitialized(all ...readiness.Initialized) readiness.Initialized {
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
