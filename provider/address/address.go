// Package address says which machines the provider reaches for those who are not trusted to say where.
package address

import (
	"net/netip"
	"slices"
	"syscall"
)

// A RefusedError is a connection that may not be made.
type RefusedError struct{}

// Error says no more than that: where it leads is not for everybody.
func (*RefusedError) Error() string { return "the address may not be reached" }

// A Guard lets a dialer reach no machine that is near, or that trusts whoever reaches it.
type Guard struct {
	// Loopback lets it reach the provider's own machine. It is for tests.
	Loopback bool
}

// Control is asked by a net.Dialer before each connection, with the address that a name was resolved to. It returns a RefusedError.
func (g Guard) Control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || refused(at.Addr(), g.Loopback) {
		return &RefusedError{}
	}
	return nil
}

// refusedPrefixes lead to machines that trust whoever can reach them: clouds' metadata, what is near, and what hides an address in
// another one.
func refusedPrefixes() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"),
		netip.MustParsePrefix("100.100.100.200/32"), // Metadata of Alibaba Cloud.
		netip.MustParsePrefix("168.63.129.16/32"),   // What Azure has for its machines.
		netip.MustParsePrefix("192.0.0.0/24"),       // Metadata of Oracle Cloud, among others.
		netip.MustParsePrefix("240.0.0.0/4"),
		netip.MustParsePrefix("fd00:ec2::/32"),  // Metadata of AWS.
		netip.MustParsePrefix("fd20:ce::/32"),   // Metadata of Google Cloud.
		netip.MustParsePrefix("2001::/32"),      // Teredo.
		netip.MustParsePrefix("64:ff9b:1::/48"), // Translations of one's own: where the other address is in it, nobody knows.
		netip.MustParsePrefix("100::/64"),
	}
}

// embedded returns the IPv4 address that an IPv6 one leads to, if it does.
func embedded(ip netip.Addr) (netip.Addr, bool) {
	b := ip.As16()
	switch {
	case ip.Is4():
	case netip.MustParsePrefix("64:ff9b::/96").Contains(ip), netip.MustParsePrefix("::/96").Contains(ip):
		return netip.AddrFrom4([4]byte(b[12:])), true
	case netip.MustParsePrefix("2002::/16").Contains(ip):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	}
	return netip.Addr{}, false
}

// refused is true for an address that may not be reached. It is asked about what a name was resolved to, for each connection.
func refused(ip netip.Addr, loopback bool) bool {
	ip = ip.WithZone("").Unmap()
	if ip.IsLoopback() {
		return !loopback
	}
	if in, ok := embedded(ip); ok {
		return refused(in, false)
	}
	return ip.IsUnspecified() || ip.IsMulticast() || ip.IsLinkLocalUnicast() ||
		slices.ContainsFunc(refusedPrefixes(), func(p netip.Prefix) bool { return p.Contains(ip) })
}
