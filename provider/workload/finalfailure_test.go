package workload

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/provider/engines"
)

// decodeObject decodes an object of a Site's cluster.
func decodeObject(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

// objectWith is an object of generation 2 with a status.
func objectWith(apiVersion, kind, status string) string {
	return "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {name: web, namespace: shop, generation: 2}\nstatus: {" + status + "}\n"
}

// routeWith is an HTTPRoute of generation 2 in one Gateway, with a condition of its controller.
func routeWith(condition string) string {
	return `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop, generation: 2}
spec: {parentRefs: [{name: outside}]}
status:
  parents:
  - {controllerName: example.org/a, parentRef: {name: outside}, conditions: [` + condition + `]}
`
}

func TestFindFinalFailure(t *testing.T) {
	declared := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	const (
		transitionTime = `lastTransitionTime: "2026-11-01T12:00:00Z"`
		exceeded       = `{type: Progressing, status: "False", reason: ProgressDeadlineExceeded, message: "ReplicaSet web-1 has\ntimed out", ` + transitionTime + `}`
		stalled        = `{type: Stalled, status: "True", reason: InvalidSpec, message: "no", observedGeneration: 2, ` + transitionTime + `}`
		refused        = `{type: Accepted, status: "False", reason: NotAllowedByListeners, message: "no", observedGeneration: 2, ` + transitionTime + `}`
	)
	failed := func(message string) *FinalFailure {
		return &FinalFailure{Reason: engines.ReasonObjectFailed, Message: message, DeclaredAt: declared}
	}
	cases := map[string]struct {
		reason string
		object string
		want   *FinalFailure
	}{
		"Deployment": {
			reason: "A Deployment whose rollout exceeded its progress deadline does not come to its end by itself.",
			object: objectWith("apps/v1", "Deployment", "observedGeneration: 2, conditions: ["+exceeded+"]"),
			want:   failed("Deployment shop/web: ProgressDeadlineExceeded: ReplicaSet web-1 has timed out"),
		},
		"StatefulSet": {
			reason: "A StatefulSet with that condition exceeded its progress deadline.",
			object: objectWith("apps/v1", "StatefulSet", "observedGeneration: 2, conditions: ["+exceeded+"]"),
			want:   failed("StatefulSet shop/web: ProgressDeadlineExceeded: ReplicaSet web-1 has timed out"),
		},
		"Job": {
			reason: "A Job that failed does not run again.",
			object: objectWith("batch/v1", "Job", `conditions: [{type: Failed, status: "True", reason: BackoffLimitExceeded, message: "no", `+transitionTime+`}]`),
			want:   failed("Job shop/web: BackoffLimitExceeded: no"),
		},
		"Stalled": {
			reason: "A controller that is stalled does not try again until its object changes, whatever the kind.",
			object: objectWith("example.org/v1", "Cache", "conditions: ["+stalled+"]"), want: failed("Cache shop/web: InvalidSpec: no"),
		},
		"Route": {
			reason: "A route that a Gateway refuses counts once that has lasted for a moment, and has the time of its refusal.", object: routeWith(refused),
			want: &FinalFailure{
				Reason: engines.ReasonRouteNotAccepted, DeclaredAt: declared, SettlesAt: declared.Add(settleTime),
				Message: "HTTPRoute shop/web: Gateway outside, by example.org/a: Accepted is False: NotAllowedByListeners: no",
			},
		},
		"GRPCRoute": {
			reason: "A Gateway refuses a GRPCRoute as it refuses an HTTPRoute.", object: strings.Replace(routeWith(refused), "HTTPRoute", "GRPCRoute", 1),
			want: &FinalFailure{
				Reason: engines.ReasonRouteNotAccepted, DeclaredAt: declared, SettlesAt: declared.Add(settleTime),
				Message: "GRPCRoute shop/web: Gateway outside, by example.org/a: Accepted is False: NotAllowedByListeners: no",
			},
		},
		"Routes": {
			reason: "An earlier refusal by another Gateway does not hide the latest refusal.",
			object: `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: web, namespace: shop, generation: 2}, spec: {parentRefs: [{name: outside}, {name: inside}]},
				status: {parents: [{parentRef: {name: outside}, controllerName: example.org/a, conditions: [` + strings.ReplaceAll(refused, "12:00", "11:00") + `]},
					{parentRef: {name: inside}, controllerName: example.org/a, conditions: [` + refused + `]}]}}`,
			want: &FinalFailure{
				Reason: engines.ReasonRouteNotAccepted, DeclaredAt: declared, SettlesAt: declared.Add(settleTime),
				Message: "HTTPRoute shop/web: Gateway outside, by example.org/a: Accepted is False: NotAllowedByListeners: no",
			},
		},
		"EarlierGeneration": {
			reason: "A Deployment whose controller has not seen its last change may still make progress.",
			object: objectWith("apps/v1", "Deployment", "observedGeneration: 1, conditions: ["+exceeded+"]"),
		},
		"EarlierStall": {
			reason: "A condition of an earlier generation speaks of an earlier spec.",
			object: objectWith("example.org/v1", "Cache", `observedGeneration: 2, conditions: [{type: Stalled, status: "True", observedGeneration: 1}]`),
		},
		"EarlierRefusal": {
			reason: "The refusal of an earlier generation of a route speaks of an earlier route.",
			object: routeWith(`{type: Accepted, status: "False", reason: NotAllowedByListeners, observedGeneration: 1}`),
		},
		"Pending":    {reason: "A Gateway that has not decided refuses nothing.", object: routeWith(`{type: Accepted, status: "False", reason: Pending, observedGeneration: 2}`)},
		"Unresolved": {reason: "A Service that a route refers to may come yet.", object: routeWith(`{type: ResolvedRefs, status: "False", reason: BackendNotFound, observedGeneration: 2}`)},
		"OtherParent": {
			reason: "A Gateway that a route no longer names refuses nothing.",
			object: `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: web, generation: 2}, spec: {parentRefs: [{name: inside}]},
				status: {parents: [{parentRef: {name: outside}, conditions: [` + refused + `]}]}}`,
		},
		"Progressing": {
			reason: "A Deployment whose pods crash is not given up before its progress deadline.",
			object: objectWith("apps/v1", "Deployment", `observedGeneration: 2, conditions: [{type: Progressing, status: "True", reason: ReplicaSetUpdated}, {type: Available, status: "False"}]`),
		},
		"Refused": {
			reason: "A Deployment whose pods a quota refuses may get them later.",
			object: objectWith("apps/v1", "Deployment", `observedGeneration: 2, conditions: [{type: ReplicaFailure, status: "True", reason: FailedCreate}]`),
		},
		"OtherKind": {
			reason: "Condition Failed of another kind than a Job may mean anything.",
			object: objectWith("example.org/v1", "Cache", `conditions: [{type: Failed, status: "True"}]`),
		},
		"Deleted": {
			reason: "No controller awaits an object that is being deleted.",
			object: "{apiVersion: batch/v1, kind: Job, metadata: {name: web, deletionTimestamp: '2026-11-01T12:00:00Z'}, status: {conditions: [{type: Failed, status: 'True'}]}}",
		},
		"Owned": {
			reason: "A Job that another object controls, such as a CronJob, is replaced by that.",
			object: "{apiVersion: batch/v1, kind: Job, metadata: {name: web, ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: web, uid: u, controller: true}]}, status: {conditions: [{type: Failed, status: 'True'}]}}",
		},
		"BadType": {reason: "A status that cannot be decoded declares nothing.", object: objectWith("apps/v1", "Deployment", "conditions: many")},
		"Healthy": {reason: "An object without such a condition has not failed.", object: objectWith("apps/v1", "StatefulSet", "observedGeneration: 2")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, FindFinalFailure(decodeObject(t, tc.object))); diff != "" {
				t.Errorf("\n%s\nFindFinalFailure(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFirstFinalFailure(t *testing.T) {
	noon := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	declared := func(seconds int) string {
		return `lastTransitionTime: "` + noon.Add(time.Duration(seconds)*time.Second).Format(time.RFC3339) + `"`
	}
	refused := func(seconds int) *unstructured.Unstructured {
		return decodeObject(t, routeWith(`{type: Accepted, status: "False", reason: NotAllowedByListeners, observedGeneration: 2, `+declared(seconds)+`}`))
	}
	failed := func(kind string, seconds int) *unstructured.Unstructured {
		exceeded := `{type: Progressing, status: "False", reason: ProgressDeadlineExceeded, ` + declared(seconds) + `}`
		return decodeObject(t, objectWith("apps/v1", kind, "observedGeneration: 2, conditions: ["+exceeded+"]"))
	}
	undated := decodeObject(t, objectWith("batch/v1", "Job", `conditions: [{type: Failed, status: "True", reason: DeadlineExceeded}]`))
	cases := map[string]struct {
		reason  string
		objects []*unstructured.Unstructured
		want    string
	}{
		"Settled": {
			reason:  "A failure that counts at once comes before a failure that has to settle.",
			objects: []*unstructured.Unstructured{nil, refused(30), failed("Deployment", 40)}, want: "Deployment",
		},
		"Stale": {
			reason:  "A failure from before the position does not hide a later failure.",
			objects: []*unstructured.Unstructured{failed("Deployment", -30), failed("StatefulSet", 30)}, want: "StatefulSet",
		},
		"StaleRoute": {
			reason:  "A refusal from before the position does not hide a later refusal.",
			objects: []*unstructured.Unstructured{refused(-60), refused(30)}, want: "HTTPRoute",
		},
		"Boundary": {
			reason:  "A failure of the second in which the position began counts.",
			objects: []*unstructured.Unstructured{failed("Deployment", 0)}, want: "Deployment",
		},
		"Undated": {reason: "A failure without a time is about the present.", objects: []*unstructured.Unstructured{undated}, want: "Job"},
		"Earlier": {
			reason:  "Failures from before the position are about an earlier content.",
			objects: []*unstructured.Unstructured{failed("Deployment", -1), refused(-30)},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kind := ""
			if found := FirstFinalFailure(tc.objects, noon); found != nil {
				kind, _, _ = strings.Cut(found.Message, " ")
			}
			if diff := cmp.Diff(tc.want, kind); diff != "" {
				t.Errorf("\n%s\nFirstFinalFailure(...): kind of the object: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
