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
	many := slices.Repeat([]catalogv1alpha1.BlueprintMetric{{Query: "up" + strings.Repeat(" ", 4000)}}, 5)
	if err := Check(many); err == nil || err.Error() != "spec.metrics[4].query: the queries have more than 16384 bytes together" {
		t.Errorf("Check(...) of many bytes: got %v", err)
	}
	heavy := slices.Repeat([]catalogv1alpha1.BlueprintMetric{{Query: `max(x{a=~"[a-z]{999}b{999}[a-z]{999}c{999}"})`}}, 12)
	if err := Check(heavy); err == nil || err.Error() != "spec.metrics[8].query: the regular expressions of all queries together take too long to compile" {
		t.Errorf("Check(...) of many expressions: got %v", err)
	}
}
