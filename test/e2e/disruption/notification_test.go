package disruption

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/test/scene"
)

// TestNotificationsArrive posts each outcome of two deployments to a receiver that fails three times, loses an answer, is down for three outcomes, and answers after
// the provider was killed: each arrives, duplicates have one id, and the key is nowhere.
func TestNotificationsArrive(t *testing.T) {
	s, r, deployment := newNotifiedScene(t)
	r.Fail(3)
	r.LoseAnswers(1)
	s.Succeed(deployment(1))
	const (
		deployed, upgraded = "dev.cdevents.service.deployed.0.3.0", "dev.cdevents.service.upgraded.0.3.0"
		back, failed       = "dev.cdevents.service.rolledback.0.3.0", "dev.cdeventsx.intentplane-service.failed.0.1.0"
	)
	awaitNotifications(s, r, "the first outcome twice, since its answer was lost", func(_ []string, times map[string]int) bool { return times[deployed] == 2 })
	if refused, unsigned := r.Refused(); refused < 3 || unsigned > 0 {
		t.Errorf("the receiver refused %d posts, and %d were not signed", refused, unsigned)
	}

	r.Stop()
	failFirstRevision(s)
	o := s.Succeed(deployment(2))
	s.Apply(s.Set(s.Request("back", o, rolloutv1alpha1.ActionRollbackTo, 2), int64(1), "spec", "toRevision"))
	s.Await(o, "RolledBack", func(u *unstructured.Unstructured) bool { return scene.Field(u, "status", "outcome") == "RolledBack" })
	awaitEventMessage(s, "NotificationDelayed", "revision 2 is Succeeded")
	cp.KillProvider()
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	startProvider(t)
	types, _ := awaitNotifications(s, r, "four outcomes", func(types []string, _ map[string]int) bool { return len(types) == 4 })
	slices.Sort(types) // Two deployments have no order.
	if diff := cmp.Diff([]string{deployed, back, upgraded, failed}, types); diff != "" {
		t.Errorf("types of notifications: -want, +got:\n%s", diff)
	}
	for name, text := range readablePublicly(s) {
		if strings.Contains(text, hookKey) {
			t.Errorf("the key of the signature is in %s", name)
		}
	}
}

// TestRefusedNotification posts nothing for a tenant whose host the administrator does not allow, and reports the refusal on the
// deployment.
func TestRefusedNotification(t *testing.T) {
	t.Parallel()
	s := scene.New(t, cp, "edge1")
	s.Apply(s.Set(s.ProviderConfig(), []any{map[string]any{"name": "hooks", "url": "https://hooks.example.org/x", "events": []any{"Succeeded"}}}, "spec", "notifications"))
	s.Succeed(s.Claim("shop", intentWithReplicas(s, 1, "edge1")))
	awaitEventMessage(s, "NotificationDelayed", `host "hooks.example.org" is not one to which the administrator lets notifications of ProviderConfigs be posted`)
}
