package application

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
)

func TestComposed(t *testing.T) {
	cases := map[string]struct{ reason, spec, want, url string }{
		"Little": {
			reason: "An Application with an image alone has no route, and takes absent values from the Blueprint.", spec: "{image: 'shop:1'}",
			want: "{service: shop, type: app-internal, image: 'shop:1', replicas: 1, priority: medium, resources: {}}",
		},
		"Everything": {
			reason: "Each field is passed on, with variables of services after the variables of env.",
			spec: `{image: 'shop:1', port: 3000, replicas: 2, siteReplicas: {edge1: 0}, resources: {cpu: 100m, memory: 128Mi}, env: [{name: B, value: b}, {name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}],
				services: [{name: db, secretRef: {name: shop-db}, env: [{name: PGHOST, key: host}]}, {name: cache, secretRef: {name: c}, mount: false}], health: {path: /healthz}, imagePullSecrets: [{name: regcred}],
				route: {host: shop.example.org, path: /shop, gateway: {name: g, namespace: gw}, tls: true}, deploy: {sites: [edge1], parameters: {color: blue}}}`,
			want: `{service: shop, type: app, sites: [edge1], image: 'shop:1', replicas: 2, siteReplicas: {edge1: 0}, priority: medium, resources: {cpu: 100m, memory: 128Mi}, endpoints: [{name: http, port: 3000, protocol: TCP}],
				parameters: {color: blue, host: shop.example.org, path: /shop, gateway: g, gateway-namespace: gw},
				runtime: {env: [{name: B, value: b}, {name: A, valueFrom: {secretKeyRef: {name: s, key: k}}}, {name: PGHOST, valueFrom: {secretKeyRef: {name: shop-db, key: host}}}],
				bindings: [{name: db, secretRef: {name: shop-db}}], health: {path: /healthz, port: 3000}, imagePullSecrets: [{name: regcred}]}}`,
			url: "https://shop.example.org/shop",
		},
		"NoRoute": {
			reason: "A route that is not enabled is none.",
			spec:   "{image: 'shop:1', route: {host: shop.example.org, enabled: false}, autoscaling: {max: 3}, health: {path: /}}",
			want: "{service: shop, type: app-internal, image: 'shop:1', replicas: 1, priority: medium, resources: {}, runtime: {autoscaling: " +
				"{min: 1, max: 3, cpuPercent: 70}, health: {path: /, port: 8080}}}",
		},
		"Type": {
			reason: "Another type chooses another Blueprint, and an absent path is the Blueprint's.",
			spec:   "{image: 'shop:1', route: {host: shop.example.org}, deploy: {type: web, parameters: {empty: ''}}}",
			want: "{service: shop, type: web, image: 'shop:1', replicas: 1, priority: medium, resources: {}, parameters: {host: " +
				"shop.example.org, empty: ''}}",
			url: "http://shop.example.org",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := v1alpha1.ApplicationSpec{}
			if err := yaml.UnmarshalStrict([]byte(tc.spec), &s); err != nil {
				t.Fatal(err)
			}
			s.Default()
			want, got := map[string]any{}, map[string]any{}
			text, err := yaml.Marshal(DeploymentFor("team-a", "shop", s).Spec.Expectation)
			if err != nil {
				t.Fatal(err)
			}
			for into, text := range map[*map[string]any]string{&want: tc.want, &got: string(text)} {
				if err := yaml.Unmarshal([]byte(text), into); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("\n%s\nDeploymentFor(...): -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.url, serviceURLOf(s)); diff != "" {
				t.Errorf("\n%s\nurlOf(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestBlocks passes on how the service is delivered, judged and rolled back as it is.
func TestBlocks(t *testing.T) {
	s := v1alpha1.ApplicationSpec{}
	const spec = "{image: a, deploy: {blueprint: {channel: next}, deliveryConfig: {targetSite: all}, gatesConfig: {enabled: false}, rollbackConfig: {maxRetries: 0}, suspend: true}}"
	if err := yaml.UnmarshalStrict([]byte(spec), &s); err != nil {
		t.Fatal(err)
	}
	s.Default()
	got := DeploymentFor("team-a", "shop", s).Spec
	if diff := cmp.Diff([]any{s.Deploy.Blueprint, s.Deploy.DeliveryConfig, s.Deploy.GatesConfig, s.Deploy.RollbackConfig, s.Deploy.Suspend}, []any{got.Blueprint, got.DeliveryConfig, got.GatesConfig, got.RollbackConfig, got.Suspend}); diff != "" {
		t.Errorf("DeploymentFor(...): -want, +got:\n%s", diff)
	}
	if got.Blueprint.Channel != "next" || !*got.Suspend || *got.RollbackConfig.MaxRetries != 0 {
		t.Errorf("DeploymentFor(...): %+v", got)
	}
}
