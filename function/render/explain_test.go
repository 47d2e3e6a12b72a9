package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
	"github.com/intentplane/intentplane/function/intent"
	"github.com/intentplane/intentplane/function/render/guard"
)

// TestExplainNetwork separates values of a claim from defaults.
func TestExplainNetwork(t *testing.T) {
	cases := map[string]struct {
		reason string
		intent string
		want   map[string]string
	}{
		"Class": {
			reason: "A class has defaults for absent values, and a Site its network.",
			intent: "URLLC slice", want: map[string]string{"slice-sst": "class", "qos-latency-ms": "class", "slice-plmn": "Site", "type": "claim"},
		},
		"Said": {
			reason: "An explicit value is the claim's, also if it equals a default of the class.",
			intent: `{"service": "a", "type": "urllc", "slice": {"sst": 2, "plmn": "00101"}, "qos": {"latencyMs": 10}}`,
			want:   map[string]string{"slice-sst": "claim", "qos-latency-ms": "claim", "slice-plmn": "claim", "type": "claim"},
		},
		"InSlice": {
			reason: "A slice needs no class.",
			intent: `{"service": "a", "slice": {"sst": 7, "sd": "00000a"}}`,
			want: map[string]string{
				"slice-sst": "claim", "slice-sd": "claim", "qos-latency-ms": "Blueprint, intent.yaml", "slice-plmn": "Site", "type": "default",
			},
		},
		"None": {
			reason: "Without a slice the Blueprint says it.",
			intent: `{"service": "a"}`,
			want: map[string]string{
				"slice-sst": "Blueprint, intent.yaml", "slice-plmn": "Blueprint, intent.yaml", "qos-latency-ms": "Blueprint, intent.yaml",
				"type": "default",
			},
		},
	}
	files := map[string]catalogv1alpha1.File{guard.IntentFile: "{apiVersion: v1, kind: ConfigMap, metadata: {name: intent}, data: {slice-sst: '9', slice-plmn: '99999', qos-latency-ms: '9'}}"}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			i, err := intent.FromText(tc.intent)
			if err != nil {
				t.Fatal(err)
			}
			values, err := Explain(Input{
				Blueprint: &catalogv1alpha1.Blueprint{Spec: catalogv1alpha1.BlueprintSpec{Files: files}}, Intent: i,
				Site: Site{Name: "edge1", Parameters: map[string]string{plmn: "00101"}},
			}, intent.ExplicitInText(tc.intent))
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, v := range values {
				if tc.want[v.Key] != "" {
					got[v.Key] = v.From
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nExplain(%q): -want, +got:\n%s", tc.reason, tc.intent, diff)
			}
		})
	}
}
