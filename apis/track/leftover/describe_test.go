package leftover

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/track"
	"github.com/intentplane/intentplane/apis/track/object"
)

func TestDescribe(t *testing.T) {
	got, err := Describe(readTree(t, "../testdata/everything/alone"), track.Blue)
	if err != nil {
		t.Fatalf("Describe(...): %v", err)
	}
	named := func(group, kind, name string) object.Object {
		return object.Object{Group: group, Kind: kind, Namespace: "shop", Name: name}
	}
	want := &Description{
		PerTrack: []object.Object{
			named("", "ConfigMap", "certificates"), named("", "ConfigMap", "web-settings-7bk96k2h5m"), named("apps", "Deployment", "web"),
			named("autoscaling", "HorizontalPodAutoscaler", "web"), named("policy", "PodDisruptionBudget", "web"),
			named("keda.sh", "ScaledObject", "web"), named("", "Secret", "token"), named("", "Service", "web"),
			named("monitoring.coreos.com", "ServiceMonitor", "web"),
		},
		Shared: []object.Object{
			named("", "ConfigMap", "certificates"), named("", "ConfigMap", "unused"), named("batch", "CronJob", "report"),
			named("policy", "PodDisruptionBudget", "all"), named("", "Service", "database"), named("", "Service", "metrics"),
			named("", "Service", "web"), named("apps", "StatefulSet", "database"),
		},
		Routed: []object.Object{named(track.GatewayGroup, "GRPCRoute", "web"), named(track.GatewayGroup, "HTTPRoute", "web")},
		Leftovers: []Leftover{{
			In: named(track.GatewayGroup, "HTTPRoute", "web"), Field: "spec.rules[0].filters[0].requestMirror.backendRef.name",
			Names: named("", "Service", "web"), Fault: FaultOneTrack,
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Describe(...): -want, +got:\n%s", diff)
	}
}
