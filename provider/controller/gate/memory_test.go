package gate

import (
	"testing"

	"github.com/intentplane/intentplane/provider/gates/availability"
)

// TestOtherGateOfName has a Gate that was created again under the name of another Gate, whose clock is not its own.
func TestOtherGateOfName(t *testing.T) {
	w := newPodWorld(t, available())
	w.after(119, "Measuring//Running")
	g := w.get()
	advance := func(c availability.Clock, isKnown bool) availability.Clock {
		if isKnown {
			t.Error("The clock of a Gate that is gone counts for the next one of its name.")
		}
		return c
	}
	g.SetUID("another")
	w.c.memory.advanceClock(g, "edge1/available", advance)
	w.c.forgetGate(gateKey())
	if len(w.c.memory.clocks) != 0 {
		t.Errorf("%d Gates with clocks after the Gate was deleted", len(w.c.memory.clocks))
	}
}

// TestForgottenClocks drops the clocks of Gates that have their verdict.
func TestForgottenClocks(t *testing.T) {
	w := newPodWorld(t, available())
	w.deployed("web", newImage, 1)
	w.after(1, "Measuring//Running")
	if len(w.c.memory.clocks) != 1 {
		t.Fatalf("%d Gates with clocks", len(w.c.memory.clocks))
	}
	w.after(20, "Passed/Passed/Passed")
	w.reconcile()
	if len(w.c.memory.clocks) != 0 {
		t.Errorf("%d Gates with clocks after the verdict", len(w.c.memory.clocks))
	}
}
