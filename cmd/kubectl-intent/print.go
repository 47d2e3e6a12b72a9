package main

import (
	"encoding/json"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"sigs.k8s.io/yaml"
)

// printAs prints a value as json or yaml, or by its own text.
func printAs(w io.Writer, form string, v any, text func(io.Writer) error) error {
	if form == "text" {
		return text(w)
	}
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return errors.Wrap(err, "cannot encode the output")
	}
	b = append(b, '\n')
	if form == "yaml" {
		if b, err = yaml.JSONToYAML(b); err != nil {
			return errors.Wrap(err, "cannot encode the output")
		}
	}
	_, err = w.Write(b)
	return errors.Wrap(err, "cannot print")
}
