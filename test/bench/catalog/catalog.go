// Package catalog keeps the figures that the project claims: each with its unit, its bound, its description, and its last measurement.
package catalog

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// File holds the catalog, from the root of the project.
const File = "docs/figures.json"

// A Figure is a count, a time, a rate or a ratio that the project claims.
type Figure struct {
	Name string `json:"name"`
	Unit string `json:"unit"`

	// Bound limits the value. Without one any value is good.
	Bound Bound `json:"bound,omitzero"`

	// About describes the measurement, in one sentence.
	About string `json:"about"`

	// Measured is the last measurement, or nil.
	Measured *Measurement `json:"measured,omitempty"`
}

// A Measurement is the value of a figure, and where it comes from.
type Measurement struct {
	Value float64 `json:"value"`

	// Seconds is the time that the measurement took. 0 means that it was not noted.
	Seconds float64 `json:"seconds,omitempty"`

	// Commit of the measured code, and the day of the measurement, as in 2026-01-31. The day is empty if it was not noted.
	Commit string `json:"commit"`
	Date   string `json:"date,omitempty"`

	// Load is the load average of the last minute when the measurement ended, including the programs of the measurement.
	Load float64 `json:"load"`

	// Others is the number of processors that other programs kept busy during the measurement. Nil means that it was not noted.
	Others *float64 `json:"others,omitempty"`

	Machine Machine `json:"machine"`
}

// A Machine is the machine of a measurement.
type Machine struct {
	Processors int    `json:"processors"`
	MemoryGiB  int    `json:"memoryGiB"`
	Go         string `json:"go"`
}

// maxOthers is the number of processors that other programs may keep busy beside a measurement that had the machine for itself.
const maxOthers = 0.25

// IsAlone is true if the measurement is known to have had the machine for itself.
func (m Measurement) IsAlone() bool { return m.Others != nil && *m.Others <= maxOthers }

// IsOutside is true if a measurement that had the machine for itself is outside the bound of its figure. A measurement beside other programs proves nothing
// about a bound.
func (f Figure) IsOutside() bool {
	return f.Measured != nil && f.Measured.IsAlone() && !f.Bound.Admits(f.Measured.Value)
}

// counts are the units of which a measurement may find none. A time, a size, a rate or a ratio of zero comes from a run that measured nothing.
var counts = []string{"writes", "conflicts", "commits", "pods", "changes", "plans", "points", "requests"}

// CheckValue returns an error for a value that no measurement in a unit has.
func CheckValue(value float64, unit string) error {
	if math.IsNaN(value) || math.IsInf(value, 0) || value < 0 || value == 0 && !slices.Contains(counts, unit) {
		return errors.Errorf("cannot use the value %v %s: the run measured nothing", value, unit)
	}
	return nil
}

// Figures are the catalog, in the order of the table of the documentation.
type Figures []Figure

// Read reads the catalog of a project. It returns an error if the file is missing, has unknown fields, or names a figure twice or without a word about it.
func Read(root string) (Figures, error) {
	b, err := os.ReadFile(filepath.Join(root, File))
	if err != nil {
		return nil, errors.Wrap(err, "cannot read figures")
	}
	out := Figures{}
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&out); err != nil {
		return nil, errors.Wrapf(err, "cannot parse %s", File)
	}
	return out, errors.Wrapf(out.validateFigures(), "cannot use %s", File)
}

func (all Figures) validateFigures() error {
	names := map[string]bool{}
	for _, f := range all {
		if f.Name == "" || f.Unit == "" || f.About == "" {
			return errors.Errorf("figure %q needs a name, a unit and a sentence about it", f.Name)
		}
		if names[f.Name] {
			return errors.Errorf("two figures are called %s", f.Name)
		}
		names[f.Name] = true
	}
	return nil
}

// Keep writes the measurement of a figure into the catalog of a project, whose other figures stay as they are, and returns the figure. It returns an error if
// the catalog cannot be read or written, or has no such figure.
func Keep(root, name string, m Measurement) (Figure, error) {
	all, err := Read(root)
	if err != nil {
		return Figure{}, err
	}
	i := slices.IndexFunc(all, func(f Figure) bool { return f.Name == name })
	if i < 0 {
		return Figure{}, errors.Errorf("cannot keep %s: %s has no such figure", name, File)
	}
	all[i].Measured = &m
	return all[i], all.writeFigures(filepath.Join(root, File))
}

// writeFigures replaces a file as a whole: a run that is killed leaves the previous content.
func (all Figures) writeFigures(file string) error {
	b := &bytes.Buffer{}
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(all); err != nil {
		return errors.Wrap(err, "cannot encode figures")
	}
	part := file + ".part"
	if err := os.WriteFile(part, b.Bytes(), 0o600); err != nil {
		return errors.Wrap(err, "cannot write figures")
	}
	return errors.Wrap(os.Rename(part, file), "cannot replace figures")
}
