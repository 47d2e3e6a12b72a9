package load

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// auditLine is a line of an audit log: a request, and the object that it was answered with, if it was.
func auditLine(t *testing.T, verb, resource, name, manager string, code int, object map[string]any) string {
	t.Helper()
	kind, sub, _ := strings.Cut(resource, "/")
	timestamp := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	line := map[string]any{
		"verb": verb, "requestURI": "/apis/x?fieldManager=" + manager, "userAgent": "crossplane/v2 (linux)",
		"requestReceivedTimestamp": timestamp, "stageTimestamp": timestamp.Add(3 * time.Millisecond),
		"objectRef":      map[string]any{"resource": kind, "subresource": sub, "namespace": "team-a", "name": name},
		"responseStatus": map[string]any{"code": code},
	}
	if object != nil {
		line["responseObject"] = object
	}
	b, err := json.Marshal(line)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// auditObject is an object as an answer has it.
func auditObject(kind, name, version string, labels, status map[string]any) map[string]any {
	return map[string]any{"kind": kind, "apiVersion": "example.org/v1", "status": status, "metadata": map[string]any{
		"name": name, "namespace": "team-a", "uid": kind + name, "resourceVersion": version, "labels": labels,
	}}
}

func conditionOf(status, transitionTime string) map[string]any {
	return map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": status, "lastTransitionTime": transitionTime}}}
}

// TestReadRequests reads logs as the API server writes them.
func TestReadRequests(t *testing.T) {
	composed := map[string]any{labelComposite: "web"}
	cases := map[string]struct {
		reason string
		log    []string
		want   []Request
	}{
		"Made": {
			reason: "A request belongs to the deployment whose composite the object names, whatever comes first in the log.",
			log: []string{
				auditLine(t, "create", "gitdeliveries", "web-1", composedManager+"/4cef83d1", 201, auditObject("GitDelivery", "web-1", "1", composed, nil)),
				auditLine(t, "get", "gitdeliveries", "web-1", "core", 200, nil),
				auditLine(t, "get", "gitdeliveries", "other", "core", 200, nil),
			},
			want: []Request{
				{Deployment: "team-a/web", Resource: "gitdeliveries", Name: "web-1", Verb: "create", Manager: composedManager, Code: 201},
				{Deployment: "team-a/web", Resource: "gitdeliveries", Name: "web-1", Verb: "get", Manager: "core", Code: 200},
				{Resource: "gitdeliveries", Name: "other", Verb: "get", Manager: "core", Code: 200},
			},
		},
		"Claimed": {
			reason: "The composite of a claim belongs to the claim, and so does an event about it.",
			log: []string{
				auditLine(t, "create", "xintentdeployments", "web-x", "core", 201, auditObject("X", "web-x", "1",
					map[string]any{labelClaim: "web", labelClaimNamespace: "team-b", labelComposite: "web-x"}, nil)),
				auditLine(t, "create", "events", "e", "", 201, map[string]any{
					"metadata": map[string]any{"namespace": "team-a", "name": "e", "uid": "e"}, "involvedObject": map[string]any{"uid": "Xweb-x"},
				}),
			},
			want: []Request{
				{Deployment: "team-b/web", Resource: "xintentdeployments", Name: "web-x", Verb: "create", Manager: "core", Code: 201},
				{Deployment: "team-b/web", Resource: "events", Name: "e", Verb: "create", Manager: "crossplane", Code: 201},
			},
		},
		"Nothing": {
			reason: "A write after which the object has the version that it had changed nothing.",
			log: []string{
				auditLine(t, "patch", "intentdeployments", "web", "core", 200, auditObject("D", "web", "1", nil, nil)),
				auditLine(t, "patch", "intentdeployments/status", "web", "core", 200, auditObject("D", "web", "1", nil, nil)),
			},
			want: []Request{
				{Deployment: "team-a/web", Resource: "intentdeployments", Name: "web", Verb: "patch", Manager: "core", Code: 200},
				{Deployment: "team-a/web", Resource: "intentdeployments/status", Name: "web", Verb: "patch", Manager: "core", Code: 200, Effect: Nothing},
			},
		},
		"OnlyTimes": {
			reason: "A condition that gets another time and says the same is marked.",
			log: []string{
				auditLine(t, "patch", "intentdeployments", "web", "core", 200, auditObject("D", "web", "1", nil, conditionOf("True", "a"))),
				auditLine(t, "patch", "intentdeployments", "web", "core", 200, auditObject("D", "web", "2", nil, conditionOf("True", "b"))),
			},
			want: []Request{
				{Deployment: "team-a/web", Resource: "intentdeployments", Name: "web", Verb: "patch", Manager: "core", Code: 200},
				{Deployment: "team-a/web", Resource: "intentdeployments", Name: "web", Verb: "patch", Manager: "core", Code: 200, Effect: OnlyTimes},
			},
		},
		"Undone": {
			reason: "A condition that turns and turns back is a pair, whatever its times are.",
			log: []string{
				auditLine(t, "update", "intentdeployments", "web", "core", 200, auditObject("D", "web", "1", nil, conditionOf("True", "a"))),
				auditLine(t, "update", "intentdeployments", "web", "core", 200, auditObject("D", "web", "2", nil, conditionOf("False", "b"))),
				auditLine(t, "update", "intentdeployments", "web", "core", 200, auditObject("D", "web", "3", nil, conditionOf("True", "c"))),
			},
			want: []Request{
				{Deployment: "team-a/web", Resource: "intentdeployments", Name: "web", Verb: "update", Manager: "core", Code: 200},
				{
					Deployment: "team-a/web", Resource: "intentdeployments", Name: "web", Verb: "update", Manager: "core", Code: 200,
					Changed: []string{"status.conditions.Ready"}, Effect: Undone,
				},
				{
					Deployment: "team-a/web", Resource: "intentdeployments", Name: "web", Verb: "update", Manager: "core", Code: 200,
					Changed: []string{"status.conditions.Ready"}, Effect: Undoes,
				},
			},
		},
		"Refused": {
			reason: "A conflict belongs to the deployment of the object that it is about.",
			log: []string{
				auditLine(t, "update", "intentdeployments", "web", "core", 409, map[string]any{"kind": "Status", "code": 409}),
				auditLine(t, "update", "intentdeployments", "web", "core", 200, auditObject("D", "web", "1", nil, nil)),
			},
			want: []Request{
				{Deployment: "team-a/web", Resource: "intentdeployments", Name: "web", Verb: "update", Manager: "core", Code: 409},
				{Deployment: "team-a/web", Resource: "intentdeployments", Name: "web", Verb: "update", Manager: "core", Code: 200},
			},
		},
		"NotWhole": {
			reason: "A line that the server has not written to its end is left for later.",
			log: []string{
				auditLine(t, "get", "intentdeployments", "web", "core", 200, nil), `{"verb": "upd`,
			},
			want: []Request{{Resource: "intentdeployments", Name: "web", Verb: "get", Manager: "core", Code: 200}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ReadRequests(strings.NewReader(strings.Join(tc.log, "\n")))
			if err != nil {
				t.Fatal(err)
			}
			ignored := cmpopts.IgnoreFields(Request{}, "uid", "Namespace", "Bytes", "At", "Took")
			if diff := cmp.Diff(tc.want, got, ignored, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("\n%s\nReadRequests(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestReadRequestsOfGarbage reads lines that no API server writes.
func TestReadRequestsOfGarbage(t *testing.T) {
	for _, log := range []string{`{"verb": 1}`, fmt.Sprintf(`{"objectRef": {"name": "web"}, "responseObject": %q}`, "text")} {
		if got, err := ReadRequests(strings.NewReader(log)); err == nil {
			t.Errorf("ReadRequests(%s): want an error, got %v", log, got)
		}
	}
}
