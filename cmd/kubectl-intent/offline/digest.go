package offline

import (
	"fmt"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	"github.com/intentplane/intentplane/apis/digest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/manifest"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// Digest prints digests.
type Digest struct {
	terminal.FormFlag

	File string `arg:"" help:"File with IntentDeployments of either API group, or - for the standard input. Other objects in it are passed over." predictor:"file"`
}

// A SpecDigest is the digest of one deployment's spec.
type SpecDigest struct {
	// Namespace and Name of the deployment.
	Namespace string `json:"namespace"`
	Name      string `json:"name"`

	// Digest of its spec.
	Digest string `json:"digest"`
}

// Run prints the digest of one IntentDeployment, or one line for each of several. It returns an error for a file that has none,
// and for fields that an IntentDeployment does not have.
func (d *Digest) Run(s *terminal.Streams) error {
	claims, err := manifest.ReadDeployments(s.In, d.File)
	if err != nil {
		return err
	}
	all := make([]SpecDigest, 0, len(claims))
	for _, c := range claims {
		sum, err := digest.Spec(&c.Spec)
		if err != nil {
			return errors.Wrapf(err, "cannot compute the digest of %s/%s", c.GetNamespace(), c.GetName())
		}
		all = append(all, SpecDigest{Namespace: c.GetNamespace(), Name: c.GetName(), Digest: sum})
	}
	return d.PrintValue(s.Out, all, func(w io.Writer) error { return errors.Wrap(printDigests(w, all), "cannot print") })
}

func printDigests(w io.Writer, all []SpecDigest) error {
	if len(all) == 1 {
		_, err := fmt.Fprintln(w, all[0].Digest)
		return err
	}
	for _, d := range all {
		if _, err := fmt.Fprintf(w, "%s %s\n", terminal.QuoteLine(d.Namespace+"/"+d.Name), d.Digest); err != nil {
			return err
		}
	}
	return nil
}
