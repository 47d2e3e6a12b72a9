package policy

import (
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
)

// CheckRegion returns an error when clusters may not be built in a region of the cloud.
func CheckRegion(c *configv1alpha1.ProviderConfigSpec, region string) error {
	if allowed := c.Policy.CAPT.Regions; len(allowed) > 0 && !slices.Contains(allowed, region) {
		return errors.Errorf("%q is not among the spec.policy.capt.regions of the ClusterProviderConfig", region)
	}
	return nil
}

// CheckVPC returns an error when clusters may not be built in an existing VPC.
func CheckVPC(c *configv1alpha1.ProviderConfigSpec, id string) error {
	if !slices.Contains(c.Policy.CAPT.VPCIDs, id) {
		return errors.Errorf("%q is not among the spec.policy.capt.vpcIDs of the ClusterProviderConfig", id)
	}
	return nil
}

// CheckTagKey returns an error when clusters may not set a tag.
func CheckTagKey(c *configv1alpha1.ProviderConfigSpec, key string) error {
	if !slices.ContainsFunc(c.Policy.CAPT.TagKeys, func(entry string) bool { return matchesBeginning(entry, key) }) {
		return errors.Errorf("%q is not among the spec.policy.capt.tagKeys of the ClusterProviderConfig", key)
	}
	return nil
}

// matchesBeginning reports whether a key equals an entry, or begins with an entry that ends in a star.
func matchesBeginning(entry, key string) bool {
	beginning, isPattern := strings.CutSuffix(entry, "*")
	return entry == key || isPattern && strings.HasPrefix(key, beginning)
}
