package main

import (
	"encoding/json"
	"io"
	"os"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"github.com/fatih/color"
	"golang.org/x/term"
	"sigs.k8s.io/yaml"

	"github.com/intentplane/intentplane/cmd/kubectl-intent/overview"
)

// formFlag chooses how a command prints.
type formFlag struct {
	Output string `default:"text" enum:"text,json,yaml" help:"Form of the output: text, json or yaml." short:"o"`
}

// printValue prints a value as json or yaml, or by its own text.
func (f formFlag) printValue(w io.Writer, v any, text func(io.Writer) error) error {
	if f.Output == "text" {
		return text(w)
	}
	b, err := encodeValue(f.Output, v)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return errors.Wrap(err, "cannot print")
}

// listFlag chooses how a command prints objects, as kubectl get does.
type listFlag struct {
	Output string `default:"text" enum:"text,wide,json,yaml,name" help:"Form of the output: text, wide, json, yaml or name." short:"o"`
}

// objectsFlag chooses how a command prints objects that it makes or reads from files.
type objectsFlag struct {
	Output string `default:"text" enum:"text,json,yaml,name" help:"Form of the output: text, json, yaml or name." short:"o"`
}

// printValue prints a value as json or yaml, names that kubectl takes, or its own text.
func (f objectsFlag) printValue(w io.Writer, v any, names func() ([]string, error), text func(io.Writer) error) error {
	if f.Output != "name" {
		return formFlag(f).printValue(w, v, text)
	}
	all, err := names()
	if err != nil {
		return err
	}
	return printLines(&streams{out: w}, all)
}

// wideFlag chooses how a command prints lines that may be cut.
type wideFlag struct {
	Output string `default:"text" enum:"text,wide,json,yaml" help:"Form of the output: text, wide, which is not cut, json or yaml." short:"o"`
}

// isEncoded reports whether the output is data for a program.
func (f listFlag) isEncoded() bool { return f.Output == "json" || f.Output == "yaml" }

// style returns the style of a list, which is not cut.
func (f listFlag) style() overview.Style { return overview.Style{IsWide: f.Output == "wide"} }

func encodeValue(form string, v any) ([]byte, error) {
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

// A palette colours text, where a terminal shows it.
type palette bool

// paletteForFile returns a palette with colours for a terminal that has them, unless the user wants none: see https://no-color.org.
func paletteForFile(f *os.File, getenv func(string) string) palette {
	return palette(term.IsTerminal(int(f.Fd())) && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb")
}

func (p palette) paintText(text string, attributes ...color.Attribute) string {
	if !p || text == "" {
		return text
	}
	c := color.New(attributes...)
	c.EnableColor()
	return c.Sprint(text)
}
