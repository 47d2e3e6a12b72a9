// Package policy holds the limits that a tenant may not cross. It is pure, and used twice: by the function on its rendered objects, and by the provider on
// the trees that it is about to write, so that a managed resource written by hand gets no further than a claim.
package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/utils/ptr"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/schema"
	"github.com/intentplane/intentplane/apis/tree"
)

// Kinds of configurations.
const (
	// KindProviderConfig is the kind of a namespace's own configuration.
	KindProviderConfig = "ProviderConfig"

	// KindClusterProviderConfig is the kind of a configuration that several namespaces may use.
	KindClusterProviderConfig = "ClusterProviderConfig"
)

const (
	every           = "*"
	ownNamespace    = "{claimNamespace}"
	defaultMaxSites = 100
	// defaultMaxPublished is the number of Sites that the clusters of a namespace may publish without a limit in a ClusterProviderConfig.
	defaultMaxPublished = 20
	kustomizationRef    = "kustomization.yaml"
)

// Input is one directory of a delivery, and the sources of its limits.
type Input struct {
	// Claim that is delivered.
	Claim rolloutv1alpha1.ClaimReference

	// Site that the directory is for.
	Site *catalogv1alpha1.Site

	// ConfigKind is ProviderConfig or ClusterProviderConfig.
	ConfigKind string

	// Config of the repository.
	Config *configv1alpha1.ProviderConfigSpec

	// Branch and Path of the directory.
	Branch, Path string

	// Layout of the directory.
	Layout catalogv1alpha1.Layout

	// Files of the directory.
	Files tree.Files

	// DeliveredVariables are the names of the variables that the directory has since its last delivery: the engine replaces them already.
	DeliveredVariables []string

	// AllowsDuplicates admits keys of lists that occur twice, as for files that an engine with client-side apply runs already.
	AllowsDuplicates bool

	// Definitions of custom resources that objects are checked by too. Nil checks Kubernetes' own kinds only.
	Definitions *schema.Set
}

// Directory is the permanent directory of a claim's files for one Site.
func Directory(prefix, sitePath, namespace, name string) string {
	return path.Join(prefix, sitePath, namespace, name)
}

// CheckConfig returns an error when a namespace may not use a configuration.
func CheckConfig(kind string, c *configv1alpha1.ProviderConfigSpec, namespace string) error {
	// A ProviderConfig can only be named from its own namespace.
	if kind != KindClusterProviderConfig || len(c.Policy.AllowedNamespaces) == 0 || containsOrStar(c.Policy.AllowedNamespaces, namespace) {
		return nil
	}
	return errors.Errorf("spec.policy.allowedNamespaces: the configuration may not be used from namespace %q", namespace)
}

// CheckSiteName returns an error when a cluster may not publish a Site under a name that is not its own. In a pattern * stands for any
// characters but a dot, so that none takes a name that is a namespace's.
func CheckSiteName(kind string, c *configv1alpha1.ProviderConfigSpec, name string) error {
	allowed := func(pattern string) bool { return matchesParts(pattern, name) }
	if kind != KindClusterProviderConfig || !slices.ContainsFunc(c.Policy.SiteNames, allowed) {
		return errors.Errorf("%q is not among the siteNames of a ClusterProviderConfig", name)
	}
	return nil
}

// matchesParts reports whether a name matches a pattern in which * stands for any characters but a dot.
func matchesParts(pattern, name string) bool {
	parts := strings.NewReplacer(".", "/")
	ok, err := path.Match(parts.Replace(pattern), parts.Replace(name))
	return ok && err == nil
}

// CheckPublished returns an error when a namespace has published as many Sites as it may. A ProviderConfig only narrows: it allows no more
// than the default.
func CheckPublished(kind string, c *configv1alpha1.ProviderConfigSpec, published int) error {
	if limit := configuredLimit(kind, c.Policy.MaxPublishedSites, defaultMaxPublished); published >= limit {
		return errors.Errorf("the namespace has published %d Sites, and spec.policy.maxPublishedSites of the configuration allows %d", published, limit)
	}
	return nil
}

// configuredLimit returns the limit of a configuration, or the default. A ProviderConfig, which its tenant writes, cannot raise it.
func configuredLimit(kind string, set *int32, byDefault int32) int {
	limit := ptr.Deref(set, byDefault)
	if kind != KindClusterProviderConfig {
		limit = min(limit, byDefault)
	}
	return int(limit)
}

// CheckSite returns an error when a namespace may not use a Site. It does not check other fields of the Site.
func CheckSite(s *catalogv1alpha1.Site, namespace string) error {
	if containsOrStar(s.Spec.AllowedNamespaces, namespace) {
		return nil
	}
	return errors.Errorf("Site %q does not exist or may not be used from namespace %q", s.GetName(), namespace)
}

// HasLabels is true for a Site that has all labels of a selector.
func HasLabels[V ~string](s *catalogv1alpha1.Site, matchLabels map[string]V) bool {
	for key, value := range matchLabels {
		if label, ok := s.GetLabels()[key]; !ok || label != string(value) {
			return false
		}
	}
	return true
}

// CheckCount returns an error when a delivery has more Sites than the configuration allows. A ProviderConfig only narrows: it
// allows no more than the default.
func CheckCount(kind string, c *configv1alpha1.ProviderConfigSpec, sites int) error {
	if limit := configuredLimit(kind, c.Policy.MaxSites, defaultMaxSites); sites > limit {
		return errors.Errorf("spec.policy.maxSites: %d Sites are more than the %d that the configuration allows", sites, limit)
	}
	return nil
}

// CheckPlace returns an error when a claim may not write to the branch or the path of a directory. It needs no files.
func CheckPlace(in Input) error {
	if err := CheckSite(in.Site, in.Claim.Namespace); err != nil {
		return err
	}
	want := Directory(in.Config.Git.PathPrefix, in.Site.Spec.Repository.Path, in.Claim.Namespace, in.Claim.Name)
	if in.Path != want {
		return errors.Errorf("path: %q is not the claim's directory at Site %q, which is %q", in.Path, in.Site.GetName(), want)
	}
	if in.Layout != in.Site.Spec.Repository.Layout {
		return errors.Errorf("layout: %q is not the layout of Site %q, which is %q", in.Layout, in.Site.GetName(), in.Site.Spec.Repository.Layout)
	}
	branches := in.Config.Policy.Branches
	if len(branches) > 0 && !slices.Contains(branches, in.Branch) {
		return errors.Errorf("spec.policy.branches: branch %q may not be written", in.Branch)
	}
	if in.Branch != in.Config.Git.Branch {
		return errors.Errorf("branch: %q is not the configuration's branch %q", in.Branch, in.Config.Git.Branch)
	}
	return nil
}

// CheckTree returns an error, which names the file and the object, when a claim may not write a directory: its place, the
// form of its files, and the kind, the namespace and the structure of each object in them. It returns an InvalidError when nothing
// but the structure of an object is wrong.
func CheckTree(in Input) error {
	if err := CheckPlace(in); err != nil {
		return err
	}
	if err := in.Files.Validate(); err != nil {
		return err
	}
	for _, name := range in.Files.Names() {
		if err := checkFileObjects(in, name); err != nil {
			return errors.Wrapf(err, "Site %q: %s", in.Site.GetName(), name)
		}
	}
	return checkKustomizations(in)
}

func checkFileObjects(in Input, name string) error {
	if path.Base(name) == kustomizationRef && in.Layout != catalogv1alpha1.LayoutManifests {
		return nil // checkKustomizations looks at them together.
	}
	objects, err := decodeObjects(name, in.Files[name])
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := checkObject(in, o); err != nil {
			return err
		}
	}
	return nil
}

func containsOrStar(names []string, name string) bool {
	return slices.Contains(names, every) || slices.Contains(names, name)
}
