package evaluators

import "math"

// A Kind of answer of a metrics server.
type Kind string

// Kinds of answers. The text of each equals the difference that a note names.
const (
	Value         Kind = "a finite value"
	NoData        Kind = "a measurement without data"
	NotANumber    Kind = "a value that is not a number"
	PlusInfinity  Kind = "the value +Inf"
	MinusInfinity Kind = "the value -Inf"
	SeveralSeries Kind = "an answer of several series"
	Warning       Kind = "an answer with a warning"
	Redirect      Kind = "an answer that redirects"
	Histogram     Kind = "a histogram"
	Unanswered    Kind = "a question that the server does not answer"
	RefusedQuery  Kind = "a query that the server refuses"
)

// Kinds returns all kinds of answers.
func Kinds() []Kind {
	return []Kind{Value, NoData, NotANumber, PlusInfinity, MinusInfinity, SeveralSeries, Warning, Redirect, Histogram, Unanswered, RefusedQuery}
}

// An Answer of a metrics server.
type Answer struct {
	Kind Kind

	// Value is the value of the first and of the last series. An answer of several series has another value between them.
	Value float64
}

// Values returns the values of the series of an answer. A client of Prometheus that knows no histograms reads one as 0.
func (a Answer) Values() []float64 {
	switch a.Kind {
	case Value, Warning, Redirect:
		return []float64{a.Value}
	case Histogram:
		return []float64{0}
	case NotANumber:
		return []float64{math.NaN()}
	case PlusInfinity:
		return []float64{math.Inf(1)}
	case MinusInfinity:
		return []float64{math.Inf(-1)}
	case SeveralSeries:
		return []float64{a.Value, a.Value + 1, a.Value}
	}
	return nil
}

// Fails reports whether the server gave no answer that can be judged.
func (a Answer) Fails() bool { return a.Kind == Unanswered || a.Kind == RefusedQuery }

// A Verdict about a series of answers.
type Verdict string

// Verdicts. A series that is too short has no verdict.
const (
	None         Verdict = ""
	Passed       Verdict = "Passed"
	Failed       Verdict = "Failed"
	Error        Verdict = "Error"
	Inconclusive Verdict = "Inconclusive"

	// Panic is the end of a process that judges.
	Panic Verdict = "Panic"
)
