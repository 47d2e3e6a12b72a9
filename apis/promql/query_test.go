package promql

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	catalogv1alpha1 "github.com/intentplane/intentplane/apis/catalog/v1alpha1"
)

func TestQueries(t *testing.T) {
	metrics := []catalogv1alpha1.BlueprintMetric{
		{Name: "errors", Query: `sum(rate(x{a="{{service}}"}[5m]))`, Direction: catalogv1alpha1.DirectionAtMost},
		{Name: "up", Query: `100 * avg(up{ns="{{namespace}}",site=~"{{site}}"})`, Unit: "%", Direction: catalogv1alpha1.DirectionAtLeast},
	}
	got, err := Queries(metrics, Values{Service: "shop", Namespace: "team-a", Site: "edge.1"})
	if err != nil {
		t.Fatal(err)
	}
	want := []Query{
		{Metric: "errors", Text: `sum(rate(x{a="shop"}[5m]))`, Direction: catalogv1alpha1.DirectionAtMost},
		{Metric: "up", Text: `100 * avg(up{ns="team-a",site=~"(?:edge\\.1)"})`, Unit: "%", Direction: catalogv1alpha1.DirectionAtLeast},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Queries(...): -want, +got:\n%s", diff)
	}
}

// TestTracks checks and fills queries that compare two tracks.
func TestTracks(t *testing.T) {
	const compares = `sum(errors{job="{{service}}-{{canary}}"}) / clamp_min(sum(errors{job=~"{{service}}-{{stable}}-.*"}), 0.001)`
	cases := map[string]struct {
		reason string
		metric catalogv1alpha1.BlueprintMetric
		want   string
	}{
		"Canary": {reason: "The query for canaries may name both tracks.", metric: catalogv1alpha1.BlueprintMetric{Query: "up", Canary: compares}},
		"Query": {
			reason: "A query for 100 percent may name no track, since the stable one gets no requests then.", metric: catalogv1alpha1.BlueprintMetric{Query: compares},
			want: "spec.metrics[0].query: {{canary}} stands for a track, and this query is asked where only one gets requests: put it into " +
				"canary of a Blueprint's metric",
		},
		"Stable": {
			reason: "A query for 100 percent that names the stable track is refused.", metric: catalogv1alpha1.BlueprintMetric{Query: `up{job="{{stable}}"}`},
			want: "spec.metrics[0].query: {{stable}} stands for a track, and this query is asked where only one gets requests: put it into " +
				"canary of a Blueprint's metric",
		},
		"Constant": {
			reason: "A query that measures nothing is refused.", metric: catalogv1alpha1.BlueprintMetric{Query: "vector(1) * 2"},
			want: "spec.metrics[0].query: gives 2 each time, so that it measures nothing: select a metric",
		},
		"ConstantCanary": {
			reason: "A query for canaries that measures nothing is refused.", metric: catalogv1alpha1.BlueprintMetric{Query: "up", Canary: "absent(vector(2))"},
			want: "spec.metrics[0].canary: gives 1 each time, so that it measures nothing: select a metric",
		},
		"Absent": {
			reason: "An absence of alerts is empty while one fires.",
			metric: catalogv1alpha1.BlueprintMetric{Query: `absent(ALERTS{service="{{service}}"})`},
		},
		"Group":    {reason: "A group of filtered targets may be empty.", metric: catalogv1alpha1.BlueprintMetric{Query: `group(up{job="{{service}}"} == 1)`}},
		"Filtered": {reason: "A filter for one value may drop all series.", metric: catalogv1alpha1.BlueprintMetric{Query: "up", Canary: "x == 3"}},
		"Unknown": {
			reason: "A placeholder in the query for canaries has to be known.", metric: catalogv1alpha1.BlueprintMetric{Query: "up", Canary: `up{job="{{blue}}"}`},
			want: `spec.metrics[0].canary: "{{blue}}" is not a placeholder: they are {{namespace}}, {{service}} and {{site}}, and in canary of a metric {{canary}} and {{stable}}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := Check([]catalogv1alpha1.BlueprintMetric{tc.metric}); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("\n%s\nCheck(...): -want error, +got:\n%s", tc.reason, diff)
			}
		})
	}
	q, err := Parse(compares)
	if err != nil {
		t.Fatal(err)
	}
	got, err := q.Fill(Values{Service: "web", Canary: "green", Stable: "blue"})
	want := `sum(errors{job="web-green"}) / clamp_min(sum(errors{job=~"(?:web)-(?:blue)-.*"}), 0.001)`
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("\nThe names of the tracks stand for themselves.\nFill(...): -want, +got:\n%s\n%v", diff, err)
	}
	if _, err := q.Fill(Values{Service: "web"}); err == nil {
		t.Error("A query that compares tracks cannot be filled without them.\nFill(...): want an error, got nil")
	}
}

func TestPaths(t *testing.T) {
	metrics := []catalogv1alpha1.BlueprintMetric{{Query: "up"}, {Query: `up{a="{{service}}"`}}
	const want = "spec.metrics[1].query: is not PromQL"
	if err := Check(metrics); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Check(...): want error %q, got %v", want, err)
	}
	if _, err := Queries(metrics, Values{}); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("Queries(...): want error %q, got %v", want, err)
	}
	if err := Check(metrics[:1]); err != nil {
		t.Errorf("Check(...): %v", err)
	}
	tooMany := slices.Repeat([]catalogv1alpha1.BlueprintMetric{{Query: "up" + strings.Repeat(" ", 4000)}}, 5)
	if err := Check(tooMany); err == nil || err.Error() != "spec.metrics[4].query: the queries have more than 16384 bytes together" {
		t.Errorf("Check(...) of many bytes: got %v", err)
	}
	heavy := slices.Repeat([]catalogv1alpha1.BlueprintMetric{{Query: `max(x{a=~"[a-z]{999}b{999}[a-z]{999}c{999}"})`}}, 12)
	if err := Check(heavy); err == nil || err.Error() != "spec.metrics[8].query: the regular expressions of all queries together take too long to compile" {
		t.Errorf("Check(...) of many expressions: got %v", err)
	}
}
