package address

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/intentplane/intentplane/apis/policy"
)

// ParseHost returns the address that the host of a URL is, and whether it is one. A name of the own machine is its address. A spelling such as 127.1, which only
// some resolvers read, is the zero address, which each Guard refuses.
func ParseHost(host string) (netip.Addr, bool) {
	if parsed, err := netip.ParseAddr(host); err == nil {
		return parsed, true
	}
	if policy.IsLoopbackHost(host) {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), true
	}
	_, err := strconv.ParseUint(host[strings.LastIndex(host, ".")+1:], 0, 64)
	return netip.Addr{}, err == nil
}
