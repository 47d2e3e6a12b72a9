package intent

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

func TestFormsAgree(t *testing.T) {
	cases := map[string]struct {
		reason      string
		texts       []string
		expectation *deploymentv1alpha1.Expectation
		want        string
	}{
		"Service": {
			reason: "It does not matter how a service is said.",
			texts: []string{
				`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3, "resources": {"cpu": "2", "memory": "4Gi"}, "endpoints": [{"name": "http", "port": 8080}], "priority": "high"}`,
				"priority: high\nresources:\n  memory: 4096Mi\n  cpu: 2000m\nreplicas: 3\nsites:\n- edge2\n- edge1\nservice: shop\nendpoints:\n- port: 8080\n  name: http\n  protocol: TCP\n",
				"Deploy shop on edge1 and edge2 with 3 replicas, 2 CPU and 4Gi each, port 8080 as http, high priority",
			},
			expectation: &deploymentv1alpha1.Expectation{
				Service: "shop", Sites: []deploymentv1alpha1.SiteName{"edge2", "edge1"}, Replicas: replicas(3),
				Resources: deploymentv1alpha1.Resources{CPU: "2", Memory: "4Gi"}, Priority: "high",
				Endpoints: []deploymentv1alpha1.Endpoint{{Name: "http", Port: 8080, Protocol: "TCP"}},
			},
			want: `{"endpoints":[{"name":"http","port":8080}],"priority":"high","replicas":3,"resources":{"cpu":"2","memory":"4Gi"},"service":"shop","sites":["edge1","edge2"]}`,
		},
		"Slice": {
			reason: "Nor how a slice is.",
			texts: []string{
				`{"service": "embb-slice", "type": "embb", "site": "edge1", "qos": {"downlinkMbps": 200, "latencyMs": 20}}`,
				`{"service": "embb-slice", "type": "embb", "site": "edge1", "slice": {"sst": 1}, "qos": {"downlinkMbps": "200.0", "latencyMs": "20"}}`,
				`{"intentId": "a", "service": {"name": "embb-slice", "type": "eMBB"}, "targetSite": "edge1", "qos": {"dl_mbps": 200, "latency_ms": 20}}`,
				`{"intentExpectations": [
					{"intentType": "NetworkSliceIntentExpectation", "targets": [{"name": "embb-slice"}], "context": [{"contextType": "SliceContext", "sliceType": "eMBB"}, {"contextType": "SiteContext", "sites": ["edge1"]}]},
					{"intentExpectationId": "a", "intentExpectationType": "NetworkSlicePerformance", "intentExpectationTarget": {"targetAttribute": "dlThroughput", "targetCondition": "GREATER_THAN_OR_EQUAL", "targetValue": "0.2 Gbps"}},
					{"intentExpectationId": "b", "intentExpectationType": "NetworkSlicePerformance", "intentExpectationTarget": {"targetAttribute": "latency", "targetCondition": "LESS_THAN", "targetValue": "20ms"}}]}`,
				"eMBB slice at edge1, 200 Mbps down, under 20 ms",
				"Deploy embb-slice as an eMBB slice at edge1, latency below 0.02 s, downlink 0.2 Gbps",
			},
			expectation: &deploymentv1alpha1.Expectation{
				Service: "embb-slice", Type: "embb", Sites: []deploymentv1alpha1.SiteName{"edge1"},
				QoS: &deploymentv1alpha1.QoS{DownlinkMbps: "200", LatencyMs: "20"}, Slice: &deploymentv1alpha1.Slice{SST: 1},
			},
			want: `{"qos":{"downlinkMbps":"200","latencyMs":"20"},"service":"embb-slice","sites":["edge1"],"type":"embb"}`,
		},
		"SliceDefaults": {
			reason: "What a class says need not be said.",
			texts: []string{
				"URLLC slice", `{"service": "urllc-slice", "type": "urllc"}`, "URLLC slice, SST 2, under 10 ms",
				`{"service": "urllc-slice", "type": "urllc", "slice": {"sst": 2}, "qos": {"latencyMs": 10}}`,
			},
			expectation: &deploymentv1alpha1.Expectation{Service: "urllc-slice", Type: "urllc"},
			want:        `{"service":"urllc-slice","type":"urllc"}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			first, err := FromExpectation(tc.expectation)
			if err != nil {
				t.Fatalf("\n%s\nFromExpectation(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, string(first.Canonical())); diff != "" {
				t.Errorf("\n%s\nCanonical(): -want, +got:\n%s", tc.reason, diff)
			}
			for _, text := range tc.texts {
				got, err := FromText(text)
				if err != nil {
					t.Errorf("\n%s\nFromText(%q): %v", tc.reason, text, err)
				}
				if diff := cmp.Diff(first, got); diff != "" {
					t.Errorf("\n%s\nFromText(%q): -want, +got:\n%s", tc.reason, text, diff)
				}
			}
		})
	}
}

func TestClassDefaults(t *testing.T) {
	cases := map[string]struct {
		reason  string
		text    string
		sst     int32
		latency string
	}{
		"EMBB":  {reason: "Broadband is slice type 1.", text: "eMBB slice", sst: 1, latency: "50"},
		"URLLC": {reason: "Low latency is slice type 2.", text: "URLLC slice", sst: 2, latency: "10"},
		"MMTC":  {reason: "Machines are slice type 3.", text: "mMTC slice", sst: 3, latency: "100"},
		"Said":  {reason: "What is said wins.", text: "mMTC slice, SST 130, under 1 s", sst: 130, latency: "1000"},
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

// TestStyle says each document that is understood again, with its fields in another order, as YAML and as JSON.
func TestStyle(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, s := range golden(t) {
		if s.Error != "" || plainLanguage(s.Text) {
			continue
		}
		var value any
		if err := yaml.Unmarshal([]byte(s.Text), &value); err != nil {
			t.Fatal(err)
		}
		texts := []string{encoded(t, yaml.Marshal, value)}
		for range 20 {
			texts = append(texts, shuffled(t, value, random))
		}
		for _, text := range texts {
			got, err := FromText(text)
			if err != nil || string(got.Canonical()) != s.Canonical {
				t.Errorf("%s: FromText(%q): want %s, got %s, %v", s.Name, text, s.Canonical, got.Canonical(), err)
			}
		}
	}
}

// shuffled writes JSON with the fields of each object in some order.
func shuffled(t *testing.T, value any, random *rand.Rand) string {
	t.Helper()
	switch v := value.(type) {
	case map[string]any:
		fields := []string{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			fields = append(fields, encoded(t, json.Marshal, name)+": "+shuffled(t, v[name], random))
		}
		random.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
		return "{" + strings.Join(fields, ",\n ") + "}"
	case []any:
		items := []string{}
		for _, item := range v {
			items = append(items, shuffled(t, item, random))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return encoded(t, json.Marshal, value)
}

func encoded(t *testing.T, encode func(any) ([]byte, error), value any) string {
	t.Helper()
	b, err := encode(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSameEveryTime(t *testing.T) {
	var all sync.WaitGroup
	for _, s := range golden(t) {
		for range 10 {
			all.Go(func() {
				for range 10 {
					got, err := FromText(s.Text)
					if message(err) != s.Error || err == nil && string(got.Canonical()) != s.Canonical {
						t.Errorf("%s: FromText(...) is not always the same: %s, %v", s.Name, got.Canonical(), err)
					}
				}
			})
		}
	}
	all.Wait()
}

func TestThreshold(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   string
		err    string
	}{
		"Bare":      {reason: "Without a comparison the metric's direction counts.", text: "99.0", want: "99"},
		"Spaces":    {reason: "Spaces say nothing.", text: " >=  99.0  % ", want: ">= 99%"},
		"Seconds":   {reason: "Times are in milliseconds.", text: "<=0.5s", want: "<= 500ms"},
		"OtherUnit": {reason: "Only a Blueprint knows other units.", text: "> 010 requests/s", want: "> 10 requests/s"},
		"Words":     {reason: "A threshold has a number.", text: "fast", err: "must be a threshold such as '<= 500ms', '>= 99.0 %' or '< 0.05'"},
		"Digits":    {reason: "Digits are bounded.", text: "0.0000000001", err: "must have at most 15 digits before the point, and 9 behind it"},
		"Empty":     {reason: "Nothing is no threshold.", text: "", err: "must be a threshold such as '<= 500ms', '>= 99.0 %' or '< 0.05'"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Threshold("requests", tc.text)
			if diff := cmp.Diff(tc.err, message(err)); diff != "" {
				t.Fatalf("\n%s\nThreshold(...): -want error, +got error:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, got); err == nil && diff != "" {
				t.Errorf("\n%s\nThreshold(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func replicas(n int32) *deploymentv1alpha1.Replicas {
	r := deploymentv1alpha1.Replicas(n)
	return &r
}
