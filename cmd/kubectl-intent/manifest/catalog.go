package manifest

import (
	"context"
	"encoding/json"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/connection"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compile"
	"github.com/intentplane/intentplane/function/offline"
)

// CatalogVersion is the API version of Sites and Blueprints.
const CatalogVersion = "catalog.intentplane.dev/v1alpha1"

const configVersion = "config.intentplane.dev/v1alpha1"

// CatalogFlags name the files that stand for a cluster's catalog, and the cluster.
type CatalogFlags struct {
	connection.Flags

	Live      bool     `help:"Read Sites, Blueprints and configurations that no file gives from the cluster."`
	Site      []string `help:"File with Sites."                                       predictor:"file" sep:"none"`
	Blueprint []string `help:"File with Blueprints."                                  predictor:"file" sep:"none"`
	Config    []string `help:"File with ProviderConfigs and ClusterProviderConfigs. Where none are given, and --live is not, their limits are not looked at." predictor:"file" sep:"none"`
}

// IsComplete is true where all objects are given that a deployment needs.
func (f CatalogFlags) IsComplete() bool { return f.Live || len(f.Site) > 0 && len(f.Blueprint) > 0 }

// IsIncomplete is true where only one of two flags that are required together is given.
func (f CatalogFlags) IsIncomplete() bool {
	return !f.Live && len(f.Site) > 0 != (len(f.Blueprint) > 0)
}

// An item is an object of a catalog.
type item struct {
	meta metav1.PartialObjectMetadata
	raw  json.RawMessage
}

// A Catalog answers needs as Crossplane would, from files and from a cluster. Kinds that a file was given for come from files alone.
type Catalog struct {
	// Cluster that has the kinds of which no file was given, or nil.
	Cluster *cluster.Cluster

	// Prefix of paths, used where configurations are missing.
	Prefix string

	items     []item
	inFiles   map[string]bool
	namespace string

	// stays says that a deployment stays with the Blueprint that its status names, where a user has to approve updates.
	stays bool
}

// ReadCatalog reads the catalog of the files, and connects to the cluster where the flags ask for it.
func (f CatalogFlags) ReadCatalog(in io.Reader) (*Catalog, error) {
	out := &Catalog{namespace: f.Namespace, inFiles: map[string]bool{
		"Site": len(f.Site) > 0, "Blueprint": len(f.Blueprint) > 0,
		policy.KindProviderConfig: len(f.Config) > 0, policy.KindClusterProviderConfig: len(f.Config) > 0,
	}}
	for _, read := range []func(io.Reader, *Catalog) error{f.readSiteFiles, f.readBlueprints, f.readConfigs} {
		if err := read(in, out); err != nil {
			return nil, err
		}
	}
	if !f.Live {
		return out, nil
	}
	c, err := f.OpenCluster()
	if err != nil {
		return nil, terminal.UsageError{Err: err}
	}
	out.Cluster, out.namespace = c, c.Namespace()
	return out, nil
}

func (f CatalogFlags) readSiteFiles(in io.Reader, out *Catalog) error {
	return addFromFiles(in, out, f.Site, "Site", defaultSite)
}

// addFromFiles adds the objects of a kind that files hold, each completed as the API server or the provider does it.
func addFromFiles[T any](in io.Reader, out *Catalog, files []string, kind string, complete func(*T)) error {
	for _, name := range files {
		objects, err := ReadObjects[T](in, name, kind, CatalogVersion)
		if err != nil {
			return err
		}
		for i := range objects {
			complete(&objects[i])
		}
		if err := addToCatalog(out, objects); err != nil {
			return err
		}
	}
	return nil
}

func (f CatalogFlags) readBlueprints(in io.Reader, out *Catalog) error {
	return addFromFiles(in, out, f.Blueprint, "Blueprint", func(b *catalogv1alpha1.Blueprint) {
		meta.AddLabels(b, map[string]string{catalogv1alpha1.LabelListed: catalogv1alpha1.ListedTrue}) // As the provider does.
	})
}

func (f CatalogFlags) readConfigs(in io.Reader, out *Catalog) error {
	for _, name := range f.Config {
		documents, err := ReadDocuments(in, name)
		if err != nil {
			return err
		}
		// Both kinds have the same spec.
		for _, kind := range []string{policy.KindProviderConfig, policy.KindClusterProviderConfig} {
			configs, err := decodeObjects[configv1alpha1.ClusterProviderConfig](documents, kind, configVersion)
			if err != nil {
				return err
			}
			if err := addToCatalog(out, configs); err != nil {
				return err
			}
		}
	}
	return nil
}

// HasConfigs reports whether there are configurations, whose limits hold.
func (s *Catalog) HasConfigs() bool { return s.Cluster != nil || s.inFiles[policy.KindProviderConfig] }

// SetNamespace puts a deployment that names no namespace where kubectl would.
func (s *Catalog) SetNamespace(c *deploymentv1alpha1.IntentDeployment) {
	if c.GetNamespace() == "" {
		c.SetNamespace(s.namespace)
	}
}

// defaultSite sets the defaults of the schema and of the provider.
func defaultSite(s *catalogv1alpha1.Site) {
	if s.Spec.TargetNamespaces.Allowed == nil {
		s.Spec.TargetNamespaces.Allowed = []string{"{claimNamespace}"}
	}
	s.SetUsableFrom()
}

func addToCatalog[T any](target *Catalog, objects []T) error {
	for i := range objects {
		raw, err := json.Marshal(objects[i])
		if err != nil {
			return errors.Wrap(err, "cannot encode the catalog")
		}
		entry := item{raw: raw}
		if err := json.Unmarshal(raw, &entry.meta); err != nil {
			return errors.Wrap(err, "cannot decode the catalog")
		}
		target.items = append(target.items, entry)
	}
	return nil
}

// answerNeeds answers needs of the catalog. It returns an error for unreadable objects of the cluster.
func (s *Catalog) answerNeeds(needs []catalog.Need) (catalog.Answers, error) {
	out := catalog.Answers{}
	for _, n := range needs {
		found, err := s.findObjects(n)
		if err != nil {
			return nil, err
		}
		out[n.Name] = found
	}
	return out, nil
}

// findObjects returns the objects that one need selects. Where configurations are missing, one without limits stands for each.
func (s *Catalog) findObjects(n catalog.Need) ([]json.RawMessage, error) {
	switch {
	case !s.inFiles[n.Kind] && s.Cluster != nil:
		return s.Cluster.Answer(context.Background(), n)
	case !s.inFiles[n.Kind] && n.APIVersion == configVersion:
		return []json.RawMessage{configWithoutLimits(n.MatchName, s.Prefix)}, nil
	}
	out := []json.RawMessage{}
	for _, i := range s.items {
		if matchesNeed(n, i.meta) {
			out = append(out, i.raw)
		}
	}
	return out, nil
}

func matchesNeed(n catalog.Need, o metav1.PartialObjectMetadata) bool {
	for key, value := range n.MatchLabels {
		if o.Labels[key] != value {
			return false
		}
	}
	return o.Kind == n.Kind && o.Namespace == n.Namespace && (n.MatchName == "" || n.MatchName == o.Name)
}

func configWithoutLimits(name, prefix string) json.RawMessage {
	c := configv1alpha1.ClusterProviderConfig{}
	c.Spec.Git.URL, c.Spec.Git.Branch = "https://"+name+".invalid", "main"
	c.Spec.Git.PathPrefix = prefix
	// A value without functions always encodes.
	b, _ := json.Marshal(c) //nolint:errchkjson // See above.
	return b
}

// CompileDeployment compiles a claim as the function does.
func (s *Catalog) CompileDeployment(c *deploymentv1alpha1.IntentDeployment) (compile.Deployment, *offline.Compiled, error) {
	gvk := c.GroupVersionKind()
	in := compile.Deployment{
		Claim: rolloutv1alpha1.ClaimReference{APIGroup: gvk.Group, Kind: gvk.Kind, Namespace: c.GetNamespace(), Name: c.GetName()},
		Spec:  *c.Spec.DeepCopy(),
	}
	if s.stays {
		in.Status.Blueprint = c.Status.Blueprint
	}
	in.Spec.Default()
	compiled, err := offline.Compile(in, s.answerNeeds)
	return in, compiled, err
}
