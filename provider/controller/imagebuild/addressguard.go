package imagebuild

import (
	"net/netip"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/build/v1alpha1"
	"github.com/intentplane/intentplane/apis/policy"
	"github.com/intentplane/intentplane/provider/address"
)

// checkAddress returns why a guard refuses the address that a source is at, or nil. Where a name leads, the look at the repository finds out.
func checkAddress(g address.Guard, source *v1alpha1.Source) *problem {
	host, err := policy.SourceHost(source)
	if err != nil {
		return &problem{reason: v1alpha1.ReasonPolicyDenied, message: err.Error()}
	}
	parsed, ok := address.ParseHost(host)
	if !ok {
		return nil
	}
	var refused *address.RefusedError
	if errors.As(g.Control("", netip.AddrPortFrom(parsed, 443).String(), nil), &refused) {
		return &problem{reason: v1alpha1.ReasonSourceDenied, message: sourceURLField(source) + ": its host is " + refused.Class}
	}
	return nil
}

func sourceURLField(source *v1alpha1.Source) string {
	if source.Git != nil {
		return "source.git.url"
	}
	return "source.blob.url"
}
