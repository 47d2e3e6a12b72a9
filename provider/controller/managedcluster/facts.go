package managedcluster

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
)

// facts are all that a decision is made from. Who gathers them decides nothing, and who decides reads nothing else.
type facts struct {
	mc  *v1alpha1.ManagedCluster
	now time.Time
	// denied says why the spec is against a limit.
	denied string
	// lacks says why the management cluster cannot have such a cluster, one of the reasons of readiness.
	lacks readiness.Blocker
	// parts that the cluster is to be made of, in the order in which they are made.
	parts []part
	// taken says who else has a cluster of that name.
	taken string
	// reserved is true while a name that is given up is still reserved for this cluster.
	reserved bool
	// templates that do not exist.
	templates []string
	// report of what the cluster is, and whether it counts as ready.
	report readiness.Report
	ready  bool
	// carried is true if Cluster API was done with the Cluster's topology for long enough.
	carried bool
	// again is when time alone may change something.
	again time.Time
	// site that is published, or why it is not.
	site siteFacts
}

// A part is one object that we make.
type part struct {
	// resource of the object.
	resource schema.GroupVersionResource
	// want is the object as it should be, as far as we say.
	want *unstructured.Unstructured
	// live is the object as it is. Nil if it is known that there is none.
	live *unstructured.Unstructured
	// unknown is why nobody can tell. Empty if it is known.
	unknown string
}

// recorded is the UID of an object of ours when it was last seen.
func recorded(mc *v1alpha1.ManagedCluster, kind string) string {
	for _, o := range mc.Status.AtProvider.Objects {
		if o.Kind == kind && o.Name == mc.Spec.ForProvider.Cluster.Name {
			return o.UID
		}
	}
	return ""
}

// ours is true for an object that this ManagedCluster made.
func ours(mc *v1alpha1.ManagedCluster, o *unstructured.Unstructured) bool {
	return o.GetLabels()[v1alpha1.LabelOwner] == string(mc.GetUID())
}

// namespace that the cluster is in. It never is another one than the ManagedCluster's.
func namespace(mc *v1alpha1.ManagedCluster) string { return mc.GetNamespace() }
