package readiness

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	maxPort           = 65535
	maxFailureDomains = 100
)

// contractVersion returns the version of Cluster API that an object was read in.
func (o Object) contractVersion() Contract {
	if !o.isObjectPresent() {
		return ""
	}
	return Contract(o.GroupVersionKind().Version)
}

// infrastructureProvisioned returns the signal of the Cluster about its infrastructure.
func infrastructureProvisioned(c Object) bool {
	done, _ := c.findSignal(c.contractVersion().layoutOfContract().infrastructureProvisioned)
	return done
}

// initializedSaid returns the signal of the Cluster about its control plane.
func initializedSaid(c Object) bool {
	done, _ := c.findSignal(c.contractVersion().layoutOfContract().controlPlaneInitialized)
	return done
}

// newCondition is one of the kind that came with v1beta2, which an older Cluster has in another place.
func newCondition(c Object, conditionType string) foundCondition {
	return c.findCondition(conditionType, c.contractVersion().layoutOfContract().conditions...)
}

// clusterEndpoint returns the endpoint of a Cluster. CAPT writes the whole URL where a host belongs.
func clusterEndpoint(c Object) Endpoint {
	e := Endpoint{Host: c.textField("spec", "controlPlaneEndpoint", "host"), Port: c.intField("spec", "controlPlaneEndpoint", "port")}
	if !strings.Contains(e.Host, "://") {
		return e
	}
	u, err := url.Parse(e.Host)
	if err != nil {
		return Endpoint{}
	}
	e.Host = u.Hostname()
	if port, err := strconv.ParseInt(u.Port(), 10, 64); err == nil {
		e.Port = port
	}
	return e
}

func endpointKnown(in Input, e Endpoint) Condition {
	c := in.Cluster
	if e.Host == "" || e.Port <= 0 || e.Port > maxPort {
		return c.conditionWith(TypeEndpointKnown, False, ReasonEndpointUnknown, "its control plane endpoint is not set")
	}
	if c.textField("spec", "controlPlaneEndpoint", "host") != e.Host {
		return c.conditionWith(TypeEndpointKnown, True, ReasonEndpointCorrected, "the host of its control plane endpoint is a URL")
	}
	return c.conditionWith(TypeEndpointKnown, True, ReasonEndpointKnown, "")
}

// failureDomains are a map in v1beta1, and a list in v1beta2. Before the Cluster took them over the infrastructure has them.
func failureDomains(in ...Object) []FailureDomain {
	for _, o := range in {
		if out := failureDomainsOf(o); len(out) > 0 {
			slices.SortFunc(out, func(a, b FailureDomain) int { return cmp.Compare(a.Name, b.Name) })
			return out[:min(len(out), maxFailureDomains)]
		}
	}
	return nil
}

func failureDomainsOf(o Object) []FailureDomain {
	if !o.isObjectPresent() {
		return nil
	}
	v, _, err := unstructured.NestedFieldNoCopy(o.Object, "status", "failureDomains")
	if err != nil {
		return nil
	}
	var out []FailureDomain
	switch all := v.(type) {
	case map[string]any:
		for name, d := range all {
			out = append(out, failureDomain(name, d))
		}
	case []any:
		for _, d := range all {
			if m, ok := d.(map[string]any); ok && stringOrEmpty(m["name"]) != "" {
				out = append(out, failureDomain(stringOrEmpty(m["name"]), m))
			}
		}
	}
	return out
}

func failureDomain(name string, v any) FailureDomain {
	m, ok := v.(map[string]any)
	controlPlane, isBool := m["controlPlane"].(bool)
	return FailureDomain{Name: name, ControlPlane: ok && isBool && controlPlane}
}

// countReplicas counts the replicas of control plane and workers, as the Cluster counts them, or the control plane itself.
func countReplicas(in Input) (controlPlanes, workers Replicas) {
	base := in.Cluster.contractVersion().layoutOfContract().replicas
	count := func(field string) Replicas {
		path := append(slices.Clone(base), field)
		return Replicas{
			Desired: in.Cluster.intField(append(path, "desiredReplicas")...),
			Ready:   in.Cluster.intField(append(path, "readyReplicas")...),
		}
	}
	controlPlanes, workers = count("controlPlane"), count("workers")
	if controlPlanes == (Replicas{}) {
		controlPlanes = Replicas{Desired: in.ControlPlane.intField("spec", "replicas"), Ready: in.ControlPlane.intField("status", "readyReplicas")}
	}
	return controlPlanes, workers
}

// runningVersion returns the version of Kubernetes that runs. The desired version does not count.
func runningVersion(in Input) string {
	if in.Kubeconfig.Answer.Version != "" {
		return in.Kubeconfig.Answer.Version
	}
	return in.ControlPlane.textField("status", "version")
}

func pausedCondition(in Input) Condition {
	c := in.Cluster
	if c.boolField("spec", "paused") || c.annotatedPaused() {
		if isCAPTCluster(in) {
			return c.conditionWith(TypePaused, True, ReasonPausedIgnored, "its provider works on it all the same")
		}
		return c.conditionWith(TypePaused, True, ReasonPaused, "")
	}
	for _, o := range []Object{in.Infrastructure, in.ControlPlane} {
		if o.annotatedPaused() {
			return o.conditionWith(TypePaused, True, ReasonPaused, "")
		}
	}
	return c.conditionWith(TypePaused, False, ReasonNotPaused, "")
}

// deletingCondition names the blocker of a deletion: the Workspace that cannot be destroyed, or the reason from Cluster API's core.
func deletingCondition(in Input) Condition {
	c := in.Cluster
	if c.GetDeletionTimestamp() == nil {
		return c.conditionWith(TypeDeleting, False, ReasonNotDeleting, "")
	}
	out := c.conditionWith(TypeDeleting, True, ReasonDeletionRequested, "it is being deleted")
	if deleting := newCondition(c, TypeDeleting); deleting.hasStatus(True) && deleting.reason != "" {
		out = c.conditionWith(TypeDeleting, True, deleting.reason, deleting.messageText())
	}
	if w, failed := failedWorkspace(in.Behind); failed.found {
		out.By, out.Message = w.Subject, w.conditionWith("", "", "", failed.messageText()).Message
	}
	return out
}
