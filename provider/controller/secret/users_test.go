package secret

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/intentplane/intentplane/apis/policy"
)

func TestConfigChanged(t *testing.T) {
	a, b := user("team-a", "web", policy.KindProviderConfig, "a"), user("team-a", "web", policy.KindProviderConfig, "b")
	cases := map[string]struct {
		reason string
		event  event.UpdateEvent
		want   bool
	}{
		"Same":  {reason: "A change of the status of a delivery requeues no Secret.", event: event.UpdateEvent{ObjectOld: a, ObjectNew: a.DeepCopy()}},
		"Other": {reason: "A delivery that names another configuration requeues Secrets.", event: event.UpdateEvent{ObjectOld: a, ObjectNew: b}, want: true},
		"Alien": {reason: "An update of another kind requeues no Secret.", event: event.UpdateEvent{ObjectOld: creds(false), ObjectNew: creds(true)}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, configChanged().Update(tc.event)); diff != "" {
				t.Errorf("\n%s\nUpdate(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if !configChanged().Create(event.CreateEvent{Object: a}) || !configChanged().Delete(event.DeleteEvent{Object: a}) {
		t.Error("\nA new or removed configuration needs Secrets, or frees them")
	}
}
