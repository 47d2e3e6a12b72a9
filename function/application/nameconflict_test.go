package application

import (
	"encoding/json"
	"strings"
	"testing"

	v1alpha1 "github.com/intentplane/intentplane/apis/application/v1alpha1"
)

// TestNameConflict has an object of the Application's name that was there before.
func TestNameConflict(t *testing.T) {
	owned := func(fields string) []json.RawMessage {
		return []json.RawMessage{json.RawMessage(`{"metadata": {"name": "shop", "namespace": "team-a"` + fields + `}}`)}
	}
	const theirs = `, "ownerReferences": [{"apiVersion": "claims.intentplane.dev/v1alpha1", "kind": "XApplication", "name": "n", "uid": "theirs", "controller": true}]`
	cases := map[string]struct {
		reason  string
		need    string
		answer  []json.RawMessage
		asked   bool
		built   bool
		phase   v1alpha1.Phase
		says    string
		message string
	}{
		"None": {
			reason: "An Application whose name is free asks for its deployment.",
			need:   deploymentNeed, answer: []json.RawMessage{}, asked: true, phase: "Pending", says: "Valid",
			message: "has not taken up this spec yet",
		},
		"Unanswered": {reason: "Nothing is asked for before the name was checked.", need: deploymentNeed, phase: "Pending", says: "Valid", message: "not checked"},
		"Ours": {
			reason: "An object of this Application that is not observed yet does not conflict.",
			need:   deploymentNeed, answer: owned(strings.ReplaceAll(theirs, "theirs", "ours")), asked: true, phase: "Pending", says: "Valid",
		},
		"Users": {
			reason: "A deployment that a user made is not taken over, although no controller has it.",
			need:   deploymentNeed, answer: owned(""), phase: "Failed", says: "NameTaken",
			message: "IntentDeployment shop exists, and does not belong",
		},
		"Theirs": {
			reason: "A deployment of an Application of the other shape is not taken over.",
			need:   deploymentNeed, answer: owned(theirs), phase: "Failed", says: "NameTaken",
			message: "a claim and a namespaced composite cannot have one name",
		},
		"Health": {
			reason: "A SiteHealth that a user made is not taken over.",
			need:   healthNeed, answer: owned(""), phase: "Failed", says: "NameTaken", message: "SiteHealth shop exists",
		},
		"Build": {
			reason: "An ImageBuild that a user made is not taken over.",
			need:   buildNeed, answer: owned(""), built: true, phase: "Failed", says: "NameTaken", message: "ImageBuild shop exists",
		},
		"TheirBuild": {
			reason: "An ImageBuild of an Application of the other shape is not taken over.",
			need:   buildNeed, answer: owned(theirs), built: true, phase: "Failed", says: "NameTaken",
			message: "ImageBuild shop belongs to another Application",
		},
		"Going": {
			reason: "An object that is being deleted is waited for.",
			need:   deploymentNeed, answer: owned(`, "deletionTimestamp": "2026-11-01T12:00:00Z"`), phase: "Pending", says: "Valid",
			message: "still being deleted",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, needs := newWorld(t), 2
			if tc.built {
				w, needs = newSourceWorld(t), 3
			}
			delete(w.in.Answers, tc.need)
			if tc.answer != nil {
				w.in.Answers[tc.need] = tc.answer
			}
			w.run()
			if _, isRequested := w.out.Resources[DeploymentName]; isRequested != tc.asked || w.in.Status.Phase != tc.phase || !strings.Contains(w.in.Status.Message, tc.message) {
				t.Errorf("\n%s\nasked %t, phase %s: %s", tc.reason, isRequested, w.in.Status.Phase, w.in.Status.Message)
			}
			if _, isRequested := w.out.Resources[BuildName]; isRequested {
				t.Errorf("\n%s\nthe ImageBuild is asked for", tc.reason)
			}
			if got := w.condition(v1alpha1.TypeValid); got.Reason != tc.says || len(w.out.Needs) != needs {
				t.Errorf("\n%s\ncondition %v, %d needs", tc.reason, got, len(w.out.Needs))
			}
			if waits := w.out.Wait > 0; waits != (tc.says == "NameTaken" || name == "Going") {
				t.Errorf("\n%s\nA name that is taken is looked at again: %s", tc.reason, w.out.Wait)
			}
		})
	}
}
