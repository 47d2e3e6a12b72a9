package clusters

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/provider/memory"
)

// TestHostileTenantHasOneShare has several clusters of one tenant use one share of memory, and the clusters of others their own shares:
// also clusters of an administrator, whose Clusters may be in one namespace of Cluster API.
func TestHostileTenantHasOneShare(t *testing.T) {
	p := NewPool(nil, NewAccounts(Bounds{Store: 1000}), nil)
	register := func(key string, a Access) *account {
		p.links[key] = &link{key: key, account: p.accountOf(key, a)} // An account lives as long as its links.
		return p.links[key].account
	}
	first, second := register("a", Access{Origin: "team-a", Tenant: "team-a"}), register("b", Access{Origin: "team-a", Tenant: "team-a"})
	otherTenant, admin := register("c", Access{Origin: "team-b", Tenant: "team-b"}), register("d", Access{})
	fleet, fleet2 := register("e", Access{Origin: "capi"}), register("f", Access{Origin: "capi"})
	if fleet == fleet2 {
		t.Error("each cluster that an administrator named has an account, also where all are in one namespace of Cluster API")
	}
	if first != second || first == otherTenant || first == admin || p.accountOf(homeLink, Access{}) != nil {
		t.Error("one tenant has one account, and shares it with no other")
	}
	if err := first.memory.takeMemory(900); err != nil {
		t.Error(err)
	}
	if second.memory.takeMemory(200) == nil || otherTenant.memory.takeMemory(900) != nil || admin.memory.takeMemory(900) != nil {
		t.Error("the share of a tenant is for all clusters of that tenant, and for no other")
	}
}

// TestPoolsShareAccount has two pools of a process read clusters of one tenant.
func TestPoolsShareAccount(t *testing.T) {
	accounts, tenant := NewAccounts(Bounds{Store: 1000}), Access{Origin: "team-a", Tenant: "team-a"}
	first, second := NewPool(nil, accounts, nil).accountOf("a", tenant), NewPool(nil, accounts, nil).accountOf("b", tenant)
	if err := first.memory.takeMemory(900); err != nil {
		t.Error(err)
	}
	if second.memory.takeMemory(200) == nil {
		t.Error("The bound of a tenant holds for all pools together.\ntakeMemory(...): want an error")
	}
}

// TestHomeObjectsHaveBound watches two namespaces of the provider's own cluster.
func TestHomeObjectsHaveBound(t *testing.T) {
	p := NewPool(nil, NewAccounts(Bounds{Store: 1000}), nil)
	home := &link{key: homeLink}
	first, second := newWatch(p, home, watchKey{namespace: "team-a"}), newWatch(p, home, watchKey{namespace: "team-b"})
	if err := first.storeAccount.memory.takeMemory(homeFactor * 1000); err != nil || first.account != nil {
		t.Errorf("The objects of GitOps engines have room in one namespace.\ntakeMemory(...): %v", err)
	}
	if first.storeAccount.memory.takeMemory(1) == nil || second.storeAccount.memory.takeMemory(1) != nil {
		t.Error("Objects that a tenant writes in a namespace of the control plane take memory of that namespace alone.\ntakeMemory(...): want one error")
	}
}

// TestHomeObjectsHaveTotal watches many namespaces of the provider's own cluster, which a tenant fills.
func TestHomeObjectsHaveTotal(t *testing.T) {
	p := NewPool(nil, NewAccounts(Bounds{Store: 1000}), nil)
	home, watches, took := &link{key: homeLink}, []*watch{}, int64(0)
	for n := range 20 {
		w := newWatch(p, home, watchKey{namespace: fmt.Sprint("hostile-", n)})
		watches = append(watches, w)
		for w.storeAccount.memory.takeMemory(100) == nil {
			took += 100
		}
	}
	if limit := int64(homeTotalFactor*1000 + 20*1000/guaranteedPart); took > limit || took < limit/2 {
		t.Errorf("The objects of all namespaces have a bound.\ntakeMemory(...): %d bytes, want at most %d", took, limit)
	}
	good := newWatch(p, home, watchKey{namespace: "team-a"}).storeAccount.memory
	if err := good.takeMemory(1000 / guaranteedPart); err != nil {
		t.Errorf("A namespace has some memory although others fill the rest.\ntakeMemory(...): %v", err)
	}
	if good.takeMemory(1) == nil {
		t.Error("Beyond its guarantee a namespace has what others leave.\ntakeMemory(...): want an error")
	}
	if err := watches[0].storeAccount.memory.takeMemory(-1000); err != nil || good.takeMemory(1000) != nil {
		t.Errorf("Memory that is given back is there for others.\ntakeMemory(...): %v", err)
	}
	runtime.KeepAlive(watches)
}

// TestProcessCountsClusters takes memory for the objects of a tenant's cluster, far more than other tests leave behind.
func TestProcessCountsClusters(t *testing.T) {
	const taken, others = 1 << 30, 1 << 20
	baseline, q := memory.Used(), newQuota(taken)
	if err := q.takeMemory(taken); err != nil || q.takeMemory(1) == nil {
		t.Errorf("A quota has a bound.\ntakeMemory(...): %v, and then no error", err)
	}
	if got := memory.Used() - baseline; got < taken-others || got > taken+others {
		t.Errorf("The account of the process counts the memory that a quota has given.\nUsed(): want %d bytes more, got %d", taken, got)
	}
	for _, payer := range []string{"", "team-a"} {
		release, ok := memory.TryReserveLarge(payer)
		if !ok {
			t.Fatalf("Watched objects of clusters delay no answer of a Git server.\nTryReserveLarge(%q): want room", payer)
		}
		release()
	}
	if err := q.takeMemory(-taken); err != nil || memory.Used()-baseline > others {
		t.Errorf("The account of the process gets the memory back.\nUsed(): want %d, got %d, %v", baseline, memory.Used(), err)
	}
}

func newObject(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name, "namespace": "flux", "resourceVersion": "1"}}}
}

// TestListReplacesObjects lists the objects of a watch again, with and without room beside the objects that the watch has.
func TestListReplacesObjects(t *testing.T) {
	size := memoryOf(newObject("a").Object)
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
			s := newStore(newAccount(Bounds{Store: tc.store}), func(previous, current *unstructured.Unstructured) {
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
					if err := s.reserveForList(memoryOf(newObject(name).Object)); err != nil {
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
			if diff := cmp.Diff([]any{tc.between, "a", tc.wakes, 2 * size}, []any{first, second, wakes, s.quota.used.Load()}); diff != "" {
				t.Errorf("%s\nbetween, after, wakes, memory: -want, +got:\n%s", tc.reason, diff)
			}
			if s.reserveForList(2*size) != nil && tc.wakes == 0 {
				t.Error("Memory that a list gave back can be taken again.\nreserveForList(...): want no error")
			}
		})
	}
}
