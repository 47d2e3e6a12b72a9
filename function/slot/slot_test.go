package slot

import (
	"fmt"
	"testing"
	"time"

	rolloutv1alpha1 "github.com/intentplane/intentplane/apis/rollout/v1alpha1"
)

func claimNamed(name string) rolloutv1alpha1.ClaimReference {
	return rolloutv1alpha1.ClaimReference{APIGroup: "claims.intentplane.dev", Kind: "IntentDeployment", Namespace: "team-a", Name: name}
}

// TestSlots lets a day pass, for a thousand deployments that are looked at every minute.
func TestSlots(t *testing.T) {
	const deployments, limit = 1000, 25
	midnight := time.Date(2031, 12, 17, 0, 0, 0, 0, time.UTC)
	took, busiest := map[string]int{}, 0
	perMinute := make([]int, 24*60)
	for n := range deployments {
		c := claimNamed(fmt.Sprintf("shop-%d", n))
		slot := Of(c, 2, 24*time.Hour)
		for minute := range perMinute {
			now := midnight.Add(time.Duration(minute) * time.Minute)
			if slot.Wait(now) > 0 {
				continue
			}
			took[c.Name]++
			if took[c.Name] == 1 {
				perMinute[minute]++
			}
		}
	}
	for _, n := range perMinute {
		busiest = max(busiest, n)
	}
	if len(took) != deployments || busiest > limit {
		t.Errorf("%d of %d deployments had their time, at most %d at once: want all, and at most %d", len(took), deployments, busiest, limit)
	}
	for name, minutes := range took {
		if minutes < 10 {
			t.Fatalf("%s had %d minutes of the day: want 10", name, minutes)
		}
	}
}

// TestWait asks deployments for the time until their slots.
func TestWait(t *testing.T) {
	now := time.Date(2031, 12, 17, 13, 14, 15, 0, time.UTC)
	cases := map[string]struct {
		reason string
		spread time.Duration
		always bool
	}{
		"None":  {reason: "No spread is at once.", always: true},
		"Short": {reason: "A spread of at most two slots cannot spread.", spread: 9 * time.Minute, always: true},
		"Hour":  {reason: "A short spread has slots that are not too short.", spread: time.Hour},
		"Day":   {reason: "A day has slots of ten minutes.", spread: 24 * time.Hour},
		"Week":  {reason: "A week has longer ones.", spread: 7 * 24 * time.Hour},
		"Odd":   {reason: "A spread need not be a multiple of anything.", spread: 1001 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for n := range 200 {
				slot := Of(claimNamed(fmt.Sprintf("shop-%d", n)), 2, tc.spread)
				wait := slot.Wait(now)
				if slot.Always() != tc.always || tc.always && wait != 0 {
					t.Fatalf("\n%s\nOf(...): always %t, wait %s", tc.reason, slot.Always(), wait)
				}
				if wait < 0 || wait > tc.spread || slot.Wait(now.Add(wait)) != 0 || !tc.always && slot.Wait(now.Add(wait+shortestRun-time.Second)) != 0 && wait > 0 {
					t.Fatalf("\n%s\nWait(...): %s does not lead into the slot", tc.reason, wait)
				}
			}
		})
	}
	firstSlot, secondSlot := Of(claimNamed("a"), 2, 24*time.Hour), Of(claimNamed("a"), 3, 24*time.Hour)
	if firstSlot == secondSlot {
		t.Error("Of(...): a deployment has the same turn for each version")
	}
}
