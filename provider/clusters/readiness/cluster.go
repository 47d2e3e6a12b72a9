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

// version of Cluster that an object was read in.
func (o Object) version() Contract {
	if !o.there() {
		return ""
	}
	return Contract(o.GroupVersionKind().Version)
}

// infrastructureProvisioned is what the Cluster says.
func infrastructureProvisioned(c Object) bool {
	done, _ := c.reported(c.version().layout().infrastructureProvisioned)
	return done
}

// initializedSaid is what the Cluster says of its control plane.
func initializedSaid(c Object) bool {
	done, _ := c.reported(c.version().layout().controlPlaneInitialized)
	return done
}

// newCondition is one of the kind that came with v1beta2, which an older Cluster has in another place.
func newCondition(c Object, of string) said {
	return c.condition(of, c.version().layout().conditions...)
}

// endpointOf a Cluster. CAPT writes the whole URL where a host belongs.
func endpointOf(c Object) Endpoint {
	e := Endpoint{Host: c.text("spec", "controlPlaneEndpoint", "host"), Port: c.number("spec", "controlPlaneEndpoint", "port")}
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
		return c.says(TypeEndpointKnown, False, ReasonEndpointUnknown, "its control plane endpoint is not set")
	}
	if c.text("spec", "controlPlaneEndpoint", "host") != e.Host {
		return c.says(TypeEndpointKnown, True, ReasonEndpointCorrected, "the host of its control plane endpoint is a URL")
	}
	return c.says(TypeEndpointKnown, True, ReasonEndpointKnown, "")
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
	if !o.there() {
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
			if m, ok := d.(map[string]any); ok && str(m["name"]) != "" {
				out = append(out, failureDomain(str(m["name"]), m))
			}
		}
	}
	return out
}

func failureDomain(name string, v any) FailureDomain {
	m, ok := v.(map[string]any)
	controlPlane, is := m["controlPlane"].(bool)
	return FailureDomain{Name: name, ControlPlane: ok && is && controlPlane}
}

// replicas of control plane and workers, as the Cluster counts them, or the control plane itself.
func replicas(in Input) (controlPlanes, workers Replicas) {
	at := in.Cluster.version().layout().replicas
	count := func(of string) Replicas {
		path := append(slices.Clone(at), of)
		return Replicas{
			Desired: in.Cluster.number(append(path, "desiredReplicas")...),
			Ready:   in.Cluster.number(append(path, "readyReplicas")...),
		}
	}
	controlPlanes, workers = count("controlPlane"), count("workers")
	if controlPlanes == (Replicas{}) {
		controlPlanes = Replicas{Desired: in.ControlPlane.number("spec", "replicas"), Ready: in.ControlPlane.number("status", "readyReplicas")}
	}
	return controlPlanes, workers
}

// versionOf Kubernetes that runs. What is asked for is no answer.
func versionOf(in Input) string {
	if in.Kubeconfig.Answer.Version != "" {
		return in.Kubeconfig.Answer.Version
	}
	return in.ControlPlane.text("status", "version")
}

func paused(in Input) Condition {
	c := in.Cluster
	if c.flag("spec", "paused") || c.annotatedPaused() {
		if isCAPT(in) {
			return c.says(TypePaused, True, ReasonPausedIgnored, "its provider works on it all the same")
		}
		return c.says(TypePaused, True, ReasonPaused, "")
	}
	for _, o := range []Object{in.Infrastructure, in.ControlPlane} {
		if o.annotatedPaused() {
			return o.says(TypePaused, True, ReasonPaused, "")
		}
	}
	return c.says(TypePaused, False, ReasonNotPaused, "")
}

// deleting says what a deletion waits for: the Workspace that cannot be destroyed, or what Cluster API's core says.
func deleting(in Input) Condition {
	c := in.Cluster
	if c.GetDeletionTimestamp() == nil {
		return c.says(TypeDeleting, False, ReasonNotDeleting, "")
	}
	out := c.says(TypeDeleting, True, ReasonDeletionRequested, "it is being deleted")
	if said := newCondition(c, TypeDeleting); said.is(True) && said.reason != "" {
		out = c.says(TypeDeleting, True, said.reason, said.text())
	}
	if w, failed := failedWorkspace(in.Behind); failed.found {
		out.By, out.Message = w.Subject, w.says("", "", "", failed.text()).Message
	}
	return out
}
