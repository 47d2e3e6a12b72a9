package soak

import (
	"maps"
	"slices"
	"testing"
)

// TestCanaryMutants breaks one rule of canaries at a time in the code of the product. A test of the package that is named fails then. Under make mutants it runs
// these tests, which takes minutes; else it looks whether the code has each rule.
func TestCanaryMutants(t *testing.T) { findMutants(t, canaryMutants()) }

// TestMandateMutants does the same with the rules by which the provider concludes.
func TestMandateMutants(t *testing.T) { findMutants(t, mandateMutants()) }

// TestMandateRules looks for a mutant of each rule that bounds a mandate.
func TestMandateRules(t *testing.T) {
	mutants := map[string]string{
		"A mandate is for one revision.":                                       "AnyRevision",
		"A mandate is for one epoch of its ledger.":                            "AnyEpoch",
		"A Gate proves something if it has the same controller.":               "AnyController",
		"A Gate of an earlier step proves nothing.":                            "GateOfAnyStep",
		"Nothing is proven of a proposed position.":                            "ProposedPosition",
		"The events of the spec come before those of the mandate.":             "MandateFirst",
		"A follower goes to recorded positions alone.":                         "FollowerBeforeHome",
		"Nothing is restored at a Site that the deployment has left.":          "LeftSiteRestored",
		"The attempts of a rollback are limited.":                              "AttemptsNotCounted",
		"The rollbacks of an hour are counted by the recorded time.":           "HourWithoutTime",
		"A revision with irreversible changes is not rolled back.":             "IrreversibleIgnored",
		"Suspension stops no rollback.":                                        "SuspendStopsRollback",
		"Suspension stops each step.":                                          "SuspendedSteps",
		"A missing Gate has not passed.":                                       "MissingGatePasses",
		"A Gate without a conclusion rejects nothing.":                         "InconclusiveRejects",
		"A spec is compared with the head after the last events of a spec.":    "TakenNotCompared",
		"That head is compared with the events of the spec too.":               "TakenComparedWithAfter",
		"Trees are derived for the revision of the spec alone.":                "OtherRevisionsTrees",
		"A queued push is known by its position.":                              "OneVersion",
		"The function leaves events to a provider whose status promises them.": "EchoNotAsked",
		"Nothing goes forward before the claim was read.":                      "GuardSkipped",
		"A rollback needs no claim.":                                           "GuardOnTheWayBack",
		"A revision is verified with the tree of each Site.":                   "VerifiedWithoutTree",
		"The other track stays until the verdict is recorded.":                 "AloneBeforeVerdict",
		"Nothing goes forward while the claim is being deleted.":               "DeletionIgnored",
		"A later tree is for one request.":                                     "LaterOfOtherRequest",
		"A wave waits while its Site is left, moved or closed.":                "ClosedWaveCarried",
		"No file of a canary comes while requests leave an earlier one.":       "BegunBeforeSteps",
	}
	all := mandateMutants()
	for sentence, name := range mutants {
		if _, isThere := all[name]; !isThere {
			t.Errorf("\n%s\nmandateMutants(): want mutant %s", sentence, name)
		}
	}
}

func findMutants(t *testing.T, all map[string]mutant) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			m := all[name]
			m.brokenSource(t)
			if !Long() {
				return
			}
			if printed, fails := m.runMutantTests(t); !fails {
				t.Errorf("\n%s\nno test of %s misses the rule:\n%s", m.reason, m.pkg, printed)
			}
		})
	}
	if Long() && !t.Failed() {
		t.Logf("soak: all %d mutants are found", len(all))
	}
}
