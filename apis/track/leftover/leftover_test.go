package leftover

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// annotated returns an object x with an annotation.
func annotated(apiVersion, kind, annotation string) string {
	return strings.Replace(manifest(apiVersion, kind, "x", "spec: {}\n"), "  name: x\n", "  annotations: {"+annotation+"}\n  name: x\n", 1)
}

func TestLeftovers(t *testing.T) {
	const pods = "    spec:\n      containers:\n"
	deployment := func(container string) map[string]string {
		return map[string]string{
			"deployment-web.yaml": webDeployment + pods + container + "      volumes:\n      - configMap:\n          name: tuning\n        name: tuning\n",
			"configmap.yaml":      manifest("v1", "ConfigMap", "tuning", ""),
		}
	}
	cases := map[string]struct {
		reason string
		more   map[string]string
		want   []string
	}{
		"None": {
			reason: "References that are known get the suffix, and the names of volumes refer to nothing.",
			more:   deployment("      - name: tuning\n        image: registry.example.org/tuning:1\n"), want: []string{},
		},
		"Argument": {
			reason: "A program may read a ConfigMap that an argument names.",
			more:   deployment("      - args: [--from=shop/tuning]\n"),
			want: []string{
				"Deployment shop/web: spec.template.spec.containers[0].args[0]: has the name of ConfigMap shop/tuning, which has another name in " +
					"each track",
			},
		},
		"Part": {reason: "A name within another name is not this name.", more: deployment("      - args: [--from=tuning-2, fine-tuning]\n"), want: []string{}},
		"FrontName": {
			reason: "The name of the Service is still one, and so callers may use it.",
			more:   deployment("      - args: [http://web/]\n"), want: []string{},
		},
		"BackendAnnotation": {
			reason: "An annotation whose key says a kind is a reference.",
			more:   map[string]string{"x.yaml": annotated("networking.k8s.io/v1", "Ingress", "nginx.ingress.kubernetes.io/default-backend: web")},
			want: []string{
				"Ingress shop/x: metadata.annotations[nginx.ingress.kubernetes.io/default-backend]: leads to Service shop/web, which has the pods of one " +
					"track at a time",
			},
		},
		"DeploymentAnnotation": {
			reason: "The kind in a key may be a Deployment.",
			more:   map[string]string{"x.yaml": annotated("example.org/v1", "Dashboard", "example.org/deployment: web")},
			want: []string{
				"Dashboard shop/x: metadata.annotations[example.org/deployment]: has the name of Deployment shop/web, which has another name in each track",
			},
		},
		"OtherAnnotation": {
			reason: "An annotation without a kind may have the same text.",
			more:   map[string]string{"x.yaml": annotated("example.org/v1", "Dashboard", "example.org/owner: web")}, want: []string{},
		},
		"SharedObject": {
			reason: "A shared object may name an object that has another name in each track.",
			more: map[string]string{
				"deployment-web.yaml": webDeployment,
				"hpa.yaml":            manifest("autoscaling/v2", "HorizontalPodAutoscaler", "scaler", "spec:\n  scaleTargetRef: {kind: Deployment, name: web}\n"),
				"a.yaml":              manifest("example.org/v1", "Dashboard", "d", "spec:\n  pauses: scaler\n"),
			},
			want: []string{"Dashboard shop/d: spec.pauses: has the name of HorizontalPodAutoscaler shop/scaler, which has another name in each track"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, leftoversOf(t, tc.more, nil)); diff != "" {
				t.Errorf("\n%s\nLeftovers: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
