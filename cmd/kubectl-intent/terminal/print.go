package terminal

import (
	"encoding/json"
	"io"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/fatih/color"
	"golang.org/x/term"
	"sigs.k8s.io/yaml"
)

// FormFlag chooses how a command prints.
type FormFlag struct {
	Output string `default:"text" enum:"text,json,yaml" help:"Form of the output: text, json or yaml." short:"o"`
}

// PrintValue prints a value as json or yaml, or by its own text.
func (f FormFlag) PrintValue(w io.Writer, v any, text func(io.Writer) error) error {
	if f.Output == "text" {
		return text(w)
	}
	b, err := Encode(f.Output, v)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return errors.Wrap(err, "cannot print")
}

// ListFlag chooses how a command prints objects, as kubectl get does.
type ListFlag struct {
	Output string `default:"text" enum:"text,wide,json,yaml,name" help:"Form of the output: text, wide, json, yaml or name." short:"o"`
}

// ObjectsFlag chooses how a command prints objects that it makes or reads from files.
type ObjectsFlag struct {
	Output string `default:"text" enum:"text,json,yaml,name" help:"Form of the output: text, json, yaml or name." short:"o"`
}

// PrintValue prints a value as json or yaml, names that kubectl takes, or its own text.
func (f ObjectsFlag) PrintValue(w io.Writer, v any, names func() ([]string, error), text func(io.Writer) error) error {
	if f.Output != "name" {
		return FormFlag(f).PrintValue(w, v, text)
	}
	all, err := names()
	if err != nil {
		return err
	}
	return (&Streams{Out: w}).PrintLines(all)
}

// WideFlag chooses how a command prints lines that may be cut.
type WideFlag struct {
	Output string `default:"text" enum:"text,wide,json,yaml" help:"Form of the output: text, wide, which is not cut, json or yaml." short:"o"`
}

// IsEncoded reports whether the output is data for a program.
func (f ListFlag) IsEncoded() bool { return f.Output == "json" || f.Output == "yaml" }

// Encode encodes a value as json, or as yaml.
func Encode(form string, v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, errors.Wrap(err, "cannot encode the output")
	}
	if b = append(b, '\n'); form == "json" {
		return b, nil
	}
	b, err = yaml.JSONToYAML(b)
	return b, errors.Wrap(err, "cannot encode the output")
}

// A Palette colours text, where a terminal shows it.
type Palette bool

// PaletteOf returns a palette with colours for a terminal that has them, unless the user wants none: see https://no-color.org.
func PaletteOf(f *os.File, getenv func(string) string) Palette {
	return Palette(term.IsTerminal(int(f.Fd())) && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb")
}

// Paint colours a text.
func (p Palette) Paint(text string, attributes ...color.Attribute) string {
	if !p || text == "" {
		return text
	}
	c := color.New(attributes...)
	c.EnableColor()
	return c.Sprint(text)
}
