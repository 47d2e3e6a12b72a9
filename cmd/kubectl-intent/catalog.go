package main

import (
	"encoding/json"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/function"
	"github.com/intentplane/intentplane/function/catalog"
)

const configVersion = "config.intentplane.dev/v1alpha1"

// catalogFlags name the files that stand for a cluster's catalog.
type catalogFlags struct {
	Site      []string `help:"File with Sites."                                       sep:"none"`
	Blueprint []string `help:"File with Blueprints."                                  sep:"none"`
	Config    []string `help:"File with ProviderConfigs and ClusterProviderConfigs. Absent means that their limits are not looked at." sep:"none"`
}

func (f catalogFlags) given() bool { return len(f.Site) > 0 && len(f.Blueprint) > 0 }

// an item of a catalog.
type item struct {
	meta metav1.PartialObjectMetadata
	raw  json.RawMessage
}

// files answer needs as a cluster would.
type files struct {
	items   []item
	configs bool
}

func (f catalogFlags) read(in io.Reader) (*files, error) {
	out := &files{configs: len(f.Config) > 0}
	for _, name := range f.Site {
		sites, err := readAll[catalogv1alpha1.Site](in, name, "Site", catalogVersion)
		if err != nil {
			return nil, err
		}
		for i := range sites {
			defaultSite(&sites[i])
		}
		if err := add(out, sites); err != nil {
			return nil, err
		}
	}
	for _, name := range f.Blueprint {
		blueprints, err := readAll[catalogv1alpha1.Blueprint](in, name, "Blueprint", catalogVersion)
		if err != nil {
			return nil, err
		}
		if err := add(out, blueprints); err != nil {
			return nil, err
		}
	}
	return out, f.readConfigs(in, out)
}

func (f catalogFlags) readConfigs(in io.Reader, out *files) error {
	for _, name := range f.Config {
		documents, err := readDocuments(in, name)
		if err != nil {
			return err
		}
		// Both kinds have the same spec.
		for _, kind := range []string{policy.KindProviderConfig, policy.KindClusterProviderConfig} {
			configs, err := decodeAll[configv1alpha1.ClusterProviderConfig](documents, name, kind, configVersion)
			if err != nil {
				return err
			}
			if err := add(out, configs); err != nil {
				return err
			}
		}
	}
	return nil
}

// defaultSite sets what the schema would set.
func defaultSite(s *catalogv1alpha1.Site) {
	if s.Spec.TargetNamespaces.Allowed == nil {
		s.Spec.TargetNamespaces.Allowed = []string{"{claimNamespace}"}
	}
}

func add[T any](to *files, objects []T) error {
	for i := range objects {
		raw, err := json.Marshal(objects[i])
		if err != nil {
			return errors.Wrap(err, "cannot encode the catalog")
		}
		one := item{raw: raw}
		if err := json.Unmarshal(raw, &one.meta); err != nil {
			return errors.Wrap(err, "cannot decode the catalog")
		}
		to.items = append(to.items, one)
	}
	return nil
}

// answer needs. Where no file has configurations, one without limits stands for each.
func (f *files) answer(needs []catalog.Need) catalog.Answers {
	out := catalog.Answers{}
	for _, n := range needs {
		out[n.Name] = []json.RawMessage{}
		for _, i := range f.items {
			if fits(n, i.meta) {
				out[n.Name] = append(out[n.Name], i.raw)
			}
		}
		if n.APIVersion == configVersion && !f.configs {
			out[n.Name] = []json.RawMessage{unlimited(n.MatchName)}
		}
	}
	return out
}

func fits(n catalog.Need, o metav1.PartialObjectMetadata) bool {
	for key, value := range n.MatchLabels {
		if o.Labels[key] != value {
			return false
		}
	}
	return o.Kind == n.Kind && o.Namespace == n.Namespace && (n.MatchName == "" || n.MatchName == o.Name)
}

func unlimited(name string) json.RawMessage {
	c := configv1alpha1.ClusterProviderConfig{}
	c.Spec.Git.URL, c.Spec.Git.Branch = "https://"+name+".invalid", "main"
	// What has no functions always encodes.
	b, _ := json.Marshal(c) //nolint:errchkjson // See above.
	return b
}

// compile compiles a claim as the function does.
func (f *files) compile(c *deploymentv1alpha1.IntentDeployment) (function.Input, *function.Compiled, error) {
	gvk := c.GroupVersionKind()
	in := function.Input{
		Claim: rolloutv1alpha1.ClaimReference{APIGroup: gvk.Group, Kind: gvk.Kind, Namespace: c.GetNamespace(), Name: c.GetName()},
		Spec:  *c.Spec.DeepCopy(),
	}
	in.Spec.Default()
	compiled, err := function.Compile(in, f.answer)
	return in, compiled, err
}
