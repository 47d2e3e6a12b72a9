package sites

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/intentplane/intentplane/test/e2e/sites/checkjob"
	"github.com/intentplane/intentplane/test/scene"
)

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
