package compose

import (
	"maps"
	"slices"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/function/catalog"
)

// KeepRepositories returns the places with the repositories that their deliveries reached: a configuration that came to name another URL
// moves a Site only once the provider has delivered there. Until then the place is where the files are, so that a URL which is wrong for
// a while asks for nothing new. A repository that another configuration names by now is left to that one.
func KeepRepositories(places []catalog.Place, observed map[string]*deliveryv1alpha1.GitDelivery) []catalog.Place {
	reached := reachedRepositories(observed)
	out := slices.Clone(places)
	for i, p := range out {
		if repository := reached[p.ConfigRef]; repository != "" && !namesRepository(places, p.ConfigRef, repository) {
			out[i].Repository = repository
		}
	}
	return out
}

// reachedRepositories returns the repositories that deliveries were applied in, by the configuration that they name.
func reachedRepositories(observed map[string]*deliveryv1alpha1.GitDelivery) map[catalog.ConfigRef]string {
	out := map[catalog.ConfigRef]string{}
	for _, name := range slices.Sorted(maps.Keys(observed)) {
		d := observed[name]
		ref, remote := d.Spec.ProviderConfigReference, d.Status.AtProvider.Remote
		if ref == nil || remote == nil || remote.URL == "" {
			continue
		}
		out[catalog.ConfigRef{Kind: ref.Kind, Name: ref.Name}] = policy.RepositoryKey(remote.URL)
	}
	return out
}

// namesRepository is true when a configuration beside the given one names a repository.
func namesRepository(places []catalog.Place, excluded catalog.ConfigRef, repository string) bool {
	return slices.ContainsFunc(places, func(p catalog.Place) bool {
		return p.ConfigRef != excluded && p.Repository == repository
	})
}
