package intent

import (
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/test/shuffle"
	"github.com/intentplane/intentplane/test/soak"
)

func TestUnquotedSites(t *testing.T) {
	cases := map[string]struct {
		reason string
		text   string
		want   []string
	}{
		"Sentence": {reason: "A sentence lists the Sites that have no quotes.", text: `Deploy shop on edge1 and "edge2"`, want: []string{"edge1"}},
		"Quoted":   {reason: "A sentence whose Sites are all in quotes lists none.", text: `Deploy shop on "edge2"`},
		"Word":     {reason: "A word for several Sites is not the name of one.", text: "Deploy shop on all sites"},
		"JSON":     {reason: "A Site of a JSON document is a field, and no word that became a name by mistake.", text: `{"service": "shop", "site": "edge1"}`},
		"YAML":     {reason: "A Site of a YAML document is a field, and no word that became a name by mistake.", text: "service: shop\nsite: edge1\n"},
		"Refused":  {reason: "A refused sentence lists no Sites.", text: "Deploy shop on edge1 quickly"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, UnquotedSites(tc.text)); diff != "" {
				t.Errorf("\n%s\nUnquotedSites(%q): -want, +got:\n%s", tc.reason, tc.text, diff)
			}
		})
	}
}

func TestFormsAgree(t *testing.T) {
	cases := map[string]struct {
		reason      string
		texts       []string
		expectation *deploymentv1alpha1.Expectation
		want        string
	}{
		"Service": {
			reason: "Each form of a service intent gives the same intent.",
			texts: []string{
				`{"service": "shop", "sites": ["edge1", "edge2"], "replicas": 3, "resources": {"cpu": "2", "memory": "4Gi"}, "endpoints": [{"name": "http", "port": 8080}], "priority": "high"}`,
				"priority: high\nresources:\n  memory: 4096Mi\n  cpu: 2000m\nreplicas: 3\nsites:\n- edge2\n- edge1\nservice: shop\nendpoints:\n- " +
					"port: 8080\n  name: http\n  protocol: TCP\n",
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
			reason: "Each form of a slice intent gives the same intent.",
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
			reason: "A default of a class may be left out.",
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
		texts := []string{shuffle.Marshal(t, yaml.Marshal, value)}
		for range 20 {
			texts = append(texts, shuffle.WriteJSON(t, value, random))
		}
		for _, text := range texts {
			got, err := FromText(text)
			if err != nil || string(got.Canonical()) != s.Canonical {
				t.Errorf("%s: FromText(%q): want %s, got %s, %v", s.Name, text, s.Canonical, got.Canonical(), err)
			}
		}
	}
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

func replicas(n int32) *deploymentv1alpha1.Replicas {
	r := deploymentv1alpha1.Replicas(n)
	return &r
}

func FuzzFromText(f *testing.F) {
	for _, s := range golden(f) {
		f.Add(s.Text)
	}
	for _, seed := range []string{
		`{"service": "shop", "image": "a/b:c@sha256:` + strings.Repeat("0", 64) + `", "parameters": {"a.b": "\n\t\u2028"}}`,
		`{"a": [[[[]]]], "a": {"b": null}}`, "{", "[]", "\"", "{\"\\ud800\": 1}", "a: {b: [c, &d e]}", "? a\n: b", "a: !!binary aGk=",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		defer soak.Input(t)()
		i, err := FromText(text)
		if err != nil {
			checkMessage(t, text, err)
			return
		}
		reparsed, err := FromText(string(i.Canonical()))
		if err != nil {
			t.Fatalf("FromText(Canonical()) of %q: %v", text, err)
		}
		if diff := cmp.Diff(i, reparsed); diff != "" {
			t.Errorf("FromText(Canonical()) of %q: -want, +got:\n%s", text, diff)
		}
	})
}

// checkMessage wants a message that a condition can carry, and a terminal can show.
func checkMessage(t *testing.T, text string, err error) {
	t.Helper()
	m := err.Error()
	if len(m) > 24<<10 || !utf8.ValidString(m) || !strings.HasPrefix(m, "spec.intent: ") {
		t.Errorf("FromText(%q): the message has %d bytes: %q", text, len(m), m)
	}
	if i := strings.IndexFunc(m, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x200b && r <= 0x202e }); i >= 0 {
		t.Errorf("FromText(%q): the message has a character that hides something: %q", text, m)
	}
}

// A saying is a text, with its expected intent or the reason of its refusal.
type saying struct {
	Name      string `json:"name"`
	Text      string `json:"text"`
	Canonical string `json:"canonical,omitempty"`
	Error     string `json:"error,omitempty"`
}

func golden(tb testing.TB) []saying {
	tb.Helper()
	b, err := os.ReadFile("testdata/golden.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	var out []saying
	if err := yaml.UnmarshalStrict(b, &out); err != nil {
		tb.Fatal(err)
	}
	return out
}

func TestGolden(t *testing.T) {
	names := map[string]bool{}
	for _, s := range golden(t) {
		t.Run(s.Name, func(t *testing.T) {
			if names[s.Name] || (s.Canonical == "") == (s.Error == "") {
				t.Fatalf("%s must be there once, with canonical or with error", s.Name)
			}
			names[s.Name] = true
			got, err := FromText(s.Text)
			if diff := cmp.Diff(s.Error, message(err)); diff != "" {
				t.Fatalf("FromText(...): -want error, +got error:\n%s", diff)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(s.Canonical, string(got.Canonical())); diff != "" {
				t.Errorf("Canonical(): -want, +got:\n%s", diff)
			}
			reparsed, err := FromText(s.Canonical)
			if err != nil {
				t.Fatalf("FromText(Canonical()): %v", err)
			}
			if diff := cmp.Diff(got, reparsed); diff != "" {
				t.Errorf("FromText(Canonical()): -want, +got:\n%s", diff)
			}
		})
	}
}

func TestGoldenSize(t *testing.T) {
	all := golden(t)
	refused := len(slices.DeleteFunc(slices.Clone(all), func(s saying) bool { return s.Error == "" }))
	if len(all) < 60 || refused*2 < len(all) || len(all)-refused < 30 {
		t.Errorf("there must be at least 60 sayings, 30 of them understood and half of them refused, not %d, %d and %d", len(all), len(all)-refused, refused)
	}
}

// TestDocumentation runs each example of the documentation, and compares the result with the documentation.
func TestDocumentation(t *testing.T) {
	b, err := os.ReadFile("../../docs/intents.md")
	if err != nil {
		t.Fatal(err)
	}
	fence := regexp.MustCompile("(?s)```(intent|understood|refused)\n(.*?)\n```")
	blocks := fence.FindAllStringSubmatch(string(b), -1)
	var got Intent
	for _, block := range blocks {
		kind, text := block[1], block[2]
		switch kind {
		case "intent":
			got, err = FromText(text)
		case "understood":
			if diff := cmp.Diff(text, string(got.Canonical())); err != nil || diff != "" {
				t.Errorf("%v: -documented, +understood:\n%s", err, diff)
			}
		case "refused":
			if diff := cmp.Diff(text, message(err)); diff != "" {
				t.Errorf("-documented, +refused:\n%s", diff)
			}
			err = nil
		}
	}
	if len(blocks) < 15 || err != nil {
		t.Errorf("there must be at least 15 blocks, the last one understood or refused, not %d: %v", len(blocks), err)
	}
}
