package main

import (
	"bytes"
	"io"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"golang.org/x/term"
)

// A screen is a terminal: it returns how many characters and lines it has.
type screen func() (width, height int)

// plainWidth is how wide lines are without a terminal.
const plainWidth = 80

// screenOfFile returns nil for a file that is not a terminal.
func screenOfFile(f *os.File) screen {
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

// width of the lines that are printed.
func (s screen) width() int {
	if s == nil {
		return plainWidth
	}
	w, _ := s()
	return w
}

// Control sequences of a terminal (ECMA-48): move to its first character, and remove the text after the cursor.
const (
	toBegin    = "\x1b[H"
	eraseRest  = "\x1b[J"
	eraseLine  = "\x1b[K"
	eraseWhole = "\x1b[2J"
)

// redraw replaces the content of a terminal by lines, as many as it has room for. The first time it clears the terminal.
func (s screen) redraw(out io.Writer, lines []string, isFirst bool) error {
	b := bytes.Buffer{}
	if isFirst {
		b.WriteString(eraseWhole)
	}
	b.WriteString(toBegin)
	_, height := s()
	for i, line := range lines {
		if height > 0 && i >= height-1 {
			break
		}
		b.WriteString(line + eraseLine + "\n")
	}
	b.WriteString(eraseRest)
	_, err := out.Write(b.Bytes())
	return errors.Wrap(err, "cannot print")
}
