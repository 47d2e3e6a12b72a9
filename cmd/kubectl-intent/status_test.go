package main

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
)

// serveSamples returns the kubeconfig of a server that has deployments, each in a namespace of its own.
func serveSamples(t *testing.T, server *apiServer, all map[string]*samples.Sample) string {
	t.Helper()
	for namespace, s := range all {
		objects, err := s.Objects()
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			o.SetNamespace(namespace)
			if o.GetKind() != "IntentDeployment" {
				if err := unstructured.SetNestedField(o.Object, namespace, "spec", "forProvider", "claimRef", "namespace"); err != nil {
					t.Fatal(err)
				}
			}
			server.objects = append(server.objects, o)
		}
	}
	return server.start(t)
}

func TestStatus(t *testing.T) {
	all := map[string]*samples.Sample{"team-a": samples.RollingBack(), "team-b": samples.WrongPassword()}
	cases := map[string]struct {
		reason string
		server apiServer
		args   []string
		code   int
		says   []string
		not    string
	}{
		"Name":      {reason: "A deployment is shown with its parts.", args: []string{"status", "shop"}, says: []string{"RollingBack", "├─ site edge1       Syncing  Flux", "└─ gate step 1      Failed   3 of 4"}},
		"Namespace": {reason: "Without a name all of the namespace are listed.", args: []string{"status"}, says: []string{"NAME  PHASE", "shop  RollingBack"}, not: "team-b"},
		"All":       {reason: "The deployments of all namespaces are listed.", args: []string{"status", "-A"}, says: []string{"team-a     shop  RollingBack", "team-b     shop  Delivering", "AuthFailed"}},
		"Stuck":     {reason: "What needs a person is listed alone.", args: []string{"status", "-A", "--stuck"}, says: []string{"team-b     shop  Delivering"}, not: "team-a"},
		"NoneStuck": {reason: "A deployment that goes on by itself is not shown as stuck.", args: []string{"status", "shop", "--stuck"}, says: []string{"Nothing needs a person."}},
		"None":      {reason: "A namespace without deployments is no error.", args: []string{"status", "-n", "team-c"}, says: []string{"No Application, no IntentDeployment, no WorkloadCluster and no Bundle was found."}},
		"JSON":      {reason: "A deployment is one object, with its finding.", args: []string{"status", "shop", "-n", "team-b", "-o", "json"}, says: []string{`"phase": "Delivering"`, `"reason": "AuthFailed"`, `"actor": "PlatformTeam"`}},
		"YAML":      {reason: "A list is one object too.", args: []string{"status", "-A", "-o", "yaml"}, says: []string{"items:\n- ", "namespace: team-b"}},
		"Names":     {reason: "Names are what kubectl takes.", args: []string{"status", "-A", "-o", "name"}, says: []string{"intentdeployment.intentplane.dev/shop\n"}},
		"Wide":      {reason: "A wide list has the messages.", args: []string{"status", "-A", "-o", "wide"}, says: []string{"MESSAGE", "git.example.org: 401 Unauthorized"}},
		"Missing":   {reason: "A name that nothing has is an error.", args: []string{"status", "shap"}, code: exitInvalid, says: []string{`namespace "team-a" has no Application, no IntentDeployment, no WorkloadCluster and no Bundle "shap"`}},
		"Blind": {
			reason: "What the user may not read is named, and is no error.", server: apiServer{denied: map[string]bool{"gates.rollout.intentplane.dev": true}},
			args: []string{"status", "shop"}, says: []string{"RollingBack", "Not read:   gates.rollout.intentplane.dev: the user may not read them"}, not: "gate step",
		},
		"NameAndAll": {reason: "A name is one of a namespace.", args: []string{"status", "shop", "-A"}, code: exitUsage, says: []string{"--all-namespaces is for a list"}},
		"WatchForm":  {reason: "What is watched is text.", args: []string{"status", "--watch", "-o", "json"}, code: exitUsage, says: []string{"--watch prints text"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			out, problems, code := runIntent("", append(tc.args, "--kubeconfig", serveSamples(t, &tc.server, all))...)
			if code != tc.code || tc.not != "" && strings.Contains(out, tc.not) {
				t.Errorf("\n%s\nrun(%q): want %d and not %q, got %d:\n%s%s", tc.reason, tc.args, tc.code, tc.not, code, out, problems)
			}
			for _, want := range tc.says {
				if !strings.Contains(out+problems, want) {
					t.Errorf("\n%s\nrun(%q): want %q, got:\n%s%s", tc.reason, tc.args, want, out, problems)
				}
			}
		})
	}
}

// TestStatusSteersNothing quotes what others wrote: neither a terminal nor a CI takes it for a command.
func TestStatusSteersNothing(t *testing.T) {
	s := samples.WrongPassword()
	s.Delivery.SetConditions(samples.NotReady("AuthFailed", "\x1b[2J gone"))
	server := &apiServer{}
	out, _, code := runIntent("", "status", "shop", "--kubeconfig", serveSamples(t, server, map[string]*samples.Sample{"team-a": s}))
	if code != 0 || strings.Contains(out, "\x1b") || !strings.Contains(out, `\x1b[2J`) {
		t.Errorf("run(...): %d:\n%s", code, out)
	}
}
