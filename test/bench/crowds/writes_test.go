package crowds

import (
	"testing"
	"time"

	"github.com/intentplane/intentplane/test/load"
)

// TestNewCost reads the cost of two deployments from an audit log.
func TestNewCost(t *testing.T) {
	write := func(deployment string) load.Request {
		return load.Request{Deployment: namespace + "/" + deployment, Verb: "create", Resource: "intentdeployments", Code: 201, Bytes: 700}
	}
	cases := map[string]struct {
		reason   string
		requests []load.Request
		want     float64
		isError  bool
	}{
		"All":     {reason: "The writes are divided among the deployments.", requests: []load.Request{write("a"), write("a"), write("b"), write("b")}, want: 2},
		"Missing": {reason: "A log without a deployment was cut off, and has too few writes.", requests: []load.Request{write("a")}, isError: true},
		"Empty":   {reason: "A log without requests shows no deployment that costs nothing.", isError: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, err := printCrowdCost(tc.requests, namespacedShape, 2, time.Second)
			if (err != nil) != tc.isError {
				t.Fatalf("\n%s\nnewCost(...): %v", tc.reason, err)
			}
			if err == nil && (c.tally.EachOf(c.tally.Writes) != tc.want || c.compositeBytes != 700) {
				t.Errorf("\n%s\nnewCost(...): want %v writes of each, got %+v", tc.reason, tc.want, c)
			}
		})
	}
}
