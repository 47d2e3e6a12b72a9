package account

import (
	"fmt"
	"runtime"
	"testing"
)

// TestHomeObjectsHaveBound takes memory for two namespaces of the provider's own cluster.
func TestHomeObjectsHaveBound(t *testing.T) {
	accounts := New(Bounds{Store: 1000})
	first, second := accounts.ForHome("team-a"), accounts.ForHome("team-b")
	if err := first.Memory().Take(homeFactor * 1000); err != nil {
		t.Errorf("The objects of GitOps engines have room in one namespace.\nTake(...): %v", err)
	}
	if first.Memory().Take(1) == nil || second.Memory().Take(1) != nil {
		t.Error("Objects that a tenant writes in a namespace of the control plane take memory of that namespace alone.\nTake(...): want one error")
	}
}

// TestHomeObjectsHaveTotal takes memory for many namespaces of the provider's own cluster, which a tenant fills.
func TestHomeObjectsHaveTotal(t *testing.T) {
	accounts, all, took := New(Bounds{Store: 1000}), []*Account{}, int64(0)
	for n := range 20 {
		a := accounts.ForHome(fmt.Sprint("hostile-", n))
		all = append(all, a)
		for a.Memory().Take(100) == nil {
			took += 100
		}
	}
	if limit := int64(homeTotalFactor*1000 + 20*1000/guaranteedPart); took > limit || took < limit/2 {
		t.Errorf("The objects of all namespaces have a bound.\nTake(...): %d bytes, want at most %d", took, limit)
	}
	good := accounts.ForHome("team-a").Memory()
	if err := good.Take(1000 / guaranteedPart); err != nil {
		t.Errorf("A namespace has some memory although others fill the rest.\nTake(...): %v", err)
	}
	if good.Take(1) == nil {
		t.Error("Beyond its guarantee a namespace has what others leave.\nTake(...): want an error")
	}
	if err := all[0].Memory().Take(-1000); err != nil || good.Take(1000) != nil {
		t.Errorf("Memory that is given back is there for others.\nTake(...): %v", err)
	}
	runtime.KeepAlive(all)
}
