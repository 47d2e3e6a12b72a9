package clusters

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/provider/clusters/account"
)

// TestHostileTenantHasOneShare has several clusters of one tenant use one share of memory, and the clusters of others their own shares:
// also clusters of an administrator, whose Clusters may be in one namespace of Cluster API.
func TestHostileTenantHasOneShare(t *testing.T) {
	p := NewPool(nil, account.New(account.Bounds{Store: 1000}), nil)
	register := func(key string, a Access) *account.Account {
		p.links[key] = &link{key: key, account: p.connectionAccount(key, a)} // An account lives as long as its links.
		return p.links[key].account
	}
	first, second := register("a", Access{Origin: "team-a", Tenant: "team-a"}), register("b", Access{Origin: "team-a", Tenant: "team-a"})
	otherTenant, admin := register("c", Access{Origin: "team-b", Tenant: "team-b"}), register("d", Access{})
	fleet, fleet2 := register("e", Access{Origin: "capi"}), register("f", Access{Origin: "capi"})
	if fleet == fleet2 {
		t.Error("each cluster that an administrator named has an account, also where all are in one namespace of Cluster API")
	}
	if first != second || first == otherTenant || first == admin || p.connectionAccount(homeLink, Access{}) != nil {
		t.Error("one tenant has one account, and shares it with no other")
	}
	if err := first.Memory().Take(900); err != nil {
		t.Error(err)
	}
	if second.Memory().Take(200) == nil || otherTenant.Memory().Take(900) != nil || admin.Memory().Take(900) != nil {
		t.Error("the share of a tenant is for all clusters of that tenant, and for no other")
	}
}

// TestPoolsShareAccount has two pools of a process read clusters of one tenant.
func TestPoolsShareAccount(t *testing.T) {
	accounts, tenant := account.New(account.Bounds{Store: 1000}), Access{Origin: "team-a", Tenant: "team-a"}
	first, second := NewPool(nil, accounts, nil).connectionAccount("a", tenant), NewPool(nil, accounts, nil).connectionAccount("b", tenant)
	if err := first.Memory().Take(900); err != nil {
		t.Error(err)
	}
	if second.Memory().Take(200) == nil {
		t.Error("The bound of a tenant holds for all pools together.\nTake(...): want an error")
	}
}

// TestHomeObjectsAreCharged watches two namespaces of the provider's own cluster.
func TestHomeObjectsAreCharged(t *testing.T) {
	p := NewPool(nil, account.New(account.Bounds{Store: 1000}), nil)
	home := &link{key: homeLink}
	first, second := newWatch(p, home, watchKey{namespace: "team-a"}), newWatch(p, home, watchKey{namespace: "team-b"})
	if first.account != nil || first.storeAccount == nil || first.storeAccount == second.storeAccount {
		t.Errorf("Each namespace of the provider's own cluster has an account for its objects, and none for answers.\nnewWatch(...): got accounts %p, %p and %p",
			first.account, first.storeAccount, second.storeAccount)
	}
}

func newObject(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name, "namespace": "flux", "resourceVersion": "1"}}}
}

// TestListReplacesObjects lists the objects of a watch again, with and without room beside the objects that the watch has.
func TestListReplacesObjects(t *testing.T) {
	size := account.MemoryOf(newObject("a").Object)
	cases := map[string]struct {
		reason string
		store  int64
		// between is the result of a read while the list is under way, and wakes the number of calls that wake all readers after
		// it.
		between string
		wakes   int
	}{
		"Room":   {reason: "Objects can be read until the list replaces them.", store: 4 * size, between: "a"},
		"NoRoom": {reason: "A list takes the memory of the objects that it replaces, which cannot be read meanwhile.", store: 3 * size, between: "unknown", wakes: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			wakes := 0
			s := newObjectStore(account.New(account.Bounds{Store: tc.store}).For("team-a"), func(previous, current *unstructured.Unstructured) {
				if previous == nil && current == nil {
					wakes++
				}
			}, func(err error) { t.Error(err) })
			read := func() string {
				o, err := s.getObject("flux", "a")
				switch {
				case err != nil:
					return "unknown"
				case o == nil:
					return "nothing"
				}
				return o.GetName()
			}
			list := func(names ...string) (string, string) {
				var all []any
				for _, name := range names {
					if err := s.reserveForList(account.MemoryOf(newObject(name).Object)); err != nil {
						t.Fatal(err)
					}
					all = append(all, newObject(name))
				}
				first := read()
				_ = s.Replace(all, "")
				return first, read()
			}
			list("a", "b")
			first, second := list("a", "c")
			if diff := cmp.Diff([]any{tc.between, "a", tc.wakes, 2 * size}, []any{first, second, wakes, s.quota.Used()}); diff != "" {
				t.Errorf("%s\nbetween, after, wakes, memory: -want, +got:\n%s", tc.reason, diff)
			}
			if s.reserveForList(2*size) != nil && tc.wakes == 0 {
				t.Error("Memory that a list gave back can be taken again.\nreserveForList(...): want no error")
			}
		})
	}
}
