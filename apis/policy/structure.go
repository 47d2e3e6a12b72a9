package policy

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	configv1alpha1 "github.com/intentplane/intentplane/apis/config/v1alpha1"
	"github.com/intentplane/intentplane/apis/schema"
	"github.com/intentplane/intentplane/apis/tree"
)

// maxProblems is the greatest number of wrong fields of an object in one message.
const maxProblems = 5

// InvalidError means that an object does not fit its schema: no limit forbids it, but no API server would accept it.
type InvalidError struct{ message string }

// Error names the object and its fields.
func (e *InvalidError) Error() string { return e.message }

// CheckObjects returns an error, which names the file, the object and the field, for objects that no API server would accept, and for
// Secrets that are not encrypted. It checks no limits of Sites and configurations, so it is for files that are not delivered yet.
func CheckObjects(files tree.Files, definitions *schema.Set) error {
	in := Input{Files: files, Definitions: definitions, Config: &configv1alpha1.ProviderConfigSpec{}}
	for _, name := range files.Names() {
		if isKustomization(path.Base(name)) {
			continue
		}
		objects, err := decodeObjects(name, files[name])
		for _, o := range objects {
			if err == nil {
				err = checkSecretAndStructure(in, o)
			}
		}
		if err != nil {
			return errors.Wrap(err, name)
		}
	}
	return nil
}

func checkSecretAndStructure(in Input, o *unstructured.Unstructured) error {
	if err := checkSecret(in, o); err != nil {
		return err
	}
	return checkStructure(in, o)
}

// checkStructure returns an InvalidError for an object that does not fit the schema of its kind.
func checkStructure(in Input, o *unstructured.Unstructured) error {
	k, err := schema.Kubernetes()
	if err != nil {
		return err
	}
	object := withoutEncryptedFields(o)
	problems, err := k.Check(o.GroupVersionKind(), object)
	if err != nil {
		return err
	}
	// A ProviderConfig only narrows.
	if in.ConfigKind == KindClusterProviderConfig && in.Config.Policy.UnknownFields == configv1alpha1.UnknownFieldsAllow {
		problems = slices.DeleteFunc(problems, func(p schema.Problem) bool { return p.Unknown })
	}
	found, err := in.Definitions.Check(o.GroupVersionKind(), object)
	if err != nil {
		return err
	}
	problems = append(problems, found...)
	if in.AllowsDuplicates {
		problems = slices.DeleteFunc(problems, func(p schema.Problem) bool { return p.Duplicate })
	}
	if len(problems) == 0 {
		return nil
	}
	texts := make([]string, 0, maxProblems)
	for _, p := range problems[:min(len(problems), maxProblems)] {
		texts = append(texts, p.String())
	}
	return &InvalidError{message: fmt.Sprintf("%s %q: %s", o.GroupVersionKind().GroupKind(), o.GetName(), strings.Join(texts, "; "))}
}

// withoutEncryptedFields returns the part of an encrypted Secret that fits a Secret's schema: the engine decrypts the rest.
func withoutEncryptedFields(o *unstructured.Unstructured) map[string]any {
	if !isSecret(o) || o.Object[sopsField] == nil {
		return o.Object
	}
	out := maps.Clone(o.Object)
	for _, field := range []string{sopsField, "data", "stringData"} {
		delete(out, field)
	}
	return out
}
