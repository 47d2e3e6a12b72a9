package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	xpkgmetav1 "github.com/crossplane/crossplane/apis/v2/pkg/meta/v1"
	pkgv1 "github.com/crossplane/crossplane/apis/v2/pkg/v1"
	"github.com/google/go-cmp/cmp"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// metricsPort is what Crossplane calls the port of metrics in the Deployment of a package: MetricsPortName of its controllers.
const metricsPort = "metrics"

// An applied object is one that "kubectl apply -k package/observability" sends.
type applied struct {
	kind, namespace, name string
	text                  []byte
}

func buildKustomization(t *testing.T) []applied {
	t.Helper()
	all, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "..")
	if err != nil {
		t.Fatal(err)
	}
	var out []applied
	for _, r := range all.Resources() {
		b, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, applied{kind: r.GetKind(), namespace: r.GetNamespace(), name: r.GetName(), text: b})
	}
	return out
}

// decodeAll decodes the objects of a kind. A field that the kind does not have fails the test.
func decodeAll[T any](t *testing.T, all []applied, kind string) map[string]T {
	t.Helper()
	out := map[string]T{}
	for _, a := range all {
		if a.kind != kind {
			continue
		}
		var o T
		if err := yaml.UnmarshalStrict(a.text, &o); err != nil {
			t.Errorf("%s %s: %v", kind, a.name, err)
		}
		out[a.name] = o
	}
	return out
}

// TestKustomization builds what users apply, and reads it as the Prometheus operator, kube-state-metrics and Grafana's sidecar do.
func TestKustomization(t *testing.T) {
	all := buildKustomization(t)
	var names []string
	for _, a := range all {
		names = append(names, a.kind+" "+a.namespace+"/"+a.name)
	}
	slices.Sort(names)
	want := []string{
		"ConfigMap crossplane-system/intentplane-dashboard", "ConfigMap crossplane-system/intentplane-kube-state-metrics",
		"PodMonitor crossplane-system/intentplane-function", "PodMonitor crossplane-system/intentplane-provider", "PrometheusRule crossplane-system/intentplane",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("objects: -want, +got:\n%s", diff)
	}
	var alerts []string
	for _, r := range decodeAll[monitoringv1.PrometheusRule](t, all, "PrometheusRule") {
		for _, g := range r.Spec.Groups {
			for _, rule := range g.Rules {
				alerts = append(alerts, rule.Alert)
			}
		}
	}
	var shipped []string
	for _, r := range allAlertRules() {
		shipped = append(shipped, r.name)
	}
	if diff := cmp.Diff(shipped, alerts); diff != "" {
		t.Errorf("alerts of the PrometheusRule: -want, +got:\n%s", diff)
	}
	maps := decodeAll[corev1.ConfigMap](t, all, "ConfigMap")
	for name, key := range map[string]string{"intentplane-kube-state-metrics": "kube-state-metrics.yaml", "intentplane-dashboard": "dashboard.json"} {
		file, err := os.ReadFile(filepath.Join("..", key))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(file), maps[name].Data[key]); diff != "" {
			t.Errorf("ConfigMap %s: -want, +got:\n%s", name, diff)
		}
	}
	if maps["intentplane-dashboard"].Labels["grafana_dashboard"] != "1" {
		t.Error("Grafana's sidecar finds no dashboard: label grafana_dashboard is missing")
	}
}

// TestPodMonitors shows that each PodMonitor finds the pods of its package, whether a user installed that or a Configuration did.
func TestPodMonitors(t *testing.T) {
	monitors := decodeAll[monitoringv1.PodMonitor](t, buildKustomization(t), "PodMonitor")
	cases := map[string]struct {
		reason string
		label  string
		// dependency finds the package in what a Configuration depends on.
		dependency func(d xpkgmetav1.Dependency) bool
	}{
		"intentplane-provider": {
			reason: "The pods of a provider have its name in a label.", label: pkgv1.LabelProvider,
			dependency: func(d xpkgmetav1.Dependency) bool { return d.Kind != nil && *d.Kind == "Provider" },
		},
		"intentplane-function": {
			reason: "The pods of a function have its name in a label.", label: pkgv1.LabelFunction,
			dependency: func(d xpkgmetav1.Dependency) bool { return d.Kind != nil && *d.Kind == "Function" },
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			monitor := monitors[name]
			selector, err := metav1.LabelSelectorAsSelector(&monitor.Spec.Selector)
			if err != nil {
				t.Fatal(err)
			}
			for _, pkg := range packageNames(t, tc.dependency) {
				if !selector.Matches(labels.Set{tc.label: pkg}) {
					t.Errorf("\n%s\nthe PodMonitor does not find the pods of package %s", tc.reason, pkg)
				}
			}
			if selector.Matches(labels.Set{tc.label: "another"}) {
				t.Errorf("\n%s\nthe PodMonitor finds the pods of other packages", tc.reason)
			}
			if e := monitor.Spec.PodMetricsEndpoints; len(e) != 1 || e[0].Port == nil || *e[0].Port != metricsPort {
				t.Errorf("\n%s\nthe PodMonitor asks %+v, want port %s", tc.reason, e, metricsPort)
			}
		})
	}
}

// packageNames returns the names of a package: the one that the documentation gives it, and the one that Crossplane makes of the image that a Configuration names.
func packageNames(t *testing.T, isWanted func(xpkgmetav1.Dependency) bool) []string {
	t.Helper()
	b, err := os.ReadFile("../../namespaced/crossplane.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c := xpkgmetav1.Configuration{}
	if err := yaml.Unmarshal(b, &c); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(c.Spec.DependsOn, isWanted)
	if i < 0 || c.Spec.DependsOn[i].Package == nil {
		t.Fatal("the Configuration does not name the package")
	}
	_, repository, _ := strings.Cut(*c.Spec.DependsOn[i].Package, "/")
	_, name, _ := strings.Cut(repository, "/")
	return []string{name, strings.ReplaceAll(repository, "/", "-")}
}
