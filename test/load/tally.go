package load

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// A Tally is the cost of some deployments at the API server.
type Tally struct {
	// Deployments that it is of.
	Deployments int

	// Writes of objects, with any effect, and Events that were written about the objects.
	Writes, Events int

	// Nothing, OnlyTimes, Undone and Conflicts are how many of the writes had no effect, changed no more than times of conditions, were undone
	// by later ones, or were refused since the object had changed.
	Nothing, OnlyTimes, Undone, Conflicts int

	// Bytes of the objects that the writes were answered with.
	Bytes int

	// Took is how long the server took for the writes together.
	Took time.Duration
}

// TallyRequests counts the requests about objects that belong to deployments.
func TallyRequests(all []Request) *Tally {
	t, deployments := &Tally{}, map[string]bool{}
	for _, r := range all {
		if r.Deployment == "" {
			continue
		}
		deployments[r.Deployment] = true
		t.tallyRequest(r)
	}
	t.Deployments = len(deployments)
	return t
}

func (t *Tally) tallyRequest(r Request) {
	switch {
	case !r.IsWrite():
		return
	case r.IsEvent():
		t.Events++
		return
	}
	t.Writes++
	t.Bytes += r.Bytes
	t.Took += r.Took
	if r.Code == http.StatusConflict {
		t.Conflicts++
	}
	switch r.Effect {
	case Nothing:
		t.Nothing++
	case OnlyTimes:
		t.OnlyTimes++
	case Undone:
		t.Undone++
	case Changes, Undoes:
	}
}

// EachOf returns a count for each deployment, or 0 where there are none.
func (t *Tally) EachOf(count int) float64 {
	if t.Deployments == 0 {
		return 0
	}
	return float64(count) / float64(t.Deployments)
}

// PrintWrites prints the writes of deployments as a table, in the order of the log. It returns an error if they cannot be written.
func PrintWrites(w io.Writer, all []Request) error {
	t := newTallyTable(w, "ms", "object", "verb", "manager", "code", "bytes", "took ms", "effect", "changed")
	began := time.Time{}
	for _, r := range all {
		if r.Deployment == "" || !r.IsWrite() {
			continue
		}
		if began.IsZero() {
			began = r.At
		}
		t.addTableRow(r.At.Sub(began).Milliseconds(), r.Resource+" "+r.Name, r.Verb, r.Manager, r.Code, r.Bytes,
			fmt.Sprintf("%.1f", milliseconds(r.Took)), string(r.Effect), strings.Join(r.Changed, " "))
	}
	return t.printRows()
}

// A kindOfWrite has the common fields of writes that are one row of a summary.
type kindOfWrite struct {
	resource, verb, manager string
	code                    int
	effect                  Effect
}

// PrintSummary prints how many writes of each kind there are for each deployment, the most frequent first. It returns an error if it cannot be
// written.
func PrintSummary(w io.Writer, all []Request) error {
	byKind, n := map[kindOfWrite]*Tally{}, TallyRequests(all)
	for _, r := range all {
		if r.Deployment == "" || !r.IsWrite() {
			continue
		}
		k := kindOfWrite{resource: r.Resource, verb: r.Verb, manager: r.Manager, code: r.Code, effect: r.Effect}
		if byKind[k] == nil {
			byKind[k] = &Tally{}
		}
		byKind[k].tallyRequest(r)
	}
	t := newTallyTable(w, "each", "object", "verb", "manager", "code", "effect", "bytes each", "ms each")
	kinds := slices.SortedFunc(maps.Keys(byKind), func(a, b kindOfWrite) int {
		return cmp.Or(byKind[b].countRequests()-byKind[a].countRequests(), strings.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	for _, k := range kinds {
		c := byKind[k]
		t.addTableRow(fmt.Sprintf("%.1f", n.EachOf(c.countRequests())), k.resource, k.verb, k.manager, k.code, string(k.effect),
			fmt.Sprintf("%.0f", n.EachOf(c.Bytes)), fmt.Sprintf("%.1f", milliseconds(c.Took)/max(1, float64(n.Deployments))))
	}
	return t.printRows()
}

func (t *Tally) countRequests() int { return t.Writes + t.Events }

// A table is lines of columns that are as wide as they must be.
type table struct {
	w   *tabwriter.Writer
	err error
}

func newTallyTable(w io.Writer, columns ...any) *table {
	t := &table{w: tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	t.addTableRow(columns...)
	return t
}

func (t *table) addTableRow(cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = fmt.Sprint(c)
	}
	_, err := fmt.Fprintln(t.w, strings.Join(texts, "\t"))
	t.err = cmp.Or(t.err, err)
}

func (t *table) printRows() error {
	return errors.Wrap(cmp.Or(t.err, t.w.Flush()), "cannot print the table")
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
