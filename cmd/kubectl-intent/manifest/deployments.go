package manifest

import (
	"context"
	"encoding/json"
	"io"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"

	deploymentv1alpha1 "github.com/intentplane/intentplane/apis/deployment/v1alpha1"
	"github.com/intentplane/intentplane/cmd/kubectl-intent/terminal"
)

// DeploymentFlags name the deployments that a command is about, and the catalog that they choose from.
type DeploymentFlags struct {
	CatalogFlags

	File       string `arg:"" help:"File with IntentDeployments, or - for the standard input." optional:"" predictor:"file"`
	Claim      string `help:"Name of an IntentDeployment in the cluster, instead of a file. Where both API groups have one, intentdeployments.GROUP/NAME." predictor:"claim"`
	WithUpdate bool   `help:"Of a deployment in the cluster with the update policy Manual: compile it with the Blueprint that waits for approval, and not with its present Blueprint."`
}

// LoadDeployments returns the deployments, each in its namespace, and the catalog.
func (f *DeploymentFlags) LoadDeployments(in io.Reader) ([]deploymentv1alpha1.IntentDeployment, *Catalog, error) {
	if (f.File == "") == (f.Claim == "") {
		return nil, nil, terminal.UsageError{Err: errors.New("either a file or --claim must be given")}
	}
	if f.Claim != "" {
		f.Live = true
	}
	if f.WithUpdate && f.Claim == "" {
		return nil, nil, terminal.UsageError{Err: errors.New("--with-update is for --claim: the spec in a file follows its channel")}
	}
	from, err := f.ReadCatalog(in)
	if err != nil {
		return nil, nil, err
	}
	// Who gives a Blueprint wants to see that one.
	from.stays = f.Claim != "" && !f.WithUpdate && len(f.Blueprint) == 0
	claims, err := f.readDeployments(in, from)
	for i := range claims {
		from.SetNamespace(&claims[i])
	}
	return claims, from, err
}

func (f *DeploymentFlags) readDeployments(in io.Reader, from *Catalog) ([]deploymentv1alpha1.IntentDeployment, error) {
	if f.Claim == "" {
		return ReadDeployments(in, f.File)
	}
	b, err := from.Cluster.Claim(context.Background(), f.Claim)
	if err != nil {
		return nil, err
	}
	out := make([]deploymentv1alpha1.IntentDeployment, 1)
	if err := DecodeStrictly(b, &out[0]); err != nil {
		return nil, errors.Wrapf(err, "cannot decode %s", f.Claim)
	}
	out[0].Status.Blueprint, err = blueprintOf(b)
	return out, errors.Wrapf(err, "cannot decode the status of %s", f.Claim)
}

// blueprintOf is the Blueprint that the status of a deployment names. Nothing else of a status is read: a newer version may have written it.
func blueprintOf(b []byte) (deploymentv1alpha1.BlueprintStatus, error) {
	o := struct {
		Status struct {
			Blueprint deploymentv1alpha1.BlueprintStatus `json:"blueprint"`
		} `json:"status"`
	}{}
	err := json.Unmarshal(b, &o)
	return o.Status.Blueprint, err
}
