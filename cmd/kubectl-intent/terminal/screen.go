package terminal

import (
	"bytes"
	"io"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/term"
)

// A Screen is a terminal: it returns how many characters and lines it has.
type Screen func() (width, height int)

// plainWidth is how wide lines are without a terminal.
const plainWidth = 80

// ScreenOf returns the screen of a file. It is nil for a file that is not a terminal.
func ScreenOf(f *os.File) Screen {
	if !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return func() (width, height int) {
		width, height, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return plainWidth, 0
		}
		return width, height
	}
}

// Width of the lines that are printed.
func (s Screen) Width() int {
	if s == nil {
		return plainWidth
	}
	w, _ := s()
	return w
}

// Control sequences of a terminal (ECMA-48): move to its first character, and remove the text after the cursor.
const (
	ToBegin    = "\x1b[H"
	EraseRest  = "\x1b[J"
	eraseLine  = "\x1b[K"
	EraseWhole = "\x1b[2J"
)

// Redraw replaces the content of a terminal by lines, as many as it has room for. The first time it clears the terminal.
func (s Screen) Redraw(out io.Writer, lines []string, isFirst bool) error {
	b := bytes.Buffer{}
	if isFirst {
		b.WriteString(EraseWhole)
	}
	b.WriteString(ToBegin)
	_, height := s()
	for i, line := range lines {
		if height > 0 && i >= height-1 {
			break
		}
		b.WriteString(line + eraseLine + "\n")
	}
	b.WriteString(EraseRest)
	_, err := out.Write(b.Bytes())
	return errors.Wrap(err, "cannot print")
}
