package sites

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/e2e/sites/checkjob"
	"github.com/intentplane/intentplane/test/scene"
)

// TestRecordedMeasurements shows the last measurements of a check that passed, and of a check that failed, in the Gate and on the command
// line.
func TestRecordedMeasurements(t *testing.T) {
	t.Parallel()
	r := newUnobservedTrial(t)
	o := r.describeJudged(1, 3)
	r.Succeed(o)
	r.wantRecent(1, rolloutv1alpha1.GatePassed, "Pass")
	r.target.Set("error_ratio", bad)
	r.awaitOutcome(r.describeJudged(2, 60), "Succeeded", "RolledBack")
	r.wantRecent(2, rolloutv1alpha1.GateFailed, "Fail")
	output := r.Program("", r.Built("kubectl-intent"), "logs", "intentdeployments.claims.intentplane.dev/"+claim, "errors", "-n", r.Namespace, "--kubeconfig", cp.Kubeconfig)
	if !strings.Contains(output, "Fail ") || !strings.Contains(output, "<= 0.05") {
		t.Errorf("kubectl intent logs: %s", output)
	}
}

// wantRecent compares the newest of the recent measurements of a revision with the deciding measurement of its check.
func (r *trial) wantRecent(revision int64, verdict rolloutv1alpha1.GateVerdict, outcome string) {
	r.T.Helper()
	g := r.gateOfRevision(claim, revision)
	if g == nil {
		r.T.Fatalf("revision %d has no Gate", revision)
	}
	observation := g.Status.AtProvider
	if observation.Verdict != verdict || len(observation.Checks) != 1 || len(observation.Checks[0].Recent) == 0 {
		r.T.Fatalf("measurements of revision %d: %+v", revision, observation)
	}
	c := observation.Checks[0]
	last := c.Recent[len(c.Recent)-1]
	if diff := cmp.Diff([]string{outcome, c.Value}, []string{last.Outcome, last.Value}); diff != "" || c.Value == "" {
		r.T.Errorf("last measurement of revision %d: -want, +got:\n%s", revision, diff)
	}
}

// jobController creates the pods of Jobs, once for all tests.
var jobController = sync.OnceValue(func() error { return cp.StartJobController() })

// TestJobCheck judges three claims by their post checks. The kubelet is simulated: the start of a pod, and the confinement of its processes,
// are not tested.
func TestJobCheck(t *testing.T) {
	t.Parallel()
	if err := jobController(); err != nil {
		t.Fatal(err)
	}
	s := &stage{Scene: scene.New(t, cp, "edge1")}
	k := checkjob.New(s.Scene)
	loose := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: k.Checks, Name: "loose"}}
	loose.Spec.Containers = []corev1.Container{{Name: "a", Image: checkjob.Image}}
	if err := k.Client.Create(t.Context(), loose); err == nil || !strings.Contains(err.Error(), "PodSecurity") {
		t.Fatalf("the namespace does not enforce its pod security level: %v", err)
	}
	cases := map[string]struct {
		code       int32
		said       string
		controller string
		want       []string
		phase      string
	}{
		"passes": {code: 0, want: []string{"Passed", "exit 0", ""}, phase: "Succeeded"},
		"violated": {
			code: 3, said: "7 orders\n2 are lost\n", controller: "PodFailurePolicy", want: []string{"Failed", "exit 3", "7 orders\n2 are lost"},
			phase: "Failed",
		},
		"broken": {
			code: 127, said: "sh: curl: not found", controller: "BackoffLimitExceeded", want: []string{"Error", "exit 127", "sh: curl: not found"},
			phase: "Failed",
		},
	}
	for name := range cases {
		o := k.Claim(name, s.intentForSites(name, 1, "edge1"))
		k.Apply(k.Set(o, map[string]any{"image": checkjob.Image, "script": "exit; # " + name}, "spec", "gatesConfig", "postCheck"))
	}
	for name, tc := range cases {
		k.EndScript("exit; # "+name, tc.code, tc.said)
	}
	for name, tc := range cases {
		o := k.AwaitPhase(k.Claim(name, ""), tc.phase)
		k.CompareJob(name)
		if diff := cmp.Diff(tc.want, k.VerdictOfGate(name)); diff != "" {
			t.Errorf("%s: verdict: -want, +got:\n%s", name, diff)
		}
		if diff := cmp.Diff(tc.controller, k.FailureReason("exit; # "+name)); diff != "" {
			t.Errorf("%s: why the Job failed: -want, +got:\n%s", name, diff)
		}
		if message := scene.Field(o, "status", "message"); tc.phase == "Failed" && !strings.Contains(message, "postCheck") {
			t.Errorf("%s: the claim says %q", name, message)
		}
	}
}

// TestWebCheck judges claims by web servers, through Crossplane. The provider trusts the certificate of the servers as one of the system's.
func TestWebCheck(t *testing.T) {
	t.Parallel()
	s := &stage{Scene: scene.New(t, cp, "edge1")}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"state": %q}`, strings.Trim(r.URL.Path, "/"))
	}))
	t.Cleanup(server.Close)
	closed := httptest.NewTLSServer(http.NotFoundHandler())
	closed.Close()
	hosts := []any{strings.TrimPrefix(server.URL, "https://"), strings.TrimPrefix(closed.URL, "https://")}
	s.Apply(s.Set(s.ClusterProviderConfig(), hosts, "spec", "policy", "webCheckHosts"))
	cases := map[string]struct {
		reason string
		url    string
		phase  string
		want   map[string]any
	}{
		"good": {
			reason: "An answer that the expression takes for good passes.", url: server.URL + "/good", phase: "Succeeded",
			want: map[string]any{"passed": true, "value": "1"},
		},
		"bad": {
			reason: "An answer that the expression takes for bad rejects the revision.", url: server.URL + "/bad", phase: "Failed",
			want: map[string]any{"passed": false, "value": "0", "message": "the value is beyond the threshold"},
		},
		"silent": {
			reason: "A web server that does not answer may be the delivered workload, so its silence is an error.", url: closed.URL + "/good", phase: "Failed",
			want: map[string]any{"passed": false, "message": "Error: the server does not answer"},
		},
	}
	for name, tc := range cases {
		check := map[string]any{
			"name": "state", "type": "Web", "web": map[string]any{"url": tc.url, "expression": `answer.state == "good"`}, "threshold": "== 1",
			"initialDelay": "1s", "interval": "1s", "count": int64(2),
		}
		o := s.Set(s.Claim(name, s.intentForSites(name, 1, "edge1")), []any{check}, "spec", "gatesConfig", "checks")
		s.Apply(s.Set(o, map[string]any{"kind": "ClusterProviderConfig", "name": s.Namespace}, "spec", "deliveryConfig", "gitOpsRepo"))
	}
	for name, tc := range cases {
		observed := s.AwaitPhase(s.Claim(name, ""), tc.phase)
		got, _, err := unstructured.NestedSlice(observed.Object, "status", "validationResults")
		s.Must(err)
		want := map[string]any{"name": "state", "site": s.Site("edge1"), "threshold": "== 1"}
		maps.Copy(want, tc.want)
		if diff := cmp.Diff([]any{want}, got); diff != "" {
			t.Errorf("%s\nstatus.validationResults of %s: -want, +got:\n%s", tc.reason, name, diff)
		}
	}
}
