package imagebuild

import (
	"net/netip"
	"strconv"
	"strings"

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
	parsed, ok := parseAddress(host)
	if !ok {
		return nil
	}
	var refused *address.RefusedError
	if errors.As(g.Control("", netip.AddrPortFrom(parsed, 443).String(), nil), &refused) {
		return &problem{reason: v1alpha1.ReasonSourceDenied, message: urlField(source) + ": its host is " + refused.Class}
	}
	return nil
}

// parseAddress returns the address that a host is, and whether it is one. It is the zero address, which each guard refuses, for a spelling such as 127.1 that
// only some resolvers read.
func parseAddress(host string) (netip.Addr, bool) {
	if parsed, err := netip.ParseAddr(host); err == nil {
		return parsed, true
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), true
	}
	return netip.Addr{}, isNumeric(host[strings.LastIndex(host, ".")+1:])
}

func isNumeric(label string) bool {
	_, err := strconv.ParseUint(label, 0, 64)
	return err == nil
}

func urlField(source *v1alpha1.Source) string {
	if source.Git != nil {
		return "source.git.url"
	}
	return "source.blob.url"
}
