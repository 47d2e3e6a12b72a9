package main

import (
	"fmt"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/digest"
)

// A digestCommand prints digests.
type digestCommand struct {
	File string `arg:"" help:"File with IntentDeployments of either API group, or - for the standard input. Other objects in it are passed over."`
}

// Run prints the digest of one IntentDeployment, or one line for each of several. It returns an error for a file that has none,
// and for fields that an IntentDeployment does not have.
func (d *digestCommand) Run(s *streams) error {
	claims, err := readClaims(s.in, d.File)
	if err != nil {
		return err
	}
	for _, c := range claims {
		sum, err := digest.Spec(&c.Spec)
		if err != nil {
			return errors.Wrapf(err, "cannot compute the digest of %s/%s", c.GetNamespace(), c.GetName())
		}
		if err := printDigest(s.out, c.GetNamespace()+"/"+c.GetName(), sum, len(claims)); err != nil {
			return errors.Wrap(err, "cannot print")
		}
	}
	return nil
}

func printDigest(w io.Writer, name, sum string, of int) error {
	if of == 1 {
		_, err := fmt.Fprintln(w, sum)
		return err
	}
	_, err := fmt.Fprintln(w, name, sum)
	return err
}
