package main

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/intentplane/intentplane/apis/gaterecord"
	"github.com/intentplane/intentplane/apis/revisionobject"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/samples"
)

func TestLogsOfCheck(t *testing.T) {
	cases := map[string]struct {
		reason string
		denied string
		args   []string
		code   int
		says   []string
		lack   string
	}{
		"Check":   {reason: "Each Site is shown with value, threshold and the query of what failed.", args: []string{"latency_p99"}, says: []string{"latency_p99  revision 7  step 1", "edge1          Passed       0.1%       <= 1%", "edge2          Failed       812ms      <= 500ms     5 of 5", "Asked:      latency_p99"}, lack: "error_rate"},
		"JSON":    {reason: "A script gets all fields.", args: []string{"latency_p99", "-o", "json"}, says: []string{`"value": "812ms"`, `"threshold": "\u003c= 500ms"`, `"step": 1`}},
		"Unknown": {reason: "The error names the checks that there are.", args: []string{"cpu"}, code: exitInvalid, says: []string{"shop has no check cpu, but error_rate, latency_p99"}},
		"Unread":  {reason: "Where Gates may not be read, the deployment's results stand for them, or the error says why there is nothing.", denied: "gates.rollout.intentplane.dev", args: []string{"latency_p99"}, says: []string{"latency_p99  revision 7\n", "edge2          Failed       812ms"}},
		"None":    {reason: "A check has to be named.", code: exitUsage, says: []string{"name a check, or say --build: kubectl intent explain --claim shop lists the checks. "}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := &apiServer{denied: map[string]bool{tc.denied: true}}
			s := samples.RollingBack()
			kubeconfig := serveSamples(t, server, map[string]*samples.Sample{"team-a": s})
			out, problems, code := runIntent("", append([]string{"logs", "shop", "--kubeconfig", kubeconfig}, tc.args...)...)
			if code != tc.code || tc.lack != "" && strings.Contains(out, tc.lack) {
				t.Errorf("\n%s\nlogs: want %d and not %q, got %d:\n%s%s", tc.reason, tc.code, tc.lack, code, out, problems)
			}
			for _, want := range tc.says {
				if !strings.Contains(out+problems, want) {
					t.Errorf("\n%s\nlogs: want %q, got:\n%s%s", tc.reason, want, out, problems)
				}
			}
		})
	}
}

// TestLogsOfRevision shows the measurements that are kept of an earlier revision, and says what is kept of none.
func TestLogsOfRevision(t *testing.T) {
	const document = `{"gate":"shop-r5-s0","position":{"epoch":1,"revision":5,"attempt":0,"step":0,"stage":0},"verdict":"Passed","checks":[{"name":"latency_p99","site":"edge1","type":"Prometheus","threshold":"<= 500ms","unit":"ms","phase":"Passed","measurements":[{"at":"2031-05-06T12:00:00Z","outcome":"Pass","value":"212"}]}]}`
	kept := func(name, owner, deployment string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"shop-r5-s0.json": document}}}
		o.SetAPIVersion("v1")
		o.SetKind("ConfigMap")
		o.SetNamespace("team-a")
		o.SetName(name)
		o.SetLabels(map[string]string{gaterecord.LabelRevision: "5", gaterecord.LabelDeployment: deployment})
		o.SetOwnerReferences([]metav1.OwnerReference{{UID: types.UID(owner)}})
		return o
	}
	cases := map[string]struct {
		reason string
		denied string
		args   []string
		code   int
		says   string
	}{
		"Kept":    {reason: "The measurements of the revision are listed, and not those of another deployment.", args: []string{"latency_p99", "--revision", "5"}, says: "Pass         212ms      <= 500ms"},
		"JSON":    {reason: "A script gets all fields.", args: []string{"latency_p99", "--revision", "5", "-o", "json"}, says: `"outcome": "Pass"`},
		"Other":   {reason: "The error names the checks that there are.", args: []string{"cpu", "--revision", "5"}, code: exitInvalid, says: "shop has no check cpu, but latency_p99"},
		"None":    {reason: "A revision of which nothing is kept is an error.", args: []string{"latency_p99", "--revision", "4"}, code: exitInvalid, says: "nothing is kept of revision 4"},
		"Refused": {reason: "What may not be read is an error that says so.", denied: "configmaps", args: []string{"latency_p99", "--revision", "5"}, code: exitInvalid, says: "ask for the right to"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			server := &apiServer{denied: map[string]bool{tc.denied: true}}
			kubeconfig := serveSamples(t, server, map[string]*samples.Sample{"team-a": samples.RollingBack()})
			shop := ""
			for _, o := range server.objects {
				if o.GetKind() == "IntentDeployment" {
					o.SetUID("shop-1")
					shop = revisionobject.DeploymentDigest(o.GroupVersionKind().Group, o.GetName())
				}
			}
			// Of other deployments nothing is asked for: a namespace may have hundreds, with a ConfigMap of this revision each.
			server.objects = append(server.objects, kept("shop-measured-r5", "shop-1", shop), kept("before-measured-r5", "shop-0", shop), kept("other-measured-r5", "shop-1", "other"))
			out, problems, code := runIntent("", append([]string{"logs", "shop", "--kubeconfig", kubeconfig}, tc.args...)...)
			if code != tc.code || !strings.Contains(out+problems, tc.says) || strings.Count(out, "revision 5") > 1 {
				t.Errorf("\n%s\nlogs: want %d and %q, got %d:\n%s%s", tc.reason, tc.code, tc.says, code, out, problems)
			}
		})
	}
}
