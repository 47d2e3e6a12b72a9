package clusters

import "testing"

// TestHostileTenantHasOneShare has several clusters that one tenant published use one share of memory, and those of others their own: also
// those of an administrator, whose Clusters may be in one namespace of Cluster API.
func TestHostileTenantHasOneShare(t *testing.T) {
	p := NewPool(nil, Bounds{Store: 1000}, nil)
	register := func(key string, a Access) *account {
		l := &link{key: key, account: p.accountOf(key, a)}
		p.registerLink(l)
		return l.account
	}
	first, second := register("a", Access{Origin: "team-a", Tenant: "team-a"}), register("b", Access{Origin: "team-a", Tenant: "team-a"})
	other, admin := register("c", Access{Origin: "team-b", Tenant: "team-b"}), register("d", Access{})
	fleet, fleet2 := register("e", Access{Origin: "capi"}), register("f", Access{Origin: "capi"})
	if fleet == fleet2 {
		t.Error("each cluster that an administrator named has an account, also where all are in one namespace of Cluster API")
	}
	if first != second || first == other || first == admin || p.accountOf(homeLink, Access{}) != nil {
		t.Error("one tenant has one account, and nobody else has the same")
	}
	if err := first.held.takeMemory(900); err != nil {
		t.Error(err)
	}
	if second.held.takeMemory(200) == nil || other.held.takeMemory(900) != nil || admin.held.takeMemory(900) != nil {
		t.Error("the share of a tenant is that of all clusters of that tenant, and of nobody else")
	}
}
