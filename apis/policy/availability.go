package policy

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

// CheckAvailability returns an error, which names the field of the check, when the pods of a namespace may not be observed at a Site: a deployment may not
// observe a namespace that it may not write to.
func CheckAvailability(site *catalogv1alpha1.Site, namespace string) error {
	if !AllowsTarget(site, namespace, namespace) {
		return errors.Errorf("availability: the Site's spec.targetNamespaces.allowed does not allow namespace %q", namespace)
	}
	return nil
}
