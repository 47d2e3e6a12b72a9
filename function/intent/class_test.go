package intent

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClassDefaults(t *testing.T) {
	cases := map[string]struct {
		reason  string
		text    string
		sst     int32
		latency string
	}{
		"EMBB":  {reason: "A slice for broadband is of slice type 1.", text: "eMBB slice", sst: 1, latency: "50"},
		"URLLC": {reason: "Low latency is slice type 2.", text: "URLLC slice", sst: 2, latency: "10"},
		"MMTC":  {reason: "A slice for machines is of slice type 3.", text: "mMTC slice", sst: 3, latency: "100"},
		"Said":  {reason: "An explicit SST and latency take precedence over the class.", text: "mMTC slice, SST 130, under 1 s", sst: 130, latency: "1000"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := FromText(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.sst, *got.Slice.SST); diff != "" {
				t.Errorf("\n%s\nSlice.SST: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.latency, got.QoS.LatencyMs); diff != "" {
				t.Errorf("\n%s\nQoS.LatencyMs: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
