// Package address says which machines the provider reaches for those who are not trusted to say where.
package address

import (
	"net/netip"
	"slices"
	"syscall"
)

// A RefusedError is a connection that may not be made.
type RefusedError struct {
	// Class of the address, such as "a loopback address". It is one of a few fixed texts, and does not hold the address.
	Class string
}

// Error says no more than that: where it leads is not for everybody.
func (*RefusedError) Error() string { return "the address may not be reached" }

// Classes of addresses that are refused.
const (
	classUnreadable = "no address that can be read"
	classLoopback   = "a loopback address, which is the provider's own machine"
	classLinkLocal  = "a link-local address, where clouds serve metadata"
	classMulticast  = "a multicast address"
	classNone       = "the unspecified address"
	classNetwork    = "an address in a network that the administrator refuses"
	classReserved   = "a reserved address, such as those of cloud metadata and of translated networks"
)

// A Guard lets a dialer reach no machine that is near, or that trusts whoever reaches it.
type Guard struct {
	// Loopback lets it reach the provider's own machine. It is for tests.
	Loopback bool
	// Networks that are refused too, such as those of the cluster's Services. None means that private networks are reached.
	Networks []netip.Prefix
	// Reported are private networks in which who uses the guard may learn why a server does not answer. Of the other private addresses
	// IsPrivate is true.
	Reported []netip.Prefix
}

// Control is asked by a net.Dialer before each connection, with the address that a name was resolved to. It returns a RefusedError.
func (g Guard) Control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return &RefusedError{Class: classUnreadable}
	}
	if class := refusedClass(at.Addr(), g.Loopback); class != "" {
		return &RefusedError{Class: class}
	}
	if g.isInNetworks(at.Addr()) {
		return &RefusedError{Class: classNetwork}
	}
	return nil
}

// IsPrivate reports whether an address, with its port, is in a private network that is not in Reported: one that only the provider may
// reach, so that its answers tell what runs there. Unreadable addresses are private.
func (g Guard) IsPrivate(address string) bool {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return true
	}
	ip := at.Addr().WithZone("").Unmap()
	if in, ok := embedded(ip); ok && !ip.IsLoopback() {
		ip = in
	}
	return isPrivate(ip) && !slices.ContainsFunc(g.Reported, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// carrierNAT are addresses that are shared behind one public address, of which clusters take theirs too.
func carrierNAT() netip.Prefix { return netip.MustParsePrefix("100.64.0.0/10") }

func isPrivate(ip netip.Addr) bool {
	return ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || carrierNAT().Contains(ip)
}

// isInNetworks reports whether an address, or the one that it leads to, is in a network that is refused.
func (g Guard) isInNetworks(ip netip.Addr) bool {
	ip = ip.WithZone("").Unmap()
	if in, ok := embedded(ip); ok {
		ip = in
	}
	return slices.ContainsFunc(g.Networks, func(p netip.Prefix) bool { return p.Contains(ip) })
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

// refusedClass is the class of an address that may not be reached, or empty for one that may. It is asked about what a name was resolved to,
// for each connection.
func refusedClass(ip netip.Addr, loopback bool) string {
	ip = ip.WithZone("").Unmap()
	if ip.IsLoopback() && loopback {
		return ""
	}
	if ip.IsLoopback() {
		return classLoopback
	}
	if in, ok := embedded(ip); ok {
		return refusedClass(in, false)
	}
	switch {
	case ip.IsUnspecified():
		return classNone
	case ip.IsMulticast():
		return classMulticast
	case ip.IsLinkLocalUnicast():
		return classLinkLocal
	case slices.ContainsFunc(refusedPrefixes(), func(p netip.Prefix) bool { return p.Contains(ip) }):
		return classReserved
	}
	return ""
}
