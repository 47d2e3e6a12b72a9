// Package readiness interprets the objects of a Cluster API cluster: whether the cluster can receive a delivery, and if not, which object
// blocks it and why.
//
// It is pure. Objects are handed in as they were read, or the reason why they could not be; the clock is an argument. Objects of
// other projects are read by the fields that Cluster API's contracts name, in versions v1beta1 and v1beta2 of both the Cluster and
// the contracts of its providers, which are two things: a Cluster v1beta2 whose providers have contract v1beta1 is the normal mix.
package readiness

import (
	"time"
)

// Types of conditions.
const (
	// TypeInfrastructureReady says whether the infrastructure of the cluster exists and is healthy.
	TypeInfrastructureReady = "InfrastructureReady"

	// TypeControlPlaneInitialized says whether the cluster's API server ever answered. It never becomes false again for a cluster.
	TypeControlPlaneInitialized = "ControlPlaneInitialized"

	// TypeControlPlaneReady says whether the control plane is well now.
	TypeControlPlaneReady = "ControlPlaneReady"

	// TypeEndpointKnown says whether the address of the API server is known.
	TypeEndpointKnown = "EndpointKnown"

	// TypeKubeconfigReady says whether there is a kubeconfig with which the API server answers.
	TypeKubeconfigReady = "KubeconfigReady"

	// TypeProviderHealthy says whether the providers that build the cluster report no error.
	TypeProviderHealthy = "ProviderHealthy"

	// TypePaused says whether a user paused the controllers of the cluster.
	TypePaused = "Paused"

	// TypeDeleting says whether the cluster is being deleted.
	TypeDeleting = "Deleting"
)

// A Status of a condition.
type Status string

// Statuses.
const (
	True    Status = "True"
	False   Status = "False"
	Unknown Status = "Unknown"
)

// A Condition is a state of the cluster with its reason. Its text is stable.
type Condition struct {
	// Type of the condition.
	Type string
	// Status of the condition.
	Status Status
	// Reason is a reason of this package, or the reason that Cluster API's core gives for a deletion.
	Reason string
	// Message of the object that is responsible. It is one line, and not long.
	Message string
	// By is the object that is responsible. It may be empty.
	By Subject
}

// A Subject names an object.
type Subject struct {
	// Kind and Name of the object.
	Kind, Name string
}

// String is for people.
func (s Subject) String() string {
	if s.Kind == "" {
		return ""
	}
	return s.Kind + " " + s.Name
}

// Options are the requirements of deliveries to a cluster.
type Options struct {
	// MinReadyWorkers is the number of ready workers that a delivery requires. 0 requires none: the software that makes nodes ready is often
	// the first delivery.
	MinReadyWorkers int64
	// AllowExec takes a kubeconfig for good that runs a program to get credentials. It is never run here, so it is unknown whether
	// the API server answers.
	AllowExec bool
}

// Input is all that a Report is made from.
type Input struct {
	// Cluster, and the objects that it refers to.
	Cluster, Infrastructure, ControlPlane Object
	// Behind are the objects that CAPT's objects are made by: WorkspaceTemplateApplies and Workspaces, each after who names it.
	Behind []Object
	// Kubeconfig of the cluster.
	Kubeconfig Kubeconfig
	// Options of the caller.
	Options Options
	// Initialized are the conditions that were latched in earlier reads.
	Initialized Initialized
	// Now is the time.
	Now time.Time
}

// Initialized is since when the control plane of a cluster is known to be initialized. CAPT says later that it is not, so it
// is remembered here.
type Initialized struct {
	// UID of the Cluster that it is said of. A Cluster that was made again under the same name is another one.
	UID string
	// At is when it was seen first.
	At time.Time
}

// An Endpoint is where an API server is.
type Endpoint struct {
	Host string
	Port int64
}

// A FailureDomain is a part of the infrastructure that fails as one.
type FailureDomain struct {
	Name string
	// ControlPlane says whether control plane machines may be there.
	ControlPlane bool
}

// Replicas are numbers of machines.
type Replicas struct {
	// Desired and Ready machines.
	Desired, Ready int64
}

// An ObjectReport is the readiness of one object.
type ObjectReport struct {
	APIVersion, Kind, Name, UID string
	// Ready says whether the object is ready.
	Ready bool
	// Reason and Message why it is not.
	Reason, Message string
}

// A Report is the interpreted state of the objects of a cluster.
type Report struct {
	// UID of the Cluster. Empty if it is not there.
	UID string
	// APIVersion in which the Cluster was read.
	APIVersion string
	// Infrastructure and ControlPlane are the contracts of the providers.
	Infrastructure, ControlPlane Contract
	// Phase that Cluster API computed. It decides nothing.
	Phase string
	// Initialized to remember.
	Initialized Initialized
	// Version of Kubernetes, from the API server if it answered.
	Version string
	// Endpoint of the API server.
	Endpoint Endpoint
	// FailureDomains, by name.
	FailureDomains []FailureDomain
	// ControlPlanes and Workers of the cluster.
	ControlPlanes, Workers Replicas
	// Topology of a Cluster that has a ClusterClass. Its Class is empty without one.
	Topology Topology
	// KubeconfigDigest distinguishes one kubeconfig from another. It is not secret.
	KubeconfigDigest string
	// KubeconfigExpires is when the credentials in the kubeconfig do. Zero if they do not, or if that is unknown.
	KubeconfigExpires time.Time
	// Objects that were read.
	Objects []ObjectReport
	// Conditions, one of each type.
	Conditions []Condition

	short bool
}

// Condition of a type.
func (r Report) Condition(conditionType string) Condition {
	for _, c := range r.Conditions {
		if c.Type == conditionType {
			return c
		}
	}
	return Condition{Type: conditionType, Status: Unknown}
}

// Is reports whether a condition has a status.
func (r Report) Is(conditionType string, s Status) bool {
	return r.Condition(conditionType).Status == s
}

// Deliverable reports whether something can be delivered to the cluster now. Workers count only if the options require some: the software
// that makes them ready is often the first delivery.
func (r Report) Deliverable() bool { return r.Blocker().Reason == "" }

// Healthy reports whether the cluster is deliverable and its providers are done, and whether all of it is well. While machines of the
// control plane are replaced because a user asked for it, it is enough that the API server answers.
func (r Report) Healthy() bool {
	plane := r.Condition(TypeControlPlaneReady)
	return r.Deliverable() && r.Is(TypeInfrastructureReady, True) && (plane.Status == True || plane.Reason == ReasonRollingOut)
}

// A Blocker is the object that prevents a delivery, with the reason.
type Blocker struct {
	// By is the object that is in the way. It may be empty.
	By Subject
	// Reason and Message describe the error. An empty reason means that nothing is in the way.
	Reason, Message string
}

// String names the object and its error.
func (b Blocker) String() string {
	out := b.By.String()
	if b.Message == "" {
		return out
	}
	if out != "" {
		out += ": "
	}
	return out + b.Message
}

// Blocker is why nothing can be delivered. The earliest stage in the life of a cluster is named first, and a provider's error before a stage
// that merely takes long.
func (r Report) Blocker() Blocker {
	if c := r.Condition(TypeDeleting); c.Status != False {
		return conditionBlocker(c)
	}
	open := r.firstOpenCondition()
	if open.Status == True || open.Type == "" {
		return r.tooFewWorkers()
	}
	if c := r.Condition(TypeProviderHealthy); c.Status == False && open.Type != TypeKubeconfigReady {
		return conditionBlocker(c)
	}
	return conditionBlocker(open)
}

// Trouble returns the first problem of a cluster: the blocker of a delivery, and else its infrastructure or its control plane. An empty
// reason means that all of it is well.
func (r Report) Trouble() Blocker {
	if b := r.Blocker(); b.Reason != "" {
		return b
	}
	if c := r.firstUntrue(TypeInfrastructureReady, TypeControlPlaneReady); c.Type != "" {
		return conditionBlocker(c)
	}
	return Blocker{}
}

// firstOpenCondition is the first condition for a delivery that is not true. While the control plane is not initialized, the infrastructure that it
// waits for is to blame, also if its state is unknown.
func (r Report) firstOpenCondition() Condition {
	initialized := r.Condition(TypeControlPlaneInitialized)
	infra := r.Condition(TypeInfrastructureReady)
	if initialized.Status != True && infra.Status == False || initialized.Status == False && infra.Status == Unknown {
		return infra
	}
	return r.firstUntrue(TypeControlPlaneInitialized, TypeEndpointKnown, TypeKubeconfigReady)
}

// firstUntrue returns the first of some conditions that is not True, or none.
func (r Report) firstUntrue(types ...string) Condition {
	for _, conditionType := range types {
		if c := r.Condition(conditionType); c.Status != True {
			return c
		}
	}
	return Condition{}
}

func conditionBlocker(c Condition) Blocker {
	return Blocker{By: c.By, Reason: c.Reason, Message: c.Message}
}

func (r Report) tooFewWorkers() Blocker {
	if !r.short {
		return Blocker{}
	}
	return Blocker{Reason: ReasonTooFewWorkers, Message: "fewer workers are ready than are asked for"}
}

// Read interprets the objects of a cluster.
func Read(in Input) Report {
	in.Infrastructure, in.ControlPlane = in.Infrastructure.orNotReferenced(), in.ControlPlane.orNotReferenced()
	c := in.Cluster
	r := Report{UID: c.objectUID(), Infrastructure: in.Infrastructure.Contract, ControlPlane: in.ControlPlane.Contract}
	if c.Missing != "" {
		return r.withoutCluster(in)
	}
	r.APIVersion = c.GetAPIVersion()
	r.Phase = c.textField("status", "phase")
	r.Endpoint = clusterEndpoint(c)
	r.FailureDomains = failureDomains(c, in.Infrastructure)
	r.ControlPlanes, r.Workers = countReplicas(in)
	r.short = r.Workers.Ready < in.Options.MinReadyWorkers
	r.KubeconfigDigest, r.KubeconfigExpires = in.Kubeconfig.secretDigest(), in.Kubeconfig.expirationTime()
	r.Version = runningVersion(in)
	r.Topology = clusterTopology(in)
	initialized := controlPlaneInitialized(in)
	if initialized.Status == True {
		r.Initialized = latchInitialized(in)
	}
	r.Conditions = []Condition{
		infrastructureReady(in), initialized, controlPlaneReady(in), endpointKnown(in, r.Endpoint),
		kubeconfigReady(in), providerHealthy(in), pausedCondition(in), deletingCondition(in),
	}
	r.Objects = reportObjects(in, r)
	return r
}

// withoutCluster returns the report of a Cluster that could not be read: nothing is known of it. Latched conditions stay unless the Cluster
// is known to be deleted.
func (r Report) withoutCluster(in Input) Report {
	c := in.Cluster
	if c.Missing != ReasonObjectMissing {
		r.Initialized = in.Initialized
	}
	for _, conditionType := range []string{
		TypeInfrastructureReady, TypeControlPlaneInitialized, TypeControlPlaneReady, TypeEndpointKnown,
		TypeKubeconfigReady, TypeProviderHealthy, TypePaused, TypeDeleting,
	} {
		r.Conditions = append(r.Conditions, c.unreadCondition(conditionType))
	}
	return r
}

func latchInitialized(in Input) Initialized {
	if uid := in.Cluster.objectUID(); in.Initialized.UID != uid {
		return Initialized{UID: uid, At: in.Now.UTC().Truncate(time.Second)}
	}
	return in.Initialized
}
