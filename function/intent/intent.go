// Package intent reads the intent of a user, in each of the supported forms, into one Intent. It is pure: it uses no client, no clock and no
// network.
package intent

import (
	"bytes"
	"encoding/json"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/intent/objective"
	"github.com/intentplane/intentplane/function/intent/telecom"
)

// DefaultType is the type of a service that names none.
const DefaultType = telecom.GenericType

// DefaultPriority is the priority of an intent that names none.
const DefaultPriority = "medium"

// DefaultProtocol is the protocol of an endpoint that names none.
const DefaultProtocol = "TCP"

// Words that stand for several Sites, instead of a Site's name.
const (
	// SitesBoth stands for the two Sites that the claim's namespace may use.
	SitesBoth = "both"

	// SitesAll stands for all Sites that the claim's namespace may use.
	SitesAll = "all"
)

// Resources are the resource requests of each replica.
type Resources struct {
	// CPU as a canonical quantity. Empty means the value of the Blueprint.
	CPU string `json:"cpu,omitempty"`

	// Memory as a canonical quantity. Empty means the value of the Blueprint.
	Memory string `json:"memory,omitempty"`
}

// An Endpoint is a port that the service offers.
type Endpoint struct {
	// Name of the endpoint.
	Name string `json:"name"`

	// Port of the endpoint.
	Port int32 `json:"port"`

	// Protocol of the endpoint: TCP, UDP or SCTP.
	Protocol string `json:"protocol,omitempty"`
}

// An Intent is the intent of a user, in its only normal form: two intents with the same content are equal, whatever form they were written in.
type Intent struct {
	// Service is the name of the service to run, a DNS label.
	Service string

	// Type of the service. It is never empty.
	Type string

	// Sites to run at, sorted, or one of the words SitesBoth and SitesAll. Empty means that deliveryConfig names them.
	Sites []string

	// Selector are labels that the Sites to run at have. It excludes Sites.
	Selector map[string]string

	// Replicas at each Site that SiteReplicas does not name.
	Replicas int32

	// SiteReplicas are the replicas at single Sites.
	SiteReplicas map[string]int32

	// Image that runs. Empty means the Blueprint's.
	Image string

	// Resources are the resource requests of each replica.
	Resources Resources

	// Runtime has the settings of containers and pods, with their defaults. Nil means the settings of the Blueprint.
	Runtime *deploymentv1alpha1.Runtime

	// Endpoints that the service offers, sorted by name.
	Endpoints []Endpoint

	// Parameters for the Blueprint.
	Parameters map[string]string

	// QoS is the requested quality of service of the network.
	QoS objective.QoS

	// Slice that the service is in.
	Slice telecom.Slice

	// Priority of the intent: low, medium, high or critical. It is never empty.
	Priority string

	// SLOs are the thresholds for the running service, by the name of the metric, such as "<= 500ms".
	SLOs map[string]string
}

// ReplicasAt returns how many replicas run at a Site.
func (i Intent) ReplicasAt(site string) int32 {
	if n, ok := i.SiteReplicas[site]; ok {
		return n
	}
	return i.Replicas
}

// WithoutSLOs returns the intent without its SLOs.
func (i Intent) WithoutSLOs() Intent {
	i.SLOs = nil
	return i
}

// canonical has the fields of an Intent in the order of their names.
type canonical struct {
	Endpoints    []Endpoint                  `json:"endpoints,omitempty"`
	Image        string                      `json:"image,omitempty"`
	Parameters   map[string]string           `json:"parameters,omitempty"`
	Priority     string                      `json:"priority,omitempty"`
	QoS          objective.QoS               `json:"qos,omitzero"`
	Replicas     *int32                      `json:"replicas,omitempty"`
	Resources    Resources                   `json:"resources,omitzero"`
	Runtime      *deploymentv1alpha1.Runtime `json:"runtime,omitempty"`
	Selector     map[string]string           `json:"selector,omitempty"`
	Service      string                      `json:"service"`
	SiteReplicas map[string]int32            `json:"siteReplicas,omitempty"`
	Sites        []string                    `json:"sites,omitempty"`
	Slice        telecom.Slice               `json:"slice,omitzero"`
	SLOs         map[string]string           `json:"slos,omitempty"`
	Type         string                      `json:"type,omitempty"`
}

// Canonical returns the intent as JSON, with sorted fields and without fields that have their default. FromText reads it back.
func (i Intent) Canonical() []byte {
	i = i.withoutClass()
	c := canonical{
		Image: i.Image, Parameters: i.Parameters, QoS: i.QoS, Resources: i.Resources, Runtime: i.Runtime, Selector: i.Selector, Service: i.Service,
		SiteReplicas: i.SiteReplicas, Sites: i.Sites, Slice: i.Slice, SLOs: i.SLOs,
	}
	for _, e := range i.Endpoints {
		if e.Protocol == DefaultProtocol {
			e.Protocol = ""
		}
		c.Endpoints = append(c.Endpoints, e)
	}
	if i.Replicas != 1 {
		c.Replicas = &i.Replicas
	}
	if i.Type != DefaultType {
		c.Type = i.Type
	}
	if i.Priority != DefaultPriority {
		c.Priority = i.Priority
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	// Strings, numbers and maps of them always encode.
	_ = e.Encode(c) //nolint:errchkjson // See above.
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
