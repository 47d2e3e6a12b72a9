package disruption

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/intentplane/intentplane/test/patience"
	"github.com/intentplane/intentplane/test/receiver"
	"github.com/intentplane/intentplane/test/scene"
)

// hookKey is the key that the notifications of this package are signed with.
const hookKey = "canary-5d2e91"

// newNotifiedScene is a scene whose ClusterProviderConfig posts all outcomes to a receiver, with a function that describes deployments that name it.
func newNotifiedScene(t *testing.T) (*scene.Scene, *receiver.Receiver, func(replicas int) *unstructured.Unstructured) {
	t.Helper()
	s := scene.New(t, cp, "edge1")
	r, err := receiver.New(hookKey)
	s.Must(err)
	t.Cleanup(r.Stop)
	s.NotifyReceiver(r, hookKey, "Succeeded", "RolledBack", "Failed")
	return s, r, func(replicas int) *unstructured.Unstructured {
		o := s.Composite("shop", intentWithReplicas(s, replicas, "edge1"))
		return s.UseClusterProviderConfig(o)
	}
}

// failFirstRevision has a Gate reject the first revision of another deployment, so that no rollback target exists.
func failFirstRevision(s *scene.Scene) {
	s.T.Helper()
	s.MeasureSite("edge1").Set(scene.ErrorRatio, scene.BadRatio)
	o := s.UseClusterProviderConfig(s.Composite("broken", strings.ReplaceAll(intentWithReplicas(s, 1, "edge1"), `"shop"`, `"broken"`)))
	s.Apply(s.Set(o, scene.CheckErrors(), "spec", "gatesConfig", "checks"))
	s.Await(o, "Failed", func(u *unstructured.Unstructured) bool { return scene.Field(u, "status", "outcome") == "Failed" })
}

// awaitNotifications waits until a receiver has taken enough notifications, and returns the number of its receipts of each notification, by type, in the order of the
// first time. Notifications with one id have one type.
func awaitNotifications(s *scene.Scene, r *receiver.Receiver, description string, isEnough func(types []string, times map[string]int) bool) (types []string, times map[string]int) {
	s.T.Helper()
	ctx, cancel := s.Context()
	defer cancel()
	for {
		received, changed := r.Taken()
		if types, times = countNotifications(s, received); isEnough(types, times) {
			return types, times
		}
		select {
		case <-changed:
		case <-ctx.Done():
			s.T.Fatalf("the receiver took %v, and not %s", types, description)
		}
	}
}

func countNotifications(s *scene.Scene, received []receiver.Notification) (types []string, times map[string]int) {
	s.T.Helper()
	first := map[string]receiver.Notification{}
	times = map[string]int{}
	for _, n := range received {
		earlier, isKnown := first[n.ID]
		if isKnown && (earlier.Type != n.Type || earlier.Subject != n.Subject) {
			s.T.Errorf("two notifications with id %s differ:\n%s\n%s", n.ID, earlier.Body, n.Body)
		}
		if !isKnown {
			first[n.ID], types = n, append(types, n.Type)
		}
		times[n.Type]++
	}
	return types, times
}

// awaitEventMessage waits until an event of the scene's namespace has a reason and a part of a message.
func awaitEventMessage(s *scene.Scene, reason, part string) {
	s.T.Helper()
	s.Until("an event "+reason+" with "+part, patience.Limit, func() bool {
		l := &corev1.EventList{}
		if err := s.Client.List(s.T.Context(), l); err != nil {
			return false
		}
		for _, e := range l.Items {
			if e.Namespace == s.Namespace && e.Reason == reason && strings.Contains(e.Message, part) {
				return true
			}
		}
		return false
	})
}
