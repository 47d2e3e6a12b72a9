package measured

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/gaterecord"
	"github.com/intentplane/intentplane/apis/ledger"
	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

// judging returns a Gate of a revision and a step, with two checks.
func judging(revision int64, step int32) *rolloutv1alpha1.Gate {
	g := &rolloutv1alpha1.Gate{}
	g.Namespace, g.Name, g.UID = "team-a", fmt.Sprintf("shop-r%d-s%d", revision, step), "u"
	g.Spec.ForProvider.ClaimRef = rolloutv1alpha1.ClaimReference{APIGroup: deploymentv1alpha1.GroupClaims, Kind: deploymentv1alpha1.Kind, Namespace: "team-a", Name: "shop"}
	g.Spec.ForProvider.Position = &ledger.Position{Epoch: 1, Revision: revision, Step: step}
	g.Spec.ForProvider.Checks = []rolloutv1alpha1.GateCheck{
		{Check: deploymentv1alpha1.Check{Name: "p99", Site: "edge1", Type: "Prometheus", Threshold: "<= 500ms", Unit: "ms"}},
		{Check: deploymentv1alpha1.Check{Name: "smoke", Site: "edge2", Type: "Job"}},
	}
	return g
}

func measurements(n int) []gaterecord.Measurement {
	out := make([]gaterecord.Measurement, n)
	for i := range out {
		out[i] = gaterecord.Measurement{Outcome: "Pass", Value: fmt.Sprint(i)}
	}
	return out
}

// TestNewDocument lists each check with its threshold, its result and its measurements.
func TestNewDocument(t *testing.T) {
	g := judging(7, 1)
	g.Status.AtProvider.Verdict = rolloutv1alpha1.GateFailed
	g.Status.AtProvider.Checks = []rolloutv1alpha1.CheckResult{{Name: "p99", Site: "edge1", Phase: rolloutv1alpha1.CheckFailed, Value: "812", Message: "the value is beyond the threshold"}}
	got := newDocument(g, map[string]checkLog{"edge1/p99": {taken: measurements(2), omitted: 3}})
	want := gaterecord.Gate{Gate: "shop-r7-s1", Position: ledger.Position{Epoch: 1, Revision: 7, Step: 1}, Verdict: rolloutv1alpha1.GateFailed, Checks: []gaterecord.Check{
		{Name: "p99", Site: "edge1", Type: "Prometheus", Threshold: "<= 500ms", Unit: "ms", Phase: rolloutv1alpha1.CheckFailed, Value: "812", Message: "the value is beyond the threshold", Omitted: 3, Measurements: measurements(2)},
		{Name: "smoke", Site: "edge2", Type: "Job", Phase: rolloutv1alpha1.CheckPending},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("newDocument(...): -want, +got:\n%s", diff)
	}
}

func TestMergeDocument(t *testing.T) {
	g := judging(7, 1)
	encode := func(d gaterecord.Gate) string {
		b, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	earlier := encode(newDocument(g, map[string]checkLog{"edge1/p99": {taken: measurements(2), omitted: 1}}))
	cases := map[string]struct {
		reason string
		before string
		taken  map[string]checkLog
		want   int
	}{
		"Nothing": {reason: "The first document has what was measured.", taken: map[string]checkLog{"edge1/p99": {taken: measurements(1)}}, want: 1},
		"Restart": {reason: "What an earlier provider measured stays with a check that is measured no more.", before: earlier, want: 2},
		"Again":   {reason: "A check that is measured again has its new measurements.", before: earlier, taken: map[string]checkLog{"edge1/p99": {taken: measurements(1)}}, want: 1},
		"Broken":  {reason: "A document that a user broke counts for nothing.", before: "{", taken: map[string]checkLog{"edge1/p99": {taken: measurements(1)}}, want: 1},
		"Other":   {reason: "The document of another attempt counts for nothing.", before: strings.Replace(earlier, `"attempt":0`, `"attempt":1`, 1), want: 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := mergeDocument(newDocument(g, tc.taken), tc.before)
			if diff := cmp.Diff(tc.want, len(got.Checks[0].Measurements)); diff != "" {
				t.Errorf("\n%s\nmergeDocument(...): measurements: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestDocumentIsBounded encodes a Gate with many checks that measured a lot.
func TestDocumentIsBounded(t *testing.T) {
	d := gaterecord.Gate{Gate: "shop-r7-s1"}
	for i := range 200 {
		d.Checks = append(d.Checks, gaterecord.Check{Name: "errors", Site: fmt.Sprintf("edge%d", i), Message: strings.Repeat("m", 600), Measurements: measurements(maxOfCheck)})
	}
	text, err := encodeDocument(d)
	if err != nil {
		t.Fatal(err)
	}
	got := gaterecord.Gate{}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if len(text) > maxGateBytes || len(got.Checks) != 200 || got.Checks[0].Omitted == 0 {
		t.Errorf("encodeDocument(...): %d bytes, %d checks, %d omitted", len(text), len(got.Checks), got.Checks[0].Omitted)
	}
	small := gaterecord.Gate{Checks: []gaterecord.Check{{Name: "p99", Measurements: measurements(6000)}}}
	if text, err = encodeDocument(small); err != nil {
		t.Fatal(err)
	}
	got = gaterecord.Gate{}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	c := got.Checks[0]
	if len(text) > maxGateBytes || c.Omitted+len(c.Measurements) != 6000 || c.Measurements[len(c.Measurements)-1].Value != "5999" {
		t.Errorf("encodeDocument(...): %d bytes, %d omitted and %d listed", len(text), c.Omitted, len(c.Measurements))
	}
}

// TestRevisionIsBounded puts documents of many steps into one ConfigMap.
func TestRevisionIsBounded(t *testing.T) {
	all := map[string]string{"notes": strings.Repeat("n", 1<<10)}
	for step := range int32(5) {
		g := judging(7, step)
		text, err := encodeDocument(newDocument(g, map[string]checkLog{"edge1/p99": {taken: measurements(2000)}}))
		if err != nil {
			t.Fatal(err)
		}
		all = putDocument(all, g.GetName(), text)
	}
	var got []string
	for step := range int32(5) {
		if key := gaterecord.KeyOf(judging(7, step).GetName()); all[key] != "" {
			got = append(got, key)
		}
	}
	if n := sizeOf(all); n > maxBytes || len(got) == 0 || got[len(got)-1] != "shop-r7-s4.json" || len(got) == 5 {
		t.Errorf("putDocument(...): %d bytes of %v", n, got)
	}
}

// TestPutDocumentIsLinear puts a document beside those that a user wrote into the ConfigMap. With four times as many keys it does about four times as much.
func TestPutDocumentIsLinear(t *testing.T) {
	allocations := func(keys int) float64 {
		all := map[string]string{}
		for i := range keys {
			all[fmt.Sprintf("key-%05d", i)] = `{"gate": "shop", "position": {"step": 3}, "checks": [{"name": "` + strings.Repeat("a", 70) + `"}]}`
		}
		return testing.AllocsPerRun(1, func() {
			if out := putDocument(all, "shop-r7-s4", strings.Repeat("a", 256<<10)); len(out) != 1 {
				t.Errorf("putDocument(...): %d documents are left", len(out))
			}
		})
	}
	if few, many := allocations(500), allocations(2000); many > 6*few {
		t.Errorf("putDocument(...): %.0f allocations with 500 keys, and %.0f with 2,000", few, many)
	}
}
