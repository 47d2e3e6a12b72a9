package overview

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cause"
)

func TestUnreadSummary(t *testing.T) {
	all := []cause.Unread{{Object: "providers", Reason: "denied"}, {Object: "leases", Reason: "absent"}, {Object: "functions", Reason: "denied"}}
	want := []string{"Not read: providers, functions: denied", "Not read: leases: absent"}
	if diff := cmp.Diff(want, UnreadSummary(all)); diff != "" {
		t.Errorf("Kinds that could not be read for the same reason stand on one line: -want, +got:\n%s", diff)
	}
}
