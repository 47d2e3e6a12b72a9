package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/function/intent"
)

func TestNetwork(t *testing.T) {
	cases := map[string]struct {
		reason string
		intent string
		site   map[string]string
		want   map[string]string
	}{
		"Nothing": {
			reason: "A value that the intent leaves out is the Blueprint's.",
			intent: `{"service": "shop"}`,
			site:   map[string]string{"plmn": "00101"},
			want:   map[string]string{"priority": "medium"},
		},
		"Everything": {
			reason: "Each thing has its key.",
			intent: `{"service": "shop", "priority": "high", "endpoints": [{"name": "dns", "port": 53, "protocol": "UDP"}],
				"qos": {"downlinkMbps": 200, "uplinkMbps": 50, "latencyMs": 20, "jitterMs": 0.5, "packetLossRate": 0.001},
				"slice": {"sst": 1, "sd": "00000A", "plmn": "00102"}}`,
			site: map[string]string{"plmn": "00101"},
			want: map[string]string{
				"priority": "high", "endpoint-dns": "53", "protocol-dns": "UDP", "qos-downlink-mbps": "200", "qos-uplink-mbps": "50",
				"qos-latency-ms": "20", "qos-jitter-ms": "0.5", "qos-packet-loss-rate": "0.001", "slice-sst": "1", "slice-sd": "00000a",
				"slice-plmn": "00102",
			},
		},
		"Class": {
			reason: "A class has defaults, and a slice is in its Site's network.",
			intent: "URLLC slice",
			site:   map[string]string{"plmn": "00101"},
			want:   map[string]string{"priority": "medium", "qos-latency-ms": "10", "slice-sst": "2", "slice-plmn": "00101"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			i, err := intent.FromText(tc.intent)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, networkValues(i, Site{Parameters: tc.site})); diff != "" {
				t.Errorf("\n%s\nnetwork(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
