package account

import (
	"testing"

	"github.com/intentplane/intentplane/provider/memory"
)

// TestProcessCountsClusters takes memory for the objects of a tenant's cluster, far more than other tests leave behind.
func TestProcessCountsClusters(t *testing.T) {
	const taken, others = 1 << 30, 1 << 20
	baseline, q := memory.Used(), newMemoryQuota(taken)
	if err := q.Take(taken); err != nil || q.Take(1) == nil {
		t.Errorf("A quota has a bound.\nTake(...): %v, and then no error", err)
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
	if err := q.Take(-taken); err != nil || memory.Used()-baseline > others {
		t.Errorf("The account of the process gets the memory back.\nUsed(): want %d, got %d, %v", baseline, memory.Used(), err)
	}
}
