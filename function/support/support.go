// Package support names the fields that are in the schemas and do nothing yet, so that none is silently ignored.
package support

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/intent"
)

// field is the path of a field that does nothing yet. Values that change nothing may be said all the same.
type field struct {
	path     string
	harmless []string
}

func specFields() []field {
	return []field{
		{path: "deliveryConfig.clusterWaitTimeout"},
		{path: "gatesConfig.sloThresholds"},
		{path: "gatesConfig.checks"},
		{path: "gatesConfig.postCheck"},
		{path: "rollbackConfig.attemptTimeout"},
		{path: "rollbackConfig.maxPerHour"},
		{path: "rollbackConfig.maxRetries"},
		{path: "rollbackConfig.retainFailedArtifacts"},
	}
}

func siteFields() []field {
	return []field{
		{path: "cluster.clusterRef"},
		{path: "metrics"},
		{path: "postCheck"},
	}
}

func blueprintFields() []field {
	return []field{{path: "metrics"}, {path: "irreversible"}}
}

func configFields() []field {
	return []field{
		{path: "metrics"},
		{path: "notifications"},
		{path: "policy.webCheckHosts"},
		{path: "policy.workspaceTemplates"},
	}
}

// Spec names the fields of a spec that are set and do nothing yet. It returns an error when the spec cannot be encoded.
func Spec(s *deploymentv1alpha1.IntentDeploymentSpec) ([]string, error) {
	set, err := digest.Set(s)
	if err != nil {
		return nil, err
	}
	return named(set, specFields(), "spec."), nil
}

// Intent names what an intent says that does nothing yet.
func Intent(i intent.Intent) []string {
	if len(i.SLOs) == 0 {
		return nil
	}
	return []string{"spec.intent: service level objectives"}
}

// Selection names the fields of the Sites, the Blueprint and the configurations used that are set and do nothing yet. It
// returns an error when one of them cannot be encoded.
func Selection(s *catalog.Selection) ([]string, error) {
	out, err := object(s.Blueprint.Spec, blueprintFields(), fmt.Sprintf("Blueprint %s: spec.", s.Blueprint.GetName()))
	if err != nil {
		return nil, err
	}
	for _, p := range s.Places {
		site, err := object(p.Site.Spec, siteFields(), fmt.Sprintf("Site %s: spec.", p.Site.GetName()))
		if err != nil {
			return nil, err
		}
		config, err := object(p.Config, configFields(), fmt.Sprintf("%s %s: spec.", p.ConfigRef.Kind, p.ConfigRef.Name))
		if err != nil {
			return nil, err
		}
		out = append(append(out, site...), config...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func object(spec any, fields []field, prefix string) ([]string, error) {
	b, err := json.Marshal(spec)
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode spec")
	}
	set := map[string]any{}
	if err := json.Unmarshal(b, &set); err != nil {
		return nil, errors.Wrap(err, "cannot decode spec")
	}
	return named(set, fields, prefix), nil
}

func named(set map[string]any, fields []field, prefix string) []string {
	var out []string
	for _, f := range fields {
		v, found, err := unstructured.NestedFieldNoCopy(set, strings.Split(f.path, ".")...)
		if err != nil || !found || slices.Contains(f.harmless, fmt.Sprint(v)) {
			continue
		}
		out = append(out, prefix+f.path)
	}
	return out
}
