package overview

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/intentplane/intentplane/apis/catalogview"
)

// SiteTable returns a line for each Site. A wide one has labels, which deployments select Sites by.
func SiteTable(all []catalogview.Site, s Style) []string {
	cells := [][]string{{"NAME", "ENGINE", "REPOSITORY", "PATH", "NAMESPACES", "CHECKS", "PARAMETERS"}}
	for _, e := range all {
		cells = append(cells, []string{
			e.Name, e.Engine, e.Repository, e.Path, strings.Join(e.TargetNamespaces, ","), strings.Join(e.Checks, ","), joinSortedPairs(e.Parameters, " "),
		})
	}
	if s.IsWide {
		cells[0] = append(cells[0], "LABELS")
		for i, e := range all {
			cells[i+1] = append(cells[i+1], joinSortedPairs(e.Labels, ","))
		}
	}
	return s.alignColumns(dropEmptyColumns(cells))
}

// joinSortedPairs returns NAME=VALUE for each value, sorted.
func joinSortedPairs[T ~string](values map[string]T, separator string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		out = append(out, name+"="+collapseSpaces(string(values[name])))
	}
	return strings.Join(out, separator)
}

// BlueprintTable returns a line for each Blueprint. A wide one has the name of the object, metrics and defaults.
func BlueprintTable(all []catalogview.Blueprint, s Style) []string {
	cells := [][]string{{"NAME", "VERSION", "CHANNEL", "TYPES", "CANARY", "PARAMETERS"}}
	for _, e := range all {
		names := []string{}
		for _, p := range e.Parameters {
			names = append(names, p.Name)
		}
		canary := map[bool]string{true: "yes"}[e.HasCanary]
		cells = append(cells, []string{cmp.Or(e.Name, e.Object), e.Version, e.Channel, strings.Join(e.Types, ","), canary, strings.Join(names, " ")})
	}
	if s.IsWide {
		cells[0] = append(cells[0], "METRICS", "DEFAULTS", "OBJECT")
		for i, e := range all {
			metrics := []string{}
			for _, m := range e.Metrics {
				metrics = append(metrics, m.Name)
			}
			cells[i+1] = append(cells[i+1], strings.Join(metrics, " "), joinSortedPairs(e.Defaults, " "), e.Object)
		}
	}
	return s.alignColumns(dropEmptyColumns(cells))
}

// BlueprintLines return all that an author needs of one Blueprint.
func BlueprintLines(e catalogview.Blueprint, s Style) []string {
	s.IsWide = false // Columns that a wide table adds stand below.
	out := BlueprintTable([]catalogview.Blueprint{e}, s)
	cells := [][]string{{"PARAMETER", "TYPE", "DEFAULT", "ALLOWED", "DESCRIPTION"}}
	for _, p := range e.Parameters {
		if p.Required {
			p.Default = "(required)"
		}
		cells = append(cells, []string{p.Name, p.Type, p.Default, strings.Join(p.Allowed, ","), p.Description})
	}
	out = append(out, s.tableSection(cells)...)
	cells = [][]string{{"METRIC", "UNIT", "GOOD IF"}}
	for _, m := range e.Metrics {
		cells = append(cells, []string{m.Name, m.Unit, map[string]string{"AtMost": "at most", "AtLeast": "at least"}[m.Direction]})
	}
	out = append(out, s.tableSection(cells)...)
	cells = [][]string{{"VALUE", "DEFAULT"}}
	for _, name := range slices.Sorted(maps.Keys(e.Defaults)) {
		cells = append(cells, []string{name, collapseSpaces(e.Defaults[name])})
	}
	out = append(out, s.tableSection(cells)...)
	for _, example := range e.Examples {
		out = append(out, s.labelledLines("Example:", collapseSpaces(example))...)
	}
	return out
}

// tableSection returns a table below an empty line, or nothing where it has no rows.
func (s Style) tableSection(cells [][]string) []string {
	if len(cells) == 1 {
		return nil
	}
	return append([]string{""}, s.alignColumns(dropEmptyColumns(cells))...)
}
