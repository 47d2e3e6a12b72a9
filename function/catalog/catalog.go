package catalog

import (
	"cmp"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/memo"
	"github.com/intentplane/intentplane/apis/policy"
)

// Query is the request of a deployment to the catalog.
type Query struct {
	// Namespace and Name of the deployment.
	Namespace, Name string

	// ServiceType of the intent.
	ServiceType string

	// IntentSites that the intent names, or IntentLabels that it selects Sites by, and IntentField, the field that does so.
	IntentSites  []string
	IntentLabels map[string]string
	IntentField  string

	// UnquotedSites are the IntentSites that plain language names without quotes, and that the deployment was not delivered to. If such a
	// Site does not exist, the intent is refused; for any other Site the function waits.
	UnquotedSites []string

	// DeliveredSites are the Sites of the last delivery.
	DeliveredSites []string

	// Blueprint and Delivery of the deployment's spec, with defaults.
	Blueprint deploymentv1alpha1.BlueprintChoice
	Delivery  deploymentv1alpha1.DeliveryConfig

	// Pinned is the name of the Blueprint's object to keep, whatever the channel has now. Empty means none.
	Pinned string
}

// BlueprintName is the spec.blueprintName of the requested Blueprint.
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

func (r ConfigRef) isNamespaced() bool { return r.Kind == policy.KindProviderConfig }

// Place is one Site that was chosen, and where its files go.
type Place struct {
	// Site that was chosen.
	Site catalogv1alpha1.Site

	// ConfigRef names the configuration of the Site's repository, and Config is it.
	ConfigRef ConfigRef
	Config    configv1alpha1.ProviderConfigSpec

	// Repository is the key of the repository, as policy.RepositoryKey returns it: the repository that the configuration names, or the
	// repository that still has the files.
	Repository string

	// Path of the deployment's directory in the repository.
	Path string
}

// Selection has the objects that were selected from the catalog.
type Selection struct {
	// Blueprint to compile with.
	Blueprint catalogv1alpha1.Blueprint

	// InChannel is the name of the object that is in the channel now, where the query pins one. Empty means that none is.
	InChannel string

	// Places to deliver to, by the name of the Site.
	Places []Place

	// Key differs between two selections that were made from different objects. It is zero for a selection without a Cache.
	Key memo.Key
}

// InvalidError means that the catalog can never fulfil a spec.
type InvalidError struct{ message string }

// Error names the field.
func (e *InvalidError) Error() string { return e.message }

func invalidErrorf(format string, a ...any) error {
	return &InvalidError{message: fmt.Sprintf(format, a...)}
}

// MissingError means that something does not exist, or is not usable yet. It may appear.
type MissingError struct {
	// Reason is the reason of condition SitesFound.
	Reason string

	// InChannel is the name of the Blueprint that is in the channel now, if the pinned Blueprint is missing.
	InChannel string

	message string
}

// Error names the missing object.
func (e *MissingError) Error() string { return e.message }

func missingErrorf(reason, format string, a ...any) error {
	return &MissingError{Reason: reason, message: fmt.Sprintf(format, a...)}
}

// Resolve selects Blueprint, Sites and configurations. Until all needs are answered it returns the needs and no Selection. It returns an
// InvalidError or a MissingError when nothing can be selected, and another error for objects that cannot be decoded.
func Resolve(q Query, answers Answers) (*Selection, []Need, error) {
	return (*Cache)(nil).Resolve(q, answers)
}

func resolveQuery(d *requirements, q Query) (*Selection, []Need, error) {
	s, err := resolveSelection(d, q)
	if d.unanswered {
		return nil, d.needs, nil
	}
	return s, d.needs, err
}

// resolveSelection requires everything that it can name before it returns, so that few calls are needed.
func resolveSelection(d *requirements, q Query) (*Selection, error) {
	t, err := readSiteTarget(q)
	if err != nil {
		return nil, err
	}
	found, sitesErr := selectSites(d, q, t)
	b, inChannel, blueprintErr := selectBlueprint(d, q)
	places, configErr := resolvePlaces(d, q, found)
	if err := firstInvalidError(sitesErr, blueprintErr, configErr); err != nil || d.unanswered {
		return nil, err
	}
	if len(places) == 0 {
		return nil, missingErrorf(deploymentv1alpha1.ReasonNoSite, "no Site was chosen: name one in deliveryConfig.targetSite or in the intent")
	}
	return &Selection{Blueprint: *b, InChannel: inChannel, Places: places}, checkRepositories(places)
}

// firstInvalidError returns the first InvalidError, or else the first other error: an error that lasts is more important than a missing object that may appear.
func firstInvalidError(errs ...error) error {
	for _, err := range errs {
		if e := (&InvalidError{}); errors.As(err, &e) {
			return err
		}
	}
	return cmp.Or(errs...)
}

func resolvePlaces(d *requirements, q Query, found []catalogv1alpha1.Site) ([]Place, error) {
	out, first := make([]Place, 0, len(found)), error(nil)
	for _, s := range found {
		p, err := resolvePlace(d, q, s)
		if err != nil && first == nil {
			first = err
		}
		out = append(out, p)
	}
	// With the Sites still unknown, asking for the claim's own configuration saves a round.
	if len(found) == 0 {
		_, _ = requireObjects[configv1alpha1.ClusterProviderConfig](d, configByName(configOfClaim(q), q.Namespace))
	}
	return out, first
}

func resolvePlace(d *requirements, q Query, s catalogv1alpha1.Site) (Place, error) {
	ref := configOfSite(q, s)
	// Both kinds have the same spec, and nothing else is read.
	found, err := requireObjects[configv1alpha1.ClusterProviderConfig](d, configByName(ref, q.Namespace))
	if err != nil || d.unanswered {
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

// configMissing returns the error for a missing configuration. It suggests others where the deployment chose it: that of a Site is for the owner of
// the Site to change.
func configMissing(d *requirements, q Query, ref ConfigRef) error {
	hint, err := "", error(nil)
	if ref == configOfClaim(q) {
		hint, err = suggestConfigs(d, ref, q.Namespace)
	}
	if err != nil {
		return err
	}
	return missingErrorf(deploymentv1alpha1.ReasonConfigMissing, "%s %q does not exist or may not be used from namespace %q%s", ref.Kind, ref.Name, q.Namespace, hint)
}

func configOfClaim(q Query) ConfigRef {
	return ConfigRef{Kind: q.Delivery.GitOpsRepo.Kind, Name: q.Delivery.GitOpsRepo.Name}
}

// configOfSite returns the configuration of the Site where it has one, and else that of the claim.
func configOfSite(q Query, s catalogv1alpha1.Site) ConfigRef {
	if r := s.Spec.Repository.ProviderConfigRef; r != nil {
		return ConfigRef{Kind: policy.KindClusterProviderConfig, Name: r.Name}
	}
	return configOfClaim(q)
}

// checkRepositories returns an error when two Sites share a directory, or reach one repository by two configurations: each
// repository has one delivery, and each directory one Site.
func checkRepositories(places []Place) error {
	refs, paths := map[string]ConfigRef{}, map[string]string{}
	for _, p := range places {
		key := p.Repository
		if ref, ok := refs[key]; ok && ref != p.ConfigRef {
			return invalidErrorf("spec.deliveryConfig.gitOpsRepo: %s %q and %s %q are the same repository: use one of them for all Sites", ref.Kind, ref.Name, p.ConfigRef.Kind, p.ConfigRef.Name)
		}
		refs[key] = p.ConfigRef
		if otherSite, ok := paths[key+" "+p.Path]; ok {
			return invalidErrorf("spec.deliveryConfig: Sites %q and %q have the same directory %q", otherSite, p.Site.GetName(), p.Path)
		}
		paths[key+" "+p.Path] = p.Site.GetName()
	}
	return nil
}
