// Package terminal has the streams, the forms of output, the errors and the exit codes of all commands.
package terminal

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
)

// Streams are the input and the outputs of a command, with its clock.
type Streams struct {
	In  io.Reader
	Out io.Writer

	// ErrOut receives errors and advice. Run sets it.
	ErrOut io.Writer

	// Colours says whether Out shows them.
	Colours Palette

	// Screen is the terminal that Out is. Nil means that Out is none.
	Screen Screen

	// IsInteractive is true if a person answers questions on In.
	IsInteractive bool

	// Now returns the time, in the zone in which people read it. Run sets it where it is nil.
	Now func() time.Time

	// Interval between two reads of an awaited object. 0 means one second.
	Interval time.Duration

	// Version of the program.
	Version string
}

// PollInterval is the time between two observations of an awaited object.
func (s *Streams) PollInterval() time.Duration { return cmp.Or(s.Interval, defaultInterval) }

// defaultInterval is the time between two observations of a deployment.
const defaultInterval = time.Second

// PrintLines prints lines in which nothing steers a terminal.
func (s *Streams) PrintLines(lines []string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(s.Out, QuoteLine(line)); err != nil {
			return errors.Wrap(err, "cannot print")
		}
	}
	return nil
}

// PrintEncoded prints a value as json or yaml.
func (s *Streams) PrintEncoded(form string, v any) error {
	b, err := Encode(form, v)
	if err != nil {
		return err
	}
	_, err = s.Out.Write(b)
	return errors.Wrap(err, "cannot print")
}

// AskUser asks the user a question, and returns true if the answer is yes.
func (s *Streams) AskUser(question string) (bool, error) {
	if _, err := fmt.Fprintf(s.ErrOut, "%s [y/N] ", QuoteLine(question)); err != nil {
		return false, errors.Wrap(err, "cannot print")
	}
	answer, err := bufio.NewReader(s.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, errors.Wrap(err, "cannot read the answer")
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}
