// Package analysis converts the analyses of Argo Rollouts and of Flagger into checks, and names the field path of each part that it cannot
// convert.
package analysis

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/apis/expression"
	"github.com/intentplane/intentplane/apis/promql"
	"github.com/intentplane/intentplane/apis/threshold"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/condition"
)

// Options are decisions that a file leaves open.
type Options struct {
	// Args are values of arguments and variables. They take the place of the values in the file.
	Args map[string]string

	// Count of measurements where the file has no count. 0 means that such a metric is not converted.
	Count int32

	// Threshold of a MetricTemplate that no Canary refers to. Empty means that such a template is not converted.
	Threshold string

	// UsesSiteServer drops the addresses and credentials of Prometheus servers, so that checks ask the server of the Site.
	UsesSiteServer bool
}

// A Conversion is the result for a file.
type Conversion struct {
	// Checks in the order of the file.
	Checks []deploymentv1alpha1.Check

	// Notes name the differences of the checks that need no decision.
	Notes []string
}

// A Problem is a field that cannot be converted.
type Problem struct {
	// Object that the field is in, such as AnalysisTemplate success-rate.
	Object string

	// Field is its path.
	Field string

	// Message has the reason and the remedy.
	Message string
}

// A FieldsError names all fields that cannot be converted.
type FieldsError struct {
	Problems []Problem
}

// Error has a line for each problem.
func (e *FieldsError) Error() string {
	lines := []string{fmt.Sprintf("cannot convert %d fields", len(e.Problems))}
	if len(e.Problems) == 1 {
		lines[0] = "cannot convert a field"
	}
	for _, problem := range e.Problems {
		lines = append(lines, fmt.Sprintf("%s: %s: %s", problem.Object, problem.Field, problem.Message))
	}
	return strings.Join(lines, "\n")
}

// A converter collects the conversion of a file.
type converter struct {
	Options

	object   string
	out      Conversion
	problems []Problem

	// usedArgs are the names of arguments and variables that an object of the files has.
	usedArgs map[string]bool

	// declaresArgs is true if a template lists its arguments, so that each placeholder stands for a listed argument.
	declaresArgs bool
}

func newConverter(o Options) *converter {
	return &converter{Options: o, usedArgs: map[string]bool{}}
}

// refuseUnusedArgs refuses values for arguments and variables that no object of the files has: a name may be misspelled.
func (c *converter) refuseUnusedArgs() {
	c.object = "--arg"
	for _, name := range slices.Sorted(maps.Keys(c.Args)) {
		if !c.usedArgs[name] {
			c.refuseFieldf(name, "no template of the files has an argument or a variable of this name")
		}
	}
}

func (c *converter) refuseFieldf(field, format string, args ...any) {
	p := Problem{Object: c.object, Field: field, Message: fmt.Sprintf(format, args...)}
	if !slices.Contains(c.problems, p) {
		c.problems = append(c.problems, p)
	}
}

// hasProblemBelow reports whether a field of the present object was refused whose path begins so.
func (c *converter) hasProblemBelow(path string) bool {
	return slices.ContainsFunc(c.problems, func(p Problem) bool { return p.Object == c.object && strings.HasPrefix(p.Field, path) })
}

// refuseInvalidText refuses a text that cannot be read, unless it lacks the value of a placeholder, which is refused already.
func (c *converter) refuseInvalidText(field string, err error) {
	if !c.hasProblemBelow(field) {
		c.refuseFieldf(field, "%s", err)
	}
}

func (c *converter) addNotef(field, format string, args ...any) {
	c.out.Notes = append(c.out.Notes, fmt.Sprintf("%s: %s: %s", c.object, field, fmt.Sprintf(format, args...)))
}

// conversionResult returns the conversion, or all problems. It never returns a part of a conversion.
func (c *converter) conversionResult() (*Conversion, error) {
	if len(c.problems) > 0 {
		return nil, &FieldsError{Problems: c.problems}
	}
	return &c.out, nil
}

// addBoundChecks adds a check for each bound of a field: one keeps the name, of several each has the side of its bound in its name.
func (c *converter) addBoundChecks(check deploymentv1alpha1.Check, bounds []condition.Bound) {
	for _, b := range bounds {
		bounded := check.DeepCopy()
		bounded.Threshold = deploymentv1alpha1.Threshold(b.String())
		if len(bounds) > 1 {
			bounded.Name += b.Side()
		}
		c.out.Checks = append(c.out.Checks, *bounded)
	}
}

// failableBounds returns the bounds of a field that a measurement can fail. It notes the bounds that it leaves out, and refuses the field if it leaves out all
// of them: the check would pass each revision.
func (c *converter) failableBounds(field string, check deploymentv1alpha1.Check, bounds []condition.Bound) []condition.Bound {
	out, idle := []condition.Bound{}, []condition.Bound{}
	for _, b := range bounds {
		check.Threshold = deploymentv1alpha1.Threshold(b.String())
		if canCheckFail(check) {
			out = append(out, b)
			continue
		}
		idle = append(idle, b)
	}
	for _, b := range idle {
		if len(out) == 0 {
			c.refuseIdleCheck(field, b.String())
			continue
		}
		c.addNotef(field, "%q holds for each value that can be measured, and is left out", b)
	}
	return out
}

// refuseUnfailing refuses a check that no value can fail: it would pass each revision.
func (c *converter) refuseUnfailing(field string, check deploymentv1alpha1.Check) {
	if !canCheckFail(check) {
		c.refuseIdleCheck(field, string(check.Threshold))
	}
}

func (c *converter) refuseIdleCheck(field, limit string) {
	c.refuseFieldf(field, "%q holds for each value that can be measured, so that no revision fails the check: set a threshold that some values exceed", limit)
}

// canCheckFail reports whether a measurement can fail a check. A threshold, a query or an expression that cannot be read is refused where it is read.
func canCheckFail(check deploymentv1alpha1.Check) bool {
	limit, err := threshold.Parse(string(check.Threshold))
	if err != nil {
		return true
	}
	if check.Prometheus != nil {
		query, err := promql.Parse(check.Prometheus.Query)
		return err != nil || query.CanFail(limit, check.NoData)
	}
	e, err := expression.NewReader(1).Read(check.Web.Expression)
	if err != nil {
		return true
	}
	values, err := e.Range()
	return err != nil || !limit.HoldsFor(values)
}
