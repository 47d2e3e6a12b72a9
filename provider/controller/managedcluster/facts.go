package managedcluster

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
	"github.com/intentplane/intentplane/provider/engines"
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

// ref names the object.
func (p *part) ref() engines.Ref {
	return engines.Ref{Resource: p.resource, Kind: p.want.GetKind(), Namespace: p.want.GetNamespace(), Name: p.want.GetName()}
}

// seen is what was found of an object, or why nobody can tell.
type seen struct {
	live    *unstructured.Unstructured
	unknown string
}

func seenAs(live *unstructured.Unstructured, missing string) seen {
	if missing == readiness.ReasonObjectMissing {
		missing = ""
	}
	return seen{live: live, unknown: missing}
}

// found notes how a part is, and whether somebody else has it.
func (f *facts) found(p *part, s seen) {
	p.live, p.unknown = s.live, s.unknown
	if s.live != nil && !ours(f.mc, s.live) {
		f.taken = fmt.Sprintf("%s is somebody else's. To watch it, use type Existing", p.ref())
	}
}

// ours is true for an object that this ManagedCluster made, or the one of its composite before it.
func ours(mc *v1alpha1.ManagedCluster, o *unstructured.Unstructured) bool {
	return o.GetNamespace() == namespace(mc) && mc.Made(o.GetLabels()[v1alpha1.LabelOwner], o.GetLabels())
}

// namespace that the cluster is in. It never is another one than the ManagedCluster's.
func namespace(mc *v1alpha1.ManagedCluster) string { return mc.GetNamespace() }
