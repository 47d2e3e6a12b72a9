// Command generate writes the two definitions of each kind that people write, the claim and the namespaced composite, and their
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

func main() {
	crds := flag.String("crds", "", "the folder with the CRDs that controller-gen made")
	out := flag.String("out", ".", "the folder to write to")
	flag.Parse()
	if err := generateFiles(*crds, *out); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func generateFiles(crds, out string) error {
	for _, k := range compositeKinds() {
		v, err := readVersion(filepath.Join(crds, "intentplane.dev_"+k.pluralName()+".yaml"))
		if err != nil {
			return err
		}
		for name, object := range outputFiles(k, v) {
			if err := writeYAMLFile(k, filepath.Join(out, name), object); err != nil {
				return err
			}
		}
	}
	return nil
}

// readVersion returns the only version in a CRD.
func readVersion(file string) (extv1.CustomResourceDefinitionVersion, error) {
	crd := &extv1.CustomResourceDefinition{}
	b, err := os.ReadFile(file) //nolint:gosec // A build tool reads the file of its argument.
	if err != nil {
		return extv1.CustomResourceDefinitionVersion{}, errors.Wrap(err, "cannot read CRD")
	}
	if err := yaml.Unmarshal(b, crd); err != nil {
		return extv1.CustomResourceDefinitionVersion{}, errors.Wrap(err, "cannot decode CRD")
	}
	if len(crd.Spec.Versions) != 1 {
		return extv1.CustomResourceDefinitionVersion{}, errors.Errorf("want one version in %s, found %d", file, len(crd.Spec.Versions))
	}
	return crd.Spec.Versions[0], nil
}

func outputFiles(k kind, v extv1.CustomResourceDefinitionVersion) map[string]any {
	claims, namespaced := "claims/"+k.prefix, "namespaced/"+k.prefix
	if k.folder != "" {
		claims, namespaced = k.folder+"/"+k.prefix+"claims-", k.folder+"/"+k.prefix+"namespaced-"
	}
	return map[string]any{
		claims + "definition.yaml":      claimDefinition(k, v),
		claims + "composition.yaml":     newComposition(k.claimsName(), "claims.intentplane.dev/v1alpha1", "X"+k.name),
		namespaced + "definition.yaml":  namespacedDefinition(k, v),
		namespaced + "composition.yaml": newComposition(k.namespacedName(), "intentplane.dev/v1alpha1", k.name),
	}
}

func writeYAMLFile(k kind, file string, object any) error {
	b, err := yaml.Marshal(object)
	if err != nil {
		return errors.Wrapf(err, "cannot encode %s", file)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return errors.Wrapf(err, "cannot make the folder of %s", file)
	}
	//nolint:gosec // Generated files are committed, and readable for all users.
	return errors.Wrapf(os.WriteFile(file, append(fmt.Appendf(nil, "# Generated from %s by make generate. Do not edit.\n", k.source), b...), 0o644), "cannot write %s", file)
}
