package overview

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

// A SiteEntry is what is shown of a Site that a namespace may use.
type SiteEntry struct {
	Name   string `json:"name"`
	Engine string `json:"engine,omitempty"`

	// Repository is the Site's own one. Empty means that of the deployment.
	Repository string `json:"repository,omitempty"`
	Path       string `json:"path,omitempty"`

	// TargetNamespaces that objects may be delivered to.
	TargetNamespaces []string `json:"targetNamespaces,omitempty"`

	// Checks are the kinds of checks that the Site has what they need for: Prometheus and Job.
	Checks []string `json:"checks,omitempty"`

	Parameters map[string]catalogv1alpha1.ParameterValue `json:"parameters,omitempty"`
}

// ForSite returns what is shown of a Site.
func ForSite(s *catalogv1alpha1.Site) SiteEntry {
	out := SiteEntry{Name: s.Name, Engine: string(s.Spec.Engine.Type), Path: s.Spec.Repository.Path, TargetNamespaces: s.Spec.TargetNamespaces.Allowed, Parameters: s.Spec.Parameters}
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

// SiteTable returns a line for each Site.
func SiteTable(all []SiteEntry, s Style) []string {
	cells := [][]string{{"NAME", "ENGINE", "REPOSITORY", "PATH", "NAMESPACES", "CHECKS", "PARAMETERS"}}
	for _, e := range all {
		parameters := []string{}
		for _, name := range slices.Sorted(maps.Keys(e.Parameters)) {
			parameters = append(parameters, fmt.Sprintf("%s=%s", name, oneLine(string(e.Parameters[name]))))
		}
		cells = append(cells, []string{e.Name, e.Engine, e.Repository, e.Path, strings.Join(e.TargetNamespaces, ","), strings.Join(e.Checks, ","), strings.Join(parameters, " ")})
	}
	return s.alignColumns(dropEmptyColumns(cells))
}

// A Parameter of a Blueprint.
type Parameter struct {
	Name     string `json:"name"`
	Type     string `json:"type,omitempty"`
	Required bool   `json:"required,omitempty"`

	// Default is what the Blueprint takes where an intent says nothing.
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

// A BlueprintEntry is what is shown of a Blueprint.
type BlueprintEntry struct {
	// Object is the name of the object, and Name the one that an intent says.
	Object  string   `json:"object"`
	Name    string   `json:"name,omitempty"`
	Version string   `json:"version,omitempty"`
	Channel string   `json:"channel,omitempty"`
	Types   []string `json:"types,omitempty"`

	// HasCanary says that revisions can get a share of the requests.
	HasCanary bool `json:"hasCanary,omitempty"`

	Parameters []Parameter `json:"parameters,omitempty"`
	Metrics    []Metric    `json:"metrics,omitempty"`

	// Defaults of all other values of an intent.
	Defaults map[string]string `json:"defaults,omitempty"`

	// Examples of intents.
	Examples []string `json:"examples,omitempty"`
}

const (
	// intentFile has the defaults of a Blueprint, and parameterPrefix begins the names of those of parameters in there.
	intentFile      = "intent.yaml"
	parameterPrefix = "param-"
)

// ForBlueprint returns what is shown of a Blueprint. What cannot be understood of its schema is left out: the function says so when it is used.
func ForBlueprint(b *catalogv1alpha1.Blueprint) BlueprintEntry {
	out := BlueprintEntry{
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

// defaultsOfBlueprint are the values of its intent.yaml.
func defaultsOfBlueprint(b *catalogv1alpha1.Blueprint) map[string]string {
	data := struct {
		Data map[string]string `json:"data"`
	}{}
	if err := yaml.Unmarshal([]byte(b.Spec.Files[intentFile]), &data); err != nil {
		return nil
	}
	return data.Data
}

// A parametersSchema is what is read of the JSON schema of parameters.
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
		// What cannot be understood names no parameters.
		_ = json.Unmarshal(b.Spec.ParametersSchema.Raw, &out)
	}
	return out
}

// takeParameters returns the parameters of a schema, and of the defaults, which then hold all other values.
func (e *BlueprintEntry) takeParameters(s parametersSchema) []Parameter {
	found := map[string]Parameter{}
	for name, p := range s.Properties {
		one := Parameter{Name: name, Type: p.Type, Description: oneLine(p.Description), Required: slices.Contains(s.Required, name), Default: strings.Trim(string(p.Default), `"`)}
		for _, v := range p.Enum {
			one.Allowed = append(one.Allowed, fmt.Sprint(v))
		}
		found[name] = one
	}
	for key, value := range e.Defaults {
		name, isParameter := strings.CutPrefix(key, parameterPrefix)
		if !isParameter {
			continue
		}
		one := found[name]
		one.Name, one.Default = name, value
		found[name] = one
		delete(e.Defaults, key)
	}
	var out []Parameter
	for _, name := range slices.Sorted(maps.Keys(found)) {
		out = append(out, found[name])
	}
	return out
}

// BlueprintTable returns a line for each Blueprint.
func BlueprintTable(all []BlueprintEntry, s Style) []string {
	cells := [][]string{{"NAME", "VERSION", "CHANNEL", "TYPES", "CANARY", "PARAMETERS"}}
	for _, e := range all {
		names := []string{}
		for _, p := range e.Parameters {
			names = append(names, p.Name)
		}
		canary := map[bool]string{true: "yes"}[e.HasCanary]
		name := e.Name
		if name == "" {
			name = e.Object
		}
		cells = append(cells, []string{name, e.Version, e.Channel, strings.Join(e.Types, ","), canary, strings.Join(names, " ")})
	}
	return s.alignColumns(dropEmptyColumns(cells))
}

// BlueprintLines return all that an author needs of one Blueprint.
func BlueprintLines(e BlueprintEntry, s Style) []string {
	out := BlueprintTable([]BlueprintEntry{e}, s)
	cells := [][]string{{"PARAMETER", "TYPE", "DEFAULT", "ALLOWED", "DESCRIPTION"}}
	for _, p := range e.Parameters {
		if p.Required {
			p.Default = "(required)"
		}
		cells = append(cells, []string{p.Name, p.Type, p.Default, strings.Join(p.Allowed, ","), p.Description})
	}
	out = append(out, s.section(cells)...)
	cells = [][]string{{"METRIC", "UNIT", "GOOD IF"}}
	for _, m := range e.Metrics {
		cells = append(cells, []string{m.Name, m.Unit, map[string]string{"AtMost": "at most", "AtLeast": "at least"}[m.Direction]})
	}
	out = append(out, s.section(cells)...)
	cells = [][]string{{"VALUE", "DEFAULT"}}
	for _, name := range slices.Sorted(maps.Keys(e.Defaults)) {
		cells = append(cells, []string{name, oneLine(e.Defaults[name])})
	}
	out = append(out, s.section(cells)...)
	for _, example := range e.Examples {
		out = append(out, s.labelledLines("Example:", oneLine(example))...)
	}
	return out
}

// section returns a table below an empty line, or nothing where it has no rows.
func (s Style) section(cells [][]string) []string {
	if len(cells) == 1 {
		return nil
	}
	return append([]string{""}, s.alignColumns(dropEmptyColumns(cells))...)
}
