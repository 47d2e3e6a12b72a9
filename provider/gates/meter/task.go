package meter

import (
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/rollout/v1alpha1"
	"github.com/intentplane/intentplane/apis/threshold"
	"github.com/intentplane/intentplane/provider/gates"
)

// A Task is one check of a Gate that is measured.
type Task struct {
	// ID of the check, for ever.
	ID string

	// Type of the check.
	Type string

	// Question that is asked. After a replacement, the new question is asked from the next measurement on.
	Question Question

	// Host that is asked. Empty means that the question reaches no server, and need not wait.
	Host string

	// Lead is how long the subject has to be live before the first measurement.
	Lead time.Duration

	// Rules and Criteria of the check.
	Rules    gates.Rules
	Criteria gates.Criteria

	// Outages is the policy of the check for an outage of the host.
	Outages gates.OutagePolicy

	// UnavailableSince is since when the host was unavailable when a Meter before this one measured. Zero if it was not.
	UnavailableSince time.Time

	// LiveSince is since when the subject is live. Zero stops the clock, and drops the measurements.
	LiveSince time.Time
}

// NewTask returns the task of a check, without its question. It returns an error for a check that can never be measured.
func NewTask(c v1alpha1.GateCheck) (*Task, error) {
	rules, err := gates.RulesOf(c.Check)
	if err != nil {
		return nil, err
	}
	limit, err := threshold.Parse(string(c.Threshold))
	if err != nil {
		return nil, errors.Wrap(err, "threshold")
	}
	if c.Unit != "" || limit.Unit() == "" {
		if limit, err = limit.In(c.Unit); err != nil {
			return nil, errors.Wrap(err, "threshold")
		}
	}
	if !limit.Compares() {
		return nil, errors.New("threshold: must begin with a comparison")
	}
	minimum := int64(1)
	if c.MinSamples != nil {
		minimum = int64(*c.MinSamples)
	}
	criteria := gates.Criteria{Limit: limit, MinSamples: minimum, NoData: c.NoData}
	return &Task{ID: c.Site + "/" + c.Name, Type: c.Type, Rules: rules, Criteria: criteria}, nil
}
