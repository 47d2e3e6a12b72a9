package intent

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSettings(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   []Setting
	}{
		"Nothing": {
			reason: "The product itself uses service, type, Sites and objectives, so they are not settings.",
			text:   `{"service": "shop", "type": "web", "site": "edge1", "slos": {"latency_p99": "<= 500ms"}}`,
			want:   nil,
		},
		"Defaults": {
			reason: "A value that equals its default is not a setting.",
			text:   `{"service": "shop", "type": "urllc", "replicas": 1, "priority": "medium", "slice": {"sst": 2}, "qos": {"latencyMs": 10}}`,
			want:   nil,
		},
		"Workload": {
			reason: "The image, the replicas and the resources are settings.",
			text:   `{"service": "shop", "image": "shop:1", "resources": {"cpu": "1", "memory": "1Gi"}, "replicas": 3, "priority": "high"}`,
			want: []Setting{
				{"image", "image"}, {"priority", "priority"}, {"replicas", "replicas"}, {"resources.cpu", "cpu"}, {"resources.memory", "memory"},
			},
		},
		"Sites": {
			reason: "Replicas of single Sites are named by the Site.",
			text:   `{"service": "shop", "replicas": {"edge1": 2, "edge2": 1}}`,
			want:   []Setting{{"siteReplicas.edge1", "replicas"}},
		},
		"Endpoints": {
			reason: "A port is a setting, and so is a protocol that is not TCP.",
			text:   `{"service": "shop", "endpoints": [{"name": "n2", "port": 38412, "protocol": "SCTP"}, {"name": "http", "port": 80}]}`,
			want: []Setting{
				{"endpoints[http].port", "endpoint-http"}, {"endpoints[n2].port", "endpoint-n2"}, {"endpoints[n2].protocol", "protocol-n2"},
			},
		},
		"Network": {
			reason: "Values for the network are settings, also the latency of a class when another one was set.",
			text: `{"service": "shop", "type": "embb", "qos": {"downlinkMbps": 1, "uplinkMbps": 2, "latencyMs": 3, "jitterMs": 4, "packetLossRate": 0.5},
				"slice": {"sd": "00000a", "plmn": "00101"}}`,
			want: []Setting{
				{"qos.downlinkMbps", "qos-downlink-mbps"},
				{"qos.jitterMs", "qos-jitter-ms"},
				{"qos.latencyMs", "qos-latency-ms"},
				{"qos.packetLossRate", "qos-packet-loss-rate"},
				{"qos.uplinkMbps", "qos-uplink-mbps"},
				{"slice.plmn", "slice-plmn"},
				{"slice.sd", "slice-sd"},
			},
		},
		"Parameters": {
			reason: "Each parameter of the intent is a setting.",
			text:   `{"service": "shop", "parameters": {"greeting": "Hi", "color": "blue"}}`,
			want:   []Setting{{"parameters.color", "param-color"}, {"parameters.greeting", "param-greeting"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			i, err := FromText(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, i.Settings()); diff != "" {
				t.Errorf("\n%s\nSettings(): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
