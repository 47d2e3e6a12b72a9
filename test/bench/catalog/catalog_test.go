package catalog

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// newProject returns the directory of a project with a catalog.
func newProject(t *testing.T, figures string) string {
	t.Helper()
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, File), []byte(figures), 0o600); err != nil {
		t.Fatal(err)
	}
	return root
}

const twoFigures = `[
  {"name": "a_ms", "unit": "ms", "bound": "≤ 5", "about": "how long a takes"},
  {"name": "b", "unit": "writes", "about": "how many writes of <b> & others"}
]`

// TestKeepFigure keeps a figure in the catalog, and leaves the other one as it is.
func TestKeepFigure(t *testing.T) {
	root := newProject(t, twoFigures)
	measured := Measurement{Value: 4.5, Seconds: 7, Commit: "0123456789abcdef", Date: "2031-05-06", Load: 1.5, Others: new(0.1), Machine: Machine{Processors: 2, MemoryGiB: 24, Go: "go1.26"}}
	stored, err := Keep(root, "a_ms", measured)
	if err != nil || stored.IsOutside() {
		t.Errorf("Keep(...): want a figure within its bound, got %+v, %v", stored, err)
	}
	got, err := Read(root)
	want := Figures{
		{Name: "a_ms", Unit: "ms", Bound: Bound{relation: atMost, limit: 5}, About: "how long a takes", Measured: &measured},
		{Name: "b", Unit: "writes", About: "how many writes of <b> & others"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Bound{})); diff != "" || err != nil {
		t.Errorf("the catalog after Keep(...): %v, -want, +got:\n%s", err, diff)
	}
	if _, err := Keep(root, "c", measured); err == nil || !strings.Contains(err.Error(), "no such figure") {
		t.Errorf("Keep of a name that no figure has: got %v", err)
	}
}

// TestReadInvalidCatalog reads catalogs that cannot be used.
func TestReadInvalidCatalog(t *testing.T) {
	cases := map[string]struct {
		reason, figures, err string
	}{
		"Good": {reason: "A figure needs no value.", figures: twoFigures},
		"Twice": {
			reason:  "A name means one figure.",
			figures: `[{"name":"a","unit":"s","about":"x"},{"name":"a","unit":"s","about":"y"}]`, err: "two figures are called a",
		},
		"Silent": {
			reason:  "A figure needs a sentence for its readers.",
			figures: `[{"name":"a","unit":"s"}]`, err: `figure "a" needs a name, a unit and a sentence about it`,
		},
		"Typo": {
			reason:  "An unknown field would be lost, so it is refused.",
			figures: `[{"name":"a","unit":"s","about":"x","bond":"≤ 1"}]`, err: `unknown field "bond"`,
		},
		"Bound":   {reason: "A bound that cannot be read binds nothing.", figures: `[{"name":"a","unit":"s","about":"x","bound":"1"}]`, err: `cannot read bound "1"`},
		"Cut":     {reason: "A file that was written in part is not used.", figures: `[{"name":"a"`, err: "cannot parse"},
		"Nothing": {reason: "An empty file holds no catalog.", err: "cannot parse"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Read(newProject(t, tc.figures))
			if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("\n%s\nRead(...): want %q, got %v", tc.reason, tc.err, err)
			}
		})
	}
}

// TestCheckValue compares the values of runs that measured something and of runs that measured nothing.
func TestCheckValue(t *testing.T) {
	cases := map[string]struct {
		reason, unit string
		good, bad    []float64
	}{
		"Time":  {reason: "Nothing takes no time.", unit: "s", good: []float64{0.001, 300}, bad: []float64{0, -1}},
		"Ratio": {reason: "A ratio to nothing has no value.", unit: "times", good: []float64{0.5}, bad: []float64{0, math.Inf(1), math.NaN()}},
		"Size":  {reason: "A process has some memory.", unit: "MiB", good: []float64{12}, bad: []float64{0, -3}},
		"Cost":  {reason: "Each deployment costs events of the circuit breaker.", unit: "tokens", good: []float64{36}, bad: []float64{0}},
		"Rate":  {reason: "A server that counts no queries is not the queried one.", unit: "1/interval", good: []float64{20}, bad: []float64{0}},
		"Count": {reason: "There may be no write.", unit: "writes", good: []float64{0, 26}, bad: []float64{-1, math.NaN()}},
		"Error": {reason: "A share may be exact.", unit: "points", good: []float64{0, 0.4}, bad: []float64{-0.1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, value := range tc.good {
				if err := CheckValue(value, tc.unit); err != nil {
					t.Errorf("\n%s\nCheckValue(%v, %q): %v", tc.reason, value, tc.unit, err)
				}
			}
			for _, value := range tc.bad {
				if err := CheckValue(value, tc.unit); err == nil {
					t.Errorf("\n%s\nCheckValue(%v, %q): want an error", tc.reason, value, tc.unit)
				}
			}
		})
	}
}

// TestTableOfMeasurements shows the measurements.
func TestTableOfMeasurements(t *testing.T) {
	upTo := Bound{relation: atMost, limit: 5}
	m := func(value, load float64) *Measurement {
		return &Measurement{Value: value, Commit: "0123456789abcdef", Date: "2031-05-06", Load: 1.25, Others: &load}
	}
	got := Figures{
		{Name: "within_ms", Unit: "ms", Bound: upTo, About: "is within", Measured: m(4.56789, 0)},
		{Name: "outside_ms", Unit: "ms", Bound: upTo, About: "is outside", Measured: m(5.1, 0.25)},
		{Name: "busy_ms", Unit: "ms", Bound: upTo, About: "beside others", Measured: m(9, 0.26)},
		{Name: "large", Unit: "bytes", About: "has no bound", Measured: m(760600, 0)},
		{Name: "old", Unit: "s", Bound: upTo, About: "has no day", Measured: &Measurement{Value: 7, Commit: "f5185f7c", Load: 8}},
		{Name: "missing", Unit: "s", About: "has no value"},
	}.Table()
	want := `| figure | measured | bound | commit, day, load average | description |
|---|---|---|---|---|
| ` + "`within_ms`" + ` | 4.568 ms | ≤ 5 | 01234567 2031-05-06 1.25 | is within |
| ` + "`outside_ms`" + ` | **5.1 ms** | ≤ 5 | 01234567 2031-05-06 1.25 | is outside |
| ` + "`busy_ms`" + ` | 9 ms | ≤ 5 | 01234567 2031-05-06 1.25 † | beside others |
| ` + "`large`" + ` | 760600 bytes |  | 01234567 2031-05-06 1.25 | has no bound |
| ` + "`old`" + ` | 7 s | ≤ 5 | f5185f7c 8 † | has no day |
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Table(): -want, +got:\n%s", diff)
	}
}
