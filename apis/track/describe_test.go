package track

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/intentplane/intentplane/apis/track/object"
)

func TestDescribe(t *testing.T) {
	got, err := Describe(placeIn(t, splitEverything(t), Green), Green)
	if err != nil {
		t.Fatalf("Describe(...): %v", err)
	}
	object := func(group, kind, name string) object.Object {
		return object.Object{Group: group, Kind: kind, Namespace: "shop", Name: name}
	}
	want := &Description{
		PerTrack: []object.Object{
			object("", "ConfigMap", "certificates"), object("", "ConfigMap", "web-settings-7bk96k2h5m"), object("apps", "Deployment", "web"),
			object("autoscaling", "HorizontalPodAutoscaler", "web"), object("policy", "PodDisruptionBudget", "web"),
			object("keda.sh", "ScaledObject", "web"), object("", "Secret", "token"), object("", "Service", "web"),
			object("monitoring.coreos.com", "ServiceMonitor", "web"),
		},
		Shared: []object.Object{
			object("", "ConfigMap", "certificates"), object("", "ConfigMap", "unused"), object("batch", "CronJob", "report"),
			object("policy", "PodDisruptionBudget", "all"), object("", "Service", "database"), object("", "Service", "metrics"),
			object("", "Service", "web"), object("apps", "StatefulSet", "database"),
		},
		Routed: []object.Object{object(GatewayGroup, "GRPCRoute", "web"), object(GatewayGroup, "HTTPRoute", "web")},
		Leftovers: []Leftover{{
			In: object(GatewayGroup, "HTTPRoute", "web"), Field: "spec.rules[0].filters[0].requestMirror.backendRef.name",
			Names: object("", "Service", "web"), Fault: FaultOneTrack,
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Describe(...): -want, +got:\n%s", diff)
	}
}
