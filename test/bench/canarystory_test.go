package main

import "testing"

// TestFailedRequests reads the failed requests of all stories after their measurement for another figure.
func TestFailedRequests(t *testing.T) {
	c := &canary{figures: map[string]float64{"tokens": 11, "share": 0.4, "pause": 0.1, "breach": 5, failures: 2}}
	got, err := c.canaryFigure("failed", (*canary).measureAll)(t.Context())
	if err != nil || got != 2 {
		t.Errorf("canaryFigure(failed): want the worst count of all stories, 2, got %v, %v", got, err)
	}
}
