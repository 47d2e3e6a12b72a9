package render

import (
	"maps"
	"slices"
	"strings"

	"github.com/intentplane/intentplane/function/intent"
)

// Where a value comes from.
const (
	// FromClaim says that the claim says so, or that it follows from what the claim says.
	FromClaim = "claim"

	// FromClass says that the claim says eMBB, URLLC or mMTC, and that it is what goes without saying then.
	FromClass = "class"

	// FromSite says that it is a parameter of the Site, or its name.
	FromSite = "Site"

	// FromSchema says that it is a default in the Blueprint's parametersSchema.
	FromSchema = "Blueprint, parametersSchema"

	// FromBlueprint says that it is a default in the Blueprint's intent.yaml.
	FromBlueprint = "Blueprint, intent.yaml"

	// FromDefault says that it holds where nobody says anything.
	FromDefault = "default"
)

// A Value is what a Blueprint can read of an intent, at one Site.
type Value struct {
	// Key in the ConfigMap intent, and its Value.
	Key   string `json:"key"`
	Value string `json:"value"`

	// From says where the value comes from.
	From string `json:"from"`
}

// Explain returns the values that a Blueprint reads, sorted by key, of an intent that was said so. It returns an error for parameters that the Blueprint does not
// take.
func Explain(in Input, said intent.Said) ([]Value, error) {
	data, err := values(in, string(in.Blueprint.Spec.Files[intentFile]))
	if err != nil {
		return nil, err
	}
	out := make([]Value, 0, len(data))
	for _, key := range slices.Sorted(maps.Keys(data)) {
		out = append(out, Value{Key: key, Value: data[key], From: source(in, said, key)})
	}
	return out, nil
}

func source(in Input, said intent.Said, key string) string {
	if name, ok := strings.CutPrefix(key, "param-"); ok {
		return parameterSource(in, name)
	}
	if name, ok := strings.CutPrefix(key, "site-"); ok {
		_, set := in.Site.Parameters[name]
		return choose(set, FromSite, FromBlueprint)
	}
	set := map[string]bool{
		"image":     in.Intent.Image != "",
		"cpu":       in.Intent.Resources.CPU != "",
		"memory":    in.Intent.Resources.Memory != "",
		"service":   true,
		"namespace": true,
		"claim":     true,
	}
	switch key {
	case "site":
		return FromSite
	case "replicas":
		_, here := in.Intent.SiteReplicas[in.Site.Name]
		return choose(said.Replicas || here, FromClaim, FromDefault)
	case "type":
		return choose(said.Type, FromClaim, FromDefault)
	case "priority":
		return choose(said.Priority, FromClaim, FromDefault)
	}
	if _, ok := network(in.Intent, in.Site)[key]; ok {
		return networkSource(in, said, key)
	}
	return choose(set[key], FromClaim, FromBlueprint)
}

// networkSource is where a value comes from that an intent's network has.
func networkSource(in Input, said intent.Said, key string) string {
	switch key {
	case "slice-sst":
		return choose(said.SST, FromClaim, FromClass)
	case "qos-latency-ms":
		return choose(said.Latency, FromClaim, FromClass)
	case "slice-plmn":
		return choose(in.Intent.Slice.PLMN != "", FromClaim, FromSite)
	}
	return FromClaim
}

func parameterSource(in Input, name string) string {
	if _, ok := in.Intent.Parameters[name]; ok {
		return FromClaim
	}
	// Defaults come back beside the error that a required parameter is missing.
	described, _ := parameters(in.Blueprint.Spec.ParametersSchema, nil)
	if _, ok := described[name]; ok {
		return FromSchema
	}
	return FromBlueprint
}

func choose(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}
