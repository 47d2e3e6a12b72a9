package address

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseHost(t *testing.T) {
	cases := map[string]struct {
		reason, host string
		want         string
		isAddress    bool
	}{
		"IPv4":      {reason: "An address is itself.", host: "192.0.2.7", want: "192.0.2.7", isAddress: true},
		"IPv6":      {reason: "An address of IPv6 is itself.", host: "2001:db8::1", want: "2001:db8::1", isAddress: true},
		"Localhost": {reason: "A name of the own machine is its address.", host: "localhost", want: "127.0.0.1", isAddress: true},
		"Below":     {reason: "A name below localhost is of the own machine too.", host: "git.localhost", want: "127.0.0.1", isAddress: true},
		"Short":     {reason: "Some resolvers read a short spelling.", host: "127.1", want: "invalid IP", isAddress: true},
		"Number":    {reason: "Some resolvers read a single number.", host: "2130706433", want: "invalid IP", isAddress: true},
		"Hex":       {reason: "Some resolvers read hexadecimal digits.", host: "0x7f000001", want: "invalid IP", isAddress: true},
		"Octal":     {reason: "Some resolvers read octal digits.", host: "0177.0.0.01", want: "invalid IP", isAddress: true},
		"Name":      {reason: "A name is no address.", host: "git.example.org", want: "invalid IP"},
		"Digits":    {reason: "A name may begin with digits.", host: "1.example.org", want: "invalid IP"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, isAddress := ParseHost(tc.host)
			if diff := cmp.Diff(tc.want, got.String()); diff != "" || isAddress != tc.isAddress {
				t.Errorf("\n%s\nParseHost(%q): an address: %t, want %t; -want, +got:\n%s", tc.reason, tc.host, isAddress, tc.isAddress, diff)
			}
		})
	}
	if _, isAddress := ParseHost(""); isAddress {
		t.Error("An empty host is no address.")
	}
	if err := (Guard{}).Control("", netip.AddrPortFrom(netip.Addr{}, 443).String(), nil); err == nil {
		t.Error("Each Guard refuses the zero address.")
	}
}
