package applications

import (
	"encoding/json"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/scene"
)

// allowRoutes lets the Application have a route: the Blueprint with one, and a configuration that takes its kinds.
func (s *stage) allowRoutes() {
	s.T.Helper()
	s.applyBlueprint("app-1.0.0")
	s.Apply(s.Set(s.ClusterProviderConfig(), allowedRouteKinds(), "spec", "policy", "allowedKinds"))
	s.Set(s.app, map[string]any{"kind": "ClusterProviderConfig", "name": s.Namespace}, "spec", "deploy", "deliveryConfig", "gitOpsRepo")
}

// allowedRouteKinds returns the kinds of a Blueprint with a route, as a configuration allows them.
func allowedRouteKinds() []any {
	kinds := []any{}
	for group, names := range map[string][]any{
		"": {"ConfigMap", "Service"}, "apps": {"Deployment"}, "policy": {"PodDisruptionBudget"}, "networking.k8s.io": {"NetworkPolicy"}, "gateway.networking.k8s.io": {"HTTPRoute"},
	} {
		kinds = append(kinds, map[string]any{"group": group, "kinds": names})
	}
	return kinds
}

// setRouteHost lets an Application that is built have a route to a host.
func (s *sourceStage) setRouteHost(host string) {
	s.T.Helper()
	s.applyBlueprint("app-1.0.0")
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"policy": map[string]any{"allowedKinds": allowedRouteKinds()}}})
	s.requireNoError(err)
	s.Patch(s.ClusterProviderConfig(), string(patch))
	s.Set(s.app, map[string]any{"host": host}, "spec", "route")
}

// kubectlColumns returns the columns that kubectl shows of the Application, for these names.
func (s *stage) kubectlColumns(names ...string) map[string]string {
	s.T.Helper()
	row := scene.ParseTable(s.Run("get", "applications."+s.app.GroupVersionKind().Group, s.app.GetName(), "-n", s.Namespace))[s.app.GetName()]
	out := map[string]string{}
	for _, name := range names {
		out[name] = row[name]
	}
	return out
}

// answerRoute plays the Gateway of the Site: it accepts the route of the Application, or does not, once the route is there.
func (s *stage) answerRoute(accepted string) {
	s.T.Helper()
	routes := &unstructured.UnstructuredList{}
	routes.SetAPIVersion("gateway.networking.k8s.io/v1")
	routes.SetKind("HTTPRouteList")
	s.Until("a route", patience.Limit, func() bool {
		s.requireNoError(s.edge.Client.List(s.T.Context(), routes, client.InNamespace(s.Namespace)))
		return len(routes.Items) == 1
	})
	route, conditions := routes.Items[0], []any{}
	for _, typ := range []string{"Accepted", "ResolvedRefs"} {
		conditions = append(conditions, map[string]any{
			"type": typ, "status": accepted, "reason": "Played", "message": "", "observedGeneration": route.GetGeneration(), "lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
		})
	}
	refs, _, err := unstructured.NestedSlice(route.Object, "spec", "parentRefs")
	s.requireNoError(err)
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"parents": []any{
		map[string]any{"controllerName": "example.org/played", "parentRef": refs[0], "conditions": conditions},
	}}})
	s.requireNoError(err)
	s.requireNoError(s.edge.Client.Status().Patch(s.T.Context(), &route, client.RawPatch(types.MergePatchType, patch)))
}
