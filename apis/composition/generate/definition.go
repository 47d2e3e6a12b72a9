package main

import (
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// maxName bounds the names of deployments: a claim's name becomes a directory, and the beginning of its composite's name.
const maxName = int64(63)

type object = map[string]any

// claimDefinition is an apiextensions.crossplane.io/v1 definition: only those offer claims. Foreground deletion keeps the
// claim until Git is clean.
func claimDefinition(v extv1.CustomResourceDefinitionVersion) object {
	return object{
		"apiVersion": "apiextensions.crossplane.io/v1",
		"kind":       "CompositeResourceDefinition",
		"metadata":   object{"name": "xintentdeployments.claims.intentplane.dev"},
		"spec": object{
			"group":                        "claims.intentplane.dev",
			"names":                        object{"kind": "XIntentDeployment", "plural": "xintentdeployments", "singular": "xintentdeployment"},
			"claimNames":                   object{"kind": "IntentDeployment", "plural": "intentdeployments", "singular": "intentdeployment", "shortNames": []string{"idc"}},
			"defaultCompositeDeletePolicy": "Foreground",
			"defaultCompositionRef":        object{"name": "xintentdeployments.claims.intentplane.dev"},
			"versions":                     versions(v),
		},
	}
}

func namespacedDefinition(v extv1.CustomResourceDefinitionVersion) object {
	return object{
		"apiVersion": "apiextensions.crossplane.io/v2",
		"kind":       "CompositeResourceDefinition",
		"metadata":   object{"name": "intentdeployments.intentplane.dev"},
		"spec": object{
			"group":                 "intentplane.dev",
			"scope":                 "Namespaced",
			"names":                 object{"kind": "IntentDeployment", "plural": "intentdeployments", "singular": "intentdeployment", "shortNames": []string{"idep"}},
			"defaultCompositionRef": object{"name": "intentdeployments.intentplane.dev"},
			"versions":              versions(v),
		},
	}
}

func versions(v extv1.CustomResourceDefinitionVersion) []object {
	return []object{{
		"name":                     v.Name,
		"served":                   true,
		"referenceable":            true,
		"additionalPrinterColumns": v.AdditionalPrinterColumns,
		"schema":                   object{"openAPIV3Schema": schema(v.Schema.OpenAPIV3Schema)},
	}}
}

// schema leaves what Crossplane carries over from a definition: the description, spec, status, and a bound on the name.
func schema(s *extv1.JSONSchemaProps) object {
	longest := maxName
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

// composition has one step: the function decides everything.
func composition(name, apiVersion, kind string) object {
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
