package managedcluster

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/intentplane/intentplane/apis/cluster/v1alpha1"
	"github.com/intentplane/intentplane/provider/clusters/desired"
	"github.com/intentplane/intentplane/provider/clusters/readiness"
	"github.com/intentplane/intentplane/provider/engines"
)

// facts are all that a decision is made from. The code that gathers them decides nothing, and decide reads nothing else.
type facts struct {
	mc  *v1alpha1.ManagedCluster
	now time.Time
	// denied is the message about the violated limit. Empty if none.
	denied string
	// unsupported is the message why the management cluster cannot have such a cluster, with a reason of readiness.
	unsupported readiness.Blocker
	// parts are the objects that the cluster is made of, in the order in which they are applied.
	parts []part
	// taken is the message about another owner of a cluster of that name.
	taken string
	// reserved is true while the name of a cluster that is being deleted is still reserved for it.
	reserved bool
	// templates lists the templates that are referenced and do not exist.
	templates []string
	// report is the observed state of the cluster, and ready whether it counts as ready.
	report readiness.Report
	ready  bool
	// topologyDone is true if Cluster API has reported for long enough that the topology is reconciled.
	topologyDone bool
	// again is the time of the next change without an event. Zero if no such change is due.
	again time.Time
	// site is the published Site, or the reason why it does not exist.
	site siteFacts
}

// A part is one object that the controller makes.
type part struct {
	// resource of the object.
	resource schema.GroupVersionResource
	// want is the desired object, with the fields that the controller sets.
	want *unstructured.Unstructured
	// live is the observed object. Nil if none exists.
	live *unstructured.Unstructured
	// unknown is the error of the read of the object. Empty without an error.
	unknown string
}

// objectRef returns the reference by which the object is read.
func (p *part) objectRef() engines.Ref {
	return engines.Ref{Resource: p.resource, Kind: p.want.GetKind(), Namespace: p.want.GetNamespace(), Name: p.want.GetName()}
}

// A lookupResult is an observed object, or the error of its read.
type lookupResult struct {
	live    *unstructured.Unstructured
	unknown string
}

func newLookupResult(live *unstructured.Unstructured, missing string) lookupResult {
	if missing == readiness.ReasonObjectMissing {
		missing = ""
	}
	return lookupResult{live: live, unknown: missing}
}

// recordLookup records the observed object of a part, and whether another owner has an object of that name.
func (f *facts) recordLookup(p *part, s lookupResult) {
	p.live, p.unknown = s.live, s.unknown
	if s.live != nil && !isOwnedByCluster(f.mc, s.live) {
		f.taken = fmt.Sprintf("%s was not made by this ManagedCluster. To observe it without changing it, use type Existing", p.objectRef())
	}
}

// isOwnedByCluster reports whether this ManagedCluster made an object, or an earlier ManagedCluster of the same composite did.
func isOwnedByCluster(mc *v1alpha1.ManagedCluster, o *unstructured.Unstructured) bool {
	return o.GetNamespace() == desired.Namespace(mc) && mc.Made(o.GetLabels()[v1alpha1.LabelOwner], o.GetLabels())
}
