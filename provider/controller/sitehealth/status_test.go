package sitehealth

import (
	"testing"
	"time"

	"github.com/intentplane/intentplane/apis/delivery/v1alpha1"
)

// TestFlapping loses the last pod and finds it again each second: after the first minute the status is written once per minute.
func TestFlapping(t *testing.T) {
	w := newWorld(t)
	w.deployed(newImage, 1, 2)
	w.until(serves)
	writes, began, version := []time.Duration{}, w.clock, w.get().GetResourceVersion()
	for i := range 600 {
		w.clock = w.clock.Add(time.Second)
		// Each look sees the cluster as it is then.
		w.deployed(newImage, 1, int64(2*(i%2)))
		w.sees(int64(2 * (i % 2)))
		w.reconcile()
		if v := w.get().GetResourceVersion(); v != version {
			version = v
			writes = append(writes, w.clock.Sub(began))
		}
	}
	first, rest := 0, 0
	for _, elapsed := range writes {
		if elapsed <= time.Minute {
			first++
			continue
		}
		rest++
	}
	if first > writeBurst+1 || rest > 9 || rest < 7 {
		t.Errorf("%d writes in the first minute and %d in the other nine: %v", first, rest, writes)
	}
}

// TestNextImageAfterFlapping has pods of an image that come and go until the status is written once per minute, and then pods of the next image, which are not
// available: their state is written as soon as after an image without changes.
func TestNextImageAfterFlapping(t *testing.T) {
	w := newWorld(t)
	w.deployed(newImage, 1, 2)
	w.until(serves)
	for i := range 3 * writeBurst {
		w.clock = w.clock.Add(time.Second)
		w.deployed(newImage, 1, int64(2*(i%2)))
		w.sees(int64(2 * (i % 2)))
		w.reconcile()
	}
	w.edit(func(p *v1alpha1.SiteHealthParameters) { p.Image = oldImage })
	w.reconcile()
	w.clock = w.clock.Add(still)
	w.reconcile()
	if got := w.get().Status.AtProvider.Image; got != oldImage {
		t.Fatalf("the status is about %s after %s, and not about the next image", got, still)
	}
	w.deployed(oldImage, 2, 1)
	w.until("Serving | Available() 1")
	w.deployed(oldImage, 2, 0)
	w.until(starts)
}
