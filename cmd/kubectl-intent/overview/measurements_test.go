package overview

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/apis/gaterecord"
	"github.com/intentplane/intentplane/apis/ledger"
)

// TestMeasurementLines shows the measurements of one check of a step, and not those of another check.
func TestMeasurementLines(t *testing.T) {
	at := time.Date(2031, 5, 6, 12, 0, 0, 0, time.UTC)
	all := []gaterecord.Gate{{Gate: "shop-r7-s0", Position: ledger.Position{Revision: 7}, Checks: []gaterecord.Check{
		{Name: "error_rate", Site: "edge1"},
		{Name: "latency_p99", Site: "edge2", Threshold: "<= 500ms", Unit: "ms", Phase: "Failed", Omitted: 2, Measurements: []gaterecord.Measurement{
			{At: metav1.NewTime(at), Outcome: "Pass", Value: "212"}, {At: metav1.NewTime(at.Add(30 * time.Second)), Outcome: "Unavailable", Message: "no answer"},
		}},
	}}}
	want := []string{
		"latency_p99  revision 7  step 1  edge2  Failed",
		"at             outcome      value      threshold",
		"(2 earlier ones are not kept)",
		"12:00:00       Pass         212ms      <= 500ms",
		"12:00:30       Unavailable  -          <= 500ms     no answer",
	}
	var got []string
	for _, line := range MeasurementLines(KeptChecks(all, "latency_p99"), Style{Now: at}) {
		got = append(got, strings.TrimRight(line, " "))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("MeasurementLines(...): -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"error_rate", "latency_p99"}, KeptCheckNames(all)); diff != "" {
		t.Errorf("KeptCheckNames(...): -want, +got:\n%s", diff)
	}
}
