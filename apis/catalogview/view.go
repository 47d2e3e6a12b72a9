// Package catalogview has the user's view of the catalog of a namespace: its Sites and Blueprints, without details for the platform team. The provider
// publishes it in each namespace, and the command line shows it. The package is pure.
package catalogview

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/intentplane/intentplane/apis/boundedyaml"
	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/apis/oneline"
)

// A Site is the user's view of a Site that the namespace may use. It names no other namespace that may use it, no cluster, no Secret and no server.
type Site struct {
	Name string `json:"name"`

	// Labels that a deployment can select the Site by.
	Labels map[string]string `json:"labels,omitempty"`

	// Engine that applies the repository at the Site.
	Engine string `json:"engine,omitempty"`

	// Repository is the configuration of the Site's own repository. Empty means that of the deployment.
	Repository string `json:"repository,omitempty"`

	// Path of the Site's directory in the repository.
	Path string `json:"path,omitempty"`

	// TargetNamespaces that objects may be delivered to.
	TargetNamespaces []string `json:"targetNamespaces,omitempty"`

	// Checks are the types of checks that the Site is configured for: Prometheus and Job.
	Checks []string `json:"checks,omitempty"`

	// Parameters of the Site, which Blueprints use.
	Parameters map[string]catalogv1alpha1.ParameterValue `json:"parameters,omitempty"`
}

// ForSite returns the user's view of a Site.
func ForSite(s *catalogv1alpha1.Site) Site {
	out := Site{
		Name: s.Name, Labels: selectableLabels(s.Labels), Engine: string(s.Spec.Engine.Type), Path: s.Spec.Repository.Path,
		TargetNamespaces: s.Spec.TargetNamespaces.Allowed, Parameters: s.Spec.Parameters,
	}
	if ref := s.Spec.Repository.ProviderConfigRef; ref != nil {
		out.Repository = ref.Name
	}
	if s.Spec.Metrics != nil && s.Spec.Metrics.Prometheus != nil {
		out.Checks = append(out.Checks, "Prometheus")
	}
	if s.Spec.PostCheck != nil {
		out.Checks = append(out.Checks, "Job")
	}
	return out
}

// selectableLabels returns the labels of a Site for selectors of users. LabelUsableFrom is left out: it may name another namespace until the provider
// updates it.
func selectableLabels(labels map[string]string) map[string]string {
	out := maps.Clone(labels)
	delete(out, catalogv1alpha1.LabelUsableFrom)
	if len(out) == 0 {
		return nil
	}
	return out
}

// A Parameter of a Blueprint.
type Parameter struct {
	Name     string `json:"name"`
	Type     string `json:"type,omitempty"`
	Required bool   `json:"required,omitempty"`

	// Default is the Blueprint's value for an intent without the parameter.
	Default     string   `json:"default,omitempty"`
	Allowed     []string `json:"allowed,omitempty"`
	Description string   `json:"description,omitempty"`
}

// A Metric of a Blueprint, for which an intent may set a threshold.
type Metric struct {
	Name      string `json:"name"`
	Unit      string `json:"unit,omitempty"`
	Direction string `json:"direction,omitempty"`
}

// A Blueprint is the user's view of a Blueprint. Each namespace may use each of them.
type Blueprint struct {
	// Object is the name of the object, and Name the name in an intent.
	Object  string   `json:"object"`
	Name    string   `json:"name,omitempty"`
	Version string   `json:"version,omitempty"`
	Channel string   `json:"channel,omitempty"`
	Types   []string `json:"types,omitempty"`

	// HasCanary is true if revisions can get a share of the requests.
	HasCanary bool `json:"hasCanary,omitempty"`

	Parameters []Parameter `json:"parameters,omitempty"`
	Metrics    []Metric    `json:"metrics,omitempty"`

	// Defaults of all other values of an intent.
	Defaults map[string]string `json:"defaults,omitempty"`

	// Examples of intents.
	Examples []string `json:"examples,omitempty"`
}

const (
	// intentFile has the defaults of a Blueprint, and parameterPrefix begins the names of parameters in it.
	intentFile      = "intent.yaml"
	parameterPrefix = "param-"
)

// ForBlueprint returns the user's view of a Blueprint. Parts of its schema that cannot be decoded are left out: the function reports them when the
// Blueprint is used.
func ForBlueprint(b *catalogv1alpha1.Blueprint) Blueprint {
	out := Blueprint{
		Object: b.Name, Name: b.Spec.BlueprintName, Version: b.Spec.Version, Channel: b.Labels[catalogv1alpha1.LabelChannel], Types: b.Spec.ServiceTypes,
		HasCanary: b.Spec.Canary != nil, Defaults: defaultsOfBlueprint(b),
	}
	for _, m := range b.Spec.Metrics {
		out.Metrics = append(out.Metrics, Metric{Name: m.Name, Unit: m.Unit, Direction: string(m.Direction)})
	}
	for _, e := range b.Spec.Examples {
		out.Examples = append(out.Examples, e.Intent)
	}
	out.Parameters = out.takeParameters(schemaOfBlueprint(b))
	return out
}

// defaultsOfBlueprint returns the values of its intent.yaml.
func defaultsOfBlueprint(b *catalogv1alpha1.Blueprint) map[string]string {
	data := struct {
		Data map[string]string `json:"data"`
	}{}
	if err := boundedyaml.Unmarshal([]byte(b.Spec.Files[intentFile]), &data); err != nil {
		return nil
	}
	return data.Data
}

// A parametersSchema is the decoded part of the JSON schema of parameters.
type parametersSchema struct {
	Required   []string `json:"required"`
	Properties map[string]struct {
		Type        string          `json:"type"`
		Description string          `json:"description"`
		Default     json.RawMessage `json:"default"`
		Enum        []any           `json:"enum"`
	} `json:"properties"`
}

func schemaOfBlueprint(b *catalogv1alpha1.Blueprint) parametersSchema {
	out := parametersSchema{}
	if b.Spec.ParametersSchema != nil {
		// A schema that cannot be decoded names no parameters.
		_ = json.Unmarshal(b.Spec.ParametersSchema.Raw, &out)
	}
	return out
}

// takeParameters returns the parameters of a schema, and of the defaults, which then hold all other values.
func (b *Blueprint) takeParameters(s parametersSchema) []Parameter {
	found := map[string]Parameter{}
	for name, p := range s.Properties {
		parameter := Parameter{Name: name, Type: p.Type, Description: oneline.Clean(p.Description, 0), Required: slices.Contains(s.Required, name), Default: strings.Trim(string(p.Default), `"`)}
		for _, v := range p.Enum {
			parameter.Allowed = append(parameter.Allowed, fmt.Sprint(v))
		}
		found[name] = parameter
	}
	for key, value := range b.Defaults {
		name, isParameter := strings.CutPrefix(key, parameterPrefix)
		if !isParameter {
			continue
		}
		parameter := found[name]
		parameter.Name, parameter.Default = name, value
		found[name] = parameter
		delete(b.Defaults, key)
	}
	var out []Parameter
	for _, name := range slices.Sorted(maps.Keys(found)) {
		out = append(out, found[name])
	}
	return out
}
