package policy

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// CheckGateCheck returns an error, which names the field of the check, when a check may not be made at a Site, or cannot: for want of a
// server to ask, or of a place for its Job.
func CheckGateCheck(site *catalogv1alpha1.Site, configKind string, c *configv1alpha1.ProviderConfigSpec, check *deploymentv1alpha1.Check) error {
	switch {
	case check.Prometheus != nil:
		return CheckPrometheus(site, configKind, c, check.Prometheus)
	case check.Job != nil:
		return CheckJob(site, check.Job)
	case check.Web != nil:
		return CheckWeb(configKind, c, check.Web)
	}
	return errors.New("type: one of prometheus, job and web must be set")
}
