package ledgerhome

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/utils/ptr"

	deliveryv1alpha1 "github.com/intentplane/intentplane/apis/delivery/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/step"
	"github.com/intentplane/intentplane/function/catalog"
	"github.com/intentplane/intentplane/function/compose"
)

// defaultConfigKind is the kind of configurations that are named by their names alone.
const defaultConfigKind = "ClusterProviderConfig"

// configName returns the name by which a ledger knows the configuration of a repository.
func configName(kind, name string) string {
	if kind == defaultConfigKind || kind == "" {
		return name
	}
	return kind + "/" + name
}

// describeConfig returns the kind of a configuration and its name, by the name by which a ledger knows it.
func describeConfig(name string) string {
	ref := ConfigRefOf(name)
	return fmt.Sprintf("%s %q", ref.Kind, ref.Name)
}

// NameOf returns the name by which a ledger knows the repository of a delivery: a home has the name in its own ledger, also where another
// configuration names the repository since.
func NameOf(d *deliveryv1alpha1.GitDelivery) string {
	if l := d.Status.AtProvider.Ledger; d.Spec.ForProvider.Ledger != nil && l != nil && l.Seq > 0 && l.Successor == "" && !l.IsClosed {
		return l.Home
	}
	ref := ptr.Deref(d.Spec.ProviderConfigReference, xpv2.ProviderConfigReference{})
	return configName(ref.Kind, ref.Name)
}

// ConfigRefOf returns the configuration that a ledger knows by a name.
func ConfigRefOf(name string) catalog.ConfigRef {
	if kind, suffix, ok := strings.Cut(name, "/"); ok {
		return catalog.ConfigRef{Kind: kind, Name: suffix}
	}
	return catalog.ConfigRef{Kind: defaultConfigKind, Name: name}
}

// NameAmong returns the name by which a ledger knows the repository of a configuration. It is empty if no delivery goes there.
func NameAmong(ref *rolloutv1alpha1.ConfigReference, all ...map[string]*deliveryv1alpha1.GitDelivery) string {
	if ref == nil {
		return ""
	}
	name := configName(ref.Kind, ref.Name)
	for _, ds := range all {
		for _, d := range ds {
			if NameOf(d) == name {
				return name
			}
		}
	}
	return ""
}

// Preferred returns the name of the configuration of the repository that a new ledger is opened in: the configuration that the spec names, or
// else the configuration of the first Site of the plan, which gets a push in any case. It returns an error if no Site is delivered to the named
// repository: it is unknown whether that may be used and can be reached.
func Preferred(named *deploymentv1alpha1.ConfigReference, plan []ledger.Step, places []catalog.Place) (string, error) {
	if named == nil {
		return firstRepository(plan, places), nil
	}
	name := configName(named.Kind, named.Name)
	if slices.ContainsFunc(places, func(p catalog.Place) bool { return configName(p.ConfigRef.Kind, p.ConfigRef.Name) == name }) {
		return name, nil
	}
	return "", errors.Errorf("spec.deliveryConfig.ledgerConfigRef: no Site of the deployment is delivered to the repository of %s", describeConfig(name))
}

// firstRepository returns the name of the configuration of the repository that the first Site of a plan is delivered to.
func firstRepository(plan []ledger.Step, places []catalog.Place) string {
	for _, p := range places {
		if len(plan) > 0 && len(plan[0].Sites) > 0 && p.Site.GetName() == plan[0].Sites[0] {
			return configName(p.ConfigRef.Kind, p.ConfigRef.Name)
		}
	}
	return ""
}

// DeliveryName returns the name of the delivery to the home of a ledger: an observed delivery, or else the wanted delivery for its configuration, or the part
// of the current revision of a state, also while the home did not report it: a second delivery to the same repository would never be ready.
func DeliveryName(home string, observed, wanted map[string]*deliveryv1alpha1.GitDelivery, s ledger.State) string {
	for _, ds := range []map[string]*deliveryv1alpha1.GitDelivery{observed, wanted} {
		for _, name := range slices.Sorted(maps.Keys(ds)) {
			if NameOf(ds[name]) == home {
				return name
			}
		}
	}
	for _, current := range []ledger.State{s, step.NewestCopy(Repositories(observed))} {
		if name := PartAt(current, home); name != "" {
			return name
		}
	}
	sum := sha256.Sum256([]byte(home))
	return "delivery-" + hex.EncodeToString(sum[:])[:homeDigits]
}

// homeDigits is how many hexadecimal digits name a home whose repository is not known.
const homeDigits = 12

// PartAt returns the name of the delivery by which a repository takes part in the current revision of a state, or "" if it does not.
func PartAt(s ledger.State, repository string) string {
	if s.Current == nil {
		return ""
	}
	i := slices.IndexFunc(s.Current.Parts, func(p ledger.Part) bool { return p.ConfigRef == repository })
	if i < 0 {
		return ""
	}
	return s.Current.Parts[i].Delivery
}

// PartsOf returns the repositories that take part in a revision with deliveries, by the names of the deliveries.
func PartsOf(ds map[string]*deliveryv1alpha1.GitDelivery) []ledger.Part {
	var out []ledger.Part
	for _, name := range slices.Sorted(maps.Keys(ds)) {
		ref := ptr.Deref(ds[name].Spec.ProviderConfigReference, xpv2.ProviderConfigReference{})
		out = append(out, ledger.Part{Delivery: name, ConfigRef: configName(ref.Kind, ref.Name), Sites: compose.SitesOf(ds[name])})
	}
	return out
}
