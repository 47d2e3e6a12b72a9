package alerting

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
)

func TestJoinSnapshots(t *testing.T) {
	previous := map[string]model.SampleValue{"stays": 1, "changes": 0, "ends": 2}
	current := map[string]model.SampleValue{"stays": 1, "changes": 1, "begins": 3}
	want := map[string]string{"stays": "1+0x89 1+0x90", "changes": "0+0x89 1+0x90", "ends": "2+0x89 stale", "begins": "_x90 3+0x90"}
	if diff := cmp.Diff(want, joinSnapshots(previous, current)); diff != "" {
		t.Errorf("joinSnapshots(...): -want, +got:\n%s", diff)
	}
}

func TestRelevantOf(t *testing.T) {
	cases := map[string]struct {
		reason string
		metric model.Metric
		want   bool
	}{
		"Ours": {
			reason: "A series of an object of the namespace is relevant.",
			metric: model.Metric{"__name__": "m", "namespace": "team-a", "name": "shop"}, want: true,
		},
		"Theirs": {reason: "A series of an object of another namespace is not.", metric: model.Metric{"__name__": "m", "namespace": "team-b", "name": "shop"}},
		"Cluster": {
			reason: "A cluster-scoped object belongs to the namespace that its name begins with.",
			metric: model.Metric{"__name__": "m", "name": "team-a-config"}, want: true,
		},
		"Foreign": {reason: "A cluster-scoped object with another name belongs to other tests.", metric: model.Metric{"__name__": "m", "name": "default"}},
		"Shared":  {reason: "A metric about no object is relevant where an alert of the story names it.", metric: model.Metric{"__name__": "shared"}, want: true},
		"Unshared": {
			reason: "A metric without an object counts the work of other tests, and is left out if no alert of the story names it.",
			metric: model.Metric{"__name__": "m"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			m := Snapshot{series: model.Vector{{Metric: tc.metric, Value: 1}}}
			if got := len(Observer{Namespace: "team-a"}.relevantSeries(m, []string{"shared"})) == 1; got != tc.want {
				t.Errorf("\n%s\nrelevantOf(...): want %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}

func TestMetricsOf(t *testing.T) {
	got := metricsOfAlerts(t, []Alert{{Expr: `(a_b{x="y_z"} == 1 or c_d < 1) unless on (namespace) a_b`}, {Expr: `absent(e_f)`}})
	if diff := cmp.Diff([]string{"a_b", "c_d", "e_f"}, got); diff != "" {
		t.Errorf("metricsOf(...): -want, +got:\n%s", diff)
	}
}
