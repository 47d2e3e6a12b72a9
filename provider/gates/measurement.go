package gates

import (
	"math"
	"strconv"
	"time"
)

// Outcome of one measurement.
type Outcome string

// Outcomes of a measurement.
const (
	// Pass means that the value was on the good side of its threshold.
	Pass Outcome = "Pass"

	// Fail means that the value was on the bad side of its threshold, or that a required value was missing.
	Fail Outcome = "Fail"

	// Inconclusive means that there was no value, and that this decides nothing.
	Inconclusive Outcome = "Inconclusive"

	// Error means that nothing could be measured.
	Error Outcome = "Error"

	// Early means that there was no value yet, and need not be: it does not count.
	Early Outcome = "Early"

	// Waiting means that there was no value, and that the check waits for one: it does not count, and the clock of the check stands still.
	Waiting Outcome = "Waiting"

	// Missed means that the backend that is to measure did not answer. It says nothing about the subject, and does not count.
	Missed Outcome = "Unavailable"
)

// Outcomes returns all outcomes.
func Outcomes() []Outcome { return []Outcome{Pass, Fail, Inconclusive, Error, Early, Waiting, Missed} }

// An Answer is the result of one question.
type Answer struct {
	// Problem says in stable words why the question was not answered. Empty means that it was.
	Problem string

	// Unavailable says that the problem lies in the backend, and not in the question or the subject.
	Unavailable bool

	// Values that were found. A check is judged by a single value.
	Values []float64

	// Samples that the values were made from. Nil when the server did not say.
	Samples *int64

	// At is the time of the answer by the clock of its server. Zero when the server did not say.
	At time.Time

	// Early is true if the subject is so young that it need not have values.
	Early bool
}

// A Limit has a good side.
type Limit interface {
	// Holds is true for a value on the good side.
	Holds(value float64) bool
}

// Criteria make a Measurement of an Answer.
type Criteria struct {
	// Limit that a value is judged by.
	Limit Limit

	// MinSamples that a value has to be made from.
	MinSamples int64

	// NoData is the outcome of a measurement without a value: Fail, Inconclusive, Pass or Wait. Anything else is Fail.
	NoData string
}

// A Measurement is an Answer that was judged.
type Measurement struct {
	// Outcome of the measurement.
	Outcome Outcome

	// Value that was measured. Empty without a value.
	Value string

	// Message explains an outcome that is not Pass, in stable words.
	Message string

	// At is the time of the answer by the clock of its server. Zero when the server did not say.
	At time.Time
}

// Measure judges one answer.
func (c Criteria) Measure(a Answer) Measurement {
	m := c.measureAnswer(a)
	m.At = a.At
	return m
}

// measureAnswer returns the outcome of an answer: an error, missing data where the answer is empty, or the comparison of its value with the threshold.
func (c Criteria) measureAnswer(a Answer) Measurement {
	switch {
	case a.Problem != "":
		return Measurement{Outcome: Error, Message: a.Problem}
	case len(a.Values) > 1:
		return Measurement{Outcome: Error, Message: "the query gives several series: aggregate them to one"}
	case len(a.Values) == 0 || math.IsNaN(a.Values[0]):
		return c.missingData(a, "the answer has no data")
	}
	if c.MinSamples > 1 {
		if a.Samples == nil {
			return Measurement{Outcome: Error, Message: "the server does not say how many samples the value is made from, which minSamples asks for"}
		}
		if *a.Samples < c.MinSamples {
			return c.missingData(a, "the value is made from fewer samples than minSamples")
		}
	}
	return c.compareValue(a.Values[0])
}

// compareValue compares a number with the threshold. An infinite number has no good side: it comes from a division by zero, or from a value beyond the last
// bucket of a histogram.
func (c Criteria) compareValue(v float64) Measurement {
	m := Measurement{Outcome: Fail, Value: strconv.FormatFloat(v, 'g', 6, 64)}
	switch {
	case math.IsInf(v, 0):
		m.Message = "the value is infinite, as of a service that cannot be scraped"
	case c.Limit == nil:
		m.Outcome, m.Message = Error, "the check has no threshold to judge the value by"
	case c.Limit.Holds(v):
		m.Outcome = Pass
	default:
		m.Message = "the value is beyond the threshold"
	}
	return m
}
