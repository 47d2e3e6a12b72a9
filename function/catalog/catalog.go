package catalog

import (
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
)

// Query is what a deployment says about the catalog.
type Query struct {
	// Namespace and Name of the deployment.
	Namespace, Name string

	// ServiceType of the intent.
	ServiceType string

	// IntentSites that the intent names, or IntentLabels that it selects Sites by, and IntentField, the field that does so.
	IntentSites  []string
	IntentLabels map[string]string
	IntentField  string

	// UnquotedSites are those of IntentSites that plain language says without quotes, and that the deployment was not delivered to. One that
	// does not exist is refused instead of waited for.
	UnquotedSites []string

	// DeliveredSites are those that the deployment was delivered to last.
	DeliveredSites []string

	// Blueprint and Delivery of the deployment's spec, with defaults.
	Blueprint deploymentv1alpha1.BlueprintChoice
	Delivery  deploymentv1alpha1.DeliveryConfig

	// Pinned is the name of the Blueprint's object to stay with, whatever is in the channel now. Empty means none.
	Pinned string
}

// BlueprintName is the spec.blueprintName of the Blueprint that is asked for.
func (q Query) BlueprintName() string {
	if q.Blueprint.Name != "" {
		return q.Blueprint.Name
	}
	return q.ServiceType
}

// ConfigRef names the configuration of a repository.
type ConfigRef struct {
	Kind, Name string
}

func (r ConfigRef) namespaced() bool { return r.Kind == policy.KindProviderConfig }

// Place is one Site that was chosen, and where its files go.
type Place struct {
	// Site that was chosen.
	Site catalogv1alpha1.Site

	// ConfigRef names the configuration of the Site's repository, and Config is it.
	ConfigRef ConfigRef
	Config    configv1alpha1.ProviderConfigSpec

	// Repository is the key of the repository, as policy.RepositoryKey tells it: the one that the configuration names, or the one that the
	// files are still in.
	Repository string

	// Path of the deployment's directory in the repository.
	Path string
}

// Selection is what was chosen from the catalog.
type Selection struct {
	// Blueprint to compile with.
	Blueprint catalogv1alpha1.Blueprint

	// InChannel is the name of the object that is in the channel now, where the query pins one. Empty means that none is.
	InChannel string

	// Places to deliver to, by the name of the Site.
	Places []Place
}

// InvalidError says that a spec can never be fulfilled by what is in the catalog.
type InvalidError struct{ message string }

// Error names the field.
func (e *InvalidError) Error() string { return e.message }

func invalid(format string, a ...any) error { return &InvalidError{message: fmt.Sprintf(format, a...)} }

// MissingError says that something is not there, or not usable yet. It may appear.
type MissingError struct {
	// Reason is the reason of condition SitesFound.
	Reason string

	// InChannel is the name of the Blueprint that is in the channel now, where the one that the query pins is missing.
	InChannel string

	message string
}

// Error names what is missing.
func (e *MissingError) Error() string { return e.message }

func missing(reason, format string, a ...any) error {
	return &MissingError{Reason: reason, message: fmt.Sprintf(format, a...)}
}

// Resolve chooses from the catalog. Until all needs are answered it returns the needs and no Selection. It returns an
// InvalidError or a MissingError when nothing can be chosen, and another error for objects that cannot be decoded.
func Resolve(q Query, answers Answers) (*Selection, []Need, error) {
	d := &desk{answers: answers}
	s, err := resolve(d, q)
	if d.open {
		return nil, d.needs, nil
	}
	return s, d.needs, err
}

// resolve asks for everything that it knows to need before it gives up, so that few rounds are needed.
func resolve(d *desk, q Query) (*Selection, error) {
	t, err := targetOf(q)
	if err != nil {
		return nil, err
	}
	found, sitesErr := sites(d, q, t)
	b, inChannel, blueprintErr := blueprint(d, q)
	places, configErr := placesOf(d, q, found)
	if err := firstError(sitesErr, blueprintErr, configErr); err != nil || d.open {
		return nil, err
	}
	if len(places) == 0 {
		return nil, missing(deploymentv1alpha1.ReasonNoSite, "no Site was chosen: name one in deliveryConfig.targetSite or in the intent")
	}
	return &Selection{Blueprint: *b, InChannel: inChannel, Places: places}, checkRepositories(places)
}

// firstError prefers what can never be fulfilled to what may appear.
func firstError(errs ...error) error {
	for _, err := range errs {
		if e := (&InvalidError{}); errors.As(err, &e) {
			return err
		}
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func placesOf(d *desk, q Query, found []catalogv1alpha1.Site) ([]Place, error) {
	var out []Place
	var first error
	for _, s := range found {
		p, err := place(d, q, s)
		if err != nil && first == nil {
			first = err
		}
		out = append(out, p)
	}
	// With the Sites still unknown, asking for the claim's own configuration saves a round.
	if len(found) == 0 {
		_, _ = ask[configv1alpha1.ClusterProviderConfig](d, config(claimConfig(q), q.Namespace))
	}
	return out, first
}

func place(d *desk, q Query, s catalogv1alpha1.Site) (Place, error) {
	ref := siteConfig(q, s)
	// Both kinds have the same spec, and nothing else is read.
	found, err := ask[configv1alpha1.ClusterProviderConfig](d, config(ref, q.Namespace))
	if err != nil || d.open {
		return Place{}, err
	}
	if len(found) == 0 || policy.CheckConfig(ref.Kind, &found[0].Spec, q.Namespace) != nil {
		return Place{}, configMissing(d, q, ref)
	}
	c := found[0].Spec
	c.Default()
	return Place{
		Site: s, ConfigRef: ref, Config: c, Repository: policy.RepositoryKey(c.Git.URL),
		Path: policy.Directory(c.Git.PathPrefix, s.Spec.Repository.Path, q.Namespace, q.Name),
	}, nil
}

// configMissing names other configurations where the deployment chose: that of a Site is its owner's to change.
func configMissing(d *desk, q Query, ref ConfigRef) error {
	hint, err := "", error(nil)
	if ref == claimConfig(q) {
		hint, err = suggestConfigs(d, ref, q.Namespace)
	}
	if err != nil {
		return err
	}
	return missing(deploymentv1alpha1.ReasonConfigMissing, "%s %q does not exist or may not be used from namespace %q%s", ref.Kind, ref.Name, q.Namespace, hint)
}

func claimConfig(q Query) ConfigRef {
	return ConfigRef{Kind: q.Delivery.GitOpsRepo.Kind, Name: q.Delivery.GitOpsRepo.Name}
}

// siteConfig is the Site's own repository where it has one, else the claim's.
func siteConfig(q Query, s catalogv1alpha1.Site) ConfigRef {
	if r := s.Spec.Repository.ProviderConfigRef; r != nil {
		return ConfigRef{Kind: policy.KindClusterProviderConfig, Name: r.Name}
	}
	return claimConfig(q)
}

// checkRepositories returns an error when two Sites share a directory, or reach one repository by two configurations: each
// repository has one delivery, and each directory one Site.
func checkRepositories(places []Place) error {
	refs, paths := map[string]ConfigRef{}, map[string]string{}
	for _, p := range places {
		key := p.Repository
		if ref, ok := refs[key]; ok && ref != p.ConfigRef {
			return invalid("spec.deliveryConfig.gitOpsRepo: %s %q and %s %q are the same repository: use one of them for all Sites", ref.Kind, ref.Name, p.ConfigRef.Kind, p.ConfigRef.Name)
		}
		refs[key] = p.ConfigRef
		if other, ok := paths[key+" "+p.Path]; ok {
			return invalid("spec.deliveryConfig: Sites %q and %q have the same directory %q", other, p.Site.GetName(), p.Path)
		}
		paths[key+" "+p.Path] = p.Site.GetName()
	}
	return nil
}
