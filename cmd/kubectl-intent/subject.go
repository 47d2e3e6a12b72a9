package main

import (
	"context"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
)

// subjectFlags name the deployments that a command is about, and the catalog that they choose from.
type subjectFlags struct {
	catalogFlags

	File  string `arg:"" help:"File with IntentDeployments, or - for the standard input." optional:"" predictor:"file"`
	Claim string `help:"Name of an IntentDeployment in the cluster, instead of a file. Where both API groups have one, intentdeployments.GROUP/NAME." predictor:"claim"`
}

// load returns the deployments, each in its namespace, and the catalog.
func (f *subjectFlags) load(in io.Reader) ([]deploymentv1alpha1.IntentDeployment, *source, error) {
	if (f.File == "") == (f.Claim == "") {
		return nil, nil, usageError{errors.New("either a file or --claim must be given")}
	}
	if f.Claim != "" {
		f.Live = true
	}
	from, err := f.read(in)
	if err != nil {
		return nil, nil, err
	}
	claims, err := f.claims(in, from)
	for i := range claims {
		from.place(&claims[i])
	}
	return claims, from, err
}

func (f *subjectFlags) claims(in io.Reader, from *source) ([]deploymentv1alpha1.IntentDeployment, error) {
	if f.Claim == "" {
		return readClaims(in, f.File)
	}
	b, err := from.cluster.Claim(context.Background(), f.Claim)
	if err != nil {
		return nil, err
	}
	out := make([]deploymentv1alpha1.IntentDeployment, 1)
	return out, errors.Wrapf(decodeStrictly(b, &out[0]), "cannot decode %s", f.Claim)
}
