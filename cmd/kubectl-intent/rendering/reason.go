package rendering

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/function/compile"
)

// invalidObjectError adds the reason RenderFailed to an error about objects that an API server rejects. It returns nil for nil.
func invalidObjectError(err error) error {
	if err == nil {
		return nil
	}
	return compile.ErrorWithReason(deploymentv1alpha1.ReasonRenderFailed, err)
}

// wrapWithSite adds the Site to an error, and keeps its reason.
func wrapWithSite(site string, err error) error { return errors.Wrapf(err, "Site %q", site) }

// WithReason returns an error whose text begins with the reason of the condition, such as RenderFailed.
func WithReason(err error) error {
	if reason := compile.ReasonOf(err); reason != "" {
		return errors.Wrap(err, reason)
	}
	return err
}
