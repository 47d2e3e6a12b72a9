package overview

import (
	"fmt"
	"slices"

	"github.com/intentplane/intentplane/apis/gaterecord"
)

// KeptChecks returns the Gates that have a check, with this check alone.
func KeptChecks(all []gaterecord.Gate, check string) []gaterecord.Gate {
	var out []gaterecord.Gate
	for _, g := range all {
		g.Checks = slices.DeleteFunc(slices.Clone(g.Checks), func(c gaterecord.Check) bool { return c.Name != check })
		if len(g.Checks) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// KeptCheckNames are the checks of some Gates, sorted.
func KeptCheckNames(all []gaterecord.Gate) []string {
	var out []string
	for _, g := range all {
		for _, c := range g.Checks {
			out = append(out, c.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// MeasurementLines are the measurements that are kept of a check: a table for each step and Site, below how that ended.
func MeasurementLines(all []gaterecord.Gate, s Style) []string {
	var out []string
	for _, g := range all {
		for _, c := range g.Checks {
			title := fmt.Sprintf("%s  revision %d  step %d  %s  %s", c.Name, g.Position.Revision, g.Position.Step+1, c.Site, c.Phase)
			out = append(out, s.cutLine(title), s.cutLine(measurementRow("at", "outcome", "value", "threshold", "")))
			if c.Omitted > 0 {
				out = append(out, fmt.Sprintf("(%d earlier ones are not kept)", c.Omitted))
			}
			for _, m := range c.Measurements {
				out = append(out, s.cutLine(measurementRow(s.formatClock(&m.At), m.Outcome, orDash(m.Value+unitOf(m.Value, c.Unit)), orDash(c.Threshold), m.Message)))
			}
		}
	}
	return out
}

// unitOf returns the unit of a value, or "" where the value is empty.
func unitOf(value, unit string) string {
	if value == "" {
		return ""
	}
	return unit
}

func measurementRow(at, outcome, value, threshold, message string) string {
	return fmt.Sprintf("%-14s %-12s %-10s %-12s %s", at, outcome, value, threshold, message)
}
