// Package address decides which addresses the provider connects to on behalf of tenants.
package address

import (
	"net/netip"
	"slices"
	"syscall"
)

// A RefusedError is a connection that is not allowed.
type RefusedError struct {
	// Class of the address, such as "a loopback address". It is one of a few fixed texts, and does not hold the address.
	Class string
}

// Error does not name the address: the user may not be allowed to know where a name leads.
func (*RefusedError) Error() string { return "the address may not be reached" }

// Classes of addresses that are refused.
const (
	classUnreadable = "no address that can be read"
	classLoopback   = "a loopback address, which is the provider's own machine"
	classLinkLocal  = "a link-local address, where clouds serve metadata"
	classMulticast  = "a multicast address"
	classNone       = "the unspecified address"
	classNetwork    = "an address in a network that the administrator refuses"
	classReserved   = "a reserved address, such as an address of cloud metadata or of a translated network"
)

// A Guard keeps a dialer from machines that are near the provider, or that trust their network.
type Guard struct {
	// Loopback allows connections to the provider's own machine. It is for tests.
	Loopback bool
	// Networks are refused in addition, such as the networks of the cluster's Services. If it is empty, private networks are reached.
	Networks []netip.Prefix
	// Reported are private networks from which the user of the guard may learn why a server does not answer. For other private addresses
	// IsPrivate is true.
	Reported []netip.Prefix
}

// Control is called by a net.Dialer before each connection, with the resolved address. It returns a RefusedError.
func (g Guard) Control(_, address string, _ syscall.RawConn) error {
	parsed, err := netip.ParseAddrPort(address)
	if err != nil {
		return &RefusedError{Class: classUnreadable}
	}
	if class := refusedClass(parsed.Addr(), g.Loopback); class != "" {
		return &RefusedError{Class: class}
	}
	if g.isInNetworks(parsed.Addr()) {
		return &RefusedError{Class: classNetwork}
	}
	return nil
}

// IsPrivate reports whether an address, with its port, is in a private network that is not in Reported: its answers would reveal the services
// there to a tenant. Addresses that cannot be parsed are private.
func (g Guard) IsPrivate(address string) bool {
	parsed, err := netip.ParseAddrPort(address)
	if err != nil {
		return true
	}
	ip := parsed.Addr().WithZone("").Unmap()
	if in, ok := embeddedIPv4(ip); ok && !ip.IsLoopback() {
		ip = in
	}
	return isPrivateNetwork(ip) && !slices.ContainsFunc(g.Reported, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// carrierNATNetwork returns the range that is shared behind public addresses. Some clusters use it, too.
func carrierNATNetwork() netip.Prefix { return netip.MustParsePrefix("100.64.0.0/10") }

func isPrivateNetwork(ip netip.Addr) bool {
	return ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || carrierNATNetwork().Contains(ip)
}

// isInNetworks reports whether an address, or its embedded IPv4 address, is in a refused network.
func (g Guard) isInNetworks(ip netip.Addr) bool {
	ip = ip.WithZone("").Unmap()
	if in, ok := embeddedIPv4(ip); ok {
		ip = in
	}
	return slices.ContainsFunc(g.Networks, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// refusedPrefixes returns networks whose machines trust every client: metadata of clouds, link-local and loopback, and networks that embed
// another address.
func refusedPrefixes() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"),
		netip.MustParsePrefix("100.100.100.200/32"), // Metadata of Alibaba Cloud.
		netip.MustParsePrefix("168.63.129.16/32"),   // Platform services of Azure.
		netip.MustParsePrefix("192.0.0.0/24"),       // Metadata of Oracle Cloud, among others.
		netip.MustParsePrefix("240.0.0.0/4"),
		netip.MustParsePrefix("fd00:ec2::/32"),  // Metadata of AWS.
		netip.MustParsePrefix("fd20:ce::/32"),   // Metadata of Google Cloud.
		netip.MustParsePrefix("2001::/32"),      // Teredo.
		netip.MustParsePrefix("64:ff9b:1::/48"), // Local translation: the position of the IPv4 address is not known.
		netip.MustParsePrefix("100::/64"),
	}
}

// embeddedIPv4 returns the IPv4 address that is embedded in an IPv6 address.
func embeddedIPv4(ip netip.Addr) (netip.Addr, bool) {
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

// refusedClass returns the class of an address that must not be reached, or "". It is called with the resolved address, for each
// connection.
// for each connection.
func refusedClass(ip netip.Addr, loopback bool) string {
	ip = ip.WithZone("").Unmap()
	if ip.IsLoopback() && loopback {
		return ""
	}
	if ip.IsLoopback() {
		return classLoopback
	}
	if in, ok := embeddedIPv4(ip); ok {
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
