package live

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/cluster"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/overview"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// watchChanges shows each change until the context ends.
func (c *Status) watchChanges(ctx context.Context, s *terminal.Streams, opened *cluster.Cluster) error {
	m, err := opened.Mirror(ctx, c.namespaceToRead(opened), cluster.MirrorParts{IsComposedWanted: c.Name != "", IsBeneathWanted: c.Stuck})
	if err != nil {
		return err
	}
	v := &viewer{Streams: s, command: c, look: m.All}
	if c.Name != "" {
		v.look = func(ctx context.Context) (*cluster.Subjects, error) { return m.Subject(ctx, c.Name) }
	}
	if c.Stuck {
		v.look = lookBeneath(m, v.look)
	}
	return v.followChanges(ctx, m.Changed())
}

// lookBeneath adds the dependencies of the found objects to a look.
func lookBeneath(m *cluster.Mirror, look func(context.Context) (*cluster.Subjects, error)) func(context.Context) (*cluster.Subjects, error) {
	return func(ctx context.Context) (*cluster.Subjects, error) {
		found, err := look(ctx)
		if err == nil {
			m.ReadBeneath(ctx, found)
		}
		return found, err
	}
}

// A viewer shows changes.
type viewer struct {
	*terminal.Streams

	command *Status
	look    func(context.Context) (*cluster.Subjects, error)

	// drawn are the lines on the terminal, and said the last line about each object.
	drawn []string
	said  map[string]string
}

// followChanges shows the present state, and then each change: at most one drawing in redrawInterval, fewer where drawings take long, and the
// last change always. A terminal is drawn again each second too, since times pass.
func (v *viewer) followChanges(ctx context.Context, changed <-chan struct{}) error {
	clock := time.NewTicker(time.Second)
	defer clock.Stop()
	for {
		began := v.Now()
		if err := v.showCurrent(ctx); err != nil {
			return err
		}
		// Changes meanwhile are kept in the channel.
		pause := time.NewTimer(redrawPause(v.Now().Sub(began), redrawInterval))
		select {
		case <-ctx.Done():
			return nil
		case <-pause.C:
		}
		if !v.awaitChange(ctx, changed, clock.C) {
			return nil
		}
	}
}

// drawingShare is how many times as long as a drawing the pause after it lasts at least.
const drawingShare = 40

// redrawPause returns the pause after a drawing: the interval, or longer where many objects take long to draw, so that a watch of them costs little.
func redrawPause(took, interval time.Duration) time.Duration {
	return max(interval, drawingShare*took)
}

// awaitChange returns false when the context ended.
func (v *viewer) awaitChange(ctx context.Context, changed <-chan struct{}, second <-chan time.Time) bool {
	if v.Screen == nil {
		second = nil
	}
	select {
	case <-ctx.Done():
		return false
	case <-changed:
	case <-second:
	}
	return true
}

// showCurrent shows the present state: on a terminal all of it, elsewhere a line for each object that changed.
func (v *viewer) showCurrent(ctx context.Context) error {
	found, err := v.look(ctx)
	if err != nil && v.drawn == nil && v.said == nil {
		return err
	}
	now := v.Now()
	if v.Screen == nil {
		return v.printChanges(found, err, now)
	}
	lines := []string{}
	if err != nil {
		lines = append(lines, terminal.QuoteLine(err.Error()))
	}
	if found != nil {
		for _, line := range v.command.subjectLines(v.Streams, found, now) {
			lines = append(lines, terminal.QuoteLine(line))
		}
	}
	if slices.Equal(lines, v.drawn) {
		return nil
	}
	isFirst := v.drawn == nil
	v.drawn = lines
	return v.Screen.Redraw(v.Out, lines, isFirst)
}

// printChanges prints a line for each object that says something else than before.
func (v *viewer) printChanges(found *cluster.Subjects, failure error, now time.Time) error {
	previous := v.said
	v.said = map[string]string{}
	if failure != nil {
		v.said[""] = failure.Error()
		return v.printChange(previous, "", now)
	}
	rows := v.command.sortedRows(found, now)
	for i := range rows {
		key := rows[i].Namespace + "/" + rows[i].Name + " " + rows[i].Kind + " " + rows[i].Group
		v.said[key] = formatRowChange(&rows[i])
		if err := v.printChange(previous, key, now); err != nil {
			return err
		}
	}
	for key := range previous {
		if _, ok := v.said[key]; !ok && key != "" {
			name, _, _ := strings.Cut(key, " ")
			if err := v.PrintLines([]string{now.Format(time.TimeOnly) + " " + name + " is not shown any more"}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *viewer) printChange(previous map[string]string, key string, now time.Time) error {
	if last, ok := previous[key]; ok && last == v.said[key] {
		return nil
	}
	return errors.Wrap(v.PrintLines([]string{now.Format(time.TimeOnly) + " " + v.said[key]}), "cannot print")
}

// formatRowChange says in one line where an object is.
func formatRowChange(r *overview.Row) string {
	out := fmt.Sprintf("%s/%s %s", r.Namespace, r.Name, cmp.Or(r.Phase, "Unknown"))
	if r.Outcome != "" && r.Outcome != r.Phase {
		out += "/" + r.Outcome
	}
	if r.Revision != 0 {
		out += fmt.Sprintf(" revision %d", r.Revision)
	}
	if r.Sites != "" {
		out += " sites " + r.Sites
	}
	if r.Step != "" {
		out += " step " + r.Step
	}
	return strings.TrimSuffix(out+": "+strings.Join(strings.Fields(r.Message), " "), ": ")
}
