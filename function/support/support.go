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

// specFields and the like are the paths of fields that do nothing yet.
func specFields() []string {
	return []string{
		"deliveryConfig.clusterWaitTimeout",
		"gatesConfig.sloThresholds",
		"gatesConfig.checks",
		"gatesConfig.postCheck",
		"rollbackConfig.retainFailedArtifacts",
	}
}

func siteFields() []string {
	return []string{
		"cluster.clusterRef",
		"metrics",
		"postCheck",
	}
}

func blueprintFields() []string {
	return []string{"metrics", "irreversible"}
}

func configFields() []string {
	return []string{
		"metrics",
		"notifications",
		"policy.webCheckHosts",
		"policy.workspaceTemplates",
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

func object(spec any, fields []string, prefix string) ([]string, error) {
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

func named(set map[string]any, fields []string, prefix string) []string {
	var out []string
	for _, f := range fields {
		_, found, err := unstructured.NestedFieldNoCopy(set, strings.Split(f, ".")...)
		if err != nil || !found {
			continue
		}
		out = append(out, prefix+f)
	}
	return out
}
