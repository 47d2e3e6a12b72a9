package overview

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
)

func TestHistoryLines(t *testing.T) {
	want := `shop  team-a  IntentDeployment intentplane.dev                 RollingBack 0m41s
revision  commit   verdict            sites     requested by        since
7         8d21c0e  Rejected           1/2       the intent          14:02:59
            GateFailed: latency_p99 at edge2 is 812ms, not <= 500ms.
6         11b9e02  Withdrawn          -         the intent          13:20:40
5         5f77a90  Verified (target)  2/2       -                   11:47:40`
	got := strings.Join(HistoryLines(overviewOf(samples.RollingBack()), style()), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
