package workload

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/provider/gatewayapi"
)

// TestFinalStates has objects whose controllers ended their work, and objects whose controllers go on after a failure.
func TestFinalStates(t *testing.T) {
	noon := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	const declared = `lastTransitionTime: "2026-11-01T12:00:00Z"`
	conditionOf := func(conditionType, status, reason string) string {
		return "{type: " + conditionType + ", status: '" + status + "', reason: " + reason + ", message: 'no', " + declared + "}"
	}
	cases := map[string]struct {
		reason string
		object string
		want   string
	}{
		"JobFailing": {
			reason: "A Job that ends its last pods, and then has failed, does not run again.",
			object: objectWith("batch/v1", "Job", "terminating: 1, conditions: ["+conditionOf("FailureTarget", "True", "PodFailurePolicy")+"]"),
			want:   "Job shop/web: PodFailurePolicy: no",
		},
		"JobSucceeding": {
			reason: "A Job that meets its criteria of success, and ends its last pods, has not failed.",
			object: objectWith("batch/v1", "Job", "terminating: 1, conditions: ["+conditionOf("SuccessCriteriaMet", "True", "SuccessPolicy")+"]"),
		},
		"VolumeLost": {
			reason: "A claim whose volume was lost is bound again once an administrator restores the volume.",
			object: objectWith("v1", "PersistentVolumeClaim", "phase: Lost"),
		},
		"CronJob": {
			reason: "A CronJob creates its next Job after a Job that failed.",
			object: objectWith("batch/v1", "CronJob", `lastScheduleTime: "2026-11-01T12:00:00Z"`),
		},
		"Certificate": {
			reason: "The controller of a Certificate tries again after a failed request.",
			object: objectWith("cert-manager.io/v1", "Certificate",
				"conditions: ["+conditionOf("Issuing", "False", "Failed")+", "+conditionOf("Ready", "False", "a")+"]"),
		},
		"Volcano": {
			reason: "A Job of Volcano that failed has no retry left.",
			object: objectWith("batch.volcano.sh/v1alpha1", "Job", `state: {phase: Failed, message: "no", `+declared+"}"),
			want:   "Job shop/web: Failed: no",
		},
		"VolcanoAborted": {
			reason: "A user may resume an aborted Job of Volcano.",
			object: objectWith("batch.volcano.sh/v1alpha1", "Job", "state: {phase: Aborted, "+declared+"}"),
		},
		"RayJob": {
			reason: "A RayJob that failed has no retry left.",
			object: objectWith("ray.io/v1", "RayJob",
				`observedGeneration: 2, jobDeploymentStatus: Failed, reason: AppFailed, message: "no", endTime: "2026-11-01T12:00:00Z"`),
			want: "RayJob shop/web: AppFailed: no",
		},
		"RayJobRetries": {
			reason: "A RayJob that is retried goes on, although its last job failed.",
			object: objectWith("ray.io/v1", "RayJob", `observedGeneration: 2, jobDeploymentStatus: Retrying, jobStatus: FAILED, message: "no"`),
		},
		"RayJobEarlier": {
			reason: "A RayJob whose controller has not seen its last change has not failed with that.",
			object: objectWith("ray.io/v1", "RayJob", `observedGeneration: 1, jobDeploymentStatus: Failed, endTime: "2026-11-01T12:00:00Z"`),
		},
		"Spark": {
			reason: "A SparkApplication that failed is not restarted.",
			object: objectWith("sparkoperator.k8s.io/v1beta2", "SparkApplication",
				`applicationState: {state: FAILED, errorMessage: "no"}, terminationTime: "2026-11-01T12:00:00Z"`),
			want: "SparkApplication shop/web: FAILED: no",
		},
		"SparkRestarts": {
			reason: "A SparkApplication that is restarted goes on.",
			object: objectWith("sparkoperator.k8s.io/v1beta2", "SparkApplication",
				`applicationState: {state: PENDING_RERUN, errorMessage: "no"}, terminationTime: "2026-11-01T12:00:00Z"`),
		},
		"SparkUndated": {
			reason: "The failure of a SparkApplication without a time may be about an earlier spec.",
			object: objectWith("sparkoperator.k8s.io/v1beta2", "SparkApplication", "applicationState: {state: FAILED}"),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var want *FinalFailure
			if tc.want != "" {
				want = &FinalFailure{Reason: gatewayapi.ReasonObjectFailed, Message: tc.want, DeclaredAt: noon}
			}
			if diff := cmp.Diff(want, FindFinalFailure(decodeObject(t, tc.object))); diff != "" {
				t.Errorf("\n%s\nFindFinalFailure(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFinalKindsMayBeListed compares the kinds with the roles that users bind: the provider never reads the failure of a kind without a rule.
func TestFinalKindsMayBeListed(t *testing.T) {
	var rules []rbacv1.PolicyRule
	for _, file := range []string{"../../examples/rbac/traffic.yaml", "../../examples/health/rbac.yaml"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for document := range strings.SplitSeq(string(b), "\n---\n") {
			role := rbacv1.ClusterRole{}
			if err := yaml.Unmarshal([]byte(document), &role); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			rules = append(rules, role.Rules...)
		}
	}
	for _, state := range finalStates() {
		for _, kind := range state.kinds {
			r := resourceOfKind(schema.GroupVersionKind{Group: state.group, Version: "v1", Kind: kind})
			isListed := slices.ContainsFunc(rules, func(rule rbacv1.PolicyRule) bool {
				return slices.Contains(rule.APIGroups, r.Group) && slices.Contains(rule.Resources, r.Resource) && slices.Contains(rule.Verbs, "list")
			})
			if !isListed {
				t.Errorf("No role of the examples lets the provider list %s of group %q, whose failures are final.", r.Resource, r.Group)
			}
		}
	}
}
