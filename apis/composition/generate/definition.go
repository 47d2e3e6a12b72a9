package main

import (
	"cmp"
	"strings"

	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const (
	// maxName bounds the names of claims: a claim's name becomes a directory or that of a cluster, and the beginning of its composite's
	// name.
	maxName = int64(63)

	// maxServiceName bounds the names of claims that name a service.
	maxServiceName = int64(52)
)

type object = map[string]any

// A kind is an API kind with both shapes.
type kind struct {
	// name of the claim and of the namespaced composite. The composite behind a claim has an X before it.
	name string

	// claimShort and short are the short names of the claim and of the namespaced composite.
	claimShort, short string

	// source is the folder of the types, and prefix begins the names of the files that are written.
	source, prefix string

	// folder has the files of both shapes. Without one each shape has a folder.
	folder string

	// longest name of an object. 0 means maxName.
	longest int64
}

func compositeKinds() []kind {
	return []kind{
		{name: "IntentDeployment", claimShort: "idc", short: "idep", source: "apis/deployment"},
		{name: "WorkloadCluster", claimShort: "wcc", short: "wcl", source: "apis/workloadcluster", prefix: "workloadcluster-"},
		{name: "Application", claimShort: "iappc", short: "iapp", source: "apis/application", folder: "applications", longest: maxServiceName},
		{name: "Bundle", claimShort: "ibundlec", short: "ibundle", source: "apis/bundle", folder: "applications", prefix: "bundle-"},
	}
}

func (k kind) singularName() string { return strings.ToLower(k.name) }
func (k kind) pluralName() string   { return k.singularName() + "s" }

// claimsName is the name of the definition and the Composition of the claim, and namespaced the name for the other shape.
func (k kind) claimsName() string     { return "x" + k.pluralName() + ".claims.intentplane.dev" }
func (k kind) namespacedName() string { return k.pluralName() + ".intentplane.dev" }

// claimDefinition is an apiextensions.crossplane.io/v1 definition: only that version offers claims. Foreground deletion keeps the claim until its composed
// resources are deleted.
func claimDefinition(k kind, v extv1.CustomResourceDefinitionVersion) object {
	return object{
		"apiVersion": "apiextensions.crossplane.io/v1",
		"kind":       "CompositeResourceDefinition",
		"metadata":   object{"name": k.claimsName()},
		"spec": object{
			"group":                        "claims.intentplane.dev",
			"names":                        object{"kind": "X" + k.name, "plural": "x" + k.pluralName(), "singular": "x" + k.singularName()},
			"claimNames":                   object{"kind": k.name, "plural": k.pluralName(), "singular": k.singularName(), "shortNames": []string{k.claimShort}},
			"defaultCompositeDeletePolicy": "Foreground",
			"defaultCompositionRef":        object{"name": k.claimsName()},
			"versions":                     definitionVersions(k, v),
		},
	}
}

func namespacedDefinition(k kind, v extv1.CustomResourceDefinitionVersion) object {
	return object{
		"apiVersion": "apiextensions.crossplane.io/v2",
		"kind":       "CompositeResourceDefinition",
		"metadata":   object{"name": k.namespacedName()},
		"spec": object{
			"group":                 "intentplane.dev",
			"scope":                 "Namespaced",
			"names":                 object{"kind": k.name, "plural": k.pluralName(), "singular": k.singularName(), "shortNames": []string{k.short}},
			"defaultCompositionRef": object{"name": k.namespacedName()},
			"versions":              definitionVersions(k, v),
		},
	}
}

func definitionVersions(k kind, v extv1.CustomResourceDefinitionVersion) []object {
	return []object{{
		"name": v.Name, "served": true, "referenceable": true,
		"additionalPrinterColumns": v.AdditionalPrinterColumns,
		"schema":                   object{"openAPIV3Schema": definitionSchema(k, v.Schema.OpenAPIV3Schema)},
	}}
}

// definitionSchema keeps the parts that Crossplane copies from a definition: the description, spec, status, and a bound on the name.
func definitionSchema(k kind, s *extv1.JSONSchemaProps) object {
	longest := cmp.Or(k.longest, maxName)
	return object{
		"type":        "object",
		"description": s.Description,
		"properties": object{
			"metadata": extv1.JSONSchemaProps{
				Type:       "object",
				Properties: map[string]extv1.JSONSchemaProps{"name": {Type: "string", MaxLength: &longest}},
			},
			"spec":   s.Properties["spec"],
			"status": s.Properties["status"],
		},
		"required": []string{"spec"},
	}
}

// newComposition has one step: the function decides everything.
func newComposition(name, apiVersion, kind string) object {
	return object{
		"apiVersion": "apiextensions.crossplane.io/v1",
		"kind":       "Composition",
		"metadata":   object{"name": name},
		"spec": object{
			"compositeTypeRef": object{"apiVersion": apiVersion, "kind": kind},
			"mode":             "Pipeline",
			"pipeline": []object{{
				"step":        "intentplane",
				"functionRef": object{"name": "intentplane-function-intentplane"},
			}},
		},
	}
}
