package intent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

func TestRuntime(t *testing.T) {
	cases := map[string]struct{ reason, runtime, want, err string }{
		"Everything": {
			reason: "Each field is read, variables keep their order, and defaults are filled in.",
			runtime: `{"env": [{"name": "B", "value": "2"}, {"name": "A", "valueFrom": {"secretKeyRef": {"name": "db", "key": "host"}}}, {"name": "C", "valueFrom": {"configMapKeyRef": {"name": "db", "key": "c"}}}, {"name": "E"}],
				"bindings": [{"name": "db", "secretRef": {"name": "shop-db"}}], "health": {"path": "/healthz", "port": 8080}, "imagePullSecrets": [{"name": "regcred"}], "autoscaling": {"max": 3}}`,
			want: `{"runtime":{"autoscaling":{"cpuPercent":70,"max":3,"min":1},"bindings":[{"name":"db","secretRef":{"name":"shop-db"}}],` +
				`"env":[{"name":"B","value":"2"},{"name":"A","valueFrom":{"secretKeyRef":{"key":"host","name":"db"}}},{"name":"C","valueFrom":{"configMapKeyRef":{"key":"c","name":"db"}}},{"name":"E"}],` +
				`"health":{"path":"/healthz","port":8080},"imagePullSecrets":[{"name":"regcred"}]},"service":"shop"}`,
		},
		"Empty": {reason: "A runtime that says nothing means the same as none.", runtime: `{"env": [], "bindings": []}`, want: `{"service":"shop"}`},
		"EmptyList": {
			reason:  "An empty list means the same as none.",
			runtime: `{"env": [], "health": {"port": 80}}`, want: `{"runtime":{"health":{"port":80}},"service":"shop"}`,
		},
		"Unknown":   {reason: "An unknown field is refused.", runtime: `{"envs": []}`, err: `unknown field "envs"`},
		"OtherCase": {reason: "A field in other letters is refused.", runtime: `{"ENV": [{"name": "A"}]}`, err: `unknown field "ENV"`},
		"WrongType": {
			reason:  "A value of another type is refused at its field.",
			runtime: `{"health": {"port": "80"}}`, err: "runtime.health.port: does not take a value of type string",
		},
		"NoObject": {reason: "A list in the place of the fields is refused.", runtime: `[]`, err: "runtime: has a field that"},
		"NotAName": {
			reason:  "The name of a variable is checked.",
			runtime: `{"env": [{"name": "1A"}]}`, err: "runtime.env[0].name: must be the name of an environment variable",
		},
		"Twice": {reason: "A variable has one value.", runtime: `{"env": [{"name": "A"}, {"name": "A"}]}`, err: "runtime.env[1].name: names A a second time"},
		"TwoValues": {
			reason:  "A variable with two sources is refused.",
			runtime: `{"env": [{"name": "A", "value": "1", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}}]}`,
			err:     "runtime.env[0]: has value and valueFrom",
		},
		"Control": {
			reason:  "A control character in a value is refused.",
			runtime: `{"env": [{"name": "A", "value": "a\u0007"}]}`, err: "runtime.env[0].value: must be at most 4096 bytes",
		},
		"NoSource": {
			reason:  "A reference names a Secret or a ConfigMap.",
			runtime: `{"env": [{"name": "A", "valueFrom": {}}]}`, err: "runtime.env[0].valueFrom: must have one of",
		},
		"BothSources": {
			reason:  "A reference names no Secret and ConfigMap at once.",
			runtime: `{"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}, "configMapKeyRef": {"name": "a", "key": "b"}}}]}`,
			err:     "must have one of",
		},
		"Elsewhere": {
			reason:  "A Secret of another namespace cannot be named.",
			runtime: `{"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "team-b/db", "key": "b"}}}]}`, err: "in the same namespace",
		},
		"Namespace": {
			reason:  "A reference has no namespace.",
			runtime: `{"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "db", "namespace": "team-b", "key": "b"}}}]}`,
			err:     `unknown field "env[0].valueFrom.secretKeyRef.namespace"`,
		},
		"TooMany": {reason: "There are at most 128 variables.", runtime: `{"env": [` + variables(129) + `]}`, err: "runtime.env: must not be more than 128"},
		"Path": {
			reason:  "A path is not the name of a binding.",
			runtime: `{"bindings": [{"name": "../etc", "secretRef": {"name": "a"}}]}`, err: "runtime.bindings[0].name",
		},
		"SameBinding": {
			reason:  "Two bindings cannot have one folder.",
			runtime: `{"bindings": [{"name": "db", "secretRef": {"name": "a"}}, {"name": "db", "secretRef": {"name": "b"}}]}`,
			err:     "runtime.bindings[1].name: names db a second time",
		},
		"BindingRef": {
			reason:  "A binding names a Secret.",
			runtime: `{"bindings": [{"name": "a", "secretRef": {"name": ""}}]}`, err: "runtime.bindings[0].secretRef.name",
		},
		"NineBound": {
			reason:  "There are at most 8 bindings.",
			runtime: `{"bindings": [` + strings.Repeat(`{"name": "a", "secretRef": {"name": "a"}},`, 8) + `{"name": "a", "secretRef": {"name": "a"}}]}`,
			err:     "must not be more than 8",
		},
		"Pull":     {reason: "A pull secret has a name.", runtime: `{"imagePullSecrets": [{"name": "A"}]}`, err: "runtime.imagePullSecrets[0].name"},
		"SamePull": {reason: "A pull secret is named once.", runtime: `{"imagePullSecrets": [{"name": "a"}, {"name": "a"}]}`, err: "a second time"},
		"NinePulled": {
			reason:  "There are at most 8 pull secrets.",
			runtime: `{"imagePullSecrets": [` + strings.Repeat(`{"name": "a"},`, 8) + `{"name": "b"}]}`, err: "must not be more than 8",
		},
		"NoPort":     {reason: "A check needs a port.", runtime: `{"health": {"path": "/"}}`, err: "runtime.health.port: must be from 1 to 65535"},
		"HealthPath": {reason: "A check asks for a plain path.", runtime: `{"health": {"path": "/a b", "port": 80}}`, err: "runtime.health.path"},
		"MinMax": {
			reason:  "The smallest number is not above the greatest.",
			runtime: `{"autoscaling": {"min": 4, "max": 3}}`, err: "runtime.autoscaling: min and max",
		},
		"Percent": {reason: "A share is above zero.", runtime: `{"autoscaling": {"max": 3, "cpuPercent": -1}}`, err: "runtime.autoscaling.cpuPercent"},
		"BySite": {
			reason:  "Replicas by Site are not scaled.",
			runtime: `{"autoscaling": {"max": 3}}, "siteReplicas": {"edge1": 2}`, err: "excludes replicas by Site",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := FromText(`{"service": "shop", "runtime": ` + tc.runtime + `}`)
			if !strings.Contains(message(err), tc.err) || (err == nil) != (tc.err == "") {
				t.Fatalf("\n%s\nFromText(...): want error %q, got %v", tc.reason, tc.err, err)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(tc.want, string(got.Canonical())); diff != "" {
				t.Errorf("\n%s\nCanonical(): -want, +got:\n%s", tc.reason, diff)
			}
			reparsed, err := FromText(string(got.Canonical()))
			if diff := cmp.Diff(got, reparsed); diff != "" || err != nil {
				t.Errorf("\n%s\nFromText(Canonical()): %v: -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

func variables(n int) string {
	all := make([]string, 0, n)
	for i := range n {
		all = append(all, fmt.Sprintf(`{"name": "A%d"}`, i))
	}
	return strings.Join(all, ",")
}

// TestRuntimeOfExpectation reads the same from both forms, and leaves its input unchanged.
func TestRuntimeOfExpectation(t *testing.T) {
	e := &deploymentv1alpha1.Expectation{Service: "shop", Runtime: &deploymentv1alpha1.Runtime{
		Autoscaling: &deploymentv1alpha1.Autoscaling{Max: 3}, Env: []deploymentv1alpha1.EnvVar{{Name: "A", Value: "1"}},
	}}
	original := e.DeepCopy()
	got, err := FromExpectation(e)
	if err != nil {
		t.Fatal(err)
	}
	want, err := FromText(`{"service": "shop", "runtime": {"autoscaling": {"max": 3}, "env": [{"name": "A", "value": "1"}]}}`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-text, +expectation:\n%s", diff)
	}
	if diff := cmp.Diff(original, e); diff != "" {
		t.Errorf("An expectation that is read stays as it is: -before, +after:\n%s", diff)
	}
	fields := []string{}
	for _, s := range got.Settings() {
		fields = append(fields, s.Field)
	}
	if diff := cmp.Diff([]string{"runtime.autoscaling", "runtime.env"}, fields); diff != "" {
		t.Errorf("Settings(): -want, +got:\n%s", diff)
	}
}
