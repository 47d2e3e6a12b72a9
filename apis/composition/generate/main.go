// Command generate writes the two definitions of the IntentDeployment, the claim and the namespaced composite, and their
// Compositions, from the CRD that controller-gen makes of the Go type. So one Go type is the source of both shapes.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

const header = "# Generated from apis/deployment by make generate. Do not edit.\n"

func main() {
	crd := flag.String("crd", "", "the CRD that controller-gen made")
	out := flag.String("out", ".", "the folder to write to")
	flag.Parse()
	if err := run(*crd, *out); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(crdFile, out string) error {
	b, err := os.ReadFile(crdFile) //nolint:gosec // A build tool reads the file that it is told to.
	if err != nil {
		return errors.Wrap(err, "cannot read CRD")
	}
	crd := &extv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(b, crd); err != nil {
		return errors.Wrap(err, "cannot decode CRD")
	}
	if len(crd.Spec.Versions) != 1 {
		return errors.Errorf("want one version in the CRD, found %d", len(crd.Spec.Versions))
	}
	for name, object := range outputs(crd.Spec.Versions[0]) {
		if err := write(filepath.Join(out, name), object); err != nil {
			return err
		}
	}
	return nil
}

func outputs(v extv1.CustomResourceDefinitionVersion) map[string]any {
	return map[string]any{
		"claims/definition.yaml":      claimDefinition(v),
		"claims/composition.yaml":     composition("xintentdeployments.claims.intentplane.dev", "claims.intentplane.dev/v1alpha1", "XIntentDeployment"),
		"namespaced/definition.yaml":  namespacedDefinition(v),
		"namespaced/composition.yaml": composition("intentdeployments.intentplane.dev", "intentplane.dev/v1alpha1", "IntentDeployment"),
	}
}

func write(file string, object any) error {
	b, err := yaml.Marshal(object)
	if err != nil {
		return errors.Wrapf(err, "cannot encode %s", file)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return errors.Wrapf(err, "cannot make the folder of %s", file)
	}
	//nolint:gosec // What is generated is committed, and everybody may read it.
	return errors.Wrapf(os.WriteFile(file, append([]byte(header), b...), 0o644), "cannot write %s", file)
}
