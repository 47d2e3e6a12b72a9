// Package intent reads what a user wants, in every form that it can be said in, into one Intent. It is pure: it knows no client,
// no clock and no network.
package intent

import (
	"bytes"
	"encoding/json"
)

// DefaultType is the type of a service that names none.
const DefaultType = "web"

// Words that stand for several Sites, instead of a Site's name.
const (
	// SitesBoth stands for the two Sites that the claim's namespace may use.
	SitesBoth = "both"

	// SitesAll stands for all Sites that the claim's namespace may use.
	SitesAll = "all"
)

// Resources that each replica asks for.
type Resources struct {
	// CPU as a canonical quantity. Empty means what the Blueprint says.
	CPU string `json:"cpu,omitempty"`

	// Memory as a canonical quantity. Empty means what the Blueprint says.
	Memory string `json:"memory,omitempty"`
}

// An Intent is what a user wants, in its one normal form: two intents with the same content are equal, however they were said.
type Intent struct {
	// Service is the name of what is to run, a DNS label.
	Service string

	// Type of the service. It is never empty.
	Type string

	// Sites to run at, sorted, or one of the words SitesBoth and SitesAll. Empty means that something else names them.
	Sites []string

	// Replicas at each Site that SiteReplicas does not name.
	Replicas int32

	// SiteReplicas are the replicas at single Sites.
	SiteReplicas map[string]int32

	// Image that runs. Empty means the Blueprint's.
	Image string

	// Resources that each replica asks for.
	Resources Resources

	// Parameters for the Blueprint.
	Parameters map[string]string
}

// ReplicasAt returns how many replicas run at a Site.
func (i Intent) ReplicasAt(site string) int32 {
	if n, ok := i.SiteReplicas[site]; ok {
		return n
	}
	return i.Replicas
}

// canonical has the fields of an Intent in the order of their names.
type canonical struct {
	Image        string            `json:"image,omitempty"`
	Parameters   map[string]string `json:"parameters,omitempty"`
	Replicas     *int32            `json:"replicas,omitempty"`
	Resources    *Resources        `json:"resources,omitempty"`
	Service      string            `json:"service"`
	SiteReplicas map[string]int32  `json:"siteReplicas,omitempty"`
	Sites        []string          `json:"sites,omitempty"`
	Type         string            `json:"type,omitempty"`
}

// Canonical returns the intent as JSON, with sorted fields and without those that have their default. FromText reads it back.
func (i Intent) Canonical() []byte {
	c := canonical{Image: i.Image, Parameters: i.Parameters, Service: i.Service, SiteReplicas: i.SiteReplicas, Sites: i.Sites}
	if i.Replicas != 1 {
		c.Replicas = &i.Replicas
	}
	if i.Resources != (Resources{}) {
		c.Resources = &i.Resources
	}
	if i.Type != DefaultType {
		c.Type = i.Type
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	// Strings, numbers and maps of them always encode.
	_ = e.Encode(c) //nolint:errchkjson // See above.
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
