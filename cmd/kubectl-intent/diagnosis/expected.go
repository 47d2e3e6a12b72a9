package diagnosis

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	pkgmetav1 "github.com/crossplane/crossplane/apis/v2/pkg/meta/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/intentplane/intentplane/apis/composition"
	"github.com/intentplane/intentplane/examples"
	providerpackage "github.com/intentplane/intentplane/package/provider"
)

// Expected is the desired state of an installation. It follows from the files of the project alone.
type Expected struct {
	// Crossplane is the constraint that the packages have.
	Crossplane string

	// Definitions are the names of the CompositeResourceDefinitions of each Configuration, and Kinds the names of the provider's definitions.
	Definitions [][]string
	Kinds       []string

	// Rules are the rules of the provider, and Account the service account that they are bound to.
	Rules   []rbacv1.PolicyRule
	Account Account

	// Installer are the rights of a user who installs.
	Installer []rbacv1.PolicyRule

	// Policies are the names of the policies in examples/policies.
	Policies []string
}

// ReadExpected reads the files of the project. It returns an error if one of them is not valid.
func ReadExpected() (*Expected, error) {
	e := &Expected{}
	m := &pkgmetav1.Provider{}
	if err := yaml.Unmarshal(providerpackage.Metadata(), m); err != nil {
		return nil, errors.Wrap(err, "cannot read the metadata of the provider's package")
	}
	if m.Spec.Crossplane != nil {
		e.Crossplane = m.Spec.Crossplane.Version
	}
	definitions, err := readManifests(composition.Definitions())
	if err != nil {
		return nil, err
	}
	if e.Kinds, err = kindsOfProvider(); err != nil {
		return nil, err
	}
	e.Definitions = namesByDirectory(definitions)
	all, err := readManifests(examples.Files())
	if err != nil {
		return nil, err
	}
	return e, e.addManifests(all)
}

// A manifest is an object of a file.
type manifest struct {
	*unstructured.Unstructured

	file string
}

// readManifests reads all objects of files, in the order of their names.
func readManifests(files fs.FS) ([]manifest, error) {
	var out []manifest
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".yaml" || path.Base(name) == "kustomization.yaml" {
			return err
		}
		b, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(b), len(b))
		for {
			m := manifest{Unstructured: &unstructured.Unstructured{}, file: name}
			err := decoder.Decode(&m.Object)
			switch {
			case errors.Is(err, io.EOF):
				return nil
			case err != nil:
				return errors.Wrapf(err, "cannot decode %s", name)
			case len(m.Object) > 0:
				out = append(out, m)
			}
		}
	})
	return out, err
}

// namesByDirectory returns the names of manifests, grouped by directory.
func namesByDirectory(all []manifest) [][]string {
	var out [][]string
	for i, m := range all {
		if i == 0 || path.Dir(m.file) != path.Dir(all[i-1].file) {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], m.GetName())
	}
	return out
}

// kindsOfProvider returns the names of the provider's definitions. Each has a file GROUP_PLURAL.yaml: they are large, and not read.
func kindsOfProvider() ([]string, error) {
	files, err := fs.Glob(providerpackage.CRDs(), "crds/*.yaml")
	var out []string
	for _, file := range files {
		group, plural, _ := strings.Cut(strings.TrimSuffix(path.Base(file), ".yaml"), "_")
		out = append(out, plural+"."+group)
	}
	return out, err
}

// Names of manifests that are looked at one by one.
const (
	providerRules = "rbac/provider.yaml"
	providerRole  = "intentplane:provider"
)

func (e *Expected) addManifests(all []manifest) error {
	for _, m := range all {
		e.addInstalled(m)
		if m.GetKind() == "ValidatingAdmissionPolicy" {
			e.Policies = append(e.Policies, m.GetName())
		}
		if m.file != providerRules || m.GetName() != providerRole {
			continue
		}
		if err := e.addProvider(m); err != nil {
			return errors.Wrapf(err, "cannot read %s", m.file)
		}
	}
	slices.Sort(e.Policies)
	e.addInstallerRule("pkg.crossplane.io", "configurations")
	if len(e.Rules) == 0 || e.Account.Name == "" {
		return errors.Errorf("%s has no rules, or binds them to no account", providerRules)
	}
	return nil
}

// addProvider takes the rules of the provider, and its account.
func (e *Expected) addProvider(m manifest) error {
	if m.GetKind() == "ClusterRole" {
		role := &rbacv1.ClusterRole{}
		err := runtime.DefaultUnstructuredConverter.FromUnstructured(m.Object, role)
		e.Rules = role.Rules
		return err
	}
	binding := &rbacv1.ClusterRoleBinding{}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(m.Object, binding)
	for _, s := range binding.Subjects {
		e.Account = Account{Namespace: s.Namespace, Name: s.Name}
	}
	return err
}

// addInstalled takes the rights that a user needs to apply an object.
func (e *Expected) addInstalled(m manifest) {
	resource, _ := meta.UnsafeGuessKindToResource(m.GroupVersionKind())
	// The configuration comes after the packages, which bring its kind.
	if !strings.HasSuffix(resource.Group, "intentplane.dev") {
		e.addInstallerRule(resource.Group, resource.Resource)
	}
}

// addInstallerRule adds the rights that kubectl apply needs for objects.
func (e *Expected) addInstallerRule(group, resource string) {
	isSame := func(r rbacv1.PolicyRule) bool { return r.APIGroups[0] == group && r.Resources[0] == resource }
	if !slices.ContainsFunc(e.Installer, isSame) {
		e.Installer = append(e.Installer, rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{"get", "create", "patch"}})
	}
}

// Granted returns all rights of the provider.
func (e *Expected) Granted() []Right { return rightsOfRules(e.Rules...) }

func rightsOfRules(rules ...rbacv1.PolicyRule) []Right {
	var out []Right
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					out = append(out, Right{Verb: verb, Group: group, Resource: resource})
				}
			}
		}
	}
	return out
}
