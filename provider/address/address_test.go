package address

import (
	"net"
	"net/netip"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

func TestRefusedAddresses(t *testing.T) {
	cases := map[string]struct {
		reason   string
		ip       string
		loopback bool
		want     bool
	}{
		"Public":         {reason: "A public IPv4 address is reached.", ip: "93.184.216.34"},
		"Private":        {reason: "A private IPv4 address is reached: servers of a cluster have such addresses.", ip: "10.96.0.10"},
		"Public6":        {reason: "A public IPv6 address is reached.", ip: "2a00:1450:4001::1"},
		"Unique6":        {reason: "A private IPv6 address is reached.", ip: "fd12:3456::1"},
		"Metadata":       {reason: "The link-local address of metadata services is refused.", ip: "169.254.169.254", want: true},
		"LinkLocal6":     {reason: "A link-local IPv6 address is refused.", ip: "fe80::1%eth0", want: true},
		"MetadataAWS":    {reason: "The IPv6 metadata address of AWS is refused.", ip: "fd00:ec2::254", want: true},
		"MetadataGoogle": {reason: "The IPv6 metadata address of Google Cloud is refused.", ip: "fd20:ce::254", want: true},
		"MetadataAli":    {reason: "The metadata address of Alibaba Cloud is refused.", ip: "100.100.100.200", want: true},
		"MetadataOracle": {reason: "The metadata address of Oracle Cloud is refused.", ip: "192.0.0.192", want: true},
		"Azure":          {reason: "The platform address of Azure is refused.", ip: "168.63.129.16", want: true},
		"Loopback":       {reason: "The loopback address is refused.", ip: "127.0.0.1", want: true},
		"LoopbackOther":  {reason: "Every address of the loopback network is refused.", ip: "127.8.9.10", want: true},
		"Loopback6":      {reason: "The IPv6 loopback address is refused.", ip: "::1", want: true},
		"Mapped":         {reason: "A loopback address mapped into IPv6 is refused.", ip: "::ffff:127.0.0.1", want: true},
		"MappedMetadata": {reason: "A metadata address mapped into IPv6 is refused.", ip: "::ffff:169.254.169.254", want: true},
		"NAT64":          {reason: "A loopback address behind NAT64 is refused.", ip: "64:ff9b::a9fe:a9fe", want: true},
		"NAT64Public":    {reason: "A public address behind NAT64 is reached.", ip: "64:ff9b::5db8:d822"},
		"NAT64Local":     {reason: "A local NAT64 prefix is refused: the position of the address is unknown.", ip: "64:ff9b:1:a9fe:a9:fe00:808:808", want: true},
		"NAT64LocalEnd":  {reason: "The last address of a local NAT64 prefix is refused.", ip: "64:ff9b:1::5db8:d822", want: true},
		"NAT64LocalNext": {reason: "The address after a local NAT64 prefix is reached.", ip: "64:ff9b:2::1"},
		"6to4":           {reason: "A loopback address in 6to4 is refused.", ip: "2002:a9fe:a9fe::1", want: true},
		"Teredo":         {reason: "Every address of Teredo is refused.", ip: "2001:0:1::1", want: true},
		"Compatible":     {reason: "A loopback address in the IPv4-compatible form is refused.", ip: "::7f00:1", want: true},
		"Unspecified":    {reason: "The unspecified address is refused: Linux treats it as loopback.", ip: "0.0.0.0", want: true},
		"ThisNetwork":    {reason: "Every address of the network 0.0.0.0/8 is refused.", ip: "0.1.2.3", want: true},
		"Unspecified6":   {reason: "The unspecified IPv6 address is refused.", ip: "::", want: true},
		"Multicast":      {reason: "A multicast address is refused as it is not a server.", ip: "224.0.0.1", want: true},
		"Broadcast":      {reason: "The broadcast address is refused as it is not a server.", ip: "255.255.255.255", want: true},
		"Allowed":        {reason: "A guard that allows loopback reaches it.", ip: "127.0.0.1", loopback: true},
		"AllowedNoMore":  {reason: "A guard that allows loopback refuses metadata addresses.", ip: "169.254.169.254", loopback: true, want: true},
		"AllowedHidden":  {reason: "A guard that allows loopback refuses it in an embedded form.", ip: "64:ff9b::7f00:1", loopback: true, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := Guard{Loopback: tc.loopback}.Control("tcp", net.JoinHostPort(tc.ip, "443"), nil)
			var refusal *RefusedError
			if got := errors.As(err, &refusal); got != tc.want || (err != nil) != tc.want {
				t.Errorf("%s\nControl(%s): want a refusal: %t, got %v", tc.reason, tc.ip, tc.want, err)
			}
		})
	}
}

func TestRefusedNetworks(t *testing.T) {
	services := []netip.Prefix{netip.MustParsePrefix("10.96.0.0/12"), netip.MustParsePrefix("fd12::/16")}
	cases := map[string]struct {
		reason string
		ip     string
		want   bool
	}{
		"Service":  {reason: "An address of a refused network is refused.", ip: "10.96.0.1", want: true},
		"Service6": {reason: "An IPv6 address of a refused network is refused.", ip: "fd12::1", want: true},
		"Mapped":   {reason: "An address of a refused network is refused in its IPv6 form too.", ip: "::ffff:10.96.0.1", want: true},
		"NAT64":    {reason: "An address of a refused network is refused behind a translation too.", ip: "64:ff9b::a60:1", want: true},
		"Private":  {reason: "Other private networks are reached.", ip: "10.0.0.1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := Guard{Networks: services}.Control("tcp", net.JoinHostPort(tc.ip, "443"), nil)
			if got := errors.As(err, new(*RefusedError)); got != tc.want {
				t.Errorf("%s\nControl(%s): want a refusal: %t, got %v", tc.reason, tc.ip, tc.want, err)
			}
		})
	}
}

func TestIsPrivate(t *testing.T) {
	g := Guard{Reported: []netip.Prefix{netip.MustParsePrefix("10.20.0.0/16")}}
	cases := map[string]struct {
		reason  string
		address string
		want    bool
	}{
		"Public":     {reason: "A public address is reported: its answers are public as well.", address: "93.184.216.34:443"},
		"Private":    {reason: "A private address is not reported.", address: "10.96.0.10:443", want: true},
		"Reported":   {reason: "An address of a network that the administrator names is reported.", address: "10.20.1.1:443"},
		"Shared":     {reason: "An address of carriers, of which clusters take theirs too, is not reported.", address: "100.64.0.1:443", want: true},
		"Unique6":    {reason: "A private address of IPv6 is not reported.", address: "[fd12:3456::1]:443", want: true},
		"Mapped":     {reason: "A private IPv4 address inside an IPv6 address is not reported.", address: "[::ffff:10.96.0.10]:443", want: true},
		"NAT64":      {reason: "A private address behind a translation is not reported.", address: "[64:ff9b::a60:a]:443", want: true},
		"Loopback":   {reason: "The provider's own machine is not reported.", address: "127.0.0.1:443", want: true},
		"Loopback6":  {reason: "The provider's own machine is not reported by IPv6 either.", address: "[::1]:443", want: true},
		"Unreadable": {reason: "A text that is not an address counts as private.", address: "example.org:443", want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := g.IsPrivate(tc.address); got != tc.want {
				t.Errorf("%s\nIsPrivate(%q): want %t, got %t", tc.reason, tc.address, tc.want, got)
			}
		})
	}
}
