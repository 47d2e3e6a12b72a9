package render

import (
	"maps"
	"slices"
	"strings"

	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/render/guard"
)

// Where a value comes from.
const (
	// FromClaim means that the claim sets the value, or that it follows from a value of the claim.
	FromClaim = "claim"

	// FromClass means that the claim names eMBB, URLLC or mMTC, and that the value is the default of that class.
	FromClass = "class"

	// FromSite means that the value is a parameter of the Site, or its name.
	FromSite = "Site"

	// FromSchema means that the value is a default in the Blueprint's parametersSchema.
	FromSchema = "Blueprint, parametersSchema"

	// FromBlueprint means that the value is a default in the Blueprint's intent.yaml.
	FromBlueprint = "Blueprint, intent.yaml"

	// FromDefault means that neither the claim nor the Blueprint sets the value.
	FromDefault = "default"
)

// A Value is one value of an intent that a Blueprint can read, at one Site.
type Value struct {
	// Key in the ConfigMap intent, and its Value.
	Key   string `json:"key"`
	Value string `json:"value"`

	// From is the source of the value.
	From string `json:"from"`
}

// Explain returns the values of an intent that a Blueprint can read, sorted by key, with the source of each. It returns an error for parameters
// that the Blueprint does not accept.
func Explain(in Input, explicit intent.Explicit) ([]Value, error) {
	data, err := intentValues(in, string(in.Blueprint.Spec.Files[guard.IntentFile]))
	if err != nil {
		return nil, err
	}
	out := make([]Value, 0, len(data))
	for _, key := range slices.Sorted(maps.Keys(data)) {
		out = append(out, Value{Key: key, Value: data[key], From: sourceOfValue(in, explicit, key)})
	}
	return out, nil
}

func sourceOfValue(in Input, explicit intent.Explicit, key string) string {
	if name, ok := strings.CutPrefix(key, "param-"); ok {
		return sourceOfParameter(in, name)
	}
	if name, ok := strings.CutPrefix(key, "site-"); ok {
		_, set := in.Site.Parameters[name]
		return chooseSource(set, FromSite, FromBlueprint)
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
		_, hasSiteReplicas := in.Intent.SiteReplicas[in.Site.Name]
		return chooseSource(explicit.Replicas || hasSiteReplicas, FromClaim, FromDefault)
	case "type":
		return chooseSource(explicit.Type, FromClaim, FromDefault)
	case "priority":
		return chooseSource(explicit.Priority, FromClaim, FromDefault)
	}
	if _, ok := networkValues(in.Intent, in.Site)[key]; ok {
		return sourceOfNetworkValue(in, explicit, key)
	}
	return chooseSource(set[key], FromClaim, FromBlueprint)
}

// sourceOfNetworkValue returns where a value of the intent's network comes from.
func sourceOfNetworkValue(in Input, explicit intent.Explicit, key string) string {
	switch key {
	case "slice-sst":
		return chooseSource(explicit.SST, FromClaim, FromClass)
	case "qos-latency-ms":
		return chooseSource(explicit.Latency, FromClaim, FromClass)
	case "slice-plmn":
		return chooseSource(in.Intent.Slice.PLMN != "", FromClaim, FromSite)
	}
	return FromClaim
}

func sourceOfParameter(in Input, name string) string {
	if _, ok := in.Intent.Parameters[name]; ok {
		return FromClaim
	}
	// Defaults come back beside the error that a required parameter is missing.
	described, _ := completeParameters(in.Blueprint.Spec.ParametersSchema, nil)
	if _, ok := described[name]; ok {
		return FromSchema
	}
	return FromBlueprint
}

func chooseSource(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}
